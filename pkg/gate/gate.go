// Package gate decides about the programs that a confined command starts, by
// the policy that has decided about the command.
//
// The command's text was judged before it ran; here the kernel's own list of
// programs is, after every expansion, whoever started them: a shell, xargs,
// make, a script. What a rule denies does not run. What a rule asks about, and
// what is dangerous, runs only if it stood in the call that was allowed, or
// someone says so while it waits. Where no rule speaks the program is a child
// of something that was allowed, and runs: the sandbox holds it.
package gate

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/agentkit-go/agentkit/pkg/machine"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/programs"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/sandbox"
	"github.com/agentkit-go/agentkit/pkg/shellparse"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

// An Order is what the process that holds the command has to know.
type Order struct {
	Sources policy.Sources // where the policy comes from
	Hash    string         // what it was when the command was allowed
	Allowed []string       // see Key: the programs that stood in the call
	// Patterns are those with words that stand for names in temporary directories, or below the
	// directory of the program, where that lies in the root.
	Patterns   []string
	Paths      []string        // the beginnings of those that take away any file of the root, which is kept
	Temp       []string        // directories that a command may use freely
	SharedTemp []string        // temporary directories that hold the root: a command is free to use what mktemp makes there
	Kept       bool            // undo takes back what is changed in the root
	Keeper     json.RawMessage `json:",omitempty"` // what a [Keeper] has to know that is made of this
	Begun      time.Time       // of the call
}

// anyWords stands in Order.Patterns for words that were not known, of which there may be any number.
const anyWords = "\x01"

// tick is how much the time of a file may lag behind the clock.
const tick = 20 * time.Millisecond

// New describes the gate of one command. The accesses are those of the call,
// all of which were allowed, by rules or by someone; kept says that undo takes back what
// the command changes in the root, whatever that is, and keeper is for whoever makes a [Keeper] of the Order.
func New(s *policy.Sources, p *policy.Policy, accesses []policy.Access, temp, shared []string, kept bool, keeper json.RawMessage) (json.RawMessage, error) {
	o := Order{Sources: *s, Hash: p.Hash(), Temp: temp, SharedTemp: shared, Kept: kept, Keeper: keeper, Begun: time.Now().Add(-tick)}
	o.Sources.Tested = true
	for i := range accesses {
		a := &accesses[i]
		if a.Kind != policy.Exec || len(a.Argv) == 0 {
			continue
		}
		program := a.Program
		if program == "" && !a.Builtin && !strings.Contains(a.Argv[0], "/") && (a.Dynamic == nil || !a.Dynamic[0]) {
			program = a.Argv[0] // of a PATH that the command sets, whichever that finds
		}
		switch {
		case program == "":
		case a.Dynamic == nil:
			o.Allowed = append(o.Allowed, Key(program, a.Argv))
		case scratched(a, temp):
			o.Patterns = append(o.Patterns, Key(program, a.Argv))
		case programs.IsLoss(a.Danger) && !a.Dynamic[0]: // somebody has said yes to whatever it is given
			words := slices.Clone(a.Argv)
			for i, dynamic := range a.Dynamic {
				if dynamic {
					words[i] = anyWords
				}
			}
			o.Patterns = append(o.Patterns, Key(program, words))
		default:
			if n := programs.PathsAlone(a.Argv, a.Dynamic); n > 0 {
				o.Paths = append(o.Paths, Key(a.Program, a.Argv[:n]))
			}
		}
	}
	return safefile.EncodeJSON(o)
}

// Key names the start of a program with its words.
func Key(program string, argv []string) string {
	return program + "\x00" + strings.Join(argv[min(1, len(argv)):], "\x00")
}

// stood reports whether a program with its words, started in cwd, stood in the call, be it with a new name
// in a temporary directory that the text only has a stand-in for.
func (g *gate) stood(program string, argv []string, cwd string) bool {
	if g.allowed[Key(program, argv)] {
		return true
	}
	for i, k := range slices.Concat(g.order.Allowed, g.order.Patterns) {
		words := strings.Split(k, "\x00")
		if words[0] == program && g.fits(words[1:], argv[min(1, len(argv)):], i >= len(g.order.Allowed), cwd) {
			return true
		}
	}
	return false
}

// named is stood for a program whose place was not known, since the command sets PATH: whichever that has found. Rules for
// a place have not been asked about it.
func (g *gate) named(program string, argv []string, cwd string) bool {
	return g.stood(filepath.Base(program), argv, cwd)
}

// onPaths reports whether git is started as in the call, with paths that it did not know, in the
// repository that it was decided for.
func (g *gate) onPaths(program string, e *sandbox.Exec) bool {
	n := programs.PathsAlone(e.Argv, nil)
	return n > 0 && slices.Contains(g.order.Paths, Key(program, e.Argv[:n])) && safefile.Below(g.workspace.Root(), e.Cwd) && !g.nested(e.Cwd)
}

// fits compares words with those of the call, in which a pattern stands for names where
// patterns is set, one at least, and anyWords for any number of words.
func (g *gate) fits(call, words []string, patterns bool, cwd string) bool {
	inRoot := safefile.Below(g.workspace.Root(), cwd)
	at, next := make([]bool, len(call)+1), make([]bool, len(call)+1) // how many words of the call may have been used up
	at[0] = true
	skip := func(at []bool) {
		for i, c := range call {
			at[i+1] = at[i+1] || at[i] && patterns && c == anyWords
		}
	}
	skip(at)
	for _, w := range words {
		clear(next)
		for i, c := range call {
			switch {
			case !at[i]:
			case patterns && c == anyWords:
				next[i] = true
			case w == c, g.made(c, w):
				next[i+1] = true
			case patterns && (patternIn(c, g.order.Temp) || inRoot && patternBelow(c)) && matches(c, w):
				next[i], next[i+1] = true, true
			}
		}
		skip(next)
		at, next = next, at
	}
	return at[len(call)]
}

// matches reports whether the shell makes a name of a pattern.
func matches(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil && !(strings.HasPrefix(path.Base(name), ".") && !strings.HasPrefix(path.Base(pattern), "."))
}

// scratched reports whether what is not known of a removal are names that a pattern stands for: in
// temporary directories, those that were there the call was decided for, and
// the command has made the others; in the root, what there is then is kept, or somebody has said yes.
func scratched(a *policy.Access, temp []string) bool {
	if filepath.Base(cmp.Or(a.Program, a.Argv[0])) != "rm" || len(a.Dynamic) != len(a.Argv) {
		return false
	}
	for i, dynamic := range a.Dynamic {
		if dynamic && !patternIn(a.Argv[i], temp) && !patternBelow(a.Argv[i]) {
			return false
		}
	}
	return true
}

// patternIn reports whether a word is a plain pattern of names right in a temporary
// directory, which nothing can take the place of.
func patternIn(word string, temp []string) bool {
	return plainPattern(word) && slices.Contains(temp, strings.TrimSuffix(word[:strings.LastIndexByte(word, '/')+1], "/"))
}

// patternBelow reports whether a word is a plain pattern of names right in the directory of the program,
// or in one below it.
func patternBelow(word string) bool {
	return plainPattern(word) && !path.IsAbs(word) && !slices.Contains(strings.Split(word, "/"), "..")
}

// plainPattern reports whether the last part of a word, and no other, is a pattern in which nothing is quoted.
func plainPattern(word string) bool {
	dir, base := path.Split(word)
	return strings.ContainsAny(base, "*?") && !strings.ContainsAny(dir, "*?") && !strings.ContainsAny(word, "\"'`$\\{}[]~() \t\n\x00")
}

// made reports whether a name is one that mktemp made of a template; beside the root one that
// is new, for other people's have names, too, and does not lead to the root.
func (g *gate) made(template, name string) bool {
	in := func(dir string) bool { return madeFor(dir, template, name) }
	return slices.ContainsFunc(g.order.Temp, in) || slices.ContainsFunc(g.order.SharedTemp, func(dir string) bool {
		first, _, _ := strings.Cut(strings.TrimPrefix(name, dir+"/"), "/")
		return in(dir) && !safefile.Below(dir+"/"+first, g.workspace.Root()) && machine.BornSince(dir+"/"+first, g.order.Begun)
	})
}

// madeFor reports whether a name in a temporary directory is one that mktemp makes of a
// template, the stand-in for it, or a name below it. The stand-in for a number has not as many digits.
func madeFor(dir, template, name string) bool {
	template, ok := strings.CutPrefix(template, dir+"/")
	name, below := strings.CutPrefix(name, dir+"/")
	end := strings.IndexByte(template+"/", '/')
	last := strings.LastIndex(template[:end], "XXX")
	if !ok || !below || last < 0 {
		return false
	}
	from := last
	for from > 0 && template[from-1] == 'X' {
		from--
	}
	last += len("XXX")
	if len(name) < from || name[:from] != template[:from] {
		return false
	}
	if rest := strings.TrimLeft(name[from:], "0123456789"); len(rest) < len(name)-from && rest == template[last:] {
		return true
	}
	return len(name) == len(template) && name[last:] == template[last:] && strings.Trim(name[from:last], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}

// An Asker lets someone decide about a program that the policy asks about,
// which waits meanwhile; dir is where it starts. It is not called in parallel.
// reason is why not.
type Asker func(ctx context.Context, a policy.Access, dir string) (yes bool, reason string)

// A Keeper keeps what a start of git, rm and the like takes away, so that undo can bring it back, and reports
// whether it could; else the start is decided as without.
type Keeper func(ctx context.Context, e *sandbox.Exec) bool

// BuildWith returns a [Build] whose Decider asks, and has what git, rm and the like take away be kept; either may be nil. An
// answer counts for the same words, directory and environment for as long as the command runs, and
// after five refusals nobody is asked any more.
func BuildWith(ask Asker, keep Keeper) func(order json.RawMessage) (sandbox.Decider, error) {
	return func(order json.RawMessage) (sandbox.Decider, error) { return build(order, ask, keep) }
}

// Build makes the Decider of an Order; what the policy asks about is refused. It
// loads the policy, which takes about a millisecond, so it is called only when
// there is something to decide.
func Build(order json.RawMessage) (sandbox.Decider, error) { return build(order, nil, nil) }

func build(order json.RawMessage, ask Asker, keep Keeper) (sandbox.Decider, error) {
	var o Order
	if err := safefile.DecodeJSON(order, &o); err != nil {
		return nil, fmt.Errorf("reading the gate's order: %w", err)
	}
	p, err := policy.Load(&o.Sources)
	if err != nil {
		return nil, fmt.Errorf("loading the policy for the gate: %w", err)
	}
	if p.Hash() != o.Hash {
		return nil, fmt.Errorf("the policy has changed since the command was allowed")
	}
	w, err := workspace.Open(o.Sources.Root, workspace.Options{Home: o.Sources.Home})
	if err != nil {
		return nil, fmt.Errorf("opening the root for the gate: %w", err)
	}
	g := &gate{policy: p, workspace: w, order: &o, ask: ask, keep: keep, allowed: map[string]bool{}, begun: map[int]string{}, approved: map[string]bool{}, refused: map[string]string{}}
	for _, k := range o.Allowed {
		g.allowed[k] = true
	}
	return g.decide, nil
}

type gate struct {
	policy    *policy.Policy
	workspace *workspace.Workspace
	order     *Order
	ask       Asker             // nil for nobody
	keep      Keeper            // nil for none
	allowed   map[string]bool   // what stood in the call
	asking    sync.Mutex        // one question at a time; guards the answers
	starting  sync.Mutex        // guards begun
	begun     map[int]string    // programs that stood in the call and have begun, by process
	approved  map[string]bool   // what someone said yes to
	refused   map[string]string // and no, with why
}

// maxRefused is how many answers may be no before the rest is taken to be: a
// command must not tire out whoever answers.
const maxRefused = 5

// approve asks, unless the answer is known by the time it is our turn. It counts
// for the same words in the same place with the same environment.
func (g *gate) approve(ctx context.Context, a *policy.Access, e *sandbox.Exec) (yes bool, why string) {
	g.asking.Lock()
	defer g.asking.Unlock()
	k := Key(a.Program, a.Argv) + "\x00" + e.Cwd + "\x00" + surroundings(e) + "\x00" + e.Host
	switch {
	case ctx.Err() != nil:
		return false, "the command has ended"
	case g.approved[k]:
		return true, ""
	}
	if why, no := g.refused[k]; no {
		return false, why
	}
	if len(g.refused) >= maxRefused {
		return false, "several others were refused before"
	}
	if yes, why = g.ask(ctx, *a, e.Cwd); yes {
		g.approved[k] = true
	} else {
		g.refused[k] = why
	}
	return yes, why
}

// surroundings is everything beside its words that a program is given, but for
// what every shell changes.
func surroundings(e *sandbox.Exec) string {
	if e.Environ == nil || len(e.Argv) == 0 {
		return e.Named
	}
	env := slices.DeleteFunc(slices.Clone(e.Environ()), func(s string) bool {
		name, _, _ := strings.Cut(s, "=")
		return slices.Contains([]string{"_", "SHLVL", "PWD", "OLDPWD"}, name)
	})
	slices.Sort(env)
	sum := sha256.Sum256([]byte(e.Argv[0] + "\x00" + strings.Join(env, "\x00")))
	return string(sum[:])
}

// decide answers for one start.
func (g *gate) decide(ctx context.Context, e *sandbox.Exec) sandbox.Answer {
	if e.Host != "" {
		return g.decideHost(ctx, e)
	}
	program := cmp.Or(e.Original, e.Path)
	if e.Original == "" && (g.stood(program, programs.Undashed(program, e.Argv), e.Cwd) || g.onPaths(program, e)) {
		g.begins(program, e)
		return sandbox.Answer{Allow: true}
	}
	var argv []string // the words after the program
	if len(e.Argv) > 0 {
		argv = e.Argv[1:]
	}
	for i, name := range names(program, e.Argv) {
		if a := g.decideAs(ctx, e, program, append([]string{name}, argv...), i > 0); !a.Allow {
			return a
		}
	}
	if filepath.Base(program) == "git" && e.Original == "" { // what it starts itself is its own work
		g.notes(program, e)
	}
	return sandbox.Answer{Allow: true}
}

// names are the programs that a start amounts to: the file, and the one that its
// first word says where the same file is several (busybox, git-push).
func names(program string, argv []string) []string {
	list := []string{program}
	if len(argv) > 0 {
		base := strings.TrimPrefix(filepath.Base(argv[0]), "-")
		switch {
		case base == filepath.Base(program) || base == "" || base == "." || base == "/":
		case programs.GitName(base) != "":
			list = append(list, filepath.Join("/usr/lib/git-core", base))
		default:
			list = append(list, filepath.Join("/usr/bin", base))
		}
	}
	return list
}

// decideAs answers for a start by these words. claimed says that the program is
// the one that its first word names: that counts where a rule speaks of it, for
// anybody may choose the word; of programs that are many, always.
func (g *gate) decideAs(ctx context.Context, e *sandbox.Exec, program string, argv []string, claimed bool) sandbox.Answer {
	many := programs.Has("busybox toybox coreutils git", filepath.Base(program))
	accesses := g.withRemotes(e, argv, shellparse.Argv(argv, g.world(e)).Accesses)
	for _, a := range accesses {
		publishes := a.Publishes && !g.carries(e, program)
		if a.Kind != policy.Exec && !publishes || a.Builtin && a.Danger == "" {
			continue
		}
		a.Tool = "bash"
		if a.Program == "" && len(a.Argv) > 0 && filepath.IsAbs(a.Argv[0]) {
			a.Program = a.Argv[0]
		}
		if g.stood(a.Program, a.Argv, e.Cwd) {
			continue
		}
		d := g.policy.Decide(&a)
		if d.Verdict == policy.Allow || d.Default && (a.Danger == "" || g.named(a.Program, a.Argv, e.Cwd) || claimed && !many || g.settled(a)) && !publishes {
			continue
		}
		if !publishes && !a.Publishes && (g.inner(e, program, &a, d.Default) || d.Default && g.kept(e, a.Danger, accesses)) {
			continue
		}
		if keepable := d.Verdict == policy.Ask && d.Default && !publishes && !a.Publishes && e.Original == ""; g.keep != nil && keepable && mayKeep(&a) {
			if name := filepath.Base(program); programs.IsShell(name) || programs.StartsOthers(name) {
				continue // it comes here itself, when it starts
			}
			if filepath.Base(program) == filepath.Base(a.Program) && g.keep(ctx, e) {
				continue
			}
		}
		if d.Verdict == policy.Ask && g.ask != nil {
			if a.Dynamic != nil {
				continue // it comes here itself, with all its words
			}
			yes, reason := g.approve(ctx, &a, e)
			if yes {
				continue
			}
			return sandbox.Answer{Rule: d.Rule, Why: refusal(reason)}
		}
		text := why(&a, &d, a.Program != argv[0])
		switch {
		case d.Verdict != policy.Ask:
		case a.Publishes:
			text += "; in a call of its own it is asked about"
		case d.Default && programs.IsLoss(a.Danger):
			text += "; in a call of its own it is decided by what would be lost"
		}
		return sandbox.Answer{Rule: d.Rule, Why: text}
	}
	return sandbox.Answer{Allow: true}
}

// unknownPlace reports whether an access changes something at a host that is not known.
func unknownPlace(a policy.Access) bool { return a.Publishes && a.Host == "" }

// withRemotes has the accesses with the places that git knows by names: many are directories, which it may change. What
// its repository says is read where the command may write, in the root and in temporary directories.
func (g *gate) withRemotes(e *sandbox.Exec, argv []string, accesses []policy.Access) []policy.Access {
	argv = programs.Undashed("git", argv)
	if filepath.Base(argv[0]) != "git" || !slices.ContainsFunc(accesses, unknownPlace) {
		return accesses
	}
	world := g.world(e)
	dirs := slices.Concat([]string{g.workspace.Root()}, g.order.Temp, g.order.SharedTemp)
	world.ReadFile = func(name string) ([]byte, error) {
		return g.read(name, func(path string) bool {
			return slices.ContainsFunc(dirs, func(dir string) bool { return safefile.Below(dir, path) })
		})
	}
	accesses = slices.DeleteFunc(slices.Clone(accesses), unknownPlace)
	for _, a := range shellparse.Argv(argv, world).Accesses {
		if a.Publishes {
			a.Parent = 0
			accesses = append(accesses, a)
		}
	}
	return accesses
}

// carries reports whether a program is one that git starts to carry a push which may go on.
func (g *gate) carries(e *sandbox.Exec, program string) bool {
	name := strings.TrimPrefix(filepath.Base(program), "git-")
	if name == "git" && len(e.Argv) > 1 {
		name = e.Argv[1]
	}
	if e.Parents == nil || !strings.HasPrefix(name, "remote-") && !programs.Has("send-pack http-push", name) {
		return false
	}
	g.starting.Lock()
	defer g.starting.Unlock()
	pid := nearest(e)
	by := g.begun[pid]
	return strings.HasPrefix(filepath.Base(by), "git") && runs(pid, by) // its start may have failed, or it runs another program by now
}

// nested reports whether a directory lies in a repository in the root.
func (g *gate) nested(dir string) bool {
	for at := range safefile.Up(g.workspace.Root(), dir) {
		if at == g.workspace.Root() {
			break
		}
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return true
		}
	}
	return false
}

// mayKeep reports whether what a program takes away may be kept when it starts.
func mayKeep(a *policy.Access) bool {
	switch name := filepath.Base(a.Program); {
	case a.Builtin || len(a.Argv) == 0 || filepath.Base(a.Argv[0]) != name:
		return false
	case name == "git":
		return programs.GitMayLose(a.Danger)
	default:
		return programs.Has("rm rmdir unlink mv cp truncate", name) && programs.IsFileLoss(a.Danger)
	}
}

// settled reports whether an allow rule names what a program is started for. That less is known of it here than at
// the call, such as what a repository's settings say, takes nothing from the rule: the sandbox holds what it does.
func (g *gate) settled(a policy.Access) bool {
	a.Opaque = ""
	d := g.policy.Decide(&a)
	return d.Verdict == policy.Allow && !d.Default
}

// begins notes the process of a program that stood in the call and does work of
// its own: none that only starts another, and of shells and interpreters those
// that run a script, for other texts of theirs stood in the call themselves. What
// xargs starts itself is one with it.
func (g *gate) begins(program string, e *sandbox.Exec) {
	r, _ := programs.Lookup(filepath.Base(program))
	switch {
	case r == nil || r.Role == programs.NoRole && r.Code == "":
	case filepath.Base(program) == "xargs": // what it starts itself was judged in the call, by what would be lost
	case r.Role == programs.WrapperRole || len(e.Argv) < 2 || strings.HasPrefix(e.Argv[1], "-") && filepath.Base(program) != "git":
		return
	}
	g.notes(program, e)
}

func (g *gate) notes(program string, e *sandbox.Exec) {
	g.starting.Lock()
	defer g.starting.Unlock()
	g.begun[e.Pid] = program
}

// inner reports whether a start is part of the work of a program that stood in
// the call: what loses files belongs to it then, as rm to make clean, also by way of a
// shell, which make starts for patterns.
// Rules speak of it all the same, but where git starts git (stash, rebase).
func (g *gate) inner(e *sandbox.Exec, program string, a *policy.Access, byDefault bool) bool {
	name := filepath.Base(program)
	files := byDefault && (programs.Has("rm rmdir unlink find chmod chown mv cp truncate", name) || programs.IsShell(name) && programs.IsFileLoss(a.Danger))
	if e.Parents == nil || !files && !localGit(program, e.Argv) || e.Original != "" && filepath.Base(e.Original) != filepath.Base(e.Path) {
		return false
	}
	g.starting.Lock()
	defer g.starting.Unlock()
	itself := true // what lies between is the same program, as in git maintenance, which starts git gc, which starts git reflog, or a script of its own, as in git submodule
	for _, pid := range append([]int{e.Pid}, e.Parents()...) {
		began, ok := g.begun[pid]
		direct, by := pid == nearest(e), filepath.Base(began)
		if ok && (files && (direct || by != "xargs") || (direct || itself && pid != e.Pid) && by == "git" && runs(pid, began)) {
			return true
		}
		itself = itself && (pid == e.Pid || runs(pid, program) || g.runsScript(pid))
	}
	return false
}

// runs reports whether a process runs a program.
func runs(pid int, program string) bool {
	at, err := os.Stat("/proc/" + strconv.Itoa(pid) + "/exe")
	is, e := os.Stat(program)
	return err == nil && e == nil && os.SameFile(at, is)
}

// runsScript reports whether a process is a shell that runs a script of git's own.
func (g *gate) runsScript(pid int) bool {
	at := "/proc/" + strconv.Itoa(pid)
	shell, err := os.Readlink(at + "/exe")
	if err != nil || !programs.IsShell(filepath.Base(shell)) {
		return false
	}
	line, err := os.ReadFile(at + "/cmdline")
	words := strings.Split(string(line), "\x00")
	if err != nil || len(words) < 2 {
		return false
	}
	script := words[1]
	if !strings.HasPrefix(script, "/") {
		script = words[min(2, len(words)-1)] // the line that names the shell gives it an option
	}
	return filepath.IsAbs(script) && filepath.Base(filepath.Dir(script)) == "git-core" && script == filepath.Clean(script) &&
		!slices.ContainsFunc(append([]string{g.workspace.Root()}, g.order.Temp...), func(dir string) bool { return safefile.Below(dir, script) })
}

// kept reports whether a danger is a loss that undo takes back: one in the root.
func (g *gate) kept(e *sandbox.Exec, danger string, accesses []policy.Access) bool {
	return g.order.Kept && safefile.Below(g.workspace.Root(), e.Cwd) && (programs.IsLoss(danger) || programs.CodeLoses(danger)) && !slices.ContainsFunc(accesses, func(w policy.Access) bool {
		return w.Kind == policy.Write && w.Path != "" && !safefile.Below(g.workspace.Root(), w.Path)
	})
}

// localGit reports whether git is started for a subcommand that tells nobody
// anything.
func localGit(program string, argv []string) bool {
	if sub := programs.GitName(program); sub != "" {
		program, argv = "git", []string{"git", sub}
	}
	argv = programs.Undashed(program, argv)
	return filepath.Base(program) == "git" && len(argv) > 1 && !strings.HasPrefix(argv[1], "-") && !programs.Has("push send-pack send-email", argv[1])
}

// nearest is the process that starts e.
func nearest(e *sandbox.Exec) int {
	if list := e.Parents(); len(list) > 0 {
		return list[0]
	}
	return 0
}

// decideHost answers for a host that the command is about to reach, and that neither
// a rule nor the call has named.
func (g *gate) decideHost(ctx context.Context, e *sandbox.Exec) sandbox.Answer {
	a := policy.Access{Kind: policy.Net, Tool: "bash", Source: e.Host}
	host, port, err := net.SplitHostPort(e.Host)
	if err == nil {
		a.Host = host
		a.Port, err = strconv.Atoi(port)
	}
	if err != nil {
		return sandbox.Answer{Why: "that is no host"}
	}
	switch d := g.policy.Decide(&a); {
	case d.Verdict == policy.Allow:
		return sandbox.Answer{Allow: true}
	case d.Verdict == policy.Ask && g.ask != nil:
		yes, reason := g.approve(ctx, &a, e)
		return sandbox.Answer{Allow: yes, Rule: d.Rule, Why: refusal(reason)}
	case d.Verdict == policy.Ask:
		return sandbox.Answer{Rule: d.Rule, Why: "the policy asks about this host, and nobody was asked", Grant: g.grant(a)}
	default:
		return sandbox.Answer{Rule: d.Rule, Why: cmp.Or(d.Reason, "the policy does not let commands reach this host"), Grant: g.grant(a)}
	}
}

// grant is the rule that would let an access pass; "" where none can.
func (g *gate) grant(a policy.Access) string {
	if rules := g.policy.Narrowest([]policy.Access{a}); len(rules) > 0 {
		return rules[0]
	}
	return ""
}

func refusal(reason string) string {
	if reason == "" {
		return "a person refused it"
	}
	return "a person refused it: " + reason
}

// why is a sentence for the model; inner says that the program was to run
// another one, which is refused.
func why(a *policy.Access, d *policy.Decision, inner bool) string {
	text := d.Why
	switch {
	case a.Publishes:
		text = strings.Replace(text, "something there", "something at "+cmp.Or(a.Host, "a host that is not known"), 1)
	case inner:
		text = "it runs " + policy.Subject(a) + ", which " + text
	}
	if d.Reason != "" {
		text += ": " + d.Reason
	}
	if d.Verdict == policy.Ask {
		text += "; it did not stand in the call, so nobody was asked about it"
	}
	return text
}

// world is what the analysis may know: less than at the call, for here only
// the program itself matters.
func (g *gate) world(e *sandbox.Exec) *shellparse.World {
	environ := e.Environ
	var vars map[string]string
	getenv := func(name string) (string, bool) {
		if vars == nil {
			vars = map[string]string{}
			if environ != nil {
				for _, entry := range environ() {
					n, v, _ := strings.Cut(entry, "=")
					vars[n] = v
				}
			}
		}
		v, ok := vars[name]
		return v, ok
	}
	return &shellparse.World{
		Dir: e.Cwd, Root: g.workspace.Root(), Home: g.order.Sources.Home, Temp: g.order.Temp, SharedTemp: g.order.SharedTemp, Getenv: getenv,
		LookPath: func(name string) (string, bool) {
			path, _ := getenv("PATH")
			return machine.LookPath(name, path, e.Cwd)
		},
		Resolve: func(dir, name string) (policy.Access, error) {
			p, err := g.workspace.ResolveIn(dir, name)
			return p.Read("bash"), err
		},
		Peek: g.settings,
	}
}

// settings is the file of a repository's settings in the root, of which it is looked up whether a setting has the
// value that git config is to give it. No other file is read here.
func (g *gate) settings(name string) ([]byte, error) {
	return g.read(name, func(path string) bool {
		return filepath.Base(path) == "config" && safefile.InGit(path) && safefile.Below(g.workspace.Root(), path)
	})
}

// read reads a small file, of those that may be.
func (g *gate) read(name string, may func(path string) bool) ([]byte, error) {
	p, err := g.workspace.ResolveIn("/", name)
	if err != nil {
		return nil, err
	}
	if !may(p.Read("bash").Path) {
		return nil, errors.ErrUnsupported
	}
	return g.workspace.ReadFile(p, 256<<10)
}
