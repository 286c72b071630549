//go:build linux && (amd64 || arm64)

package sandbox

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strconv"

	"golang.org/x/sys/unix"
)

const (
	page      = 4096
	maxString = 32 * page // what the kernel takes for one word
	maxWords  = 6 << 20   // and for all words together
)

var errMemory = errors.New("the memory of the process cannot be read")

// memory reads another process, a page at a time.
type memory struct {
	pid   int
	start uint64 // address of what is in page
	page  []byte
	shut  bool // the process lets nobody read it
	buf   [page]byte
}

// read fills b from addr or fails.
func (m *memory) read(addr uint64, b []byte) error {
	for len(b) > 0 {
		if err := m.load(addr); err != nil {
			return err
		}
		n := copy(b, m.page[addr-m.start:])
		b, addr = b[n:], addr+uint64(n)
	}
	return nil
}

// load has the page around addr at hand.
func (m *memory) load(addr uint64) error {
	base := addr &^ (page - 1)
	if len(m.page) > 0 && base == m.start {
		return nil
	}
	local := []unix.Iovec{{Base: &m.buf[0]}}
	local[0].SetLen(page)
	n, err := unix.ProcessVMReadv(m.pid, local, []unix.RemoteIovec{{Base: uintptr(base), Len: page}}, 0)
	if err != nil || n != page {
		m.page, m.shut = nil, errors.Is(err, unix.EPERM)
		return errMemory
	}
	m.start, m.page = base, m.buf[:]
	return nil
}

// text reads the string at addr.
func (m *memory) text(addr uint64) (string, error) {
	var all []byte
	for len(all) < maxString {
		if err := m.load(addr); err != nil {
			return "", err
		}
		part := m.page[addr-m.start:]
		if before, _, ok := bytes.Cut(part, []byte{0}); ok {
			return string(append(all, before...)), nil
		}
		all, addr = append(all, part...), addr+uint64(len(part))
	}
	return "", unix.E2BIG
}

// words reads the array of strings at addr.
func (m *memory) words(addr uint64) ([]string, error) {
	if addr == 0 {
		return nil, nil
	}
	list := &memory{pid: m.pid}
	words, size := []string{}, 0
	for ; ; addr += 8 {
		var raw [8]byte
		if err := list.read(addr, raw[:]); err != nil {
			return nil, err
		}
		at := binary.NativeEndian.Uint64(raw[:])
		if at == 0 {
			return words, nil
		}
		w, err := m.text(at)
		if err != nil {
			return nil, err
		}
		if size += len(w) + 9; size > maxWords {
			return nil, unix.E2BIG
		}
		words = append(words, w)
	}
}

// statusNumber returns the number after key in a /proc status file.
func statusNumber(status []byte, key string) int {
	_, rest, _ := bytes.Cut(status, []byte("\n"+key))
	number, _, _ := bytes.Cut(bytes.TrimLeft(rest, " \t"), []byte("\n"))
	n, _ := strconv.Atoi(string(bytes.TrimSpace(number)))
	return n
}
