package workspace

import (
	"cmp"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/nearest"
)

// The bounds of a search for near names.
const (
	nearEntries = 20_000                // directory entries looked at
	nearTime    = 50 * time.Millisecond // spent on looking
	nearPaths   = 4                     // ways followed where a directory's name is wrong too
)

// Ranks of near names; the lower the better. A misspelled name ranks by its
// distance, so one letter wrong beats a right name in another place.
const (
	rankCase      = 0  // another case only
	rankTypo      = 10 // per letter wrong
	rankElsewhere = 15 // the same base name in another directory
	rankStem      = 18 // the same name but for its extension
	rankFar       = 40 // what ranks so is not near
)

// Near returns up to limit existing names that may have been meant by a Path
// that does not exist, best first: other case, few letters wrong or swapped,
// another extension, the same name elsewhere. They are relative to the root,
// with slashes. There are none for what exists or lies outside the root. The
// search looks at no more than 20,000 entries and 50 ms of the tree.
func (w *Workspace) Near(p Path, limit int) []string {
	if !p.resolved || !p.Inside || p.Exists || p.Rel == "." || limit < 1 {
		return nil
	}
	n := near{w: w, until: time.Now().Add(nearTime), rank: map[string]int{}}
	comps := strings.Split(p.Rel, "/")
	n.descend(".", comps, 0)
	n.elsewhere(comps[len(comps)-1], path.Dir(p.Rel))
	var names []string
	for name := range n.rank {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(n.rank[a], n.rank[b]), cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	return names[:min(limit, len(names))]
}

type near struct {
	w     *Workspace
	seen  int
	until time.Time
	rank  map[string]int // by name relative to the root
}

func (n *near) add(rel string, rank int) {
	if old, ok := n.rank[rel]; !ok || rank < old {
		n.rank[rel] = rank
	}
}

// descend follows comps from dir, over names that are nearly right.
func (n *near) descend(dir string, comps []string, rank int) {
	type way struct {
		name string
		rank int
	}
	var ways []way
	n.list(dir, func(name string, isDir bool) {
		if r := rank + nearness(comps[0], name); r < rankFar && (isDir || len(comps) == 1) {
			ways = append(ways, way{name, r})
		}
	})
	slices.SortFunc(ways, func(a, b way) int { return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.name, b.name)) })
	for i, next := range ways {
		rel := path.Join(dir, next.name)
		switch {
		case len(comps) == 1:
			n.add(rel, next.rank)
		case i < nearPaths:
			n.descend(rel, comps[1:], next.rank)
		}
	}
}

// elsewhere looks for base through the tree, breadth first.
func (n *near) elsewhere(base, wanted string) {
	for queue := []string{"."}; len(queue) > 0; queue = queue[1:] {
		dir := queue[0]
		more := n.list(dir, func(name string, isDir bool) {
			rel := path.Join(dir, name)
			if strings.EqualFold(name, base) && dir != wanted {
				n.add(rel, rankElsewhere)
			}
			if isDir && name != ".git" && name != "node_modules" {
				queue = append(queue, rel)
			}
		})
		if !more {
			return
		}
	}
}

// list gives the entries of a directory to f, links as files. It returns
// false when the bounds are reached.
func (n *near) list(rel string, f func(name string, isDir bool)) bool {
	dir := Path{Given: rel, Real: filepath.Join(n.w.root, filepath.FromSlash(rel)), resolved: true}
	for e, err := range n.w.Entries(dir) {
		if err != nil {
			break
		}
		if n.seen++; n.seen > nearEntries || n.seen%256 == 0 && time.Now().After(n.until) {
			return false
		}
		if !IsTemp(e.Name()) {
			f(e.Name(), e.IsDir())
		}
	}
	return n.seen <= nearEntries
}

// nearness ranks name for one who wrote want; 0 for the same.
func nearness(want, name string) int {
	if want == name || strings.EqualFold(want, name) {
		return rankCase
	}
	a, b := strings.ToLower(want), strings.ToLower(name)
	rank := rankFar
	if stem := strings.TrimSuffix(a, path.Ext(a)); len(stem) > 1 && stem == strings.TrimSuffix(b, path.Ext(b)) {
		rank = rankStem
	}
	most := (len(a) + 2) / 3
	if d := len(a) - len(b); d > most || -d > most {
		return rank
	}
	if d := nearest.Distance(a, b); d <= most {
		rank = min(rank, d*rankTypo)
	}
	return rank
}
