package rg

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A pathFilter decides what a walk looks at: ignore rules, hidden files and
// the caller's globs and types.
type pathFilter struct {
	hidden    bool
	noIgnore  bool
	overrides *ruleSet // ripgrep's -g: decides before everything else
	narrow    bool     // some override asks for files, so that others are out
	include   *ruleSet // a file must match, when not nil
	exclude   *ruleSet // neither a file nor a directory may match
	types     *ruleSet // a file must match, when not nil
	notTypes  *ruleSet
	spelled   []string // parts of include globs that ask for hidden names
}

func newPathFilter(o *WalkOptions) (*pathFilter, error) {
	f := &pathFilter{hidden: o.Hidden, noIgnore: o.NoIgnore}
	var err error
	if f.overrides, err = globRules(o.Globs); err != nil {
		return nil, err
	}
	for i := range f.overrides.all() { // as in an ignore file, but ! means out
		r := &f.overrides.rules[i]
		r.include = !r.include
		f.narrow = f.narrow || r.include
	}
	if f.include, err = globRules(o.Include); err != nil {
		return nil, err
	}
	for _, r := range f.include.all() {
		for part := range strings.SplitSeq(r.pattern, "/") {
			if strings.HasPrefix(part, ".") {
				f.spelled = append(f.spelled, part)
			}
		}
	}
	if f.exclude, err = globRules(o.Exclude); err != nil {
		return nil, err
	}
	if f.types, err = typeRules(o.Types); err != nil {
		return nil, err
	}
	f.notTypes, err = typeRules(o.TypesNot)
	return f, err
}

func (s *ruleSet) all() []rule {
	if s == nil {
		return nil
	}
	return s.rules
}

// globRules reads globs in the syntax of ignore files with {a,b} on top: a
// glob without a slash is about the name, others about the path.
func globRules(globs []string) (*ruleSet, error) {
	if len(globs) == 0 {
		return nil, nil
	}
	s := &ruleSet{}
	for _, glob := range globs {
		expanded, err := expandBraces(glob)
		if err != nil {
			return nil, err
		}
		for _, line := range expanded {
			r, ok := parseRule(quoteHash(line))
			if !ok {
				return nil, &GlobError{Glob: glob, Message: "it names nothing"}
			}
			if message := checkGlob(r.pattern); message != "" {
				return nil, &GlobError{Glob: glob, Message: message}
			}
			s.add(r)
		}
	}
	return s, nil
}

// quoteHash lets a glob begin with #, which begins a comment in ignore files
// and in ripgrep's globs.
func quoteHash(glob string) string {
	if strings.HasPrefix(glob, "#") {
		return `\` + glob
	}
	return glob
}

// A GlobError says why a glob cannot be used.
type GlobError struct {
	Glob    string
	Message string
}

// Error gives the glob and the reason.
func (e *GlobError) Error() string {
	return fmt.Sprintf("parsing glob %q: %s", around(e.Glob, 0), e.Message)
}

// Is makes a GlobError match ErrGlob.
func (e *GlobError) Is(target error) bool { return target == ErrGlob }

func checkGlob(pattern string) string {
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			if i++; i == len(pattern) {
				return "a lone backslash at the end"
			}
		case '[':
			end := classEnd(pattern[i:])
			if end < 0 {
				return "unclosed character class"
			}
			i += end
		}
	}
	return ""
}

// classEnd gives where the bracket closes that s begins with, or -1.
func classEnd(s string) int {
	i := 1
	if i < len(s) && (s[i] == '!' || s[i] == '^') {
		i++
	}
	for first := true; i < len(s); first = false {
		switch {
		case s[i] == ']' && !first:
			return i
		case s[i] == '\\':
			i++
		case strings.HasPrefix(s[i:], "[:"):
			if end := strings.Index(s[i:], ":]"); end > 0 {
				i += end + 1
			}
		}
		i++
	}
	return -1
}

const maxExpansion = 1024

// expandBraces writes out every {a,b} and {1..9} of a glob.
func expandBraces(glob string) ([]string, error) {
	open, commas, end := findBraces(glob)
	if open < 0 {
		return []string{glob}, nil
	}
	if end < 0 {
		return nil, &GlobError{Glob: glob, Message: "unclosed brace"}
	}
	tails, err := expandBraces(glob[end+1:])
	if err != nil {
		return nil, err
	}
	if list, ok := countUp(glob[open+1 : end]); ok && len(commas) == 0 {
		glob = glob[:open+1] + strings.Join(list, ",") + glob[end:]
		open, commas, end = findBraces(glob)
	}
	var out []string
	from := open + 1
	for _, to := range append(commas, end) {
		heads, err := expandBraces(glob[from:to])
		if err != nil {
			return nil, err
		}
		for _, head := range heads {
			for _, tail := range tails {
				if len(out) == maxExpansion {
					return nil, &GlobError{Glob: glob, Message: fmt.Sprintf("it stands for more than %d globs", maxExpansion)}
				}
				out = append(out, glob[:open]+head+tail)
			}
		}
		from = to + 1
	}
	return out, nil
}

// countUp writes out 1..9, as bash does; it is false for anything else.
func countUp(text string) ([]string, bool) {
	first, last, ok := strings.Cut(text, "..")
	from, err1 := strconv.Atoi(first)
	to, err2 := strconv.Atoi(last)
	if !ok || err1 != nil || err2 != nil || from > to || to-from >= maxExpansion || first != strconv.Itoa(from) {
		return nil, false
	}
	var list []string
	for n := from; n <= to; n++ {
		list = append(list, strconv.Itoa(n))
	}
	return list, true
}

// findBraces gives the places of the first brace, of the commas inside that
// belong to it and of the brace that closes it.
func findBraces(glob string) (open int, commas []int, end int) {
	open, end = -1, -1
	depth := 0
	for i := 0; i < len(glob); i++ {
		switch glob[i] {
		case '\\':
			i++
		case '[':
			if n := classEnd(glob[i:]); n > 0 {
				i += n
			}
		case '{':
			if depth++; depth == 1 {
				open = i
			}
		case ',':
			if depth == 1 {
				commas = append(commas, i)
			}
		case '}':
			if depth == 0 {
				continue
			}
			if depth--; depth == 0 {
				return open, commas, i
			}
		}
	}
	return open, commas, end
}

// admits says whether the walk goes on to an entry.
func (f *pathFilter) admits(d *dirNode, name []byte, isDir bool) bool {
	var path pathBuf // below the root of the query, where ignore rules look below their own
	if f.overrides != nil {
		switch f.overrides.match(d.root.show+d.path, name, isDir, &path) {
		case included:
			return f.narrows(d.root.show+d.path, name, isDir, &path)
		case excluded:
			return false
		}
		if f.narrow && !isDir {
			return false
		}
	}
	wanted := false // some rule asks for it, hidden or not
	if !f.noIgnore {
		if string(name) == ".git" {
			return false
		}
		switch d.rules.match(d.path, name, isDir) {
		case excluded:
			return false
		case included:
			wanted = true
		}
	}
	if name[0] == '.' && !f.hidden && !wanted && !f.spells(name) {
		return false
	}
	return f.narrows(d.root.show+d.path, name, isDir, &path)
}

// spells says whether a glob of include asks for a hidden name.
func (f *pathFilter) spells(name []byte) bool {
	return slices.ContainsFunc(f.spelled, func(part string) bool { return wildmatch(part, string(name)) })
}

// narrows applies what can only leave things out.
func (f *pathFilter) narrows(dir string, name []byte, isDir bool, path *pathBuf) bool {
	if f.exclude != nil && f.exclude.match(dir, name, isDir, path) == excluded {
		return false
	}
	if isDir {
		return true
	}
	if f.include != nil && f.include.match(dir, name, false, path) != excluded {
		return false
	}
	if f.notTypes != nil && f.notTypes.match(dir, name, false, path) == excluded {
		return false
	}
	return f.types == nil || f.types.match(dir, name, false, path) == excluded
}
