package change

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/session"
)

// A pack holds the contents of many small files in one, and knows of each what
// it was read from.
type pack struct {
	dir  *safefile.Dir
	name string
	f    *os.File
	end  int64
	have map[string]packed // by path from the root
}

// packed says what a content was read from, and where it is in the pack.
type packed struct {
	dev, ino           uint64
	ctime, mtime, size int64
	offset             int64
}

func (p packed) of(s seen) bool {
	return p == packed{s.dev, s.ino, s.ctime, s.mtime, s.Size, p.offset} && s.ino != 0
}

// line is the packed as a line of the index: six numbers, then the name.
func (p packed) line(buf []byte, rel string) []byte {
	for _, n := range []uint64{p.dev, p.ino, uint64(p.ctime), uint64(p.mtime), uint64(p.size), uint64(p.offset)} {
		buf = append(strconv.AppendUint(buf, n, 36), ' ')
	}
	return append(strconv.AppendQuote(buf, rel), '\n')
}

func parseLine(line string) (p packed, rel string, ok bool) {
	var n [6]uint64
	for i := range n {
		word, rest, _ := strings.Cut(line, " ")
		v, err := strconv.ParseUint(word, 36, 64)
		if err != nil {
			return p, "", false
		}
		n[i], line = v, rest
	}
	rel, err := strconv.Unquote(line)
	return packed{n[0], n[1], int64(n[2]), int64(n[3]), int64(n[4]), int64(n[5])}, rel, err == nil
}

// openPack opens the pack of the last time, or begins one when there is none
// or more than half of it is of no use any more.
func openPack(dir *safefile.Dir, o TrackOptions) (*pack, error) {
	p := &pack{dir: dir, have: map[string]packed{}}
	old, err := p.load()
	if err == nil && p.end <= 2*o.MaxBytes {
		return p, nil
	}
	if p.f != nil {
		_ = p.f.Close()
	}
	p = &pack{dir: dir, have: map[string]packed{}, name: "pack-" + session.NewID("")}
	if p.f, err = dir.OpenFile(p.name, os.O_RDWR|os.O_CREATE|os.O_EXCL); err != nil {
		return nil, err
	}
	if old != "" {
		_ = dir.Remove(old) // who reads it has it open
	}
	return p, nil
}

func (p *pack) load() (name string, err error) {
	data, err := p.dir.ReadFile(indexFile)
	if err != nil {
		return "", err
	}
	name, lines, _ := strings.Cut(string(data), "\n")
	p.name = name
	for line := range strings.SplitSeq(strings.TrimSuffix(lines, "\n"), "\n") {
		if at, rel, ok := parseLine(line); ok {
			p.have[rel] = at
		}
	}
	if p.f, err = p.dir.OpenFile(p.name, os.O_RDWR); err != nil {
		return p.name, err
	}
	p.end, err = p.f.Seek(0, io.SeekEnd)
	return p.name, err
}

// fill gets the contents that are missing into the pack and writes the index.
func (p *pack) fill(ctx context.Context, h *History, t *tree) error {
	out := bufio.NewWriterSize(p.f, 1<<20)
	if _, err := p.f.Seek(p.end, io.SeekStart); err != nil {
		return err
	}
	fresh := map[string]packed{}
	changed := false
	young := t.began.Add(-50 * time.Millisecond).UnixNano()
	for _, rel := range slices.Sorted(maps.Keys(t.seen)) { // so that the same ones are kept each time
		s := t.seen[rel]
		if s.Kind != Regular || s.Size > t.o.MaxFile || t.bytes+s.Size > t.o.MaxBytes {
			continue
		}
		if err := context.Cause(ctx); err != nil {
			return err
		}
		line, ok := p.have[rel]
		if !ok || !line.of(s) || line.offset+s.Size > p.end {
			data, err := h.readSmall(rel, s.Size)
			if err != nil {
				continue // why says so, if it matters
			}
			line = packed{s.dev, s.ino, s.ctime, s.mtime, s.Size, p.end}
			if _, err := out.Write(data); err != nil {
				return err
			}
			p.end += s.Size
			changed = true
		}
		if max(s.ctime, s.mtime) < young { // else it may change once more without a sign
			fresh[rel] = line
		}
		t.bytes += s.Size
		t.seen[rel] = s.at(line.offset)
	}
	if err := out.Flush(); err != nil || !changed && len(fresh) == len(p.have) {
		return err
	}
	return p.writeIndex(fresh)
}

func (p *pack) writeIndex(lines map[string]packed) error {
	out := []byte(p.name + "\n")
	for rel, at := range lines {
		out = at.line(out, rel)
	}
	return p.dir.WriteFile(indexFile, out, false) // a lost one is made anew
}

// readSmall reads a file of the workspace whose size is known; it is an error
// when it is another one now.
func (h *History) readSmall(rel string, size int64) ([]byte, error) {
	path, err := h.path(filepath.Join(h.w.Root(), filepath.FromSlash(rel)))
	if err != nil {
		return nil, err
	}
	f, err := h.w.OpenFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data := make([]byte, size+1)
	n, err := io.ReadFull(f, data)
	if int64(n) != size || err == nil || !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("reading %s: it is changing", rel)
	}
	return data[:size], nil
}
