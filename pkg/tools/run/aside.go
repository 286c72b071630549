package run

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/machine"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// Bounds of what one call copies out of temporary directories before it takes that away: undo
// reaches nothing there.
const (
	maxAside      = 64 << 20 // bytes
	maxAsideFiles = 1000
)

// asideDir is the directory of a session that has the copies, by their whole paths. A copy stays: it is
// what stood there before the session first took it away, and what comes later is the session's own.
const asideDir = "aside"

// notMade ends what is said of a loss in a temporary directory.
const notMade = ", which this session has not made"

// outside judges a write to a temporary directory by those of its files that the session has not
// made: they are copied before it, where they are few enough. It says why they cannot be.
func (l *losses) outside(w *policy.Access, files []string) (why string) {
	why = "overwrites " + w.Path + notMade
	if w.Op == policy.Delete {
		why = "deletes " + w.Path + notMade
	}
	since, bytes := began(l.env), int64(0)
	var old []string
	for _, path := range files {
		if machine.BornSince(path, since) {
			continue
		}
		switch i, err := os.Lstat(path); {
		case err != nil:
			return why
		case i.Mode()&fs.ModeSymlink != 0 || i.Mode().IsRegular() && i.Size() == 0: // it holds nothing
		case !i.Mode().IsRegular():
			return why
		default:
			old, bytes = append(old, path), bytes+i.Size()
		}
	}
	switch {
	case len(old) == 0:
		return ""
	case bytes > maxAside, len(old) > maxAsideFiles, l.env.Policy.Undo().Commands == policy.UndoOff:
		return why
	}
	l.aside = append(l.aside, old...)
	return ""
}

// copyAside copies the files that a call takes away in temporary directories, and tells where they are.
func copyAside(env *tool.Env, files []string) (*tool.Note, error) {
	if len(files) == 0 {
		return nil, nil
	}
	dir, err := env.Session.Mkdir(asideDir)
	if err != nil {
		return nil, err
	}
	copied, what := 0, ""
	for _, path := range files {
		volume := filepath.VolumeName(path)
		to := filepath.Join(dir, strings.Trim(volume, `:\?.`), path[len(volume):])
		if _, err := os.Lstat(to); err == nil {
			continue
		}
		if err := copyFile(path, dir, to); err != nil {
			return nil, tool.Errorf(tool.IO, "nothing was run: %s%s, cannot be copied before it is taken away: %w", path, notMade, err).
				WithHint("choose another name, or have a rule that names the command allow it (see agentkit help policy)")
		}
		what = path
		copied++
	}
	switch {
	case copied == 0:
		return nil, nil
	case copied > 1:
		what = what + " and " + tool.Count(int64(copied-1), "other file")
	}
	return new(note("what this session has not made was copied to %s first: %s", dir, what)), nil
}

// copyFile copies a file to a path below dir. A part of it never has the name of a copy.
func copyFile(path, dir, to string) error {
	from, err := safefile.OpenRegular(path)
	if err != nil {
		return err
	}
	defer from.Close()
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	part, err := os.CreateTemp(dir, ".part-")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(part.Name()) }()
	n, err := io.Copy(part, io.LimitReader(from, maxAside+1))
	err = cmp.Or(err, part.Close())
	switch {
	case err != nil:
		return err
	case n > maxAside:
		return fmt.Errorf("it is larger than %d bytes by now", maxAside)
	}
	return os.Rename(part.Name(), to)
}
