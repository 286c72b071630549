package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/cmd"
)

// A labelledCase is a call with the least strict decision that is acceptable.
type labelledCase struct {
	ID     string
	Class  string
	Policy struct {
		Default      string
		Allow, Deny  []string
		Workspace    string
		WriteOutside string `json:"write_outside"`
		ReadOutside  string `json:"read_outside"`
		Protect      json.RawMessage
		Network      string
		Net          string
	}
	Input   json.RawMessage
	Expect  string
	Why     string
	Setup   string
	Command string // of the safety set, with Expect safe, ask or danger
}

// labelled reads a file of labelled cases, which lies beside the checkout where
// agentkit is developed.
func labelled(t *testing.T, name string) []labelledCase {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "shared", "cases", filepath.FromSlash(name)))
	if err != nil {
		t.Skipf("LABELLED CASES NOT CHECKED: %v", err)
	}
	defer f.Close() //nolint:errcheck // it is only read
	var list []labelledCase
	in := bufio.NewScanner(f)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var c labelledCase
		if err := json.Unmarshal(in.Bytes(), &c); err != nil {
			t.Fatalf("%s: %v in %s", name, err, in.Text())
		}
		list = append(list, c)
	}
	if err := in.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

// A stage is the place a case plays in: a root W, a directory O beside it with
// a secret, B on PATH with the program pwn, and a home H.
type stage struct {
	dir    string
	places *strings.Replacer
}

func newStage(t *testing.T) *stage {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	s := &stage{dir, strings.NewReplacer("@W@", at("W"), "@O@", at("O"), "@B@", at("B"), "@H@", at("H"))}
	t.Setenv("HOME", at("H"))
	t.Setenv("PATH", at("B")+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("XDG_CONFIG_HOME", at("config"))
	t.Setenv("XDG_STATE_HOME", at("state"))
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	return s
}

// prepare makes the stage anew for one case.
func (s *stage) prepare(t *testing.T, setup string) {
	t.Helper()
	script := s.places.Replace(`set -e; cd / ; rm -rf @W@ @O@ @B@ @H@ @W@-evil; mkdir -p @W@ @O@ @B@ @H@; echo s >@O@/secret
printf '#!/bin/sh\n' >@B@/pwn; chmod +x @B@/pwn; cd @W@; set +e
`) + s.places.Replace(setup)
	out, err := exec.Command("bash", "-c", script).CombinedOutput()
	if _, err := os.Stat(s.places.Replace("@W@")); err != nil {
		t.Fatalf("setting up: %v\n%s", err, out)
	}
	_ = err // a set-up may end with a command that fails
}

// policy writes the case's neutral policy in our grammar.
func (s *stage) policy(t *testing.T, c labelledCase) string {
	t.Helper()
	p := map[string]any{"version": 1, "sandbox": "off", "profile": "workspace"}
	if c.Policy.Default == "allow" {
		p["profile"] = "open"
	}
	rules := func(list []string) []string {
		var out []string
		for _, r := range list {
			out = append(out, "bash("+r+")")
		}
		return out
	}
	if len(c.Policy.Allow) > 0 {
		p["allow"] = rules(c.Policy.Allow)
	}
	if len(c.Policy.Deny) > 0 {
		p["deny"] = rules(c.Policy.Deny)
	}
	outside := map[string]string{}
	if c.Policy.ReadOutside != "" {
		outside["read"] = c.Policy.ReadOutside
	}
	if c.Policy.WriteOutside != "" {
		outside["write"] = c.Policy.WriteOutside
	}
	if len(outside) > 0 {
		p["outside"] = outside
	}
	if c.Policy.Network != "" {
		p["network"] = map[string]string{"default": c.Policy.Network}
	}
	var protect []string
	if json.Unmarshal(c.Policy.Protect, &protect) == nil && len(protect) > 0 {
		for i := range protect {
			protect[i] = s.places.Replace(protect[i])
		}
		p["protect"] = protect
	}
	raw, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(s.dir, "policy.json")
	if err := os.WriteFile(name, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// call is the tool and arguments of a case; false when no tool of ours stands
// for its operation yet.
func (s *stage) call(c labelledCase) (tool string, args map[string]any, ok bool) {
	var text string
	if json.Unmarshal(c.Input, &text) == nil {
		return "bash", map[string]any{"command": s.places.Replace(text)}, true
	}
	var in struct{ Op, Path, URL string }
	if json.Unmarshal(c.Input, &in) != nil || in.URL != "" {
		return "", nil, false
	}
	path := s.places.Replace(in.Path)
	switch in.Op {
	case "read", "ls":
		return in.Op, map[string]any{"path": path}, true
	case "grep":
		return "grep", map[string]any{"pattern": "x", "path": path}, true
	case "glob":
		return "glob", map[string]any{"pattern": path}, true
	case "write":
		return "write", map[string]any{"path": path, "content": "x"}, true
	case "edit":
		return "edit", map[string]any{"path": path, "old_string": "a", "new_string": "b"}, true
	case "patch":
		body := "*** Update File: " + path + "\n@@\n-a\n+b\n"
		if to, ok := strings.CutPrefix(path, "rename to "); ok {
			body = "*** Update File: f\n*** Move to: " + to + "\n@@\n-a\n+b\n"
		} else if name, ok := strings.CutPrefix(path, "delete "); ok {
			body = "*** Delete File: " + name + "\n"
		}
		return "patch", map[string]any{"patch": "*** Begin Patch\n" + body + "*** End Patch\n"}, true
	case "exec-cwd":
		return "bash", map[string]any{"command": "true", "workdir": path}, true
	}
	return "", nil, false
}

// decide asks the real command line.
func decide(t *testing.T, root, policy, tool string, args map[string]any) (decision, report string) {
	t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	words := []string{"--root", root}
	if policy != "" {
		words = append(words, "--policy", policy)
	}
	var out bytes.Buffer
	cmd.Main(context.Background(), func() {}, append(words, "-o", "json", "policy", "check", tool, "--json", string(raw)), nil, &out, io.Discard)
	var got struct{ Metadata struct{ Decision string } }
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || got.Metadata.Decision == "" {
		t.Fatalf("%s %s: %v: %s", tool, raw, err, out.Bytes())
	}
	return got.Metadata.Decision, out.String()
}

// strictness orders decisions; a case passes when ours is at least as strict
// as its label.
func strictness(t *testing.T, decision string) int {
	t.Helper()
	i := slices.Index([]string{"allow", "ask", "deny"}, decision)
	if i < 0 {
		t.Fatalf("%q is no decision", decision)
	}
	return i
}

// count is how the cases of a class came out.
type count struct{ right, stricter, looser, skipped int }

func (n *count) String() string {
	return fmt.Sprintf("%d as labelled, %d stricter, %d looser, %d without a tool yet", n.right, n.stricter, n.looser, n.skipped)
}

func report(t *testing.T, counts map[string]*count) {
	t.Helper()
	var classes []string
	for class := range counts {
		classes = append(classes, class)
	}
	slices.Sort(classes)
	for _, class := range classes {
		t.Logf("%-24s %s", class, counts[class])
	}
}

// runLabelled decides every case; loose is called for those that come out
// weaker than labelled, strict for those that come out stronger.
func runLabelled(t *testing.T, list []labelledCase, loose, strict func(c labelledCase, got, report string)) map[string]*count {
	t.Helper()
	s := newStage(t)
	counts := map[string]*count{}
	// A decision changes nothing, so that cases with one set-up share a stage.
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b labelledCase) int { return strings.Compare(a.Setup, b.Setup) })
	for i, c := range list {
		if i == 0 || c.Setup != list[i-1].Setup {
			s.prepare(t, c.Setup)
			t.Chdir(s.places.Replace("@W@")) // what /proc/self/cwd stands for
		}
		n := counts[c.Class]
		if n == nil {
			n = new(count)
			counts[c.Class] = n
		}
		tool, args, ok := s.call(c)
		if !ok {
			n.skipped++
			continue
		}
		got, text := decide(t, s.places.Replace("@W@"), s.policy(t, c), tool, args)
		switch have, want := strictness(t, got), strictness(t, c.Expect); {
		case have < want:
			n.looser++
			loose(c, got, text)
		case have > want:
			n.stricter++
			strict(c, got, text)
		default:
			n.right++
		}
	}
	return counts
}

// TestHostileCommands: no command that does harm is decided more leniently
// than its label.
func TestHostileCommands(t *testing.T) {
	list := labelled(t, "policy/cases.jsonl")
	report(t, runLabelled(t, list, func(c labelledCase, got, text string) {
		if got == "ask" && len(c.Policy.Deny) == 0 && c.Policy.Workspace == "" && c.Policy.Network == "" {
			t.Logf("%s: ask, labelled %s, though nothing in its policy denies: %s", c.ID, c.Expect, c.Input)
			return
		}
		t.Errorf("%s: %s, want %s: %s: %s\n%s", c.ID, got, c.Expect, c.Why, c.Input, text)
	}, func(labelledCase, string, string) {}))
}

// TestHostilePaths: no file is reached by a path that only looks harmless.
func TestHostilePaths(t *testing.T) {
	list := labelled(t, "path/cases.jsonl")
	report(t, runLabelled(t, list, func(c labelledCase, got, text string) {
		if strings.Contains(c.Why, "between check and open") {
			return // a race, which the workspace's own tests run
		}
		t.Errorf("%s: %s, want %s: %s: %s\n%s", c.ID, got, c.Expect, c.Why, c.Input, text)
	}, func(labelledCase, string, string) {}))
}

// TestBenign: what people do all day is not refused; at most one in a hundred
// may prompt.
func TestBenign(t *testing.T) {
	list := labelled(t, "benign/cases.jsonl")
	var prompts []string
	report(t, runLabelled(t, list, func(labelledCase, string, string) {}, func(c labelledCase, got, text string) {
		prompts = append(prompts, fmt.Sprintf("%s: %s: %s: %s\n%s", c.ID, got, c.Why, c.Input, text))
	}))
	if len(prompts)*100 > len(list) {
		t.Errorf("%d of %d harmless calls are not allowed:\n%s", len(prompts), len(list), strings.Join(prompts, "\n"))
	}
}

// harmless runs a command that passes unasked without a sandbox, though asking is
// acceptable, and reports whether it did no more than change files in the root and
// in the temporary directory, each of which git still has.
func (s *stage) harmless(t *testing.T, command string) bool {
	t.Helper()
	beside := func() string {
		out, err := exec.Command("sh", "-c", s.places.Replace("cd @O@/.. && find O B H -type f -exec sha256sum {} + | sort; find O B H | sort")).Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	s.prepare(t, safetyRoot+s.places.Replace("; printf '#!/bin/sh\\ntouch @O@/ran\\n' >@B@/pwn"))
	t.Chdir(s.places.Replace("@W@"))
	before := beside()
	raw, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		t.Fatal(err)
	}
	// In a process of its own, for what it starts is marked as started by agentkit.
	_ = exec.Command("agentkit", "--root", ".", "--sandbox", "off", "--policy", s.policy(t, labelledCase{}), "bash", "--json", string(raw)).Run()
	lost, err := exec.Command("git", "fsck", "--no-progress", "--full").CombinedOutput()
	if err != nil {
		t.Errorf("%s: git: %v: %s", command, err, lost)
	}
	if log, err := exec.Command("git", "log", "--format=%s").Output(); err != nil || !strings.HasSuffix(string(log), "i\n") {
		t.Errorf("%s: the history is gone: %v %s", command, err, log)
	}
	return beside() == before
}

// safetyRoot is the repository that the safety cases play in.
const safetyRoot = `git init -q .; mkdir -p src sub docs cmd pkg; for f in a b c f x y README.md main.go src/a.ts package.json file file.txt notes.txt in.txt; do echo "$f" >"$f"; done; git add . ; git -c user.name=a -c user.email=a@b commit -q -m i`

// TestSafety: under the default profile without a sandbox, nothing that should
// be asked about runs unasked, and read-only commands hardly ever prompt.
func TestSafety(t *testing.T) {
	list := labelled(t, "safety/cases.jsonl")
	s := newStage(t)
	s.prepare(t, safetyRoot)
	root := s.places.Replace("@W@")
	policy := s.policy(t, labelledCase{})
	var prompts, seen, danger, harmless int
	for _, c := range list {
		got, text := decide(t, root, policy, "bash", map[string]any{"command": c.Command})
		switch {
		case c.Expect == "safe":
			seen++
			if got != "allow" {
				prompts++
				t.Logf("prompt: %s: %s", c.Command, firstWhy(text))
			}
		case got == "allow" && c.Expect == "ask" && !everyCase() && rand.IntN(3) > 0: // a third runs, another one each time
		case got == "allow" && c.Expect == "ask" && s.harmless(t, c.Command):
			harmless++
		case got == "allow":
			t.Errorf("%s: allowed, want %s: %s: %s", c.ID, c.Expect, c.Command, c.Why)
		}
		if c.Expect == "danger" && strings.Contains(text, "danger") {
			danger++
		}
	}
	t.Logf("%d of %d read-only commands prompt; %d danger cases recognised as such; %d that may ask do no harm when they run", prompts, seen, danger, harmless)
	if prompts*20 > seen {
		t.Errorf("%d of %d read-only commands prompt: at most one in twenty may", prompts, seen)
	}
}

func firstWhy(text string) string {
	var got struct {
		Metadata struct {
			Accesses []struct{ Decision, Subject, Why string }
		}
	}
	_ = json.Unmarshal([]byte(text), &got)
	for _, a := range got.Metadata.Accesses {
		if a.Decision != "allow" {
			return a.Subject + ": " + a.Why
		}
	}
	return text
}

// TestParserDifferentials: each of these runs pwn though some parser does not
// see it; a rule that denies pwn, or an opaque command, must stop it.
func TestParserDifferentials(t *testing.T) {
	list := labelled(t, "policy/parser-differentials.jsonl")
	s := newStage(t)
	s.prepare(t, "")
	c := labelledCase{}
	c.Policy.Default, c.Policy.Deny = "allow", []string{"pwn *"}
	policy := s.policy(t, c)
	allowed := 0
	for _, one := range list {
		var text string
		if err := json.Unmarshal(one.Input, &text); err != nil {
			t.Fatal(err)
		}
		if got, _ := decide(t, s.places.Replace("@W@"), policy, "bash", map[string]any{"command": text}); got == "allow" {
			allowed++
			t.Errorf("allowed: %q", text)
		}
	}
	t.Logf("%d of %d allowed", allowed, len(list))
}
