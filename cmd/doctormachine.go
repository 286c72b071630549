package cmd

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/killtree"
	"github.com/agentkit-go/agentkit/pkg/machine"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/sandbox"
)

// killReport says how a command and all it started can be ended.
func (a *app) killReport() finding {
	method := killtree.Probe(killtree.Options{Self: a.found.self()})
	switch method {
	case killtree.Group:
		return warning("allow user namespaces, or run where a cgroup can be made", "%s: what leaves its process group and session outlives the command", method)
	case killtree.Subreaper:
		hint := "allow user namespaces for a method that nothing escapes"
		if machine.CoversProc() {
			hint = "the container covers parts of /proc, so no process namespace can have one of its own; for a method that nothing escapes start it with --security-opt unmask=ALL (podman) or systempaths=unconfined (Docker)"
		}
		return warning(hint, "%s: everything is found, but only by looking at the process table", method)
	}
	return fine("%s", method)
}

// sandboxReport says how commands are confined here.
func (a *app) sandboxReport(context.Context) finding {
	have := sandbox.Probe()
	if held := machine.Probe(a.found.self()); held.Level < have.Level {
		have = sandbox.Enforced{Level: held.Level, Missing: []string{held.Missing()}}
	}
	if a.outer() {
		return fine("outer: something around agentkit confines, as --sandbox outer or the profile container says; nothing is held by agentkit; this machine offers %s", have.Level)
	}
	switch {
	case have.Level >= sandbox.L3:
		return fine("%s: %s", have.Level, strings.Join(have.Mechanisms, ", "))
	case have.Level > sandbox.L0:
		return warning("commands that are not known ask first where a secret that git does not track lies in the root; allow what is missing, or run where namespaces can be made",
			"%s: %s; not held: reading files inside the root, protected files while a command runs (they are put back); missing: %s", have.Level, strings.Join(have.Mechanisms, ", "), strings.Join(have.Missing, "; "))
	}
	return warning("commands that are not known ask first; run agentkit on a Linux with Landlock and seccomp; in a disposable container or virtual machine say --sandbox outer",
		"L0: commands are not confined; not held: files, network, programs; missing: %s", strings.Join(have.Missing, "; "))
}

// outer reports whether calls here count on something around agentkit.
func (a *app) outer() bool {
	env, err := a.place()
	if err != nil {
		return false
	}
	defer env.Workspace.Close()
	p, err := loadGranted(env, a.sources(env))
	return err == nil && p.Outer()
}

// slowStart is how long a start may take before it is worth a word.
const slowStart = 50 * time.Millisecond

// startReport starts this program a few times.
func (a *app) startReport(ctx context.Context) finding {
	if a.found.self() == "" {
		return warning("", "not measured: the program's own path is not known")
	}
	var took []time.Duration
	for range 5 {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		c := exec.CommandContext(ctx, a.found.self(), "version")
		c.Env = a.environ()
		start := time.Now()
		err := c.Run()
		took = append(took, time.Since(start))
		cancel()
		if err != nil {
			return warning("", "not measured: %v", err)
		}
	}
	slices.Sort(took)
	median := took[len(took)/2]
	detail := fmt.Sprintf("%.1f ms, the median of %d", float64(median.Microseconds())/1000, len(took))
	if median > slowStart {
		return warning("the machine may be busy, or something may inspect every program that starts", "%s", detail)
	}
	return fine("%s", detail)
}

// kernelReport says what the kernel offers for confining and ending commands.
func kernelReport() finding {
	name, features := machine.Kernel()
	spaces := slices.ContainsFunc(features, func(f machine.Feature) bool { return f.Name == "user namespaces" && f.Have != "" })
	var have, fixes []string
	for _, f := range features {
		switch {
		case f.Have != "":
			have = append(have, f.Name+" "+f.Have)
		case f.Name != "cgroups" || !spaces:
			have = append(have, "no "+f.Name)
		}
		if f.Fix != "" && (f.Name != "cgroups" || !spaces) {
			fixes = append(fixes, f.Name+": "+f.Fix)
		}
	}
	more := struct {
		Name     string            `json:"name"`
		Features []machine.Feature `json:"features"`
	}{name, features}
	detail := strings.Join(append([]string{name}, have...), "; ")
	if len(fixes) > 0 {
		return warning(strings.Join(fixes, "; "), "%s", detail).with(more)
	}
	return fine("%s", detail).with(more)
}

// A wall is one of those that hold a command to the policy.
type wall struct {
	Name  string   `json:"name"`
	Holds bool     `json:"holds"`
	How   string   `json:"how"`
	Open  []string `json:"open,omitempty"` // what it leaves open
}

// wallReport says what each wall holds here of the policy in force.
func (a *app) wallReport() finding {
	env, err := a.place()
	if err != nil {
		return warning("see root", "not looked at: there is no root")
	}
	defer env.Workspace.Close()
	p, err := loadGranted(env, a.sources(env))
	if err != nil {
		return warning("see policy", "not looked at: the policy cannot be used")
	}
	list := walls(p)
	var unheld []string
	for _, f := range policy.LintWall(p) {
		unheld = append(unheld, f.Rule)
	}
	var words []string
	for _, w := range list {
		text := w.Name + ": " + w.How
		if len(w.Open) > 0 {
			text += " (open: " + strings.Join(w.Open, ", ") + ")"
		}
		words = append(words, text)
	}
	more := struct {
		Walls  []wall   `json:"walls"`
		Unheld []string `json:"unheld"` // rules
	}{list, append([]string{}, unheld...)}
	detail := strings.Join(words, "; ")
	if len(unheld) > 0 {
		return warning("agentkit policy lint says why; what a rule cannot hold asks before it runs", "%s; rules that no wall holds: %s", detail, strings.Join(unheld, ", ")).with(more)
	}
	switch open := p.Unheld(); {
	case p.Outer(), len(open) == 0:
	case a.Sandbox == "off":
		return warning("leave --sandbox off, or the setting of it, out", "%s", detail).with(more)
	default:
		return warning("see sandbox and kernel for what is missing; until then what is not known asks before it runs", "%s", detail).with(more)
	}
	return fine("%s", detail).with(more)
}

// walls are the three of them, and what each holds at the level of a policy.
func walls(p *policy.Policy) []wall {
	text := wall{"text", true, "every command line is decided before it starts", nil}
	gate := wall{"programs", true, "each start of a program is decided when it happens", nil}
	kernel := wall{"files and network", true, "the kernel refuses what the policy does not allow", p.Unheld()}
	switch level := p.Level(); {
	case p.Outer():
		gate.Holds, gate.How = false, "not looked at: something around agentkit confines"
		kernel.Holds, kernel.How, kernel.Open = false, "held by what is around agentkit, or not at all", nil
	case level == 1:
		gate.Holds, gate.How = false, "not looked at on this system"
	case level == 0:
		gate.Holds, gate.How = false, "not looked at"
		kernel.Holds, kernel.How = false, "nothing holds what the text does not tell"
	}
	return []wall{text, gate, kernel}
}
