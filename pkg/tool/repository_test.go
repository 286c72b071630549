package tool

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestRepositories: a write in a directory that is a repository, or becomes one by the
// call, counts as one in a .git there, with the settings that git would find.
func TestRepositories(t *testing.T) {
	for _, c := range []struct {
		name          string
		there, writes []string
		want          []string // of all accesses, those in a .git
	}{
		{"no repository", []string{"d/HEAD", "d/objects/x", "d/config"}, []string{"d/config"}, nil},
		{"settings of one", []string{"d/HEAD", "d/objects/x", "d/refs/x"}, []string{"d/config"}, []string{"d/.git/config"}},
		{"a hook of one", []string{"d/HEAD", "d/objects/x", "d/refs/x"}, []string{"d/hooks/pre-commit"}, []string{"d/.git/hooks/pre-commit"}},
		{"beside one", []string{"d/HEAD", "d/objects/x", "d/refs/x"}, []string{"d/notes/config"}, nil},
		{"the settings come first", []string{"d/HEAD", "d/objects/x", "d/config"}, []string{"d/refs/x"}, []string{"d/.git/config", "d/.git/refs/x"}},
		{"all at once", nil, []string{"d/HEAD", "d/objects/x", "d/refs/x", "d/config"}, []string{"d/.git/HEAD", "d/.git/config", "d/.git/objects/x", "d/.git/refs/x"}},
		{"in other letters", nil, []string{"d/head", "d/OBJECTS/x", "d/Refs/x"}, []string{"d/.git/OBJECTS/x", "d/.git/Refs/x", "d/.git/head"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			env, tool, _ := open(t, "")
			root := env.Workspace.Root()
			for _, name := range c.there {
				file := filepath.Join(root, name)
				if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			needs, err := (&Invocation{Tool: tool, Call: &probe{Paths: c.writes}}).Needs(t.Context(), env)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, a := range needs[len(c.writes):] {
				rel, _ := filepath.Rel(root, a.Path)
				got = append(got, filepath.ToSlash(rel))
			}
			slices.Sort(got)
			if got = slices.Compact(got); !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
