package audit

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// A Report says what Verify found.
type Report struct {
	Files    []string `json:"files"`             // verified, oldest first
	Lines    int      `json:"lines"`             // that are in order
	First    uint64   `json:"first"`             // seq of the first line
	Last     uint64   `json:"last"`              // seq of the last line
	Hash     string   `json:"hash"`              // of the last line: what a witness outside would keep
	Repairs  int      `json:"repairs"`           // torn lines that were dropped, with a line saying so
	Torn     int64    `json:"torn"`              // bytes of a torn last line that the next append will drop
	Missing  string   `json:"missing,omitempty"` // the rotated file before the first, when it is not there
	Anchored bool     `json:"anchored"`          // the end was compared with how far the writers had come
}

// A BrokenError names the first line at which the chain does not hold.
type BrokenError struct {
	File string `json:"file"`
	Line int    `json:"line"` // from 1; one more than the file has when the end is missing
	Why  string `json:"why"`
}

// Error says where and why.
func (e *BrokenError) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Why) }

// maxLine bounds the memory Verify and Read need, whatever a file holds.
const maxLine = 64 << 20

// Verify checks an audit file and the rotated files before it. The error is a
// *BrokenError naming the first line that was changed, inserted or reordered,
// or before or behind which lines are missing; the Report tells what was in
// order up to there. A torn last line, which a killed process leaves, is no
// error. Lines cut off the end are found by the lock file beside the audit; of
// a copy without it, and of a rotated file, they are not. It waits for writers
// until ctx ends.
func Verify(ctx context.Context, path string) (Report, error) {
	file, anchor, err := snapshot(ctx, path)
	if errors.Is(err, fs.ErrNotExist) && anchor.Seq > 0 && !(&verifier{anchor: anchor}).rotatedAway(path) {
		return Report{}, &BrokenError{path, 1, fmt.Sprintf("the file is gone, and entries 1 to %d with it", anchor.Seq)}
	}
	if err != nil {
		return Report{}, fmt.Errorf("verifying the audit: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return Report{}, fmt.Errorf("verifying the audit: %w", err)
	}
	v := &verifier{anchor: anchor}
	older, err := v.predecessors(path)
	if err != nil {
		return v.report, fmt.Errorf("verifying the audit: %w", err)
	}
	for _, name := range older {
		if err := v.path(name); err != nil {
			return v.report, err
		}
	}
	err = v.file(path, io.LimitReader(file, info.Size()))
	if err == nil {
		err = v.end(path)
	}
	return v.report, err
}

// snapshot opens the file and reads the anchor that belongs to it, while no
// one writes.
func snapshot(ctx context.Context, path string) (*os.File, link, error) {
	var anchor link
	lock, err := openRegular(filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".lock"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, link{}, err
	default:
		defer lock.Close()
		if err := safefile.WaitLock(ctx, lock, false); err != nil {
			return nil, link{}, err
		}
		anchor = readAnchor(lock)
	}
	file, err := openRegular(path)
	return file, anchor, err
}

// openRegular does not wait at a FIFO.
func openRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	return os.Open(path)
}

type verifier struct {
	report   Report
	anchor   link
	at       link
	started  bool
	anchored bool // the anchor's entry was found as it should be
	lines    int  // of the present file
}

// predecessors lists the rotated files before path, oldest first.
func (v *verifier) predecessors(path string) ([]string, error) {
	var older []string
	for {
		name, err := predecessor(path)
		if err != nil {
			return nil, err
		}
		if name == "" {
			break
		}
		path = filepath.Join(filepath.Dir(path), name)
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			v.report.Missing = name
			break
		}
		if slices.Contains(older, path) {
			break // a circle: the chain will not hold
		}
		older = append(older, path)
	}
	slices.Reverse(older)
	return older, nil
}

// predecessor returns the file that the first line of path names, "" for none.
func predecessor(path string) (string, error) {
	f, err := openRegular(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	for line, err := range lines(f) {
		if err != nil {
			break
		}
		r, err := parse(line)
		if err == nil && r.Event == Rotate && isRotatedName(r.File) {
			return r.File, nil
		}
		break
	}
	return "", nil
}

func (v *verifier) path(path string) error {
	f, err := openRegular(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := v.file(path, f); err != nil {
		return err
	}
	if v.report.Torn > 0 {
		return &BrokenError{path, v.lines + 1, "the last line has no end"}
	}
	return nil
}

func (v *verifier) file(path string, r io.Reader) error {
	v.report.Files = append(v.report.Files, path)
	v.lines = 0
	for line, err := range lines(r) {
		if torn, ok := errors.AsType[tornError](err); ok {
			v.report.Torn = int64(torn)
			return nil
		}
		if err == nil {
			err = v.line(line)
		}
		if err != nil {
			return &BrokenError{path, v.lines + 1, err.Error()}
		}
		v.lines++
		v.report.Lines++
	}
	return nil
}

// line checks one line against the one before.
func (v *verifier) line(line []byte) error {
	r, err := parse(line)
	if err != nil {
		return err
	}
	first := v.lines == 0
	switch {
	case first && !v.started && r.Event == Rotate:
		v.at = link{r.Seq - 1, r.Prev} // its predecessor is not there to compare
	case first && v.started && r.Event != Rotate:
		return errors.New("does not follow the file before: it is no rotate event")
	}
	switch {
	case r.Seq > v.at.Seq+1:
		return fmt.Errorf("entries %d to %d before it are missing", v.at.Seq+1, r.Seq-1)
	case r.Seq != v.at.Seq+1:
		return fmt.Errorf("out of order: entry %d follows %d", r.Seq, v.at.Seq)
	case r.Prev != v.at.prev():
		return errors.New("does not follow the line before it: one of them was replaced")
	}
	if !v.started {
		v.started, v.report.First = true, r.Seq
	}
	v.at = link{r.Seq, r.Hash}
	v.anchored = v.anchored || v.at == v.anchor
	v.report.Last, v.report.Hash = r.Seq, r.Hash
	if r.Event == Repair {
		v.report.Repairs++
	}
	return nil
}

// end compares the chain with how far the writers had come.
func (v *verifier) end(path string) error {
	if v.anchor.Seq == 0 {
		return nil
	}
	v.report.Anchored = true
	if v.anchored || v.rotatedAway(path) {
		return nil
	}
	if v.at.Seq < v.anchor.Seq {
		return &BrokenError{path, v.lines + 1, fmt.Sprintf("entries %d to %d are missing from the end", v.at.Seq+1, v.anchor.Seq)}
	}
	return &BrokenError{path, v.lines, fmt.Sprintf("entry %d is not the one that was written", v.anchor.Seq)}
}

// rotatedAway reports whether path is the empty successor that a process,
// killed while it rotated, left behind.
func (v *verifier) rotatedAway(path string) bool {
	if v.started {
		return false
	}
	f, err := openRegular(filepath.Join(filepath.Dir(path), rotatedName(v.anchor.Seq)))
	if err != nil {
		return false
	}
	defer f.Close()
	return endsWith(f, v.anchor)
}

// A tornError counts the bytes behind the last line feed.
type tornError int64

func (tornError) Error() string { return "the last line has no end" }

// lines yields each line without its line feed, valid until the next one. What
// stands behind the last line feed is a tornError.
func lines(r io.Reader) func(yield func([]byte, error) bool) {
	return func(yield func([]byte, error) bool) {
		in := bufio.NewReaderSize(r, 64<<10)
		var long []byte
		for {
			part, err := in.ReadSlice('\n')
			switch {
			case err == nil && len(long) == 0:
				if !yield(part[:len(part)-1], nil) {
					return
				}
				continue
			case errors.Is(err, bufio.ErrBufferFull) && len(long) > maxLine:
				yield(nil, fmt.Errorf("longer than %d bytes", maxLine))
				return
			}
			long = append(long, part...)
			switch {
			case err == nil:
				if !yield(long[:len(long)-1], nil) {
					return
				}
				long = long[:0]
			case errors.Is(err, io.EOF):
				if len(long) > 0 {
					yield(nil, tornError(len(long)))
				}
				return
			case !errors.Is(err, bufio.ErrBufferFull):
				yield(nil, err)
				return
			}
		}
	}
}
