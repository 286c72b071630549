package programs

import (
	"path"
	"slices"
	"strings"
)

// handedOn gives the program that a runner's subcommand starts: what follows
// --, or the first word that is no Given.
func (c *Call) handedOn(words []Word, opts string) []Word {
	rs := Options(opts)
	for i := 1; i < len(words); i++ {
		t := words[i].Text
		switch {
		case t == "--" && !words[i].Dynamic:
			return words[i+1:]
		case c.Known == "nix" && (t == "-c" || t == "--command"):
			return words[i+1:]
		case (t == "-c" || t == "--call") && c.Known == "npm" && i+1 < len(words):
			c.Shell.Text(words[i+1])
			return nil
		}
	}
	if c.Known == "nix" {
		return nil
	}
	for i := 1; i < len(words); i++ {
		t := words[i].Text
		if words[i].Dynamic || !strings.HasPrefix(t, "-") {
			return words[i:]
		}
		name := strings.TrimLeft(t, "-")
		if r := exact(rs, name); r != nil && r.Value == ':' {
			i++
		} else if r == nil && !strings.Contains(name, "=") {
			c.opaque("an option that is not known: " + Cut(t))
		}
	}
	return nil
}

// makeCommand reads make: another makefile, directory or tool is not what an
// allow rule for make means.
func (c *Call) makeCommand() {
	c.parse()
	for _, o := range c.Given {
		if hasName(o.Names, "directory") { // inside it is no more than make itself
			c.Shell.WorksIn(o.Value)
			c.Shell.SetClass(Unknown)
		}
	}
	for _, x := range c.Args {
		name, val, ok := strings.Cut(x.Text, "=")
		if !ok || x.Dynamic {
			continue
		}
		if strings.HasSuffix(name, "!") { // assigned by running it
			c.opaque("the variable " + name + " runs something")
			c.Shell.Text(Word{Text: val})
		}
		name = strings.TrimRight(name, "?:+!")
		kind := KindOfVariable(name)
		if name == "ENV" { // no shell that make starts reads the file: they are not interactive
			kind = OtherVariable
		}
		switch kind {
		case ProgramVariable:
			c.opaque("the variable " + name + " may run something")
			c.commandText(Word{Text: val})
		case SearchVariable, ShellVariable:
			c.opaque("the variable " + name + " may run something")
		default:
			if name == "SHELL" || name == ".SHELLFLAGS" || name == "MAKEFLAGS" || strings.Contains(strings.ReplaceAll(val, "$$", ""), "$") || strings.Contains(val, "`") {
				c.opaque("the variable " + name + " may run something")
			} else if strings.HasPrefix(val, "/") {
				c.file(May, Word{Text: val})
			}
		}
	}
}

// goCommand reads go.
func (c *Call) goCommand() {
	args := c.goPlace(c.Words[1:])
	if len(args) == 0 || args[0].Dynamic {
		if len(args) > 0 {
			c.opaque("the subcommand is not known before it runs")
		}
		return
	}
	const build = "C:read+dir a n p: race msan asan cover covermode: coverpkg: v work x asmflags: buildmode: buildvcs: compiler:opaque gccgoflags:opaque gcflags: installsuffix: json ldflags:opaque linkshared mod: modcacherw modfile:opaque+read overlay:opaque+read pgo:read pkgdir:write tags: trimpath toolexec:opaque+program"
	const testing = " args c exec:opaque+program o:write bench: benchtime: count: cpu: failfast fullpath fuzz: fuzztime: fuzzminimizetime: list: parallel: run: short shuffle: skip: timeout: vet: blockprofile:write coverprofile:write cpuprofile:write memprofile:write mutexprofile:write trace:write outputdir:write benchmem artifacts test.v? blockprofilerate: memprofilerate: mutexprofilefraction: testlogfile:write fuzzcachedir:write gocoverdir:write"
	sub := args[0].Text
	args = slices.Concat(args[:1], c.goPlace(args[1:]))
	table := build
	d := *c
	d.Words = args
	switch sub {
	case "version", "help", "doc":
		c.Shell.SetClass(ReadOnly)
		for _, x := range args[1:] {
			switch {
			case sub == "version" && !strings.HasPrefix(x.Text, "-"): // go version FILE
				c.does(ReadTree, x)
			case sub == "doc" && goPath(x):
				c.does(Read, x)
			}
		}
		if _, lost := c.Shell.Dirs(); sub == "doc" && lost == "" {
			c.does(Read, Word{Text: "."})
		}
		return
	case "env":
		if !slices.ContainsFunc(args, func(x Word) bool {
			return x.Dynamic || strings.HasPrefix(x.Text, "-w") || strings.HasPrefix(x.Text, "-u") || strings.HasPrefix(x.Text, "--")
		}) {
			c.Shell.SetClass(ReadOnly)
		} else {
			c.opaque("settings that later commands heed")
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
		c.opaque("a tool that is run by name")
		return
	case "fmt", "fix":
		table += " "
	}
	d.Quiet = true
	words := d.Words
	if sub == "run" { // what follows the program is the program's
		if i := slices.IndexFunc(words[1:], func(x Word) bool { return strings.HasSuffix(x.Text, ".go") || x.Text == "." }); i >= 0 {
			words = words[:min(i+2, len(words))]
		}
	}
	d.Words = slices.Clone(words)
	words = d.Words
	if sub == "test" {
		untested(words)
	}
	c.goLinker(words)
	c.goCompiler(words)
	d.options(table, OneDash|Loose)
	c.Shell.SetClass(Unknown)
	c.Given, c.Args = d.Given, d.Args
	if sub == "install" {
		c.goInstalls()
	}
	for _, x := range d.Args {
		if !x.Dynamic && goPath(x) && !strings.HasPrefix(x.Text, "./") {
			c.file(May, Word{Text: x.Text})
		}
	}
}

// goPlace takes off -C, which stands first and has go work in another directory.
func (c *Call) goPlace(args []Word) []Word {
	if len(args) == 0 || args[0].Dynamic {
		return args
	}
	name, dir, glued := strings.Cut(args[0].Text, "=")
	at := Word{Text: dir}
	switch {
	case name != "-C" && name != "--C":
		return args
	case !glued && len(args) < 2:
		return nil
	case !glued:
		at, args = args[1], args[1:]
	}
	c.does(Read, at)
	c.Shell.Move(at)
	return args[1:]
}

// goPath reports whether a word names a place for go, and not a package by its import path.
func goPath(x Word) bool {
	s := x.Text
	if x.Dynamic {
		s = x.Lead
	}
	return strings.HasPrefix(s, "/") || s == ".." || strings.HasPrefix(s, "../") || strings.HasPrefix(s, "./") || strings.Contains(s, "/../")
}

// goInstalls lists the directory that go install writes programs into.
func (c *Call) goInstalls() {
	dir := ""
	if v, ok := c.Shell.Getenv("GOBIN"); ok && v != "" {
		dir = v
	} else if v, ok := c.Shell.Getenv("GOPATH"); ok && v != "" {
		first, _, _ := strings.Cut(v, ":")
		dir = first + "/bin"
	} else if home := c.Shell.Home(); home != "" {
		dir = home + "/go/bin"
	}
	if dir == "" {
		c.opaque("where it puts programs is not known")
		return
	}
	c.does(Create, Word{Text: dir})
}

// untested spells -test.x as go test takes it: -x.
func untested(words []Word) {
	for i := range words {
		if name, ok := strings.CutPrefix(strings.TrimLeft(words[i].Text, "-"), "test."); ok && strings.HasPrefix(words[i].Text, "-") {
			words[i].Text = "-" + name
		}
	}
}

// goCompiler lets through the flags of the compiler and assembler that only
// change what they make of the source.
func (c *Call) goCompiler(words []Word) {
	const harmless = " B C D E K L N S S=2 W d e h l m m=1 m=2 m=3 race r shared spectre t trimpath v w wb dynlink lang std "
	for i := range words {
		name, val, glued := strings.Cut(strings.TrimLeft(words[i].Text, "-"), "=")
		if name != "gcflags" && name != "asmflags" || !strings.HasPrefix(words[i].Text, "-") {
			continue
		}
		if !glued && i+1 < len(words) {
			val = words[i+1].Text
		}
		if pattern, flags, ok := strings.Cut(val, "="); ok && !strings.HasPrefix(pattern, "-") {
			val = flags
		}
		for f := range strings.FieldsSeq(strings.Trim(val, "'\"")) {
			f = strings.TrimLeft(f, "-")
			key, _, _ := strings.Cut(f, "=")
			if !Has(harmless, f) && key != "d" && key != "lang" && key != "spectre" && key != "trimpath" {
				c.opaque("the compiler's flag -" + Cut(key) + " may write or load something")
			}
		}
	}
}

// goLinker lets through the linker flags that only set strings and sizes.
func (c *Call) goLinker(words []Word) {
	for i := range words {
		name, val, glued := strings.Cut(strings.TrimLeft(words[i].Text, "-"), "=")
		if name != "ldflags" || !strings.HasPrefix(words[i].Text, "-") {
			continue
		}
		if !glued && i+1 < len(words) {
			val = words[i+1].Text
		}
		if !strings.Contains(val, "ext") && !strings.Contains(val, "linkmode") && !words[i].Dynamic {
			words[i] = Word{Text: "-tags=" + val}
			if !glued {
				words[i] = Word{Text: "-tags"}
			}
		}
	}
}

// subcommand reads a program whose first operand says what it does.
func (c *Call) subcommand() {
	opts, st := c.Record.Options, c.Record.Style
	words := c.Words
	if i := firstOperand(words, opts); i > 0 && c.Known == "cargo" && words[i].Text == "watch" {
		c.cargoWatch(words[i:])
	}
	if i := firstOperand(words, opts); i > 0 && !words[i].Dynamic && Has(c.Record.Starts, words[i].Text) {
		d := *c
		d.Words = words[:i]
		d.options(opts, st)
		rest := c.handedOn(words[i:], opts)
		if len(rest) > 0 && !strings.HasPrefix(rest[0].Text, "-") {
			c.start(rest)
		}
		return
	}
	c.Quiet = true
	c.options(opts, st)
	if c.Shell.Class() == Known {
		c.Shell.SetClass(Unknown)
	}
	if len(words) > 1 && Has(c.Record.Lists, words[1].Text) && !words[1].Dynamic && onlyLists(words[2:]) && !(c.Known == "npm" && c.npmrcReaches()) {
		c.Shell.SetClass(ReadOnly)
		return
	}
	c.unknownFiles(c.Args)
}

// npmrcReaches reports whether a .npmrc of the project says where npm looks for a newer release of
// itself, as every subcommand may, or where it writes: with a registry http://HOST/${NAME}/ and a
// cache of its own, npm ls sends a variable of the environment to that host.
func (c *Call) npmrcReaches() bool {
	dirs, lost := c.Shell.Dirs()
	if lost != "" || c.Shell.Writes(".npmrc") {
		return true
	}
	for _, dir := range dirs {
		for at := dir; ; at = path.Dir(at) {
			name := path.Join(at, ".npmrc")
			data, err := c.Shell.Peek(name)
			switch {
			case at == c.Shell.Home(): // the user's own
			case err != nil:
				if c.Shell.Sees() && c.Shell.ResolveIn("/", name).Type != Missing {
					return true
				}
			default:
				for line := range strings.Lines(string(data)) {
					key, _, _ := strings.Cut(line, "=")
					if Has("registry cache logs-dir proxy http-proxy https-proxy", strings.ToLower(strings.Trim(key, " \t\"'[]\r\n"))) {
						return true
					}
				}
			}
			if at == path.Dir(at) {
				break
			}
		}
	}
	return false
}

// onlyLists reports whether the words after a subcommand that lists only say
// what and how.
func onlyLists(words []Word) bool {
	const options = " --all -a --json --long -l --parseable -p --global -g --depth=0 --depth=1 --depth=2 --depth=3 --omit=dev --omit=optional --prod --production --dev --format=json --format=freeze --format=columns --files -f --verbose -v -hex -base64 "
	return !slices.ContainsFunc(words, func(x Word) bool {
		return x.Dynamic || strings.HasPrefix(x.Text, "-") && !Has(options, x.Text) || strings.ContainsAny(x.Text, "/:")
	})
}

// firstOperand gives the index of the subcommand: the first word that is no
// option and no value of one; 0 when there is none.
func firstOperand(words []Word, opts string) int {
	rs := Options(opts)
	for i := 1; i < len(words); i++ {
		t := words[i].Text
		switch {
		case t == "env" || t == "tool":
		case words[i].Dynamic || !strings.HasPrefix(t, "-"):
			return i
		case !strings.Contains(t, "="):
			if r := exact(rs, strings.TrimLeft(t, "-")); r != nil && r.Value == ':' {
				i++
			}
		}
	}
	return 0
}
