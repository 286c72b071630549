package programs

import (
	"strings"
)

// A Given is an option that a call gives, as read by its program's record.
type Given struct {
	Names    string // the names the record has for it; as written when unknown
	Value    Word
	HasValue bool
}

// parse sorts the words of c into Givens and operands, as its record says.
func (c *Call) parse() []Word { return c.options(c.Record.Options, c.Record.Style) }

// rules reads a table of options that is likely to be asked for again.
func (c *Call) rules(table string) []Option {
	if len(table) < 64 {
		return Options(table)
	}
	if c.Memo.tables == nil {
		c.Memo.tables = map[string][]Option{}
	}
	rs, ok := c.Memo.tables[table]
	if !ok {
		rs = Options(table)
		c.Memo.tables[table] = rs
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
func exact(table []Option, name string) *Option {
	for i := range table {
		if hasName(table[i].Names, name) {
			return &table[i]
		}
	}
	return nil
}

// findOption gives the option of a name, nil when there is none. A long name may be
// shortened; the strictest of several rules wins.
func findOption(table []Option, name string, long bool) *Option {
	var got *Option
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
func gluedRule(table []Option, s string) *Option {
	var got *Option
	for i := range table {
		r := &table[i]
		if r.Value != 0 && strings.HasPrefix(s, r.Names) && (got == nil || len(r.Names) > len(got.Names)) {
			got = r
		}
	}
	return got
}

// options sorts the words of c into Givens and operands and applies what the
// options do. It returns the operands.
func (c *Call) options(table string, s Style) []Word {
	rs := c.rules(table)
	words := c.Words[1:]
	if s&Bundle != 0 && len(words) > 0 && !words[0].Dynamic && words[0].Text != "" && words[0].Text[0] != '-' {
		words = append([]Word{{Text: "-" + words[0].Text}}, words[1:]...)
		words = c.bundle(rs, words)
	}
	for i := 0; i < len(words); i++ {
		x := words[i]
		t := x.Text
		if x.Dynamic {
			t = x.Lead
		}
		if x.Dynamic && !strings.HasPrefix(t, "-") {
			if x.MayBeOption() && s&Pure == 0 && !c.Quiet {
				c.opaque("a word that is not known may be an option")
			}
			c.Args = append(c.Args, x)
			if s&Posix != 0 {
				return c.rest(words[i+1:])
			}
			continue
		}
		if x.Pattern != "" && x.MayBeOption() && s&Pure == 0 {
			c.opaque("a pattern that may become an option")
		}
		switch {
		case t == "--" && !x.Dynamic:
			return c.rest(words[i+1:])
		case t == "-" || !strings.HasPrefix(t, "-"):
			c.Args = append(c.Args, x)
			if s&Posix != 0 {
				return c.rest(words[i+1:])
			}
		case strings.HasPrefix(t, "--") || s&OneDash != 0:
			i += c.long(rs, s, x, t, words[i+1:])
		default:
			i += c.cluster(rs, s, x, t, words[i+1:])
		}
	}
	return c.Args
}

func (c *Call) rest(words []Word) []Word {
	c.Args = append(c.Args, words...)
	return c.Args
}

// long reads one option with a long name and gives how many more words it takes.
func (c *Call) long(rs []Option, s Style, x Word, t string, more []Word) int {
	name, val, glued := strings.Cut(strings.TrimLeft(t, "-"), "=")
	r := exact(rs, name)
	if s&OneDash == 0 {
		r = findOption(rs, name, true)
	}
	if r == nil && s&Glued != 0 {
		if r = gluedRule(rs, t[1:]); r != nil {
			name, glued = strings.Split(r.Names, ",")[0], true
			val = t[1+len(name):]
		}
	}
	if x.Dynamic && !glued {
		c.opaque("an option that is not known before it runs")
		return 0
	}
	o := Given{Names: name}
	if r == nil {
		c.unknownOption(s, t)
		c.Given = append(c.Given, o)
		return 0
	}
	o.Names = r.Names
	taken := 0
	switch {
	case glued:
		o.HasValue, o.Value = true, Word{Text: val}
		if x.Dynamic {
			o.Value = Word{Text: x.Text, Dynamic: true, Lead: val, Net: x.Net, Multi: x.Multi}
		}
	case r.Value == ':' && len(more) > 0:
		o.HasValue, o.Value, taken = true, more[0], 1
	}
	c.Given = append(c.Given, o)
	c.several(s, o.Value)
	c.apply(r, o)
	return taken
}

// several marks a call in which the value of an option may become more words
// than one, or none, so that the words behind it mean something else.
func (c *Call) several(s Style, val Word) {
	if val.Spreads() && s&Pure == 0 && !c.Quiet {
		c.opaque("a word that may become several")
	}
}

// cluster reads a word of short options and gives how many more words it takes.
func (c *Call) cluster(rs []Option, s Style, x Word, t string, more []Word) int {
	for j := 1; j < len(t); j++ {
		name := t[j : j+1]
		r := findOption(rs, name, false)
		if r == nil {
			c.Given = append(c.Given, Given{Names: name})
			c.unknownOption(s, "-"+name)
			if t[1] >= '0' && t[1] <= '9' {
				return 0
			}
			continue
		}
		o := Given{Names: r.Names}
		if r.Value == 0 {
			c.Given = append(c.Given, o)
			c.apply(r, o)
			continue
		}
		rest := t[j+1:]
		taken := 0
		switch {
		case rest != "" || x.Dynamic:
			o.HasValue, o.Value = true, Word{Text: rest}
			if x.Dynamic {
				o.Value = Word{Text: x.Text, Dynamic: true, Lead: rest, Net: x.Net, Multi: x.Multi || rest == ""}
			}
		case r.Value == ':' && len(more) > 0:
			o.HasValue, o.Value, taken = true, more[0], 1
		}
		c.Given = append(c.Given, o)
		c.several(s, o.Value)
		c.apply(r, o)
		return taken
	}
	if x.Dynamic {
		c.opaque("an option that is not known before it runs")
	}
	return 0
}

// bundle reads the old form of tar, ar and ps: letters first, their values
// after them in order.
func (c *Call) bundle(rs []Option, words []Word) []Word {
	letters := words[0].Text[1:]
	rest := words[1:]
	for j := range len(letters) {
		name := letters[j : j+1]
		r := findOption(rs, name, false)
		if r == nil {
			c.Given = append(c.Given, Given{Names: name})
			c.unknownOption(0, "-"+name)
			continue
		}
		o := Given{Names: r.Names}
		if r.Value == ':' && len(rest) > 0 {
			o.HasValue, o.Value, rest = true, rest[0], rest[1:]
		}
		c.Given = append(c.Given, o)
		c.apply(r, o)
	}
	return rest
}

func (c *Call) unknownOption(s Style, t string) {
	switch {
	case s&(Pure|Loose) != 0 || strings.Trim(t, "-0123456789") == "":
	case s&Vague != 0:
		c.lower(Unknown)
	default:
		c.opaque("an option that is not known: " + Cut(t))
	}
}

// apply says what an option does.
func (c *Call) apply(r *Option, o Given) {
	for does := range strings.SplitSeq(r.Does, "+") {
		switch does {
		case "read", "readtree", "write":
			if o.HasValue && o.Value.Text != "-" {
				c.file(Effect(does), o.Value)
			}
			if does == "write" {
				c.lower(Known)
			}
		case "opaque":
			c.opaque("its option " + optionName(r.Names) + " runs or loads something else")
		case "shell":
			c.Shell.Text(o.Value)
		case "program":
			c.commandText(o.Value)
		case "dir":
			if o.HasValue {
				c.file(Read, o.Value)
			}
			c.Shell.Move(o.Value)
		case "host":
			c.host(o.Value)
		case "changes":
			c.lower(Known)
		case "unknown":
			c.lower(Unknown)
		}
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
func (c *Call) has(names ...string) bool {
	for _, o := range c.Given {
		for _, n := range names {
			if hasName(o.Names, n) {
				return true
			}
		}
	}
	return false
}

// optionValue gives the last value of an option.
func (c *Call) optionValue(name string) (Word, bool) {
	for i := len(c.Given) - 1; i >= 0; i-- {
		if hasName(c.Given[i].Names, name) && c.Given[i].HasValue {
			return c.Given[i].Value, true
		}
	}
	return Word{}, false
}
