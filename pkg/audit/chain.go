package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// lockName is the file that writers lock, and that says how far they came.
const lockName = "." + FileName + ".lock"

const (
	hashLen    = 2 * sha256.Size
	hashPrefix = `,"hash":"`
	hashSuffix = `"}`
	tailLen    = len(hashPrefix) + hashLen + len(hashSuffix)
)

// A link is where a chain has come to. The zero link is before the first line.
type link struct {
	Seq  uint64
	Hash string
}

// prev is the hash as the next line has it.
func (l link) prev() string {
	if l.Hash == "" {
		return strings.Repeat("0", hashLen)
	}
	return l.Hash
}

// anchor writes the link into the lock file: a fixed number of bytes in one
// write, so that it is never half there.
func (l link) anchor(lock *os.File) error {
	_, err := lock.WriteAt(fmt.Appendf(nil, "%020d %s\n", l.Seq, l.prev()), 0)
	return err
}

// readAnchor returns the zero link when there is none.
func readAnchor(lock io.ReaderAt) link {
	var buf [20 + 1 + hashLen + 1]byte
	if _, err := lock.ReadAt(buf[:], 0); err != nil {
		return link{}
	}
	seq, err := strconv.ParseUint(string(buf[:20]), 10, 64)
	if err != nil || seq == 0 || buf[20] != ' ' || buf[len(buf)-1] != '\n' {
		return link{}
	}
	return link{seq, string(buf[21 : 21+hashLen])}
}

// build encodes entries as the lines behind at, and says where they end.
func build(at link, entries ...Entry) ([]byte, link, error) {
	var out bytes.Buffer
	out.Grow(1 << 10) // most lines are shorter
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	for _, e := range entries {
		start := out.Len()
		err := enc.Encode(Record{V: 1, Seq: at.Seq + 1, Entry: e, Prev: at.prev()})
		if err != nil {
			return nil, link{}, err
		}
		out.Truncate(out.Len() - len("\n"))
		at = link{at.Seq + 1, digest(at.prev(), out.Bytes()[start:])}
		out.Truncate(out.Len() - len("}"))
		out.WriteString(hashPrefix + at.Hash + hashSuffix + "\n")
	}
	return out.Bytes(), at, nil
}

// digest hashes a line without its hash.
func digest(prev string, line []byte) string {
	h := sha256.New()
	_, _ = io.WriteString(h, prev)
	h.Write([]byte{'\n'})
	h.Write(line)
	return hex.EncodeToString(h.Sum(nil))
}

var (
	errForm    = errors.New("not a line of the audit")
	errChanged = errors.New("changed: its hash is not that of its content")
)

// parse checks one line, without its line feed, by itself.
func parse(line []byte) (Record, error) {
	var r Record
	if _, err := check(line); err != nil {
		return Record{}, err
	}
	if json.Unmarshal(line, &r) != nil {
		return Record{}, errForm
	}
	return r, nil
}

// check is parse for who wants to know only which line it is.
func check(line []byte) (link, error) {
	cut := len(line) - tailLen
	if cut < 0 || !bytes.HasPrefix(line[cut:], []byte(hashPrefix)) || !bytes.HasSuffix(line, []byte(hashSuffix)) {
		return link{}, errForm
	}
	var r struct {
		V    int    `json:"v"`
		Seq  uint64 `json:"seq"`
		Prev string `json:"prev"`
	}
	if json.Unmarshal(line, &r) != nil || r.V != 1 || r.Seq == 0 {
		return link{}, errForm
	}
	body := append(bytes.Clone(line[:cut]), '}')
	hash := string(line[cut+len(hashPrefix) : len(line)-len(hashSuffix)])
	if digest(r.Prev, body) != hash {
		return link{}, errChanged
	}
	return link{r.Seq, hash}, nil
}

// A tail is what the end of a file tells.
type tail struct {
	size int64 // up to and with the last line feed
	torn int64 // bytes behind it
	last link  // zero for a file without a line
	bad  bool  // the last whole line is damaged
}

// readTail reads the last line, from the end of a file of a size backwards.
func readTail(f *os.File, size int64) (tail, error) {
	var buf []byte
	for chunk := int64(4 << 10); ; chunk *= 4 {
		from := max(size-chunk, 0)
		buf = make([]byte, size-from)
		if n, err := f.ReadAt(buf, from); n < len(buf) {
			return tail{}, err
		}
		end := bytes.LastIndexByte(buf, '\n')
		start := bytes.LastIndexByte(buf[:max(end, 0)], '\n')
		if start >= 0 || from == 0 {
			t := tail{size: from + int64(end+1), torn: int64(len(buf) - end - 1)}
			if end >= 0 {
				var err error
				t.last, err = check(buf[start+1 : end])
				t.bad = err != nil
			}
			return t, nil
		}
	}
}

// endsWith reports whether the last line of a file is that of a link.
func endsWith(f *os.File, at link) bool {
	info, err := f.Stat()
	if err != nil {
		return false
	}
	end, err := readTail(f, info.Size())
	return err == nil && end.last == at
}
