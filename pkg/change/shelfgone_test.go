package change

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestShelfGone: what somebody takes away while an undo is at work is no obstacle, neither
// to it nor to what comes after it.
func TestShelfGone(t *testing.T) {
	for name, gone := range map[string]string{
		"a file that goes":                     "made",
		"a directory that goes":                "dir",
		"a file that is replaced":              "d/f",
		"a file that is written where it is":   "hard",
		"the directory that something goes of": "e",
		"the directory that a file comes to":   "d",
		"nothing":                              "nothing",
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.put("d/f", "old")
			s.put("e/other", "x")
			s.put("hard", "old")
			if err := os.Link(s.abs("hard"), s.abs("name")); err != nil {
				t.Fatal(err)
			}
			s.put("z", "z")
			if _, err := shelve(s.History, []Doomed{{Path: "d/f"}, {Path: "dir"}, {Path: "e/made"}, {Path: "hard", Written: true}, {Path: "made"}, {Path: "z"}}, func(root string) error {
				in := func(rel string) string { return filepath.Join(root, rel) }
				return errors.Join(
					os.Remove(in("d/f")), os.WriteFile(in("d/f"), []byte("new"), 0o600), os.Mkdir(in("dir"), 0o700),
					os.WriteFile(in("made"), nil, 0o600), os.WriteFile(in("e/made"), nil, 0o600), os.WriteFile(in("hard"), []byte("new"), 0o600), os.Remove(in("z")),
				)
			}); err != nil {
				t.Fatal(err)
			}
			s.at = func(point string) {
				if point == "recorded" {
					s.at = nil
					if err := os.RemoveAll(s.abs(gone)); err != nil {
						t.Error(err)
					}
				}
			}
			u, err := s.Undo(t.Context(), "", UndoOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for file, want := range map[string]string{"d/f": "old", "hard": "old", "z": "z"} {
				if have := s.get(file); have != want {
					t.Errorf("%s is %q", file, have)
				}
			}
			for _, file := range []string{"dir", "made", "e/made"} {
				if _, err := os.Lstat(s.abs(file)); err == nil {
					t.Error(file, "is there")
				}
			}
			s.clean()
			s.undo(u.ID)
			if s.get("d/f") == "old" {
				t.Error("it is not done again")
			}
			s.clean()
		})
	}
}
