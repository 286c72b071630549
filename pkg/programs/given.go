package programs

import (
	"slices"
	"strings"
)

// A Given is an option that a call gives, as read by its program's record.
type Given struct {
	Names    string // the names the record has for it; as written when unknown
	Value    Word
	HasValue bool
	Behind   int // how many operands stand before it
}

// parse sorts the words of c into options and operands, as its record says.
func (c *Call) parse() []Word { return c.options(c.Record.Options, c.Record.Style) }

// table reads a list of options that is likely to be asked for again.
func (c *Call) table(table string) []Option {
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

// hasName reports whether names holds this very name.
func hasName(names, name string) bool {
	for n := range strings.SplitSeq(names, ",") {
		if n == name {
			return true
		}
	}
	return false
}

// exact gives the option of a name, nil when there is none.
func exact(table []Option, name string) *Option {
	for i := range table {
		if hasName(table[i].Names, name) {
			return &table[i]
		}
	}
	return nil
}

// findOption gives the option of a name, nil when there is none. A long name may be
// shortened; the strictest of several wins.
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

// gluedOption gives the option whose name is the longest beginning of s and that
// takes a value.
func gluedOption(table []Option, s string) *Option {
	var got *Option
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
func (c *Call) options(table string, s Style) []Word {
	rs := c.table(table)
	words := c.Words[1:]
	if s&Bundle != 0 && len(words) > 0 && !words[0].Dynamic && words[0].Text != "" && words[0].Text[0] != '-' {
		words = c.bundle(rs, words[0].Text, words[1:])
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
			if c.Args = append(c.Args, x); s&Posix != 0 {
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
			if c.Args = append(c.Args, x); s&Posix != 0 {
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
		if r = gluedOption(rs, t[1:]); r != nil {
			first, _, _ := strings.Cut(r.Names, ",")
			val, glued = t[1+len(first):], true
		}
	}
	switch {
	case x.Dynamic && !glued:
		c.opaque("an option that is not known before it runs")
		return 0
	case r == nil:
		return c.unknownOption(s, name, t)
	case !glued:
		return c.give(r, s, nil, more)
	}
	return c.give(r, s, x.behind(val, x.Multi), more)
}

// cluster reads a word of short options and gives how many more words it takes.
func (c *Call) cluster(rs []Option, s Style, x Word, t string, more []Word) int {
	for j := 1; j < len(t); j++ {
		r, rest := findOption(rs, t[j:j+1], false), t[j+1:]
		switch {
		case r == nil:
			c.unknownOption(s, t[j:j+1], "-"+t[j:j+1])
			if t[1] >= '0' && t[1] <= '9' {
				return 0
			}
		case r.Value == 0:
			c.give(r, s, nil, nil)
		case rest == "" && !x.Dynamic:
			return c.give(r, s, nil, more)
		default:
			return c.give(r, s, x.behind(rest, x.Multi || rest == "" && (r.Value == ':' || !x.Digits)), more) // where nothing follows, the next word is the value
		}
	}
	if x.Dynamic {
		c.opaque("an option that is not known before it runs")
	}
	return 0
}

// bundle reads the old form of tar, ar and ps: letters first, their values
// after them in order.
func (c *Call) bundle(rs []Option, letters string, rest []Word) []Word {
	for i := range len(letters) {
		letter := letters[i : i+1]
		if r := findOption(rs, letter, false); r != nil {
			rest = rest[c.give(r, Pure, nil, rest):]
		} else {
			c.unknownOption(0, letter, "-"+letter)
		}
	}
	return rest
}

// DevFD is what the path of a process substitution begins with.
const DevFD = "/dev/fd/"

// behind is the value that stands in a word behind the name of an option.
func (x Word) behind(val string, multi bool) *Word {
	if !x.Dynamic {
		return &Word{Text: val}
	}
	return &Word{Text: x.Text, Dynamic: true, Lead: val, Net: x.Net, Multi: multi, Proc: x.Piped && val == DevFD}
}

// give notes an option with its value, which is glued to it or the next word,
// and says what it does. It gives how many more words it takes.
func (c *Call) give(r *Option, s Style, glued *Word, more []Word) (taken int) {
	o := Given{Names: r.Names, Behind: len(c.Args)}
	switch {
	case glued != nil:
		o.HasValue, o.Value = true, *glued
	case r.Value == ':' && len(more) > 0:
		o.HasValue, o.Value, taken = true, more[0], 1
	}
	c.Given = append(c.Given, o)
	if o.Value.Spreads() && s&Pure == 0 && !c.Quiet { // the words behind it would mean something else
		c.opaque("a word that may become several")
	}
	c.apply(r, o)
	return taken
}

// unknownOption notes an option, written as t, that the record does not have.
func (c *Call) unknownOption(s Style, name, t string) (taken int) {
	c.Given = append(c.Given, Given{Names: name, Behind: len(c.Args)})
	switch {
	case s&(Pure|Loose) != 0 || strings.Trim(t, "-0123456789") == "":
	case s&Vague != 0:
		c.lower(Unknown)
	default:
		c.opaque("an option that is not known: " + Cut(t))
	}
	return 0
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
			if o.Value.Dynamic || o.Value.Text != "" && o.Value.Text[0] != '/' { // psql -h /run/postgresql: a directory of sockets
				c.host(o.Value)
			}
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

// on reports whether one of these options is given and not taken back behind it: of --dry-run and
// --no-dry-run, shortened as well, git takes the last.
func (c *Call) on(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return isOn(c.Given, name) })
}

func isOn(given []Given, name string) bool {
	all := "" // the names of the option
	for _, o := range given {
		if hasName(o.Names, name) {
			all = o.Names
			continue
		}
		for n := range strings.SplitSeq(o.Names, ",") {
			if taken, ok := strings.CutPrefix(n, "no-"); ok && startsLong(all, taken) {
				all = ""
			}
		}
	}
	return all != ""
}

// startsLong reports whether one of the long names begins so.
func startsLong(names, start string) bool {
	for n := range strings.SplitSeq(names, ",") {
		if len(n) > 1 && strings.HasPrefix(n, start) {
			return true
		}
	}
	return false
}

// optionValue gives the last value of an option.
func (c *Call) optionValue(name string) (Word, bool) {
	for _, v := range slices.Backward(c.Given) {
		if hasName(v.Names, name) && v.HasValue {
			return v.Value, true
		}
	}
	return Word{}, false
}
