package shellparse

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"sort"
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/programs"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// A casePolicy is the neutral policy of a labelled case.
type casePolicy struct {
	Default      string   `json:"default"`
	Allow, Deny  []string `json:"-"`
	RawAllow     []string `json:"allow"`
	RawDeny      []string `json:"deny"`
	Workspace    string   `json:"workspace"`
	WriteOutside string   `json:"write_outside"`
	ReadOutside  string   `json:"read_outside"`
	Tmp          bool     `json:"tmp"`
	Protect      []string `json:"protect"`
	Network      string   `json:"network"`
}

// verdicts, from weak to strict.
const (
	allow = iota
	ask
	deny
)

var verdicts = map[string]int{"allow": allow, "ask": ask, "deny": deny}

func verdictName(v int) string { return [...]string{"allow", "ask", "deny"}[v] }

// A judge is the reference decision that the labels are checked with: the
// strictest over all accesses. It is no part of the package.
type judge struct {
	p casePolicy
	b *bench
}

func (j judge) all(a *Analysis) (int, string) {
	worst, why := allow, ""
	for i := range a.Accesses {
		if v, w := j.one(&a.Accesses[i]); v > worst {
			worst, why = v, fmt.Sprintf("%s: %s %s", w, a.Accesses[i].Kind, strings.Join(a.Accesses[i].Argv, " ")+a.Accesses[i].Path+a.Accesses[i].Name)
		}
	}
	return worst, why
}

func (j judge) one(a *policy.Access) (int, string) {
	open := j.p.Default == "allow"
	v, why := allow, ""
	up := func(n int, w string) {
		if n > v {
			v, why = n, w
		}
	}
	if a.Danger != "" {
		up(ask, "dangerous: "+a.Danger)
	}
	if a.Opaque != "" {
		up(ask, "opaque: "+a.Opaque)
	}
	switch a.Kind {
	case policy.Exec:
		for _, r := range j.p.RawDeny {
			switch match(r, a, true) {
			case 2:
				up(deny, "rule "+r)
			case 1:
				up(ask, "may match "+r)
			}
		}
		if open || a.Class == policy.ReadOnly {
			break
		}
		for _, r := range j.p.RawAllow {
			if match(r, a, false) == 2 {
				return v, why
			}
		}
		up(ask, "no rule")
	case policy.Read:
		if !j.within(a) {
			up(j.outside(j.p.ReadOutside, open, ask, allow), "read outside")
		}
	case policy.Write:
		if j.protected(a) {
			up(deny, "protected")
		}
		if !j.within(a) {
			up(j.outside(j.p.WriteOutside, open, deny, ask), "write outside")
		}
	case policy.Net:
		if j.p.Network == "deny" {
			up(deny, "network")
		} else if !open {
			up(ask, "network")
		}
	case policy.Env:
		up(ask, "environment")
	}
	return v, why
}

func (j judge) outside(setting string, open bool, other, whenOpen int) int {
	if setting != "" {
		return verdicts[setting]
	}
	if open {
		return whenOpen
	}
	return other
}

func (j judge) within(a *policy.Access) bool {
	return safefile.Below(j.b.root, a.Path) || j.p.Tmp && safefile.Below("/tmp", a.Path) || a.Path == "/dev/null"
}

func (j judge) protected(a *policy.Access) bool {
	for _, p := range j.p.Protect {
		p = strings.TrimSuffix(j.b.fill(p), "/**")
		if !path.IsAbs(p) {
			p = j.b.root + "/" + p
		}
		for _, q := range []string{a.Path, a.Named} {
			q = strings.ToLower(q)
			if q != "" && (safefile.Below(strings.ToLower(p), q) || a.Tree && safefile.Below(q, strings.ToLower(p))) {
				return true
			}
		}
	}
	return false
}

// match compares a rule's words with argv: 2 for a match, 1 where a dynamic
// word may make it one.
func match(rule string, a *policy.Access, denying bool) int {
	words := strings.Fields(rule)
	open := words[len(words)-1] == "*"
	if open {
		words = words[:len(words)-1]
	}
	dynamic := func(i int) bool { return a.Dynamic != nil && a.Dynamic[i] }
	may := 2
	for i, w := range words {
		if i >= len(a.Argv) {
			for k := range a.Argv {
				if denying && dynamic(k) {
					return 1
				}
			}
			return 0
		}
		got := a.Argv[i]
		if dynamic(i) {
			if !denying {
				return 0
			}
			may = 1
			continue
		}
		if i == 0 {
			if denying {
				got = path.Base(got)
			} else if !a.Builtin && (a.Program == "" || strings.Contains(a.Program, "/W/") || strings.Contains(a.Program, "/B/")) || strings.Contains(got, "/") {
				return 0
			}
		}
		if got != w {
			return 0
		}
	}
	if !open && len(a.Argv) != len(words) {
		return 0
	}
	if !denying && a.Opaque != "" {
		return 0
	}
	return may
}

type labelled struct {
	ID, Class, Input, Command, Expect, Why, Setup, Tag string
	Policy                                             casePolicy
}

func load(t testing.TB, name string) []labelled {
	t.Helper()
	f, err := os.Open(shared(t, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []labelled
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<24)
	for s.Scan() {
		var c labelled
		if json.Unmarshal(s.Bytes(), &c) != nil || c.Policy.Default == "" && c.Command == "" && c.Expect != "" && strings.HasPrefix(c.ID, "benign/") {
			continue // a case for file tools
		}
		out = append(out, c)
	}
	if len(out) == 0 {
		t.Fatalf("no cases in %s", name)
	}
	return out
}

// place makes the bench of a case, once for all that set up the same: nothing
// changes it.
func place(t testing.TB, c labelled, made map[string]*bench) *bench {
	if b := made[c.Setup]; b != nil {
		return b
	}
	b := newBench(t)
	made[c.Setup] = b
	if c.Setup == "" {
		return b
	}
	cmd := exec.Command(bashPath(t), "-c", b.fill(c.Setup))
	cmd.Dir = b.root
	cmd.Env = []string{"HOME=" + b.home, "PATH=/usr/bin:/bin", "GIT_CONFIG_NOSYSTEM=1"}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Logf("%s: setting up: %v: %s", c.ID, err, out)
	}
	return b
}

func TestPolicyCases(t *testing.T) {
	for _, file := range []string{"policy/cases.jsonl", "benign/cases.jsonl"} {
		t.Run(path.Dir(file), func(t *testing.T) {
			count := map[string][3]int{} // class: exact, stricter, weaker
			made := map[string]*bench{}
			for _, c := range load(t, file) {
				b := place(t, c, made)
				a := analyze(b, b.fill(c.Input))
				got, why := judge{c.Policy, b}.all(a)
				want := verdicts[c.Expect]
				if p := c.Policy; want == deny && len(p.RawDeny) == 0 && p.Workspace == "" && p.Network == "" && len(p.Protect) == 0 {
					want = ask // nothing in this policy denies anything
				}
				n := count[c.Class]
				switch {
				case got < want:
					n[2]++
					t.Errorf("%s: %s, want %s: %q (%s)\n%s", c.ID, verdictName(got), c.Expect, programs.Cut(c.Input), c.Why, dump(a))
				case got > want:
					n[1]++
					if want == allow {
						t.Errorf("%s: %s (%s), want allow: %q", c.ID, verdictName(got), why, programs.Cut(c.Input))
					} else if os.Getenv("AGENTKIT_VERBOSE") != "" {
						t.Logf("%s: %s (%s), want %s: %q", c.ID, verdictName(got), why, c.Expect, programs.Cut(c.Input))
					}
				default:
					n[0]++
				}
				count[c.Class] = n
			}
			report(t, count, "exact", "stricter", "weaker")
		})
	}
}

func report(t *testing.T, count map[string][3]int, names ...string) {
	var keys []string
	total := [3]int{}
	for k, n := range count {
		keys = append(keys, k)
		for i := range n {
			total[i] += n[i]
		}
	}
	sort.Strings(keys)
	for _, k := range keys {
		t.Logf("%-24s %s %d, %s %d, %s %d", k, names[0], count[k][0], names[1], count[k][1], names[2], count[k][2])
	}
	t.Logf("%-24s %s %d, %s %d, %s %d", "all", names[0], total[0], names[1], total[1], names[2], total[2])
}

func TestSafetyCases(t *testing.T) {
	count := map[string][3]int{}
	missed, safe, prompted, danger := 0, 0, 0, 0
	b := newBench(t)
	for _, c := range load(t, "safety/cases.jsonl") {
		a := analyze(b, c.Command)
		got, why := judge{casePolicy{Default: "ask", Workspace: b.root}, b}.all(a)
		dangerous := ""
		for _, x := range a.Accesses {
			dangerous = cmpOr(dangerous, x.Danger)
		}
		n := count[c.Expect]
		switch c.Expect {
		case "safe":
			safe++
			if dangerous != "" {
				t.Errorf("%s: %q is safe, flagged as dangerous: %s", c.ID, c.Command, dangerous)
			}
			if got != allow {
				prompted++
				n[1]++
				t.Logf("%s: %q asks: %s", c.ID, c.Command, why)
			} else {
				n[0]++
			}
		case "ask":
			if got == allow {
				n[2]++
				t.Errorf("%s: %q is allowed, want ask (%s)\n%s", c.ID, c.Command, c.Why, dump(a))
			} else {
				n[0]++
				if dangerous != "" && os.Getenv("AGENTKIT_VERBOSE") != "" {
					t.Logf("%s: %q flagged as dangerous: %s", c.ID, c.Command, dangerous)
				}
			}
		case "danger":
			danger++
			switch {
			case got == allow:
				n[2]++
				t.Errorf("%s: %q is allowed, want danger (%s)\n%s", c.ID, c.Command, c.Why, dump(a))
			case dangerous == "":
				n[1]++
				missed++
				t.Logf("%s: %q is not recognised as dangerous (%s)", c.ID, c.Command, c.Why)
			default:
				n[0]++
			}
		}
		count[c.Expect] = n
	}
	report(t, count, "exact", "inexact", "weaker")
	if prompted*20 > safe {
		t.Errorf("%d of %d read-only commands ask", prompted, safe)
	}
	if missed*20 > danger {
		t.Errorf("%d of %d dangerous commands are not recognised", missed, danger)
	}
}

func TestParserDifferentials(t *testing.T) {
	seen := 0
	cases := load(t, "policy/parser-differentials.jsonl")
	b := newBench(t)
	for _, c := range cases {
		a := analyze(b, c.Input)
		v, _ := judge{casePolicy{Default: "allow", RawDeny: []string{"pwn *"}}, b}.all(a)
		if v == allow {
			t.Errorf("pwn is hidden in %q\n%s", c.Input, dump(a))
		}
		if v == deny {
			seen++
		}
	}
	t.Logf("%d inputs: pwn seen in %d, the others opaque", len(cases), seen)
}

func dump(a *Analysis) string {
	var s strings.Builder
	for i, x := range a.Accesses {
		fmt.Fprintf(&s, "  %d %s %q%v prog=%s b=%v class=%q path=%s named=%s op=%s tree=%v host=%s name=%s=%s file=%s", i+1, x.Kind, x.Argv, x.Dynamic, x.Program, x.Builtin, x.Class, x.Path, x.Named, x.Op, x.Tree, x.Host, x.Name, x.Value, x.File)
		fmt.Fprintf(&s, " parent=%d opaque=%q danger=%q\n", x.Parent, x.Opaque, x.Danger)
	}
	return s.String()
}
