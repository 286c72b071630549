package files

import (
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/agentkit-go/agentkit/pkg/change"
	"github.com/agentkit-go/agentkit/pkg/overlay"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// What undo and apply bring is not made by the commands that run meanwhile: where the policy lets no command make
// it, it is noted as what write and edit have written. It is read before a command can reach it, or is as it was
// before that.

// Bounds of what is noted of one call.
const (
	maxBrought     = 20_000  // names that are looked at
	maxBroughtSize = 4 << 20 // bytes of a file
)

// brought notes the protected files in the directories that an undo which began at that time has put back, which
// were on a shelf: whatever has been touched since, or moved there, is a command's.
func brought(env *tool.Env, on map[string][2]uint64, began time.Time) {
	left := maxBrought
	for top, id := range on {
		look := safefile.NewLooker(top)
		at, err := look.Look(".")
		is := err == nil && [2]uint64{at.Dev, at.Ino} == id
		_ = filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
			if left--; left < 0 || !is {
				return fs.SkipAll
			}
			rel, bad := filepath.Rel(top, path)
			if err != nil || bad != nil || path == top {
				return nil //nolint:nilerr // it is not noted
			}
			at, err := look.Look(filepath.ToSlash(rel))
			touched := err != nil || at.CTime == 0 || at.CTime >= began.UnixNano()
			switch {
			case touched && e.IsDir(): // with all that lies in it
				return fs.SkipDir
			case !touched && e.Type().IsRegular() && env.Policy.NotableIn(env.Workspace.Root(), path):
				sum, size, ok := sumOf(path)
				if again, err := look.Look(filepath.ToSlash(rel)); ok && err == nil && again == at {
					noteMade(env, path, sum, size)
				}
			}
			return nil
		})
		look.Close()
	}
}

// A made file is one of a trial that is to come to a protected place.
type made struct {
	path, sum string
	size      int64
}

// making lists those of a trial that are new there. They lie where no command reaches them.
func making(env *tool.Env, t *overlay.Trial) (list []made) {
	for i := range t.Changes {
		c := &t.Changes[i]
		path := filepath.Join(env.Workspace.Root(), filepath.FromSlash(string(c.Path)))
		if c.Action != "create" || c.After.Kind != change.Regular || !env.Policy.NotableIn(env.Workspace.Root(), path) || len(list) == maxBrought {
			continue
		}
		if sum, size, ok := sumOf(t.Made(c)); ok {
			list = append(list, made{path, sum, size})
		}
	}
	return list
}

func sumOf(path string) (sum string, size int64, ok bool) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxBroughtSize {
		return "", 0, false
	}
	data, err := safefile.ReadRegular(path, maxBroughtSize)
	return safefile.Sum(data), int64(len(data)), err == nil
}

func noteMade(env *tool.Env, path, sum string, size int64) {
	env.Made(env.Policy, &change.File{Path: path, Before: change.State{Kind: change.Missing}, After: change.State{Kind: change.Regular, Hash: sum, Size: size}})
}
