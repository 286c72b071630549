package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"time"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// A Filter selects records; a zero field selects all.
type Filter struct {
	Since, Until time.Time // from Since on, before Until
	ID           string
	Session      string
	Tool         string
	Event        Event
	Decision     string
	AfterSeq     uint64
}

func (f Filter) match(r *Record) bool {
	return (f.Since.IsZero() || !r.Time.Before(f.Since)) &&
		(f.Until.IsZero() || r.Time.Before(f.Until)) &&
		(f.ID == "" || f.ID == r.ID) &&
		(f.Session == "" || f.Session == r.Session) &&
		(f.Tool == "" || f.Tool == r.Tool) &&
		(f.Event == "" || f.Event == r.Event) &&
		(f.Decision == "" || f.Decision == r.Decision) &&
		r.Seq > f.AfterSeq
}

// Read yields the records that f selects, oldest first, from the rotated files
// too. It does not check the chain. A line that is no record is yielded as an
// error and reading goes on; a torn last line is left out.
func (a *Audit) Read(ctx context.Context, f Filter) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		files, err := a.open(ctx)
		if err != nil {
			yield(Record{}, fmt.Errorf("reading the audit: %w", err))
			return
		}
		defer closeAll(files)
		for _, file := range files {
			if !read(ctx, file, f, yield) {
				return
			}
		}
	}
}

func read(ctx context.Context, file *os.File, f Filter, yield func(Record, error) bool) bool {
	n := 0
	for line, err := range lines(file) {
		if _, ok := errors.AsType[tornError](err); ok {
			return true
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return yield(Record{}, fmt.Errorf("reading the audit: %s: %w", file.Name(), err)) && false
		}
		n++
		var r Record
		if err := json.Unmarshal(line, &r); err != nil {
			if !yield(Record{}, fmt.Errorf("reading the audit: %s:%d: %w", file.Name(), n, err)) {
				return false
			}
			continue
		}
		if f.match(&r) && !yield(r, nil) {
			return false
		}
	}
	return true
}

// open returns the files of the audit, oldest first, none when there are none.
// The lock keeps a rotation from hiding one.
func (a *Audit) open(ctx context.Context) (files []*os.File, err error) {
	dir, err := safefile.OpenDir(a.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	lock, err := dir.OpenFile(lockName, os.O_RDONLY)
	if err == nil {
		defer lock.Close()
		err = safefile.WaitLock(ctx, lock, false)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	entries, err := dir.ReadDir()
	if err != nil {
		return nil, err
	}
	var names []string // sorted as their numbers are
	current := false
	for _, entry := range entries {
		current = current || entry.Name() == FileName
		if isRotatedName(entry.Name()) {
			names = append(names, entry.Name())
		}
	}
	if current {
		names = append(names, FileName)
	}
	for _, name := range names {
		f, err := dir.OpenFile(name, os.O_RDONLY)
		if err != nil {
			closeAll(files)
			return nil, fmt.Errorf("%s: %w", filepath.Join(a.path, name), err)
		}
		files = append(files, f)
	}
	return files, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}
