package shellparse

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// A program is what is known of a program by its name.
type program struct {
	name     string
	class    policy.Class // when no option says otherwise
	opts     string       // its options; see rule
	operands string       // what its operands are; see roles
	style    style
	run      runner // how its words are read, when not by the table alone
	lead     int    // of a wrapper: operands before the inner program
	source   string // where the facts of a wrapper stand
}

// A runner names a reading of a program's words that a table cannot express.
type runner uint8

const (
	runTable runner = iota
	runEcho
	runWrapper
	runEnv
	runXargs
	runShell
	runStringWrapper // the operands joined are a shell's text
	runLogin         // su: -c text
	runMultiCall     // busybox: the first operand is the program
	runFind
	runSed
	runAwk
	runCopy
	runMove
	runLink
	runGit
	runTar
	runDD
	runFetch
	runRemote
	runInterpreter
	runMake
	runGo
	runScript
	runFlock
	runParallel
	runArgs // gdb --args
	runDate
	runTest
	runPrintEnv
	runSubcommand // a subcommand decides: see subcommands
	runJq
	runSplit
	runEditor
	runPatch
	runNpx
	runPager
	runSchedule
	runTmux
	runSocat
	runMail
	runUnpack
	runDocker
	runKubectl
	runHelm
	runYq
	runMagick
	runMedia
	runCMake
	runOpener
	runPs
	runHostname
)

// findProgram looks a program up; nil when nothing is known of it.
func findProgram(name string) *program {
	for _, table := range [...][]program{readPrograms[:], writePrograms[:], runPrograms[:], wrappers[:]} {
		if i, ok := slices.BinarySearchFunc(table, name, func(p program, n string) int { return cmp.Compare(p.name, n) }); ok {
			return &table[i]
		}
	}
	if name == "[" {
		return findProgram("test")
	}
	if i := strings.IndexByte(name, '.'); i > 0 && (strings.HasPrefix(name, "python") || strings.HasPrefix(name, "perl") || strings.HasPrefix(name, "ruby") || strings.HasPrefix(name, "lua")) {
		return findProgram(strings.TrimRight(name[:i], "0123456789"))
	}
	return nil
}

// special reads the words of a program that is known.
func (w *walker) special(c *call) {
	p := c.prog
	switch p.run {
	case runTable:
		w.options(c, p.opts, p.style)
		w.operands(c, p.operands)
	case runEcho:
		c.args = c.words[1:]
	case runWrapper:
		w.wrapper(c)
	case runEnv:
		w.envCommand(c)
	case runXargs:
		w.xargs(c)
	case runShell:
		w.shellCommand(c)
	case runStringWrapper:
		w.stringWrapper(c)
	case runLogin:
		w.login(c)
	case runMultiCall:
		w.inner(c, c.words[1:])
	case runFind:
		w.findCommand(c)
	case runSed:
		w.sed(c)
	case runAwk:
		w.awk(c)
	case runCopy:
		w.copyCommand(c)
	case runMove:
		w.moveCommand(c)
	case runLink:
		w.linkCommand(c)
	case runGit:
		w.git(c)
	case runTar:
		w.tar(c)
	case runDD:
		w.dd(c)
	case runFetch:
		w.fetch(c)
	case runRemote:
		w.remote(c)
	case runInterpreter:
		w.interpreter(c)
	case runMake:
		w.makeCommand(c)
	case runGo:
		w.goCommand(c)
	case runScript:
		w.scriptCommand(c)
	case runFlock:
		w.flock(c)
	case runParallel:
		w.parallel(c)
	case runArgs:
		w.debugger(c)
	case runDate:
		w.date(c)
	case runTest:
		w.testCommand(c)
	case runPrintEnv:
		c.args = c.words[1:]
	case runSubcommand:
		w.subcommand(c)
	case runJq:
		w.jq(c)
	case runSplit:
		w.split(c)
	case runEditor:
		w.editor(c)
	case runPatch:
		w.patch(c)
	case runNpx:
		w.npx(c)
	default:
		w.session(c)
	}
}

// session reads the words of programs that keep others going, show what they
// are given, or hand it to something else.
func (w *walker) session(c *call) {
	switch c.prog.run {
	case runPager:
		w.pager(c)
	case runSchedule:
		w.schedule(c)
	case runTmux:
		w.tmux(c)
	case runSocat:
		w.socat(c)
	case runMail:
		w.mail(c)
	case runUnpack:
		w.unpack(c)
	case runDocker:
		w.docker(c)
	default:
		w.service(c)
	}
}

// service reads the words of programs that speak to a cluster, convert what
// they are given, or have file commands of their own.
func (w *walker) service(c *call) {
	switch c.prog.run {
	case runKubectl:
		w.kubectl(c)
	case runHelm:
		w.helm(c)
	case runYq:
		w.yq(c)
	case runMagick:
		w.magick(c)
	case runMedia:
		w.media(c)
	case runCMake:
		w.cmake(c)
	case runOpener:
		w.opener(c)
	case runPs:
		w.ps(c)
	case runHostname:
		w.hostname(c)
	}
}

// operands lists what the operands of a program are, by roles: one letter
// each, the last fixed ones counted from the end, * for any number.
//
//	p  nothing        r  read           R  read, with all below
//	w  written        c  created        d  deleted
//	D  deleted, with all below          m  its mode, owner or times change
//	M  the same, with all below         n  a host
//	x  may be read or changed
//
// What follows a bar is taken when the repeated role has no operand.
func (w *walker) operands(c *call, roles string) {
	switch roles {
	case "", "p*":
		return
	case "grep":
		roles = c.grepRoles()
	case "gzip": // read, and replaced unless the result goes to the output
		for _, x := range c.args {
			w.role(c, 'r', x)
			if !c.given("c", "stdout", "l", "list", "t", "test") {
				w.role(c, 'w', x)
			}
		}
		return
	case "getent":
		if len(c.args) > 1 && strings.Contains(" hosts ahosts ahostsv4 ahostsv6 networks services netgroup ", " "+c.args[0].text+" ") {
			w.host(c, c.args[1])
		}
		if len(c.args) > 0 && (c.args[0].text == "shadow" || c.args[0].text == "gshadow") {
			w.role(c, 'r', word{text: "/etc/" + c.args[0].text})
		}
		return
	case "rm":
		if roles = "d*"; c.given("r") {
			roles = "D*"
		}
	}
	if c.given("R", "recursive") {
		roles = strings.NewReplacer("r*", "R*", "m*", "M*").Replace(roles)
	}
	roles, fallback, _ := strings.Cut(roles, "|")
	before, after, repeated := strings.Cut(roles, "*")
	star := byte(0)
	if repeated {
		star = before[len(before)-1]
		before = before[:len(before)-1]
	}
	args := c.args
	i := 0
	for ; i < len(before) && i < len(args); i++ {
		w.role(c, before[i], args[i])
	}
	end := len(args) - min(len(after), max(0, len(args)-i))
	if repeated && end == i && fallback != "" {
		w.role(c, star, word{text: fallback})
	}
	for ; i < end && repeated; i++ {
		w.role(c, star, args[i])
	}
	for k := end; k < len(args) && k-end < len(after); k++ {
		w.role(c, after[k-end], args[k])
	}
}

// grepRoles are the roles of grep and rg: the first operand is the pattern,
// unless an option gave it.
func (c *call) grepRoles() string {
	roles := "pr*"
	if c.given("regexp", "file", "files", "type-list") {
		roles = "r*"
	}
	if c.name == "rg" || c.given("r", "recursive", "R") {
		roles = strings.Replace(roles, "r*", "R*|.", 1)
	}
	return roles
}

// role lists one operand.
func (w *walker) role(c *call, role byte, x word) {
	f := fileAccess{kind: policy.Read, parent: c.index + 1, src: x.text}
	switch role {
	case 'p':
		return
	case 'n':
		w.host(c, x)
		return
	case 'x':
		if !x.dyn {
			w.maybeWritten(c, x.text)
		} else {
			w.file(f, x)
		}
		return
	case 'r', 'R':
		if x.text == "-" && !x.dyn {
			return
		}
		f.tree = role == 'R'
	case 'w':
		f.kind, f.op = policy.Write, policy.Change
	case 'c':
		f.kind, f.op = policy.Write, policy.Create
	case 'd', 'D':
		f.kind, f.op, f.tree = policy.Write, policy.Delete, role == 'D'
	case 'm', 'M':
		f.kind, f.op, f.tree = policy.Write, policy.Metadata, role == 'M'
	}
	if f.kind == policy.Write {
		c.lower(w, policy.Known)
	}
	w.file(f, x)
}
