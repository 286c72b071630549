// Package gitindex reads git's index, the list of what a repository tracks, in the versions 2
// to 4 of gitformat-index(5). It starts no git and writes nothing. git believes its own index;
// what git would not write so is an error here, so that nobody finds other names in it than git does.
package gitindex

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"slices"
)

// The bytes of a hash.
const (
	SHA1   = 20
	SHA256 = 32
)

// Magic is what an index begins with.
const Magic = "DIRC"

const (
	headBytes = 12
	timeAt    = 8  // in an entry
	modeAt    = 24 // likewise
	sizeAt    = 36
	hashAt    = 40

	extended   = 0x4000 // in an entry's flags: more of them follow
	nameLength = 0x0fff // and the length of its name, or that it is at least this
)

// ErrForm is the error for what git would not write so.
var ErrForm = errors.New("not an index as git writes it")

// An Entry is a file that is tracked, or one side of a conflict about it.
type Entry struct {
	// Name is relative to the top of the work tree, with slashes. It ends in one for a directory
	// of which only some files are checked out, and is empty where another index has it (git's
	// split index). It is valid until the next entry is read, as Hash is.
	Name []byte
	Hash []byte // of the content
	Mode uint32 // as git has it: 0100644, say

	// Time and Size are the file's when git last found that it is as it is here: when it was changed, in seconds,
	// and its bytes.
	Time, Size uint32

	// Flags are which side of a conflict it is, and whether git takes it as unchanged; in the
	// lower half, whether it is left out of the work tree or only meant to be added.
	Flags uint32
}

// Gitlink reports whether the entry is a commit of a submodule.
func (e Entry) Gitlink() bool { return e.Mode&0o170000 == 0o160000 }

// A Reader reads the entries of an index one by one.
type Reader struct {
	r            *bufio.Reader
	size         int // of a hash
	version      uint32
	count, n     uint32 // entries, and those that were read
	at, end      int64  // of what comes next, and of the checksum
	name         []byte
	fixed        []byte
	blocks       []block
	inBlocks     uint32
	afterEntries int64 // where the file says that the extensions begin; 0 where it does not
}

// A block is what one of git's threads reads of an index.
type block struct {
	at      int64
	entries uint32
}

// NewReader begins to read an index of so many bytes, with hashes of size bytes: SHA1 or
// SHA256. An error: git reads nothing of it either.
func NewReader(r io.ReaderAt, length int64, size int) (*Reader, error) {
	var head [headBytes]byte
	if _, err := r.ReadAt(head[:], 0); err != nil || string(head[:4]) != Magic || length < int64(headBytes+size) {
		return nil, ErrForm
	}
	x := &Reader{size: size, version: binary.BigEndian.Uint32(head[4:]), count: binary.BigEndian.Uint32(head[8:]), at: headBytes, end: length - int64(size)}
	if x.version < 2 || x.version > 4 {
		return nil, ErrForm
	}
	x.r = bufio.NewReaderSize(io.NewSectionReader(r, headBytes, x.end-headBytes), 64<<10)
	x.fixed = make([]byte, hashAt+size+2)
	x.blocks, x.afterEntries = blocksOf(r, x.end, size)
	return x, nil
}

// Next reads an entry: io.EOF after the last.
func (x *Reader) Next() (Entry, error) {
	if x.n == x.count {
		if len(x.blocks) > 0 || x.inBlocks > x.count || x.afterEntries != 0 && x.afterEntries != x.at {
			return Entry{}, ErrForm
		}
		return Entry{}, io.EOF
	}
	start, before := x.at, len(x.name)
	e, dropped, err := x.entry()
	if err != nil {
		return Entry{}, err
	}
	if len(x.blocks) > 0 && x.n == x.inBlocks { // another thread begins here, which knows no name before
		if x.blocks[0].at != start || x.version == 4 && dropped != before {
			return Entry{}, ErrForm
		}
		x.inBlocks += x.blocks[0].entries
		x.blocks = x.blocks[1:]
	}
	x.n++
	return e, nil
}

// entry also returns how many bytes of the name before are not part of this one.
func (x *Reader) entry() (e Entry, dropped int, err error) {
	if _, err := io.ReadFull(x.r, x.fixed); err != nil {
		return e, 0, ErrForm
	}
	read := len(x.fixed)
	flags := binary.BigEndian.Uint16(x.fixed[read-2:])
	e = Entry{Hash: x.fixed[hashAt : hashAt+x.size], Mode: binary.BigEndian.Uint32(x.fixed[modeAt:]), Time: binary.BigEndian.Uint32(x.fixed[timeAt:]), Size: binary.BigEndian.Uint32(x.fixed[sizeAt:]), Flags: uint32(flags&^nameLength) << 16}
	if flags&extended != 0 {
		var more [2]byte
		if _, err := io.ReadFull(x.r, more[:]); err != nil {
			return e, 0, ErrForm
		}
		e.Flags |= uint32(binary.BigEndian.Uint16(more[:]))
		read += len(more)
	}
	dropped = len(x.name)
	if x.version == 4 {
		n := 0
		if dropped, n, err = prefix(x.r); err != nil || dropped > len(x.name) {
			return e, 0, ErrForm
		}
		read += n
	}
	rest, err := x.r.ReadSlice(0) // no name is longer than the buffer
	if err != nil {
		return e, 0, ErrForm
	}
	read += len(rest)
	x.name = append(x.name[:len(x.name)-dropped], rest[:len(rest)-1]...)
	if int(flags&nameLength) != min(len(x.name), nameLength) { // git may go by either
		return e, 0, ErrForm
	}
	if x.version < 4 { // zeros follow, up to a multiple of eight
		end := (read + 7) &^ 7
		if _, err := x.r.Discard(end - read); err != nil {
			return e, 0, ErrForm
		}
		read = end
	}
	x.at += int64(read)
	e.Name = x.name
	return e, dropped, nil
}

// prefix reads how much of the name before is left out, in version 4, of n bytes.
func prefix(r io.ByteReader) (dropped, n int, err error) {
	for n < 4 {
		c, err := r.ReadByte()
		if err != nil {
			return 0, 0, err
		}
		if n++; n > 1 {
			dropped++
		}
		if dropped = dropped<<7 | int(c&0x7f); c&0x80 == 0 {
			return dropped, n, nil
		}
	}
	return 0, 0, ErrForm
}

// blocksOf are the blocks that the extensions of an index name, and where these begin; 0 where
// git has to go through the entries to find out.
func blocksOf(r io.ReaderAt, end int64, size int) (blocks []block, begin int64) {
	tail := make([]byte, 12+size)
	if _, err := r.ReadAt(tail, end-int64(len(tail))); err != nil || string(tail[:4]) != "EOIE" {
		return nil, 0
	}
	begin = int64(binary.BigEndian.Uint32(tail[8:]))
	found := false
	(&Reader{at: begin, end: end}).extensions(r, func(name string, at, n int64) {
		if found || name != "IEOT" || n < 4 {
			return
		}
		found = true
		data := make([]byte, n)
		if _, err := r.ReadAt(data, at); err != nil {
			return
		}
		for data = data[4:]; len(data) >= 8; data = data[8:] {
			blocks = append(blocks, block{int64(binary.BigEndian.Uint32(data)), binary.BigEndian.Uint32(data[4:])})
		}
	})
	return blocks, begin
}

// Read calls each with the entries until it returns false. It reports whether they were all
// read, and are all that is tracked: a split index has some in another file, a sparse one names
// directories instead of what is in them.
func Read(data []byte, size int, each func(Entry) bool) (whole bool) {
	x, err := NewReader(bytes.NewReader(data), int64(len(data)), size)
	if err != nil {
		return false
	}
	for {
		switch e, err := x.Next(); {
		case err == io.EOF: //nolint:errorlint // Next wraps nothing
			whole = true
			ok := x.extensions(bytes.NewReader(data), func(name string, _, _ int64) { whole = whole && name[0] >= 'A' && name[0] <= 'Z' }) // others have to be understood
			return ok && whole
		case err != nil || !each(e):
			return false
		}
	}
}

// extensions calls each with what follows the entries, when these have been read: a name, and where its n bytes
// begin. It reports whether all is well formed.
func (x *Reader) extensions(r io.ReaderAt, each func(name string, at, n int64)) bool {
	var head [8]byte
	for at := x.at; at < x.end; {
		if at += int64(len(head)); at > x.end {
			return false
		}
		if _, err := r.ReadAt(head[:], at-int64(len(head))); err != nil {
			return false
		}
		n := int64(binary.BigEndian.Uint32(head[4:]))
		if n > x.end-at {
			return false
		}
		each(string(head[:4]), at, n)
		at += n
	}
	return true
}

// forSpeed are extensions from which git only learns sooner what it would find out anyway.
var forSpeed = []string{"TREE", "UNTR", "FSMN", "EOIE", "IEOT"}

// Sum sums up what an index says: what is tracked, with all that git does not find out again
// by itself. When git only brings up to date what it remembers of the files' times, as git
// status does, it stays the same. It is false for what is no index, or not as git writes it.
func Sum(data []byte) (sum [sha256.Size]byte, ok bool) {
	for _, size := range []int{SHA1, SHA256} {
		if sum, ok := sumOf(data, size); ok {
			return sum, true
		}
	}
	return sum, false
}

func sumOf(data []byte, size int) (sum [sha256.Size]byte, ok bool) {
	x, err := NewReader(bytes.NewReader(data), int64(len(data)), size)
	if err != nil {
		return sum, false
	}
	var all []byte
	for {
		e, err := x.Next()
		if err == io.EOF { //nolint:errorlint // Next wraps nothing
			break
		} else if err != nil {
			return sum, false
		}
		all = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(all, e.Mode), e.Flags)
		all = append(append(append(all, e.Hash...), e.Name...), 0)
	}
	ok = x.extensions(bytes.NewReader(data), func(name string, at, n int64) {
		if !slices.Contains(forSpeed, name) {
			all = binary.BigEndian.AppendUint32(append(all, name...), uint32(n))
			all = append(all, data[at:at+n]...)
		}
	})
	return sha256.Sum256(all), ok
}
