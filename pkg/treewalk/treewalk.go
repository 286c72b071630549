// Package treewalk tells which files a program meets that works on a directory with all below it: by the patterns and places
// that its options name, and by what a program behind it makes of the names that it prints.
package treewalk

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/programs"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

const (
	// MaxEntries is how many directory entries are looked at for what a command
	// that reads a whole tree would come upon.
	MaxEntries = 300_000

	// MaxForbidden is how many files of these are named; one is enough to ask.
	MaxForbidden = 5
)

// FileOf is what an access to a directory with all below is to one file there.
func FileOf(tree policy.Access, path string) policy.Access {
	tree.Path, tree.Named, tree.File, tree.Tree, tree.Below, tree.Files = path, "", policy.Regular, false, false, nil
	return tree
}

// NoLinks is among the places that an access leaves out where it is about no links.
const NoLinks = ""

// Otherwise reports whether a file in a directory is certainly not what an access is about by more than its name and its
// place, as find knows it by other tests.
func Otherwise(except []string, dir, path string) bool {
	is := func(only string) bool { return slices.Contains(except, only) }
	switch {
	case is(programs.OnlyHere) && strings.Contains(path, "/"):
		return true
	case !is(programs.OnlyFiles) && !is(programs.OnlyLinks):
		return false
	}
	i, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(path)))
	return err == nil && (is(programs.OnlyFiles) && !i.Mode().IsRegular() || is(programs.OnlyLinks) && i.Mode()&fs.ModeSymlink == 0 || is(programs.OnlyEmpty) && i.Mode().IsRegular() && i.Size() > 0)
}

// Patterns are those of the names that an access is about, nil for all names, and the places that
// it leaves out.
func Patterns(a *policy.Access) (only, except []string) {
	for name := range strings.FieldsSeq(a.Names) {
		if place, ok := strings.CutPrefix(name, "!"); ok {
			except = append(except, place)
		} else {
			only = append(only, name)
		}
	}
	return only, except
}

// LeftOut reports whether a path in a tree lies in one of the places: NAME/ is any directory of
// that name, /PATH/ the directory at that path. Both may be patterns, of which a star of find's
// does not match every byte.
func LeftOut(places []string, path string) bool {
	if len(places) == 0 || strings.ContainsFunc(path, func(r rune) bool { return r >= 0x80 }) {
		return false
	}
	dirs := strings.Split(filepath.ToSlash(path), "/")
	dirs = dirs[:len(dirs)-1]
	matches := func(pattern, name string) bool {
		ok, err := filepath.Match(pattern, name)
		return ok && err == nil
	}
	return slices.ContainsFunc(places, func(place string) bool {
		at, anchored := strings.CutPrefix(strings.TrimSuffix(place, "/"), "/")
		parts := strings.Split(at, "/")
		if !anchored {
			return slices.ContainsFunc(dirs, func(dir string) bool { return matches(at, dir) })
		}
		for i, part := range parts {
			if i == len(dirs) || !matches(part, dirs[i]) {
				return false
			}
		}
		return true
	})
}

// MatchesAny reports whether a name matches one of the patterns; any name does
// where there are none.
func MatchesAny(patterns []string, name string) bool {
	return patterns == nil || slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, err := filepath.Match(pattern, name)
		return ok || err != nil || strings.ContainsAny(pattern, "?[") && strings.ContainsFunc(name, func(r rune) bool { return r >= 0x80 }) // a letter may be several there
	})
}

// Meant returns the part of a path in a tree that one of the patterns matches, for all that
// lies below it may be meant, too; "" for none.
func Meant(patterns []string, path string) string {
	path = filepath.ToSlash(path)
	for end := 0; end < len(path); end++ {
		from := end
		if end = strings.IndexByte(path[from:], '/') + from; end < from {
			end = len(path)
		}
		if MatchesAny(patterns, path[from:end]) {
			return path[:end]
		}
	}
	return ""
}

// TakenApart reports whether a path, as it is printed below dir of the root and read as
// text again, at its blanks and quotes, may stand for others: for a file elsewhere, for
// one in the root that may not be read, or for an option.
func TakenApart(env *tool.Env, dir, path string) bool {
	path, err := filepath.Rel(env.Workspace.Root(), filepath.Join(dir, path))
	switch parts := strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune(UnsafeInText, r) }); {
	case err != nil, len(parts) == 0:
		return true
	case len(parts[0]) == len(path):
		return false
	default:
		return strings.ContainsRune(UnsafeInText, rune(path[0])) || slices.ContainsFunc(parts[1:], func(part string) bool {
			read := policy.Access{Kind: policy.Read, Tool: "bash", File: policy.Regular, Path: filepath.Join(env.Workspace.Root(), part)}
			return strings.Contains(part, "/") || optionLike(part) || env.Policy.Decide(&read).Verdict != policy.Allow
		})
	}
}

// PartIsOption reports whether a path, taken apart in the same way, has an option among its parts.
func PartIsOption(path string) bool {
	parts := strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune(UnsafeInText, r) })
	return len(parts) == 0 || len(parts[0]) < len(path) && slices.ContainsFunc(parts[min(1, len(parts)):], optionLike)
}

// optionLike reports whether programs may take a word for something else than a name: for an
// option, an assignment, a place at a host, or a file that holds further words.
func optionLike(word string) bool {
	return strings.IndexByte("-+@", word[0]) >= 0 || strings.ContainsAny(word, "=:")
}

// UnsafeInText are the bytes at which xargs takes its input apart.
const UnsafeInText = " \t\n\v\f\r'\"\\"
