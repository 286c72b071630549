package committed

import (
	"bytes"
	"encoding/binary"
	"os"
	"path"
	"path/filepath"
	"slices"
)

// indexFixed are the bytes of an entry of git's index in front of the hash.
const indexFixed = 40

// tracked lists the names in git's index, as ls-files does, without a process of git's. It is
// false where the index is not of the form that most are; git itself knows all of them. A hash
// has size bytes.
func (r *repository) tracked(size int) (rels []string, ok bool) {
	data, err := readFile(filepath.Join(r.git, "index"))
	if err != nil || len(data) < 12+size || string(data[:4]) != "DIRC" {
		return nil, false
	}
	version, count := binary.BigEndian.Uint32(data[4:]), binary.BigEndian.Uint32(data[8:])
	if version != 2 && version != 3 || count > maxLost {
		return nil, false
	}
	data = data[12 : len(data)-size]
	rels = make([]string, 0, count)
	for range count {
		at := indexFixed + size + 2
		if len(data) < at {
			return nil, false
		}
		const ofDir, extended = 0o040000, 0x4000
		if binary.BigEndian.Uint32(data[24:])&0o170000 == ofDir { // of which only some files are checked out
			return nil, false
		}
		if binary.BigEndian.Uint16(data[at-2:])&extended != 0 {
			at += 2
		}
		n := -1
		if len(data) > at {
			n = bytes.IndexByte(data[at:], 0)
		}
		end := (at + n + 8) &^ 7
		if n <= 0 || end > len(data) {
			return nil, false
		}
		rels = append(rels, string(data[at:at+n]))
		data = data[end:]
	}
	for len(data) > 0 { // what else it holds may say where the rest is
		if len(data) < 8 || !slices.Contains([]string{"TREE", "REUC", "UNTR", "FSMN", "EOIE", "IEOT"}, string(data[:4])) {
			return nil, false
		}
		n := int64(binary.BigEndian.Uint32(data[4:]))
		if n > int64(len(data)-8) {
			return nil, false
		}
		data = data[8+n:]
	}
	return rels, true
}

// maxLight bounds the index of a repository that is read as a whole where only some names are
// asked about: to start git takes as long as to read so much.
const maxLight = 1 << 20

// light reports whether a repository is small.
func (r *repository) light() bool {
	info, err := os.Lstat(filepath.Join(r.git, "index"))
	return err == nil && info.Size() <= maxLight
}

// below are the files at or below some names; all where there are none.
func below(rels, names []string) []string {
	if len(names) == 0 {
		return rels
	}
	named := map[string]bool{}
	for _, name := range names {
		named[name] = true
	}
	return slices.DeleteFunc(rels, func(rel string) bool {
		for !named[rel] {
			if rel == "." {
				return true
			}
			rel = path.Dir(rel)
		}
		return false
	})
}
