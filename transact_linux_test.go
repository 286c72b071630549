package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// opaque are commands of which the text does not tell what they change.
var opaque = []string{
	"make clean", "make -s all", "make all clean", "sh ./script", "python3 tree.py", "python3 -c 'import os; os.rename(\"src\", \"source\")'",
	`python3 -c 'import os, shutil; shutil.rmtree("build"); os.mkdir("build"); open("build/x", "wb").write(bytes(range(256)) * 5000)'`,
	`python3 -c 'import sqlite3; c = sqlite3.connect("db"); c.execute("insert into t values (2)"); c.commit()'`,
	`python3 -c 'import os; os.chmod("src/run", 0o600); os.link("a.txt", "a.link"); os.symlink("b.txt", "to.b"); os.utime("b.txt", (1, 1)); os.truncate("src/one.txt", 0)'`,
	`python3 -c 'import os; os.rename("src/deep", "empty/deep"); os.rename("build", "out"); os.replace("a.txt", "b.txt")'`,
	"git mv src lib", "git mv src/deep deep && git commit -qm moved", "git add -A && git commit -qm all", "git checkout -q -b other && git rm -rq src", "git merge -q side || git merge --abort",
	"git stash -q -u", "git gc -q", "git clean -fdxq && git reset -q --hard", "git checkout -qf side", "git rebase -q side; git rebase --abort", "git init -q sub && cd sub && git commit -q --allow-empty -m one",
	"cp -r src copy && rm -rf src", "mv src source && mv source/deep .", "tar cf - src | (mkdir un && tar xf - -C un)", "find . -name '*.txt' -not -path './.git/*' -exec sh -c 'echo more >>\"$1\"' _ {} \\;",
	"rm -rf build && make -s all", "python3 -c 'print(1)'", "sh -c 'echo one >made; exit 9'", "cd src && python3 ../tree.py; ls | wc -l",
	`python3 -c 'import os; os.mkfifo("pipe"); os.mkdir("closed"); open("closed/in", "w").write("i"); os.chmod("closed", 0o500)'`,
	`python3 -c 'import os; f = open("src/one.txt", "w"); os.rename("src", "moved"); f.write("late"); f.close()'; ls`,
}

// opaqueModel is what the opaque commands are for.
const opaqueModel = takebackModel + `
printf 'all:\n\tmkdir -p build/obj\n\techo obj >build/obj/o\n\techo made >made.txt\nclean:\n\trm -rf build\n\trm -f *.bak\n' >Makefile; echo bak >old.bak
printf 'echo line >>a.txt\nrm -rf build\nmkdir -p n/m\necho deep >n/m/file\nchmod 640 b.txt\nmv src/three.txt three.txt\nexit 7\n' >script
printf 'import os\nfor d, _, files in os.walk("."):\n  for f in files:\n    if f.endswith(".txt") and ".git" not in d:\n      os.rename(os.path.join(d, f), os.path.join(d, f + ".old"))\n' >tree.py
python3 -c 'import sqlite3; c = sqlite3.connect("db"); c.execute("create table t (n)"); c.execute("insert into t values (1)"); c.commit()'
rm hard.txt; head -c 3000000 /dev/zero | tr '\0' x >build/large`

// exceptRenames are the commands of which a rename needs what a view of the root does not
// have: the file stays open for writing.
const exceptRenames = `f = open("src/one.txt", "w")`

// TestTransactions: with undo.commands all, what a command changes is what it changes
// elsewhere, whatever its text tells, and undo brings back all that was there, git's
// objects included.
func TestTransactions(t *testing.T) {
	t.Parallel()
	b := newTransactions(t)
	from := b.model("model", opaqueModel)
	for n, line := range opaque {
		if !everyCase() && n%8 != 4 {
			continue
		}
		mine, theirs := b.copies(from, fmt.Sprint("t", n))
		if strings.Contains(line, exceptRenames) {
			b.refusedRename(mine, line)
			continue
		}
		b.transact(mine, theirs, line)
	}
}

// TestSeveralNamesInView: what a transaction writes to a file under one of its names, and
// reads again, is in the file under all.
func TestSeveralNamesInView(t *testing.T) {
	t.Parallel()
	b := newTransactions(t)
	mine, theirs := b.copies(b.model("names", takebackModel), "n")
	b.transact(mine, theirs, `python3 -c 'f = open("hard.txt", "a"); f.write("more"); f.close(); print(open("hard.txt").read())'`)
}

// transactions are a takeback with a policy that keeps what every command changes.
type transactions struct {
	*takeback
	policy string
}

func newTransactions(t *testing.T) *transactions {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("SKIPPED: there is no python3")
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: there is no git")
	}
	if _, ok := sandboxLevels(t)["L3"]; !ok {
		t.Skip("SKIPPED: commands cannot be confined here")
	}
	b := &transactions{newTakeback(t), ""}
	b.environ = append(b.environ, "GIT_AUTHOR_DATE=2001-01-01T00:00:00Z")
	b.policy = filepath.Join(b.base, "all.yaml")
	if err := os.WriteFile(b.policy, []byte("undo: {commands: all}\nallow: [\"bash(git *)\", \"bash(make *)\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return b
}

// keptLine is what a result says of undo.
var keptLine = regexp.MustCompile(`(?m)^\[what it changed can be taken back .*\]$`)

// A transacted is the result of such a call.
type transacted struct {
	Output   string
	Metadata struct {
		Change  string
		By      string `json:"undo_by"`
		Why     string `json:"undo_why"`
		Total   int    `json:"changed_total"`
		Changed []struct{ Path, Action string }
	}
	Error struct{ Code, Message, Hint string }
}

func (b *transactions) call(dir, line string) (r transacted, code int) {
	b.t.Helper()
	out, code := b.run(dir, "agentkit", "--policy", b.policy, "bash", "--json", `{"command":`+quoteJSON(line)+`}`)
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		b.t.Fatalf("%s: %v: %s", line, err, out)
	}
	return r, code
}

// transact runs a command in two copies of a model, one of them as a transaction.
func (b *transactions) transact(mine, theirs, line string) {
	t := b.t
	t.Helper()
	objects := func() string { out, _ := b.run(mine, "sh", "-c", "find .git/objects | sort"); return out }
	before, had := wholeTree(t, mine), objects()
	wantOut, wantCode := b.run(theirs, "bash", "-c", line)
	r, code := b.call(mine, line)
	text := strings.TrimSpace(keptLine.ReplaceAllString(statusLine.ReplaceAllString(strings.TrimPrefix(r.Output, "[no output]"), ""), ""))
	if want := objectName.ReplaceAllString(wantOut, "NAME"); objectName.ReplaceAllString(text, "NAME") != want || code != wantCode {
		t.Errorf("%s: [%d] %s\nelsewhere: [%d] %s", line, code, text, wantCode, want)
	}
	if r.Metadata.By != "overlay" {
		t.Errorf("%s: it was kept by %q: %s", line, r.Metadata.By, r.Metadata.Why)
	}
	const state = "git symbolic-ref HEAD; git for-each-ref refs/heads refs/tags; git stash list; git status --porcelain; git ls-files -s; find . -path ./.git -prune -o -type f -links +1 -print | sort"
	have, _ := b.run(mine, "sh", "-c", state)
	want, _ := b.run(theirs, "sh", "-c", state)
	sameText(t, line+": git", have, want)
	sameText(t, line, contents(wholeTree(t, mine)), contents(wholeTree(t, theirs)))
	if r.Metadata.Change == "" {
		sameText(t, line+": unchanged", wholeTree(t, mine), before)
		return
	}
	if out, code := b.run(mine, "agentkit", "undo", r.Metadata.Change); code != 0 {
		t.Errorf("undoing %s: %s", line, out)
	}
	sameText(t, line+": undone", wholeTree(t, mine), before)
	sameText(t, line+": objects", objects(), had)
}

// refusedRename: what a view cannot rename as the root would fails, by name, and loses nothing.
func (b *transactions) refusedRename(mine, line string) {
	t := b.t
	t.Helper()
	before := wholeTree(t, mine)
	r, _ := b.call(mine, line)
	if !strings.Contains(r.Output, "EXDEV): src, for a program works in it") {
		t.Errorf("%s: %s", line, r.Output)
	}
	if out, code := b.run(mine, "agentkit", "undo", r.Metadata.Change); code != 0 {
		t.Errorf("undoing %s: %s", line, out)
	}
	sameText(t, line+": undone", wholeTree(t, mine), before)
}

// TestTransactionConflict: what somebody else changes while a command runs is neither
// overwritten nor mixed with what the command changed, and both are there afterwards.
func TestTransactionConflict(t *testing.T) {
	t.Parallel()
	b := newTransactions(t)
	from := b.model("model", "git init -q; echo one >a; echo two >b")
	mine, _ := b.copies(from, "conflict")
	temp, err := os.MkdirTemp("/tmp", "conflict") //nolint:usetesting // where commands may write, whatever TMPDIR says here
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(temp) })
	started, goOn := filepath.Join(temp, "started"), filepath.Join(temp, "on")
	if err := os.WriteFile(filepath.Join(mine, "s.py"), []byte(fmt.Sprintf(`
import os, time
open("a", "a").write("mine\n"); open("b", "a").write("mine\n")
open(%q, "w").close()
while not os.path.exists(%q): time.sleep(0.01)
print("ended")
`, started, goOn)), 0o600); err != nil {
		t.Fatal(err)
	}
	go func() {
		for range 3000 {
			if _, err := os.Stat(started); err == nil {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if f, err := os.OpenFile(filepath.Join(mine, "a"), os.O_APPEND|os.O_WRONLY, 0); err == nil {
			_, _ = f.WriteString("theirs\n")
			_ = f.Close()
		}
		_ = os.WriteFile(goOn, nil, 0o600)
	}()
	r, code := b.call(mine, "python3 s.py")
	if r.Error.Code != "conflict" || code == 0 || !strings.Contains(r.Error.Message, `["a"]`) || !strings.Contains(r.Output, "ended") {
		t.Fatalf("%d %+v", code, r)
	}
	for name, want := range map[string]string{"a": "one\ntheirs\n", "b": "two\n"} {
		if data, err := os.ReadFile(filepath.Join(mine, name)); err != nil || string(data) != want {
			t.Errorf("%s is %q, %v", name, data, err)
		}
	}
	// The other half is kept until it is forgotten.
	if out, code := b.run(mine, "agentkit", "apply", r.Metadata.Change); code == 0 || !strings.Contains(out, "conflict") {
		t.Errorf("apply: %d %s", code, out)
	}
	if out, code := b.run(mine, "agentkit", "discard", r.Metadata.Change); code != 0 {
		t.Errorf("discard: %d %s", code, out)
	}
}

// TestViewRenames: a directory that stood before is renamed in a view as elsewhere, with
// modes, times, attributes and hard links; where that cannot be it fails and loses nothing.
func TestViewRenames(t *testing.T) {
	t.Parallel()
	long(t)
	b := newTransactions(t)
	if err := os.WriteFile(b.policy, []byte("undo: {commands: all}\ndeny: [\"edit(**/*.fixed)\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const model = `mkdir -p d/sub/deep other; echo 1 >d/one; ln d/one d/sub/link; ln -s one d/to; echo 2 >d/sub/two; chmod 640 d/sub/two; chmod 2750 d/sub/deep; touch -d 2001-01-01 d/one d/sub
mkdir -p secret/in; echo key >secret/in/id_rsa; echo 3 >secret/three; mkfifo other/pipe; mkdir part ruled; echo fixed >part/.envrc; echo fixed >ruled/a.fixed`
	from := b.model("model", model)
	for n, test := range []struct{ line, refused string }{
		{`os.rename("d", "e")`, ""},
		{`os.rename("d", "other/d"); os.rename("other/d/sub", "up"); os.rename("up", "d")`, ""},
		{`os.mkdir("empty"); os.replace("d", "empty")`, ""},
		{`os.mkdir("e"); open("e/x", "w").close(); os.rename("d", "e")`, ""},
		{`os.rename("d", "d/sub/d")`, ""},
		{`os.chdir("other"); os.rename("../d", "e"); os.rename("e", "../f"); os.rename("../f/sub", "../f/bus")`, ""},
		{`f = open("d/sub/two", "a"); os.rename("d", "e"); f.write("late"); f.close()`, "a program works in it"},
		{`os.chdir("d"); os.rename("../d", "../e")`, "a program works in it"},
		{`os.rename("secret", "open"); print(open("open/in/id_rsa").read())`, "stays in its place"},
		{`os.rename("other", "e")`, "a pipe"},
		{`os.rename("part", "e"); open("e/.envrc", "w").write("evil")`, "stays in its place"},
		{`os.rename("ruled", "e"); open("e/a.fixed", "w").write("evil")`, "keeps from the command"},
	} {
		mine, theirs := b.copies(from, fmt.Sprint("r", n))
		before := wholeTree(t, mine)
		script := "import os\n" + test.line
		for _, dir := range []string{mine, theirs} {
			if err := os.WriteFile(filepath.Join(dir, "s.py"), []byte(script), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_, wantCode := b.run(theirs, "python3", "s.py")
		r, code := b.call(mine, "python3 s.py")
		if test.refused != "" {
			if code == 0 || !strings.Contains(r.Output, test.refused) || strings.Contains(r.Output, "\nkey") {
				t.Errorf("%s: %d %s", test.line, code, r.Output)
			}
		} else {
			if code != wantCode || strings.Contains(r.Output, "EXDEV") {
				t.Errorf("%s: %d %s, elsewhere %d", test.line, code, r.Output, wantCode)
			}
			const times = "find . -type f -printf '%p %m %n %T@\\n' | sort; find . -type d ! -path . -printf '%p %m\\n' | sort"
			have, _ := b.run(mine, "sh", "-c", times)
			want, _ := b.run(theirs, "sh", "-c", times)
			sameText(t, test.line, stamps.ReplaceAllString(have, "$1"), stamps.ReplaceAllString(want, "$1"))
			sameText(t, test.line, contents(wholeTree(t, mine)), contents(wholeTree(t, theirs)))
		}
		if r.Metadata.Change != "" {
			if out, code := b.run(mine, "agentkit", "undo", r.Metadata.Change); code != 0 {
				t.Errorf("undoing %s: %s", test.line, out)
			}
		}
		if err := os.Remove(filepath.Join(mine, "s.py")); err != nil {
			t.Error(err)
		}
		sameText(t, test.line+": undone", wholeTree(t, mine), before)
	}
}

// stamps are the times of this run, which differ by chance, of the script itself and of
// what it made; those that the model set to 2001 stay.
var stamps = regexp.MustCompile(`(?m)^(\S+ \d+ \d+) (?:1[0-9]{9}|[2-9][0-9]{9})\.\d+$`)

// TestTransactionKilled: whenever agentkit is killed, the workspace is as it was or as the
// command leaves it, and the next call finishes what was begun.
func TestTransactionKilled(t *testing.T) {
	t.Parallel()
	long(t)
	b := newTransactions(t)
	from := b.model("model", `mkdir -p in/{1..40}; for d in in/*; do for f in 1 2 3 4 5; do echo $d $f >$d/$f; done; done
printf 'import os, shutil\nfor d in sorted(os.listdir("in")):\n  if int(d) %% 3 == 0: shutil.rmtree("in/" + d)\n  else: open("in/" + d + "/1", "w").write("new"); os.mkdir("in/" + d + "/more"); open("in/" + d + "/more/f", "w").close()\n' >s.py`)
	whole, theirs := b.copies(from, "whole")
	before := contents(wholeTree(t, whole))
	b.run(theirs, "python3", "s.py")
	after := contents(wholeTree(t, theirs))
	begin := time.Now()
	if r, code := b.call(whole, "python3 s.py"); code != 0 || r.Metadata.By != "overlay" {
		t.Fatal(r)
	}
	took := time.Since(begin)
	samples, ends := sampled(5, 40), map[string]int{}
	for n := range samples {
		mine := filepath.Join(b.base, fmt.Sprint("killed", n))
		if out, code := b.run(b.base, "cp", "-a", from, mine); code != 0 {
			t.Fatal(out)
		}
		cmd := exec.Command("agentkit", "--policy", b.policy, "bash", "python3 s.py")
		cmd.Dir, cmd.Env = mine, b.environ
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(took * time.Duration(n+samples/2) * 12 / time.Duration(samples*15)) // most in the second half, where the root changes
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		time.Sleep(50 * time.Millisecond)                                     // what it held ends with it
		if out, code := b.run(mine, "agentkit", "undo", "--list"); code > 1 { // 1: there is nothing
			t.Errorf("sample %d: %s", n, out)
		}
		switch have := contents(wholeTree(t, mine)); have {
		case before:
			ends["old"]++
		case after:
			ends["new"]++
			if out, code := b.run(mine, "agentkit", "undo"); code != 0 || contents(wholeTree(t, mine)) != before {
				t.Errorf("sample %d: undo: %s", n, out)
			}
		default:
			ends["mixed"]++
			sameText(t, fmt.Sprintf("sample %d", n), have, before)
		}
		// Nothing is in the way of the next.
		if r, code := b.call(mine, "python3 -c 'open(\"next\", \"w\").close()'"); code != 0 || r.Metadata.Change == "" {
			t.Errorf("sample %d: the next call: %+v", n, r)
		}
	}
	t.Logf("%v of %d, of %v each", ends, samples, took)
}
