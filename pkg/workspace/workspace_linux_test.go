package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"golang.org/x/sys/unix"
)

// TestRace swaps a directory for a link to the outside as fast as it can while
// others read, write, list, make and remove through it.
func TestRace(t *testing.T) {
	for _, r := range []struct {
		kernel        string
		reads, writes int
	}{{"openat2", 20_000, 1_000}, {"steps", 10_000, 500}} {
		t.Run(r.kernel, func(t *testing.T) {
			s := newSite(t)
			if r.kernel == "steps" {
				s.base.openat2Off()
			}
			s.put("W/race/secret", "inside")
			s.link(s.o, "W/lnk")
			before := s.resolve("race/secret")
			stop := s.swap("W/race", "W/lnk")
			escapes, refused := 0, 0
			for i := range r.reads {
				p := before // checked long ago, or just now
				if i%2 == 0 {
					var err error
					if p, err = s.Resolve("race/secret"); err != nil || !p.Inside {
						continue // the policy would refuse it
					}
				}
				data, err := s.ReadFile(p, 0)
				if errors.Is(err, ErrMoved) {
					refused++
				}
				if string(data) == "SECRET" {
					escapes++
				}
			}
			escapes += s.raceWrites(before, r.writes)
			swaps := stop()
			t.Logf("%d reads (%d refused), %d writes, %d swaps, %d escapes", r.reads, refused, r.writes, swaps, escapes)
			if escapes > 0 {
				t.Errorf("%d escapes", escapes)
			}
			s.content("O/secret", "SECRET")
			s.names("O", "secret")
		})
	}
}

func (s *site) raceWrites(before Path, writes int) (escapes int) {
	ctx := context.Background()
	for i := range writes {
		p, err := s.Resolve("race/f" + strconv.Itoa(i%3))
		if i%2 == 0 {
			p, err = before, nil
		}
		if err != nil || !p.Inside {
			continue
		}
		_, _ = s.WriteFile(ctx, p, []byte("inside"), WriteOptions{MakeParents: i%5 == 0})
		if d, err := s.Resolve("race/d/e"); err == nil && d.Inside {
			_, _ = s.Mkdir(d)
			_ = s.Remove(d)
		}
		if i%7 == 0 && p.Given != "race/secret" {
			_ = s.Remove(p)
		}
		if data, err := os.ReadFile(filepath.Join(s.o, "secret")); err != nil || string(data) != "SECRET" {
			escapes++
		}
		if list, err := os.ReadDir(s.o); err != nil || len(list) != 1 {
			escapes++
		}
	}
	return escapes
}

// swap exchanges two names until the returned function is called, which
// returns how often it did.
func (s *site) swap(a, b string) (stop func() int) {
	var over atomic.Bool
	done := make(chan int)
	a, b = filepath.Join(s.top, a), filepath.Join(s.top, b)
	go func() {
		n := 0
		for !over.Load() {
			if err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE); err != nil {
				s.t.Error("swapping: ", err)
				break
			}
			n++
		}
		done <- n
	}()
	return func() int { over.Store(true); return <-done }
}

func TestSpecialFiles(t *testing.T) {
	s := newSite(t)
	fifo := filepath.Join(s.w, "fifo")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	sock, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(sock)
	t.Chdir(s.w)
	if err := unix.Bind(sock, &unix.SockaddrUnix{Name: "sock"}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]policy.FileType{"fifo": policy.FIFO, "sock": policy.Socket, "/dev/zero": policy.Device, "/dev/tty": policy.Device} {
		p := s.resolve(name)
		if p.Type != want {
			t.Errorf("%s is a %s", name, p.Type)
		}
		if _, err := s.ReadFile(p, 10); !errors.Is(err, ErrNotRegular) {
			t.Errorf("reading %s: %v", name, err)
		}
		if name[0] != '/' {
			if _, err := s.write(name, "x", WriteOptions{}); !errors.Is(err, ErrNotRegular) {
				t.Errorf("writing %s: %v", name, err)
			}
		}
	}
	// Swapped after the check: opening does not wait for a writer.
	p := s.resolve("src/a.ts")
	if err := os.Rename(fifo, filepath.Join(s.w, "src", "a.ts")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ReadFile(p, 10); !errors.Is(err, ErrNotRegular) {
		t.Errorf("a fifo in a file's place: %v", err)
	}
	// Nor does a write, where the look and the opening are two steps.
	d, err := s.openDir(filepath.Join(s.w, "src"))
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	opened := make(chan error, 1)
	go func() {
		f, err := d.open("a.ts", openFlags, 0)
		if err == nil {
			_ = f.Close()
		}
		opened <- err
	}()
	select {
	case err := <-opened:
		if err != nil {
			t.Error("opening a fifo: ", err)
		}
	case <-time.After(time.Minute):
		t.Error("opening a fifo waits for a writer")
	}
	f, err := s.OpenSpecial(s.resolve("/dev/zero"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if n, err := f.Read(make([]byte, 16)); n != 16 {
		t.Errorf("asked for, /dev/zero gives %d, %v", n, err)
	}
}

func TestExtendedAttributes(t *testing.T) {
	s := newSite(t)
	name := filepath.Join(s.w, "src", "a.ts")
	if err := unix.Setxattr(name, "user.note", []byte("kept"), 0); err != nil {
		t.Skip("no user attributes on this file system: ", err)
	}
	// An ACL of two: the owner, and user 12345 may read and write.
	acl := []byte{
		2, 0, 0, 0, 1, 0, 6, 0, 255, 255, 255, 255, 2, 0, 6, 0, 0x39, 0x30, 0, 0, 4, 0, 4, 0, 255, 255, 255, 255,
		16, 0, 6, 0, 255, 255, 255, 255, 32, 0, 4, 0, 255, 255, 255, 255,
	}
	aclErr := unix.Setxattr(name, "system.posix_acl_access", acl, 0)
	before, _ := os.Stat(name)
	w, err := s.write("src/a.ts", "other", WriteOptions{})
	if err != nil || len(w.Lost) > 0 {
		t.Fatalf("%+v, %v", w, err)
	}
	buf := make([]byte, 100)
	if n, err := unix.Getxattr(name, "user.note", buf); err != nil || string(buf[:n]) != "kept" {
		t.Errorf("user.note: %q, %v", buf[:max(n, 0)], err)
	}
	if aclErr != nil {
		t.Skip("no ACLs on this file system: ", aclErr)
	}
	if n, err := unix.Getxattr(name, "system.posix_acl_access", buf); err != nil || string(buf[:n]) != string(acl) {
		t.Errorf("ACL: % x, %v", buf[:max(n, 0)], err)
	}
	if after, _ := os.Stat(name); after.Mode() != before.Mode() {
		t.Errorf("mode %v became %v", before.Mode(), after.Mode())
	}
}

// TestOnTheDisk reads with strace what a write puts on the disk, and when: the
// content before it takes its name, and the directory after.
func TestOnTheDisk(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("no strace here: whether what is written gets to the disk is NOT tested")
	}
	s := newSite(t)
	out := filepath.Join(t.TempDir(), "trace")
	c := s.command("umask", "022")
	c.Args = append([]string{strace, "-f", "-y", "-qq", "-e", "trace=fsync,fdatasync,/rename", "-o", out}, c.Args...)
	c.Path, c.Stderr = strace, nil
	if text, err := c.CombinedOutput(); err != nil {
		if strings.Contains(string(text), "ptrace") {
			t.Skipf("nothing can be traced here: whether what is written gets to the disk is NOT tested: %s", text)
		}
		t.Fatalf("%v: %s", err, text)
	}
	trace, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	text := string(trace)
	content, name, dir := strings.Index(text, ".tmp>"), strings.Index(text, "rename"), strings.LastIndex(text, "/W/022>")
	if content < 0 || name < content || dir < name {
		t.Errorf("not in order: the content at %d, its name at %d, the directory at %d\n%s", content, name, dir, text)
	}
}

func TestOwnerIsKept(t *testing.T) {
	s := newSite(t)
	name := filepath.Join(s.w, "src", "a.ts")
	if err := os.Chown(name, 12345, 23456); err != nil {
		t.Skip("only root may give files away: ", err)
	}
	if err := os.Chmod(name, 0o6755|fs.ModeSetuid|fs.ModeSetgid); err != nil {
		t.Fatal(err)
	}
	if _, err := s.write("src/a.ts", "x", WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	info, _ := os.Stat(name)
	if st, _ := info.Sys().(*syscall.Stat_t); st.Uid != 12345 || st.Gid != 23456 || info.Mode() != 0o755|fs.ModeSetuid|fs.ModeSetgid {
		t.Errorf("%d:%d %v", st.Uid, st.Gid, info.Mode())
	}
}

// TestUmask runs in another process, for the umask is the process's.
func TestUmask(t *testing.T) {
	s := newSite(t)
	for mask, want := range map[string][2]fs.FileMode{"077": {0o600, 0o700}, "002": {0o664, 0o775}, "000": {0o666, 0o777}} {
		if err := s.command("umask", mask).Run(); err != nil {
			t.Fatal(err)
		}
		file, err1 := os.Stat(filepath.Join(s.w, mask, "f"))
		dir, err2 := os.Stat(filepath.Join(s.w, mask))
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		if file.Mode().Perm() != want[0] || dir.Mode().Perm() != want[1] {
			t.Errorf("umask %s: %v %v", mask, file.Mode(), dir.Mode())
		}
	}
}

// TestMounts runs as root in a mount namespace of its own: full disks, a
// mounted file, the root mounted at a second place.
func TestMounts(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("mounting needs root: full disk, mounted file and second mount are NOT tested")
	}
	s := newSite(t)
	s.put("mnt/x", "")
	s.put("M/x", "")
	c := s.command("mounts", s.top)
	c.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	if err := c.Start(); errors.Is(err, syscall.EPERM) {
		t.Skip("no mount namespaces here: full disk, mounted file and second mount are NOT tested: ", err)
	} else if err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}

// TestAsUser runs as a user whom modes bind, where this one is root.
func TestAsUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root to become another user; see TestPermissionOnTheWay for others")
	}
	s := newSite(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(s.top, "self")
	if err := os.WriteFile(copied, bin, 0o755); err != nil {
		t.Fatal(err)
	}
	for dir := s.top; dir != os.TempDir() && len(dir) > 1; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s.put("W/fixed/f", "old") // the directory may not be written, the file may
	s.put("W/mine/f", "old")
	s.put("W/theirs/f", "old")
	s.put("W/shut/f", "old")
	if err := errors.Join(os.Mkdir(filepath.Join(s.top, "locks"), 0o777), os.Chmod(filepath.Join(s.top, "locks"), 0o777),
		os.Chmod(filepath.Join(s.w, "fixed", "f"), 0o666), os.Chmod(filepath.Join(s.w, "shut"), 0),
		os.Chmod(filepath.Join(s.w, "mine"), 0o777), os.Chmod(filepath.Join(s.w, "mine", "f"), 0o666)); err != nil {
		t.Fatal(err)
	}
	c := s.command("user")
	c.Path = copied
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if err := c.Run(); err != nil {
		t.Error(err)
	}
	s.content("W/fixed/f", "new")
	s.content("W/mine/f", "new")
	s.content("W/theirs/f", "old")
}

func playPlatform(w *Workspace, role string, args []string) error {
	switch role {
	case "umask":
		mask, err := strconv.ParseUint(args[2], 8, 32)
		if err != nil {
			return err
		}
		unix.Umask(int(mask))
		p, err := w.Resolve(args[2] + "/f")
		if err != nil {
			return err
		}
		_, err = w.WriteFile(context.Background(), p, []byte("x"), WriteOptions{MakeParents: true})
		return err
	case "mounts":
		return playMounts(w, args[2])
	case "user":
		return playUser(w)
	}
	return errors.ErrUnsupported
}

func playUser(w *Workspace) error {
	var all error
	write := func(name string) Written {
		p, err := w.Resolve(name)
		if err != nil {
			all = errors.Join(all, err)
			return Written{}
		}
		got, err := w.WriteFile(context.Background(), p, []byte("new"), WriteOptions{})
		if name == "theirs/f" {
			if !errors.Is(err, ErrReadOnly) {
				all = errors.Join(all, fmt.Errorf("another's file: %w", err))
			}
			return got
		}
		all = errors.Join(all, err)
		return got
	}
	if got := write("fixed/f"); !got.InPlace {
		all = errors.Join(all, fmt.Errorf("in a fixed directory: %+v", got))
	}
	if got := write("mine/f"); got.InPlace || len(got.Lost) != 1 || got.Lost[0] != "owner" {
		all = errors.Join(all, fmt.Errorf("another's file in our directory: %+v", got))
	}
	write("theirs/f")
	if p, err := w.Resolve("shut/f"); !errors.Is(err, fs.ErrPermission) || p.Inside || !strings.HasSuffix(p.Named, "shut/f") {
		all = errors.Join(all, fmt.Errorf("a shut directory: %+v, %w", p, err))
	}
	return all
}

func playMounts(w *Workspace, top string) error {
	ctx := context.Background()
	mnt := filepath.Join(top, "mnt")
	if err := unix.Mount("tmpfs", mnt, "tmpfs", 0, "size=64k"); err != nil {
		return fmt.Errorf("mounting: %w", err)
	}
	for _, links := range []string{"", "other"} {
		name := filepath.Join(mnt, "f"+links)
		if err := os.WriteFile(name, []byte("old"), 0o644); err != nil {
			return err
		}
		if links != "" {
			if err := os.Link(name, filepath.Join(mnt, links)); err != nil {
				return err
			}
		}
		p, err := w.Resolve(name)
		if err != nil {
			return err
		}
		_, err = w.WriteFile(ctx, p, make([]byte, 200_000), WriteOptions{})
		if !errors.Is(err, unix.ENOSPC) {
			return fmt.Errorf("a full disk: %w", err)
		}
		if data, err := os.ReadFile(name); err != nil || string(data) != "old" {
			return fmt.Errorf("on a full disk the file became %d bytes, %w", len(data), err)
		}
	}
	if list, err := os.ReadDir(mnt); err != nil || len(list) != 3 {
		return fmt.Errorf("a full disk left %v, %w", list, err)
	}
	// A mounted file cannot be replaced, a mounted directory is inside.
	file, dir := filepath.Join(w.root, "src", "a.ts"), filepath.Join(w.root, "src")
	if err := errors.Join(unix.Mount(file, file, "", unix.MS_BIND, ""), unix.Mount(w.root, filepath.Join(top, "M"), "", unix.MS_BIND|unix.MS_REC, "")); err != nil {
		return err
	}
	p, err := w.Resolve("src/a.ts")
	if err != nil {
		return err
	}
	got, err := w.WriteFile(ctx, p, []byte("over the mount"), WriteOptions{})
	if err != nil || !got.InPlace || got.Version != Version([]byte("over the mount")) || got.Bytes != 14 {
		return fmt.Errorf("a mounted file: %+v, %w", got, err)
	}
	if data, err := os.ReadFile(file); err != nil || string(data) != "over the mount" {
		return fmt.Errorf("a mounted file holds %q, %w", data, err)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 1 {
		return fmt.Errorf("left beside a mounted file: %v, %w", list, err)
	}
	p, err = w.Resolve(filepath.Join(top, "M", "src", "a.ts"))
	if err != nil || !p.Inside || p.Real != file || p.Named == p.Real {
		return fmt.Errorf("the root under another name: %+v, %w", p, err)
	}
	if p, err = w.Resolve(filepath.Join(top, "M", "..", "O", "secret")); err != nil || p.Inside {
		return fmt.Errorf("out of it again: %+v, %w", p, err)
	}
	return nil
}

func BenchmarkPlainOpen(b *testing.B) { benchOpen(b, "plain") }

func BenchmarkResolveOpen(b *testing.B) { benchOpen(b, "fast") }

func BenchmarkResolveOpenWithoutOpenat2(b *testing.B) { benchOpen(b, "steps") }

func BenchmarkResolveMissing(b *testing.B) { benchOpen(b, "missing") }

func benchOpen(b *testing.B, how string) {
	s := newSite(b)
	name := s.put("W/pkg/some/deep/file.go", "x")
	if how == "steps" {
		s.base.openat2Off()
	}
	for b.Loop() {
		var f *os.File
		var err error
		switch how {
		case "plain":
			f, err = os.Open(name)
		case "missing":
			_, err = s.Resolve("pkg/some/deep/new.go")
		default:
			var p Path
			if p, err = s.Resolve("pkg/some/deep/file.go"); err == nil {
				f, err = s.OpenFile(p)
			}
		}
		if err != nil {
			b.Fatal(err)
		}
		_ = f.Close()
	}
	runtime.KeepAlive(s)
}

// TestExchange has somebody write into a file, in the moment between the last
// look at it and the exchange: it is put back with what they wrote.
func TestExchange(t *testing.T) {
	s := newSite(t)
	name := filepath.Join(s.w, "src", "a.ts")
	old, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for what, write := range map[string]func() error{
		"appended": func() error { return os.WriteFile(name, append(slices.Clone(old), "more"...), 0o644) },
		"the same size and time": func() error {
			info, err := os.Stat(name)
			return errors.Join(err, os.WriteFile(name, bytes.ToUpper(old), 0o644), os.Chtimes(name, info.ModTime(), info.ModTime()))
		},
		"replaced": func() error {
			return errors.Join(os.WriteFile(name+".new", []byte("theirs"), 0o644), os.Rename(name+".new", name))
		},
		"nothing": func() error { return nil },
	} {
		t.Run(what, func(t *testing.T) {
			if err := os.WriteFile(name, old, 0o644); err != nil {
				t.Fatal(err)
			}
			d, err := s.openDir(filepath.Dir(name))
			if err != nil {
				t.Fatal(err)
			}
			defer d.close()
			c := change{opt: WriteOptions{IfVersion: Version(old)}, dir: d, name: "a.ts", path: name}
			if err := errors.Join(c.look(), c.check()); err != nil {
				t.Fatal(err)
			}
			defer c.old.Close()
			tmp, _, err := c.create()
			if err != nil {
				t.Fatal(err)
			}
			_, err = tmp.f.WriteString("ours")
			if err := errors.Join(err, write()); err != nil {
				t.Fatal(err)
			}
			theirs, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			err = c.exchange(tmp)
			tmp.remove()
			got, readErr := os.ReadFile(name)
			if what == "nothing" {
				theirs = []byte("ours")
			}
			if conflict := errors.As(err, new(*ConflictError)); conflict == (what == "nothing") || readErr != nil || !bytes.Equal(got, theirs) {
				t.Errorf("%v: the file holds %q, %v, want %q", err, got, readErr, theirs)
			}
			if left, _ := filepath.Glob(filepath.Join(filepath.Dir(name), ".*")); len(left) > 0 {
				t.Errorf("left: %q", left)
			}
		})
	}
}

// TestExchangeSaves keeps what somebody wrote where two wrote at once.
func TestExchangeSaves(t *testing.T) {
	s := newSite(t)
	d, err := s.openDir(filepath.Join(s.w, "src"))
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	c := change{dir: d, name: "a.ts", path: filepath.Join(s.w, "src", "a.ts")}
	tmp, _, err := c.create()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tmp.f.WriteString("theirs"); err != nil {
		t.Fatal(err)
	}
	cause := &ConflictError{Path: c.path}
	err = c.save(tmp, cause)
	tmp.remove()
	saved, _ := filepath.Glob(filepath.Join(s.w, "src", "a.ts.saved-*"))
	if len(saved) != 1 || !errors.Is(err, cause) || !strings.Contains(err.Error(), filepath.Base(saved[0])) {
		t.Fatalf("%v, saved %q", err, saved)
	}
	if data, err := os.ReadFile(saved[0]); err != nil || string(data) != "theirs" {
		t.Errorf("%q, %v", data, err)
	}
}

// TestExchangeCarries: where others append to the old file and to the new one in the moment
// in which both have had the name, both stay in the file; what they write over the new one
// is saved, and said.
func TestExchangeCarries(t *testing.T) {
	for what, write := range map[string]func(f *os.File) error{
		"at once": func(f *os.File) error { _, err := f.WriteString("second\n"); return err },
		"later": func(f *os.File) error {
			time.Sleep(30 * time.Millisecond)
			_, err := f.WriteString("second\n")
			return err
		},
		"over it":   func(f *os.File) error { _, err := f.WriteAt([]byte("NEW"), 0); return err },
		"cut short": func(f *os.File) error { return f.Truncate(1) },
	} {
		t.Run(what, func(t *testing.T) {
			s := newSite(t)
			path := s.put("W/log", "one\n")
			before, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			late, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				t.Fatal(err)
			}
			done := make(chan error)
			go func() {
				now, err := os.Stat(path)
				for err == nil && os.SameFile(before, now) {
					runtime.Gosched()
					now, err = os.Stat(path)
				}
				flags := os.O_WRONLY
				if what == "at once" || what == "later" {
					flags |= os.O_APPEND
				}
				f, openErr := os.OpenFile(path, flags, 0)
				_, writeErr := late.WriteString("first\n")
				err = errors.Join(err, openErr, writeErr, late.Close())
				if openErr == nil {
					err = errors.Join(err, write(f), f.Close())
				}
				done <- err
			}()
			_, err = s.write("log", "new\n", WriteOptions{IfVersion: Version([]byte("one\n"))})
			if failed := <-done; failed != nil {
				t.Fatal(failed)
			}
			want, saves := "one\nfirst\nsecond\n", false
			if what == "over it" || what == "cut short" {
				want, saves = "one\nfirst\n", true
			}
			s.content("W/log", want)
			saved, _ := filepath.Glob(path + ".saved-*")
			if !errors.As(err, new(*ConflictError)) || errors.Is(err, ErrSaved) != saves || len(saved) > 0 != saves {
				t.Errorf("%v, saved %q", err, saved)
			}
			if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); len(left) > 0 {
				t.Errorf("left: %q", left)
			}
		})
	}
}

// TestLateWriter: who opened a file before it was replaced, and writes into it afterwards,
// as a shell's >> does when the machine is busy, loses nothing.
func TestLateWriter(t *testing.T) {
	s := newSite(t)
	path := s.put("W/log", "one\n")
	for i := range 20 {
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		late, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error)
		go func() {
			old, err := late.Stat()
			for now := old; err == nil && os.SameFile(old, now); now, err = os.Stat(path) {
				runtime.Gosched()
			}
			time.Sleep(20 * time.Millisecond)
			_, failed := fmt.Fprintf(late, "late %d\n", i)
			done <- errors.Join(err, failed, late.Close())
		}()
		_, err = s.write("log", fmt.Sprintf("new %d\n", i), WriteOptions{IfVersion: Version(before)})
		if failed := <-done; failed != nil {
			t.Fatal(failed)
		}
		if !errors.As(err, new(*ConflictError)) {
			t.Errorf("%d: %v", i, err)
		}
		s.content("W/log", string(before)+fmt.Sprintf("late %d\n", i))
	}
	// One who never closes it holds up nobody for long.
	holder, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	before, _ := os.ReadFile(path)
	begun := time.Now()
	if _, err := s.write("log", "new\n", WriteOptions{IfVersion: Version(before)}); err != nil || time.Since(begun) > 2*time.Minute {
		t.Errorf("%v after %v", err, time.Since(begun))
	}
}
