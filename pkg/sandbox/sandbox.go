// Package sandbox runs a command confined by the operating system.
//
// How far that reaches is the level, which every result names:
//
//   - L3 (Linux): namespaces for users, mounts, System V IPC and the network. The
//     whole file system is read-only but for the directories that Config lists,
//     secrets are covered, /dev holds the harmless devices, the network is a
//     loopback of its own. On top of that all that L2 has.
//   - L2 (Linux, no privilege needed): Landlock for files and signals, seccomp
//     for the kernel's more dangerous calls, and a gatekeeper outside the
//     sandbox that sees every program start, connection and, where Landlock is
//     blind, change of a file's metadata.
//   - L1 (macOS): a profile for sandbox-exec.
//   - L0: nothing.
//
// The command's process is made by [Config.Start] in the place of
// syscall.StartProcess, or forked by killtree as [Confiner.Prepare] says. Whoever
// starts it is its gatekeeper and must live as long as anything of it runs: a
// sandbox whose gatekeeper is gone can start no more programs.
package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// A Level says how far the operating system holds a command.
type Level int

// The levels, see the package's documentation.
const (
	L0 Level = iota
	L1
	L2
	L3
)

// String returns the level's name, such as "L2".
func (l Level) String() string { return fmt.Sprintf("L%d", int(l)) }

// MarshalText implements encoding.TextMarshaler.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (l *Level) UnmarshalText(text []byte) error {
	for known := L0; known <= L3; known++ {
		if string(text) == known.String() {
			*l = known
			return nil
		}
	}
	return fmt.Errorf("%q is no sandbox level", text)
}

// ErrLevel is returned when Config.Minimum is out of reach here.
var ErrLevel = errors.New("the sandbox level is out of reach")

// A Network says what a command may reach.
type Network string

// What a command may reach. Hosts is what Config.Hosts lists, through a proxy.
const (
	Loopback Network = "loopback" // servers of its own and nothing else; the zero value means this
	NoNet    Network = "none"     // no address at all; at L2 as Loopback
	Hosts    Network = "hosts"    // Loopback and the listed hosts
	Open     Network = "open"     // everything
)

// ViewStep stands in the error for a view of the root that the kernel does not make.
const ViewStep = "showing the root through an overlay"

// A Config says what a command may touch. Paths are absolute and resolved.
// It travels to the process that starts the command as JSON.
type Config struct {
	Level   Level // the highest to use; 0 for the highest there is
	Minimum Level // Start fails with ErrLevel below it

	Root      string   // the workspace: read and written
	Sealed    bool     // it is only read, but for what of it is in ReadWrite
	ReadWrite []string // further directories that are: temp, caches; those that are missing are passed over
	Readable  []string // what can be read beside these; nil for everything
	Granted   []string // of ReadWrite, Readable and Listed, what the call itself was given: nothing else that a link leads to by then
	Listed    []string // directories whose names can be listed, with those below them
	ReadOnly  []string // what inside these stays as it is, such as .git/hooks; see also Watch
	Settings  []string // of ReadOnly: git's settings of the repository and its submodules, which change as far as git then runs nothing for it
	Remotes   []string // hosts that remotes in Settings may get, in the form of Hosts
	Watched   []string // put back afterwards where it was changed, or removed without the directory that it is in
	Hidden    []string // files and directories whose content cannot be read: secrets, our own state
	Pinned    []string // the directories above these cannot be moved away
	Named     []string // directories that keep their names, unless one above them is moved
	Stays     []string // directories of ReadWrite that are put back in their places, as Root is
	Removable []string // those of Hidden below Root that may be removed all the same; they are kept in Quarantine
	Covers    string   // directory of ours for what is put over what is hidden
	Private   []string // our own state, which changes while the command runs; best in ReadOnly and Hidden too

	Quarantine string // where what is removed is kept
	Moves      string // a file that is locked alone for a removal; "" for none

	// View is a directory of ours with the directories upper and work in it. The command
	// then sees Root through an overlay: what it changes is kept in upper, and Root stays
	// as it is. It takes L3, as Minimum; "" for none.
	View string

	Network Network
	Hosts   []string // for Network Hosts: name, *.name for what lies below name, * for every name, or address, with :port, :* for all, or for the usual ones: 22, 80, 443, 9418
	Refused []string // in the same form: what a *.name in Hosts does not mean; without a port for all of them

	// Share is a directory of the session, private to the user: commands that name the
	// same one share their loopback at L3 while one of them lives; "" for one of its own.
	Share string

	Publish []int // ports of that loopback that the machine's own answers at, too, while the command lives

	SetUser bool // the command may make programs that run with their owner's rights

	Limits Limits // what the command may use

	Gate    bool            // decide each program start
	Emptied bool            // with Gate and without View the Decider is told of each file of Root that loses what it holds, see Exec.Emptied
	Copies  []string        // absolute paths of programs that count as themselves under any other name: copied, linked or in memory
	Policy  json.RawMessage // for the function that makes the Decider; not read here
	Sockets []string        // sockets of others in the file system that the command may connect to
	Report  string          // file that is appended to as things happen, see ReadReport; "" for none

	TestLandlock int `json:",omitempty"` // tests: the version of an older kernel's Landlock; 0 for the one there is

	entries []string               // see unmounted
	types   map[string]fs.FileMode // of those
}

// Limits bound what a command may use, so that one that multiplies or never stops
// writing does not take the machine with it. 0 is for none.
type Limits struct {
	Processes int   // of the command's user, threads counted; see killtree.Options.MaxProcesses for what bounds root
	File      int64 // bytes of one file that is written
	Memory    int64 // bytes of data of one process
	Total     int64 // bytes of memory of all processes together, for killtree.Options.MaxMemory
}

// DefaultLimits are generous: they stop what has run wild.
func DefaultLimits() Limits { return Limits{Processes: 8192, File: 64 << 30, Total: 1 << 50} }

// check reports what is wrong with c before anything is started.
func (c *Config) check() error {
	for _, list := range [][]string{{c.Root}, orNone(c.Share), orNone(c.View), c.ReadWrite, c.Readable, c.Listed, c.ReadOnly, c.Watched, c.Hidden, c.Private, c.Copies} {
		for _, p := range list {
			if !filepath.IsAbs(p) || strings.ContainsRune(p, 0) {
				return fmt.Errorf("configuring the sandbox: %q is no absolute path", p)
			}
		}
	}
	if c.View != "" && c.Minimum < L3 {
		return fmt.Errorf("configuring the sandbox: a view of the root takes %s", L3)
	}
	for _, h := range slices.Concat(c.Hosts, c.Refused) {
		if _, err := parseHost(h); err != nil {
			return fmt.Errorf("configuring the sandbox: %w", err)
		}
	}
	switch c.Network {
	case "", Loopback, NoNet, Hosts, Open:
		return nil
	}
	return fmt.Errorf("configuring the sandbox: network %q is unknown", c.Network)
}

func orNone(path string) []string {
	if path == "" {
		return nil
	}
	return []string{path}
}

// writable lists what the command may write below: not a directory that is
// protected as a whole, and with it what it holds.
func (c *Config) writable() []string {
	if c.entries != nil {
		return c.entries
	}
	all := c.ReadWrite
	if !c.Sealed {
		all = append([]string{c.Root}, all...)
	}
	all = slices.Clone(all)
	return slices.DeleteFunc(all, func(dir string) bool { return belowAny(dir, c.ReadOnly) })
}

// sharedMemory is where programs of Linux share memory by name. Without mounts of its
// own a command shares it with the user's other programs.
const sharedMemory = "/dev/shm"

// changeable lists what the command may change: what it may write, and shared memory.
func (c *Config) changeable() []string {
	if c.entries != nil { // it is among them
		return c.entries
	}
	return append(c.writable(), sharedMemory)
}

// inShared lists the entries of shared memory that hold what the call has rules for: they
// are files like others.
func (c *Config) inShared() (list []string) {
	for _, path := range slices.Concat([]string{c.Root}, c.ReadWrite, c.ReadOnly, c.Hidden, c.Private) {
		if rel, ok := safefile.Rel(sharedMemory, path); ok && rel != "." {
			name, _, _ := strings.Cut(rel, "/")
			list = append(list, filepath.Join(sharedMemory, name))
		}
	}
	return list
}

// unmounted is c for where there are no mounts that could keep what is private
// from the command: a writable directory that holds it counts as its entries
// without it. So nothing new can be made right in such a directory.
func (c *Config) unmounted() *Config {
	kept := c.kept()
	u := *c
	u.entries, u.types = []string{}, map[string]fs.FileMode{}
	for _, dir := range c.changeable() {
		kept := kept
		if dir == sharedMemory {
			kept = c.inShared()
		}
		if slices.ContainsFunc(kept, func(k string) bool { return safefile.Below(dir, k) }) {
			for _, e := range aroundIn(dir, kept, nil) {
				if e.mode&os.ModeSymlink == 0 { // not what leads elsewhere
					u.entries = append(u.entries, e.path)
					u.types[e.path] = e.mode
				}
			}
		} else {
			u.entries = append(u.entries, dir)
		}
	}
	return &u
}

// kept lists what is private, or what protected directory holds it.
func (c *Config) kept() []string {
	list := slices.Clone(c.Private)
	for i, private := range list {
		for _, path := range c.ReadOnly {
			if safefile.Below(path, private) && len(path) < len(list[i]) {
				list[i] = path
			}
		}
	}
	return list
}

// network returns the mode that c means.
func (c *Config) network() Network {
	if c.Network == "" {
		return Loopback
	}
	return c.Network
}

// An Exec is the start of a program, as the kernel is about to do it.
type Exec struct {
	Path     string   // absolute path of the file, links resolved; of a file in memory what the kernel calls it
	Named    string   // the path as the caller gave it
	Argv     []string // the words it gets
	Cwd      string
	Pid      int    // of the process, as the gatekeeper sees it
	Script   string // the script for which Path is the interpreter; "" for none
	Loaded   bool   // Path is run by the dynamic loader that the command called itself
	Original string // the path in Config.Copies that Path is the same as under another name; "" for none
	InMemory bool   // the file has no name in the file system: a memfd, or deleted

	// Host is a host and port that the command is about to reach. Nothing else is set
	// then: no program is started.
	Host string

	// Emptied is a file of Config.Root, or one that has several names, that a program is about to empty by opening it, or to
	// put another in the place of, or to remove, or to give another name; the answer does not count. Nothing else is set then but Replaced,
	// which says that it is one of the next two, Removed, that it is the second of them, Moved, the name where it is the last, Inode, the
	// file's device and number, Links, how many names it has, and Pid.
	Emptied  string
	Replaced bool
	Removed  bool
	Moved    string
	Links    uint64
	Inode    [2]uint64

	// Parents returns the processes above it, the nearest first, as far as the
	// command goes.
	Parents func() []int
	// Environ returns the environment it gets. It is to be called before the
	// Decider returns, and nil when it cannot be read any more.
	Environ func() []string
}

// An Answer is what a Decider decides.
type Answer struct {
	Allow bool
	Rule  string // the rule that decided, for the report
	Why   string // a sentence for the model
	Grant string // a rule that would allow it; "" where none can
}

// A Decider decides a program start, and whether a host is reached that Config.Hosts
// does not list; it is told of what is emptied. It is called in parallel, and while it
// has not answered the process waits, and only that; ctx ends with the sandbox.
type Decider func(ctx context.Context, e *Exec) Answer
