//go:build linux && (amd64 || arm64)

package sandbox

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/gitsettings"
	"golang.org/x/sys/unix"
)

// git changes its settings by writing a whole new file beside them, config.lock, which then
// takes their name. At L3 a mount holds that name, so the kernel refuses. Where the new file
// makes git run nothing that it would not run otherwise, the gatekeeper carries the rename
// out: what it has looked at, and no other text, is what it writes. The old file gets the new
// content, for the mount holds the file and not its name.

// settings carries out the rename by which git changes its settings; all others the kernel
// does.
func (g *gatekeeper) settings(n *notice, at [2]int, name [2]string, flags int) verdict {
	pid := int(n.pid)
	if !slices.ContainsFunc(g.Settings, func(path string) bool { return filepath.Base(path) == filepath.Base(name[1]) }) || flags != 0 {
		return verdict{goOn: true}
	}
	to, ok := g.spot(pid, at[1], name[1])
	defer to.close()
	if !ok || !slices.Contains(g.Settings, to.path) {
		return verdict{goOn: true}
	}
	from, ok := g.spot(pid, at[0], name[0])
	defer from.close()
	if !ok || from.path != to.path+".lock" || from.parent.st.Ino != to.parent.st.Ino || from.parent.st.Dev != to.parent.st.Dev {
		return verdict{goOn: true}
	}
	var refusal *gitsettings.Refusal
	err := asUser(pid, func() (err error) {
		refusal, err = g.change(n, &from, &to)
		return err
	})
	if refusal == nil {
		return result(err)
	}
	d := &Denial{Kind: DeniedWrite, Path: to.path, Pid: pid, Why: refusal.Why}
	if refusal.Host != "" {
		d.Allow = "net(" + refusal.Host + ")"
	}
	g.log.deny(d)
	return refused(unix.EBUSY)
}

// change writes what is in one file into the other, and takes the first away.
func (g *gatekeeper) change(n *notice, from, to *spot) (*gitsettings.Refusal, error) {
	dir, err := g.outside(to.parent)
	if err != nil {
		return nil, err
	}
	defer dir.close()
	now, f, err := whole(from.parent.fd, from.name, unix.O_RDONLY)
	if err != nil {
		return nil, err
	}
	_ = f.Close()
	was, f, err := whole(dir.fd, to.name, unix.O_RDWR)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if r := gitsettings.Change(was, now, workTree(to.path), anyOf(g.Remotes)); r != nil {
		return r, nil
	}
	if !g.valid(n) {
		return nil, unix.EINTR
	}
	if now == was {
		return nil, unix.Unlinkat(from.parent.fd, from.name, 0)
	}
	// Whoever reads meanwhile finds the old text or the new one, and empty lines behind it.
	padded := now + strings.Repeat("\n", max(len(was)-len(now), 0))
	if _, err := f.WriteAt([]byte(padded), 0); err != nil { // the disk is full, or the user's part of it
		_, bad := f.WriteAt([]byte(was), 0)
		return nil, errors.Join(err, bad, f.Truncate(int64(len(was))))
	}
	if err := f.Truncate(int64(len(now))); err != nil {
		return nil, err
	}
	return nil, unix.Unlinkat(from.parent.fd, from.name, 0)
}

// whole opens a file of a directory that has no other name, and reads it. What is to be
// written is for this one alone until it is closed: two threads, or calls, may ask at once, and what both
// write would be neither text.
func whole(dir int, name string, mode int) (string, *os.File, error) {
	fd, err := unix.Openat(dir, name, mode|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", nil, err
	}
	f := os.NewFile(uintptr(fd), name)
	var st unix.Stat_t
	if err = unix.Fstat(fd, &st); err == nil && (st.Mode&unix.S_IFMT != unix.S_IFREG || st.Nlink != 1) {
		err = unix.EBUSY
	}
	if err == nil && mode == unix.O_RDWR {
		err = unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB)
	}
	var text []byte
	if err == nil {
		text, err = io.ReadAll(io.LimitReader(f, gitsettings.MaxFile+1))
	}
	if err == nil && len(text) > gitsettings.MaxFile {
		err = unix.EFBIG
	}
	if err != nil {
		_ = f.Close()
		return "", nil, err
	}
	return string(text), f, nil
}
