package sandbox

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// births remember what directories are, by their paths, while nothing is put back.
type births map[string]string

func (w births) born(dir string) string {
	id, known := w[dir]
	if !known {
		id = bornAt(dir)
		w[dir] = id
	}
	return id
}

// to is which directories lead from the top of the repository that a path is in to what
// is there, the innermost first; nil where the root is the top, or one cannot be told from others.
func (w births) to(root, path string) (way []string) {
	for up := filepath.Dir(path); up != root && safefile.Below(root, up); up = filepath.Dir(up) {
		id := w.born(up)
		if id == "" {
			return nil
		}
		if way = append(way, id); filepath.Base(up) != ".git" && w.born(filepath.Join(up, ".git")) != "" {
			return way
		}
	}
	return nil
}

// follow has what was in a user's repository be where that is by now: moved as a whole, it takes its settings
// and hooks along, to where another one was, too. The first that many paths have appeared.
func (s *Snapshot) follow(appeared int) {
	at, known := births{}, map[string]*guarded{}
	key := func(way []string, name string) string {
		return strings.Join(append(slices.Clone(way), filepath.Base(name)), "/")
	}
	was := slices.Clone(s.paths)
	for i := range was {
		if g := &was[i]; g.way != nil {
			known[key(g.way, g.name)] = g
		}
	}
	if len(known) == 0 {
		return
	}
	for i := range s.paths {
		g := &s.paths[i]
		if i >= appeared && !g.loose {
			continue
		}
		way := at.to(g.dir, filepath.Join(g.dir, g.name))
		if h := known[key(way, g.name)]; way != nil && h != nil && !slices.Equal(way, g.way) {
			g.becomes(h)
		}
	}
}

// becomes has g be what another was.
func (g *guarded) becomes(other *guarded) {
	now := map[string]saved{}
	for path, e := range other.was {
		now[g.name+strings.TrimPrefix(path, other.name)] = e
	}
	g.was, g.loose = now, true
}
