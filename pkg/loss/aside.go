package loss

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/session"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// asideDir is the directory of a session that has the copies: in a directory for each call, by their whole paths.
const asideDir = "aside"

// asideOwn is the file in which a session notes how it left the files that it copied. One that is still
// so holds what the session itself has written.
const asideOwn = "aside.json"

// stampOf tells one state of a file from another.
func stampOf(i fs.FileInfo) string {
	return fmt.Sprint(i.Size(), " ", i.ModTime().UnixNano())
}

// An Aside is what of a call is copied before it.
type Aside struct {
	env  *tool.Env
	was  map[string]fs.FileInfo // the files, as they were before
	Note *tool.Note             // that they were copied; nil where none was
}

// CopyAside copies the files that a call takes away in temporary directories.
func CopyAside(env *tool.Env, files []string) (*Aside, error) {
	s := &Aside{env: env, was: map[string]fs.FileInfo{}}
	if len(files) == 0 {
		return s, nil
	}
	own, to := s.own(), filepath.Join(asideDir, session.NewSortableID("", env.Now()))
	copied, what, dir := 0, "", ""
	for _, path := range files {
		i, err := os.Lstat(path)
		if err == nil {
			s.was[path] = i
		}
		if err == nil && own[path] == stampOf(i) || errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if dir == "" {
			dir, err = env.Session.Mkdir(to)
		}
		volume := filepath.VolumeName(path)
		if err == nil {
			err = copyFile(path, dir, filepath.Join(dir, strings.Trim(volume, `:\?.`), path[len(volume):]))
		}
		if err != nil {
			return nil, tool.Errorf(tool.IO, "nothing was run: %s%s, cannot be copied before it is taken away: %w", path, notMade, err).
				WithHint("choose another name for what the command writes, or move that file away first")
		}
		what = path
		copied++
	}
	switch {
	case copied == 0:
		return s, nil
	case copied > 1:
		what = what + " and " + tool.Count(int64(copied-1), "other file")
	}
	s.Note = new(tool.Notef("what this session has not made was copied to %s first: %s", dir, what))
	return s, nil
}

// own tells how the session left the files that it copied, by their paths.
func (s *Aside) own() map[string]string {
	own := map[string]string{}
	if data, err := s.env.Session.ReadFile(asideOwn); err == nil {
		_ = safefile.DecodeJSON(data, &own) // what cannot be read is copied once more
	}
	return own
}

// Left notes how the command left the files that it wrote where they are. One that it moved there
// may be another that the session has not made.
func (s *Aside) Left(ctx context.Context) {
	if len(s.was) == 0 {
		return
	}
	_ = s.env.Session.Update(ctx, asideOwn, func(old []byte) ([]byte, error) { // what is not noted is copied once more
		own := map[string]string{}
		if old != nil && safefile.DecodeJSON(old, &own) != nil {
			own = map[string]string{}
		}
		for path, was := range s.was {
			if i, err := os.Lstat(path); err == nil && os.SameFile(was, i) {
				own[path] = stampOf(i)
			} else {
				delete(own, path)
			}
		}
		return safefile.EncodeJSON(own)
	})
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
