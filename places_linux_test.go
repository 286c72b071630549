package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestPlaces: a place outside the root that a rule opens for reading is read but for what is secret in it, at
// every level, and its names can be listed.
func TestPlaces(t *testing.T) {
	t.Parallel()
	base := durableDir(t)
	for name, text := range map[string]string{
		"home/other/ok.txt": "ok", "home/other/.env": "SECRET", "home/other/deep/id_rsa": "SECRET", "home/other/deep/er/ok.txt": "ok", "home/other/deep/er/private/f": "SECRET",
		"policy.yaml": "allow: [read(~/other/**)]\ndeny: [read(~/other/**/private/**)]\n",
		"root/reads.pl": `opendir(D, "$ENV{HOME}/other"); print join(" ", sort readdir D), "\n";
for (qw(ok.txt .env deep/id_rsa deep/er/ok.txt deep/er/private/f)) { print "$_: ", (open(F, "<", "$ENV{HOME}/other/$_") ? <F> : "no"), "\n" }`,
	} {
		path := filepath.Join(base, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for level, prefix := range sandboxLevels(t) {
		t.Run(level, func(t *testing.T) {
			argv := slices.Concat(prefix, []string{"agentkit", "bash", "-o", "text", "--policy", base + "/policy.yaml", "perl reads.pl"})
			c := exec.Command(argv[0], argv[1:]...)
			c.Dir = base + "/root"
			c.Env = append(os.Environ(), "HOME="+base+"/home", "XDG_STATE_HOME="+base+"/state", "AGENTKIT_SANDBOX=auto")
			out, err := c.CombinedOutput()
			want := ". .. .env deep ok.txt\nok.txt: ok\n.env: no\ndeep/id_rsa: no\ndeep/er/ok.txt: ok\ndeep/er/private/f: no\n"
			if err != nil || !strings.HasPrefix(string(out), want) {
				t.Errorf("%v, want %s, got %s", err, want, out)
			}
		})
	}
}
