package rg

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// A globTarget is the part of a pattern that is spelled out and the rest.
type globTarget struct {
	base     string // slash-separated directory below the root; "" for the root
	patterns []string
	literal  bool // base is all of the pattern
}

// globTargets splits the patterns so that patterns with a common literal
// directory share a walk.
func globTargets(root string, patterns []string, dirs bool) ([]globTarget, error) {
	var out []globTarget
	for _, given := range patterns {
		expanded, err := expandBraces(given)
		if err != nil {
			return nil, err
		}
		for _, p := range expanded {
			t, err := globTargetOf(root, given, p, dirs)
			if err != nil {
				return nil, err
			}
			i := slices.IndexFunc(out, func(o globTarget) bool { return o.base == t.base && o.literal == t.literal })
			if i < 0 {
				out = append(out, t)
			} else {
				out[i].patterns = append(out[i].patterns, t.patterns...)
			}
		}
	}
	if len(out) == 0 {
		return nil, &GlobError{Message: "there is no pattern"}
	}
	return out, nil
}

func globTargetOf(root, given, pattern string, dirs bool) (globTarget, error) {
	bad := func(message string) (globTarget, error) {
		return globTarget{}, &GlobError{Glob: given, Message: message}
	}
	pattern = filepath.ToSlash(pattern)
	if filepath.IsAbs(filepath.FromSlash(pattern)) {
		slashed := strings.TrimSuffix(filepath.ToSlash(root), "/") + "/"
		rest, ok := strings.CutPrefix(pattern, slashed)
		if !ok {
			return bad("it lies outside the root")
		}
		pattern = rest
	}
	for {
		rest, ok := strings.CutPrefix(pattern, "./")
		if !ok {
			break
		}
		pattern = rest
	}
	switch {
	case pattern == "":
		return bad("it is empty")
	case strings.HasPrefix(pattern, "!"):
		return bad("it begins with !, which leaves out nothing here; write \\! for a name that begins so")
	case !doublestar.ValidatePattern(pattern):
		return bad("a bracket or brace is not closed, or a backslash quotes nothing")
	}
	for part := range strings.SplitSeq(pattern, "/") {
		if part == ".." {
			return bad("it leads out of the root")
		}
	}
	dirOnly := strings.HasSuffix(pattern, "/")
	pattern = strings.TrimRight(pattern, "/")
	if dirOnly && !dirs {
		pattern += "/**"
		dirOnly = false
	}
	base, rest := doublestar.SplitPattern(pattern)
	if base = path.Clean(base); base == "." {
		base = ""
	}
	if !strings.ContainsAny(pattern, `*?[{\`) {
		return globTarget{base: path.Clean(pattern), literal: true}, nil
	}
	if dirOnly {
		rest += "/"
	}
	return globTarget{base: base, patterns: []string{rest}}, nil
}
