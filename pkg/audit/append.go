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
	created, size, err := a.openFile()
	if err != nil {
		return err
	}
	anchor := readAnchor(a.lock.File)
	end := tail{size: size, last: anchor}
	if size == 0 || size != a.size || anchor != a.last { // else nobody has written since we did
		if end, err = readTail(a.file.File, size); err != nil {
			return err
		}
	}
	if end.torn > 0 {
		if err := a.file.Truncate(end.size); err != nil {
			return err
		}
	}
	at, before := a.resume(end, anchor)
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
	a.size = 0 // not known, unless all goes well
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
	if err := last.anchor(a.lock.File); err != nil {
		return err
	}
	a.size, a.last = size+int64(len(lines)), last
	return nil
}

// openFile makes a.file the file at the audit's path, and says how long it is: another
// process may have rotated it.
func (a *Audit) openFile() (created bool, size int64, err error) {
	now, err := a.dir.Lstat(FileName)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return false, 0, err
	}
	if !missing && a.file.is(now) {
		return false, now.Size(), nil
	}
	if err := a.file.close(); err != nil {
		return false, 0, err
	}
	a.size = 0
	if a.file, err = hold(a.dir.OpenFile(FileName, os.O_RDWR|os.O_CREATE|os.O_APPEND)); err != nil {
		return missing, 0, err
	}
	return missing, a.file.info.Size(), nil
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
	return endsWith(f, at)
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
	if err := at.anchor(a.lock.File); err != nil {
		return "", err
	}
	if err := a.file.close(); err != nil { // Windows renames no file that is open
		return "", err
	}
	if err := a.dir.Rename(FileName, name); err != nil {
		return "", err
	}
	_, _, err := a.openFile()
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
