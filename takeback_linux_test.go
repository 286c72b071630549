package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
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
	base := durableDir(t)
	environ := []string{
		"HOME=" + base, "PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8", "XDG_STATE_HOME=" + filepath.Join(base, "state"), "GIT_OPTIONAL_LOCKS=0",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org",
	}
	run := func(dir string, argv ...string) (string, int) {
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir, cmd.Env = dir, environ
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out)), cmd.ProcessState.ExitCode()
	}
	for m, model := range []string{takebackModel, packedModel} {
		from := filepath.Join(base, fmt.Sprint("model", m))
		if err := os.Mkdir(from, 0o755); err != nil {
			t.Fatal(err)
		}
		if out, code := run(from, "bash", "-ec", model); code != 0 {
			t.Fatalf("%d: %s", code, out)
		}
		for n, line := range destroying {
			if !everyCase() && n%12 != 4*m {
				continue
			}
			place := filepath.Join(base, fmt.Sprintf("%d-%d", m, n))
			mine, theirs := place+"/mine", place+"/theirs"
			if err := os.Mkdir(place, 0o755); err != nil {
				t.Fatal(err)
			}
			for _, dir := range []string{mine, theirs} {
				if out, code := run(base, "cp", "-a", from, dir); code != 0 {
					t.Fatal(out)
				}
			}
			for _, dir := range []string{mine, theirs} { // git looks at inodes, and would write what is as it was
				run(dir, "git", "update-index", "-q", "--refresh")
			}
			before := wholeTree(t, mine)
			wantOut, wantCode := run(theirs, "bash", "-c", line)
			out, code := run(mine, "agentkit", "bash", "--json", `{"command":`+quoteJSON(line)+`}`)
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
			have, _ := run(mine, "sh", "-c", state)
			want, _ := run(theirs, "sh", "-c", state)
			sameText(t, line+": git", have, want)
			sameText(t, line, contents(wholeTree(t, mine)), contents(wholeTree(t, theirs)))
			if result.Metadata.Change == "" || result.Metadata.Total == 0 {
				t.Errorf("%s: nothing was kept: %s", line, out)
				continue
			}
			if out, code := run(mine, "agentkit", "undo", result.Metadata.Change); code != 0 {
				t.Errorf("undoing %s: %s", line, out)
			}
			sameText(t, line+": undone", wholeTree(t, mine), before)
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
		return list
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
