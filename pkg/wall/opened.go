package wall

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// Opened are directories outside the root that a command may write to, for what it was
// allowed to make in them.
type Opened struct {
	Dirs   map[string][]string // each with the paths that were in it
	Wanted []string            // what may be made
}

// Wants reports whether a path was allowed to be made, or lies on the way to one that was.
func (o *Opened) Wants(path string) bool {
	return slices.ContainsFunc(o.Wanted, func(w string) bool { return safefile.Below(path, w) })
}

// Appeared lists what has come into the directories beside what was wanted.
func (o *Opened) Appeared() (list []string) {
	for dir, before := range o.Dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if path := filepath.Join(dir, e.Name()); !slices.Contains(before, path) && !o.Wants(path) {
				list = append(list, path)
			}
		}
	}
	return list
}

// Planted lists what of that the policy protects, for a command beside which a person goes on
// making files: which of them have made the others cannot be told.
func (o *Opened) Planted(p *policy.Policy) (list []string) {
	for _, path := range o.Appeared() {
		if p.Protects(path) {
			list = append(list, path)
			continue
		}
		if i, err := os.Lstat(path); err != nil || !i.IsDir() {
			continue
		}
		t := (&walker{notable: p.Notable, passed: func(string) bool { return false }}).walk(path)
		for _, hit := range t.hits() {
			if p.Protects(hit) && !below(hit, list) {
				list = append(list, hit)
			}
		}
	}
	return list
}
