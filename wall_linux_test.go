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
	rounds := sampled(1, 4)
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

	attempt := func(stdin string, args ...string) ([]byte, error) {
		argv := slices.Concat(prefix, []string{"agentkit"}, args)
		c := exec.Command(argv[0], argv[1:]...)
		c.Dir = root
		c.Env = append(os.Environ(), "HOME="+home, "XDG_STATE_HOME="+base+"/state", "XDG_CONFIG_HOME="+base+"/config", "AGENTKIT_SANDBOX=auto", "LIST="+root+"/list")
		c.Stdin = strings.NewReader(stdin)
		return c.Output()
	}
	run := func(args ...string) []byte {
		out, err := attempt("", args...)
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
	says := func(policy string) func(path string) (read, write bool) {
		return policySays(t, attempt, policy, slices.Concat(there, missing))
	}
	may := says(policy)
	var tries []wallTry
	var list strings.Builder
	for _, path := range there {
		op := pick("read", "read", "write", "append", "truncate", "trunc", "unlink", "rename", "over")
		read, mayWrite := may(path)
		tries = append(tries, wallTry{op, path, read, mayWrite})
	}
	for _, path := range missing {
		_, mayWrite := may(path)
		tries = append(tries, wallTry{pick("create", "mkdir", "symlink", "link"), path, true, mayWrite})
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

// A wallTry is what wallTries does to one path, and what the policy says of that.
type wallTry struct {
	op, path    string
	read, write bool
}

// policySays asks policy check about all paths.
func policySays(t *testing.T, attempt func(string, ...string) ([]byte, error), policy string, paths []string) func(path string) (read, write bool) {
	t.Helper()
	var asked strings.Builder
	for _, path := range paths {
		for _, how := range []string{"cat", "tee"} {
			_ = json.NewEncoder(&asked).Encode(map[string]any{"tool": "bash", "arguments": map[string]string{"command": how + " '" + path + "'"}})
		}
	}
	out, err := attempt(asked.String(), "policy", "check", "--batch", "--policy", policy)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	said := map[string]string{}
	for line := range strings.Lines(string(out)) {
		var got struct {
			Accesses []struct{ Kind, Subject, Decision string }
		}
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Fatal(err, line)
		}
		for _, a := range got.Accesses {
			said[a.Kind+" "+a.Subject] = a.Decision
		}
	}
	return func(path string) (read, write bool) {
		r, w := said["read "+path], said["write "+path]
		if r == "" || w == "" {
			t.Fatalf("nothing is said of %s", path)
		}
		return r == "allow", w == "allow"
	}
}

// TestWallTexts: a text that writes something beside a program of which nobody knows what
// it does opens nothing to that: neither what is closed and it writes itself, nor what is
// closed in a tree that it writes. What is asked about does not run.
func TestWallTexts(t *testing.T) {
	t.Parallel()
	base := durableDir(t)
	rounds := 12
	if !everyCase() {
		rounds = 6
	}
	for level, prefix := range sandboxLevels(t) {
		t.Run(level, func(t *testing.T) {
			t.Parallel()
			w := &wallTexts{t: t, prefix: prefix, base: filepath.Join(base, level), rnd: rand.New(rand.NewPCG(uint64(len(level)), 13))}
			ran, asked := 0, 0
			for range rounds {
				for _, text := range []string{w.secretText(), w.treeText()} {
					if w.run(text + w.pick("; ", " || true; ", " & wait; ") + "perl tries.pl") {
						ran++
					} else {
						asked++
					}
				}
			}
			if level == "L3" && (ran < rounds || asked == 0) {
				t.Errorf("%d texts ran, and %d were asked about", ran, asked)
			}
		})
	}
}

// A wallTexts is a root for texts.
type wallTexts struct {
	t      *testing.T
	prefix []string
	base   string
	rnd    *rand.Rand
	dir    string // of one text
}

func (w *wallTexts) pick(list ...string) string { return list[w.rnd.IntN(len(list))] }

// They are files that no command may read, those that none may write, and others.
const wallClosed, wallShut, wallOpen = "a/.env b/c/.npmrc c/.aws/credentials d/k.pem .env", "a/.envrc b/.vscode/settings.json .github/workflows/w.yml c/.git/config d/.cursor/rules", "plain a/f b/g c/h d/i"

func (w *wallTexts) secretText() string {
	return strings.ReplaceAll(w.pick("touch S", "echo x >>S", "tee -a S </dev/null", "chmod u+w S", "truncate -s +0 S", "sed -i -e '' S", "cp plain S", "sort -o S plain"), "S", w.pick(strings.Fields(wallClosed)...))
}

func (w *wallTexts) treeText() string {
	return strings.ReplaceAll(w.pick("find D -name '*.orig' -delete", "find D -name '*.orig' -exec rm -f {} +", "rm -f D/*.orig", "mkdir -p D/made", "touch D/made", "cp -r empty/. D", "chmod -R u+r D", "rm -rf D/none"), "D", w.pick(".", "a", "b", "c", "d"))
}

// run runs a text in a new root, and reports whether it ran.
func (w *wallTexts) run(text string) bool {
	w.t.Helper()
	w.dir = filepath.Join(w.base, fmt.Sprint(w.rnd.Uint32()))
	root := filepath.Join(w.dir, "root")
	write := func(name, text string) {
		path := filepath.Join(root, name)
		if err := cmp.Or(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			w.t.Fatal(err)
		}
	}
	var list strings.Builder
	for name := range strings.FieldsSeq(wallClosed) {
		write(name, "content of "+name)
		fmt.Fprintln(&list, "read", name)
	}
	for name := range strings.FieldsSeq(wallShut) {
		write(name, "content of "+name)
		fmt.Fprintln(&list, w.pick("write", "append", "truncate", "trunc", "unlink", "over"), name)
	}
	for name := range strings.FieldsSeq(wallOpen) {
		write(name, "content of "+name)
	}
	write("a/x.orig", "")
	write("empty/file", "")
	write("list", list.String())
	write("tries.pl", wallTries)
	argv := slices.Concat(w.prefix, []string{"agentkit", "bash", text})
	c := exec.Command(argv[0], argv[1:]...)
	c.Dir = root
	c.Env = append(os.Environ(), "HOME="+w.dir, "XDG_STATE_HOME="+w.dir+"/state", "XDG_CONFIG_HOME="+w.dir+"/config", "AGENTKIT_SANDBOX=auto", "LIST="+root+"/list")
	out, err := c.Output()
	var got struct {
		Output string
		Error  struct{ Code string }
	}
	if json.Unmarshal(out, &got) != nil {
		w.t.Fatalf("%s: %v\n%s", text, err, out)
	}
	if got.Error.Code == "approval_required" || got.Error.Code == "denied" {
		return false
	}
	if !strings.Contains(got.Output, "read .env ") {
		w.t.Fatalf("%s: nothing was tried: %s", text, got.Output)
	}
	for name := range strings.FieldsSeq(wallClosed) {
		if strings.Contains(got.Output, "read "+name+" did") {
			w.t.Errorf("%s\n%s was read", text, name)
		}
	}
	for name := range strings.FieldsSeq(wallShut) {
		if now, err := os.ReadFile(filepath.Join(root, name)); err != nil || string(now) != "content of "+name {
			w.t.Errorf("%s\n%s was changed: %v", text, name, err)
		}
	}
	return true
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

// TestForeignPrograms: a program of another project is started only by whoever may read
// it, and to name one opens nothing that lies beside it.
func TestForeignPrograms(t *testing.T) {
	t.Parallel()
	base := durableDir(t)
	for name, file := range map[string]string{
		"root/read.pl": "open F, '../other/data' or die \"$!\\n\"; print <F>;", "home/file": "", "other/run.sh": "#!/bin/sh\necho ran\n", "other/data": "CANARY\n",
	} {
		path := filepath.Join(base, name)
		if err := cmp.Or(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(file), 0o755)); err != nil { //nolint:gosec // programs
			t.Fatal(err)
		}
	}
	for level, prefix := range sandboxLevels(t) {
		for _, c := range []struct{ command, allow, code, prints string }{
			{command: "../other/run.sh", code: "approval_required"},
			{command: "../other/data; perl read.pl", code: "approval_required"},
			{command: "../other/none; perl read.pl", prints: "Permission denied"},
			{command: "false && ../other/none; perl read.pl", prints: "Permission denied"},
			{command: "../other/run.sh; perl read.pl", allow: "bash(../other/run.sh)", prints: "ran\nPermission denied"},
			{command: "../other/run.sh; perl read.pl", allow: "read(../other/run.sh)", prints: "ran\nPermission denied"},
			{command: "../other/run.sh; perl read.pl", allow: "read(../other/**)", prints: "ran\nCANARY"},
		} {
			argv := slices.Concat(prefix, []string{"agentkit", "bash", c.command})
			if c.allow != "" {
				argv = append(argv, "--allow", strings.Replace(c.allow, "..", base, 1))
			}
			cmd := exec.Command(argv[0], argv[1:]...)
			cmd.Dir = filepath.Join(base, "root")
			cmd.Env = append(os.Environ(), "HOME="+base+"/home", "XDG_STATE_HOME="+base+"/state", "XDG_CONFIG_HOME="+base+"/config", "AGENTKIT_SANDBOX=auto")
			out, _ := cmd.Output()
			var got struct {
				Output string
				Error  struct{ Code, Message string }
			}
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatal(err)
			}
			if got.Error.Code != c.code || !strings.Contains(got.Output, c.prints) || strings.Contains(got.Output, "CANARY") != strings.Contains(c.prints, "CANARY") {
				t.Errorf("%s: %s with %s: %s %s\n%s", level, c.command, c.allow, got.Error.Code, got.Error.Message, got.Output)
			}
		}
	}
}

// TestHomeSecrets: of the home's dot entries a program reads what the text of a command
// may, whatever names its secrets have and wherever in these they lie.
func TestHomeSecrets(t *testing.T) {
	t.Parallel()
	long(t)
	base := durableDir(t)
	write := func(name, text string) {
		path := filepath.Join(base, name)
		if err := cmp.Or(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	names := []string{
		".bashrc", ".tool/settings", ".config/tool/settings.json", ".local/share/tool/data", "linked/tool/settings.json", // no secrets
		".config/Slack/Cookies", ".config/BraveSoftware/x", ".nuget/NuGet/NuGet.Config", ".local/share/fish/fish_history", ".ghc/ghci_history",
		".kaggle/kaggle.json", ".cloudflared/cert.pem", ".minikube/client.key", ".config/tool/.env", ".config/gh/hosts.yml", ".aws/credentials", "linked/tool/id_rsa", "plain",
		".mylogin.cnf", ".Xauthority", ".config/pypoetry/auth.toml", ".local/share/uv/credentials/x", ".local/state/bash/history",
		"../tool/bin/x", "../tool/cert.pem", "../tool/.env", "../tool/conf/id_rsa",
	}
	for _, name := range names {
		write("home/"+name, "CANARY")
	}
	if err := os.Symlink("linked", filepath.Join(base, "home", ".linked")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(base, "tool", "bin", "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	write("root/list", base+"/home/"+strings.Join(names, "\n"+base+"/home/"))
	write("root/read.pl", `open L, "list"; chomp(@l = <L>); for (@l) { print "read $_\n" if open(F, "<", $_) && <F> eq "CANARY" }`)
	for level, prefix := range sandboxLevels(t) {
		run := func(args ...string) (got struct {
			Output   string
			Metadata struct {
				Sandbox  string
				Accesses []struct{ Kind, Subject, Decision string }
			}
		},
		) {
			argv := slices.Concat(prefix, []string{"agentkit"}, args)
			cmd := exec.Command(argv[0], argv[1:]...)
			cmd.Dir = filepath.Join(base, "root")
			cmd.Env = append(os.Environ(), "HOME="+base+"/home", "XDG_STATE_HOME="+base+"/state", "XDG_CONFIG_HOME=", "AGENTKIT_SANDBOX=auto", "PATH="+base+"/tool/bin:"+os.Getenv("PATH"))
			out, _ := cmd.Output()
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatal(err, string(out))
			}
			return got
		}
		for range 2 { // the second time names are remembered
			got := run("bash", "perl read.pl")
			if got.Metadata.Sandbox != level {
				t.Fatalf("it ran at %s: %s", got.Metadata.Sandbox, got.Output)
			}
			for _, name := range names {
				path, may := filepath.Join(base, "home", name), false
				args, _ := json.Marshal(map[string]string{"command": "cat '" + path + "'"})
				for _, a := range run("policy", "check", "bash", "--json", string(args)).Metadata.Accesses {
					may = may || a.Subject == path && a.Decision == "allow"
				}
				if strings.HasPrefix(name, "linked/") { // named by the dot entry that leads there
					may = !strings.Contains(name, "id_rsa")
				}
				may = may || strings.HasSuffix(name, "tool/cert.pem") // which programs need
				if did := strings.Contains(got.Output, "read "+base+"/home/"+name+"\n"); did != may {
					t.Errorf("%s: %s: read %v, but the policy says %v", level, name, did, may)
				}
			}
		}
	}
}

// TestRootInSharedMemory works in /dev/shm, over which a confined command gets a file
// system of its own: what is its own is there, and what lies beside it is not.
func TestRootInSharedMemory(t *testing.T) {
	t.Parallel()
	base, err := os.MkdirTemp("/dev/shm", "root") //nolint:usetesting // t.TempDir lies elsewhere
	if err != nil {
		t.Skip("nothing can be made in /dev/shm: ", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	for name, text := range map[string]string{
		"home/.netrc": "CANARY", "beside": "CANARY", "listed/letter": "CANARY", "root/.env": "CANARY", "root/a.txt": "mine", "root/sub/b.txt": "mine",
		"root/try.pl": `for ("a.txt", ".env", "../beside", "../listed/letter", "../home/.netrc") { print "reads $_\n" if open(F, "<", $_) && <F> ne "" }
			for (glob("../state/agentkit/*"), "../state/agentkit") { print "state $_\n" if open(F, ">", "$_/new") || open(F, ">>", $_) }
			for ("new", "sub/new", "../new", ".vscode/new", "/dev/shm/new$$") { print "writes $_\n" if open(F, ">", $_) }`,
		"root/.vscode/settings.json": "{}",
	} {
		path := filepath.Join(base, name)
		if err := cmp.Or(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	levels := sandboxLevels(t)
	if _, ok := levels["L3"]; !ok {
		t.Skip("there is no L3 here")
	}
	var prefix []string
	run := func(temp string, args ...string) string {
		argv := slices.Concat(prefix, []string{"agentkit"}, args)
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir = filepath.Join(base, "root")
		cmd.Env = append(os.Environ(), "HOME="+base+"/home", "XDG_STATE_HOME="+base+"/state", "XDG_CONFIG_HOME=", "XDG_CACHE_HOME=", "AGENTKIT_SANDBOX=auto", "TMPDIR="+temp)
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	for _, temp := range []string{os.TempDir(), base + "/temp"} { // where the temporary directory lies there, too, it is kept beside the root
		if err := os.MkdirAll(temp, 0o755); err != nil {
			t.Fatal(err)
		}
		got := run(temp, "bash", "-o", "text", "perl try.pl; rm sub/b.txt; ls")
		if !strings.HasPrefix(got, "reads a.txt\nwrites new\nwrites sub/new\nwrites ../new\nwrites /dev/shm/new") || strings.Contains(got, "CANARY") || strings.Count(got, "reads ") != 1 || strings.Contains(got, "vscode") {
			t.Errorf("with temporary files in %s: %s", temp, got)
		}
		for _, pattern := range []string{"/dev/shm/new*", base + "/new"} { // the command's own shared memory is gone
			if left, _ := filepath.Glob(pattern); len(left) > 0 {
				t.Errorf("%v was made outside", left)
			}
		}
		if got := run(temp, "undo", "-o", "text"); !strings.Contains(got, "sub/b.txt") {
			t.Errorf("undo: %s", got)
		}
		if text, err := os.ReadFile(filepath.Join(base, "root", "sub", "b.txt")); string(text) != "mine" {
			t.Errorf("%q %v", text, err)
		}
	}
	// The names of a directory can be allowed; what its files hold is not with them.
	if got := run(os.TempDir(), "bash", "-o", "text", "--allow", "read("+base+"/listed)", "ls ../listed; perl try.pl"); !strings.Contains(got, "reads a.txt\nwrites new\n") || strings.Contains(got, "reads ../listed") {
		t.Errorf("with a directory that may be listed: %s", got)
	}
	if got := run(os.TempDir(), "bash", "-o", "text", "--try", "echo 1 >tried"); !strings.Contains(got, "create tried") {
		t.Errorf("a trial: %s", got)
	}
	// Without mounts it shares the memory with the user's other programs, but what has rules is not written.
	prefix = levels["L2"]
	_ = os.Remove(filepath.Join(base, "root", ".env")) // of which it would be asked
	if got := run(os.TempDir(), "bash", "-o", "text", "perl try.pl"); prefix != nil && (!strings.HasPrefix(got, "reads a.txt\n") || !strings.Contains(got, "\nwrites new\nwrites sub/new\n") || strings.Contains(got, ".netrc") || strings.Contains(got, "state ") || strings.Contains(got, "writes ../new\n")) {
		t.Errorf("without mounts: %s", got)
	}
}

// TestOpenedOutside: a call that makes something new in a directory outside the root
// changes nothing else there but what it was given, and a job fills what its call has made.
func TestOpenedOutside(t *testing.T) {
	t.Parallel()
	long(t)
	levels := sandboxLevels(t)
	if _, ok := levels["L3"]; !ok {
		t.Skip("there is no L3 here")
	}
	base := durableDir(t)
	for name, text := range map[string]string{
		"home/notes/old": "old\n", "home/.cache/other": "other\n", "home/root/a.txt": "a\n",
		"home/root/try.pl": `for ("new/in", "notes/old", "notes/new", "planted", "notes/planted", ".cache/pip/in", ".cache/other", "root/made") { print "$_\n" if open(F, ">>", "../$_") }
			print "moved $_\n" for grep { rename("../$_", "../$_.moved") } ".cache", "notes", "root"`,
		"home/root/plant.pl": `mkdir "../$_" for "plain", "plain/.ssh", ".config", ".config/autostart"; open(F, ">", "../$_") for ".zshenv", ".config/autostart/a", ".config/b", "plain/b"`,
	} {
		path := filepath.Join(base, name)
		if err := cmp.Or(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) (got struct {
		Output   string
		Metadata struct{ Job, Sandbox string }
	},
	) {
		cmd := exec.Command("agentkit", args...)
		cmd.Dir = filepath.Join(base, "home/root")
		cmd.Env = append(os.Environ(), "HOME="+base+"/home", "XDG_STATE_HOME="+base+"/state", "XDG_CONFIG_HOME=", "XDG_CACHE_HOME=", "AGENTKIT_SANDBOX=auto")
		out, _ := cmd.Output()
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatal(err, string(out))
		}
		return got
	}
	got := run("bash", "--allow", "edit(~/new/**)", "--allow", "edit(~/new)", "--allow", "edit(~/notes/new)", "mkdir ../new && echo one >../notes/new && perl try.pl")
	may, _, _ := strings.Cut(got.Output, "[")
	if want := "new/in\nnotes/new\nplanted\nnotes/planted\n.cache/pip/in\nroot/made\n"; may != want || got.Metadata.Sandbox != "L3" {
		t.Errorf("at %s: %s", got.Metadata.Sandbox, got.Output)
	}
	if said := "/home/planted was created: the call was allowed to make something else there"; !strings.Contains(got.Output, said) {
		t.Errorf("%s\n%s", said, got.Output)
	}
	for name, stays := range map[string]bool{"new/in": true, "notes/new": true, "planted": false, "notes/planted": false, ".cache/pip/in": true, "root/made": true} {
		if _, err := os.Lstat(filepath.Join(base, "home", name)); (err == nil) != stays {
			t.Errorf("%s stays: %v, want %v", name, err == nil, stays)
		}
	}
	big := filepath.Join(base, "home", "big")
	if err := os.Mkdir(big, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range 4001 { // more than is closed one by one
		if err := os.WriteFile(filepath.Join(big, fmt.Sprint(i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, words := range []string{"mkdir ../big/new", "mkdir ../also ../big/new"} {
		got := run("bash", "--allow", "edit(~/big/new)", "--allow", "edit(~/also)", words)
		if _, err := os.Lstat(big + "/new"); err == nil || !strings.Contains(got.Output, `--allow "edit(`+big+`/**)" would allow it`) {
			t.Errorf("%s: %v %s", words, err, got.Output)
		}
	}
	job := run("bash", "--background", "--allow", "edit(~/late)", "sleep 0.3; echo filled >../late").Metadata.Job
	run("output", job)
	if text, err := os.ReadFile(filepath.Join(base, "home", "late")); string(text) != "filled\n" {
		t.Errorf("%q %v", text, err)
	}

	// Beside what a job was allowed, a person may make files meanwhile: what is protected goes.
	job = run("bash", "--background", "--allow", "edit(~/kept)", "mkdir ../kept && perl plant.pl").Metadata.Job
	run("output", job)
	for name, stays := range map[string]bool{"kept": true, "plain/b": true, ".config/b": true, ".zshenv": false, "plain/.ssh": false, ".config/autostart": false} {
		if _, err := os.Lstat(filepath.Join(base, "home", name)); (err == nil) != stays {
			t.Errorf("after a job %s stays: %v, want %v", name, err == nil, stays)
		}
	}
}
