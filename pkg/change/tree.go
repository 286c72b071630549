package change

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

// What Track keeps between two runs:
//
//	journal/track/index    a line for the pack, then one for each file in it
//	journal/track/pack-ID  the contents, one after the other
const (
	trackDir  = "track"
	indexFile = "index"
)

const other Kind = "other" // a FIFO, a socket, a device

// seen is what a name stood for, and how to know that it still does.
type seen struct {
	State
	dev, ino     uint64
	ctime, mtime int64 // nanoseconds
	offset       int64 // of the content in the pack; -1 when it is not kept
}

func (s seen) at(offset int64) seen { s.offset = offset; return s }

func (s seen) sameFile(t seen) bool { return s.dev == t.dev && s.ino == t.ino }

// A tree is what all names stood for at a time.
type tree struct {
	seen  map[string]seen // by slash-separated path from the root
	began time.Time
	full  bool // too many: what is in it is of no use
	bytes int64
	o     TrackOptions
	pack  *os.File
}

func (t *tree) close() {
	if t.pack != nil {
		_ = t.pack.Close()
	}
}

func (t *tree) content(s seen) ([]byte, error) {
	data := make([]byte, s.Size)
	_, err := t.pack.ReadAt(data, s.offset)
	return data, err
}

// why says why a content was not kept.
func (t *tree) why(s seen) string {
	if s.Size > t.o.MaxFile {
		return fmt.Sprintf("%d bytes, the limit for a file is %d", s.Size, t.o.MaxFile)
	}
	if t.bytes+s.Size > t.o.MaxBytes {
		return fmt.Sprintf("the limit for all files is %d bytes", t.o.MaxBytes)
	}
	return "it could not be read"
}

// walk looks at every name, links not followed. What vanishes meanwhile is
// not there.
func (h *History) walk(ctx context.Context, o TrackOptions) (*tree, error) {
	root, state := h.w.Root(), h.session.StateDir()
	t := &tree{seen: map[string]seen{}, began: time.Now(), o: o}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil {
			err = context.Cause(ctx)
		} else if path != root && (missing(err) || errors.Is(err, fs.ErrPermission)) {
			return nil // the names in it cannot be read, so they cannot be tracked
		}
		if err != nil || path == root {
			return err
		}
		rel := filepath.ToSlash(path[len(root):])
		rel = strings.TrimPrefix(rel, "/")
		if path == state || o.Skip != nil && o.Skip(rel, entry) {
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if workspace.IsTemp(entry.Name()) {
			return nil
		}
		if len(t.seen) == o.MaxEntries {
			t.full = true
			return fs.SkipAll
		}
		if s, ok := glance(path, entry); ok {
			t.seen[rel] = s
		}
		return nil
	})
	return t, err
}

// glance is what can be known without opening the file.
func glance(path string, entry fs.DirEntry) (seen, bool) {
	info, err := entry.Info()
	if err != nil {
		return seen{}, false
	}
	s := seen{State: State{Mode: info.Mode() & safefile.ModeBits}, offset: -1}
	switch mode := info.Mode(); {
	case mode.IsDir():
		s.Kind = Dir // its times say what is in it, which is looked at anyway
		return s, true
	case mode&fs.ModeSymlink != 0:
		s.Kind, s.Mode = Link, 0
		s.Target, err = os.Readlink(path)
		return s, err == nil
	case mode.IsRegular():
		s.Kind, s.Size, s.mtime = Regular, info.Size(), info.ModTime().UnixNano()
	default:
		s.Kind = other
	}
	s.dev, s.ino, s.ctime = identity(info)
	return s, true
}

// snapshot is walk with the contents of small files in the pack.
func (h *History) snapshot(ctx context.Context, o TrackOptions) (*tree, error) {
	t, err := h.walk(ctx, o)
	if err != nil || t.full {
		return t, err
	}
	dir, err := h.store.top.Make(trackDir)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	lock, err := dir.Lock(ctx, holdFile)
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	p, err := openPack(dir, o)
	if err != nil {
		return nil, err
	}
	t.pack = p.f
	if err := p.fill(ctx, h, t); err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}
