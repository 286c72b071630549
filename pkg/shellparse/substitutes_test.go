package shellparse

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"mvdan.cc/sh/v3/syntax"
)

// TestRemoved: ${x#p} and its kin are what bash makes of them.
func TestRemoved(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("NOT CHECKED: there is no bash")
	}
	operators := map[string]syntax.ParExpOperator{"#": syntax.RemSmallPrefix, "##": syntax.RemLargePrefix, "%": syntax.RemSmallSuffix, "%%": syntax.RemLargeSuffix}
	letters := func(from string, n int) string {
		var b strings.Builder
		for range rand.IntN(n + 1) {
			b.WriteByte(from[rand.IntN(len(from))])
		}
		return b.String()
	}
	var script strings.Builder
	var wants, cases []string
	for range 4000 {
		value, pattern := letters("ab./", 7), letters("ab./*", 4)
		for name, op := range operators {
			want, ok := removed(op, value, pattern)
			if !ok || pattern == "" {
				continue
			}
			line := fmt.Sprintf("x='%s'; echo \"<${x%s%s}>\"", value, name, pattern)
			script.WriteString(line + "\n")
			wants, cases = append(wants, "<"+want+">"), append(cases, line)
		}
	}
	c := exec.Command(bash, "--norc", "-s")
	c.Stdin = strings.NewReader(script.String())
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(got) != len(wants) || len(got) < 5000 {
		t.Fatalf("%d answers to %d questions", len(got), len(wants))
	}
	for i, want := range wants {
		if got[i] != want {
			t.Errorf("%s: %s, not %s", cases[i], got[i], want)
		}
	}
}

// TestPathPart: what basename and dirname are said to print is what they print.
func TestPathPart(t *testing.T) {
	for _, words := range [][]string{{"basename", "a/b.txt"}, {"basename", "a/b.txt", ".txt"}, {"basename", ".txt", ".txt"}, {"basename", "/a"}, {"basename", "a/b.txt", "x"}, {"dirname", "a/b.txt"}, {"dirname", "a"}, {"dirname", "/a"}, {"dirname", "/a/b"}, {"dirname", "a/b/c"}} {
		out, err := exec.Command(words[0], words[1:]...).Output()
		if err != nil {
			t.Skipf("NOT CHECKED: %v", err)
		}
		var list []word
		for _, w := range words[1:] {
			list = append(list, word{Text: w})
		}
		if got, ok := pathPart(words[0], list); !ok || got != strings.TrimSpace(string(out)) {
			t.Errorf("%q: %q %v, not %q", words, got, ok, out)
		}
	}
	for _, text := range []string{"a/", "-a", "", "a\nb"} {
		if got, ok := pathPart("basename", []word{{Text: text}}); ok {
			t.Errorf("basename %q is said to be %q", text, got)
		}
	}
}

// TestToday: a day is known, a second is not.
func TestToday(t *testing.T) {
	at := time.Date(2024, 3, 5, 23, 59, 59, 0, time.UTC)
	for format, want := range map[string]string{"+%Y%m%d": "20240305", "+%F": "2024-03-05", "+%y.%j": "24.065", "+%s": "", "+%H": "", "+a/b": "", "%F": "", "+": ""} {
		got, ok := today([]word{{Text: format}}, at)
		if got != want || ok != (want != "") {
			t.Errorf("%s: %q, not %q", format, got, want)
		}
	}
}

// TestNewNamesBesideRoot: where the root lies in the temporary directory, what mktemp makes there
// is known as elsewhere, and a repository is begun there; what lies beside the root is not the call's.
func TestNewNamesBesideRoot(t *testing.T) {
	b := newBench(t)
	b.repo(t, "a.txt")
	w := b.world()
	w.Temp, w.SharedTemp = nil, []string{"/tmp"}
	resolve := w.Resolve
	w.Resolve = func(dir, name string) (policy.Access, error) {
		a, err := resolve(dir, name)
		a.Fresh = strings.HasPrefix(a.Path, "/tmp/tmp.XXX")
		return a, err
	}
	for command, want := range map[string]string{
		`d=$(mktemp -d); rm -rf "$d"`:              "/tmp/tmp.XXXXXXXXXX",
		`d=$(mktemp -d) && git init -q "$d"`:       "/tmp/tmp.XXXXXXXXXX/.git/HEAD",
		`git init -q /tmp/agentkit-not-there/x`:    "/tmp/agentkit-not-there/x/.git",
		`d=$(mktemp -d -p /srv); rm -rf "$d"`:      "?",
		`d=$(mktemp -d /tmp/a.XX); rm -rf "$d"`:    "?",
		`mktemp() { pwd; }; rm -rf "$(mktemp -d)"`: "?",
	} {
		got := "none"
		for _, a := range Analyze(t.Context(), command, "bash", w).Accesses {
			if a.Kind == policy.Write {
				if got = a.Path; a.Opaque != "" || strings.HasPrefix(a.Path, b.root) {
					got = "?"
				}
			}
		}
		if got != want {
			t.Errorf("%s: %s, not %s", command, got, want)
		}
	}
}

// TestNewNamesBehind: a name that mktemp makes is known after a file that was read has activated an
// environment, or where it was set by a part before that succeeded; and not after one that may
// have changed what it is.
func TestNewNamesBehind(t *testing.T) {
	b := newBench(t)
	b.repo(t, "a.txt")
	for name, text := range map[string]string{
		"activate": "deactivate () {\n  if [ -n \"${_OLD_VIRTUAL_PATH:-}\" ]; then\n    PATH=\"${_OLD_VIRTUAL_PATH:-}\"\n    export PATH\n    unset _OLD_VIRTUAL_PATH\n  fi\n  unset VIRTUAL_ENV\n  [ \"${1:-}\" = nondestructive ] || unset -f deactivate\n}\n" +
			"deactivate nondestructive\nVIRTUAL_ENV=" + b.root + "\nexport VIRTUAL_ENV\n_OLD_VIRTUAL_PATH=\"$PATH\"\nPATH=\"$VIRTUAL_ENV/bin:$PATH\"\nexport PATH\nif [ -n \"${PYTHONHOME:-}\" ]; then unset PYTHONHOME; fi\nPS1=\"(x) ${PS1:-}\"\nexport PS1\nhash -r 2>/dev/null\n",
		"makes": "mktemp() { echo a.txt; }\n",
		"tmp":   "TMPDIR=/srv\n",
		"loads": "LD_PRELOAD=./x.so; export LD_PRELOAD\n",
	} {
		if err := os.WriteFile(b.root+"/"+name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w := b.world()
	w.Temp = []string{"/tmp"}
	const known = "/tmp/tmp.XXXXXXXXXX"
	for command, want := range map[string]string{
		`source ./activate; d=$(mktemp -d); rm -rf "$d"`:                               known,
		`source ./activate && d=$(mktemp -d) && cat a.txt && rm -rf "$d"`:              known,
		`d=$(mktemp -d); source ./activate; rm -rf "$d"`:                               known,
		`cat a.txt && d=$(mktemp -d) && rm -rf "$d"`:                                   known,
		`cat a.txt && { d=$(mktemp -d); } && cat a.txt && (d=/srv) && rm -rf "$d"`:     known,
		`source ./activate; PATH=.:$PATH; d=$(mktemp -d); rm -rf "$d"`:                 "?",
		`PATH=.:$PATH; source ./activate; d=$(mktemp -d); rm -rf "$d"`:                 "?",
		`source ./activate; if a; then PATH=.:$PATH; fi; d=$(mktemp -d); rm -rf "$d"`:  "?",
		`source ./activate; hash -p ./x mktemp; d=$(mktemp -d); rm -rf "$d"`:           "?",
		`source ./activate; eval "$(cat a.txt)"; d=$(mktemp -d); rm -rf "$d"`:          "?",
		`source ./activate; source ./loads; d=$(mktemp -d); rm -rf "$d"`:               "?",
		`source ./activate; source ./makes; d=$(mktemp -d); rm -rf "$d"`:               "?",
		`source ./activate; source ./tmp; d=$(mktemp -d); rm -rf "$d"`:                 "?",
		`touch activate; source ./activate; d=$(mktemp -d); rm -rf "$d"`:               "?",
		`source ./not-there; d=$(mktemp -d); rm -rf "$d"`:                              "?",
		`cat a.txt && d=$(mktemp -d); rm -rf "$d"`:                                     "?",
		`cat a.txt || d=$(mktemp -d) && rm -rf "$d"`:                                   "?",
		`cat a.txt && d=$(mktemp -d) || cat a.txt && rm -rf "$d"`:                      "?",
		`cat a.txt && d=$(mktemp -d) && read d && rm -rf "$d"`:                         "?",
		`cat a.txt && d=$(mktemp -d) && if a; then d=a.txt; fi && rm -rf "$d"`:         "?",
		`f() { d=$(cat a.txt); }; cat a.txt && d=$(mktemp -d) && f && rm -rf "$d"`:     "?",
		`cat a.txt && d=$(mktemp -d) && d=$(cat a.txt) >x && cat a.txt && rm -rf "$d"`: "?",
	} {
		got := "none"
		for _, a := range Analyze(t.Context(), command, "bash", w).Accesses {
			if a.Kind == policy.Write && a.Op == policy.Delete {
				if got = a.Path; a.Opaque != "" || strings.HasPrefix(a.Path, b.root) {
					got = "?"
				}
			}
		}
		if got != want {
			t.Errorf("%s: %s, not %s", command, got, want)
		}
	}
}

// TestNewNames: which path a name that mktemp makes counts as; ? for one that is not known.
func TestNewNames(t *testing.T) {
	b := newBench(t)
	b.repo(t, "a.txt")
	w := b.world()
	w.Temp = []string{"/tmp"}
	for command, want := range map[string]string{
		"cp a.txt \"$(mktemp)\"":                              "/tmp/tmp.XXXXXXXXXX",
		"mv a.txt \"$(mktemp -p /tmp)\"":                      "/tmp/tmp.XXXXXXXXXX",
		"t=$(mktemp /tmp/a-XXXXXX.txt) && cp a.txt $t":        "/tmp/a-XXXXXX.txt",
		"t=$(mktemp -d -p /tmp x.XXXX); cp a.txt \"$t\"/b":    "/tmp/x.XXXX/b",
		"cp a.txt $(mktemp /nowhere/a-XXXXXX)":                "?",
		"cp a.txt $(mktemp /tmp/a)":                           "?",
		"mktemp() { echo /srv; }; cp a.txt $(mktemp -p /tmp)": "?",
		"PATH=.:$PATH; cp a.txt $(mktemp -p /tmp)":            "?",
		"cp a.txt $(mktemp -p \"$X\" || echo /srv)":           "?",
		"cp a.txt $(mktemp -p /tmp >&-)":                      "?",
		"cp a.txt $(mktemp --tmpdir=/nowhere a.XXXX)":         "?",
		"TMPDIR=/srv; cp a.txt $(mktemp)":                     "?",
	} {
		got := "none"
		for _, a := range Analyze(t.Context(), command, "bash", w).Accesses {
			if a.Kind == policy.Write && a.Op != policy.Delete {
				if got = a.Path; a.Opaque != "" || strings.HasPrefix(a.Path, b.root) {
					got = "?"
				}
			}
		}
		if got != want {
			t.Errorf("%s: %s, not %s", command, got, want)
		}
	}
}

// TestNewNamesBelow: a name that mktemp makes in the root is a new one where what is taken away is kept.
func TestNewNamesBelow(t *testing.T) {
	b := newBench(t)
	b.repo(t, "a.txt", "sub/x", "tmp.XXXXXX")
	for command, want := range map[string]string{
		`d=$(mktemp -d -p .); rm -rf "$d"`:                   "tmp.XXXXXXXXXX",
		`d=$(mktemp -d --tmpdir=.); rm -rf "$d"`:             "tmp.XXXXXXXXXX",
		`d=$(mktemp -d ./a.XXXXXX); rm -rf "$d"`:             "a.XXXXXX",
		`d=$(mktemp -d a.XXXXXX); rm -rf "$d"/b`:             "a.XXXXXX/b",
		`d=$(mktemp -d sub/XXXXXX); rm -rf "$d"`:             "sub/XXXXXX",
		`cd sub; d=$(mktemp -d -p .); rm -rf "$d"`:           "sub/tmp.XXXXXXXXXX",
		`d=$(mktemp -d -p sub x.XXXX --suffix=.d); rm -r $d`: "sub/x.XXXX.d",
		`d=$(mktemp -d tmp.XXXXXX); rm -rf "$d"`:             "?", // it is there
		`d=$(mktemp -d -p .git); rm -rf "$d"`:                "?",
		`d=$(mktemp -d .git/XXXXXX); rm -rf "$d"`:            "?",
		`d=$(mktemp -d -p link); rm -rf "$d"`:                "?", // leads out of the root
		`d=$(mktemp -d -p ..); rm -rf "$d"`:                  "?",
		`d=$(mktemp -d -p nowhere); rm -rf "$d"`:             "?",
		`d=$(mktemp -d -p a.txt); rm -rf "$d"`:               "?",
		`d=$(mktemp -d -p "$X"); rm -rf "$d"`:                "?",
		`d=$(mktemp -d -t -p . x.XXX); rm -rf "$d"`:          "?",
		`d=$(mktemp -d -u -p .); rm -rf "$d"`:                "?",
		`d=$(mktemp -d ./a); rm -rf "$d"`:                    "?",
		`mktemp() { echo sub; }; rm -rf "$(mktemp -d -p .)"`: "?",
		`PATH=.:$PATH; d=$(mktemp -d -p .); rm -rf "$d"`:     "?",
		`cd $X; d=$(mktemp -d -p .); rm -rf "$d"`:            "?",
		`ln -s sub s; d=$(mktemp -d -p s); rm -rf "$d"`:      "?",
		`cat a.txt || d=$(mktemp -d -p .); rm -rf "$d"`:      "?",
		`d=$(mktemp -d -p . || echo sub); rm -rf "$d"`:       "?",
	} {
		for _, keeps := range []bool{true, false} {
			w := b.world()
			w.Keeps = keeps
			got := "none"
			for _, a := range Analyze(t.Context(), command, "bash", w).Accesses {
				if a.Kind == policy.Write && a.Op == policy.Delete {
					if got = strings.TrimPrefix(a.Path, b.root+"/"); a.Opaque != "" {
						got = "?"
					}
				}
			}
			if keeps && got != want || !keeps && got != "?" {
				t.Errorf("%s, kept %v: %s, not %s", command, keeps, got, want)
			}
		}
	}
}

// TestPipedValues: the path of a process substitution is no file, be it a word of its own or the value
// of an option, where nothing stands behind it.
func TestPipedValues(t *testing.T) {
	b := newBench(t)
	b.repo(t, "a.txt")
	w := b.world()
	for command, want := range map[string]bool{
		`grep -f <(echo a) a.txt`:                      true,
		`grep -f<(echo a) a.txt`:                       true,
		`grep --file=<(echo a) a.txt`:                  true,
		`diff --from-file=<(cat a.txt) a.txt`:          true,
		`wc --files0-from=<(find . -print0)`:           true,
		`sort --files0-from=<(find . -print0)`:         true,
		`shuf --random-source=<(yes) a.txt`:            true,
		`grep --file=<(echo a)/x a.txt`:                false,
		`grep --file=<(echo a)<(echo b) a.txt`:         false,
		`grep --file=<(echo a)$(cat a.txt) a.txt`:      false,
		`grep --file=$(cat a.txt)<(echo a) a.txt`:      false,
		`grep --file=../x<(echo a) a.txt`:              false,
		`grep --file=/proc/self<(echo a) a.txt`:        false,
		`grep --file=/dev/fd/$(cat a.txt) a.txt`:       false,
		`x=/dev/fd/; grep --file=$x$(cat a.txt) a.txt`: false,
	} {
		got := true
		for _, a := range Analyze(t.Context(), command, "bash", w).Accesses {
			got = got && (a.Kind != policy.Read || a.Opaque == "")
		}
		if got != want {
			t.Errorf("%s: known %t", command, got)
		}
	}
}

// TestWorkTree: what git rev-parse --show-toplevel is said to print is what it prints.
func TestWorkTree(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("NOT CHECKED: there is no git")
	}
	const top = "git rev-parse --show-toplevel"
	const linked = "git -c user.name=n -c user.email=e commit -q --allow-empty -m m && git worktree add -q wt"
	for _, test := range []struct {
		made string // by the shell, in the root of a repository
		dir  string
		env  string // NAME=value
		text string // of the substitution
		ok   bool
	}{
		{"", ".", "", top, true},
		{"", "src", "", top, true},
		{"", ".", "", top + " 2>/dev/null", true},
		{"", "src", "", top + " 2>/dev/null || pwd", true},
		{linked, "wt", "", top, true},
		{"git init -q src/n", "src/n", "", top, true},
		{"git init -q src/n && mkdir src/n/d", "src/n/d", "", top, true},
		{"git init -q src/n && : >src/n/.git/HEAD", "src/n", "", top, false},
		{"git init -q src/n && echo x >src/n/.git/HEAD", "src/n", "", top, false},
		{linked + " && : >.git/worktrees/wt/HEAD", "wt", "", top, false},
		{"echo x >src/.git", "src", "", top, false},
		{"git config core.worktree ..", ".", "", top, false},
		{"git config core.bare true", ".", "", top, false},
		{"git config core.BARE yes", ".", "", top, false},
		{linked + " && git config core.bare true", "wt", "", top, true},
		{"", ".", "GIT_DIR=/nowhere", top, false},
		{"", ".", "GIT_WORK_TREE=/", top, false},
		{"", "src", "GIT_CEILING_DIRECTORIES=/", top, false},
		{"", ".", "", top + " x", false},
		{"", ".", "", "! " + top, false},
		{"", ".", "", top + " | cat", false},
		{"", ".", "", "git rev-parse --show-cdup", false},
		{"", ".", "", "git -C src rev-parse --show-toplevel", false},
	} {
		b := newBench(t)
		run := func(dir, text string) (string, error) {
			c := exec.Command("bash", "-c", text)
			c.Dir = filepath.Join(b.root, dir)
			c.Env = append(os.Environ(), "HOME="+b.home)
			if test.env != "" {
				c.Env = append(c.Env, test.env)
			}
			out, err := c.Output()
			return strings.TrimSpace(string(out)), err
		}
		if name, _, set := strings.Cut(test.env, "="); set {
			t.Setenv(name, "") // the repository itself is made without it
			must(t, os.Unsetenv(name))
		}
		c := exec.Command("bash", "-c", "git init -q . && { "+cmpOr(test.made, ":")+"; }")
		c.Dir, c.Env = b.root, append(os.Environ(), "HOME="+b.home)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", test.made, err, out)
		}
		w := b.world()
		w.Dir = filepath.Join(b.root, test.dir)
		plain := w.Getenv
		w.Getenv = func(name string) (string, bool) {
			if value, ok := strings.CutPrefix(test.env, name+"="); ok {
				return value, true
			}
			return plain(name)
		}
		want, _ := run(test.dir, test.text)
		read := ""
		for _, a := range Analyze(t.Context(), `cat "$(`+test.text+`)/f"`, "bash", w).Accesses {
			if a.Kind == policy.Read && a.Opaque == "" && strings.HasSuffix(a.Path, "/f") {
				read = strings.TrimSuffix(a.Path, "/f")
			}
		}
		switch {
		case test.ok && (read != want || want == ""):
			t.Errorf("%s; cd %s; %s: %q, and git prints %q", test.made, test.dir, test.text, read, want)
		case !test.ok && read != "":
			t.Errorf("%s; cd %s; %s %s: said to be certain, %q; git prints %q", test.made, test.dir, test.env, test.text, read, want)
		}
	}
	b := newBench(t)
	if out, err := exec.Command("git", "init", "-q", b.root).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	w := b.world()
	w.Owns = func(dir string) bool { return filepath.Base(dir) != ".git" }
	for _, text := range []string{"", "cd src; touch x; ", "git() { echo /; }; ", "alias git=echo; ", "PATH=.; ", "export GIT_DIR=x; "} {
		if text != "" {
			w.Owns = b.world().Owns
		}
		for _, a := range Analyze(t.Context(), text+`cat "$(`+top+`)/f"`, "bash", w).Accesses {
			if a.Kind == policy.Read && a.Opaque == "" && a.Path == b.root+"/f" {
				t.Errorf("%q: said to be certain", text)
			}
		}
	}
}
