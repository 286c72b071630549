//go:build linux && (amd64 || arm64)

package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// renaming begins a Python program: rename(a, b) says how it went.
const renaming = `
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
NOREPLACE, EXCHANGE = 1, 2
def rename(a, b, flags=0):
    if libc.renameat2(-100, a.encode(), -100, b.encode(), flags): return errno.errorcode[ctypes.get_errno()]
    return "ok"
def say(*call): print(*call, rename(*call))
`

// pinnedBox is a box with something hidden in sub/deep, and protected there and in other/kept;
// with pinned false neither.
func pinnedBox(t *testing.T, uid int, pinned bool) *box {
	b := newBox(t, uid, L3)
	if pinned {
		secret := filepath.Join(b.Root, "sub", "deep", "secret")
		b.Hidden, b.Pinned = append(b.Hidden, secret), []string{secret}
		b.ReadOnly = append(b.ReadOnly, filepath.Join(b.Root, "sub", "deep", "protected"), filepath.Join(b.Root, "other", "kept", "protected"))
	}
	for name, text := range map[string]string{
		"sub/a": "a", "sub/f": "f", "sub/deep/g": "g", "sub/d/x": "x", "sub/deep/secret": "secret", "sub/e/": "",
		"other/b": "b", "other/full/y": "y", "other/empty/": "", "other/r": "r", "other/deep/z": "z", "top": "top", "other/kept/protected/p": "p",
	} {
		path := filepath.Join(b.Root, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if !strings.HasSuffix(name, "/") {
			err = errorsJoin(err, os.WriteFile(path, []byte(text), 0o644))
		} else {
			err = errorsJoin(err, os.MkdirAll(path, 0o755))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	err := filepath.WalkDir(b.Root, func(path string, _ fs.DirEntry, err error) error { return errorsJoin(err, os.Lchown(path, uid, uid)) })
	if err = errorsJoin(err, os.Symlink("a", filepath.Join(b.Root, "sub", "link"))); err != nil {
		t.Fatal(err)
	}
	return b
}

// TestRenamesAroundPinned: what is hidden and protected leaves all other renames as they are.
func TestRenamesAroundPinned(t *testing.T) {
	script := renaming + `
say("sub/a", "other/a"); say("other/a", "sub/deep/a"); say("sub/deep/a", "sub/a")
say("sub/a", "other/b"); say("other/b", "sub/a")
say("sub/none", "other/x"); say("sub/a", "none/x"); say("sub/a/x", "other/x"); say("", "other/x")
say("other/full", "sub/d"); say("sub/d", "other/empty"); say("sub/f", "other/full"); say("other/full", "sub/f")
say("sub/f", "other/r", NOREPLACE); say("sub/f", "other/new", NOREPLACE)
say("sub/link", "other/link"); say("other/link", "sub/deep/link")
say("sub/f/", "other/g"); say("sub/a/", "other/g"); say("sub/a", "other/g/"); say("sub/e/", "other/e/"); say("other/e//", "sub/e")
say("other/empty", "sub/.."); say("other/full", "sub/."); say("sub/f", "other/r", EXCHANGE); say("sub/f", "other/r", EXCHANGE); say("top", "sub/top"); say("sub/deep/g", "g")
say("other/full", "sub/new"); say("sub/new", "other/full/in"); say("sub/new", "other/" + "n" * 300)
os.link("other/r", "other/same"); say("other/same", "sub/same"); say("sub/same", "other/r")
os.chdir("sub"); say("a", "../other/cwd"); say("../other/cwd", "deep/cwd")
os.chdir("deep"); say("cwd", "/proc/self/cwd/../../other/proc"); rename(os.getcwd() + "/../../other/./proc", "back")
os.chdir("../..")
fd = [os.open(d, os.O_RDONLY) for d in ("sub", "other")]
os.rename("top" if os.path.exists("top") else "sub/top", "other/fd"); os.rename("fd", "fd", src_dir_fd=fd[1], dst_dir_fd=fd[0]); print(os.path.exists("sub/fd"))
for where, _, names in sorted(os.walk(".")):
    if "secret" in names: names.remove("secret")
    print(where, [(n, os.readlink(f"{where}/{n}") if os.path.islink(f"{where}/{n}") else open(f"{where}/{n}").read()) for n in sorted(names)])
`
	for _, uid := range users(t) {
		want := pinnedBox(t, uid, false).run(t, "/usr/bin/python3", "-c", script)
		got := pinnedBox(t, uid, true).run(t, "/usr/bin/python3", "-c", script)
		if want.state.ExitCode != 0 || strings.Count(want.stdout, " ok\n") < 15 {
			t.Fatalf("%d: %d %s%s", uid, want.state.ExitCode, want.stdout, want.stderr)
		}
		if got.stdout != want.stdout || got.state.ExitCode != 0 {
			t.Errorf("%d: with nothing hidden:\n%s\nwith something:\n%s%s", uid, want.stdout, got.stdout, got.stderr)
		}
	}
}

// TestPinned: what is hidden stays in its place with all above it, and what is protected is so
// wherever its directory is moved to.
func TestPinned(t *testing.T) {
	script := renaming + `
say("sub/deep/secret", "other/s"); say("sub/deep", "other/sub"); say("sub", "other/sub"); say("sub", "sub2"); say("other/b", "sub/deep/secret"); say("other/deep", "sub/deep")
say("other/deep", "sub/deep", EXCHANGE); say("sub/deep", "other/deep", EXCHANGE); say("sub/a", "../tmp/a")
def write(name):
    try: open(name, "w"); return "written"
    except OSError as e: return errno.errorcode[e.errno]
for to in "other/moved", "sub/deep/moved", "sub/kept":
    print(rename("other/kept", to)); print(write(to + "/protected/p"), write(to + "/protected/new"), write(to + "/mine"))
    print(rename(to, "other/kept"))
`
	want := "sub/deep/secret other/s EBUSY\nsub/deep other/sub EBUSY\nsub other/sub EBUSY\nsub sub2 EBUSY\nother/b sub/deep/secret EBUSY\nother/deep sub/deep EBUSY\n" +
		"other/deep sub/deep 2 EBUSY\nsub/deep other/deep 2 EBUSY\nsub/a ../tmp/a EXDEV\n" + strings.Repeat("ok\nEROFS EROFS written\nok\n", 3)
	for _, uid := range users(t) {
		b := pinnedBox(t, uid, true)
		b.run(t, "/usr/bin/python3", "-c", script)
		if b.state.ExitCode != 0 || b.stdout != want {
			t.Errorf("%d: %d %s%s, want %s", uid, b.state.ExitCode, b.stdout, b.stderr, want)
		}
		for _, name := range []string{"sub/a", "sub/deep/secret", "other/b", "other/deep/z", "other/kept/protected/p"} {
			if _, err := os.Stat(filepath.Join(b.Root, name)); err != nil {
				t.Errorf("%d: %v", uid, err)
			}
		}
	}
}

// TestNamed: a directory that keeps its name does so, and goes with one above it; what lies in it is moved as anywhere.
func TestNamed(t *testing.T) {
	want := "other/kept other/moved EBUSY\nother/kept other/empty 2 EBUSY\nother/empty other/kept 2 EBUSY\nother moved ok\nmoved/kept moved/x EBUSY\nmoved other ok\n" +
		"other/b other/kept/b ok\nother/kept/b top2 ok\nother/kept/protected/p other/p EXDEV\n"
	for _, uid := range users(t) {
		b := pinnedBox(t, uid, true)
		b.Named = []string{filepath.Join(b.Root, "other", "kept"), filepath.Join(b.Root, "missing"), filepath.Join(b.Root, "top")}
		b.run(t, "/usr/bin/python3", "-c", renaming+`
say("other/kept", "other/moved"); say("other/kept", "other/empty", EXCHANGE); say("other/empty", "other/kept", EXCHANGE)
say("other", "moved"); say("moved/kept", "moved/x"); say("moved", "other")
say("other/b", "other/kept/b"); say("other/kept/b", "top2"); say("other/kept/protected/p", "other/p")
`)
		if b.state.ExitCode != 0 || b.stdout != want {
			t.Errorf("%d: %d %s%s, want %s", uid, b.state.ExitCode, b.stdout, b.stderr, want)
		}
	}
}

// TestHeld: who holds a directory that is moved finds what is hidden and protected beside its
// new place closed.
func TestHeld(t *testing.T) {
	for _, uid := range users(t) {
		b := pinnedBox(t, uid, true)
		b.run(t, "/usr/bin/python3", "-c", renaming+`
def tries(what, *call):
    try: print(what, call[0](*call[1:]))
    except OSError as e: print(errno.errorcode[e.errno])
os.mkdir("held"); d = os.open("held", os.O_RDONLY); os.chdir("held")
say("../held", "../sub/deep/held")
tries("read", lambda: os.read(os.open("../secret", os.O_RDONLY, dir_fd=d), 9))
tries("read", lambda: open("../secret").read())
tries("linked", lambda: os.link("../secret", "leak", src_dir_fd=d, dst_dir_fd=d))
tries("moved", lambda: os.rename("../secret", "leak", src_dir_fd=d, dst_dir_fd=d))
tries("moved", lambda: os.rename("../../deep", "../../shallow", src_dir_fd=d, dst_dir_fd=d))
tries("written", lambda: os.open("../protected", os.O_WRONLY, dir_fd=d))
`)
		if want := "../held ../sub/deep/held ok\nEACCES\nEACCES\nEXDEV\nEBUSY\nEBUSY\nEROFS\n"; b.stdout != want {
			t.Errorf("%d: %q, want %q: %s", uid, b.stdout, want, b.stderr)
		}
	}
}
