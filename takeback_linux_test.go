package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// destroying are commands of every kind that takes something away inside the root. None
// of them asks.
var destroying = []string{
	"rm -rf build", "rm -rf src", "rm a.txt", "rm -f a.txt b.txt nothing.txt", "rm -rf 'two words'", "rm link", "unlink src/z.pyc", "rmdir empty", "rm -rf src build/* empty",
	`find . -name "*.pyc" -delete`, "find build -type f -delete", `find . -name "*.o" -exec rm {} +`, `find . -name "*.pyc" | xargs -r rm -f`,
	"mv a.txt b.txt", "mv -f src/one.txt a.txt && mv src other", "cp a.txt b.txt", "echo new >a.txt", ": >a.txt; echo more >>b.txt",
	"truncate -s 1 a.txt", "dd if=/dev/zero of=a.txt bs=4 count=1 status=none", "echo x | tee a.txt", "ln -sf b.txt a.txt", "install -m 600 b.txt a.txt",
	"git checkout -- .", "git checkout -- a.txt", "git checkout -q HEAD~1 -- a.txt src", "git checkout -qf side", "git checkout -qf side && git branch -D main", "git switch -q --discard-changes side",
	"git restore .", "git restore --source=HEAD~1 src", "git restore --staged --worktree .", "git restore -s side -W a.txt",
	"git reset --hard", "git reset -q --hard HEAD~1", "git reset --hard side", "git clean -fd", "git clean -fdx", "git clean -qfX",
	"git rm -rqf src", "git rm -f a.txt", "git stash drop", "git stash clear", "git stash -q; git stash drop", "git stash -u -q && git stash clear",
	"git branch -D side", "git branch -d merged", "git update-ref -d refs/heads/side", "git branch -f side HEAD",
	"rm -rf src && mkdir src && echo 1 >src/new", "rm -rf build; git checkout -- .", "cd src && rm -f one.txt && cd .. && rm -rf src", "bash -c 'rm -rf build'", "git reset -q --hard && git clean -fdxq && rm -rf src",
	"sed -i s/a/q/ a.txt", "sed -i.bak s/1/q/ src/one.txt", "perl -pi -e s/a/q/ a.txt", "sort -r -o a.txt a.txt", "diff a.txt b.txt | patch -s a.txt", "cd src && sed -i s/1/q/ one.txt ../b.txt",
	"git commit -q --amend -m other", "git commit -qa --amend --no-edit", "git reset -q --soft HEAD~1", "git reset -q HEAD~1", "git reset -q", "git update-ref refs/heads/side HEAD",
}

// takebackModel makes the repository that each command gets a copy of: with changes that
// are staged and not, files that git ignores, does not know or has, a stash, branches,
// links, names with blanks, and modes.
const takebackModel = `git init -q -b main
printf '*.pyc\n/build\n' >.gitignore
mkdir -p src/deep 'two words' build/in empty
echo a >a.txt; echo b >b.txt; echo 1 >src/one.txt; echo 2 >src/deep/two.txt; echo w >'two words/w w.txt'; ln -s a.txt link; echo '#!/bin/sh' >src/run; chmod 755 src/run
git add -A; git commit -qm first
echo second >>a.txt; echo 3 >src/three.txt; git add -A; git commit -qm second
git branch merged HEAD~1
git checkout -qb side; echo side >>a.txt; mkdir only; echo s >only/side.txt; git add -A; git commit -qm side; git checkout -q main
echo stashed >>src/one.txt; git stash -q
echo staged >>b.txt; git add b.txt; echo changed >>src/one.txt; rm src/deep/two.txt
echo o >build/in/x.o; echo p >build/y.pyc; echo p >src/z.pyc; echo new >new.txt; mkdir -p unknown/deep; echo u >unknown/deep/u; mkdir -p empty; ln -s nowhere dangling; ln new.txt hard.txt`

// packedModel has its references packed, its index in another form, and closed files.
const packedModel = takebackModel + `
git gc -q; git update-index --index-version 4; chmod 444 new.txt; chmod 500 unknown/deep; mkdir -p .git/empty`

// TestTakeBack: a command does to a workspace what it does elsewhere, without a question;
// and undo brings back all of it, byte for byte, mode for mode and time for time, with
// git's own files.
func TestTakeBack(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: there is no git")
	}
	if _, ok := sandboxLevels(t)["L3"]; !ok {
		t.Skip("SKIPPED: commands cannot be confined here")
	}
	b := newTakeback(t)
	for m, model := range []string{takebackModel, packedModel} {
		from := b.model(fmt.Sprint("model", m), model)
		for n, line := range destroying {
			if !everyCase() && n%12 != 4*m {
				continue
			}
			mine, theirs := b.copies(from, fmt.Sprintf("%d-%d", m, n))
			if b.compare(mine, theirs, line) == "" {
				t.Errorf("%s: nothing was kept", line)
			}
		}
	}
}

// TestTakeBackUnnamed: what a patch and a directory that is copied over another change comes
// back, too, though the words of the command do not name it; and git, where it goes by the
// times of files, does not notice that they are kept.
func TestTakeBackUnnamed(t *testing.T) {
	t.Parallel()
	long(t)
	for _, program := range []string{"git", "patch"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("SKIPPED: there is no " + program)
		}
	}
	if _, ok := sandboxLevels(t)["L3"]; !ok {
		t.Skip("SKIPPED: commands cannot be confined here")
	}
	b := newTakeback(t)
	from := b.model("model", takebackModel+"\nmkdir -p lib/src; echo other >lib/src/one.txt; echo another >lib/one.txt; ln -s src to; git diff HEAD~1 HEAD >old.diff; printf 'From: a <a@example.org>\\nDate: Mon, 1 Jan 2001 00:00:00 +0000\\nSubject: x\\n\\n---\\n--- a/one.txt\\n+++ b/one.txt\\n@@ -0,0 +1 @@\\n+one\\n' | sed 's|a/one.txt|/dev/null|' >mail; touch -d 2001-01-01 a.txt src/three.txt")
	for n, line := range some([]string{
		"git reset -q --merge HEAD~1", "git reset -q --keep HEAD~1",
		"git diff HEAD~1 HEAD >p && patch -sR -p1 <p", "git diff | patch -sR -p1", "git show >p; git checkout -q .; patch -sR -p1 <p && rm p", "patch -sR -p1 <old.diff", "cd src && patch -sR -p1 -d .. -i old.diff",
		"patch -sp0 <<'END'\n--- a.txt\n+++ a.txt\n@@ -1,2 +1,2 @@\n-a\n+aa\n second\nEND", `printf -- '--- x/a.txt\n+++ x/a.txt\n@@ -1,2 +1,2 @@\n-a\n+aa\n second\n' | patch -sp1`,
		"git apply -R old.diff", "git diff HEAD~1 HEAD | git apply -R", "cd src && git apply -R ../old.diff", "git apply -R --index old.diff", "git apply -R --3way old.diff", "git apply --directory=lib <<'END'\n--- a/one.txt\n+++ b/one.txt\n@@ -1 +1 @@\n-another\n+changed\nEND",
		"git reset -q --hard && git am -q <mail", "git stash -q && git am -q --directory=lib mail",
		"cp -r src lib", "cp -a src/. lib", "cp -rT src lib && cp -r lib src", "cp -r src/one.txt a.txt lib",
		"mv a.txt link", "mv link b.txt", "mv -T link dangling", "ln -sf b.txt link", "sed -i s/a/q/ link", "git mv -f src/three.txt link", "install -m 600 b.txt link", "ln -sfn lib to",
		"grep -rl 1 src | xargs sed -i s/1/q/", "git ls-files -z src | xargs -0 -n 1 perl -pi -e s/3/q/", "sed -i s/1/q/ $(grep -rl 1 src)", "find src -name '*.txt' -exec perl -pi -e s/3/q/ {} +", `git ls-files src | grep txt | while read -r f; do sed -i s/1/q/ "$f"; done`,
		"ls src/*.txt | xargs -I{} cp a.txt {}",
	}, 2) {
		mine, theirs := b.copies(from, fmt.Sprint("u", n))
		if strings.HasPrefix(line, "git reset") {
			time.Sleep(1100 * time.Millisecond) // git compares whole seconds of the time of a file's last change
		}
		if b.compare(mine, theirs, line) == "" {
			t.Errorf("%s: nothing was kept", line)
		}
	}
}

// A takeback runs commands by agentkit and directly in copies of a model.
type takeback struct {
	t       *testing.T
	base    string
	environ []string
}

func newTakeback(t *testing.T) *takeback {
	base := durableDir(t)
	return &takeback{t, base, []string{
		"HOME=" + base, "PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8", "XDG_STATE_HOME=" + filepath.Join(base, "state"), "GIT_OPTIONAL_LOCKS=0",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org",
		"GIT_COMMITTER_DATE=2001-01-01T00:00:00Z", // commits of the same content have the same name
	}}
}

func (b *takeback) run(dir string, argv ...string) (string, int) {
	b.t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, b.environ
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		b.t.Fatal(err)
	}
	return strings.TrimSpace(string(out)), cmd.ProcessState.ExitCode()
}

// model makes a directory by a script.
func (b *takeback) model(name, script string) string {
	b.t.Helper()
	from := filepath.Join(b.base, name)
	if err := os.Mkdir(from, 0o755); err != nil {
		b.t.Fatal(err)
	}
	if out, code := b.run(from, "bash", "-ec", script); code != 0 {
		b.t.Fatalf("%d: %s", code, out)
	}
	return from
}

// copies makes two copies of a model.
func (b *takeback) copies(from, name string) (mine, theirs string) {
	b.t.Helper()
	place := filepath.Join(b.base, name)
	mine, theirs = place+"/mine", place+"/theirs"
	if err := os.Mkdir(place, 0o755); err != nil {
		b.t.Fatal(err)
	}
	for _, dir := range []string{mine, theirs} {
		if out, code := b.run(b.base, "cp", "-a", from, dir); code != 0 {
			b.t.Fatal(out)
		}
		b.run(dir, "git", "update-index", "-q", "--refresh") // git looks at inodes, and would write what is as it was
	}
	return mine, theirs
}

// compare runs a command in two copies of a model: what it prints, its status and what it
// leaves have to be the same. Then it is undone. The change is "" where nothing was kept.
func (b *takeback) compare(mine, theirs, line string) (change string) {
	t := b.t
	t.Helper()
	before := wholeTree(t, mine)
	wantOut, wantCode := b.run(theirs, "bash", "-c", line)
	out, code := b.run(mine, "agentkit", "bash", "--json", `{"command":`+quoteJSON(line)+`}`)
	var result struct {
		Output   string
		Metadata struct {
			Change string
			Total  int `json:"changed_total"`
		}
	}
	if err := json.Unmarshal([]byte(out), &result); err != nil {
		t.Fatalf("%s: %v: %s", line, err, out)
	}
	text := configLines.ReplaceAllString(result.Output, "")
	text = objectName.ReplaceAllString(statusLine.ReplaceAllString(strings.TrimPrefix(text, "[no output]"), ""), "NAME")
	if want := objectName.ReplaceAllString(wantOut, "NAME"); strings.TrimSpace(text) != want || code != wantCode {
		t.Errorf("%s: [%d] %s\nelsewhere: [%d] %s", line, code, text, wantCode, want)
	}
	const state = "git symbolic-ref HEAD; git for-each-ref refs/heads refs/tags; git stash list; git status --porcelain; git ls-files -s"
	have, _ := b.run(mine, "sh", "-c", state)
	want, _ := b.run(theirs, "sh", "-c", state)
	sameText(t, line+": git", have, want)
	sameText(t, line, contents(wholeTree(t, mine)), contents(wholeTree(t, theirs)))
	if result.Metadata.Change == "" || result.Metadata.Total == 0 {
		return ""
	}
	if out, code := b.run(mine, "agentkit", "undo", result.Metadata.Change); code != 0 {
		t.Errorf("undoing %s: %s", line, out)
	}
	sameText(t, line+": undone", wholeTree(t, mine), before)
	return result.Metadata.Change
}

// asideModel has directories large enough to be set aside instead of linked.
const asideModel = `git init -q -b main; printf '/big\n/other\n' >.gitignore; mkdir -p src big/in/deep other; echo a >src/a; git add -A; git commit -qm first
for i in {1..995}; do echo $i; done | (cd big && split -l 1 -a 3 - f); for i in {1..8}; do echo $i >big/in/$i; done; ln -s nowhere big/dangling; ln -s ../src big/in/src; ln big/in/1 hard; ln -s big link
mkfifo big/in/deep/pipe; chmod 2750 big/in`

// TestSetAside: a large directory that rm removes first of all is moved away instead, and
// that makes no difference to any command; all others find it where it is.
func TestSetAside(t *testing.T) {
	t.Parallel()
	long(t)
	if _, ok := sandboxLevels(t)["L3"]; !ok {
		t.Skip("SKIPPED: commands cannot be confined here")
	}
	b := newTakeback(t)
	from := b.model("model", asideModel)
	closed := b.model("closed", asideModel+"; chmod 500 big/in")
	t.Cleanup(func() { b.run(b.base, "chmod", "-R", "u+rwx", b.base) })
	const aside, linked, other = "set aside", "linked", "something else"
	kinds := map[string]string{
		"rm -rf big": aside, "rm -r big missing && echo yes": aside, "rm -r missing big": aside, "rm -fR ./big/ src 2>/dev/null && mkdir big && echo new >big/faaa && ls": aside,
		"rm -rf -- 'big' && cp -r src big": aside, "rm -rf big && exit 3": aside, "rm -rf big && ls big": aside, "rm --recursive --force big && (git status --short; ls | wc -l)": aside,
		"rm -rf big; ls": linked, "ls big | wc -l; rm -rf big": linked, "rm -rf big/in big && ls": linked, "cd src && rm -rf ../big": linked, "rm -rf big <big/in/2": linked,
		"cat big/in/3 && rm -rf big": linked, "rm -rf big & wait": linked,
		"rm -rf link": other, "rm -rf link/ && ls": other, "rm -rf src | cat big/in/2": other, "rm -rv big/in && ls big | wc -l": other, "rm big": other,
		"rm -rf src big/in/3 && cat big/in/2": other, "rm -rI big </dev/null": other,
	}
	names := slices.Sorted(maps.Keys(kinds))
	for n, line := range names {
		for m, model := range []string{from, closed} {
			if !everyCase() && (m > 0 || n%12 != 7) || m > 0 && (kinds[line] != aside || n%3 != 0) {
				continue
			}
			mine, theirs := b.copies(model, fmt.Sprintf("%d-%d", m, n))
			was, err := os.Stat(filepath.Join(mine, "big"))
			if err != nil {
				t.Fatal(err)
			}
			kept := b.compare(mine, theirs, line)
			now, err := os.Stat(filepath.Join(mine, "big"))
			if err != nil {
				t.Errorf("%s: %v", line, err)
				continue
			}
			// What was linked comes back as another directory.
			if kind := kinds[line]; m == 0 && kind != other && (kept == "" || os.SameFile(was, now) != (kind == aside)) {
				t.Errorf("%s: it was not %s", line, kind)
			}
		}
	}
}

// configLines are what git prints when it drops a branch and may not look through its
// settings for one.
var configLines = regexp.MustCompile(`(?m)^.*(write config file|Update of config-file|the sandbox refused write .*config).*\n?`)

func quoteJSON(s string) string {
	data, _ := json.Marshal(s)
	return string(data)
}

// sameText shows the lines that are in one text only.
func sameText(t *testing.T, what, have, want string) {
	t.Helper()
	if have == want {
		return
	}
	only := func(a, b string) (list []string) {
		for line := range strings.Lines(a) {
			if !slices.Contains(strings.Split(b, "\n"), strings.TrimSuffix(line, "\n")) {
				list = append(list, line)
			}
		}
		return list[:min(len(list), 20)]
	}
	t.Errorf("%s:\nhave %q\nwant %q", what, only(have, want), only(want, have))
}

// wholeTree is a line for each name: mode, time, content. Git's objects, which only grow,
// are left out.
func wholeTree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		if rel == ".git/objects" {
			return fs.SkipDir
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s %v", rel, info.Mode())
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			target, _ := os.Readlink(path)
			b.WriteString(" " + target)
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " %x at %d", sha256.Sum256(data), info.ModTime().UnixNano())
		}
		b.WriteByte('\n')
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// contents leaves out times, and git's own files: they hold times, too.
func contents(tree string) string {
	var b strings.Builder
	for line := range strings.Lines(tree) {
		if !strings.HasPrefix(line, ".git/") {
			text, _, _ := strings.Cut(line, " at ")
			b.WriteString(strings.TrimSpace(text) + "\n")
		}
	}
	return b.String()
}

// TestTryWithinARepository: a command that is tried in a directory of a repository does not
// change what git has of it, which lies outside the root.
func TestTryWithinARepository(t *testing.T) {
	t.Parallel()
	if _, ok := sandboxLevels(t)["L3"]; !ok {
		t.Skip("SKIPPED: commands cannot be confined here")
	}
	base := durableDir(t) // elsewhere a command may write anyway
	bin := filepath.Join(base, "agentkit")
	install(t, bin)
	writeTree(t, base, map[string]string{"repo/part/a.txt": "a\n", "home/.profile": "\n"})
	if o, err := exec.Command("git", "init", "-q", filepath.Join(base, "repo")).CombinedOutput(); err != nil {
		t.Fatalf("%s", o)
	}
	made := filepath.Join(base, "repo/.git/refs/heads/made")
	run := func(args ...string) string {
		cmd := exec.Command(bin, append([]string{"bash", "-o", "text"}, args...)...)
		cmd.Dir = filepath.Join(base, "repo/part")
		cmd.Env = append(os.Environ(), "HOME="+filepath.Join(base, "home"), "XDG_STATE_HOME="+filepath.Join(base, "state"), "XDG_CONFIG_HOME=", "AGENTKIT_SANDBOX=auto")
		o, _ := cmd.CombinedOutput()
		return string(o)
	}
	write := `python3 -c 'open("../.git/refs/heads/made", "w").close()'`
	if o := run(write); os.Remove(made) != nil {
		t.Fatalf("a command that is not tried could not write: %s", o)
	}
	o := run("--try", write)
	if _, err := os.Lstat(made); err == nil {
		t.Errorf("a command that was tried has written:\n%s", o)
	}
}
