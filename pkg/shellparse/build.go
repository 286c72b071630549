package shellparse

import (
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// makeCommand reads make: another makefile, directory or tool is not what an
// allow rule for make means.
func (w *walker) makeCommand(c *call) {
	opts := "b m B,always-make C,directory: d debug? e,environment-overrides! E,eval:!$ f,file,makefile:!< h i,ignore-errors I,include-dir:! j,jobs? k,keep-going l,load-average? L,check-symlink-times n,just-print,dry-run,recon o,old-file,assume-old: O,output-sync? p,print-data-base q,question r,no-builtin-rules R,no-builtin-variables s,silent,quiet no-silent S,no-keep-going,stop t,touch trace v,version w,print-directory no-print-directory W,what-if,new-file,assume-new: warn-undefined-variables shuffle?"
	w.options(c, opts, 0)
	for _, o := range c.opts {
		if hasName(o.names, "directory") {
			for _, i := range w.file(fileAccess{kind: policy.Write, op: policy.Change, parent: c.index + 1, src: o.val.text}, o.val) {
				if w.writable(w.out.Accesses[i].Path) { // inside it is no more than make itself
					w.out.Accesses[i].Kind, w.out.Accesses[i].Op = policy.Read, ""
				}
			}
			w.lowerTo(c, policy.Unknown)
		}
	}
	for _, x := range c.args {
		name, val, ok := strings.Cut(x.text, "=")
		if !ok || x.dyn {
			continue
		}
		name = strings.TrimRight(name, "?:+!")
		switch kindOfVariable(name, value{}) {
		case variableProgram, variableSearch, variableShell:
			c.opaque(w, "the variable "+name+" may run something")
			w.commandText(c, word{text: val})
		default:
			if name == "SHELL" || name == "MAKEFLAGS" || strings.Contains(val, "$(") || strings.Contains(val, "`") {
				c.opaque(w, "the variable "+name+" may run something")
			} else if strings.HasPrefix(val, "/") {
				w.maybeWritten(c, val)
			}
		}
	}
}

// goCommand reads go.
func (w *walker) goCommand(c *call) {
	args := c.words[1:]
	if len(args) > 1 && args[0].text == "-C" {
		w.move(args[1])
		args = args[2:]
	}
	if len(args) == 0 || args[0].dyn {
		if len(args) > 0 {
			c.opaque(w, "the subcommand is not known before it runs")
		}
		return
	}
	const build = "C:= a n p: race msan asan cover covermode: coverpkg: v work x asmflags: buildmode: buildvcs: compiler:! gccgoflags:! gcflags: installsuffix: json ldflags:! linkshared mod: modcacherw modfile:!< overlay:!< pgo:< pkgdir:>> tags: trimpath toolexec:!%"
	const testing = " args c exec:!% o:> bench: benchtime: count: cpu: failfast fullpath fuzz: fuzztime: fuzzminimizetime: list: parallel: run: short shuffle: skip: timeout: vet: blockprofile:> coverprofile:> cpuprofile:> memprofile:> mutexprofile:> trace:> outputdir:>> benchmem artifacts test.v? blockprofilerate: memprofilerate: mutexprofilefraction: testlogfile:>"
	sub := args[0].text
	table := build
	d := *c
	d.words = args
	switch sub {
	case "version", "help", "doc":
		w.lowerTo(c, policy.ReadOnly)
		return
	case "env":
		if !slices.ContainsFunc(args, func(x word) bool {
			return x.dyn || strings.HasPrefix(x.text, "-w") || strings.HasPrefix(x.text, "-u") || strings.HasPrefix(x.text, "--")
		}) {
			w.lowerTo(c, policy.ReadOnly)
		} else {
			c.opaque(w, "settings that later commands heed")
		}
		return
	case "test":
		table += testing
	case "build", "install", "list", "get", "mod", "clean", "work":
		table += " o:> f: m u e deps test find export compiled json? i r cache! modcache! testcache fuzzcache"
	case "run":
		table += " exec:!%"
	case "vet":
		table += " vettool:!% c: fix diff"
	case "generate":
		table += " run: skip:"
	case "tool":
		c.opaque(w, "a tool that is run by name")
		return
	case "fmt", "fix":
		table += " "
	}
	d.quiet = true
	words := d.words
	if sub == "run" { // what follows the program is the program's
		if i := slices.IndexFunc(words[1:], func(x word) bool { return strings.HasSuffix(x.text, ".go") || x.text == "." }); i >= 0 {
			words = words[:min(i+2, len(words))]
		}
	}
	d.words = words
	w.goLinker(c, words)
	w.options(&d, table, styleSingle|styleLoose)
	w.lowerTo(c, policy.Unknown)
	c.opts, c.args = d.opts, d.args
	for _, x := range d.args {
		if !x.dyn && (strings.HasPrefix(x.text, "/") || strings.HasPrefix(x.text, "../")) {
			w.maybeWritten(c, x.text)
		}
	}
}

// goLinker lets through the linker flags that only set strings and sizes.
func (w *walker) goLinker(c *call, words []word) {
	for i := range words {
		name, val, glued := strings.Cut(strings.TrimLeft(words[i].text, "-"), "=")
		if name != "ldflags" || !strings.HasPrefix(words[i].text, "-") {
			continue
		}
		if !glued && i+1 < len(words) {
			val = words[i+1].text
		}
		if !strings.Contains(val, "ext") && !strings.Contains(val, "linkmode") && !words[i].dyn {
			words[i] = word{text: "-tags=" + val}
			if !glued {
				words[i] = word{text: "-tags"}
			}
		}
	}
}

// subcommands lists, for programs that do many things, the options that run or
// load something, and the subcommands whose operands are a program.
var subcommands = [...]struct{ name, opts, runs, reads string }{
	{"bundle", "", " exec ", ""},
	{"cargo", "config:! C:= target-dir:>> manifest-path:< out-dir,artifact-dir:>>", "", " version --version "},
	{"docker", "H,host:@ config:! v,volume: mount: c,context:!", "", " version "},
	{"gh", "", "", ""},
	{"kubectl", "kubeconfig:! s,server:@", "", ""},
	{"npm", "C,prefix:!>> script-shell:! node-options:! userconfig:! globalconfig:! c,call:!$ shell:! registry:@ editor:! git:! ignore-scripts w,workspace:", "", " --version -v ls list root prefix "},
	{"openssl", "out:> engine:! provider:! provider-path:! config:! in:< key:< keyout:> connect:@ writerand:> rand:<", "", " version "},
	{"pip", "target,t:>> prefix:>> root:>> r,requirement:< c,constraint:< i,index-url:@ extra-index-url:@ python:! log:> cache-dir:>> d,dest:>> e,editable:<", "", " list show freeze --version check "},
	{"pip3", "target,t:>> prefix:>> root:>> r,requirement:< c,constraint:< i,index-url:@ extra-index-url:@ python:! log:> cache-dir:>> d,dest:>> e,editable:<", "", " list show freeze --version check "},
	{"pnpm", "C,dir:!>> script-shell:! shell-emulator node-options:!", " exec ", " --version -v "},
	{"podman", "H,host:@ config:! v,volume: mount: url:@", "", " version "},
	{"poetry", "C,directory:=", " run ", " --version "},
	{"terraform", "chdir:!", "", " version "},
	{"uv", "directory:= project:! config-file:! python:! p:!", " run ", " --version version "},
	{"yarn", "cwd:!>> script-shell:! use-yarnrc:!", " exec ", " --version -v "},
}

// subcommand reads a program whose first operand says what it does.
func (w *walker) subcommand(c *call) {
	opts, runs, reads := "", "", ""
	for _, s := range &subcommands {
		if s.name == c.prog.name {
			opts, runs, reads = s.opts, s.runs, s.reads
		}
	}
	st := styleLoose
	if c.prog.name == "openssl" || c.prog.name == "terraform" {
		st |= styleSingle
	}
	words := c.words
	for i, x := range words[1:] {
		if !strings.HasPrefix(x.text, "-") && strings.Contains(runs, " "+x.text+" ") && !x.dyn {
			d := *c
			d.words = words[:i+1]
			w.options(&d, opts, st)
			rest := words[i+2:]
			if len(rest) > 0 && rest[0].text == "--" {
				rest = rest[1:]
			}
			if len(rest) > 0 && !strings.HasPrefix(rest[0].text, "-") {
				w.inner(c, rest)
			}
			return
		}
	}
	c.quiet = true
	w.options(c, opts, st)
	if a := &w.out.Accesses[c.index]; a.Class == policy.Known {
		a.Class = policy.Unknown
	}
	if len(words) == 2 && strings.Contains(reads, " "+words[1].text+" ") && !words[1].dyn {
		w.lowerTo(c, policy.ReadOnly)
		return
	}
	if c.prog.name == "docker" || c.prog.name == "podman" {
		return
	}
	d := *c
	d.words = append([]word{words[0]}, c.args...)
	w.unknownFiles(&d)
}
