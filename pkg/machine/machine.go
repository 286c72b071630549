// Package machine knows what a call may use of the machine that it runs on: how
// commands can be confined and ended, where programs and temporary files are, the
// terminal, and which processes it descends from.
package machine

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/killtree"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/sandbox"
)

// machinesFile is where the state directory keeps what machines offer: a line
// each, in fields that tabs part. Every call reads it.
const machinesFile = "machines"

// maxMachines is how many are remembered: containers may share a state directory.
const maxMachines = 8

// A Machine is what was found about the sandbox and the ways to end commands.
type Machine struct {
	Level   sandbox.Level
	method  string // of killtree
	missing string // what a higher level lacks
}

// This is what this machine offers to this user. To try takes some
// milliseconds, so the answer is kept until the machine is started anew, or
// another user or program asks, or one that is held otherwise: where is what Where
// returns.
func This(state, self, where string) Machine {
	raw, _ := os.ReadFile(filepath.Join(state, machinesFile))
	known := strings.SplitAfter(string(raw), "\n")
	for _, line := range known {
		if m, ok := readMachine(line, where); ok {
			return m
		}
	}
	known = slices.DeleteFunc(known, func(line string) bool { return strings.HasPrefix(line, where+"\t") })
	m := Probe(self)
	if dir, err := safefile.OpenDir(state); err == nil && where != "" {
		text := m.line(where) + strings.Join(known[:min(len(known), maxMachines-1)], "")
		_ = dir.WriteFile(machinesFile, []byte(text), false) // only slower without
		_ = dir.Close()
	}
	return m
}

// Probe tries what this machine offers, whatever is remembered.
func Probe(self string) Machine {
	found := sandbox.Probe()
	m := Machine{found.Level, killtree.Probe(killtree.Options{Self: self}), oneLine(strings.Join(found.Missing, "; "))}
	if m.method == killtree.Group && m.Level > sandbox.L0 && runtime.GOOS == "linux" {
		// A sandbox is made by the init of a command, and there is none.
		m.Level, m.missing = sandbox.L0, "no command can be held together here: /proc, or namespaces and cgroups, are missing"
	}
	return m
}

// Missing is what a higher level than Level lacks.
func (m *Machine) Missing() string { return m.missing }

func (m *Machine) line(where string) string {
	return strings.Join([]string{where, m.Level.String(), m.method, m.missing, strconv.FormatInt(time.Now().Unix(), 10)}, "\t") + "\n"
}

// lessHolds is for how long it holds that a machine offers less than the most: what
// it lacked may have been for a moment only.
const lessHolds = 10 * time.Minute

// readMachine reads a line that is about the place where; "" is none.
func readMachine(line, where string) (m Machine, ok bool) {
	f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
	if where == "" || len(f) != 5 || f[0] != where || m.Level.UnmarshalText([]byte(f[1])) != nil {
		return Machine{}, false
	}
	m.method, m.missing = f[2], f[3]
	then, err := strconv.ParseInt(f[4], 10, 64)
	age := time.Since(time.Unix(then, 0))
	return m, err == nil && (m.Level == sandbox.L3 || age >= 0 && age < lessHolds)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Tree is how a command is started so that it can be ended.
func (m *Machine) Tree(self string) killtree.Options {
	o := killtree.Options{Self: self, Known: m.method}
	if m.Level == sandbox.L2 {
		o.Without = strings.TrimPrefix(m.missing, sandbox.L3.String()+": ")
	}
	return o
}

// Forget forgets what was found about the machine, when it turned out to be
// different.
func Forget(state string) {
	if dir, err := safefile.OpenDir(state); err == nil {
		_ = dir.Remove(machinesFile)
		_ = dir.Close()
	}
}

// Where tells one start of a machine, one container in it, one user and one
// build of ours from another; "" where that cannot be told.
func Where(self string) string {
	boot := bootID()
	info, err := os.Stat(self)
	if boot == "" || err != nil {
		return ""
	}
	return fmt.Sprintf("%s %s %d %d %d", boot, holders(), os.Geteuid(), info.Size(), info.ModTime().UnixNano())
}
