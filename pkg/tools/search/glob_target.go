package search

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

const wildcards = `*?[{\`

// A globTarget is what Needs has made of path and pattern, and Run searches.
type globTarget struct {
	path  string // of the directory, as the call or an absolute pattern names it
	dir   workspace.Path
	given []string // the patterns, relative to the directory
	here  bool     // the pattern was absolute: it says itself how deep it goes
	note  string   // how the pattern was understood, where that is not what it says
}

// absoluteTarget takes a pattern apart that begins with a slash. One whose
// directory is not there is meant from the root on, as in an ignore file, and so is
// one that names no directory.
func absoluteTarget(env *tool.Env, pattern string) globTarget {
	dir, rest := split(pattern)
	t := globTarget{path: dir, given: []string{rest}, here: true}
	below := strings.TrimPrefix(dir, "/")
	if below == dir { // a path with a drive
		return t
	}
	if there, err := env.Workspace.Resolve(dir); below != "" && (err != nil || there.Exists) {
		return t
	}
	below = cmp.Or(below, ".")
	if p, err := env.Workspace.Resolve(below); err == nil && p.Exists {
		t.path = below
		t.note = fmt.Sprintf("taken as %s: without a directory of that name, a pattern is relative to the root\n", tool.VisibleName(strings.TrimPrefix(pattern, "/")))
	}
	return t
}

// split cuts an absolute pattern behind its last directory without a wildcard.
func split(pattern string) (dir, rest string) {
	parts := strings.Split(filepath.ToSlash(pattern), "/")
	n := 0
	for n < len(parts)-1 && !strings.ContainsAny(parts[n], wildcards) {
		n++
	}
	dir = strings.Join(parts[:n], "/")
	if dir == "" || strings.HasSuffix(dir, ":") {
		dir += "/"
	}
	return dir, strings.Join(parts[n:], "/")
}

// patterns are the call's, where those without a slash match at any depth.
func (t *globTarget) patterns() []string {
	var list []string
	for _, pattern := range t.given {
		list = append(list, strings.TrimPrefix(pattern, "./"))
		if !strings.Contains(pattern, "/") && pattern != "**" && !t.here {
			list = append(list, "**/"+pattern)
		}
	}
	return list
}

// prefix is what paths below the directory are shown with in front.
func (t *globTarget) prefix() string {
	switch {
	case !t.dir.Inside:
		return strings.TrimSuffix(filepath.ToSlash(t.dir.Real), "/") + "/"
	case t.dir.Rel != ".":
		return t.dir.Rel + "/"
	}
	return ""
}

// wantsDirs says whether the patterns ask for directories: each ends in a slash
// behind a wildcard.
func (t *globTarget) wantsDirs() bool {
	return !slices.ContainsFunc(t.given, func(pattern string) bool {
		rest, ok := strings.CutSuffix(pattern, "/")
		return !ok || !strings.ContainsAny(rest[strings.LastIndexByte(rest, '/')+1:], wildcards)
	})
}
