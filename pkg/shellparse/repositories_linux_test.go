package shellparse

import (
	"context"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// TestRepositories plants settings that run something in repositories of
// generated shapes, and holds what the analysis said of a git command against
// what git starts. Some of the calls that are not understood run too, so that it
// is seen that what was planted is alive. REPOSITORIES is how many shapes.
func TestRepositories(t *testing.T) {
	git := installed("git")
	if len(git) == 0 {
		t.Skip("git is not installed")
	}
	n, seed := 60, uint64(0)
	if os.Getenv("CASES") == "all" {
		n = 120
	}
	if s, err := strconv.Atoi(os.Getenv("REPOSITORIES")); err == nil {
		n = s
	}
	if s, err := strconv.ParseUint(os.Getenv("SEED"), 10, 64); err == nil {
		seed = s
	}
	p := newPlanter(t, rand.New(rand.NewPCG(seed, 3)))
	env := []string{"PATH=" + p.b.bin + ":/usr/bin:/bin", "HOME=" + p.b.home, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b"}
	share := 3 + n/500 // of the calls that are not understood, one in so many runs
	var understood, ran, tried, alive int
	for i := 0; i < n && !t.Failed(); i++ {
		words, vars := p.call(), p.variables()
		p.shape()
		a := p.analyze(words, vars)
		known := !slices.ContainsFunc(a.Accesses, func(x policy.Access) bool {
			return x.Kind == policy.Exec && x.Class == policy.Unknown || x.Opaque != "" || x.Kind == policy.Net
		})
		if known {
			understood++
		} else if tried*share > i-understood {
			p.undo()
			continue
		}
		d, ok := traced(t, p.b.root, append([]string{git[0]}, words...), append(env, vars...), known && i%8 == 0, p.harmless)
		switch {
		case !known:
			if tried++; d != nil {
				alive++
			}
		case d != nil:
			t.Errorf("%d: %q git %q: %s %s was not foretold, in\n%s\n%s", i, vars, words, d.kind, d.path, strings.Join(p.done, "\n"), dump(a))
		case ok:
			ran++
		}
		p.renew()
	}
	t.Logf("%d repositories: %d calls understood, of which %d ran without an error; of %d others %d ran what was planted", n, understood, ran, tried, alive)
	if n >= 120 && (ran*10 < n || alive*50 < tried || tried == 0) {
		t.Error("nothing is tried")
	}
}

// harmless reports whether git may do this: start itself, write in the root and
// read all but what is secret.
func (p *planter) harmless(d touch) bool {
	switch d.kind {
	case "exec": // a name that is tried along PATH and is not there starts nothing
		argv0, script, _ := strings.Cut(d.path, " ")
		at, err := filepath.EvalSymlinks(argv0)
		switch {
		case err != nil || strings.HasPrefix(script, "/usr/lib/git-core/"): // git submodule is a script
			return true
		case strings.HasPrefix(at, filepath.Dir(p.b.root)+"/"):
			return false
		}
		return !slices.Contains([]string{"sh", "dash", "bash", "ssh", "gpg", "ssh-keygen"}, filepath.Base(at)) && !strings.Contains(at, "git-remote-")
	case "write":
		return strings.HasPrefix(d.path, p.b.root+"/") || strings.HasPrefix(d.path, "/dev/")
	case "read":
		return d.path != p.b.out+"/secret"
	}
	return d.kind != "net"
}

// A planter makes repositories out of one plain one, and takes back what it did.
type planter struct {
	t       *testing.T
	r       *rand.Rand
	b       *bench
	plain   string   // what the root is made from again
	touched []string // names in the root that are no longer as they were
	done    []string // what was written, for people
}

func newPlanter(t *testing.T, r *rand.Rand) *planter {
	b := newBench(t)
	must(t, os.Mkdir(b.root+"/sub", 0o755))
	b.repo(t, "f", "a.x", "sub/g")
	must(t, os.RemoveAll(b.root+"/.git/hooks"))
	must(t, os.RemoveAll(b.root+"/.git/info"))
	b.git(t, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x")
	b.git(t, "branch", "other")
	must(t, os.WriteFile(b.root+"/a.x", []byte("changed\n"), 0o644))
	p := &planter{t: t, r: r, b: b, plain: filepath.Dir(b.root) + "/plain"}
	must(t, os.Rename(b.root, p.plain))
	p.renew()
	return p
}

// renew makes the root anew.
func (p *planter) renew() {
	must(p.t, os.RemoveAll(p.b.root))
	p.copy(p.plain, p.b.root)
	p.touched, p.done = nil, nil
}

// undo takes back what was written, where nothing ran.
func (p *planter) undo() {
	for _, name := range slices.Backward(p.touched) {
		must(p.t, os.RemoveAll(p.b.root+"/"+name))
	}
	for _, name := range p.touched {
		if _, err := os.Lstat(p.plain + "/" + name); err == nil && !p.is(name) {
			p.copy(p.plain+"/"+name, p.b.root+"/"+name)
		}
	}
	p.touched, p.done = nil, nil
}

func (p *planter) is(name string) bool {
	_, err := os.Lstat(p.b.root + "/" + name)
	return err == nil
}

func (p *planter) copy(from, to string) {
	must(p.t, filepath.WalkDir(from, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := to + strings.TrimPrefix(at, from)
		if d.IsDir() {
			return os.MkdirAll(name, 0o755)
		}
		if link, err := os.Readlink(at); err == nil {
			return os.Symlink(link, name)
		}
		text, err := os.ReadFile(at)
		if err != nil {
			return err
		}
		return os.WriteFile(name, text, 0o755)
	}))
}

// touch says that the first name of a path that is not there, or the path
// itself, is no longer as it was.
func (p *planter) touch(name string) string {
	first := name
	for at := name; at != "."; at = filepath.Dir(at) {
		if !p.is(at) {
			first = at
		}
	}
	p.touched = append(p.touched, first)
	full := filepath.Join(p.b.root, name)
	must(p.t, os.MkdirAll(filepath.Dir(full), 0o755))
	return full
}

func (p *planter) write(name, text string) {
	name = filepath.Clean(name)
	p.done = append(p.done, "# "+name+"\n"+text)
	full := p.touch(name)
	_ = os.RemoveAll(full)
	must(p.t, os.WriteFile(full, []byte(text), 0o755))
}

func (p *planter) dir(name string) {
	must(p.t, os.MkdirAll(p.touch(filepath.Clean(name)), 0o755))
}

func (p *planter) link(to, name string) {
	name = filepath.Clean(name)
	p.done = append(p.done, "# "+name+" -> "+to)
	full := p.touch(name)
	_ = os.RemoveAll(full)
	must(p.t, os.Symlink(to, full))
}

func (p *planter) clone(from, to string) {
	p.done = append(p.done, "# "+to+" is a copy of "+from)
	p.copy(filepath.Join(p.b.root, from), p.touch(to))
}

func (p *planter) remove(name string) {
	p.done = append(p.done, "# without "+name)
	must(p.t, os.RemoveAll(p.touch(name)))
}

func (p *planter) pick(list ...string) string { return list[p.r.IntN(len(list))] }

// one says yes once in n times.
func (p *planter) one(n int) bool { return p.r.IntN(n) == 0 }

func (p *planter) analyze(words, vars []string) *Analysis {
	if len(vars) == 0 {
		return Argv(append([]string{"git"}, words...), p.b.world())
	}
	text := ""
	for _, v := range vars {
		name, val, _ := strings.Cut(v, "=")
		text += name + "='" + val + "' "
	}
	text += "git"
	for _, w := range words {
		text += " '" + w + "'"
	}
	return Analyze(context.Background(), text, "bash", p.b.world())
}
