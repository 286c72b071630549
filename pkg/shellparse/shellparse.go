// Package shellparse says, before a command line runs, what it would do: which
// programs with which words, which files it reads and writes, which hosts it
// reaches, and what cannot be known.
//
// It describes and never decides. The rules it keeps:
//
//   - What is not understood is marked opaque, never left out. Text that does
//     not parse is still read as far as possible, so that deny rules see the
//     commands in it.
//   - Two parsers read the text. The tree of mvdan.cc/sh is the one that
//     counts; a command that only tree-sitter finds is added, marked opaque.
//   - A word is known when bash would build exactly these bytes from it;
//     anything else is dynamic, and a dynamic word that decides something
//     makes the command opaque.
//   - Programs are judged by what they do with these very arguments, from
//     tables of data (programs_*.go, wrappers.go, git*.go). An unknown option
//     of a program that has options which run or write something is opaque.
package shellparse

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/programs"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// MaxText is the length in bytes up to which a text is analysed in full; a
// longer one is read as far as deny rules need and is opaque.
const MaxText = 64 << 10

// A World is everything the analysis may know of the machine. It is only ever
// read. A nil function means that nothing is known of its subject, which makes
// opaque whatever depends on it.
type World struct {
	Dir  string   // the directory the command starts in; absolute
	Root string   // the workspace root; absolute, links resolved
	Home string   // what ~ stands for; "" when not known
	Temp []string // directories for temporary files
	// SharedTemp are those that hold the root, and other people's work: there only what is new is free.
	SharedTemp []string

	// Getenv gives the environment that the command will see, after any
	// start-up file.
	Getenv func(name string) (value string, ok bool)
	// LookPath finds a program as the command's PATH does; ok is false when
	// there is none.
	LookPath func(name string) (path string, ok bool)
	// Resolve finds what name, relative to dir, stands for: Path with every
	// symbolic link resolved, Named when it differs, File, and Links. A name
	// that does not exist is no error.
	Resolve func(dir, name string) (policy.Access, error)
	// ReadFile reads a small file: the configuration of a repository, a
	// script inside the root.
	ReadFile func(path string) ([]byte, error)
	// Keeps says that what rm takes away in the root is kept when it starts,
	// whatever it is given then.
	Keeps bool
	// Enters reports whether a command can go to a directory that is there; nil
	// for none of which that is certain.
	Enters func(dir string) bool
	// Makes reports whether a command can certainly make a directory in one that is there, and the
	// sandbox holds the command where it cannot; nil for none of which that is certain.
	Makes func(dir string) bool
	// Owns reports whether a directory belongs to whoever runs the command; nil for none of
	// which that is certain. In others' repositories git does nothing.
	Owns func(dir string) bool
	// Guarded reports whether a policy does not let a file be read just so.
	// nil means the names that usually hold secrets.
	Guarded func(path string) bool
	// Peek reads a file as ReadFile does, of which nothing is shown; nil for ReadFile.
	Peek func(path string) ([]byte, error)
	// Held says that the sandbox stops a write to what is protected in the root, or takes it back, so that a program that is
	// given such a file, and may only read it, need not be kept from it.
	Held bool
	// Glob gives the names that a pathname pattern expands to in dir, as the
	// shell writes them; a backslash in the pattern takes the meaning from
	// the next character. ok is false when it cannot tell.
	Glob func(dir, pattern string) (names []string, ok bool)
}

// A Command is one command found in the text, for display.
type Command struct {
	Words   []string // decoded; the source where a word is dynamic
	Dynamic []bool   // beside Words: not known before it runs; nil when all are known
	Source  string   // the piece of the text it stands in
	Access  int      // 1 + the index of its exec access
}

// An Analysis is what a command line would do.
type Analysis struct {
	// Accesses lists every need in the order found. What makes the text as a
	// whole opaque stands here too, as an exec access of one dynamic word.
	Accesses []policy.Access
	// Opaque lists, without repetition, every reason why something cannot be
	// known before it runs; empty when all is known.
	Opaque []string
	// Commands lists the exec accesses for display.
	Commands []Command
	// Broken says why the text as a whole does not parse, with the place; "" where it
	// does. The shell may still understand it.
	Broken string
	// Disagreements names the commands that only the second parser finds.
	Disagreements []string
}

// Analyze reads src as the text given to shell with -c: bash, zsh or sh, and
// any other name as an unknown POSIX shell, whose text is opaque. It takes
// time linear in src, never panics, and never returns nil. When ctx ends early
// the analysis is opaque.
func Analyze(ctx context.Context, src, shell string, world *World) *Analysis {
	w := newWalker(ctx, shell, world)
	w.contain(func() { w.text(src, 0); w.exits() })
	if steady := w.st.steady; len(steady) > 0 && w.st.gone == "" && w.st.parent == nil {
		w = newWalker(ctx, shell, world) // once more, with what a trap finds in the variables
		w.steady = steady
		w.contain(func() { w.text(src, 0); w.exits() })
	}
	return w.finish()
}

// Argv is Analyze for a program that is started without a shell: every word is
// what it looks like.
func Argv(argv []string, world *World) *Analysis {
	w := newWalker(context.Background(), "", world)
	w.contain(func() {
		w.src = strings.Join(argv, " ")
		words := make([]word, len(argv))
		for i, s := range argv {
			words[i] = word{Text: s}
		}
		if len(words) == 0 {
			w.whole("no command")
			return
		}
		c := w.newCall(words, programs.Cut(w.src))
		c.external = true
		w.program(c)
	})
	return w.finish()
}

// A walker carries one analysis.
type walker struct {
	ctx   context.Context
	world *World
	shell string
	src   string // the text being walked, which positions refer to
	out   *Analysis
	st    *scope
	names map[string]struct{} // first words found by the deciding parser

	steps int // work left; at 0 the rest is opaque
	depth int // nesting of scripts, functions and wrappers

	scripted bool // the commands stand in a file

	parent  int // 1 + the index of the exec access that causes what is walked
	pending []*function
	lists   listing  // what the last call prints that lists names of git's index
	piped   stream   // what the last pipeline prints
	numbers []string // variables whose values are evaluated as arithmetic
	fixed   []string // variables that may be read-only: a second value may not count
	arrays  []string // variables that are or may be lists
	own     bool     // the command that is walked has an input of its own
	reread  bool     // an option may have been set that changes how the shell reads the rest
	byName  bool     // a variable may stand for another
	vague   []string // variables that the shell changes as it sets them
	left    []string // directories in which the function being walked may have returned
	looped  bool     // a function called itself
	closed  bool     // a descriptor was closed, so that a later one may fail
	stdin   stream   // what the command being walked reads, when piped
	calls   []string
	later   bool             // walking what runs at another time than it is written
	steady  map[string]value // variables that hold the same from the first trap to the end
	dirty   bool             // something before may have changed files
	stirred bool             // the same, and other files than those in touched
	touched []string         // what commands before have made or written that do nothing else to files
	globs   bool             // the text says shopt: what a pattern stands for may hang on its options
	files   []resolved
	found   []resolved // programs by name, dir being the path
	links   []link
	astray  string   // why paths may go through links that are not known
	fetched []string // files that came from the network in this text
	memo    programs.Memo
	secrets *policy.SecretNames // when they were asked for
}

// Limits of one analysis. Work is counted in nodes, words and accesses.
const (
	maxSteps = 400_000
	maxDepth = 24
	maxList  = 4000 // accesses
)

func newWalker(ctx context.Context, shell string, world *World) *walker {
	if world == nil {
		world = &World{}
	}
	w := &walker{ctx: ctx, world: world, shell: shell, out: &Analysis{}, names: map[string]struct{}{}, steps: maxSteps}
	w.st = &scope{flow: flow{dirs: []string{world.Dir}}, process: &process{}}
	if world.Dir == "" {
		w.st.lost = "the directory is not known"
	}
	return w
}

// contain runs f and turns a panic, of ours or of a parser's, into opacity.
func (w *walker) contain(f func()) {
	defer func() {
		if r := recover(); r != nil {
			w.whole(fmt.Sprintf("the analysis failed: %v", r))
		}
	}()
	f()
}

// whole marks the text as a whole as opaque.
func (w *walker) whole(reason string) {
	for i := range w.out.Accesses {
		a := &w.out.Accesses[i]
		if a.Opaque == reason && len(a.Dynamic) == 1 && a.Dynamic[0] {
			return
		}
	}
	w.out.Accesses = append(w.out.Accesses, policy.Access{
		Kind: policy.Exec, Tool: "bash", Argv: []string{programs.Cut(w.src)}, Dynamic: []bool{true}, Opaque: reason, Source: programs.Cut(w.src),
	})
}

// spend takes n steps of work and reports whether there are any left.
func (w *walker) spend(n int) bool {
	if w.steps <= 0 {
		return false
	}
	w.steps -= n
	if w.steps > 0 && (w.steps>>10 == (w.steps+n)>>10 || w.ctx.Err() == nil) {
		return true
	}
	w.steps = 0
	w.whole("too much to follow")
	return false
}

func (w *walker) finish() *Analysis {
	a := w.out
	for i := range a.Accesses {
		x := &a.Accesses[i]
		if x.Kind == policy.Exec && len(x.Argv) > 0 {
			a.Commands = append(a.Commands, Command{Words: x.Argv, Dynamic: x.Dynamic, Source: x.Source, Access: i + 1})
		}
		if x.Opaque != "" && !slices.Contains(a.Opaque, x.Opaque) {
			a.Opaque = append(a.Opaque, x.Opaque)
		}
	}
	return a
}
