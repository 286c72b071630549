package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// wallTries is a program that does one thing to each path that it is given, by
// system calls that no text shows.
const wallTries = `use Fcntl; open(L, "<", $ENV{LIST}) or die; chomp(@l = <L>);
for (@l) { ($op, $p) = split / /, $_, 2; $! = 0;
  if ($op eq "read") { $ok = sysopen(F, $p, O_RDONLY) && sysread(F, $b, 100); print "$op $p ", ($ok ? "did $b" : "not $!"), "\n"; next }
  $ok = $op eq "write" ? sysopen(F, $p, O_WRONLY) && syswrite(F, "evil") : $op eq "append" ? sysopen(F, $p, O_RDWR|O_APPEND) && syswrite(F, "evil")
    : $op eq "truncate" ? truncate($p, 0) : $op eq "trunc" ? sysopen(F, $p, O_WRONLY|O_TRUNC) : $op eq "unlink" ? unlink($p) : $op eq "rename" ? rename($p, "$p.moved")
    : $op eq "over" ? do { open(G, ">", "$p.new"); print G "evil"; close G; rename("$p.new", $p) } : $op eq "link" ? do { open(G, ">", "$p.new"); print G "evil"; close G; link("$p.new", $p) }
    : $op eq "symlink" ? symlink("/etc/hostname", $p) : $op eq "mkdir" ? mkdir($p) : $op eq "create" ? sysopen(F, $p, O_WRONLY|O_CREAT|O_EXCL) : 0;
  close F; print "$op $p ", ($ok ? "did" : "not $!"), "\n"; }`

// TestWall: what happens to files, whatever the program does, is what policy check
// says for the same access. Policies, trees and what is tried are made at random.
func TestWall(t *testing.T) {
	t.Parallel()
	base := durableDir(t)
	rounds := 4
	if !everyCase() {
		rounds = 2
	}
	for level, prefix := range sandboxLevels(t) {
		for round := range rounds {
			t.Run(fmt.Sprint(level, "/", round), func(t *testing.T) {
				t.Parallel()
				wallRound(t, level, prefix, filepath.Join(base, fmt.Sprint(level, round)), rand.New(rand.NewPCG(uint64(round), 11)))
			})
		}
	}
}

func wallRound(t *testing.T, level string, prefix []string, base string, rnd *rand.Rand) {
	root, home := filepath.Join(base, "root"), filepath.Join(base, "home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(path, text string) {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	pick := func(list ...string) string { return list[rnd.IntN(len(list))] }
	dir := func() string { return strings.Repeat(pick("a/", "b/", "c/"), rnd.IntN(3)) + pick("a/", "d/", "") }
	names := []string{"f", "g.txt", "x.lock", "y.cfg", ".env", ".envrc", "k.pem", ".vscode/settings.json", ".github/workflows/w.yml", ".git/config", "node_modules/.npmrc", ".aws/credentials"}
	var there, missing []string
	for range 40 {
		path := filepath.Join(root, dir()+pick(names...))
		if _, err := os.Lstat(path); err == nil {
			continue
		}
		if rnd.IntN(3) > 0 {
			write(path, "content of "+path)
			there = append(there, path)
		} else if !strings.Contains(path, "/.git/") {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			missing = append(missing, path)
		}
	}
	missing = slices.DeleteFunc(missing, func(p string) bool { _, err := os.Lstat(p); return err == nil })
	missing = slices.Compact(slices.Sorted(slices.Values(missing)))
	rules := []string{"protect: [" + pick("a/**", "b/a/**", "d") + "]", "deny:"}
	for _, r := range []string{"edit(" + dir() + "**)", "edit(**/*.lock)", "read(" + dir() + "a/**)", "read(**/*.cfg)", "edit(b/f)"} {
		if rnd.IntN(2) == 0 && !strings.Contains(r, "((") && r != "edit(**)" {
			rules = append(rules, "  - rule: "+r, "    except: ["+r[:4]+"("+pick("c/f", "a/f", "a/x.lock")+")]")
		}
	}
	rules = append(rules, "  - edit(never/**)", "allow: ["+pick("edit(.vscode/**)", "edit(a/.envrc)", "read(.env)")+"]")
	policy := filepath.Join(base, "policy.yaml")
	write(policy, "version: 1\n"+strings.Join(rules, "\n")+"\n")

	run := func(args ...string) []byte {
		argv := slices.Concat(prefix, []string{"agentkit"}, args)
		c := exec.Command(argv[0], argv[1:]...)
		c.Dir = root
		c.Env = append(os.Environ(), "HOME="+home, "XDG_STATE_HOME="+base+"/state", "XDG_CONFIG_HOME="+base+"/config", "AGENTKIT_SANDBOX=auto", "LIST="+root+"/list")
		out, err := c.Output()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return out
	}
	yes := filepath.Join(base, "yes") // below L3 the secrets that nothing hides are asked about
	write(yes, "#!/bin/sh\necho '{\"decision\":\"allow\"}'\n")
	if err := os.Chmod(yes, 0o755); err != nil {
		t.Fatal(err)
	}
	// What the policy says of each.
	may := func(path, how string) bool {
		args, _ := json.Marshal(map[string]string{"command": how + " '" + path + "'"})
		var got struct {
			Metadata struct {
				Accesses []struct{ Kind, Subject, Decision string }
			}
		}
		if err := json.Unmarshal(run("policy", "check", "--policy", policy, "bash", "--json", string(args)), &got); err != nil {
			t.Fatal(err)
		}
		kind := map[string]string{"cat": "read", "tee": "write"}[how]
		for _, a := range got.Metadata.Accesses {
			if a.Kind == kind && a.Subject == path {
				return a.Decision == "allow"
			}
		}
		t.Fatalf("nothing is said of %s %s: %+v", how, path, got)
		return false
	}
	type try struct {
		op, path    string
		read, write bool
	}
	var tries []try
	var list strings.Builder
	for _, path := range there {
		op := pick("read", "read", "write", "append", "truncate", "trunc", "unlink", "rename", "over")
		tries = append(tries, try{op, path, may(path, "cat"), may(path, "tee")})
	}
	for _, path := range missing {
		tries = append(tries, try{pick("create", "mkdir", "symlink", "link"), path, true, may(path, "tee")})
	}
	for _, x := range tries {
		fmt.Fprintln(&list, x.op, x.path)
	}
	write(root+"/list", list.String())
	write(root+"/tries.pl", wallTries)
	var got struct {
		Output   string
		Metadata struct{ Sandbox string }
	}
	if err := json.Unmarshal(run("bash", "perl tries.pl", "--policy", policy, "--ask=cmd:"+yes), &got); err != nil {
		t.Fatal(err)
	}
	if got.Metadata.Sandbox != level {
		t.Fatalf("it ran at %s", cmp.Or(got.Metadata.Sandbox, got.Output))
	}
	held := 0
	for _, x := range tries {
		line := ""
		for l := range strings.Lines(got.Output) {
			if strings.HasPrefix(l, x.op+" "+x.path+" ") {
				line = l
			}
		}
		did := strings.Contains(line, x.path+" did")
		now, err := os.ReadFile(x.path)
		same := err == nil && bytes.Equal(now, []byte("content of "+x.path))
		_, lerr := os.Lstat(x.path)
		wrong := ""
		switch {
		case x.op == "read" && x.read != did && (level == "L3" || !did):
			wrong = "reading"
		case x.op == "read":
		case x.write && slices.Contains(there, x.path) && !did && x.read:
			wrong = "it was refused"
		case x.write && slices.Contains(missing, x.path) && !did && !strings.Contains(x.path, "/.aws/"): // nothing is made in what is hidden as a whole
			wrong = "it was refused"
		case !x.write && slices.Contains(there, x.path) && !same:
			wrong = "it was changed"
		case !x.write && slices.Contains(missing, x.path) && lerr == nil:
			wrong = "it was made"
		}
		if !x.read || !x.write {
			held++
		}
		if wrong != "" {
			t.Errorf("%s %s: read %v, write %v by the policy; %s: %s", x.op, strings.TrimPrefix(x.path, root), x.read, x.write, wrong, line)
		}
	}
	if held < 3 {
		t.Errorf("only %d of %d tries are about something closed", held, len(tries))
	}
	if t.Failed() {
		t.Logf("%s\n%s", strings.Join(rules, "\n"), got.Output)
	}
}

// TestMovesLetGo: a call that fails before its command starts does not keep others from
// moving what holds secrets.
func TestMovesLetGo(t *testing.T) {
	t.Parallel()
	if _, ok := sandboxLevels(t)["L3"]; !ok {
		t.Skip("SKIPPED: no sandbox of level 3 here")
	}
	s := serving(t, "--sandbox", "auto")
	if err := os.Mkdir(filepath.Join(s.dir, "app"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.dir, "app", ".env"), []byte("KEY=1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	bash := func(id, command string) served {
		t.Helper()
		s.send(`{"id":%s,"name":"bash","arguments":{"command":%q}}`, id, command)
		return s.next(isResult(id))
	}
	bash("1", "true")
	found, err := filepath.Glob(filepath.Join(filepath.Dir(s.dir), "state", "agentkit", "*", "*", "net"))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	aside := found[0] + ".aside"
	if err := cmp.Or(os.Rename(found[0], aside), os.WriteFile(found[0], nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if r := bash("2", "true").Result; r.Error == nil {
		t.Fatalf("the call passes: %s", r.Output)
	}
	if err := cmp.Or(os.Remove(found[0]), os.Rename(aside, found[0])); err != nil {
		t.Fatal(err)
	}
	r := bash("3", "mv app moved").Result
	if _, err := os.Lstat(filepath.Join(s.dir, "moved", ".env")); r.Error != nil || err != nil {
		t.Fatal(r.Output, err)
	}
}
