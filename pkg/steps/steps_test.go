package steps

import (
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/shellparse"
)

// tree is what there is in the tests, without a disk: /w is the workspace.
var tree = map[string]policy.FileType{
	"/w": policy.Dir, "/tmp": policy.Dir, "/w/d": policy.Dir, "/w/e": policy.Dir,
	"/w/a": policy.Regular, "/w/b": policy.Regular, "/w/d/a": policy.Regular, "/w/d/b": policy.Regular, "/w/in.tar": policy.Regular, "/tmp/t": policy.Regular,
}

// list is what a command touches in that tree.
func list(t *testing.T, command string) List {
	t.Helper()
	if filepath.Separator != '/' {
		t.Skip("the paths are those of a POSIX system")
	}
	world := &shellparse.World{
		Dir: "/w", Root: "/w", Home: "/home/me", Temp: []string{"/tmp"},
		Getenv:   func(string) (string, bool) { return "", false },
		LookPath: func(name string) (string, bool) { return "/usr/bin/" + name, true },
		ReadFile: func(string) ([]byte, error) { return nil, fs.ErrNotExist },
		Enters:   func(dir string) bool { return tree[path.Clean(dir)] == policy.Dir },
		Resolve: func(dir, name string) (policy.Access, error) {
			if !path.IsAbs(name) {
				name = dir + "/" + name
			}
			a := policy.Access{Path: path.Clean(name), File: policy.Missing}
			if file, ok := tree[a.Path]; ok {
				a.File = file
			}
			return a, nil
		},
		Glob: func(dir, pattern string) (names []string, ok bool) {
			for name := range tree {
				if fits, err := path.Match(path.Join(dir, pattern), name); fits && err == nil {
					names = append(names, strings.TrimPrefix(name, dir+"/"))
				}
			}
			slices.Sort(names)
			return names, true
		},
	}
	return List{Root: "/w", Accesses: shellparse.Analyze(t.Context(), command, "bash", world).Accesses}
}

// call is the last program with a word.
func (l List) call(word string) (found int) {
	for i := range l.Accesses {
		if slices.Contains(l.Accesses[i].Argv, word) {
			found = i
		}
	}
	return found
}

// TestLosses: what a command takes away under names that it has given itself is known by the names before.
func TestLosses(t *testing.T) {
	for _, c := range []struct{ command, want string }{
		{"mv a x", ""},
		{"mv a x; rm x", "a: rm"},
		{"mv -bT d e; rm -r e", "d: rm, e: rm"}, // e, too, for it may be e~ that goes
		{"mv a x; rm y", ""},
		{"mv $(cat b) x; rm x", ""},
		{"mv a x/y; rmdir x", ""},
		{"mv a /var/x; unknown /var/x", "a: leaves"},
		{"rm x; mv a x", ""},
		{"mv d x; mv x d", ""},
		{"mv d x; mv x y; mv y z", ""},
		{"mv d x; mv x y; rm -r y", "d: rm"},
		{"mv a x; mv b x", "a: mv"},
		{"mv a x; mv b x; rm x", "a: mv, b: rm"},
		{"mv a x; cp b x", "a: cp in place"},
		{"mv a x; echo >x", "a: echo in place"},
		{"mv a x; echo >>x", ""},
		{"mv a x; chmod 600 x", ""},
		{"mv a x; find . -name x -delete", "a: find"},
		{"git mv a x; rm x", "a: rm"},
		{"f() { mv a x; }; f; rm x", "a: rm"},
		{"for i in a b; do mv $i x; done", "a: mv"},
		// what is moved on is followed, and may still be under the name before: a loop may bring something else there
		{"mv a x; mv x y; echo >y", "a: echo in place"},
		{"mv a x; mv x y; echo >x", "a: echo in place"},
		{"mv d x; mv x y; cp a y/b", "d: cp in place b"},
		// to several names, each may be any of them
		{"mv a b e; rm e/a", "a: rm, b: rm"},
		// a directory, some files of it, or more
		{"mv d x; rm -r x", "d: rm"},
		{"mv d x; cp a x/b", "d: cp in place b"},
		{"mv d x; cp a x/b; echo >x/a", "d: cp in place b a"},
		{"mv d x; cp a x/b; rm -r x", "d: cp in place"},
		{"mv d x; rm -r x/a", "d: rm"},
		{"mkdir x; git mv d x; echo >x/d/a", "d: echo in place a"},
		{"mkdir x; mv a x; rm -r x", "a: rm"},
		// out of the root
		{"mv a /tmp/x", "a: leaves"},
		{"mv a x; mv x /tmp/x", "a: mv"},
		{"mv d /tmp/x; cp a /tmp/x/b", "d: cp in place"},
		{"mv --unknown a /tmp/x", "a: leaves"},
		{"mv /tmp/t x; rm x", ""},
		{"mv d/* /tmp/x", "d/a: leaves, d/b: leaves"},
		{"cp d/a d/c; mv d/* /tmp", "d: leaves"},
		{"cp d/a d/c; mv d/* e", ""},
		// a second name
		{"cp -l a x; rm x", ""},
		{"cp -l a x; mv b x", ""},
		{"cp -l a x; echo >x", "a: echo in place"},
		{"cp -l a /tmp/x", ""},
		{"cp -l a /tmp/x; echo >/tmp/x", "a: echo in place"},
		{"cp -al d x; echo >x/b", "d: echo in place b"},
		{"ln a x; mv x y; echo >y", "a: echo in place"},
		{"cp -p a x; echo >x", ""},
		{"ln d/* e; echo >e/a", "d/a: echo in place, d/b: echo in place"},
	} {
		var got []string
		l := list(t, c.command)
		for _, loss := range l.Losses() {
			how := strings.TrimPrefix(l.Accesses[loss.Original].Path, "/w/") + ": "
			if loss.By < 0 {
				how += "leaves"
			} else {
				how += Name(&l.Accesses[loss.By])
			}
			if loss.InPlace {
				how += " in place"
			}
			got = append(got, strings.TrimSpace(how+" "+strings.Join(loss.Files, " ")))
		}
		if got := strings.Join(got, ", "); got != c.want {
			t.Errorf("%s\n\t%q, wanted %q", c.command, got, c.want)
		}
	}
}

// TestFilled: where it cannot be told before which files come into a directory, the directory is known.
func TestFilled(t *testing.T) {
	for _, c := range []struct{ command, want string }{
		{"cp -r d e", ""},
		{"cp -r d /tmp", ""},
		{"cp -r d/. d", ""},
		{"cp -r x/. y", ""},
		{"cp -r $(cat a) e", "[/w/e]"},
		{"cp -r d x; echo >x/a; cp -r x/. e", "[/w/e]"},
		{"cp -r d/. e; echo >d/c", "[/w/e]"}, // in a loop that comes first
		{"cp -r x/. e", "[/w/e]"},
		{"cp -r x/. /tmp", ""},
		{"tar xf in.tar -C e", ""},
		{"tar cf in.tar d; tar xf in.tar -C e", "[/w/e]"},
		{"cat in.tar | tar xf - -C e", "[/w/e]"},
		{"rsync -r --delete d/ .", "[/w/d]"},
		{"mv x e", ""},
	} {
		got := list(t, c.command).Filled()
		if got := strings.TrimPrefix(fmt.Sprint(got), "[]"); got != c.want {
			t.Errorf("%s\n\t%q, wanted %q", c.command, got, c.want)
		}
	}
}

// TestAdded: what git is told to keep is known to what it does elsewhere in the command.
func TestAdded(t *testing.T) {
	for _, c := range []struct{ command, want string }{
		{"true", ""},
		{"git status", ""},
		{"git commit -m x", "tracked"},
		{"git add -u", "tracked"},
		{"git add --update", "tracked"},
		{"git add a", "tracked a"},
		{"git stage a", "tracked a"},
		{"git add d", "tracked d/a"},
		{"git add d/b d/c", "tracked"},
		{"git add -f a", "tracked a ignored"},
		{"git add --force a", "tracked a ignored"},
		{"git add a; git add -f d", "tracked a d/a ignored"},
		{"git add -- a", "tracked a"},
		{"git add -vf a", "tracked a ignored"},
		{"git add", "tracked a d/a"},
		{"git add x; git add", "tracked a d/a"},
		{"git add .", "tracked a d/a"},
		{"git add 'x*'", "tracked a d/a"},
		{"git add ':(top)x'", "tracked a d/a"},
		{"git add x; git add .", "tracked a d/a"},
		{"git add -A x", "tracked a d/a"},
		{"git add --all", "tracked a d/a"},
		{"git add --a x", "tracked a d/a"},
		{"git add --pathspec-from-file x", "tracked a d/a"},
		{"git add x $(cat a)", "tracked a d/a"},
		{"git stash", "tracked"},
		{"git stash push -m 'a u'", "tracked"},
		{"git stash -u", "tracked a d/a"},
		{"git stash --include-untracked", "tracked a d/a"},
		{"git stash --inc", "tracked a d/a"},
		{"git stash -a", "tracked a d/a ignored"},
		{"git update-index --add a", "tracked a d/a ignored"},
		{"git --git-dir=x add", "tracked a d/a ignored"}, // nobody knows what that is
		{"git rm a; git tag x", ""},
	} {
		for _, command := range []string{c.command + "; git reset --hard", "git reset --hard; " + c.command} { // a loop may turn them round
			l := list(t, command)
			added := l.Added(l.call("reset"), "/w", "/r")
			var got []string
			for _, is := range []struct {
				so   bool
				word string
			}{{added.Any, "tracked"}, {added.Untracked && added.Has("/w/a"), "a"}, {added.Untracked && added.Has("/r/d/a"), "d/a"}, {added.Ignored, "ignored"}} {
				if is.so {
					got = append(got, is.word)
				}
			}
			if got := strings.Join(got, " "); got != c.want {
				t.Errorf("%s\n\t%q, wanted %q", command, got, c.want)
			}
		}
	}
	l := list(t, "git add -A")
	if added := l.Added(l.call("add"), "/w"); added.Any {
		t.Error("what a call adds itself is told of it")
	}
}

// TestIgnoresOtherwise: git clean is asked for more than it takes where the command may change what is ignored.
func TestIgnoresOtherwise(t *testing.T) {
	for _, c := range []struct {
		command string
		writes  bool
		calls   int
	}{
		{"git clean -fd", false, 0},
		{"rm .gitignore; git clean -fd", true, 0},
		{"git clean -fd; echo >e/.gitignore", true, 0},
		{"echo >.git/info/exclude; git clean -fd", true, 0},
		{"cat .gitignore; git clean -fd", false, 0},
		{"unknown /var/.gitignore; git clean -fd", false, 0},
		{"git reset -q --hard; git clean -fd", false, 1},
		{"git checkout x; git stash; git clean -fd", false, 2},
		{"git add .; git commit -m x; git status; git clean -fd", false, 0},
		{"git --git-dir=x add .; git clean -fd", false, 1}, // nobody knows what that is
	} {
		writes, calls := list(t, c.command).IgnoresOtherwise()
		if writes != c.writes || len(calls) != c.calls {
			t.Errorf("%s\n\t%v %q, wanted %v and %d calls", c.command, writes, calls, c.writes, c.calls)
		}
	}
}

// TestGit: which subcommand a call of git has, where it works, and whether it is known what it changes.
func TestGit(t *testing.T) {
	for _, c := range []struct {
		command               string
		sub                   string
		elsewhere, understood bool
	}{
		{"git add x", "add", false, true},
		{"git -C e -c user.name=x --no-pager add x", "add", false, true},
		{"git -c alias.x='add -A' x", "add", false, true},
		{"git -c core.worktree=e add x", "", true, false},
		{"git --git-dir=e add x", "", true, false},
		{"git --namespace=e add x", "", true, false},
		{"git --work-tree e add x", "", true, false},
		{"git", "", false, false},
		{"git filter-branch", "filter-branch", false, false},
		{"git add $(cat a)", "add", false, true},
		{"git commit -m \"$(cat a)\"", "commit", false, true},
		{"git reset \"$(cat a)\" -- b", "reset", false, true},
		// but for the subcommand, and what stands before it
		{"git -c user.name=$(cat a) commit", "commit", false, false},
		{"git -C $(cat a) commit", "commit", false, false},
		{"git --git-dir=$(cat a) commit", "", true, false},
		{"git $(cat a) commit", "$(cat a)", false, false},
		{"git gc $(cat a)", "gc", false, false},
		{"git gc --auto", "gc", false, true},
		{"git gc --auto $(cat a)", "gc", false, false},
		{"git gc --auto --prune=now", "gc", false, false},
		{"git gc", "gc", false, false},
		{"git archive -o x HEAD", "archive", false, true},
		{"git archive --remote=x HEAD", "archive", false, false},
		{"git archive --rem x HEAD", "archive", false, false},
		{"git bundle create x HEAD", "bundle", false, true},
		{"git bundle unbundle x", "bundle", false, false},
		{"git bundle", "bundle", false, false},
		{"git ls-remote .", "ls-remote", false, true},
		{"git ls-remote --upload-pack=x .", "ls-remote", false, false},
		{"git ls-remote --exec=x .", "ls-remote", false, false},
		{"git ls-remote ext::x", "ls-remote", false, false},
		{"git difftool --tool-help", "difftool", false, true},
		{"git difftool -x rm", "difftool", false, false},
		{"git help add", "help", false, true},
		{"git help -w add", "help", false, false},
		{"git interpret-trailers --in-place x", "interpret-trailers", false, false},
		{"git rerere status", "rerere", false, true},
		{"git rerere clear", "rerere", false, false},
		{"GIT_DIR=e git add x", "add", true, false},
		{"GIT_EXEC_PATH=e git add x", "add", false, false},
		{"GIT_PAGER=cat git add x", "add", false, true},
	} {
		l := list(t, c.command)
		i := l.call("git")
		sub, _ := Git(l.Accesses[i].Argv)
		if elsewhere, understood := l.GitElsewhere(i), l.GitUnderstood(); sub != c.sub || elsewhere != c.elsewhere || understood != c.understood {
			t.Errorf("%s\n\t%q %v %v, wanted %q %v %v", c.command, sub, elsewhere, understood, c.sub, c.elsewhere, c.understood)
		}
	}
}

// TestGitMayRename: a word that is not known may be an option that moves or removes a reference.
func TestGitMayRename(t *testing.T) {
	for command, want := range map[string]bool{
		"git branch $(cat a)":                           true,
		"git branch \"$(cat a)\"":                       true,
		"git branch x-$(cat a)":                         true, // it may be several words
		"git branch \"x-$(cat a)\"":                     false,
		"git branch -- $(cat a)":                        false,
		"git tag -m \"$(cat a)\" x":                     false,
		"git tag -m $(cat a) x":                         true,
		"git commit -m \"$(cat a)\" -F\"$(cat b)\"":     false,
		"git commit -m \"$(cat a)\" $(cat b)":           true,
		"git commit --amend -m x":                       false, // of which that is known
		"git --git-dir=x branch $(cat a)":               false,
		"git checkout $(cat a)":                         false,
		"git -C d update-ref refs/heads/x \"$(cat a)\"": true,
		"tag $(cat a)":                                  false,
	} {
		l := list(t, command)
		i := len(l.Accesses) - 1
		for l.Accesses[i].Kind != policy.Exec || Name(&l.Accesses[i]) == "cat" {
			i--
		}
		if got := l.GitMayRename(i); got != want {
			t.Errorf("%s: %v, wanted %v", command, got, want)
		}
	}
}

// TestGitAlias: an alias that starts a program is no subcommand of git's.
func TestGitAlias(t *testing.T) {
	if sub, words := Git([]string{"git", "-c", "alias.x=!rm a", "x", "y"}); sub != "x" || len(words) != 1 {
		t.Error(sub, words)
	}
}

// TestLooksAnew: after some calls of git its index has what is there.
func TestLooksAnew(t *testing.T) {
	for command, want := range map[string]bool{"git status": true, "git --git-dir e add x": true, "git commit -m x": true, "git log": false, "git": false, "status": false} {
		if got := list(t, command).LooksAnew(); got != want {
			t.Errorf("%s: %v", command, got)
		}
	}
}

// TestProgram: whose an access is, also that of a redirection.
func TestProgram(t *testing.T) {
	l := List{Accesses: []policy.Access{{Kind: policy.Write}, {Kind: policy.Exec}, {Kind: policy.Read, Parent: 2}, {Kind: policy.Exec}, {Kind: policy.Read, Parent: 2}, {Kind: policy.Write}}}
	for j, want := range []int{1, 1, 1, 3, 1, 3} {
		if got := l.Program(j); got != want {
			t.Errorf("access %d: %d, wanted %d", j, got, want)
		}
	}
	if got := (List{Accesses: l.Accesses[:1]}).Program(0); got != -1 {
		t.Error(got)
	}
}
