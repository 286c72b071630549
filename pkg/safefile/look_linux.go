package safefile

import (
	"errors"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// A Looker looks at files below a directory, of which many lie in one: from there the
// kernel has a shorter way to each.
type Looker struct {
	top, dir string
	fd       int // of dir, below top; -1 where it cannot be opened
}

// NewLooker returns one for what is below top.
func NewLooker(top string) *Looker {
	l := &Looker{top: top, fd: -1}
	l.enter("")
	return l
}

// Close ends the looking.
func (l *Looker) Close() {
	if l.fd >= 0 {
		_ = unix.Close(l.fd)
		l.fd = -1
	}
}

func (l *Looker) enter(dir string) {
	l.Close()
	l.dir = dir
	if fd, err := unix.Open(filepath.Join(l.top, dir), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err == nil {
		l.fd = fd
	}
}

// Look is Lstat of a slash-separated name below the directory.
func (l *Looker) Look(rel string) (Look, error) {
	split := strings.LastIndexByte(rel, '/') + 1
	if rel[:split] != l.dir {
		l.enter(rel[:split])
	}
	at, name := l.fd, rel[split:]
	if at < 0 {
		at, name = unix.AT_FDCWD, filepath.Join(l.top, rel)
	}
	var s unix.Stat_t
	err := unix.Fstatat(at, name, &s, unix.AT_SYMLINK_NOFOLLOW)
	for errors.Is(err, unix.EINTR) {
		err = unix.Fstatat(at, name, &s, unix.AT_SYMLINK_NOFOLLOW)
	}
	if err != nil {
		return Look{}, err
	}
	return Look{uint64(s.Dev), s.Ino, s.Ctim.Nano(), s.Mtim.Nano(), s.Size}, nil //nolint:unconvert // narrower on some machines
}
