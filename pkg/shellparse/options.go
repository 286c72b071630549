package shellparse

import (
	"strings"

	"github.com/agentkit-go/agentkit/pkg/programs"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// An option is one that a call gives, as read by its program's table.
type option struct {
	names string // the names the table has for it; as written when unknown
	val   word
	has   bool // it has a value
	known bool
}

// rules reads a table of options that is likely to be asked for again.
func (w *walker) rules(table string) []programs.Option {
	if len(table) < 64 {
		return programs.Options(table)
	}
	if w.tables == nil {
		w.tables = map[string][]programs.Option{}
	}
	rs, ok := w.tables[table]
	if !ok {
		rs = programs.Options(table)
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
func exact(table []programs.Option, name string) *programs.Option {
	for i := range table {
		if hasName(table[i].Names, name) {
			return &table[i]
		}
	}
	return nil
}

// find gives the rule of a name, nil when there is none. A long name may be
// shortened; the strictest of several rules wins.
func find(table []programs.Option, name string, long bool) *programs.Option {
	var got *programs.Option
	for i := range table {
		r := &table[i]
		for n := range strings.SplitSeq(r.Names, ",") {
			if n == name && (len(n) > 1) == long {
				return r
			}
			if long && len(n) > 1 && len(name) > 0 && strings.HasPrefix(n, name) && (got == nil || r.Does != "") {
				got = r
			}
		}
	}
	return got
}

// gluedRule gives the rule whose name is the longest beginning of s and that
// takes a value.
func gluedRule(table []programs.Option, s string) *programs.Option {
	var got *programs.Option
	for i := range table {
		r := &table[i]
		if r.Value != 0 && strings.HasPrefix(s, r.Names) && (got == nil || len(r.Names) > len(got.Names)) {
			got = r
		}
	}
	return got
}

// options sorts the words of c into options and operands and applies what the
// options do. It returns the operands.
func (w *walker) options(c *call, table string, s programs.Style) []word {
	rs := w.rules(table)
	words := c.words[1:]
	if s&programs.Bundle != 0 && len(words) > 0 && !words[0].dyn && words[0].text != "" && words[0].text[0] != '-' {
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
			if x.option() && s&programs.Pure == 0 && !c.quiet {
				c.opaque(w, "a word that is not known may be an option")
			}
			c.args = append(c.args, x)
			if s&programs.Posix != 0 {
				return w.rest(c, words[i+1:])
			}
			continue
		}
		if x.glob != "" && x.option() && s&programs.Pure == 0 {
			c.opaque(w, "a pattern that may become an option")
		}
		switch {
		case t == "--" && !x.dyn:
			return w.rest(c, words[i+1:])
		case t == "-" || !strings.HasPrefix(t, "-"):
			c.args = append(c.args, x)
			if s&programs.Posix != 0 {
				return w.rest(c, words[i+1:])
			}
		case strings.HasPrefix(t, "--") || s&programs.OneDash != 0:
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
func (w *walker) long(c *call, rs []programs.Option, s programs.Style, x word, t string, more []word) int {
	name, val, glued := strings.Cut(strings.TrimLeft(t, "-"), "=")
	r := exact(rs, name)
	if s&programs.OneDash == 0 {
		r = find(rs, name, true)
	}
	if r == nil && s&programs.Glued != 0 {
		if r = gluedRule(rs, t[1:]); r != nil {
			name, glued = strings.Split(r.Names, ",")[0], true
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
	o.names = r.Names
	taken := 0
	switch {
	case glued:
		o.has, o.val = true, word{text: val}
		if x.dyn {
			o.val = word{text: x.text, dyn: true, lead: val, net: x.net, multi: x.multi}
		}
	case r.Value == ':' && len(more) > 0:
		o.has, o.val, taken = true, more[0], 1
	}
	c.opts = append(c.opts, o)
	w.several(c, s, o.val)
	w.apply(c, r, o)
	return taken
}

// several marks a call in which the value of an option may become more words
// than one, or none, so that the words behind it mean something else.
func (w *walker) several(c *call, s programs.Style, val word) {
	if val.spreads() && s&programs.Pure == 0 && !c.quiet {
		c.opaque(w, "a word that may become several")
	}
}

// cluster reads a word of short options and gives how many more words it takes.
func (w *walker) cluster(c *call, rs []programs.Option, s programs.Style, x word, t string, more []word) int {
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
		o := option{names: r.Names, known: true}
		if r.Value == 0 {
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
		case r.Value == ':' && len(more) > 0:
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
func (w *walker) bundle(c *call, rs []programs.Option, words []word) []word {
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
		o := option{names: r.Names, known: true}
		if r.Value == ':' && len(rest) > 0 {
			o.has, o.val, rest = true, rest[0], rest[1:]
		}
		c.opts = append(c.opts, o)
		w.apply(c, r, o)
	}
	return rest
}

func (w *walker) unknownOption(c *call, s programs.Style, t string) {
	switch {
	case s&(programs.Pure|programs.Loose) != 0 || strings.Trim(t, "-0123456789") == "":
	case s&programs.Vague != 0:
		c.lower(w, policy.Unknown)
	default:
		c.opaque(w, "an option that is not known: "+cut(t))
	}
}

// apply lists what an option does.
func (w *walker) apply(c *call, r *programs.Option, o option) {
	for does := range strings.SplitSeq(r.Does, "+") {
		f := fileAccess{kind: policy.Read, parent: c.index + 1, src: o.val.text, tree: does == "readtree"}
		switch does {
		case "read", "readtree":
			w.value(c, f, o)
		case "write":
			f.kind, f.op = policy.Write, policy.Change
			w.value(c, f, o)
			c.lower(w, policy.Known)
		case "opaque":
			c.opaque(w, "its option "+optionName(r.Names)+" runs or loads something else")
		case "shell":
			w.shellText(c, o.val)
		case "program":
			w.commandText(c, o.val)
		case "dir":
			if o.has {
				w.file(f, o.val)
			}
			w.move(o.val)
			c.chdir = true
		case "host":
			w.host(c, o.val)
		case "changes":
			c.lower(w, policy.Known)
		case "unknown":
			c.lower(w, policy.Unknown)
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
