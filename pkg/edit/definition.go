package edit

import (
	"bytes"
	"slices"
	"strings"
)

// definition is the name that a line of code defines, a heading's text, or a
// section's name; false for any other line. It knows the common forms of many
// languages, and no language.
func definition(line string) (name string, ok bool) {
	s := strings.TrimSpace(line)
	if title := strings.TrimLeft(s, "#"); title != s && strings.HasPrefix(title, " ") || strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]") {
		return s, true
	}
	ts := slices.DeleteFunc(tokens(s), func(t string) bool { return isSpace(t[0]) })
	for i, t := range ts {
		switch {
		case isDefining(t) && i+1 < len(ts) && strings.Contains(":=,.)", ts[i+1]):
			return "", false // a key or a variable
		case isDefining(t):
			return defined(ts[i+1:])
		case !isWord(t[0]):
			return called(ts, s)
		}
	}
	return "", false
}

func isDefining(word string) bool {
	switch word {
	case "func", "function", "def", "class", "fn", "fun", "type", "struct", "interface", "enum", "trait", "impl", "module", "namespace", "sub", "proc", "procedure", "record", "object", "macro_rules":
		return true
	}
	return false
}

func isDeclaring(word string) bool {
	return slices.Contains([]string{"var", "const", "let", "val", "static", "export", "public", "private"}, word)
}

// defined is the name behind a keyword. A receiver in parentheses belongs to
// it.
func defined(ts []string) (string, bool) {
	receiver := ""
	if len(ts) > 0 && ts[0] == "(" {
		end := slices.Index(ts, ")")
		if end < 1 {
			return "", false
		}
		receiver = ts[end-1] + "."
		ts = ts[end+1:]
	}
	i := slices.IndexFunc(ts, func(t string) bool { return isWord(t[0]) })
	if i < 0 {
		return "", false
	}
	return receiver + ts[i], true
}

// called is the name before the first parenthesis where a block begins behind
// it, as C and its relatives define functions, or the name that becomes a
// function.
func called(ts []string, s string) (string, bool) {
	open := slices.Index(ts, "(")
	assigned := slices.Index(ts, "=")
	switch {
	case assigned > 0 && isWord(ts[assigned-1][0]) && (strings.HasSuffix(s, "=> {") || slices.Contains(ts, "function") || isDeclaring(ts[0]) && strings.ContainsAny(s[len(s)-1:], "{([")):
		return ts[assigned-1], true
	case open < 1 || assigned >= 0 && assigned < open || !strings.HasSuffix(s, "{") || !isWord(ts[open-1][0]):
		return "", false
	}
	for _, t := range ts[:open] {
		switch t {
		case "if", "for", "while", "switch", "catch", "return", "else", "elif", "match", "select", "with", "using", "lock", "foreach", "unless", "go", "defer", ".":
			return "", false
		}
	}
	return ts[open-1], true
}

// missing are the lines of the call that a place has not, or has otherwise.
func (c *candidate) missing(at place) []*form {
	same := make([]bool, len(c.locator.call))
	for _, q := range at.pairs {
		for k := q.k0; k < q.k1; k++ {
			same[k] = q.sim >= simLoose
		}
	}
	var out []*form
	for k, f := range c.locator.call {
		if !same[k] && !f.blank && !f.elided {
			out = append(out, f)
		}
	}
	return out
}

// heads reports whether a line of the call is the first one, or begins a block.
func (c *candidate) heads(f *form) bool {
	solid := solidForms(c.locator.call)
	k := slices.Index(solid, f)
	return k == 0 || k+1 < len(solid) && (len(solid[k+1].lead) > len(f.lead) || solid[k+1].tight == "{")
}

// rival is another place that the call may mean, from 0; -1 where there is
// none. The call names one thing and quotes another: the best place does not
// define what the call defines, but a line elsewhere does, or it does, but all
// lines of the call but the definition are elsewhere.
func (c *candidate) rival(best place) int {
	missing := c.missing(best)
	for _, f := range missing {
		if !c.heads(f) {
			continue
		}
		if i := c.locator.text.defines(f.text, best.start, best.end); i >= 0 {
			return i
		}
	}
	for _, q := range c.places {
		if len(missing) > 0 && !q.overlaps(best) && !slices.ContainsFunc(c.missing(q), func(f *form) bool { _, ok := definition(f.text); return !ok }) {
			return q.start
		}
	}
	return -1
}

// defines is the first line outside of lines from to to that defines what a
// line defines; -1 where there is none, or where the lines have one, too.
func (t *text) defines(line string, from, to int) int {
	name, ok := definition(line)
	if !ok {
		return -1
	}
	found := -1
	last := name[strings.LastIndexByte(name, '.')+1:]
	for at := t.body; ; {
		n := bytes.Index(t.src[at:], []byte(last))
		if n < 0 {
			return found
		}
		i, exact := slices.BinarySearch(t.starts[:t.lines()], at+n)
		if !exact {
			i--
		}
		if other, ok := definition(string(t.raw(i))); ok && other == name {
			if i >= from && i < to {
				return -1
			}
			if found < 0 {
				found = i
			}
		}
		at = t.starts[i+1]
		if i+1 >= t.lines() {
			return found
		}
	}
}
