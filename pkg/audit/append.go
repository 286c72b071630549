package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// append writes e behind the last line, under the lock.
func (a *Audit) append(e Entry) error {
	created, err := a.openFile()
	if err != nil {
		return err
	}
	end, err := readTail(a.file)
	if err != nil {
		return err
	}
	if end.torn > 0 {
		if err := a.file.Truncate(end.size); err != nil {
			return err
		}
	}
	at, before := a.resume(end, readAnchor(a.lock))
	lines, last, err := build(at, notes(before, e)...)
	if err != nil {
		return err
	}
	if end.size > 0 && end.size+int64(len(lines)) > a.o.MaxBytes && len(before) == 0 {
		renamed, err := a.rotate(at)
		if err != nil {
			return err
		}
		if renamed != "" {
			created, end.size = true, 0
			rotated := Entry{Event: Rotate, File: renamed}
			if lines, last, err = build(at, notes([]Entry{rotated}, e)...); err != nil {
				return err
			}
		}
	}
	return a.write(lines, last, end.size, created)
}

// write puts whole lines at the end, or nothing.
func (a *Audit) write(lines []byte, last link, size int64, created bool) error {
	if _, err := a.file.Write(lines); err != nil {
		return errors.Join(err, a.file.Truncate(size))
	}
	if a.o.Sync {
		if err := a.file.Sync(); err != nil {
			return err
		}
		if created {
			if err := a.dir.Sync(); err != nil {
				return err
			}
		}
	}
	return last.anchor(a.lock)
}

// openFile makes a.file the file at the audit's path: another process may have
// rotated it.
func (a *Audit) openFile() (created bool, err error) {
	now, err := a.dir.Lstat(FileName)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return false, err
	}
	if a.file != nil {
		held, err := a.file.Stat()
		if err != nil {
			return false, err
		}
		if !missing && os.SameFile(held, now) {
			return false, nil
		}
		if err := a.file.Close(); err != nil {
			return false, err
		}
	}
	a.file, err = a.dir.OpenFile(FileName, os.O_RDWR|os.O_CREATE|os.O_APPEND)
	return missing, err
}

// resume says behind which link to go on, and what has to be told first: that
// the file was rotated, or what is missing or broken at its end.
func (a *Audit) resume(end tail, anchor link) (at link, before []Entry) {
	repair := func(format string, args ...any) {
		before = append(before, Entry{Event: Repair, Note: fmt.Sprintf(format, args...)})
	}
	if end.torn > 0 {
		repair("dropped a torn line of %d bytes", end.torn)
	}
	switch {
	case end.bad:
		repair("the last line is damaged; the audit had come to entry %d", anchor.Seq)
		return anchor, before
	case anchor.Seq < end.last.Seq || anchor == end.last:
		return end.last, before
	case end.size == 0 && a.rotatedTo(anchor):
		return anchor, append(before, Entry{Event: Rotate, File: rotatedName(anchor.Seq)})
	case anchor.Seq == end.last.Seq:
		repair("the last entry is not the one that was written: expected hash %s", anchor.Hash)
	default:
		repair("entries %d to %d are missing", end.last.Seq+1, anchor.Seq)
	}
	return anchor, before
}

// notes puts the audit's own entries before e.
func notes(before []Entry, e Entry) []Entry {
	for i := range before {
		before[i].Time, before[i].Session = e.Time, e.Session
	}
	return append(before, e)
}

// rotatedTo reports whether the process that rotated the file at this link was
// killed before it wrote to the new one.
func (a *Audit) rotatedTo(at link) bool {
	f, err := a.dir.OpenFile(rotatedName(at.Seq), os.O_RDONLY)
	if err != nil {
		return false
	}
	defer f.Close()
	end, err := readTail(f)
	return err == nil && end.last == at
}

// rotate renames the full file and opens a new one. It returns "" and leaves
// the file to grow when the name is taken.
func (a *Audit) rotate(at link) (string, error) {
	name := rotatedName(at.Seq)
	if _, err := a.dir.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	// The anchor may be behind by a line whose writer was killed: a process
	// that is killed after the rename needs it exact.
	if err := at.anchor(a.lock); err != nil {
		return "", err
	}
	err := a.file.Close() // Windows renames no file that is open
	a.file = nil
	if err != nil {
		return "", err
	}
	if err := a.dir.Rename(FileName, name); err != nil {
		return "", err
	}
	_, err = a.openFile()
	return name, err
}

func rotatedName(seq uint64) string { return fmt.Sprintf("audit.%012d.jsonl", seq) }

func isRotatedName(name string) bool {
	digits, ok := strings.CutPrefix(name, "audit.")
	if !ok {
		return false
	}
	digits, ok = strings.CutSuffix(digits, ".jsonl")
	return ok && len(digits) >= 12 && strings.Trim(digits, "0123456789") == ""
}
