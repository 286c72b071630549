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
}

// A ruleSet is an ignore file. The last rule that matches decides.
type ruleSet struct {
	base   string // path of its directory below the walk's root, with a final slash
	prefix string // path of the walk's root below its directory, with a final slash
	rules  []rule
	names  map[string][2]int32 // rules that are a plain name: 1 + index of the last, of the last not for directories only
	exts   map[string]int32    // rules of the form *.ext, by ".ext": 1 + index of the last
	others []int32             // the rest
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
	s.rules = append(s.rules, r)
	at := int32(len(s.rules))
	switch {
	case !r.anchored && !strings.ContainsAny(r.pattern, wildcards):
		if s.names == nil {
			s.names = map[string][2]int32{}
		}
		last := s.names[r.pattern]
		last[0] = at
		if !r.dirOnly {
			last[1] = at
		}
		s.names[r.pattern] = last
	case !r.anchored && !r.dirOnly && isExtension(r.pattern):
		if s.exts == nil {
			s.exts = map[string]int32{}
		}
		s.exts[r.pattern[1:]] = at
	default:
		s.others = append(s.others, at-1)
	}
}

// isExtension says whether p is * and a plain suffix with its only dot first.
func isExtension(p string) bool {
	return len(p) > 2 && p[0] == '*' && p[1] == '.' && !strings.ContainsAny(p[2:], wildcards+".")
}

// match decides about the entry name of the directory dir, a path below the
// walk's root with a final slash or empty. The name has no slash.
func (s *ruleSet) match(dir string, name []byte, isDir bool, path *pathBuf) outcome {
	last := int32(-1)
	if n, ok := s.names[string(name)]; ok {
		if isDir {
			last = n[0] - 1
		} else {
			last = n[1] - 1
		}
	}
	if s.exts != nil {
		if dot := bytes.LastIndexByte(name, '.'); dot >= 0 {
			last = max(last, s.exts[string(name[dot:])]-1)
		}
	}
	for k := len(s.others) - 1; k >= 0 && s.others[k] > last; k-- {
		r := &s.rules[s.others[k]]
		if r.dirOnly && !isDir {
			continue
		}
		if !r.anchored {
			if mayMatch(r.pattern, name) && wildmatch(r.pattern, string(name)) {
				last = s.others[k]
			}
			continue
		}
		if wildmatch(r.pattern, path.below(s, dir, name)) {
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

// mayMatch is false where the first or the last character rules a match out.
func mayMatch(pattern string, name []byte) bool {
	first, last := pattern[0], pattern[len(pattern)-1]
	if first != name[0] && strings.IndexByte(wildcards, first) < 0 {
		return false
	}
	return last == name[len(name)-1] || last == '*' || last == '?' || last == ']' ||
		len(pattern) > 1 && pattern[len(pattern)-2] == '\\'
}

// A pathBuf joins a path once for all the rule sets that ask for it.
type pathBuf struct {
	full  string
	valid bool
}

func (b *pathBuf) below(s *ruleSet, dir string, name []byte) string {
	if !b.valid {
		b.full = dir + string(name)
		b.valid = true
	}
	if s.prefix != "" {
		return s.prefix + b.full
	}
	return b.full[len(s.base):]
}
