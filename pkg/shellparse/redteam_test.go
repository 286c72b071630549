package shellparse

import (
	"os"
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// hostile reads a file of commands.
func hostile(t testing.TB, name string) (list []string) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	must(t, err)
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			list = append(list, strings.ReplaceAll(line, `\n`, "\n"))
		}
	}
	return list
}

// unconfined loads a policy for a place without a sandbox.
func unconfined(t testing.TB, b *bench, text string) *policy.Policy {
	t.Helper()
	file := t.TempDir() + "/policy.yaml"
	must(t, os.WriteFile(file, []byte("version: 1\nsandbox: off\n"+text), 0o600))
	p, err := policy.Load(&policy.Sources{Root: b.root, Home: b.home, State: b.home + "/state", Files: []string{file}, Temp: []string{"/tmp/agentkit-tmp"}})
	must(t, err)
	return p
}

// village is a bench with the files that the commands speak of.
func village(t testing.TB) *bench {
	b := newBench(t)
	b.repo(t, "main.go", "package.json", "a.txt", "b.txt", "data.json", "a.yaml", "k8s/a.yaml", "x.patch", ".env", "app.py", "a.pem")
	return b
}

// TestHostile: none of these is allowed where nothing but the policy holds it.
func TestHostile(t *testing.T) {
	b := village(t)
	p := unconfined(t, b, "")
	list := hostile(t, "hostile.txt")
	for _, s := range list {
		if o := p.DecideAll(analyze(b, s).Accesses); o.Verdict == policy.Allow {
			t.Errorf("allowed: %s\n%s", s, dump(analyze(b, s)))
		}
	}
	if len(list) < 200 {
		t.Errorf("only %d commands", len(list))
	}
}

// TestHostileUnderAllowRules: a rule that allows a program grants neither what
// else its words make run, nor files and hosts, nor the program it wraps.
func TestHostileUnderAllowRules(t *testing.T) {
	b := village(t)
	list := hostile(t, "hostile_allowed.txt")
	rules := "allow:\n"
	for name := range strings.FieldsSeq(allowedPrograms) {
		rules += "  - bash(" + name + " *)\n"
	}
	p := unconfined(t, b, rules)
	for _, s := range list {
		if o := p.DecideAll(analyze(b, s).Accesses); o.Verdict == policy.Allow {
			t.Errorf("allowed: %s\n%s", s, dump(analyze(b, s)))
		}
	}
	if len(list) < 300 {
		t.Errorf("only %d commands", len(list))
	}
	for _, s := range []string{"git status", "go test ./...", "tar tf a.tar", "curl --version", "make", "npm test", "npm init -y", "go run ./cmd/x", "docker ps", "sed -n 1p a.txt", "find . -name '*.go'", "cargo build", "kubectl get pods", "cmake --build build", "ffmpeg -i a.mp4 b.mp4", "convert a.png b.jpg", "yq .a a.yaml", "helm list"} {
		if o := p.DecideAll(analyze(b, s).Accesses); o.Verdict != policy.Allow {
			t.Errorf("not allowed, though a rule says so: %s: %s\n%s", s, o.Deciding().Why, dump(analyze(b, s)))
		}
	}
}

// allowedPrograms are those that the rules of TestHostileUnderAllowRules allow.
const allowedPrograms = `
ansible ar awk aws base64 bat black bun bundle cargo cat cd clang-format clang-tidy cmake column composer convert cp crontab cscope ctags
curl date dd delta deno diff docker dotnet echo env eslint export ffmpeg file find gcc gcloud gdb gem gh git go gpg gradle grep helm
hexdump hg host ip java javac jest jq kubectl ld less ln ls make man mv mvn mypy nice nm nmap node npm objdump od openssl pandoc parallel
patch ping pip pnpm poetry prettier printf ps psql pytest python3 read readelf rg rsync ruff rustc rustfmt scp sed sort split sqlite3 ssh
strace strings svn systemctl tar tee terraform test time timeout tmux true tsc unzip uv vagrant vim watch wget xargs xxd yarn yq zip
`
