package shellparse

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// braces gives every word that brace expansion makes of x; ok is false for
// what this package does not expand as bash surely does.
func (w *walker) braces(x *syntax.Word, yield func(y *syntax.Word, ok bool) bool) {
	if !hasBrace(x.Parts) || w.shell == "sh" {
		yield(x, !hasBrace(x.Parts))
		return
	}
	for _, p := range x.Parts { // bash pairs a brace in an expansion with one behind it
		if e, ok := p.(*syntax.ParamExp); ok && strings.Count(w.source(e), "{") != strings.Count(w.source(e), "${") {
			yield(x, false)
			return
		}
	}
	y := &syntax.Word{Parts: append([]syntax.WordPart(nil), x.Parts...)}
	syntax.SplitBraces(y)
	left := maxFields
	if !expandBraces(nil, y.Parts, &left, func(parts []syntax.WordPart) bool {
		return yield(&syntax.Word{Parts: parts}, !hasBrace(parts))
	}) {
		yield(x, false)
	}
}

// hasBrace reports whether literals hold a brace that may mean an expansion:
// one with a comma or two dots before it is closed.
func hasBrace(parts []syntax.WordPart) bool {
	open, listed := false, false
	for _, p := range parts {
		l, ok := p.(*syntax.Lit)
		if !ok {
			continue
		}
		for i := 0; i < len(l.Value); i++ {
			switch l.Value[i] {
			case '\\':
				i++
			case '{':
				open = true
			case ',':
				listed = listed || open
			case '.':
				listed = listed || open && i+1 < len(l.Value) && l.Value[i+1] == '.'
			case '}':
				if open && listed {
					return true
				}
			}
		}
	}
	return false
}

// expandBraces yields every combination; false when there are too many or one
// is of a form that shells read differently.
func expandBraces(done, parts []syntax.WordPart, left *int, yield func([]syntax.WordPart) bool) bool {
	for i, p := range parts {
		br, ok := p.(*syntax.BraceExp)
		if !ok {
			continue
		}
		done = append(slices.Clip(done), parts[:i]...)
		elems := br.Elems
		if br.Sequence {
			if elems = sequence(br); elems == nil {
				return false
			}
		}
		for _, e := range elems {
			rest := append(append([]syntax.WordPart(nil), e.Parts...), parts[i+1:]...)
			if *left--; *left < 0 || !expandBraces(done, rest, left, yield) {
				return false
			}
		}
		return true
	}
	all := append(slices.Clip(done), parts...)
	return !joinsName(all) && yield(joined(all))
}

// joined makes one literal of those that stand side by side, since a tilde or
// a pattern means what the whole text says.
func joined(parts []syntax.WordPart) []syntax.WordPart {
	out := make([]syntax.WordPart, 0, len(parts))
	for _, p := range parts {
		l, ok := p.(*syntax.Lit)
		if !ok {
			out = append(out, p)
			continue
		}
		if n := len(out); n > 0 {
			if last, ok := out[n-1].(*syntax.Lit); ok {
				out[n-1] = &syntax.Lit{ValuePos: last.ValuePos, ValueEnd: l.ValueEnd, Value: last.Value + l.Value}
				continue
			}
		}
		if l.Value != "" || len(parts) == 1 {
			out = append(out, p)
		}
	}
	return out
}

// joinsName reports whether text that a brace brought beside a dollar or a
// bare $name makes another name of it: bash expands braces first.
func joinsName(parts []syntax.WordPart) bool {
	for i := range len(parts) - 1 {
		switch x := parts[i].(type) {
		case *syntax.ParamExp:
			if l, ok := parts[i+1].(*syntax.Lit); ok && x.Short && l.Value != "" && (l.Value[0] == '_' || syntax.ValidName("a"+l.Value[:1])) {
				return true
			}
		case *syntax.Lit:
			if s := strings.TrimRight(x.Value, "$"); len(s) < len(x.Value) && !strings.HasSuffix(s, `\`) {
				return true
			}
		}
	}
	return false
}

// sequence gives the words of {1..5}; nil for other forms.
func sequence(br *syntax.BraceExp) []*syntax.Word {
	if len(br.Elems) != 2 {
		return nil
	}
	from, ok1 := smallInt(br.Elems[0].Lit())
	to, ok2 := smallInt(br.Elems[1].Lit())
	if !ok1 || !ok2 || max(from-to, to-from) >= maxFields {
		return nil
	}
	var out []*syntax.Word
	for n := from; ; {
		out = append(out, &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: itoa(n)}}})
		if n == to {
			return out
		}
		if from < to {
			n++
		} else {
			n--
		}
	}
}
