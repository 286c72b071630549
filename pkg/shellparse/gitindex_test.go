package shellparse

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// repo makes a repository of the bench's root with files of these names.
func (b *bench) repo(t testing.TB, names ...string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git on this machine")
	}
	b.git(t, "init", "-q", ".")
	for _, n := range names {
		if i := strings.LastIndexByte(n, '/'); i > 0 {
			must(t, os.MkdirAll(b.root+"/"+n[:i], 0o755))
		}
		must(t, os.WriteFile(b.root+"/"+n, []byte(n+"\n"), 0o644))
	}
	b.git(t, append([]string{"add", "-f"}, names...)...)
}

func (b *bench) git(t testing.TB, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = b.root
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// reads are the files of the root that a text reads, relative to it.
func (b *bench) reads(text string) (out []string) {
	for _, a := range analyze(b, text).Accesses {
		if name, ok := strings.CutPrefix(a.Path, b.root+"/"); ok && a.Kind == policy.Read && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// TestGitPrintsTrackedSecrets: commands that print what files hold list the
// tracked files that look like secrets, though nobody named them.
func TestGitPrintsTrackedSecrets(t *testing.T) {
	for _, version := range []string{"2", "3", "4"} {
		b := newBench(t)
		b.repo(t, "main.go", "deploy/.env", "deploy/prod.pem", "src/b.go", "README.md", ".env.example", strings.Repeat("d/", 60)+"deep.txt")
		b.git(t, "update-index", "--index-version", version)
		if version == "3" { // what needs an extended entry
			b.git(t, "update-index", "--skip-worktree", "main.go")
		}
		hash := b.git(t, "hash-object", "deploy/.env")
		secrets := []string{"deploy/.env", "deploy/prod.pem"}
		for text, want := range map[string][]string{
			"git grep KEY": secrets, "git grep -n KEY": secrets, "git log -p": secrets, "git log --patch -3": secrets, "git log -U3": secrets, "git show": secrets, "git show HEAD~2": secrets,
			"git diff": secrets, "git diff HEAD~1": secrets, "git diff --cached": secrets, "git stash show -p": secrets, "git archive HEAD": secrets, "git format-patch -1 --stdout": secrets, "git show --stat -p": secrets,
			"cd src && git grep KEY": secrets, "git -C src log -p": append([]string{"src"}, secrets...), "git grep KEY deploy": append([]string{"deploy"}, secrets...), "git log -p -- deploy/prod.pem": {"deploy/prod.pem"}, "git diff -- '*.pem'": {"a.pem", "deploy/prod.pem"},
			"git show " + hash: secrets, "git cat-file -p " + hash[:8]: {"deploy/.env"}, "git cat-file blob " + strings.ToUpper(hash): {"deploy/.env"},
			"git grep -l KEY": nil, "git grep -c KEY": nil, "git log": nil, "git log --stat": nil, "git show --stat": nil, "git show --name-only HEAD": nil, "git diff --stat": nil, "git diff --name-only": nil, "git stash show": nil,
			"git grep KEY src": {"src"}, "git grep KEY -- '*.go'": nil, "git diff -- src": {"src"}, "git log -p -- README.md": {"README.md"}, "git show HEAD -- main.go": {"main.go"}, "git diff main.go": {"main.go"},
			"git diff -- . ':!deploy'": {}, "git status": nil, "git branch": nil, "git show HEAD:README.md": {"README.md"}, "git ls-files": nil, "git diff -- . ':(exclude)deploy/.env'": {"deploy/prod.pem"},
		} {
			got := b.reads(text)
			if slices.Sort(want); !slices.Equal(got, want) && len(got)+len(want) > 0 {
				t.Errorf("index version %s: %s reads %q, want %q", version, text, got, want)
			}
		}
	}
}

// TestGitIndexUnreadable: what cannot be looked through counts as whole.
func TestGitIndexUnreadable(t *testing.T) {
	b := newBench(t)
	b.repo(t, "main.go")
	w := b.world()
	w.ReadFile = func(name string) ([]byte, error) {
		if strings.HasSuffix(name, "/index") {
			return nil, os.ErrPermission
		}
		return os.ReadFile(name)
	}
	a := Analyze(t.Context(), "git grep KEY", "bash", w)
	if !slices.ContainsFunc(a.Accesses, func(x policy.Access) bool { return x.Kind == policy.Read && x.Tree && x.Path == b.root }) {
		t.Errorf("the tree is not listed: %v", a.Accesses)
	}
	b.git(t, "update-index", "--split-index")
	if a := analyze(b, "git grep KEY"); len(a.Opaque) == 0 {
		t.Error("a split index is taken for a whole one")
	}
}
