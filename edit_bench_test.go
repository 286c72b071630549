package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/edit"
)

// A duel is one task for agentkit and for a peer, each a process of its own
// over the same file.
type duel struct {
	name  string
	file  string
	ours  func(dir string) *exec.Cmd
	peer  string // the program
	their func(dir string) *exec.Cmd
	base  func(dir string) *exec.Cmd // the peer with next to nothing to do; nil to count all of its time
	fails bool                       // the peer is known to refuse
}

// BenchmarkBesidePeers runs agentkit and its peers in turn and reports medians
// of processor time and their ratio: below 1 is faster than the peer. CODEX
// and OPENCODE name those programs where they are not on PATH; what is not
// there is said to be missed.
func BenchmarkBesidePeers(b *testing.B) {
	binary := build(b)
	for _, d := range duels(b, binary) {
		b.Run(d.name, func(b *testing.B) {
			if _, err := os.Stat(d.peer); err != nil {
				b.Skipf("no %s: NOT compared", d.name)
			}
			var ours, theirs, ratios []float64
			for b.Loop() {
				us, them := d.time(b, d.ours, false), d.time(b, d.their, d.fails)
				if d.base != nil {
					them -= d.time(b, d.base, true)
				}
				ours, theirs, ratios = append(ours, us), append(theirs, them), append(ratios, us/them)
			}
			b.ReportMetric(median(ours), "ours-ms")
			b.ReportMetric(median(theirs), "peer-ms")
			b.ReportMetric(median(ratios), "ratio")
		})
	}
}

// time is the processor time in milliseconds of one run in a new directory.
func (d *duel) time(b *testing.B, command func(string) *exec.Cmd, fails bool) float64 {
	dir := b.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte(d.file), 0o600); err != nil {
		b.Fatal(err)
	}
	c := command(dir)
	c.Dir = dir
	c.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(dir, "state"), "XDG_CONFIG_HOME="+filepath.Join(dir, "config"))
	out, err := c.CombinedOutput()
	after, _ := os.ReadFile(filepath.Join(dir, "f"))
	if !fails && (err != nil || string(after) == d.file) {
		b.Fatalf("%s: %q: %v: %.500s", d.name, c.Path, err, out)
	}
	return float64((c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Microseconds()) / 1000
}

func median(all []float64) float64 {
	slices.Sort(all)
	return all[len(all)/2]
}

func program(env, name string) string {
	if p := os.Getenv(env); p != "" {
		return p
	}
	p, _ := exec.LookPath(name)
	return p
}

func duels(b *testing.B, binary string) []duel {
	gnu, codex, opencode := program("PATCH", "patch"), program("CODEX", "codex"), program("OPENCODE", "opencode")
	ours := func(patch string) func(string) *exec.Cmd {
		return func(string) *exec.Cmd {
			c := exec.Command(binary, "-o", "json", "patch", "-")
			c.Stdin = strings.NewReader(patch)
			return c
		}
	}
	piped := func(patch string, argv ...string) func(string) *exec.Cmd {
		return func(string) *exec.Cmd {
			c := exec.Command(argv[0], argv[1:]...)
			c.Stdin = strings.NewReader(patch)
			return c
		}
	}
	asApplyPatch := func(patch string) func(string) *exec.Cmd {
		return func(string) *exec.Cmd {
			c := &exec.Cmd{Path: codex, Args: []string{"apply_patch"}, Stdin: strings.NewReader(patch)}
			return c
		}
	}
	var list []duel
	lines := benchLines(100_000)
	changed := slices.Clone(lines)
	for i := 50; i < len(changed); i += 100 {
		changed[i] = fmt.Sprintf("\tchanged(%d)", i)
	}
	file, after := strings.Join(lines, "\n")+"\n", strings.Join(changed, "\n")+"\n"
	unified := edit.Diff("f", "f", []byte(file), []byte(after), 3)
	list = append(list, duel{"GNU patch, 1000 hunks in 100k lines", file, ours(unified), gnu, piped(unified, gnu, "-s", "-p0"), nil, false})

	envelope := benchEnvelope(lines, changed)
	list = append(list, duel{"codex apply_patch, 1000 hunks in 100k lines", file, ours(envelope), codex, asApplyPatch(envelope), nil, false})
	equal := strings.Repeat("same line\n", 20_000) + "the end\n"
	hunk := "*** Begin Patch\n*** Update File: f\n@@\n" + strings.Repeat(" same line\n", 500) + "-the end\n+the very end\n*** End Patch\n"
	list = append(list, duel{"codex apply_patch, 500 of 20k equal lines", equal, ours(hunk), codex, asApplyPatch(hunk), nil, false})

	return append(list, openCodeDuel(b, binary, opencode, 10_000, 20), openCodeDuel(b, binary, opencode, 20_000, 100))
}

// openCodeDuel is an edit of some lines, whose first and last are misquoted.
// OpenCode, which does not find them, takes seconds to start; that is measured
// with an edit of one word and taken off.
func openCodeDuel(b *testing.B, binary, opencode string, n, block int) duel {
	lines := benchLines(n)
	from := n/2 + 1
	old := slices.Clone(lines[from : from+block])
	for _, k := range []int{0, block - 1} {
		old[k] = "\tmisquoted " + old[k]
	}
	replaced := slices.Clone(old)
	replaced[block/2] = "\tchanged(1)"
	call := func(dir, from, to string) *exec.Cmd {
		raw, err := json.Marshal(map[string]any{"filePath": filepath.Join(dir, "f"), "oldString": from, "newString": to})
		if err != nil {
			b.Fatal(err)
		}
		c := exec.Command(opencode, "debug", "agent", "build", "--pure", "--tool", "edit", "--params", string(raw))
		return c
	}
	quoted, wanted := strings.Join(old, "\n"), strings.Join(replaced, "\n")
	return duel{
		name: fmt.Sprintf("OpenCode, %d of %d lines with first and last misquoted", block, n), file: strings.Join(lines, "\n") + "\n", peer: opencode, fails: true,
		ours: func(string) *exec.Cmd {
			raw, err := json.Marshal(map[string]any{"path": "f", "old_string": quoted, "new_string": wanted})
			if err != nil {
				b.Fatal(err)
			}
			return exec.Command(binary, "-o", "json", "edit", "--json", string(raw))
		},
		their: func(dir string) *exec.Cmd { return call(dir, quoted, wanted) },
		base: func(dir string) *exec.Cmd {
			if err := os.WriteFile(filepath.Join(dir, "f"), []byte("a\nb\n"), 0o600); err != nil {
				b.Fatal(err)
			}
			return call(dir, "a", "c")
		},
	}
}

// benchLines look like source.
func benchLines(n int) []string {
	words := strings.Fields("count index value result error buffer reader writer length offset parent child node token parse render update config option handler")
	lines := make([]string, n)
	for i := range lines {
		switch i * 7919 % 8 {
		case 0:
			lines[i] = "\t}"
		case 1:
			lines[i] = "\tif err != nil {"
		default:
			lines[i] = fmt.Sprintf("\t\t%s.%s(%s, %d)", words[i*31%20], words[i*17/20%20], words[i*13/400%20], i*7919%100_003)
		}
	}
	return lines
}

// benchEnvelope is a patch with a hunk for each line that differs.
func benchEnvelope(lines, changed []string) string {
	var b strings.Builder
	b.WriteString("*** Begin Patch\n*** Update File: f\n")
	for i := range lines {
		if lines[i] == changed[i] {
			continue
		}
		b.WriteString("@@\n")
		for k := i - 5; k < i+6; k++ {
			if k == i {
				b.WriteString("-" + lines[k] + "\n+" + changed[k] + "\n")
				continue
			}
			b.WriteString(" " + lines[k] + "\n")
		}
	}
	return b.String() + "*** End Patch\n"
}
