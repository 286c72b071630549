package killtree

import (
	"encoding/binary"
	"errors"
	"io"
	"os/exec"
	"syscall"

	"github.com/agentkit-go/agentkit/pkg/fork"
)

// What the stage tells, in records of recordSize bytes. It is told one order,
// then letters of package fork, each with a signal.
const (
	toldFailed  = 'f'          // it could not set itself up: errno
	toldRefused = 'x'          // the command could not be started: errno
	toldStarted = 's'          // it runs
	toldStopped = fork.Stopped // wait status
	toldEnded   = fork.Ended   // wait status, and whether something is left
)

const recordSize = 32

// A record is one message from the stage.
type record struct {
	kind         byte
	left         bool   // ended: something else of the tree still runs
	n            uint32 // errno, signal or wait status
	user, system int64  // microseconds
	rss          int64  // KiB
}

func (r record) bytes() []byte {
	b := make([]byte, recordSize)
	b[0] = r.kind
	if r.left {
		b[1] = 1
	}
	binary.LittleEndian.PutUint32(b[4:], r.n)
	binary.LittleEndian.PutUint64(b[8:], uint64(r.user))
	binary.LittleEndian.PutUint64(b[16:], uint64(r.system))
	binary.LittleEndian.PutUint64(b[24:], uint64(r.rss))
	return b
}

func readRecord(from io.Reader) (record, error) {
	var b [recordSize]byte
	if _, err := io.ReadFull(from, b[:]); err != nil {
		return record{}, err
	}
	return record{
		kind: b[0], left: b[1] == 1, n: binary.LittleEndian.Uint32(b[4:]),
		user: int64(binary.LittleEndian.Uint64(b[8:])), system: int64(binary.LittleEndian.Uint64(b[16:])), rss: int64(binary.LittleEndian.Uint64(b[24:])),
	}, nil
}

// An order is what the stage is to start. It travels over a socket rather
// than on the command line or in the stage's environment, where everybody, or
// the loader, would see it.
type order struct {
	method  string
	path    string // "" for a trial, which starts nothing
	dir     string
	argv    []string
	env     []string
	fds     int // descriptors to hand on, from 0
	ctty    int // descriptor that becomes the controlling terminal, -1 for none
	keep    bool
	confine []byte // for the Confiner; empty for none
	most    int
	memory  int64 // whole MiB of it are told
	user    *syscall.Credential
}

const maxOrder = 64 << 20

var errOrder = errors.New("reading the order: it is damaged")

func orderOf(m string, c *exec.Cmd, o Options) order {
	r := order{method: m, path: c.Path, dir: c.Dir, argv: c.Args, env: c.Environ(), fds: 3 + len(c.ExtraFiles), ctty: -1, most: o.MaxProcesses, memory: o.MaxMemory, confine: o.Confine}
	if len(r.argv) == 0 {
		r.argv = []string{c.Path}
	}
	if a := c.SysProcAttr; a != nil {
		if a.Setctty {
			r.ctty = a.Ctty
		}
		r.user = a.Credential
		r.keep = a.Cloneflags&syscall.CLONE_NEWUSER != 0
	}
	return r
}

func (r order) bytes() []byte {
	b := make([]byte, 4, 4096)
	num := func(n int) { b = binary.LittleEndian.AppendUint32(b, uint32(int32(n))) }
	str := func(list ...string) {
		for _, s := range list {
			num(len(s))
			b = append(b, s...)
		}
	}
	num(r.fds)
	num(r.ctty)
	num(r.most)
	num(int(min(r.memory, unlimited) >> 20))
	num(flag(r.keep))
	str(r.method, r.path, r.dir, string(r.confine))
	num(len(r.argv))
	str(r.argv...)
	num(len(r.env))
	str(r.env...)
	num(flag(r.user != nil))
	if u := r.user; u != nil {
		num(int(u.Uid))
		num(int(u.Gid))
		num(flag(u.NoSetGroups))
		num(len(u.Groups))
		for _, g := range u.Groups {
			num(int(g))
		}
	}
	binary.LittleEndian.PutUint32(b, uint32(len(b)-4))
	return b
}

func flag(set bool) int {
	if set {
		return 1
	}
	return 0
}

func readOrder(from io.Reader) (r order, err error) {
	var size [4]byte
	if _, err := io.ReadFull(from, size[:]); err != nil {
		return r, err
	}
	n := binary.LittleEndian.Uint32(size[:])
	if n > maxOrder {
		return r, errOrder
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(from, b); err != nil {
		return r, err
	}
	d := &unpacker{b: b}
	r.fds, r.ctty, r.most, r.memory, r.keep = d.num(), d.num(), d.num(), int64(d.num())<<20, d.num() == 1
	r.method, r.path, r.dir = d.str(), d.str(), d.str()
	r.confine = []byte(d.str())
	r.argv, r.env = d.list(), d.list()
	if d.num() == 1 {
		r.user = &syscall.Credential{Uid: uint32(d.num()), Gid: uint32(d.num()), NoSetGroups: d.num() == 1}
		for range d.num() {
			r.user.Groups = append(r.user.Groups, uint32(d.num()))
		}
	}
	return r, d.err
}

// An unpacker takes apart what order.bytes put together.
type unpacker struct {
	b   []byte
	err error
}

func (d *unpacker) num() int {
	if len(d.b) < 4 {
		d.b, d.err = nil, errOrder
		return 0
	}
	n := int(int32(binary.LittleEndian.Uint32(d.b)))
	d.b = d.b[4:]
	return n
}

func (d *unpacker) str() string {
	n := d.num()
	if n < 0 || n > len(d.b) {
		d.b, d.err = nil, errOrder
		return ""
	}
	s := string(d.b[:n])
	d.b = d.b[n:]
	return s
}

func (d *unpacker) list() []string {
	n := d.num()
	if n < 0 || n > len(d.b) {
		d.err = errOrder
		return nil
	}
	list := make([]string, n)
	for i := range list {
		list[i] = d.str()
	}
	return list
}
