package policy

import (
	"cmp"
	"errors"
	"path"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// A pathGlob is a compiled path pattern: a literal directory, then a glob
// below it.
type pathGlob struct {
	base  string        // literal, absolute, slash-separated, without a final slash; "" for the file-system root
	glob  string        // "" when the pattern is literal
	alts  []alternative // of a globPath
	name  []string      // of a namePath
	kind  globKind
	cover bool // what lies below a match matches too, as for deny rules
	fold  bool // base and glob are folded; so must the path be
}

type globKind uint8

const (
	literalPath globKind = iota // base itself
	treePath                    // base/**
	namePath                    // base/**/NAME, where NAME has no meta but *
	globPath
)

var (
	errDotDot = errors.New(".. after a wildcard can never match")
	errNoHome = errors.New("there is no home directory for ~")
	errTilde  = errors.New("~NAME is not supported; write the whole path")
	errGlob   = errors.New("the glob is malformed")
	errDollar = errors.New("variables are not expanded; write ~/ or the path itself")
)

// parsePath compiles a pattern that is absolute, below ~/, or relative to root.
func parsePath(pattern, root, home string, cover, fold bool) (*pathGlob, error) {
	rest, base, err := anchor(pattern, root, home)
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(rest, "/") {
		rest += "**" // "src/" means what lies below it
	}
	g := &pathGlob{base: base, cover: cover, fold: fold}
	for rest != "" {
		segment, tail, _ := strings.Cut(rest, "/")
		if strings.ContainsAny(segment, "*?[{") {
			break
		}
		g.base = joinSegment(g.base, unescape(segment))
		rest = tail
	}
	g.glob = rest
	if fold {
		g.base, g.glob = foldPath(g.base), foldPath(g.glob)
	}
	return g, g.classify()
}

// anchor splits a pattern into the directory it starts from and the rest.
func anchor(pattern, root, home string) (rest, base string, err error) {
	switch {
	case pattern == "":
		return "", "", errEmpty
	case strings.ContainsFunc(pattern, isControl):
		return "", "", errControl
	case pattern == "~" || strings.HasPrefix(pattern, "~/"):
		if home == "" {
			return "", "", errNoHome
		}
		return strings.TrimPrefix(pattern[1:], "/"), trimSlash(slashed(home)), nil
	case pattern[0] == '~' && strings.Contains(pattern, "/"):
		return "", "", errTilde
	case strings.HasPrefix(pattern, "$HOME") || strings.HasPrefix(pattern, "${"):
		return "", "", errDollar
	case pattern[0] == '/':
		return strings.TrimLeft(pattern, "/"), "", nil
	case isDrive(pattern):
		return strings.TrimLeft(pattern[2:], "/"), pattern[:2], nil
	}
	return pattern, trimSlash(slashed(root)), nil
}

func joinSegment(base, segment string) string {
	switch segment {
	case "", ".":
		return base
	case "..":
		return trimSlash(path.Dir(base + "/"[:b2i(base == "")]))
	}
	return base + "/" + segment
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (g *pathGlob) classify() (err error) {
	if g.alts, err = compileGlob(g.glob, g.cover); err != nil {
		return err
	}
	switch name, deep := strings.CutPrefix(g.glob, "**/"); {
	case g.glob == "":
		g.kind = literalPath
	case g.glob == "**":
		g.kind = treePath
	case deep && !strings.ContainsAny(name, "/?[{\\") && !strings.Contains(name, "**"):
		g.kind, g.name = namePath, strings.Split(name, "*")
	default:
		g.kind = globPath
	}
	return nil
}

// match reports whether an absolute, slash-separated path is matched.
func (g *pathGlob) match(p string) bool {
	rest, ok := g.below(p)
	if !ok {
		return false
	}
	switch g.kind {
	case literalPath:
		return rest == "" || g.cover
	case treePath:
		return true
	case namePath:
		return g.matchName(rest)
	}
	return matchGlob(g.alts, rest)
}

// below returns p relative to the base.
func (g *pathGlob) below(p string) (string, bool) {
	if !strings.HasPrefix(p, g.base) {
		return "", false
	}
	rest := p[len(g.base):]
	if rest == "" {
		return "", true
	}
	if rest[0] != '/' {
		return "", false
	}
	return rest[1:], true
}

func (g *pathGlob) matchName(rest string) bool {
	if !g.cover {
		return matchOne(g.name, rest[strings.LastIndexByte(rest, '/')+1:])
	}
	for {
		name, tail, more := strings.Cut(rest, "/")
		if matchOne(g.name, name) {
			return true
		}
		if !more {
			return false
		}
		rest = tail
	}
}

func matchOne(parts []string, name string) bool {
	if len(parts) == 1 {
		return parts[0] == name
	}
	return len(name) >= len(parts[0])+len(parts[len(parts)-1]) && matchParts(parts, name)
}

// reaches reports whether something below the directory dir may match, and
// whether it certainly does when it exists: the pattern names a place below
// dir without a wildcard before it.
func (g *pathGlob) reaches(dir string) tri {
	if strings.HasPrefix(g.base, dir) && (len(g.base) == len(dir) || g.base[len(dir)] == '/') {
		if g.kind == literalPath || g.kind == treePath || len(g.base) > len(dir) {
			return yes
		}
		return maybe
	}
	rest, ok := g.below(dir)
	if !ok || g.kind == literalPath {
		return no
	}
	if mayReach(g.alts, rest) {
		return maybe
	}
	return no
}

// leads reports whether something below the directory dir may match that would not match elsewhere
// in the root: the pattern has a name above it, and dir is one of these, or lies below it.
func (g *pathGlob) leads(dir, root string) bool {
	rest, below := g.below(dir)
	switch whole := safefile.Below(cmp.Or(g.base, "/"), root); { // what lies in the root is all below the base
	case !below:
		return g.reaches(dir) != no
	case g.kind == namePath:
		return !whole || g.matchName(rest)
	case g.kind == globPath:
		for _, alt := range g.alts {
			states := alt.walk(rest)
			if whole && alt[0].kind == deepSegment {
				states &^= 1 | 1<<1 // the names so far stand for nothing
			}
			if states != 0 {
				return true
			}
		}
		return false
	}
	return g.match(dir)
}

func unescape(segment string) string {
	if !strings.Contains(segment, `\`) {
		return segment
	}
	var b strings.Builder
	for i := 0; i < len(segment); i++ {
		if segment[i] == '\\' && i+1 < len(segment) {
			i++
		}
		b.WriteByte(segment[i])
	}
	return b.String()
}

// escapeGlob makes a path literal in a pattern.
func escapeGlob(p string) string {
	if !strings.ContainsAny(p, `*?[]{}\`) {
		return p
	}
	var b strings.Builder
	for i := 0; i < len(p); i++ {
		if strings.IndexByte(`*?[]{}\`, p[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(p[i])
	}
	return b.String()
}

func trimSlash(p string) string { return strings.TrimRight(p, "/") }

func isDrive(p string) bool {
	return len(p) >= 3 && p[1] == ':' && p[2] == '/' && (p[0]|0x20) >= 'a' && (p[0]|0x20) <= 'z'
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }
