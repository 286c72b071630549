package shellparse

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// TestRepositories plants settings that run something in repositories of
// generated shapes, and holds what the analysis said of a git command against
// what git starts. REPOSITORIES is how many.
func TestRepositories(t *testing.T) {
	git := installed("git")
	if len(git) == 0 {
		t.Skip("git is not installed")
	}
	n, err := strconv.Atoi(os.Getenv("REPOSITORIES"))
	if err != nil {
		n = 60
	}
	seed := uint64(n)
	if s, err := strconv.ParseUint(os.Getenv("SEED"), 10, 64); err == nil {
		seed = s
	}
	r := rand.New(rand.NewPCG(seed, 3))
	template := newBench(t)
	template.repo(t, "f", "a.x")
	must(t, os.RemoveAll(template.root+"/.git/hooks"))
	template.git(t, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x")
	known, ran, planted := 0, 0, 0
	for i := 0; i < n && !t.Failed(); i++ {
		b := newBench(t)
		must(t, os.RemoveAll(b.root))
		must(t, os.CopyFS(b.root, os.DirFS(template.root)))
		must(t, os.WriteFile(b.root+"/a.x", []byte("changed\n"), 0o644))
		s := &shape{t: t, r: r, b: b}
		words, shape := s.call(), s.make()
		a := Argv(append([]string{"git"}, words...), b.world())
		if len(a.Opaque) > 0 || a.Accesses[0].Class == "" {
			planted++
			must(t, os.RemoveAll(filepath.Dir(b.root)))
			continue
		}
		known++
		env := []string{"PATH=" + b.bin + ":/usr/bin:/bin", "HOME=" + b.home, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b"}
		d, ok := traced(t, b.root, append([]string{git[0]}, words...), env, func(d touch) bool {
			if d.kind == "write" && !strings.HasPrefix(d.path, filepath.Dir(b.root)+"/") && !strings.HasPrefix(d.path, "/dev/") {
				return false
			}
			return d.kind != "net" && (d.kind != "exec" || strings.Contains(d.path, "/git") || filepath.Base(d.path) == "git")
		})
		if d != nil && d.kind == "exec" && !strings.HasPrefix(filepath.Base(d.path), "pwn") && filepath.Base(d.path) != "sh" {
			d = nil
		}
		if d != nil {
			t.Errorf("git %q: %s %s was not foretold, in\n%s\n%s", words, d.kind, d.path, shape, dump(a))
		}
		if ok {
			ran++
		}
		must(t, os.RemoveAll(filepath.Dir(b.root)))
	}
	t.Logf("%d repositories: %d calls understood, of which %d ran without an error; %d not", n, known, ran, planted)
	if n >= 60 && (ran*20 < n || planted*20 < n) {
		t.Error("nothing is tried")
	}
}

// A shape makes one repository out of a plain one.
type shape struct {
	t *testing.T
	r *rand.Rand
	b *bench
	d []string // what was done
}

func (s *shape) pick(list ...string) string { return list[s.r.IntN(len(list))] }

func (s *shape) write(name, text string) {
	s.d = append(s.d, "# "+name+"\n"+text)
	name = filepath.Join(s.b.root, name)
	must(s.t, os.MkdirAll(filepath.Dir(name), 0o755))
	_ = os.Remove(name)
	must(s.t, os.WriteFile(name, []byte(text), 0o755))
}

func (s *shape) link(to, name string) {
	s.d = append(s.d, "# "+name+" -> "+to)
	name = filepath.Join(s.b.root, name)
	_ = os.RemoveAll(name)
	must(s.t, os.Symlink(to, name))
}

// call is one command of git, perhaps in a directory.
func (s *shape) call() (words []string) {
	if dir := s.pick("", "", "", "src", "sub", "sub", "sub/deep", ".git"); dir != "" {
		words = append(words, "-C", dir)
	}
	if s.r.IntN(2) == 0 {
		return append(words, strings.Fields(s.pick("status", "status -s", "diff", "add -A", "diff HEAD", "commit -qam y"))...)
	}
	return append(words, strings.Fields(s.pick("status", "status -s", "diff", "diff --cached", "diff HEAD", "log -p -1", "show HEAD", "add -A", "add f", "ls-files -m", "grep x", "blame f", "branch", "rev-parse HEAD", "describe --always --dirty", "diff --stat", "log --oneline", "add .", "show-ref", "cat-file -p HEAD", "ls-files", "tag", "remote -v", "log --format=%s", "check-ignore f", "stash list", "rev-list HEAD", "hash-object f", "commit -qm y", "commit -qam y", "shortlog HEAD", "mv f g", "rm --cached f", "config -l"))...)
}

// setting is a setting that runs something, or one that does not, in one of the
// spellings that git reads.
func (s *shape) setting() string {
	program := filepath.Join(s.b.bin, "pwn")
	kind := "core.fsmonitor" // most commands run it
	if s.r.IntN(2) == 0 {
		kind = s.pick("diff.d.textconv", "diff.d.command", "diff.external", "filter.d.clean", "core.hookspath", "core.pager", "alias.status", "core.worktree", "user.name", "core.bare", "log.showsignature", "include.path", "core.attributesfile", "branch.main.remote", "color.ui", "extensions.worktreeconfig")
	}
	value := map[string]string{
		"core.hookspath": filepath.Join(s.b.root, "hooks"), "core.worktree": s.b.root + "/src", "user.name": "x", "core.bare": "false", "log.showsignature": "true",
		"include.path": filepath.Join(s.b.root, "more"), "core.attributesfile": filepath.Join(s.b.root, "more"), "branch.main.remote": "origin", "color.ui": "auto", "extensions.worktreeconfig": "true", "alias.status": "!" + program,
	}[kind]
	if value == "" {
		value = program
	}
	parts := strings.Split(kind, ".")
	section, key := parts[0], parts[len(parts)-1]
	if len(parts) == 3 {
		section += s.pick(` "`+parts[1]+`"`, "."+parts[1], ` "`+parts[1]+`"`, ` "\`+parts[1]+`"`)
	}
	section = s.pick(section, strings.ToUpper(section[:1])+section[1:], section, section)
	key = s.pick(key, strings.ToUpper(key), key)
	value = s.pick(value, value, value, value, value, `"`+value+`"`, value[:len(value)-1]+`"`+value[len(value)-1:]+`"`, value[:len(value)/2]+"\\\n"+value[len(value)/2:], value+" # x", value+" ; x", " \t"+value, `"`+value+`" # "`)
	gap := s.pick(" = ", "=", "\t=\t", " =")
	return s.pick(
		"["+section+"]\n\t"+key+gap+value+"\n",
		"["+section+"]\n\t"+key+gap+value+"\n",
		"["+section+"]\n\t"+key+gap+value+"\n",
		"["+section+"]\n"+key+gap+value+"\n",
		"["+section+"]"+key+gap+value+"\n",
		"["+section+"] "+key+gap+value+"\n",
		"[x] y = z\n["+section+"] ; comment\n "+key+gap+value,
		"\ufeff["+section+"]\n"+key+gap+value+"\n",
		"["+section+"]\r\n"+key+gap+value+"\r\n",
		"[user]\n\tname = a\\\n["+section+"]\n"+key+gap+value+"\n",
		"[user]\n\tname = a \\\n\n["+section+"]\n"+key+gap+value+"\n",
		"[user]\n\tname = \"a\n["+section+"]\n"+key+gap+value+"\n",
		"; [user]\n# x\\\n["+section+"]\n"+key+gap+value+"\n",
		"["+section+"]\n\tx\n\t"+key+gap+value+"\n",
		"["+section+"\n]\n"+key+gap+value+"\n",
		"["+section+"]\v\n"+key+gap+value+"\n",
		"[a \"]\"]\n["+section+"]\n"+key+gap+value+"\n",
		"[a \"]\n["+section+"]\n"+key+gap+value+"\n\"]\n",
	)
}

// make changes the repository, and says how.
func (s *shape) make() string {
	const plain = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
	if s.r.IntN(3) > 0 {
		s.write(".gitattributes", "*.x diff=d filter=d\n")
	}
	s.write("more", s.setting())
	s.write("hooks/pre-commit", "#!/bin/sh\n"+s.b.bin+"/pwn\n")
	s.write("hooks/post-index-change", "#!/bin/sh\n"+s.b.bin+"/pwn\n")
	must(s.t, os.MkdirAll(s.b.root+"/sub/deep", 0o755))
	switch s.r.IntN(13) {
	case 0:
	case 1, 2, 3:
		s.write(".git/config", s.pick(plain, "")+s.setting()+s.pick("", s.setting()))
	case 4:
		s.write(".git/hooks/"+s.pick("pre-commit", "post-index-change", "post-commit", "pre-auto-gc", "commit-msg", "reference-transaction"), "#!/bin/sh\n"+s.b.bin+"/pwn\n")
	case 5: // a bare repository in the tree
		s.bare("sub", plain)
	case 6: // beside a .git that is none
		s.bare("sub", plain)
		s.write("sub/.git/"+s.pick("x", "HEAD", "config"), s.pick("ref: refs/heads/main\n", ""))
	case 7:
		s.copy(".git", "elsewhere")
		s.write("elsewhere/config", plain+s.setting())
		s.write("sub/.git", s.pick("gitdir: ../elsewhere\n", "gitdir: ../elsewhere", "gitdir: "+s.b.root+"/elsewhere\n\n", "gitdir:../elsewhere\n", "gitdir: ../elsewhere\r\n"))
	case 8:
		s.copy(".git", "elsewhere")
		s.link("../elsewhere", "sub/.git")
		s.write("elsewhere/config", plain+s.setting())
	case 9:
		s.copy(".git", "elsewhere")
		s.write("elsewhere/config", plain+s.setting())
		s.write(".git/commondir", s.pick("../elsewhere\n", s.b.root+"/elsewhere", "../elsewhere"))
	case 10:
		s.write(".git/config", plain+"[extensions]\n\tworktreeConfig = true\n")
		s.write(".git/config.worktree", s.setting())
	case 11: // a repository within
		s.copy(".git", "sub/.git")
		s.write("sub/f", "f\n")
		s.write("sub/.git/config", plain+s.setting())
		if s.r.IntN(2) == 0 {
			s.write(".gitmodules", s.pick("[submodule \"s\"]\n\tpath = sub\n", "[submodule \"s\"] path = sub\n", "\ufeff[submodule \"s\"]\n\tpath = sub\n", "[submodule \"s\"]\n\tpath = \"s\"ub\n"))
			s.b.git(s.t, "-c", "core.fsmonitor=", "-c", "advice.addembeddedrepo=false", "update-index", "--add", "--cacheinfo", "160000,"+s.b.git(s.t, "rev-parse", "HEAD")+",sub")
		}
	case 12: // no repository at all above a planted one
		must(s.t, os.RemoveAll(s.b.root+"/.git"))
		s.bare(s.pick(".", "sub", "src"), plain)
	}
	return strings.Join(s.d, "\n")
}

// bare makes a directory into what git takes for a repository.
func (s *shape) bare(dir, plain string) {
	if s.r.IntN(2) == 0 {
		s.link("refs/heads/main", dir+"/HEAD")
	} else {
		s.write(dir+"/HEAD", "ref: refs/heads/main\n")
	}
	must(s.t, os.MkdirAll(filepath.Join(s.b.root, dir, "refs"), 0o755))
	switch s.r.IntN(3) {
	case 0:
		s.write(dir+"/objects", "")
	case 1:
		must(s.t, os.MkdirAll(filepath.Join(s.b.root, dir, "objects"), 0o755))
	case 2:
		s.write("common/config", s.setting())
		must(s.t, os.MkdirAll(s.b.root+"/common/objects", 0o755))
		must(s.t, os.MkdirAll(s.b.root+"/common/refs", 0o755))
		s.write(dir+"/commondir", s.b.root+"/common\n")
	}
	s.write(dir+"/config", strings.Replace(plain, "bare = false", s.pick("bare = false\n\tworktree = .", "bare = true", "x = y"), 1)+s.setting())
}

func (s *shape) copy(from, to string) {
	must(s.t, os.CopyFS(filepath.Join(s.b.root, to), os.DirFS(filepath.Join(s.b.root, from))))
}

// TestGitReads: what the index does not know yet is not overlooked.
func TestGitReads(t *testing.T) {
	b := newBench(t)
	b.repo(t, "f", "src/b.go")
	must(t, os.WriteFile(b.root+"/.env", []byte("KEY=1\n"), 0o644))
	for text, want := range map[string]bool{
		"git grep --untracked KEY":             true,
		"git grep --untracked KEY -- src":      false,
		"git grep KEY":                         false,
		"git add -f .env":                      true,
		"git add -f .env && git diff --cached": true,
		"git add -A && git diff --cached":      true,
		"git add . && git show :f && git log":  false,
		"git add -A && git commit -qm x":       false,
		"git add src && git diff --cached":     false,
	} {
		found := false
		for _, a := range analyze(b, text).Accesses {
			found = found || a.Kind == policy.Read && (a.Path == b.root+"/.env" || a.Tree && a.Path == b.root)
		}
		if found != want {
			t.Errorf("%s: reads .env: %t", text, found)
		}
	}
	for _, text := range []string{"git update-index --add --cacheinfo 100644,abc,.envrc", "git update-index --index-info", "git update-index --stdin", "git read-tree x", "git commit-tree x"} {
		if len(analyze(b, text).Opaque) == 0 {
			t.Errorf("%s: not opaque", text)
		}
	}
}
