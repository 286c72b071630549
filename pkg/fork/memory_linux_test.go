//go:build linux && (amd64 || arm64)

package fork

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	_ "os/user" // brings the C library along where cgo is on
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// carryOut forks p from a locked thread, whose child has w as its descriptor to write to, and returns
// what arrives there.
func carryOut(t *testing.T, p *Plan, r, w *os.File) []byte {
	t.Helper()
	pid, errno := p.Fork(0, int(w.Fd()))
	_ = w.Close()
	if errno != 0 {
		t.Error(errno)
		return nil
	}
	out, err := io.ReadAll(r)
	if err != nil {
		t.Error(err)
	}
	var status syscall.WaitStatus
	for {
		_, err = syscall.Wait4(pid, &status, 0, nil)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil || status.Signaled() {
		t.Errorf("the child ended with %v, %v", status, err)
	}
	return out
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = r.Close(), w.Close() })
	return r, w
}

// TestHeapStaysBehind shows that a child has neither Go's heap nor the stacks of
// other threads, that both are as they were in the parent, and that the child
// has what its plan consists of.
func TestHeapStaysBehind(t *testing.T) {
	secret := bytes.Repeat([]byte("secret"), 100_000)
	want := slices.Clone(secret)
	round := func() {
		r, w := pipe(t)
		p := &Plan{}
		locks, _ := locksOfThread()
		mine := p.text("what the plan consists of")
		fd := p.Cell()
		p.Do("opening the maps", unix.SYS_OPENAT, unix.AT_FDCWD, "/proc/self/maps", unix.O_RDONLY, 0).Keeps(fd)
		buf, n := unsafe.Pointer(PlaceAll(p, make([]byte, 4096))), p.Cell()
		for range 100 {
			p.Do("reading", unix.SYS_READ, fd, buf, 4096).Keeps(n)
			p.Do("writing", unix.SYS_WRITE, w.Fd(), buf, n)
		}
		out := carryOut(t, p, r, w)
		if len(out) < FailureSize {
			t.Errorf("the child printed %q", out)
			return
		}
		out = out[:len(out)-FailureSize] // a plan that comes to its end says so
		if !strings.Contains(string(out), "[stack]") {
			t.Errorf("these are no maps: %q", out)
			return
		}
		for at, there := range map[uintptr]bool{
			uintptr(unsafe.Pointer(&secret[300_000])): false,
			locks:                            locks != 0,
			mine:                             true,
			uintptr(unsafe.Pointer(&global)): true,
			uintptr(unsafe.Pointer(unsafe.StringData(anonymousName))): true,
		} {
			if has(t, out, at) != there {
				t.Errorf("%#x is in the child: %v, in\n%s", at, !there, out)
			}
		}
		if parent, err := os.ReadFile("/proc/self/maps"); err != nil || !has(t, parent, uintptr(unsafe.Pointer(&secret[0]))) {
			t.Errorf("this test looks for the wrong thing: %v", err)
		}
	}
	// What the child of one thread goes without, that of another needs.
	var turns [4]chan struct{}
	done := make(chan struct{})
	for i := range turns {
		turns[i] = make(chan struct{})
		go func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			done <- struct{}{}
			for range turns[i] {
				round()
				done <- struct{}{}
			}
		}()
		<-done
	}
	for i := range 3 * len(turns) {
		turns[i%len(turns)] <- struct{}{}
		<-done
	}
	for _, turn := range turns {
		close(turn)
	}
	if !bytes.Equal(secret, want) {
		t.Error("the parent's heap has changed")
	}
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil || !bytes.Contains(maps, []byte("VmFlags: rd ")) {
		t.Fatalf("no flags: %v", err)
	}
	for line := range bytes.Lines(maps) {
		if bytes.HasPrefix(line, []byte("VmFlags: ")) && bytes.Contains(line, []byte(" dc ")) {
			t.Errorf("later children, which package syscall makes, would go without a part of the heap: %s", line)
		}
	}
}

const anonymousName = "a constant lies among what cannot be written to"

// has reports whether memory at address is among the maps.
func has(t *testing.T, maps []byte, address uintptr) bool {
	t.Helper()
	for line := range bytes.Lines(maps) {
		var begin, end uintptr
		if _, err := fmt.Sscanf(string(line), "%x-%x", &begin, &end); err != nil {
			t.Errorf("%q: %v", line, err)
			return false
		}
		if begin <= address && address < end {
			return true
		}
	}
	return false
}

// TestRoom shows that what is placed stays what it is, however much it is and
// whatever the garbage collector does.
func TestRoom(t *testing.T) {
	r, w := pipe(t)
	p := &Plan{}
	var want strings.Builder
	for i := range 3000 {
		s := fmt.Sprintf("%d %s\n", i, strings.Repeat("x", i%700))
		if i == 1000 {
			s = strings.Repeat("a long one", 100_000) // more than a chunk
		}
		want.WriteString(s)
		v := unix.Iovec{Base: PlaceAll(p, []byte(s))}
		v.SetLen(len(s))
		place := Place(p, v)
		if at := uintptr(unsafe.Pointer(place)); at%unsafe.Alignof(v) != 0 {
			t.Fatalf("%#x is not aligned", at)
		}
		s0 := p.Do("writing", unix.SYS_WRITEV, w.Fd(), unsafe.Pointer(place), 1)
		s0.some = true
		if i%500 == 0 {
			runtime.GC()
		}
	}
	done := make(chan []byte)
	go func() {
		b, _ := io.ReadAll(r)
		done <- b
	}()
	runtime.LockOSThread()
	pid, errno := p.Fork(0, int(w.Fd()))
	runtime.UnlockOSThread()
	if errno != 0 {
		t.Fatal(errno)
	}
	_ = w.Close()
	got := <-done
	_, _ = syscall.Wait4(pid, nil, 0, nil)
	if got = got[:max(len(got)-FailureSize, 0)]; string(got) != want.String() {
		t.Errorf("%d bytes came, %d were placed", len(got), want.Len())
	}
}

func TestAnonymous(t *testing.T) {
	for line, want := range map[string]bool{
		"7fcc5889a000-7fcc5909a000 rw-p 00000000 00:00 0 ":                             true,
		"7fcc5889a000-7fcc5909a000 ---p 00000000 00:00 0 ":                             true,
		"c000000000-c000400000 rw-p 00000000 00:00 0          [anon: Go: heap]":        true,
		"12f41000-12f62000 rw-p 00000000 00:00 0              [heap]":                  false,
		"7ffeed143000-7ffeed164000 rw-p 00000000 00:00 0      [stack]":                 false,
		"7fcca2f24000-7fcca2f26000 r-xp 00000000 00:00 0      [vdso]":                  false,
		"025fb000-0272a000 rw-p 021fa000 fe:00 10316596       /usr/bin/agentkit":       false,
		"7fcc5889a000-7fcc5909a000 rw-s 00000000 00:05 8392   /dev/zero (deleted)":     false,
		"7fcc5889a000-7fcc5909a000 rwxp 00000000 00:00 0 ":                             false,
		"7fcc5889a000-7fcc5909a000 rw-p 00000000 00:00 0      [anon: somebody else's]": false,
		"":                                    false,
		"7fcc5889a000 rw-p 00000000 00:00 0 ": false,
		"7fcc5889a000-7fcc5909a000 rw-p":      false,
	} {
		s, ok := anonymous([]byte(line))
		if ok != want || ok && s.begin >= s.end {
			t.Errorf("%q: %#x, %v", line, s, ok)
		}
	}
}

// TestCells shows that a plan can hold on to as many results as it has room for.
func TestCells(t *testing.T) {
	r, w := pipe(t)
	p := &Plan{}
	refs := make([]Ref, 300)
	for i := range refs {
		refs[i] = p.Cell()
		p.Do("dup", unix.SYS_FCNTL, w.Fd(), unix.F_DUPFD_CLOEXEC, 1000+i).Keeps(refs[i])
	}
	var want strings.Builder
	for i, ref := range refs {
		s := strconv.Itoa(i) + "\n"
		want.WriteString(s)
		p.Do("writing", unix.SYS_WRITE, ref, s, len(s))
		p.Close(ref)
	}
	if again := p.Cell(); again > Ref(len(refs)) {
		t.Errorf("a place that was given back is not used again: %d", again)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	out := carryOut(t, p, r, w)
	if got := string(out[:max(len(out)-FailureSize, 0)]); got != want.String() {
		t.Errorf("%q", got)
	}
}

// TestNoMappingsLeft shows that a fork of a process that may have no further
// mappings fails, or makes a child that has what it needs.
func TestNoMappingsLeft(t *testing.T) {
	if os.Getenv("FORK_FULL") == "" {
		c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestNoMappingsLeft$", "-test.v")
		c.Env = append(os.Environ(), "FORK_FULL=1")
		out, err := c.CombinedOutput()
		switch {
		case err != nil && bytes.Contains(out, []byte("fatal error: ")):
			t.Skipf("Go itself needs a mapping that there is none for: %s", out)
		case err != nil || !bytes.Contains(out, []byte("--- PASS")) && !bytes.Contains(out, []byte("--- SKIP")):
			t.Errorf("%v\n%s", err, out)
		default:
			t.Logf("%s", out)
		}
		return
	}
	raw, err := os.ReadFile("/proc/sys/vm/max_map_count")
	most, err2 := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil || err2 != nil || most > 200_000 {
		t.Skipf("the limit on mappings is %q: too many to fill", raw)
	}
	page := unix.Getpagesize()
	all, err := unix.Mmap(-1, 0, 2*most*page, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	if err != nil {
		t.Skip(err)
	}
	defer unix.Munmap(all) //nolint:errcheck // the process ends
	plan := func() (*Plan, *os.File, *os.File) {
		r, w := pipe(t)
		p := &Plan{}
		p.Do("writing", unix.SYS_WRITE, w.Fd(), "well", 4)
		return p, r, w
	}
	var plans []*Plan
	var ends [][2]*os.File
	for range 8 {
		p, r, w := plan()
		plans, ends = append(plans, p), append(ends, [2]*os.File{r, w})
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	filled := 0
	for ; filled < most; filled++ {
		if unix.Mprotect(all[2*filled*page:(2*filled+1)*page], unix.PROT_READ) != nil {
			break
		}
	}
	failed := 0
	for i, p := range plans {
		// One mapping more to spare each time.
		if filled--; i > 0 {
			_ = unix.Mprotect(all[2*filled*page:(2*filled+1)*page], unix.PROT_NONE)
		}
		r, w := ends[i][0], ends[i][1]
		pid, errno := p.Fork(0, int(w.Fd()))
		_ = w.Close()
		if errno != 0 {
			failed++
			continue
		}
		out, _ := io.ReadAll(r)
		var status syscall.WaitStatus
		_, _ = syscall.Wait4(pid, &status, 0, nil)
		if !bytes.HasPrefix(out, []byte("well")) {
			t.Errorf("with %d mappings to spare the child printed %q and ended with %v", i, out, status)
		}
	}
	t.Logf("%d mappings, %d of %d forks refused", filled, failed, len(plans))
}
