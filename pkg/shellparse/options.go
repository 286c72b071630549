package shellparse

import (
	"strings"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// An option is one that a call gives, as read by its program's table.
type option struct {
	names string // the names the table has for it; as written when unknown
	val   word
	has   bool // it has a value
	known bool
}

// A rule is one option of a program's table. The table is a string of rules
// separated by blanks: names joined by commas, one letter for a short option
// and more for a long one; then ":" when it takes a value, "?" when it may
// have one glued to it; then what it does:
//
//	<  reads the file     <<  reads the tree
//	>  writes the file    >>  writes into the directory
//	!  makes it opaque: it runs or loads something, or names are in a file
//	$  runs the value as text of a shell
//	%  runs the value as a program with words
//	=  works in the directory
//	@  reaches the host
//	+  changes files that stand in accesses of their own
//	~  leaves nothing known of it
type rule struct {
	names string
	value byte // ':', '?' or 0
	does  string
}

// rules reads a table.
func rules(table string) []rule {
	out := make([]rule, 0, 1+strings.Count(table, " "))
	for f := range strings.FieldsSeq(table) {
		r := rule{names: f}
		if i := strings.IndexAny(f, ":?<>!$%=@+~"); i > 0 {
			r.names, r.does = f[:i], f[i:]
			if f[i] == ':' || f[i] == '?' {
				r.value, r.does = f[i], f[i+1:]
			}
		}
		out = append(out, r)
	}
	return out
}

// rules is rules, for a table that is likely to be asked for again.
func (w *walker) rules(table string) []rule {
	if len(table) < 64 {
		return rules(table)
	}
	if w.tables == nil {
		w.tables = map[string][]rule{}
	}
	rs, ok := w.tables[table]
	if !ok {
		rs = rules(table)
		w.tables[table] = rs
	}
	return rs
}

// has reports whether names holds this very name.
func hasName(names, name string) bool {
	for n := range strings.SplitSeq(names, ",") {
		if n == name {
			return true
		}
	}
	return false
}

// exact gives the rule of a name, nil when there is none.
func exact(table []rule, name string) *rule {
	for i := range table {
		if hasName(table[i].names, name) {
			return &table[i]
		}
	}
	return nil
}

// find gives the rule of a name, nil when there is none. A long name may be
// shortened; the strictest of several rules wins.
func find(table []rule, name string, long bool) *rule {
	var got *rule
	for i := range table {
		r := &table[i]
		for n := range strings.SplitSeq(r.names, ",") {
			if n == name && (len(n) > 1) == long {
				return r
			}
			if long && len(n) > 1 && len(name) > 0 && strings.HasPrefix(n, name) && (got == nil || r.does != "") {
				got = r
			}
		}
	}
	return got
}

// gluedRule gives the rule whose name is the longest beginning of s and that
// takes a value.
func gluedRule(table []rule, s string) *rule {
	var got *rule
	for i := range table {
		r := &table[i]
		if r.value != 0 && strings.HasPrefix(s, r.names) && (got == nil || len(r.names) > len(got.names)) {
			got = r
		}
	}
	return got
}

// A style says how a program reads its words.
type style uint8

const (
	stylePosix   style = 1 << iota // options end at the first operand
	styleSingle                    // long options have one dash
	styleBundle                    // the first word may be options without a dash
	styleGlued                     // a long option with one dash may have its value glued to it
	stylePure                      // no option of it, known or not, runs or writes anything
	styleLoose                     // an unknown option is harmless
	styleVerbose                   // unknown options leave nothing known, but are not opaque
)

// options sorts the words of c into options and operands and applies what the
// options do. It returns the operands.
func (w *walker) options(c *call, table string, s style) []word {
	rs := w.rules(table)
	words := c.words[1:]
	if s&styleBundle != 0 && len(words) > 0 && !words[0].dyn && words[0].text != "" && words[0].text[0] != '-' {
		words = append([]word{{text: "-" + words[0].text}}, words[1:]...)
		words = w.bundle(c, rs, words)
	}
	for i := 0; i < len(words); i++ {
		x := words[i]
		t := x.text
		if x.dyn {
			t = x.lead
		}
		if x.dyn && !strings.HasPrefix(t, "-") {
			if x.option() && s&stylePure == 0 && !c.quiet {
				c.opaque(w, "a word that is not known may be an option")
			}
			c.args = append(c.args, x)
			if s&stylePosix != 0 {
				return w.rest(c, words[i+1:])
			}
			continue
		}
		if x.glob != "" && x.option() && s&stylePure == 0 {
			c.opaque(w, "a pattern that may become an option")
		}
		switch {
		case t == "--" && !x.dyn:
			return w.rest(c, words[i+1:])
		case t == "-" || !strings.HasPrefix(t, "-"):
			c.args = append(c.args, x)
			if s&stylePosix != 0 {
				return w.rest(c, words[i+1:])
			}
		case strings.HasPrefix(t, "--") || s&styleSingle != 0:
			i += w.long(c, rs, s, x, t, words[i+1:])
		default:
			i += w.cluster(c, rs, s, x, t, words[i+1:])
		}
	}
	return c.args
}

func (w *walker) rest(c *call, words []word) []word {
	c.args = append(c.args, words...)
	return c.args
}

// long reads one option with a long name and gives how many more words it takes.
func (w *walker) long(c *call, rs []rule, s style, x word, t string, more []word) int {
	name, val, glued := strings.Cut(strings.TrimLeft(t, "-"), "=")
	r := exact(rs, name)
	if s&styleSingle == 0 {
		r = find(rs, name, true)
	}
	if r == nil && s&styleGlued != 0 {
		if r = gluedRule(rs, t[1:]); r != nil {
			name, glued = strings.Split(r.names, ",")[0], true
			val = t[1+len(name):]
		}
	}
	if x.dyn && !glued {
		c.opaque(w, "an option that is not known before it runs")
		return 0
	}
	o := option{names: name, known: r != nil}
	if r == nil {
		w.unknownOption(c, s, t)
		c.opts = append(c.opts, o)
		return 0
	}
	o.names = r.names
	taken := 0
	switch {
	case glued:
		o.has, o.val = true, word{text: val}
		if x.dyn {
			o.val = word{text: x.text, dyn: true, lead: val, net: x.net, multi: x.multi}
		}
	case r.value == ':' && len(more) > 0:
		o.has, o.val, taken = true, more[0], 1
	}
	c.opts = append(c.opts, o)
	w.several(c, s, o.val)
	w.apply(c, r, o)
	return taken
}

// several marks a call in which the value of an option may become more words
// than one, or none, so that the words behind it mean something else.
func (w *walker) several(c *call, s style, val word) {
	if val.spreads() && s&stylePure == 0 && !c.quiet {
		c.opaque(w, "a word that may become several")
	}
}

// cluster reads a word of short options and gives how many more words it takes.
func (w *walker) cluster(c *call, rs []rule, s style, x word, t string, more []word) int {
	for j := 1; j < len(t); j++ {
		name := t[j : j+1]
		r := find(rs, name, false)
		if r == nil {
			c.opts = append(c.opts, option{names: name})
			w.unknownOption(c, s, "-"+name)
			if t[1] >= '0' && t[1] <= '9' {
				return 0
			}
			continue
		}
		o := option{names: r.names, known: true}
		if r.value == 0 {
			c.opts = append(c.opts, o)
			w.apply(c, r, o)
			continue
		}
		rest := t[j+1:]
		taken := 0
		switch {
		case rest != "" || x.dyn:
			o.has, o.val = true, word{text: rest}
			if x.dyn {
				o.val = word{text: x.text, dyn: true, lead: rest, net: x.net, multi: x.multi || rest == ""}
			}
		case r.value == ':' && len(more) > 0:
			o.has, o.val, taken = true, more[0], 1
		}
		c.opts = append(c.opts, o)
		w.several(c, s, o.val)
		w.apply(c, r, o)
		return taken
	}
	if x.dyn {
		c.opaque(w, "an option that is not known before it runs")
	}
	return 0
}

// bundle reads the old form of tar, ar and ps: letters first, their values
// after them in order.
func (w *walker) bundle(c *call, rs []rule, words []word) []word {
	letters := words[0].text[1:]
	rest := words[1:]
	for j := range len(letters) {
		name := letters[j : j+1]
		r := find(rs, name, false)
		if r == nil {
			c.opts = append(c.opts, option{names: name})
			w.unknownOption(c, 0, "-"+name)
			continue
		}
		o := option{names: r.names, known: true}
		if r.value == ':' && len(rest) > 0 {
			o.has, o.val, rest = true, rest[0], rest[1:]
		}
		c.opts = append(c.opts, o)
		w.apply(c, r, o)
	}
	return rest
}

func (w *walker) unknownOption(c *call, s style, t string) {
	switch {
	case s&(stylePure|styleLoose) != 0 || strings.Trim(t, "-0123456789") == "":
	case s&styleVerbose != 0:
		c.lower(w, policy.Unknown)
	default:
		c.opaque(w, "an option that is not known: "+cut(t))
	}
}

// apply lists what an option does.
func (w *walker) apply(c *call, r *rule, o option) {
	for i := 0; i < len(r.does); i++ {
		tree := i+1 < len(r.does) && r.does[i+1] == r.does[i]
		f := fileAccess{parent: c.index + 1, src: o.val.text, tree: tree}
		switch r.does[i] {
		case '<':
			f.kind = policy.Read
			w.value(c, f, o)
		case '>':
			f.kind, f.op, f.tree = policy.Write, policy.Change, false
			w.value(c, f, o)
			c.lower(w, policy.Known)
		case '!':
			c.opaque(w, "its option "+optionName(r.names)+" runs or loads something else")
		case '$':
			w.shellText(c, o.val)
		case '%':
			w.commandText(c, o.val)
		case '=':
			if o.has {
				f.kind = policy.Read
				w.file(f, o.val)
			}
			w.move(o.val)
			c.chdir = true
		case '@':
			w.host(c, o.val)
		case '+':
			c.lower(w, policy.Known)
		case '~':
			c.lower(w, policy.Unknown)
		}
		if tree {
			i++
		}
	}
}

func (w *walker) value(c *call, f fileAccess, o option) {
	if o.has && o.val.text != "-" {
		w.file(f, o.val)
	}
}

func optionName(names string) string {
	n := names[strings.LastIndexByte(names, ',')+1:]
	if len(n) == 1 {
		return "-" + n
	}
	return "--" + n
}

// given reports whether c has an option of this name.
func (c *call) given(names ...string) bool {
	for _, o := range c.opts {
		for _, n := range names {
			if hasName(o.names, n) {
				return true
			}
		}
	}
	return false
}

// optionValue gives the last value of an option.
func (c *call) optionValue(name string) (word, bool) {
	for i := len(c.opts) - 1; i >= 0; i-- {
		if hasName(c.opts[i].names, name) && c.opts[i].has {
			return c.opts[i].val, true
		}
	}
	return word{}, false
}
