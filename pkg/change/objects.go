package change

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/session"
)

// small is the size up to which a content is handled in memory: 1 MiB.
const small = 1 << 20

// A batch is a set of new files of the store that get to the disk together.
type batch struct {
	s    *store
	objs map[string]*object // by hash
	size int64              // of new contents
	used bool               // the record refers to a content, new or not
}

type object struct {
	f    *os.File
	temp string
}

func (s *store) batch() *batch { return &batch{s: s, objs: map[string]*object{}} }

func (b *batch) has(hash string, size int64) bool {
	b.used = true
	if b.objs[hash] != nil {
		return true
	}
	info, err := b.s.contents.Lstat(hash)
	return err == nil && info.Size() == size
}

// addBytes keeps a content that is in memory, whose hash is known.
func (b *batch) addBytes(data []byte, hash string) error {
	if b.has(hash, int64(len(data))) {
		return nil
	}
	o, err := b.s.newObject()
	if err != nil {
		return err
	}
	if _, err := o.f.Write(data); err != nil {
		o.discard(b.s)
		return fmt.Errorf("keeping the old content: %w", err)
	}
	b.objs[hash], b.size = o, b.size+int64(len(data))
	return nil
}

// addFile keeps the content of a file, from its beginning. A large one is
// cloned where the file system can, else copied as it is hashed.
func (b *batch) addFile(f *os.File, size int64) (hash string, n int64, err error) {
	if size <= small {
		data, err := io.ReadAll(f)
		if err != nil {
			return "", 0, err
		}
		hash = Hash(data)
		return hash, int64(len(data)), b.addBytes(data, hash)
	}
	o, err := b.s.newObject()
	if err != nil {
		return "", 0, err
	}
	hash, n, err = o.fill(f)
	if err != nil {
		o.discard(b.s)
		return "", 0, fmt.Errorf("keeping the old content: %w", err)
	}
	if b.has(hash, n) {
		o.discard(b.s)
		return hash, n, nil
	}
	b.objs[hash], b.size = o, b.size+n
	return hash, n, nil
}

func (s *store) newObject() (*object, error) {
	temp := "." + session.NewID("") + ".tmp"
	f, err := s.contents.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return nil, fmt.Errorf("keeping the old content: %w", err)
	}
	return &object{f, temp}, nil
}

func (o *object) fill(f *os.File) (hash string, n int64, err error) {
	if clone(o.f, f) == nil {
		return hashAll(o.f)
	}
	h := sha256.New()
	n, err = io.Copy(io.MultiWriter(o.f, h), f)
	return hex.EncodeToString(h.Sum(nil)), n, err
}

func (o *object) discard(s *store) {
	_ = o.f.Close()
	_ = s.contents.Remove(o.temp) // gc takes what stays
}

// save puts the contents where they are found, and then the record, whose open
// files are given, by the function, into the directory. All of it is on the
// disk when it returns. A power cut before that may leave the record without
// its contents: then nothing has happened yet that would need them.
func (b *batch) save(dir *safefile.Dir, rename func() error, files ...*os.File) error {
	for _, o := range b.objs {
		files = append(files, o.f)
	}
	if err := b.s.syncAll(files...); err != nil {
		return err
	}
	for hash, o := range b.objs {
		if err := b.s.contents.Rename(o.temp, hash); err != nil {
			return err
		}
		o.temp = ""
	}
	if err := rename(); err != nil {
		return err
	}
	if !b.used {
		return b.s.syncDirs(dir)
	}
	return b.s.syncDirs(dir, b.s.contents) // also what another process has just put there
}

// content opens a content and makes sure first that it is what was kept.
func (s *store) content(hash string) (io.ReadCloser, error) {
	f, err := s.contents.OpenFile(hash, os.O_RDONLY)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrDamaged, hash, err)
	}
	info, err := f.Stat()
	if err == nil && info.Size() <= small {
		defer f.Close()
		data, err := io.ReadAll(f)
		if err == nil && Hash(data) != hash {
			err = fmt.Errorf("%w: %s", ErrDamaged, hash)
		}
		return io.NopCloser(bytes.NewReader(data)), err
	}
	if err == nil {
		var have string
		if have, _, err = hashAll(f); err == nil && have != hash {
			err = fmt.Errorf("%w: %s", ErrDamaged, hash)
		}
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Hash names a content.
func Hash(data []byte) string { return safefile.Sum(data) }

// hashAll hashes what r gives; of a file that is at its beginning, all of it.
func hashAll(r io.Reader) (hash string, n int64, err error) {
	h := sha256.New()
	n, err = io.Copy(h, r)
	return hex.EncodeToString(h.Sum(nil)), n, err
}
