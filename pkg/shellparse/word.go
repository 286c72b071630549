package shellparse

import (
	"bytes"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/programs"

	"mvdan.cc/sh/v3/syntax"
)

// A word is one argument as the program gets it, or what is known of it.
type word = programs.Word

// maxFields is how many words one word may become before it is dynamic.
const maxFields = 512

// maxWord is the length in bytes of the longest word that is known. What a variable
// holds doubles with each a=$a$a, so that thirty of these would take a gigabyte.
const maxWord = MaxText

// A builder puts the words together that one word of the source becomes.
type builder struct {
	w       *walker
	split   bool // as an argument: split and expand names
	out     []word
	b       []byte // the word so far
	pat     []byte // the same as a pattern
	active  bool   // there is a word, be it empty
	dyn     bool
	lead    int // how much of b is certain, when dynamic
	meta    bool
	net     bool
	multi   bool
	number  bool // every unknown part is a number
	digits  bool // all that is not known of it are numbers
	proc    bool
	piped   bool // the first part that is not known is a process substitution
	script  string
	src     string
	unknown int    // parts that are not known
	gaps    []int  // where in b these stand
	found   []word // the words for the part that is not known, where they are names that a program lists
	mixed   bool   // more than one part of the word is not known
}

func (b *builder) add(s string, quoted bool) {
	if s == "" {
		b.active = b.active || quoted
		return
	}
	if len(b.b)+len(s) > maxWord || !b.w.spend(len(s)>>6) {
		b.hole(quoted, false)
		return
	}
	b.active = true
	b.b = append(b.b, s...)
	if !b.split {
		return
	}
	for i := 0; i < len(s); i++ {
		if strings.IndexByte(`*?[\`, s[i]) >= 0 {
			if quoted || s[i] == '\\' {
				b.pat = append(b.pat, '\\')
			} else {
				b.meta = true
			}
		}
		b.pat = append(b.pat, s[i])
	}
}

// hole adds a part that is not known; one may become no word or several.
func (b *builder) hole(quoted, number bool) {
	number = number && (quoted || !b.w.st.ifs) // digits may separate words, too
	b.mixed, b.found = b.dyn, nil
	if !b.dyn {
		b.dyn, b.lead, b.number, b.digits = true, len(b.b), true, true
	}
	b.unknown++
	b.gaps = append(b.gaps, len(b.b))
	b.digits = b.digits && number
	b.number = b.number && number && b.lead == 0
	b.active = true
	b.multi = b.multi || b.split && !quoted && !number
}

// value adds what a variable is known to hold.
func (b *builder) value(s string, quoted bool) {
	if quoted || !b.split || b.w.shell == "zsh" {
		if quoted || s != "" {
			b.add(s, true)
		}
		return
	}
	if b.w.st.ifs {
		b.hole(false, false)
		return
	}
	fields := strings.FieldsFunc(s, blank)
	if !b.w.spend(len(fields) >> 1) {
		b.hole(false, false)
		return
	}
	for i, f := range fields {
		if i > 0 || s != "" && blank(rune(s[0])) {
			b.flush()
		}
		b.add(f, false)
	}
	if s != "" && blank(rune(s[len(s)-1])) {
		b.flush()
	}
}

func blank(r rune) bool { return r == ' ' || r == '\t' || r == '\n' }

// list adds the elements of "$@" or "${a[@]}".
func (b *builder) list(items []word, quoted bool) {
	if len(items) == 0 {
		return
	}
	if !b.split && b.w.st.ifs && len(items) > 1 { // it says what stands between them
		b.hole(true, false)
		return
	}
	for i, x := range items {
		if i > 0 {
			if b.split {
				b.flush()
			} else {
				b.add(" ", true)
			}
		}
		if x.Dynamic {
			b.add(x.Lead, true)
			b.hole(quoted && !x.Multi, x.Number)
			continue
		}
		b.value(x.Text, quoted)
	}
}

// flush ends the present word.
func (b *builder) flush() {
	if !b.active {
		return
	}
	x := word{Text: string(b.b), Dynamic: b.dyn, Net: b.net, Proc: b.proc, Script: b.script, Multi: b.multi && b.dyn, Number: b.dyn && b.number && len(b.b) == 0}
	if b.dyn {
		x.Digits = b.digits && b.lead == len(b.b)
		x.Counted = b.counted()
		x.Lead = x.Text[:b.lead]
		x.Piped = b.piped && !b.mixed && b.lead == len(b.b)
		x.Text = b.src
	}
	meta := b.meta && metaText(b.pat)
	pat := string(b.pat)
	found := b.found
	if b.mixed || len(b.b) > 0 || !b.split {
		found = nil
	}
	b.found, b.mixed = nil, false
	b.b, b.pat, b.gaps = b.b[:0], b.pat[:0], b.gaps[:0]
	b.active, b.dyn, b.lead, b.meta, b.multi, b.number, b.proc, b.piped, b.script = false, false, 0, false, false, false, false, false, ""
	switch {
	case x.Dynamic && found != nil:
		for _, f := range found {
			f.Text, f.Multi = x.Text, f.Multi || x.Multi
			b.out = append(b.out, f)
		}
	case !meta:
		b.out = append(b.out, x)
	case x.Dynamic:
		x.Multi = true
		x.Lead = leadOf(x.Lead)
		b.out = append(b.out, x)
	default:
		b.out = b.w.expand(b.out, x, pat)
	}
}

// counted is the pattern of a name of which no more than numbers are not known, be they empty,
// behind a letter in its last part: it stays a name in the same directory, and no option.
func (b *builder) counted() string {
	i := bytes.LastIndexByte(b.b, '/') + 1
	if !b.split || !b.digits || b.multi || b.meta || len(b.gaps) == 0 || b.gaps[0] <= i || !letter(b.b[i]) || b.w.shell != "bash" {
		return ""
	}
	plain := func(c byte) bool { return letter(c) || c >= '0' && c <= '9' || strings.IndexByte("_-./", c) >= 0 }
	for _, c := range b.b {
		if !plain(c) {
			return ""
		}
	}
	var pat strings.Builder
	at := 0
	for _, gap := range b.gaps {
		pat.Write(b.b[at:gap])
		pat.WriteByte('*')
		at = gap
	}
	pat.Write(b.b[at:])
	return pat.String()
}

// letter reports whether a byte is a letter of ASCII.
func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// metaText reports whether a pattern holds more than a bracket that is never
// closed, which means itself.
func metaText(pat []byte) bool {
	for i := 0; i < len(pat); i++ {
		switch pat[i] {
		case '\\':
			i++
		case '*', '?':
			return true
		case '[':
			for j := i + 1; j < len(pat); j++ {
				if pat[j] == ']' {
					return true
				}
			}
		}
	}
	return false
}

// leadOf is the part of a word before its first pattern character.
func leadOf(s string) string {
	if i := strings.IndexAny(s, "*?["); i >= 0 {
		return s[:i]
	}
	return s
}

// unescape takes the backslashes out of a pattern's literal part.
func unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// globstar reports whether ** may stand for more than *: in zsh, and in a bash whose environment says so. A text that sets
// it is not expanded at all.
func (w *walker) globstar() bool {
	value, ok := w.given("BASHOPTS")
	return w.shell == "zsh" || !ok || strings.Contains(value, "globstar")
}

// expand adds the names that a pattern stands for, where that is certain: the
// directory is known, nothing before may have changed it, no option of the shell
// says otherwise, and the names are few. A name that starts with a dash stays what it is, an option.
func (w *walker) expand(out []word, x word, pat string) []word {
	x.Pattern = pat
	i := 0
	for i < len(pat) && strings.IndexByte("*?[", pat[i]) < 0 {
		if pat[i] == '\\' {
			i++
		}
		i++
	}
	x.Lead = unescape(pat[:min(i, len(pat))])
	if w.world.Glob != nil && !w.stirred && !w.globs && !(strings.Contains(pat, "**") && w.globstar()) && w.st.lost == "" && len(w.st.dirs) == 1 && w.spend(64) && !w.mayGain(w.st.dirs[0], pat) {
		if names, ok := w.world.Glob(w.st.dirs[0], pat); ok && len(names) <= maxFields && w.spend(len(names)) {
			for _, n := range names {
				out = append(out, word{Text: n, Pattern: pat})
			}
			if len(names) == 0 { // bash leaves the pattern as it is
				out = append(out, word{Text: x.Text, Pattern: pat})
			}
			return out
		}
	}
	x.Dynamic, x.Multi = true, true
	return append(out, x)
}

// words expands arguments.
func (w *walker) words(list []*syntax.Word) []word {
	var out []word
	for _, x := range list {
		out = append(out, w.fields(x)...)
	}
	return out
}

// fields expands one word of the source to the words it becomes.
func (w *walker) fields(x *syntax.Word) []word {
	if x == nil || !w.spend(1) {
		return nil
	}
	if len(x.Parts) == 1 {
		if l, ok := x.Parts[0].(*syntax.Lit); ok && programs.Plain(l.Value) {
			return []word{{Text: l.Value}}
		}
	}
	src := w.source(x)
	if w.shell == "zsh" && zshOdd(src) {
		w.whole("a word that zsh reads in its own way")
	}
	if len(x.Parts) > 1 && bareDollar(x.Parts) { // bash does not split such a word
		w.inside(x)
		return []word{{Text: src, Dynamic: true, Multi: true}}
	}
	var out []word
	seen := 0
	w.braces(x, func(y *syntax.Word, ok bool) bool {
		seen++
		if !ok || seen > maxFields || !w.spend(1+len(y.Parts)) {
			w.inside(x) // what stands in it runs all the same
			out = append(out[:0], word{Text: src, Dynamic: true, Multi: true})
			return false
		}
		b := builder{w: w, split: true, src: src}
		b.parts(y.Parts)
		b.flush()
		out = append(out, b.out...)
		return true
	})
	return out
}

// bareDollar reports whether a dollar that means itself stands among parts.
func bareDollar(parts []syntax.WordPart) bool {
	for _, p := range parts {
		l, ok := p.(*syntax.Lit)
		for i := 0; ok && i < len(l.Value); i++ {
			if l.Value[i] == '\\' {
				i++
			} else if l.Value[i] == '$' {
				return true
			}
		}
	}
	return false
}

// single expands a word that stays one: a redirection's target, the right side
// of an assignment, a here-string.
func (w *walker) single(x *syntax.Word, assign bool) word {
	if x == nil || !w.spend(1+len(x.Parts)) {
		return word{Dynamic: true}
	}
	b := builder{w: w, src: w.source(x)}
	if assign {
		b.assigned(x.Parts)
	} else {
		b.parts(x.Parts)
	}
	b.active = true
	b.flush()
	return b.out[0]
}

// target is single for the file of a redirection, which is not split but is
// expanded by bash where it is a pattern.
func (w *walker) target(x *syntax.Word, read bool) word {
	out := w.fields(x)
	if len(out) == 1 && (read || out[0].Under == "") {
		return out[0]
	}
	return word{Text: w.source(x), Dynamic: true, Multi: true}
}

// source is the text a node stands in.
func (w *walker) source(n syntax.Node) string {
	if n == nil {
		return ""
	}
	from, to := n.Pos(), n.End()
	if !from.IsValid() || !to.IsValid() || from.Offset() > to.Offset() || int(to.Offset()) > len(w.src) {
		return ""
	}
	return w.src[from.Offset():to.Offset()]
}

// zshOdd reports whether a word holds something that zsh expands and bash
// does not.
func zshOdd(s string) bool {
	if strings.HasPrefix(s, "=") || strings.Contains(s, "=(") {
		return true
	}
	quote := byte(0)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\\':
			i++
		case c == '\'' || c == '"':
			quote = c
		case strings.IndexByte("^#(<", c) >= 0 && (i == 0 || s[i-1] != '$'):
			return true
		case c == '~' && i > 0:
			return true
		}
	}
	for _, c := range "=~^" { // as in ${=x}
		if strings.Contains(s, "$"+string(c)) {
			return true
		}
	}
	return strings.Contains(s, "${(") || strings.Contains(s, "${~") || strings.Contains(s, "${^") || strings.Contains(s, "${=")
}
