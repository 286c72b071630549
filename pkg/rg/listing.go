package rg

import (
	"io/fs"
	"time"
)

type entryKind uint8

const (
	kindUnknown entryKind = iota
	kindFile
	kindDir
	kindLink
	kindOther // device, FIFO, socket
)

// A fileStat is what is asked of a file.
type fileStat struct {
	kind     entryKind
	dev, ino uint64 // zero where the system has none
	name     string // the resolved path, where there are no inode numbers
	mode     fs.FileMode
	size     int64
	modified time.Time
	changed  int64 // when contents or facts last changed, in nanoseconds; no caller can set it back
}

func (s fileStat) same(t fileStat) bool {
	return s.dev == t.dev && s.ino == t.ino && s.name == t.name
}

// A listing is the content of a directory. It is used again for the next one.
type listing struct {
	raw     []byte
	names   []byte
	entries []listed
}

type listed struct {
	from, to uint32 // the name's place in names
	kind     entryKind
}

func (l *listing) reset() {
	l.names = l.names[:0]
	l.entries = l.entries[:0]
}

func (l *listing) add(name []byte, kind entryKind) {
	from := uint32(len(l.names))
	l.names = append(l.names, name...)
	l.entries = append(l.entries, listed{from, uint32(len(l.names)), kind})
}

func (l *listing) name(e listed) []byte { return l.names[e.from:e.to] }
