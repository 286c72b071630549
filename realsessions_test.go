package main

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/sandbox"
)

// A realAnswer is what policy check says of a command.
type realAnswer struct {
	Decision    string
	Suggestions []policy.Suggestion
	Accesses    []struct{ Kind, Subject, Decision, Why string }
	Error       any
}

// answers decides commands with the words of a command line.
func (p *realPlace) answers(t *testing.T, list []realCommand, words ...string) []realAnswer {
	t.Helper()
	var in, out, errs bytes.Buffer
	for _, c := range list {
		line, err := json.Marshal(map[string]any{"tool": "bash", "arguments": map[string]any{"command": c.Command}})
		if err != nil {
			t.Fatal(err)
		}
		in.Write(append(line, '\n'))
	}
	words = append(words, "--root", p.root, "policy", "check", "--batch")
	c := exec.Command(words[0], words[1:]...)
	c.Dir, c.Env, c.Stdin, c.Stdout, c.Stderr = p.root, p.environ(), &in, &out, &errs
	if err := c.Run(); err != nil {
		t.Fatalf("%q: %v\n%s", words, err, errs.Bytes())
	}
	got := make([]realAnswer, 0, len(list))
	for line := range bytes.Lines(out.Bytes()) {
		var a realAnswer
		if err := json.Unmarshal(line, &a); err != nil {
			t.Fatal(err)
		}
		got = append(got, a)
	}
	if len(got) != len(list) {
		t.Fatalf("%d answers to %d calls", len(got), len(list))
	}
	return got
}

// questions counts how often a person is asked who says yes for the session to
// every question, with the width in the middle of those that are offered.
func (p *realPlace) questions(t *testing.T, list []realCommand, words ...string) (n int, log []string) {
	t.Helper()
	var left []realCommand // a yes never makes another call ask
	for i, a := range p.answers(t, list, words...) {
		if a.Decision == "ask" {
			left = append(left, list[i])
		}
	}
	for len(left) > 0 {
		some := left[:min(len(left), 16)]
		var rest []realCommand
		asked := false
		for i, a := range p.answers(t, some, words...) {
			switch {
			case a.Decision != "ask":
			case asked:
				rest = append(rest, some[i]) // perhaps the yes covers it
			default:
				asked = true
				n++
				var rules []string
				if len(a.Suggestions) > 0 {
					rules = a.Suggestions[len(a.Suggestions)/2].Rules
				}
				log = append(log, some[i].Command+"\n\t\t"+strings.Join(rules, "  "))
				for _, rule := range rules {
					words = append(slices.Clip(words), "--allow", rule)
				}
			}
		}
		left = append(rest, left[len(some):]...)
	}
	return n, log
}

// TestRealSessions simulates a person who says yes for the session. The list names
// no sessions, so that all of it counts as one; what shorter ones would ask is
// printed.
func TestRealSessions(t *testing.T) {
	long(t)
	p := newRealPlace(t)
	for _, one := range []struct {
		name  string
		level sandbox.Level
		words []string
		most  float64 // questions per 100 commands
	}{
		{"L3", sandbox.L3, []string{"agentkit"}, 2},
		{"L0", sandbox.L0, []string{"agentkit", "--sandbox", "off"}, 6.5}, // 6 is the aim; which programs a machine has is worth some
	} {
		t.Run(one.name, func(t *testing.T) {
			if can := sandbox.Probe().Level; can < one.level {
				t.Skipf("NOT CHECKED: this machine reaches %s", can)
			}
			if one.level == sandbox.L0 && !everyCase() {
				t.Skip("SKIPPED: only with CASES=all")
			}
			n, log := p.questions(t, p.list, one.words...)
			per := 100 * float64(n) / float64(len(p.list))
			t.Logf("%d questions about %d commands, %.2f per 100", n, len(p.list), per)
			if per > one.most {
				t.Errorf("%.2f questions per 100 commands, want %v at most", per, one.most)
			}
			if os.Getenv("SHOW") != "" {
				t.Log(strings.Join(log, "\n"))
				for size := 100; size <= 400; size *= 2 {
					n := 0
					for at := 0; at < len(p.list); at += size {
						k, _ := p.questions(t, p.list[at:min(at+size, len(p.list))], one.words...)
						n += k
					}
					t.Logf("in sessions of %d commands: %.2f per 100", size, 100*float64(n)/float64(len(p.list)))
				}
			}
		})
	}
}

// TestOpenAsksNoMore: what the profile open asks about, workspace does not let pass.
func TestOpenAsksNoMore(t *testing.T) {
	long(t)
	p := newRealPlace(t)
	p.list = slices.DeleteFunc(p.list, func(realCommand) bool { return rand.IntN(4) > 0 }) // some, for their time
	for _, name := range []string{"safety", "policy", "benign"} {
		raw, err := os.ReadFile(filepath.Join("..", "shared", "cases", name, "cases.jsonl"))
		if err != nil {
			t.Skipf("REAL COMMANDS NOT CHECKED: %v", err)
		}
		places := strings.NewReplacer("@W@", p.root, "@H@", p.home, "@O@", filepath.Join(p.dir, "O"), "@B@", filepath.Join(p.dir, "B"))
		for line := range bytes.Lines(raw) {
			var c struct{ Command, Input string }
			if json.Unmarshal(line, &c) == nil && c.Command+c.Input != "" {
				p.list = append(p.list, realCommand{Command: places.Replace(c.Command + c.Input)})
			}
		}
	}
	if !everyCase() { // a third of all, another one each time
		p.list = slices.DeleteFunc(p.list, func(realCommand) bool { return rand.IntN(3) > 0 })
	}
	for _, words := range [][]string{{"agentkit"}, {"agentkit", "--sandbox", "off"}} {
		open, asks := p.answers(t, p.list, append(words, "--profile", "open")...), 0
		for i, a := range p.answers(t, p.list, words...) {
			if open[i].Decision != "ask" {
				continue
			}
			if asks++; a.Decision == "allow" {
				t.Errorf("%q: open asks about %s, workspace does not", words, p.list[i].Command)
			}
		}
		if asks == 0 {
			t.Errorf("%q: open asks about nothing of %d commands", words, len(p.list))
		}
		t.Logf("%q: open asks about %d of %d commands", words, asks, len(p.list))
	}
}
