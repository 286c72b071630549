package rg

import (
	"bytes"
	"strings"
)

// An outcome is what a list of rules says of a path.
type outcome uint8

const (
	unmatched outcome = iota
	excluded
	included // a rule with ! matched last
)

// A rule is one line of an ignore file.
type rule struct {
	pattern  string
	include  bool // the line began with !
	dirOnly  bool // … ended with a slash
	anchored bool // … has a slash elsewhere: it is about the path, not the name
	ruleShape
}

// A ruleShape is what most names are told from a pattern by, without matching.
type ruleShape struct {
	kind    ruleKind
	head    string // what stands before the first wildcard
	tail    string // … behind the last
	dots    int    // dots that a name has at least
	slashes int    // slashes that a path has; -1 where ** or a bracket leaves it open
	prev    int32  // 1 + index of the rule before with the same key
}

type ruleKind uint8

const (
	wildRule  ruleKind = iota // the pattern has to be matched
	plainRule                 // … is the name
	starRule                  // … is head*tail
)

// A ruleSet is an ignore file. The last rule that matches decides.
type ruleSet struct {
	base   string // path of its directory below the walk's root, with a final slash
	prefix string // path of the walk's root below its directory, with a final slash
	deeper int    // slashes of prefix, less those of base
	rules  []rule
	names  map[string]int32 // 1 + index of the last rule that ends in this plain name
	firsts [256]bool        // the bytes that names begin with
	exts   map[string]int32 // … that asks for this extension, its dot included
	lasts  [256]bool        // the bytes that exts end with
	others []int32          // the rest
}

// place says where the file lies: its directory below the walk's root, or the
// root below it.
func (s *ruleSet) place(base, prefix string) {
	s.base, s.prefix = base, prefix
	s.deeper = strings.Count(prefix, "/") - strings.Count(base, "/")
}

// parseRules reads an ignore file; nil when it has no rules.
func parseRules(text []byte) *ruleSet {
	text = bytes.TrimPrefix(text, []byte("\xEF\xBB\xBF"))
	s := &ruleSet{}
	for line := range bytes.Lines(text) {
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		if r, ok := parseRule(string(line)); ok {
			s.add(r)
		}
	}
	if len(s.rules) == 0 {
		return nil
	}
	return s
}

func parseRule(line string) (rule, bool) {
	if strings.HasPrefix(line, "#") {
		return rule{}, false
	}
	line = trimBlanks(line)
	var r rule
	if rest, ok := strings.CutPrefix(line, "!"); ok {
		r.include = true
		line = rest
	}
	if rest, ok := strings.CutSuffix(line, "/"); ok {
		r.dirOnly = true
		line = rest
	}
	r.anchored = strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if rest, ok := strings.CutPrefix(line, "**/"); ok && rest != "" && !strings.Contains(rest, "/") && rest != "**" {
		r.anchored = false
		line = rest
	}
	r.pattern = line
	return r, line != ""
}

// trimBlanks cuts blanks at the end that no backslash quotes.
func trimBlanks(s string) string {
	end := len(s)
	for end > 0 && s[end-1] == ' ' {
		end--
	}
	slashes := 0
	for end-slashes > 0 && s[end-slashes-1] == '\\' {
		slashes++
	}
	if slashes%2 == 1 && end < len(s) {
		end++
	}
	return s[:end]
}

const wildcards = `*?[\`

func (s *ruleSet) add(r rule) {
	r.ruleShape = shapeOf(r.pattern, r.anchored)
	at := int32(len(s.rules) + 1)
	name := r.pattern[strings.LastIndexByte(r.pattern, '/')+1:]
	dot := strings.LastIndexByte(r.tail, '.')
	switch {
	case r.kind == plainRule:
		if s.names == nil {
			s.names = map[string]int32{}
		}
		r.prev, s.names[name] = s.names[name], at
		if name != "" {
			s.firsts[name[0]] = true
		}
	case r.kind == starRule && r.head == "" && dot >= 0:
		if s.exts == nil {
			s.exts = map[string]int32{}
		}
		ext := r.tail[dot:]
		r.prev, s.exts[ext] = s.exts[ext], at
		s.lasts[ext[len(ext)-1]] = true
	default:
		s.others = append(s.others, at-1)
	}
	s.rules = append(s.rules, r)
}

func shapeOf(pattern string, anchored bool) ruleShape {
	var f ruleShape
	f.head, f.tail = pattern, ""
	inner := ""
	if first := strings.IndexAny(pattern, wildcards); first >= 0 {
		last := strings.LastIndexAny(pattern, wildcards+"]")
		f.head, inner, f.tail = pattern[:first], pattern[first:last+1], pattern[last+1:]
	}
	f.dots = strings.Count(f.head, ".") + strings.Count(f.tail, ".")
	f.slashes = strings.Count(pattern, "/")
	before, _, bracket := strings.Cut(inner, "[")
	f.dots += strings.Count(before, ".")
	if bracket || strings.Contains(inner, "**") {
		f.slashes = -1
	}
	switch {
	case inner == "":
		f.kind = plainRule
	case inner == "*" && !anchored:
		f.kind = starRule
	}
	return f
}

// match decides about the entry name of the directory dir, a path below the
// walk's root with a final slash or empty. The name has no slash.
func (s *ruleSet) match(dir string, name []byte, isDir bool, path *pathBuf) outcome {
	last := int32(-1)
	if s.names != nil && s.firsts[name[0]] {
		for at := s.names[string(name)]; at-1 > last; at = s.rules[at-1].prev {
			r := &s.rules[at-1]
			if (isDir || !r.dirOnly) && (!r.anchored || s.holds(r, dir, len(name))) {
				last = at - 1
			}
		}
	}
	if s.exts != nil && s.lasts[name[len(name)-1]] {
		if dot := bytes.LastIndexByte(name, '.'); dot >= 0 {
			for at := s.exts[string(name[dot:])]; at-1 > last; at = s.rules[at-1].prev {
				r := &s.rules[at-1]
				if (isDir || !r.dirOnly) && hasSuffix(name, r.tail) {
					last = at - 1
				}
			}
		}
	}
	dots := -1
	for k := len(s.others) - 1; k >= 0 && s.others[k] > last; k-- {
		r := &s.rules[s.others[k]]
		if r.dirOnly && !isDir {
			continue
		}
		if r.dots > 1 && !r.anchored {
			if dots < 0 {
				dots = bytes.Count(name, dot[:])
			}
			if dots < r.dots {
				continue
			}
		}
		if s.matches(r, dir, name, path) {
			last = s.others[k]
		}
	}
	if last < 0 {
		return unmatched
	}
	if s.rules[last].include {
		return included
	}
	return excluded
}

var dot = [...]byte{'.'}

// matches says whether a rule that has to be looked at by itself matches.
func (s *ruleSet) matches(r *rule, dir string, name []byte, path *pathBuf) bool {
	if r.anchored {
		if r.slashes >= 0 && r.slashes != path.depth(dir)+s.deeper {
			return false
		}
		return (strings.Contains(r.tail, "/") || hasSuffix(name, r.tail)) && wildmatch(r.pattern, path.below(s, dir, name))
	}
	return hasPrefix(name, r.head) && hasSuffix(name, r.tail) &&
		(r.kind == starRule && len(name) >= len(r.head)+len(r.tail) || r.kind == wildRule && wildmatch(r.pattern, string(name)))
}

// holds says whether dir is the directory that an anchored plain rule names;
// the rule's last n bytes are the entry's name.
func (s *ruleSet) holds(r *rule, dir string, n int) bool {
	want := r.pattern[:len(r.pattern)-n]
	if s.prefix == "" {
		return dir[len(s.base):] == want
	}
	rest, ok := strings.CutPrefix(want, s.prefix)
	return ok && rest == dir
}

func hasPrefix(name []byte, s string) bool { return len(name) >= len(s) && string(name[:len(s)]) == s }

func hasSuffix(name []byte, s string) bool {
	return len(name) >= len(s) && string(name[len(name)-len(s):]) == s
}

// A pathBuf works out once what several rule sets ask of a path.
type pathBuf struct {
	full    string
	slashes int // 1 + those of the directory; 0 when not counted
}

func (b *pathBuf) below(s *ruleSet, dir string, name []byte) string {
	if b.full == "" {
		b.full = dir + string(name)
	}
	if s.prefix != "" {
		return s.prefix + b.full
	}
	return b.full[len(s.base):]
}

// depth is how many slashes dir has.
func (b *pathBuf) depth(dir string) int {
	if b.slashes == 0 {
		b.slashes = 1 + strings.Count(dir, "/")
	}
	return b.slashes - 1
}
