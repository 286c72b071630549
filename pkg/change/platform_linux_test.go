package change

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

func playPlatform(h *History, role, top string, args []string) error {
	switch role {
	case "exchange":
		return playTens(h, args, exchangeTens)
	case "exchange-undo":
		return playTens(h, args, undoLast)
	case "big":
		return playBig(h)
	case "full":
		return playFull(top)
	case "user":
		return playUser(h)
	case "capped":
		return playCapped(h, args)
	}
	return errors.New("no such role")
}

// writes are the calls that change a file system.
var writes = []uintptr{
	unix.SYS_OPENAT, unix.SYS_OPENAT2, unix.SYS_WRITE, unix.SYS_PWRITE64, unix.SYS_FSYNC, unix.SYS_FTRUNCATE, unix.SYS_FALLOCATE,
	unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2, unix.SYS_LREMOVEXATTR, unix.SYS_UNLINKAT, unix.SYS_LINKAT, unix.SYS_SYMLINKAT, unix.SYS_MKDIRAT, unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FLOCK,
}

// mark tells whoever traces this process that it begins.
func mark() { _, _ = unix.Getpriority(unix.PRIO_PROCESS, 0) }

// killAt runs a command and kills it as it enters its n-th such call, having
// reached the point from where they count. It returns how many there were.
func killAt(c *exec.Cmd, n int) (calls int, killed bool, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c.SysProcAttr = &syscall.SysProcAttr{Ptrace: true, Setpgid: true}
	if err := c.Start(); err != nil {
		return 0, false, err
	}
	pid := c.Process.Pid
	var status unix.WaitStatus
	if _, err := unix.Wait4(pid, &status, 0, nil); err != nil {
		return 0, false, err
	}
	const options = unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_EXITKILL
	if err := unix.PtraceSetOptions(pid, options); err != nil {
		return 0, false, err
	}
	if err := unix.PtraceSyscall(pid, 0); err != nil {
		return 0, false, err
	}
	counting := false
	for {
		tid, err := unix.Wait4(-pid, &status, unix.WALL, nil) // others have children too
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return calls, killed, err
		}
		if status.Exited() || status.Signaled() {
			if tid == pid {
				if status.Exited() && status.ExitStatus() != 0 {
					err = fmt.Errorf("exit status %d", status.ExitStatus())
				}
				return calls, killed, err
			}
			continue
		}
		signal := 0
		switch stop := status.StopSignal(); {
		case stop == unix.SIGTRAP|0x80:
			nr, entry := syscallOf(tid)
			if entry && nr == unix.SYS_GETPRIORITY { // the mark
				counting = true
			}
			if entry && counting && slices.Contains(writes, nr) {
				if calls == n {
					killed = true
					if err := unix.Kill(pid, unix.SIGKILL); err != nil {
						return calls, killed, err
					}
				}
				calls++
			}
		case stop != unix.SIGTRAP && stop != unix.SIGSTOP:
			signal = int(stop)
		}
		_ = unix.PtraceSyscall(tid, signal) // it may just have died
	}
}

// syscallOf asks which call a stopped thread is in, and whether it is entering.
func syscallOf(tid int) (nr uintptr, entry bool) {
	var info struct {
		op   uint8
		_    [3]uint8
		arch uint32
		ip   uint64
		sp   uint64
		nr   uint64
		args [6]uint64
	}
	const getSyscallInfo = 0x420e
	_, _, errno := unix.Syscall6(unix.SYS_PTRACE, getSyscallInfo, uintptr(tid), unsafe.Sizeof(info), uintptr(unsafe.Pointer(&info)), 0, 0)
	return uintptr(info.nr), errno == 0 && info.op == 1
}

// sweep kills the process that plays a role at system calls that touch a file:
// it is old or new afterwards, never a mix. Each run takes one call of sixteen,
// another one each time, and with AGENTKIT_SOAK all of them.
func sweep(t *testing.T, role string, least int, setup func(*site), before, after string) {
	sweepFrom(t, role, least, func(s *site) { s.tens(); setup(s) }, before, after)
}

// sweepFrom is sweep with all of the tree given.
func sweepFrom(t *testing.T, role string, least int, setup func(*site), before, after string) {
	site := func() *site { s := newSite(t); setup(s); return s }
	s := site()
	total, killed, err := killAt(s.command(role), -1)
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSYS) {
		t.Skip("processes cannot be traced here: killing at every system call is NOT tested: ", err)
	}
	if err != nil || killed || total < least {
		t.Fatalf("%d calls, %v", total, err)
	}
	step := 16
	switch {
	case soak():
		step = 1
	case testing.Short():
		step = 40
	}
	done, finished := 0, 0
	for n := rand.IntN(step); n < total; n += step {
		s := site()
		_, killed, err := killAt(s.command(role), n)
		if err != nil {
			t.Fatal(err)
		}
		if !killed {
			break
		}
		done++
		if s.recovered(before, after) {
			finished++
		}
		if t.Failed() {
			t.Fatalf("killed at call %d of %d", n, total)
		}
		_ = os.RemoveAll(s.top)
	}
	t.Logf("%d calls, killed at %d of them, %d times all of it had happened", total, done, finished)
	if done < least/step-1 {
		t.Errorf("only %d kills", done)
	}
}

// TestKilledAnywhere changes ten files, or changes them back, or recovers.
func TestKilledAnywhere(t *testing.T) {
	before, after := images(t, commitTens)
	t.Parallel()
	t.Run("commit", func(t *testing.T) {
		t.Parallel()
		sweep(t, "tens", 60, func(*site) {}, before, after)
	})
	t.Run("undo", func(t *testing.T) {
		t.Parallel()
		sweep(t, "undo", 60, func(s *site) {
			set, err := tens(s.History)
			if err == nil {
				_, err = s.Commit(context.Background(), set)
			}
			if err != nil {
				t.Fatal(err)
			}
		}, before, after)
	})
	t.Run("recover", func(t *testing.T) {
		t.Parallel()
		sweep(t, "recover", 60, func(s *site) {
			if err := s.command("tens", "28").Run(); err == nil {
				t.Fatal("it was not killed")
			}
		}, before, "never")
	})
}

// playBig changes a large file by streaming and says how much memory it took.
func playBig(h *History) error {
	p, err := h.w.Resolve("big")
	if err != nil {
		return err
	}
	_, err = h.Commit(context.Background(), Set{Changes: []Change{
		{Op: Write, Path: p, Source: func() (io.ReadCloser, error) { return io.NopCloser(io.LimitReader(zeros{}, 80<<20)), nil }},
	}})
	if err == nil {
		_, err = h.Undo(context.Background(), "", UndoOptions{})
	}
	if err != nil {
		return err
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	fmt.Println(strings.Fields(rest)[0])
	return nil
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestLargeFile(t *testing.T) {
	if testing.Short() {
		t.Skip("a large file is NOT tested in short mode")
	}
	t.Parallel()
	size := int64(64 << 20)
	if soak() {
		size = 256 << 20
	}
	s := newSite(t)
	f, err := os.Create(s.abs("big"))
	if err != nil {
		t.Fatal(err)
	}
	random := rand.NewChaCha8([32]byte{})
	sum := sha256.New()
	if _, err := io.Copy(io.MultiWriter(f, sum), io.LimitReader(random, size)); err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	out, err := s.command("big").Output()
	if err != nil {
		t.Fatal(err)
	}
	kb, _ := strconv.Atoi(strings.TrimSpace(string(out)))
	t.Logf("changing %d MiB and back took %d KiB of memory", size>>20, kb)
	if kb == 0 || kb > 32<<10 {
		t.Errorf("%d KiB of memory", kb)
	}
	f, err = os.Open(s.abs("big"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if have, _, err := hashAll(f); err != nil || have != hex.EncodeToString(sum.Sum(nil)) {
		t.Error("other bytes came back", err)
	}
}

// TestDiskFull runs in a mount namespace of its own.
func TestDiskFull(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("mounting needs root: a full disk is NOT tested")
	}
	s := newSite(t)
	c := s.command("full")
	c.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	c.Stderr = nil
	out, err := c.CombinedOutput()
	if errors.Is(err, syscall.EPERM) {
		t.Skip("no mount namespaces here: a full disk is NOT tested: ", err)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// playFull mounts a small disk as the workspace, then one as the state, and
// changes more than fits.
func playFull(top string) error {
	for _, name := range []string{"W", "S"} {
		if err := fullDisk(filepath.Join(top, name+"-full"), name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return fullExchange(filepath.Join(top, "both"))
}

func fullDisk(top, small string) error {
	for _, name := range []string{"W", "S"} {
		if err := os.MkdirAll(filepath.Join(top, name), 0o700); err != nil {
			return err
		}
	}
	mnt := filepath.Join(top, small)
	err := errors.Join(unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""), unix.Mount("none", mnt, "tmpfs", 0, "size=4m,mode=700"))
	if err != nil {
		return err
	}
	defer func() { _ = unix.Unmount(mnt, unix.MNT_DETACH) }()
	files := filepath.Join(top, "W")
	for i := range 6 { // 6 × 300 KiB of 4 MiB, or of the other disk
		if err := os.WriteFile(filepath.Join(files, fmt.Sprint("f", i)), []byte(strings.Repeat(fmt.Sprint(i), 300<<10)), 0o644); err != nil {
			return err
		}
	}
	h, done, err := openSite(top, "default", Options{})
	if err != nil {
		return err
	}
	defer done()
	before := fmt.Sprint(sums(files))
	sizes := []int{100 << 10, 900 << 10, 700 << 10, 700 << 10, 1 << 20, 2 << 20}
	if small == "S" { // what is kept does not fit
		if err := os.WriteFile(filepath.Join(mnt, "filler"), make([]byte, 3<<20), 0o600); err != nil {
			return err
		}
	}
	var set Set
	for i, size := range sizes {
		p, err := h.w.Resolve(fmt.Sprint("f", i))
		if err != nil {
			return err
		}
		set.Changes = append(set.Changes, Change{Op: Write, Path: p, Data: []byte(strings.Repeat("n", size))})
	}
	_, err = h.Commit(context.Background(), set)
	fmt.Println(err)
	if !safefile.DiskFull(err) || errors.Is(err, ErrUnfinished) {
		return fmt.Errorf("not the error wanted: %w", err)
	}
	if after := fmt.Sprint(sums(files)); after != before {
		return fmt.Errorf("changed:\n%s\n%s", before, after)
	}
	if left, err := h.unfinished(nil); err != nil || len(left) > 0 {
		return fmt.Errorf("%d left, %w", len(left), err)
	}
	return nil
}

func sums(dir string) []string {
	list, _ := os.ReadDir(dir)
	var all []string
	for _, e := range list {
		data, _ := os.ReadFile(filepath.Join(dir, e.Name()))
		all = append(all, e.Name()+" "+Hash(data)[:8])
	}
	return all
}

// playCapped is a change in a process whose files may not get larger than the
// limit that it sets itself.
func playCapped(h *History, args []string) error {
	limit, err := strconv.ParseUint(args[0], 10, 64)
	if err != nil {
		return err
	}
	var set Set
	for i := range 3 {
		p, err := h.w.Resolve(fmt.Sprint("f", i))
		if err != nil {
			return err
		}
		set.Changes = append(set.Changes, Change{Op: Write, Path: p, Data: []byte(strings.Repeat("n", 1+i*100_000))})
	}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: limit, Max: limit}); err != nil {
		return err
	}
	_, err = h.Commit(context.Background(), set)
	if !errors.Is(err, unix.EFBIG) {
		return fmt.Errorf("not the error wanted: %w", err)
	}
	return nil
}

func TestFailingWrite(t *testing.T) {
	s := newSite(t)
	for i := range 3 {
		s.put(fmt.Sprint("f", i), "old")
	}
	before := s.image()
	if err := s.command("capped", "150000").Run(); err != nil {
		t.Error(err)
	}
	same(t, "the tree", s.image(), before)
	s.clean()
}

// TestAsUser runs as a user whom modes bind.
func TestAsUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("becoming another user needs root: directories that may not be written are NOT tested")
	}
	s := newSite(t)
	s.put("shut/in", "old")
	s.put("open/a", "old")
	s.put("unread", "old")
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(s.top, "self")
	if err := os.WriteFile(bin, self, 0o755); err != nil {
		t.Fatal(err)
	}
	for dir := s.top; dir != os.TempDir() && len(dir) > 1; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	err = filepath.WalkDir(filepath.Join(s.top, "W"), func(path string, _ os.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, 12345, 12345))
	})
	for _, name := range []string{"S", "L"} {
		err = errors.Join(err, os.Mkdir(filepath.Join(s.top, name), 0o700), os.Chown(filepath.Join(s.top, name), 12345, 12345))
	}
	err = errors.Join(err, os.Chmod(s.abs("shut"), 0o555), os.Chmod(s.abs("unread"), 0o200))
	if err != nil {
		t.Fatal(err)
	}
	before := s.image()
	c := exec.Command(bin, "play", "user", s.top)
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 12345, Gid: 12345}}
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	same(t, "the tree", s.image(), before)
}

func playUser(h *History) error {
	ctx := context.Background()
	change := func(op Op, name string) Change {
		p, err := h.w.Resolve(name)
		if err != nil {
			panic(err)
		}
		return Change{Op: op, Path: p, Data: []byte("new")}
	}
	// In a directory that may not be written a file can be overwritten …
	r, err := h.Commit(ctx, One("t", change(Write, "shut/in")))
	if err != nil || !r.Files[0].InPlace {
		return fmt.Errorf("overwriting: %+v, %w", r, err)
	}
	if _, err := h.Undo(ctx, "", UndoOptions{}); err != nil {
		return err
	}
	// … but not removed or created, nor may a file be changed that cannot be
	// read: what is lost could not be kept.
	for _, bad := range []Change{change(Delete, "shut/in"), change(Create, "shut/new"), change(Write, "unread")} {
		_, err := h.Commit(ctx, Set{Changes: []Change{change(Write, "open/a"), change(Create, "open/b/c"), bad}})
		if !errors.Is(err, os.ErrPermission) || errors.Is(err, ErrUnfinished) {
			return fmt.Errorf("%s %s: %w", bad.Op, bad.Path.Given, err)
		}
	}
	// What a command takes away comes back to a directory that it has closed.
	open := filepath.Join(h.w.Root(), "open")
	was, err := os.Stat(open)
	if err != nil {
		return err
	}
	if _, err := shelve(h, []Doomed{{Path: "open/a"}}, func(string) error {
		return errors.Join(os.Remove(filepath.Join(open, "a")), os.Chmod(open, 0o555))
	}); err != nil {
		return err
	}
	if _, err := h.Undo(ctx, "", UndoOptions{}); err != nil {
		return err
	}
	if now, err := os.Stat(open); err != nil || now.Mode().Perm() != 0o555 {
		return fmt.Errorf("it is not closed any more: %v, %w", now, err)
	}
	return os.Chmod(open, was.Mode())
}
