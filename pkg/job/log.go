package job

import (
	"encoding/binary"
	"os"
)

// An Origin is the stream that output came from.
type Origin byte

// The origins.
const (
	Any Origin = iota
	Stdout
	Stderr
)

// The index tells the origins apart. It holds a record of eight bytes for each
// place in the log where the origin changes: the offset times four, plus the
// origin. The record is written before the output, so that whoever sees the
// output can tell where it came from.
const (
	markSize = 8
	// mostMarks bounds the index of a command that keeps changing between its
	// two streams; what comes after has no known origin.
	mostMarks = 1 << 19
)

// logWriter is the log as its supervisor writes it.
type logWriter struct {
	log, index *os.File
	size       int64
	origin     Origin
	marks      int
	most       int64 // bytes kept
	from, to   int64 // no longer kept
	full       bool  // the system cannot forget a part: the rest is dropped
	dropped    int64
	changed    func() // after output
	announce   func() // before a part is forgotten
	mark       [markSize]byte
}

// stream is the part of the log that one pump writes.
type stream struct {
	w      *logWriter
	origin Origin
	locked func(func())
}

// Write implements io.Writer.
func (s stream) Write(p []byte) (n int, err error) {
	s.locked(func() { n, err = s.w.write(p, s.origin) })
	s.w.changed()
	return n, err
}

// write appends p. A failing disk must not stop the command: what cannot be
// kept is counted.
func (w *logWriter) write(p []byte, o Origin) (int, error) {
	if w.full {
		w.dropped += int64(len(p))
		return len(p), nil
	}
	if w.marks >= mostMarks {
		o = Any
	}
	if o != w.origin {
		w.marks++
		binary.LittleEndian.PutUint64(w.mark[:], uint64(w.size)<<2|uint64(o))
		if _, err := w.index.Write(w.mark[:]); err == nil {
			w.origin = o
		}
	}
	n, err := w.log.Write(p)
	w.size += int64(n)
	if err != nil {
		w.full = true
		w.dropped += int64(len(p) - n)
		return len(p), nil
	}
	w.forget()
	return len(p), nil
}

// forget gives back the disk space of the middle, when the log has grown by
// an eighth beyond what is to be kept. Offsets stay what they are.
func (w *logWriter) forget() {
	if w.size-(w.to-w.from) <= w.most+w.most/8 {
		return
	}
	const page = 4096
	from := w.most / 4 &^ (page - 1)
	to := (w.size - w.most*3/4) &^ (page - 1)
	if to <= max(w.to, from) {
		return
	}
	at, was := max(w.to, from), *w
	w.from, w.to = from, to
	w.announce()
	if err := punch(w.log, at, to-at); err != nil {
		w.full, w.from, w.to = true, was.from, was.to
		w.announce()
	}
}
