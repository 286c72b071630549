package programs

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"
)

// opener reads programs that hand a file or address to whatever opens it.
func (c *Call) opener() {
	c.opaque("another program opens what it is given")
	for _, x := range c.Words[1:] {
		switch {
		case strings.HasPrefix(x.Text, "-"):
		case strings.Contains(x.Text, "://"):
			c.address(x)
		case x.Dynamic || pathLike(x.Text) || c.Shell.Exists(x.Text):
			c.does(Read, x)
		}
	}
}

// dd reads if= and of=.
func (c *Call) dd() {
	c.Args = c.Words[1:]
	for _, x := range c.Args {
		s := x.Text
		if x.Dynamic {
			s = x.Lead
		}
		key, _, ok := strings.Cut(s, "=")
		switch {
		case !ok && x.Dynamic:
			c.opaque("a word that is not known may be an option")
		case key == "if":
			c.Shell.File(File{Effect: Read, Word: after(x, "if="), Source: s})
		case key == "of":
			c.lower(Known)
			c.Shell.File(File{Effect: Write, Word: after(x, "of="), Source: s})
		}
	}
}

// after is a word without the prefix it certainly has.
func after(x Word, prefix string) Word {
	if x.Dynamic {
		x.Lead = strings.TrimPrefix(x.Lead, prefix)
		return x
	}
	x.Text = strings.TrimPrefix(x.Text, prefix)
	return x
}

// date reads date: an operand that is no format sets the clock.
func (c *Call) date() {
	c.parse()
	for _, x := range c.Args {
		if x.Dynamic && x.Lead == "" || !x.Dynamic && !strings.HasPrefix(x.Text, "+") {
			c.lower(Unknown)
		}
	}
}

// list reads ls, which shows what a directory holds, and of a file in the root no more than
// stat does.
func (c *Call) list() {
	c.parse()
	if len(c.Args) == 0 {
		c.operands("read*|.")
		return
	}
	effect := Read
	if c.has("R", "recursive") {
		effect = ReadTree
	}
	for _, x := range c.Args {
		if x.Dynamic || x.Pattern != "" || !c.onlyFiles(x.Text) {
			c.does(effect, x)
		}
	}
}

// onlyFiles reports whether all that a name may stand for are files in the root, or nothing.
func (c *Call) onlyFiles(name string) bool {
	root, paths := c.Shell.Root(), c.Shell.Resolve(name)
	return root != "" && len(paths) > 0 && !slices.ContainsFunc(paths, func(p Path) bool {
		return p.Type != Regular && p.Type != Missing || !strings.HasPrefix(p.Path, root+"/")
	})
}

// testCommand reads test and [: -v evaluates a subscript.
func (c *Call) testCommand() {
	c.Args = c.Words[1:]
	for i, x := range c.Args {
		if x.Text == "-v" || x.Text == "-R" || x.Dynamic && x.Lead == "" && i == 0 {
			if i+1 < len(c.Args) {
				if y := c.Args[i+1]; y.Dynamic || strings.ContainsAny(y.Text, "[$`") {
					c.opaque("a name whose subscript is evaluated")
				}
			}
		}
	}
}

// jq reads jq: the program is the first operand unless it is in a file. Behind
// --args the operands are no files, which is not believed: they are read.
func (c *Call) jq() {
	words := c.Words
	c.Words = make([]Word, 0, len(words))
	for i := 0; i < len(words); i++ {
		x := words[i]
		if x.Text == "--" && i > 0 {
			c.Words = append(c.Words, words[i:]...)
			break
		}
		switch x.Text { // these take two values
		case "--arg", "--argjson", "--slurpfile", "--rawfile", "--argfile":
			if !x.Dynamic {
				if i+2 < len(words) && strings.HasSuffix(x.Text, "file") {
					c.does(Read, words[i+2])
				}
				i += 2
				continue
			}
		}
		c.Words = append(c.Words, x)
	}
	c.parse()
	c.Words = words
	program := true // the first operand
	for _, x := range c.Args {
		if program && x.Dynamic && !c.has("from-file") {
			c.opaque("the program is not known before it runs")
		}
		c.jqProgram(x.Text)
		if !program || c.has("from-file") {
			c.does(Read, x)
		}
		program = false
	}
	if c.has("from-file") {
		c.jqFile(words[1:])
	}
}

// jqProgram judges what a program of jq's loads and shows.
func (c *Call) jqProgram(text string) {
	if jqWord(text, "import") || jqWord(text, "include") || jqWord(text, "modulemeta") {
		c.opaque("a program that loads another")
	}
	if jqWord(text, "env") || strings.Contains(text, "$ENV") {
		c.lower(Unknown) // every variable, which may hold keys
	}
}

// jqFile judges the program that jq is to read from a file. Some versions take the first operand for its
// name, so that has to come after the option.
func (c *Call) jqFile(words []Word) {
	name, ok := c.optionValue("from-file")
	if first := slices.IndexFunc(words, func(x Word) bool { return x.Dynamic || !strings.HasPrefix(x.Text, "-") }); first >= 0 && words[first].Text != name.Text {
		ok = false
	}
	paths := c.paths(name)
	if !ok || name.Dynamic || len(paths) != 1 || c.Shell.Dirty() || !c.Shell.Sees() {
		c.opaque("the program is not known before it runs")
		return
	}
	text, err := c.Shell.ReadFile(paths[0])
	if err != nil {
		c.opaque("the program is not known before it runs")
		return
	}
	c.jqProgram(string(text))
}

// jqWord reports whether a word of jq's language stands in a program: not the
// name of a field, and no part of a longer word.
func jqWord(text, word string) bool {
	for i := 0; ; {
		n := strings.Index(text[i:], word)
		if n < 0 {
			return false
		}
		i += n
		end := i + len(word)
		if (i == 0 || !nameByte(text[i-1]) && text[i-1] != '.' && text[i-1] != '$') && (end == len(text) || !nameByte(text[end])) {
			return true
		}
		i = end
	}
}

func nameByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// ps reads ps: an e in a word without a dash shows the environment of processes. So it does in words that all have one,
// where they are not understood otherwise, as in ps -axe.
func (c *Call) ps() {
	c.Args = c.Words[1:]
	bare, fails, e := false, false, false // a word has no dash; they are not understood with their dashes; an e is in one
	for i := 0; i < len(c.Args); i++ {
		x := c.Args[i]
		letters, dashed := strings.CutPrefix(x.Text, "-")
		switch {
		case x.Dynamic:
			c.lower(Unknown)
		case strings.HasPrefix(letters, "-"):
			bare = true
			if Has("-cols -columns -format -group -Group -lines -pid -ppid -quick-pid -rows -sid -sort -tty -user -User -width", letters) {
				i++
			}
		case dashed:
			plain, _ := psLetters(letters, psBare)
			e = e || strings.Contains(plain, "e")
			plain, value := psLetters(letters, "CGOUgnopqstu")
			fails = fails || strings.Trim(plain, "AFHLMNPTVZacdefjlmwy") != "" || plain != letters && strings.Trim(value, "0123456789,") != "" && Has("G U g p q s t u", letters[len(plain):len(plain)+1])
			if strings.Contains(plain, "E") { // macOS
				c.lower(Unknown)
			}
			if plain != letters && value == "" {
				i++
				bare = bare || i < len(c.Args)
				fails = fails || i == len(c.Args)
			}
		default:
			bare = true
			plain, value := psLetters(letters, psBare)
			if strings.ContainsAny(plain, "eE") && strings.Trim(plain, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" {
				c.lower(Unknown) // every variable, which may hold keys
			}
			if plain != letters && value == "" {
				i++
			}
		}
	}
	if e && fails && !bare {
		c.lower(Unknown)
	}
}

// psBare are the letters of ps without a dash that have a value. A t may have none.
const psBare = "NOUWkopq"

// psLetters parts a word of ps at the first letter that takes the rest, or the next word, for its value.
func psLetters(word, valued string) (plain, value string) {
	if i := strings.IndexAny(word, valued); i >= 0 {
		return word[:i], word[i+1:]
	}
	return word, ""
}

// hostname reads hostname: an operand changes the name.
func (c *Call) hostname() {
	c.parse()
	if len(c.Args) > 0 {
		c.lower(Unknown)
		c.danger("changes the name of the machine")
	}
}

// editor reads ed, ex and vi: their commands may run anything, so they are
// known only when a person types them.
func (c *Call) editor() {
	all := c.Words
	c.Words = c.scripted()
	c.parse()
	c.Words = all
	if c.Known == "ed" || c.Known == "ex" || c.Shell.Stdin().Set || c.has("e", "E", "s") || c.Name == "nvim" && c.has("l") {
		c.opaque("the commands come from its input")
	}
	for line := range strings.Lines(c.Shell.Stdin().Text) {
		if cmd, ok := strings.CutPrefix(strings.TrimSpace(line), "!"); ok {
			c.Shell.Text(Word{Text: cmd})
		}
	}
	for _, x := range c.Words[1:] { // -c ':!command'
		cmd := strings.TrimLeft(x.Text, "-+c :")
		if cmd, ok := strings.CutPrefix(cmd, "!"); ok && !x.Dynamic {
			c.Shell.Text(Word{Text: cmd})
		}
	}
	c.editorCommands()
	c.operands(c.Record.Operands)
}

// scripted are the words without the -s that takes no value: in Ex mode, which ex starts in and -e and -E
// set, it is silence, and else names a file (main.c of Vim, "case 's'").
func (c *Call) scripted() []Word {
	ex, out := c.Name == "ex", c.Words[:1:1]
	for i := 1; i < len(c.Words); i++ {
		x := c.Words[i]
		if x.Text == "--" {
			return append(out, c.Words[i:]...)
		}
		letters, short := strings.CutPrefix(x.Text, "-")
		if !short || x.Dynamic || strings.HasPrefix(letters, "-") {
			if out = append(out, x); x.Text == "--cmd" && i+1 < len(c.Words) {
				i++
				out = append(out, c.Words[i])
			}
			continue
		}
		kept := "-"
		for j, letter := range letters {
			switch letter {
			case 'e', 'E':
				ex = true
			case 'v':
				ex = false
			}
			if letter == 's' && ex {
				continue
			}
			kept += string(letter)
			if strings.ContainsRune("cstuUiwWTS", letter) {
				kept += letters[j+1:]
				if out = append(out, Word{Text: kept}); j+1 == len(letters) && letter != 'S' && i+1 < len(c.Words) {
					i++
					out = append(out, c.Words[i])
				}
				kept = ""
				break
			}
		}
		if kept != "" && (kept != "-" || letters == "") {
			out = append(out, Word{Text: kept})
		}
	}
	return out
}

// patch reads patch: without an operand the patch itself names the files.
func (c *Call) patch() {
	c.parse()
	c.operands(c.Record.Operands)
	for _, name := range [...]string{"suffix", "prefix", "basename-prefix"} { // of what is kept of the old files
		if v, ok := c.optionValue(name); ok && (v.Dynamic || strings.Contains(v.Text, "/") || name != "suffix" || len(c.Args) == 0 && strings.HasSuffix(v.Text, ".json")) {
			c.opaque("the old file is kept under another name")
		} else if ok && len(c.Args) > 0 && !c.Args[0].Dynamic {
			c.does(Write, Word{Text: c.Args[0].Text + v.Text})
		}
	}
	if len(c.Args) > 0 && c.has("backup", "suffix", "prefix", "basename-prefix", "output") {
		c.keeps(c.Args[0])
	}
	if len(c.Args) == 0 && !c.has("dry-run") {
		c.Shell.File(File{Effect: Write, Word: Word{Text: "."}, Source: c.Source, Why: "the patch decides what is written"})
	}
	c.Shell.SetClass(Unknown)
}

// npx reads npx: its operands are a program of a package, which is judged by
// its name alone.
func (c *Call) npx() {
	words := c.parse()
	if len(words) == 0 || words[0].Dynamic {
		return
	}
	if words[0].Text == "rimraf" { // whichever release: it takes away what it is given
		c.start(words)
		return
	}
	c.Shell.Judge(words)
	c.unknownFiles(words[1:])
}

// split reads split and csplit: the names start with a prefix.
func (c *Call) split() {
	c.parse()
	prefix, ending := Word{Text: "x"}, Word{}
	if c.Name == "csplit" {
		prefix = Word{Text: "xx"}
		if v, ok := c.optionValue("prefix"); ok {
			prefix = v
		}
		if v, ok := c.optionValue("suffix-format"); ok {
			ending = v
		}
		if len(c.Args) > 0 {
			c.does(Read, c.Args[0])
		}
	} else {
		if len(c.Args) > 1 {
			prefix = c.Args[1]
		}
		if len(c.Args) > 0 {
			c.does(Read, c.Args[0])
		}
		if v, ok := c.optionValue("additional-suffix"); ok {
			ending = v
		}
	}
	if prefix.Dynamic {
		c.does(Create, prefix)
		return
	}
	if ending.Dynamic || strings.HasPrefix(path.Base(prefix.Text), ".") {
		c.opaque("which of the names that it makes are others' is not known") // such as .envr and c
	}
	c.splitInto(prefix.Text, ending.Text)
	dir, base := path.Split(prefix.Text)
	c.numbered(dir, base+"*")
	at, after, numbered := strings.Cut(ending.Text, "%")
	if !numbered && c.Name == "split" {
		at, after = "aa"+at, ""
	}
	c.does(Create, Word{Text: prefix.Text + cmp.Or(at, "aa")})
	if after = strings.TrimLeft(after, "-+ #'.0123456789"); len(after) > 1 { // behind the number's letter
		c.does(Create, Word{Text: prefix.Text + at + after[1:]})
	}
}

// digitFirst begins a pattern of names that begin with a digit.
const digitFirst = "[0-9]"

// numbered notes a write to whatever of a directory has a name that matches a pattern, as one
// that the program counts up to: a link may have it, and lead elsewhere.
func (c *Call) numbered(dir, pattern string) {
	if strings.ContainsAny(strings.TrimPrefix(pattern, digitFirst), " \t\n\v\f\r\\[?!") {
		c.opaque("which of the files that are there it writes to is not known")
		return
	}
	dir = cmp.Or(dir, ".")
	c.does(Write, Word{Text: dir, Dynamic: true, Multi: true, Under: dir, Lead: dir, Names: pattern + " !.git/ !" + OnlyHere, Dir: c.here()})
}

// trusted are names that others run or heed, without a dot at the beginning, which split would
// make by numbering in letters.
const trusted = "opencode.json opencode.jsonc azure-pipelines.yml bitbucket-pipelines.yml appveyor.yml cloudbuild.yaml jenkinsfile lefthook.yml mise.toml prek.toml pip.conf sitecustomize.py usercustomize.py *.pth *.code-workspace"

// splitInto lists which of the trusted names, and of the files that are there, split makes
// between a prefix and an ending.
func (c *Call) splitInto(prefix, ending string) {
	length := 2
	if v, ok := c.optionValue("suffix-length"); ok {
		if length = -1; !v.Dynamic && integer(v.Text) {
			length, _ = strconv.Atoi(v.Text)
		}
	}
	if c.Name == "csplit" || c.has("d", "numeric-suffixes") { // digits
		return
	}
	dir, base := path.Split(prefix)
	for name := range strings.FieldsSeq(trusted) {
		if star, ok := strings.CutPrefix(name, "*"); ok { // the prefix has the beginning of that
			for i := 1; i < len(star); i++ {
				if stem, ok := strings.CutSuffix(base, star[:i]); ok && stem != "" {
					name = stem + star
				}
			}
		}
		n := len(name) - len(base) - len(ending)
		if n > 0 && (n == length || length < 0) && strings.EqualFold(name[:len(base)], base) && strings.EqualFold(name[len(name)-len(ending):], ending) &&
			strings.Trim(name[len(base):len(base)+n], "abcdefghijklmnopqrstuvwxyz") == "" {
			c.does(Create, Word{Text: dir + name})
		}
	}
	if length < 1 || length > 2 || !strings.Contains(base+ending, ".") {
		return
	}
	const letters = "abcdefghijklmnopqrstuvwxyz"
	for i := range len(letters) {
		for j := range len(letters) {
			number := letters[i:i+1] + letters[j:j+1]
			if number = number[2-length:]; length == 2 || i == 0 {
				if c.Shell.Exists(prefix + number + ending) {
					c.does(Write, Word{Text: prefix + number + ending})
				}
			}
		}
	}
}

// grep reads grep and its kin.
func (c *Call) grep() {
	c.parse()
	c.operands(c.grepRoles())
}

// gzip reads programs that read their operands, and replace them unless the
// result goes to the output.
func (c *Call) gzip() {
	c.parse()
	read, write := Read, Write
	if c.has("r", "recursive") {
		read, write = ReadTree, DeleteTree
	}
	for _, x := range c.Args {
		c.does(read, x)
		if !c.has("c", "stdout", "l", "list", "t", "test") {
			c.does(write, x)
			c.made(x)
		}
	}
}

// compressed are the endings of what a program of gzip's kind makes: the first is its own, and what
// stands behind a colon takes the place of the ending when it is taken apart again.
var compressed = [...]struct{ programs, endings string }{
	{"gzip gunzip uncompress", ".gz .tgz:.tar .taz:.tar .z -gz -z _z .Z"},
	{"compress", ".Z"},
	{"bzip2 bunzip2", ".bz2 .bz .tbz2:.tar .tbz:.tar"},
	{"xz unxz", ".xz .lzma .txz:.tar .tlz:.tar"},
	{"zstd unzstd", ".zst .gz .xz .lzma .lz4 .tzst:.tar .tgz:.tar .txz:.tar .tlz4:.tar"},
}

// made lists the file that a program of gzip's kind makes of another one.
func (c *Call) made(x Word) {
	if x.Dynamic || x.Text == "-" || c.has("o", "output-dir-flat", "output-dir-mirror") {
		return
	}
	endings := ""
	for _, k := range compressed {
		if Has(k.programs, c.Name) {
			endings = k.endings
		}
	}
	suffix, named := c.optionValue("suffix")
	format, formatted := c.optionValue("format")
	if suffix.Dynamic || format.Dynamic {
		c.opaque("what it makes is named by what is not known before it runs")
		return
	}
	if named {
		endings = suffix.Text + " " + endings
	}
	if formatted && format.Text != "auto" {
		own := map[string]string{"gzip": ".gz", "lz4": ".lz4", "lzma": ".lzma", "alone": ".lzma"}[format.Text]
		endings = strings.TrimSpace(own + " " + endings)
	}
	const why = "the names of what it makes stand in what it reads"
	again := strings.HasPrefix(c.Name, "un") || strings.HasPrefix(c.Name, "bun") || strings.HasPrefix(c.Name, "gun") || c.has("d", "decompress")
	switch {
	case c.has("r", "recursive"):
		if again || named {
			c.Shell.File(File{Effect: Create, Word: x, Why: why})
		}
	case !again:
		own, _, _ := strings.Cut(endings, " ")
		c.does(Write, Word{Text: x.Text + own})
	case c.has("N", "name"):
		c.Shell.File(File{Effect: Create, Word: Word{Text: path.Dir(x.Text)}, Why: why})
	default:
		for ending := range strings.FieldsSeq(endings) {
			ending, instead, _ := strings.Cut(ending, ":")
			if base, ok := strings.CutSuffix(x.Text, ending); ok && base != "" {
				c.does(Write, Word{Text: base + instead})
				return
			}
		}
		if strings.HasPrefix(c.Name, "b") { // the others leave such a file alone
			c.does(Write, Word{Text: x.Text + ".out"})
		}
	}
}

// uniq reads uniq, of whose words +N is an old option wherever it stands.
func (c *Call) uniq() {
	c.parse()
	old := func(x Word) bool {
		return len(x.Text) > 1 && x.Text[0] == '+' && strings.Trim(x.Text[1:], "0123456789") == ""
	}
	if !slices.ContainsFunc(c.Args, old) {
		c.operands(c.Record.Operands)
		return
	}
	for i, x := range c.Args { // behind -- it is a file
		if c.does(Read, x); i > 0 {
			c.does(Write, x)
		}
	}
}

// modes reads chmod and its like: the first operand is the mode, the owner or the context, unless an option says it.
func (c *Call) modes() {
	c.parse()
	said := c.has("reference")
	switch c.Name {
	case "chmod":
		said = said || slices.ContainsFunc(c.Given, func(o Given) bool { return len(o.Names) == 1 && strings.Contains("rwxXstugoa,+=01234567", o.Names) })
	case "chcon":
		said = said || c.has("type", "user", "role", "range")
	case "chattr":
		said = slices.ContainsFunc(c.Given, func(o Given) bool { return !Has("p v R V f", o.Names) })
	}
	if said {
		c.operands("meta*")
	} else {
		c.operands("skip meta*")
	}
}

// lineEnds reads dos2unix and its like, which change their operands, or with -n read the first of two and write the other.
func (c *Call) lineEnds() {
	c.parse()
	shows := c.has("to-stdout", "info")
	for i, x := range c.Args {
		into := c.has("newfile") && i%2 == 1
		if shows || c.has("newfile") && (!into || c.has("oldfile")) || c.isLink(x) {
			c.does(Read, x)
		}
		if into || !shows && (!c.has("newfile") || c.has("oldfile")) {
			c.does(Write, x)
		}
	}
}

func (c *Call) getent() {
	c.parse()
	if len(c.Args) > 1 && Has("hosts ahosts ahostsv4 ahostsv6 networks services netgroup", c.Args[0].Text) {
		c.host(c.Args[1])
	}
	if len(c.Args) > 0 && (c.Args[0].Text == "shadow" || c.Args[0].Text == "gshadow") {
		c.does(Read, Word{Text: "/etc/" + c.Args[0].Text})
	}
}

func (c *Call) remove() {
	c.parse()
	if c.has("r") {
		c.operands("deletetree*")
	} else {
		c.operands("delete*")
	}
	if len(c.Args) > 0 && c.has("f", "force") { // with nothing to take away it does nothing
		c.danger(losesAsked)
	}
}

// rimraf reads what it takes away, which older releases expand as patterns themselves.
func (c *Call) rimraf() {
	c.parse()
	if slices.ContainsFunc(c.Args, func(x Word) bool { return strings.ContainsAny(x.Text, "*?[{!(") }) {
		c.opaque("a pattern that the program expands")
		return
	}
	c.operands("deletetree*")
}

// grepRoles are the roles of grep and rg: the first operand is the pattern,
// unless an option gave it.
func (c *Call) grepRoles() string {
	roles := "skip read*"
	if c.has("regexp", "file", "files", "type-list") {
		roles = "read*"
	}
	directories, _ := c.optionValue("directories")
	if c.Name == "rg" || c.has("r", "recursive", "R") || directories.Dynamic || strings.HasPrefix(directories.Text, "r") && directories.Text != "read" {
		roles = strings.Replace(roles, "read*", "readtree*|.", 1)
	}
	return roles
}

// words reads programs of whose words none means anything else than itself.
func (c *Call) words() { c.Args = c.Words[1:] }

const variableName = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

// printenv shows variables by their names, as echo does. Without a name it shows them all.
func (c *Call) printenv() {
	c.Args = c.Words[1:]
	if len(c.Args) > 0 && !slices.ContainsFunc(c.Args, func(x Word) bool {
		return x.Dynamic || x.Text == "" || strings.Trim(x.Text, variableName) != ""
	}) {
		c.Shell.SetClass(ReadOnly)
	}
}

// ip reads ip, of which only what shows something by names and options written out is known.
func (c *Call) ip() {
	c.parse()
	c.operands("skip*")
	words := c.Words[1:]
	for len(words) > 0 && !words[0].Dynamic && Has("-4 -6 -br -brief -c -color -j -json -p -pretty -s -stats -d -details -o -oneline", words[0].Text) {
		words = words[1:]
	}
	if len(words) == 0 || words[0].Dynamic || !Has("a addr address l link r route n neigh neighbour rule maddr", words[0].Text) {
		return
	}
	if len(words) == 1 || !words[1].Dynamic && Has("show list ls", words[1].Text) {
		c.Shell.SetClass(ReadOnly)
	}
}
