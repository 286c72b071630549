package shellparse

import (
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/programs"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// makeCommand reads make: another makefile, directory or tool is not what an
// allow rule for make means.
func (w *walker) makeCommand(c *call) {
	w.options(c, c.prog.Options, c.prog.Style)
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
		if strings.HasSuffix(name, "!") { // assigned by running it
			c.opaque(w, "the variable "+name+" runs something")
			w.shellText(c, word{text: val})
		}
		name = strings.TrimRight(name, "?:+!")
		switch kindOfVariable(name, value{}) {
		case variableProgram, variableSearch, variableShell:
			c.opaque(w, "the variable "+name+" may run something")
			w.commandText(c, word{text: val})
		default:
			if name == "SHELL" || name == ".SHELLFLAGS" || name == "MAKEFLAGS" || strings.Contains(strings.ReplaceAll(val, "$$", ""), "$") || strings.Contains(val, "`") {
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
		w.role(c, programs.Read, args[1])
		w.move(args[1])
		args = args[2:]
	}
	if len(args) == 0 || args[0].dyn {
		if len(args) > 0 {
			c.opaque(w, "the subcommand is not known before it runs")
		}
		return
	}
	const build = "C:read+dir a n p: race msan asan cover covermode: coverpkg: v work x asmflags: buildmode: buildvcs: compiler:opaque gccgoflags:opaque gcflags: installsuffix: json ldflags:opaque linkshared mod: modcacherw modfile:opaque+read overlay:opaque+read pgo:read pkgdir:write tags: trimpath toolexec:opaque+program"
	const testing = " args c exec:opaque+program o:write bench: benchtime: count: cpu: failfast fullpath fuzz: fuzztime: fuzzminimizetime: list: parallel: run: short shuffle: skip: timeout: vet: blockprofile:write coverprofile:write cpuprofile:write memprofile:write mutexprofile:write trace:write outputdir:write benchmem artifacts test.v? blockprofilerate: memprofilerate: mutexprofilefraction: testlogfile:write fuzzcachedir:write gocoverdir:write"
	sub := args[0].text
	table := build
	d := *c
	d.words = args
	switch sub {
	case "version", "help", "doc":
		w.lowerTo(c, policy.ReadOnly)
		for _, x := range args[1:] { // go version FILE
			if sub == "version" && !strings.HasPrefix(x.text, "-") {
				w.role(c, programs.ReadTree, x)
			}
		}
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
		table += " o:write f: m u e deps test find export compiled json? i r cache!opaque modcache!opaque testcache fuzzcache"
	case "run":
		table += " exec:opaque+program"
	case "vet":
		table += " vettool:opaque+program c: fix diff"
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
	d.words = slices.Clone(words)
	words = d.words
	if sub == "test" {
		untested(words)
	}
	w.goLinker(c, words)
	w.goCompiler(c, words)
	w.options(&d, table, programs.OneDash|programs.Loose)
	w.lowerTo(c, policy.Unknown)
	c.opts, c.args = d.opts, d.args
	if sub == "install" {
		w.goInstalls(c)
	}
	for _, x := range d.args {
		if !x.dyn && (strings.HasPrefix(x.text, "/") || strings.HasPrefix(x.text, "../") || x.text == "..") {
			w.maybeWritten(c, x.text)
		}
	}
}

// goInstalls lists the directory that go install writes programs into.
func (w *walker) goInstalls(c *call) {
	dir := ""
	if w.world.Getenv != nil {
		if v, ok := w.world.Getenv("GOBIN"); ok && v != "" {
			dir = v
		} else if v, ok := w.world.Getenv("GOPATH"); ok && v != "" {
			first, _, _ := strings.Cut(v, ":")
			dir = first + "/bin"
		}
	}
	if dir == "" && w.world.Home != "" {
		dir = w.world.Home + "/go/bin"
	}
	if dir == "" {
		c.opaque(w, "where it puts programs is not known")
		return
	}
	w.role(c, programs.Create, word{text: dir})
}

// untested spells -test.x as go test takes it: -x.
func untested(words []word) {
	for i := range words {
		if name, ok := strings.CutPrefix(strings.TrimLeft(words[i].text, "-"), "test."); ok && strings.HasPrefix(words[i].text, "-") {
			words[i].text = "-" + name
		}
	}
}

// goCompiler lets through the flags of the compiler and assembler that only
// change what they make of the source.
func (w *walker) goCompiler(c *call, words []word) {
	const harmless = " B C D E K L N S S=2 W d e h l m m=1 m=2 m=3 race r shared spectre t trimpath v w wb dynlink lang std "
	for i := range words {
		name, val, glued := strings.Cut(strings.TrimLeft(words[i].text, "-"), "=")
		if name != "gcflags" && name != "asmflags" || !strings.HasPrefix(words[i].text, "-") {
			continue
		}
		if !glued && i+1 < len(words) {
			val = words[i+1].text
		}
		if pattern, flags, ok := strings.Cut(val, "="); ok && !strings.HasPrefix(pattern, "-") {
			val = flags
		}
		for f := range strings.FieldsSeq(strings.Trim(val, "'\"")) {
			f = strings.TrimLeft(f, "-")
			key, _, _ := strings.Cut(f, "=")
			if !strings.Contains(harmless, " "+f+" ") && key != "d" && key != "lang" && key != "spectre" && key != "trimpath" {
				c.opaque(w, "the compiler's flag -"+cut(key)+" may write or load something")
			}
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

// subcommand reads a program whose first operand says what it does.
func (w *walker) subcommand(c *call) {
	opts, st := c.prog.Options, c.prog.Style
	words := c.words
	if i := firstOperand(words, opts); i > 0 && c.known == "cargo" && words[i].text == "watch" {
		w.cargoWatch(c, words[i:])
	}
	if i := firstOperand(words, opts); i > 0 && !words[i].dyn && programs.Has(c.prog.Starts, words[i].text) {
		d := *c
		d.words = words[:i]
		w.options(&d, opts, st)
		rest := w.handedOn(c, words[i:], opts)
		if len(rest) > 0 && !strings.HasPrefix(rest[0].text, "-") {
			w.inner(c, rest)
		}
		return
	}
	c.quiet = true
	w.options(c, opts, st)
	if a := &w.out.Accesses[c.index]; a.Class == policy.Known {
		a.Class = policy.Unknown
	}
	if len(words) > 1 && programs.Has(c.prog.Lists, words[1].text) && !words[1].dyn && onlyLists(words[2:]) {
		w.lowerTo(c, policy.ReadOnly)
		return
	}
	d := *c
	d.words = append([]word{words[0]}, c.args...)
	w.unknownFiles(&d)
}

// onlyLists reports whether the words after a subcommand that lists only say
// what and how.
func onlyLists(words []word) bool {
	const options = " --all -a --json --long -l --parseable -p --global -g --depth=0 --depth=1 --depth=2 --depth=3 --omit=dev --omit=optional --prod --production --dev --format=json --format=freeze --format=columns --files -f --verbose -v "
	return !slices.ContainsFunc(words, func(x word) bool {
		return x.dyn || strings.HasPrefix(x.text, "-") && !strings.Contains(options, " "+x.text+" ") || strings.ContainsAny(x.text, "/:")
	})
}

// firstOperand gives the index of the subcommand: the first word that is no
// option and no value of one; 0 when there is none.
func firstOperand(words []word, opts string) int {
	rs := programs.Options(opts)
	for i := 1; i < len(words); i++ {
		t := words[i].text
		switch {
		case t == "env" || t == "tool":
		case words[i].dyn || !strings.HasPrefix(t, "-"):
			return i
		case !strings.Contains(t, "="):
			if r := exact(rs, strings.TrimLeft(t, "-")); r != nil && r.Value == ':' {
				i++
			}
		}
	}
	return 0
}
