package policy

import (
	"math/bits"
	"path"
	"strings"
)

// Limits of one glob, so that matching is linear in the path whatever a
// repository's policy says: the matcher keeps its states in a uint64.
const (
	maxSegments     = 60
	maxAlternatives = 64
	maxPattern      = 1024
)

type segmentKind uint8

const (
	literalSegment segmentKind = iota
	starSegment                // text with * but no other meta
	metaSegment                // ? and classes too
	deepSegment                // **
)

// A segment matches one name of a path; ** any number of them.
type segment struct {
	kind  segmentKind
	text  string
	parts []string
}

// An alternative is a glob without braces.
type alternative []segment

// compileGlob compiles a doublestar glob: * ? [class] within a name, ** for
// any number of names, {a,b} for either. cover adds what lies below a match.
func compileGlob(glob string, cover bool) ([]alternative, error) {
	if len(glob) > maxPattern {
		return nil, errLong
	}
	texts, err := expandBraces(glob, nil)
	if err != nil {
		return nil, err
	}
	out := make([]alternative, 0, len(texts))
	for _, text := range texts {
		alt, err := compileSegments(text, cover)
		if err != nil {
			return nil, err
		}
		out = append(out, alt)
	}
	return out, nil
}

func compileSegments(text string, cover bool) (alternative, error) {
	var alt alternative
	for name := range strings.SplitSeq(text, "/") {
		last := len(alt) - 1
		switch {
		case name == "..":
			return nil, errDotDot
		case name == "" || name == "." || name == "**" && last >= 0 && alt[last].kind == deepSegment:
			continue
		}
		s, err := newSegment(name)
		if err != nil {
			return nil, err
		}
		alt = append(alt, s)
	}
	if n := len(alt); cover && (n == 0 || alt[n-1].kind != deepSegment) {
		alt = append(alt, segment{kind: deepSegment})
	}
	if len(alt) > maxSegments {
		return nil, errLong
	}
	return alt, nil
}

func newSegment(name string) (segment, error) {
	switch {
	case name == "**":
		return segment{kind: deepSegment}, nil
	case !strings.ContainsAny(name, `*?[\`):
		return segment{text: name}, nil
	case !strings.ContainsAny(name, `?[\`):
		return segment{kind: starSegment, parts: strings.Split(name, "*")}, nil
	}
	name = strings.ReplaceAll(name, "[!", "[^")
	if _, err := path.Match(name, ""); err != nil {
		return segment{}, errGlob
	}
	return segment{kind: metaSegment, text: name}, nil
}

func (s *segment) match(name string) bool {
	switch s.kind {
	case literalSegment:
		return s.text == name
	case starSegment:
		return matchOne(s.parts, name)
	case metaSegment:
		ok, _ := path.Match(s.text, name) // checked when it was compiled
		return ok
	}
	return true
}

// walk returns the positions that are reached after the names of rel.
func (alt alternative) walk(rel string) uint64 {
	states := alt.close(1)
	for rel != "" && states != 0 {
		name, tail, _ := strings.Cut(rel, "/")
		next := uint64(0)
		for rest := states &^ (1 << len(alt)); rest != 0; rest &= rest - 1 {
			i := bits.TrailingZeros64(rest)
			if alt[i].kind == deepSegment {
				next |= 1 << i
			} else if alt[i].match(name) {
				next |= 1 << (i + 1)
			}
		}
		states, rel = alt.close(next), tail
	}
	return states
}

// close adds the positions behind a ** that stands for nothing.
func (alt alternative) close(states uint64) uint64 {
	for i := range alt {
		if states&(1<<i) != 0 && alt[i].kind == deepSegment {
			states |= 1 << (i + 1)
		}
	}
	return states
}

// matchGlob reports whether one of the alternatives is the path rel, whose
// names are separated by single slashes; "" is the directory itself.
func matchGlob(alts []alternative, rel string) bool {
	for _, alt := range alts {
		if alt.walk(rel)&(1<<len(alt)) != 0 {
			return true
		}
	}
	return false
}

// mayReach reports whether something below the directory rel may match.
func mayReach(alts []alternative, rel string) bool {
	for _, alt := range alts {
		if alt.walk(rel)&^(1<<len(alt)) != 0 {
			return true
		}
	}
	return false
}

// expandBraces appends the texts that a glob with braces stands for.
func expandBraces(glob string, out []string) ([]string, error) {
	open, end, commas := findBraces(glob)
	switch {
	case open < 0 && end < 0:
		if len(out) >= maxAlternatives {
			return nil, errLong
		}
		return append(out, glob), nil
	case open < 0 || end < 0:
		return nil, errGlob
	}
	from := open + 1
	for _, to := range append(commas, end) {
		var err error
		if out, err = expandBraces(glob[:open]+glob[from:to]+glob[end+1:], out); err != nil {
			return nil, err
		}
		from = to + 1
	}
	return out, nil
}

// findBraces finds the first brace, the one that closes it, and the commas
// between them. Exactly one of open and end is -1 when they do not balance.
func findBraces(glob string) (open, end int, commas []int) {
	open, end = -1, -1
	depth, class := 0, false
	for i := 0; i < len(glob); i++ {
		switch c := glob[i]; {
		case c == '\\':
			i++
		case class:
			class = c != ']'
		case c == '[':
			class = true
		case c == '{':
			if depth++; depth == 1 {
				open = i
			}
		case c == '}':
			if depth--; depth <= 0 {
				return open, i, commas
			}
		case c == ',' && depth == 1:
			commas = append(commas, i)
		}
	}
	return open, end, commas
}
