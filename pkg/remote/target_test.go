package remote

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	const plainSSH = "ssh -T -x -a -o ClearAllForwardings=yes -o PermitLocalCommand=no -o RemoteCommand=none"
	for _, c := range []struct{ text, root, argv string }{
		{"ssh://host", "", plainSSH + " -- host sh"},
		{"ssh://host/", "", plainSSH + " -- host sh"},
		{"ssh://me@host:2222/srv/work/", "/srv/work", plainSSH + " -p 2222 -l me -- host sh"},
		{"ssh://[::1]:22/~/work", "~/work", plainSSH + " -p 22 -- ::1 sh"},
		{"ssh://[fe80::1]/a%20b%3Ec", "/a b>c", plainSSH + " -- fe80::1 sh"},
		{"docker://web-1/srv", "/srv", "docker exec -i web-1 sh"},
		{"podman://web-1", "", "podman exec -i web-1 sh"},
		{"kubectl://dev/api-0/srv/app", "/srv/app", "kubectl --namespace=dev exec -i api-0 -- sh"},
		{"kubectl://dev/api-0//srv/app", "/srv/app", "kubectl --namespace=dev exec -i api-0 -- sh"},
		{"kubectl://prod/dev/api-0//srv", "/srv", "kubectl --context=prod --namespace=dev exec -i api-0 -- sh"},
		{"kubectl://arn:aws%2Fx/dev/api-0/side//srv", "/srv", "kubectl --context=arn:aws/x --namespace=dev exec -i api-0 --container=side -- sh"},
		{"kubectl:///dev/api-0/side//srv", "/srv", "kubectl --namespace=dev exec -i api-0 --container=side -- sh"},
		{"exec:cat > x; sh", "", "sh -c|cat > x; sh"},
		{"ssh://host>docker://c/srv", "/srv", plainSSH + " -- host|docker exec -i c sh"},
		{"ssh://a > ssh://b > podman://c", "", plainSSH + " -- a|" + plainSSH + " -- b 'podman exec -i c sh'"},
		{"docker://c>exec:it's me > x", "", "docker exec -i c sh -c|it's me > x"},
	} {
		target, err := Parse(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		before, last, whole := strings.Cut(c.argv, "|")
		want := strings.Fields(before)
		if whole {
			want = append(want, last)
		}
		if got := target.Argv(); !slices.Equal(got, want) || target.Root() != c.root {
			t.Errorf("%s: %q %q, want %q %q", c.text, got, target.Root(), want, c.root)
		}
	}
	for _, text := range []string{
		"", "host", "ssh://", "ssh://-oProxyCommand=x", "ssh://-l@host", "ssh://me:secret@host", "ssh://ho st", "ssh://host:x", "ssh://host:99999", "ssh://[::1", "ssh://[x]",
		"docker://", "docker://-v/x", "docker://a b", "docker:///srv", "kubectl://dev", "kubectl://dev/-x", "kubectl://a/b/c/d/e//x", "kubectl://a/b/c%zz//x", "ftp://host",
		"exec:", "exec: ", "ssh://a/root>docker://b", "ssh://a>", ">ssh://a", "ssh://a\x1b[2J", "ssh://host/a%1b", "ssh://host/\u202e",
	} {
		if target, err := Parse(text); err == nil {
			t.Errorf("%q is %q", text, target.Argv())
		}
	}
}

// TestQuoting: whatever the words, each shell on the way hands them on as they are. The
// carriers are stand-ins that do with their words what the real ones do: ssh joins them
// and has a shell read them, the others start a program with them.
func TestQuoting(t *testing.T) {
	dir := t.TempDir()
	stand := map[string]string{
		"ssh":    "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done\nshift 2\nexec sh -c \"$*\"\n",
		"docker": "#!/bin/sh\nshift 3\nexec \"$@\"\n",
	}
	for name, text := range stand {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil { //nolint:gosec // it is a program
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	rnd := rand.New(rand.NewPCG(1, 2))
	letters := []rune("ab '\"\\$`!*?~#&|;<>(){}[]=%\n\t-é")
	for range 60 {
		var word strings.Builder
		for range 1 + rnd.IntN(12) {
			word.WriteRune(letters[rnd.IntN(len(letters))])
		}
		path := []string{"ssh://a", "docker://b"}
		text := ""
		for range rnd.IntN(4) {
			text += path[rnd.IntN(2)] + ">"
		}
		target, err := Parse(text + "exec:x")
		if err != nil {
			t.Fatal(err)
		}
		want := word.String()
		target.hops[len(target.hops)-1] = func([]string) []string { return []string{"printf", "%s|", "sh", "-c", want} }
		argv := target.Argv()
		c := exec.Command(argv[0], argv[1:]...)
		if out, err := c.Output(); err != nil || string(out) != "sh|-c|"+want+"|" {
			t.Fatalf("%s: %q, want %q: %v", text, out, want, err)
		}
	}
}
