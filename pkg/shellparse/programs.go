package shellparse

import (
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/programs"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// special reads the words of a program that is known.
func (w *walker) special(c *call) {
	p := c.prog
	switch p.Read {
	case programs.ReadTable:
		w.options(c, p.Options, p.Style)
		w.operands(c, p.Operands)
	case programs.ReadEcho, programs.ReadPrintEnv:
		c.args = c.words[1:]
	case programs.ReadWrapper:
		w.wrapper(c)
	case programs.ReadEnv:
		w.envCommand(c)
	case programs.ReadXargs:
		w.xargs(c)
	case programs.ReadShell:
		w.shellCommand(c)
	case programs.ReadStringWrapper:
		w.stringWrapper(c)
	case programs.ReadLogin:
		w.login(c)
	case programs.ReadMultiCall:
		w.inner(c, c.words[1:])
	case programs.ReadGrep:
		w.grep(c)
	case programs.ReadGzip:
		w.gzip(c)
	case programs.ReadGetent:
		w.getent(c)
	case programs.ReadRemove:
		w.remove(c)
	case programs.ReadFind:
		w.findCommand(c)
	case programs.ReadSed:
		w.sed(c)
	case programs.ReadAwk:
		w.awk(c)
	case programs.ReadCopy:
		w.copyCommand(c)
	case programs.ReadMove:
		w.moveCommand(c)
	case programs.ReadLink:
		w.linkCommand(c)
	case programs.ReadGit:
		w.git(c)
	case programs.ReadTar:
		w.tar(c)
	case programs.ReadDD:
		w.dd(c)
	case programs.ReadFetch:
		w.fetch(c)
	case programs.ReadRemote:
		w.remote(c)
	case programs.ReadInterpreter:
		w.interpreter(c)
	case programs.ReadMake:
		w.makeCommand(c)
	case programs.ReadGo:
		w.goCommand(c)
	case programs.ReadScript:
		w.scriptCommand(c)
	case programs.ReadFlock:
		w.flock(c)
	case programs.ReadParallel:
		w.parallel(c)
	case programs.ReadDebugger:
		w.debugger(c)
	case programs.ReadDate:
		w.date(c)
	case programs.ReadTest:
		w.testCommand(c)
	case programs.ReadSubcommand:
		w.subcommand(c)
	case programs.ReadJq:
		w.jq(c)
	case programs.ReadSplit:
		w.split(c)
	case programs.ReadEditor:
		w.editor(c)
	case programs.ReadPatch:
		w.patch(c)
	case programs.ReadNpx:
		w.npx(c)
	default:
		w.session(c)
	}
}

// session reads the words of programs that keep others going, show what they
// are given, or hand it to something else.
func (w *walker) session(c *call) {
	switch c.prog.Read {
	case programs.ReadPager:
		w.pager(c)
	case programs.ReadSchedule:
		w.schedule(c)
	case programs.ReadTmux:
		w.tmux(c)
	case programs.ReadSocat:
		w.socat(c)
	case programs.ReadMail:
		w.mail(c)
	case programs.ReadUnpack:
		w.unpack(c)
	case programs.ReadDocker:
		w.docker(c)
	default:
		w.service(c)
	}
}

// service reads the words of programs that speak to a cluster, convert what
// they are given, or have file commands of their own.
func (w *walker) service(c *call) {
	switch c.prog.Read {
	case programs.ReadKubectl:
		w.kubectl(c)
	case programs.ReadHelm:
		w.helm(c)
	case programs.ReadYq:
		w.yq(c)
	case programs.ReadMagick:
		w.magick(c)
	case programs.ReadMedia:
		w.media(c)
	case programs.ReadCMake:
		w.cmake(c)
	case programs.ReadOpener:
		w.opener(c)
	case programs.ReadPs:
		w.ps(c)
	case programs.ReadHostname:
		w.hostname(c)
	}
}

// operands lists what the operands of a program are; see [programs.Effect].
func (w *walker) operands(c *call, effects string) {
	fields, args := strings.Fields(effects), c.args
	star := slices.IndexFunc(fields, func(f string) bool { return strings.Contains(f, "*") })
	before, after := fields, []string(nil)
	if star >= 0 {
		before, after = fields[:star], fields[star+1:]
	}
	i := min(len(before), len(args))
	for k, x := range args[:i] {
		w.role(c, programs.Effect(before[k]), x)
	}
	if star < 0 {
		return
	}
	effect, fallback, _ := strings.Cut(fields[star], "*")
	if c.given("R", "recursive") && (effect == "read" || effect == "meta") {
		effect += "tree"
	}
	end := len(args) - min(len(after), len(args)-i)
	if _, name, ok := strings.Cut(fallback, "|"); ok && end == i {
		w.role(c, programs.Effect(effect), word{text: name})
	}
	for _, x := range args[i:end] {
		w.role(c, programs.Effect(effect), x)
	}
	for k, x := range args[end:] {
		w.role(c, programs.Effect(after[k]), x)
	}
}

// grep reads grep and its kin.
func (w *walker) grep(c *call) {
	w.options(c, c.prog.Options, c.prog.Style)
	w.operands(c, c.grepRoles())
}

// gzip reads programs that read their operands, and replace them unless the
// result goes to the output.
func (w *walker) gzip(c *call) {
	w.options(c, c.prog.Options, c.prog.Style)
	for _, x := range c.args {
		w.role(c, programs.Read, x)
		if !c.given("c", "stdout", "l", "list", "t", "test") {
			w.role(c, programs.Write, x)
		}
	}
}

func (w *walker) getent(c *call) {
	w.options(c, c.prog.Options, c.prog.Style)
	if len(c.args) > 1 && programs.Has("hosts ahosts ahostsv4 ahostsv6 networks services netgroup", c.args[0].text) {
		w.host(c, c.args[1])
	}
	if len(c.args) > 0 && (c.args[0].text == "shadow" || c.args[0].text == "gshadow") {
		w.role(c, programs.Read, word{text: "/etc/" + c.args[0].text})
	}
}

func (w *walker) remove(c *call) {
	w.options(c, c.prog.Options, c.prog.Style)
	if c.given("r") {
		w.operands(c, "deletetree*")
	} else {
		w.operands(c, "delete*")
	}
}

// grepRoles are the roles of grep and rg: the first operand is the pattern,
// unless an option gave it.
func (c *call) grepRoles() string {
	roles := "skip read*"
	if c.given("regexp", "file", "files", "type-list") {
		roles = "read*"
	}
	if c.name == "rg" || c.given("r", "recursive", "R") {
		roles = strings.Replace(roles, "read*", "readtree*|.", 1)
	}
	return roles
}

// role lists one operand.
func (w *walker) role(c *call, role programs.Effect, x word) {
	f := fileAccess{kind: policy.Read, parent: c.index + 1, src: x.text}
	switch role {
	case programs.Skip:
		return
	case programs.Host:
		w.host(c, x)
		return
	case programs.May:
		if !x.dyn {
			w.maybeWritten(c, x.text)
		} else {
			w.file(f, x)
		}
		return
	case programs.Read, programs.ReadTree:
		if x.text == "-" && !x.dyn {
			return
		}
		f.tree = role == programs.ReadTree
	case programs.Write:
		f.kind, f.op = policy.Write, policy.Change
	case programs.Create:
		f.kind, f.op = policy.Write, policy.Create
	case programs.Delete, programs.DeleteTree:
		f.kind, f.op, f.tree = policy.Write, policy.Delete, role == programs.DeleteTree
	case programs.Meta, programs.MetaTree:
		f.kind, f.op, f.tree = policy.Write, policy.Metadata, role == programs.MetaTree
	}
	if f.kind == policy.Write {
		c.lower(w, policy.Known)
	}
	w.file(f, x)
}
