package committed

import (
	"os"
	"path/filepath"
)

// Around returns the directories outside a root that git reads in it: the work
// tree that the root is a part of, and where a .git file leads.
func Around(root string) []string {
	var list []string
	for dir := root; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			if dir != root {
				list = append(list, dir)
			}
			if git := gitDir(dir); git != filepath.Join(dir, ".git") {
				if common := commonDir(git); filepath.Base(common) == ".git" && readable(git+"/gitdir") == filepath.Join(dir, ".git") {
					list = append(list, common) // of a worktree
				}
			}
			return list
		}
		if dir == filepath.Dir(dir) {
			return list
		}
	}
}
