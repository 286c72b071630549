package workspace

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
)

func (s *site) write(name, data string, o WriteOptions) (Written, error) {
	s.t.Helper()
	return s.WriteFile(context.Background(), s.resolve(name), []byte(data), o)
}

func TestWriteNewAndOld(t *testing.T) {
	s := newSite(t)
	w, err := s.write("new.txt", "one", WriteOptions{})
	if err != nil || !w.Created || w.Bytes != 3 || w.Version != Version([]byte("one")) || w.InPlace {
		t.Fatalf("%+v, %v", w, err)
	}
	s.content("W/new.txt", "one")
	want := s.newMode() // what the kernel gives a new file
	got, _ := os.Stat(filepath.Join(s.w, "new.txt"))
	if runtime.GOOS != "windows" && got.Mode() != want {
		t.Errorf("mode %v, want %v", got.Mode(), want)
	}
	if w, err = s.write("new.txt", "two!", WriteOptions{}); err != nil || w.Created || w.Bytes != 4 {
		t.Fatalf("%+v, %v", w, err)
	}
	s.content("W/new.txt", "two!")
	s.names("W", "new.txt", "src")
	s.names("locks", "all")
}

// newMode is the mode that the kernel gives a new file.
func (s *site) newMode() fs.FileMode {
	name := filepath.Join(s.top, "probe")
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		s.t.Fatal(err)
	}
	return info.Mode()
}

func TestWriteOptions(t *testing.T) {
	s := newSite(t)
	var conflict *ConflictError
	if _, err := s.write("src/a.ts", "x", WriteOptions{CreateOnly: true}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("create only: %v", err)
	}
	have := Version([]byte("inside"))
	if _, err := s.write("src/a.ts", "x", WriteOptions{IfVersion: Version(nil)}); !errors.As(err, &conflict) || conflict.Have != have || conflict.Want != Version(nil) {
		t.Errorf("another version: %v", err)
	}
	if _, err := s.write("gone", "x", WriteOptions{IfVersion: have}); !errors.As(err, &conflict) || conflict.Have != "" {
		t.Errorf("a version of nothing: %v", err)
	}
	s.content("W/src/a.ts", "inside")
	if _, err := s.write("src/a.ts", "next", WriteOptions{IfVersion: have}); err != nil {
		t.Error(err)
	}
	s.content("W/src/a.ts", "next")
	if _, err := s.write("no/such/f", "x", WriteOptions{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing parents: %v", err)
	}
	w, err := s.write("no/such/f", "x", WriteOptions{MakeParents: true})
	if err != nil || len(w.Made) != 2 || w.Made[0] != filepath.Join(s.w, "no") || w.Made[1] != filepath.Join(s.w, "no", "such") {
		t.Errorf("%+v, %v", w, err)
	}
	for name, want := range map[string]error{"src": ErrIsDir, ".": ErrIsDir, "newdir/": ErrIsDir} {
		if _, err := s.write(name, "x", WriteOptions{}); !errors.Is(err, want) {
			t.Errorf("writing %q: %v", name, err)
		}
	}
	s.names("W/src", "a.ts")
}

func TestWriteFromFailingReader(t *testing.T) {
	s := newSite(t)
	src := io.MultiReader(strings.NewReader("half"), iotest.ErrReader(io.ErrUnexpectedEOF))
	if _, err := s.WriteFrom(context.Background(), s.resolve("src/a.ts"), src, WriteOptions{}); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
	s.content("W/src/a.ts", "inside")
	s.names("W/src", "a.ts")
}

// TestChangedWhileWritten: another writer is seen until just before the new
// content takes the old one's place.
func TestChangedWhileWritten(t *testing.T) {
	s := newSite(t)
	p := s.resolve("src/a.ts")
	f, err := s.OpenFile(p)
	if err != nil {
		t.Fatal(err)
	}
	version, err := VersionOf(f)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	src := io.MultiReader(strings.NewReader("ours"), readerFunc(func() error {
		s.put("W/src/a.ts", "theirs, meanwhile")
		return io.EOF
	}))
	_, err = s.WriteFrom(context.Background(), p, src, WriteOptions{IfVersion: version})
	if conflict, ok := errors.AsType[*ConflictError](err); !ok || conflict.Want != version || conflict.Have == version {
		t.Errorf("%v", err)
	}
	s.content("W/src/a.ts", "theirs, meanwhile")
	s.names("W/src", "a.ts")
}

// A readerFunc is a reader of nothing that does something first.
type readerFunc func() error

func (f readerFunc) Read([]byte) (int, error) { return 0, f() }

func TestWriteModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes are Unix's")
	}
	s := newSite(t)
	name := filepath.Join(s.w, "src", "a.ts")
	for _, mode := range []fs.FileMode{0o600, 0o755, 0o664, 0o640 | fs.ModeSetgid, 0o4755&0o777 | fs.ModeSetuid, 0o200} {
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
		w, err := s.write("src/a.ts", "x"+mode.String(), WriteOptions{})
		got, _ := os.Stat(name)
		if err != nil || got.Mode() != mode || w.Mode != mode {
			t.Errorf("mode %v became %v (%+v, %v)", mode, got.Mode(), w, err)
		}
	}
	want := fs.FileMode(0o711)
	w, err := s.write("script", "x", WriteOptions{Mode: &want})
	if got, _ := os.Stat(filepath.Join(s.w, "script")); err != nil || got.Mode() != want || w.Mode != want {
		t.Errorf("a given mode: %v, %v", got.Mode(), err)
	}
	if err := os.Chmod(name, 0o444); err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadFile(name)
	if _, err := s.write("src/a.ts", "no", WriteOptions{}); !errors.Is(err, ErrReadOnly) {
		t.Errorf("read-only: %v", err)
	}
	s.content("W/src/a.ts", string(before))
}

func TestWriteThroughLink(t *testing.T) {
	s := newSite(t)
	s.link("src/a.ts", "W/l")
	s.link("fresh", "W/dangling")
	s.link(s.o, "W/out")
	if _, err := s.write("l", "new", WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.write("dangling", "made", WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	s.content("W/src/a.ts", "new")
	s.content("W/fresh", "made")
	for _, l := range []string{"l", "dangling"} {
		if info, err := os.Lstat(filepath.Join(s.w, l)); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%s is a link no more", l)
		}
	}
	// Where the policy allowed an outside file it works there as well.
	if _, err := s.write("out/secret", "told", WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	s.content("O/secret", "told")
}

func TestWriteHardLink(t *testing.T) {
	s := newSite(t)
	a, b := filepath.Join(s.w, "src", "a.ts"), filepath.Join(s.w, "b")
	if err := os.Link(a, b); err != nil {
		t.Skip("no hard links here: ", err)
	}
	for _, data := range []string{strings.Repeat("longer ", 1000), "short", ""} {
		w, err := s.write("b", data, WriteOptions{})
		if err != nil || !w.InPlace || w.Version != Version([]byte(data)) || w.Bytes != int64(len(data)) {
			t.Fatalf("%+v, %v", w, err)
		}
		s.content("W/src/a.ts", data)
		s.content("W/b", data)
	}
	i, _ := os.Stat(a)
	j, _ := os.Stat(b)
	if !os.SameFile(i, j) {
		t.Error("the hard link was cut")
	}
}

func TestSwappedAfterCheck(t *testing.T) {
	for _, kernel := range []string{"openat2", "steps"} {
		t.Run(kernel, func(t *testing.T) {
			s := newSite(t)
			if kernel == "steps" {
				s.base.openat2Off()
			}
			file, missing, dir := s.resolve("src/a.ts"), s.resolve("src/new"), s.resolve("src")
			outside := s.resolve("../O/secret")
			s.put("X/a.ts", "SECRET")
			s.put("X/secret", "SECRET")
			move := func(name, target string) {
				if err := os.Rename(filepath.Join(s.top, name), filepath.Join(s.top, name+"-was")); err != nil {
					t.Fatal(err)
				}
				s.link(filepath.Join(s.top, target), name)
			}
			check := func(what string, err error) {
				t.Helper()
				if !errors.Is(err, ErrMoved) {
					t.Errorf("%s: %v, want ErrMoved", what, err)
				}
			}
			use := func(what string, p Path) {
				t.Helper()
				_, err := s.ReadFile(p, 0)
				check("reading "+what, err)
				_, err = s.write2(p)
				check("writing "+what, err)
				_, err = s.Stat(p)
				check("looking at "+what, err)
				check("removing "+what, s.Remove(p))
				check("renaming "+what, s.Rename(p, missing))
			}
			move("W/src", "X")
			use("a file in a swapped directory", file)
			use("a new file in a swapped directory", missing)
			_, err := s.ReadDir(dir)
			check("listing a swapped directory", err)
			_, err = s.Mkdir(missing)
			check("making in a swapped directory", err)
			move("O", "X")
			use("an outside file in a swapped directory", outside)
			s.put("W/f", "inside")
			p := s.resolve("f")
			move("W/f", "X/secret")
			_, err = s.ReadFile(p, 0)
			check("reading a swapped file", err)
			_, err = s.write2(p)
			check("writing a swapped file", err)
			_, err = s.Stat(p)
			check("looking at a swapped file", err)
			s.content("X/a.ts", "SECRET")
			s.content("X/secret", "SECRET")
			s.names("X", "a.ts", "secret")
		})
	}
}

func (s *site) write2(p Path) (Written, error) {
	return s.WriteFile(context.Background(), p, []byte("ESCAPED"), WriteOptions{})
}

func TestReading(t *testing.T) {
	s := newSite(t)
	if data, err := s.ReadFile(s.resolve("src/a.ts"), 6); err != nil || string(data) != "inside" {
		t.Errorf("%q, %v", data, err)
	}
	if _, err := s.ReadFile(s.resolve("src/a.ts"), 5); !errors.Is(err, ErrTooLarge) {
		t.Errorf("over the limit: %v", err)
	}
	if _, err := s.ReadFile(s.resolve("src"), 0); !errors.Is(err, ErrIsDir) {
		t.Errorf("a directory: %v", err)
	}
	if _, err := s.ReadFile(s.resolve("no"), 0); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	if _, err := s.ReadDir(s.resolve("src/a.ts")); !errors.Is(err, ErrNotDir) && runtime.GOOS != "windows" {
		t.Errorf("listing a file: %v", err)
	}
	big := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	s.put("W/big", string(big))
	if data, err := s.ReadFile(s.resolve("big"), 0); err != nil || !bytes.Equal(data, big) {
		t.Errorf("a megabyte: %d bytes, %v", len(data), err)
	}
	if runtime.GOOS == "linux" { // says it has no bytes
		if data, err := s.ReadFile(s.resolve("/proc/version"), 1<<16); err != nil || len(data) == 0 {
			t.Errorf("/proc/version: %q, %v", data, err)
		}
		if _, err := s.ReadFile(s.resolve("/proc/version"), 3); !errors.Is(err, ErrTooLarge) {
			t.Errorf("/proc/version with a limit: %v", err)
		}
	}
}

func TestListing(t *testing.T) {
	s := newSite(t)
	const many = 3000 // more than two batches
	for i := range many {
		s.put("W/many/"+strings.Repeat("n", i%7)+string(rune('a'+i%26))+"_"+Version([]byte{byte(i), byte(i >> 8)})[7:], "xy")
	}
	list, err := s.ReadDir(s.resolve("many"))
	if err != nil || len(list) != many {
		t.Fatalf("%d entries, %v", len(list), err)
	}
	for i, e := range list {
		if i > 0 && list[i-1].Name() >= e.Name() {
			t.Fatal("not sorted")
		}
		if info, err := e.Info(); i%100 == 0 && (err != nil || info.Size() != 2) {
			t.Fatalf("%s: %v, %v", e.Name(), info, err)
		}
	}
	n := 0
	for _, err := range s.Entries(s.resolve("many")) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n == 5 {
			break
		}
	}
	if n != 5 {
		t.Error("the iteration did not stop")
	}
	s.link(filepath.Join(s.o, "secret"), "W/many/zz")
	list, err = s.ReadDir(s.resolve("many"))
	if err != nil {
		t.Fatal(err)
	}
	if info, err := list[len(list)-1].Info(); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("a link's entry: %v, %v", info, err)
	}
	dir := s.resolve("many")
	if text, err := s.Readlink(dir, "zz"); err != nil || text != filepath.Join(s.o, "secret") {
		t.Errorf("the link's text: %q, %v", text, err)
	}
	s.link("elsewhere", "W/zz")
	if text, err := s.Readlink(dir, "../zz"); err != nil || text == "elsewhere" {
		t.Errorf("a link outside the directory: %q, %v", text, err)
	}
	s.put("X/zz", "SECRET")
	if err := os.Rename(filepath.Join(s.w, "many"), filepath.Join(s.w, "was")); err != nil {
		t.Fatal(err)
	}
	s.link(filepath.Join(s.top, "X"), "W/many")
	if _, err := s.Readlink(dir, "zz"); !errors.Is(err, ErrMoved) {
		t.Errorf("a link's text through a swapped directory: %v", err)
	}
	if _, err := list[len(list)-1].Info(); !errors.Is(err, ErrMoved) {
		t.Errorf("an entry's facts through a swapped directory: %v", err)
	}
}

func TestTree(t *testing.T) {
	s := newSite(t)
	made, err := s.Mkdir(s.resolve("a/b/c"))
	if err != nil || len(made) != 3 {
		t.Fatalf("%q, %v", made, err)
	}
	if made, err := s.Mkdir(s.resolve("a/b")); err != nil || len(made) != 0 {
		t.Errorf("made again: %q, %v", made, err)
	}
	if _, err := s.Mkdir(s.resolve("src/a.ts")); err == nil {
		t.Error("a directory over a file")
	}
	if err := s.Remove(s.resolve("a")); err == nil {
		t.Error("removed a directory that is not empty")
	}
	if err := s.Remove(s.resolve("a/b/c")); err != nil {
		t.Error(err)
	}
	if err := s.Rename(s.resolve("src/a.ts"), s.resolve("a/b/moved.ts")); err != nil {
		t.Error(err)
	}
	s.content("W/a/b/moved.ts", "inside")
	s.put("W/taken", "taken")
	if err := s.Rename(s.resolve("a/b/moved.ts"), s.resolve("taken")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over another file: %v", err)
	}
	s.content("W/taken", "taken")
	s.link(filepath.Join(s.o, "secret"), "W/l")
	p, err := s.ResolveEntry("l")
	if err != nil {
		t.Fatal(err)
	}
	to, _ := s.ResolveEntry("l2")
	if err := s.Rename(p, to); err != nil {
		t.Error(err)
	}
	if p, err = s.ResolveEntry("l2"); err == nil {
		err = s.Remove(p)
	}
	if err != nil {
		t.Error(err)
	}
	s.content("O/secret", "SECRET")
	for _, name := range []string{".", ".."} {
		if err := s.Remove(s.resolve(name)); !errors.Is(err, ErrRoot) {
			t.Errorf("removing %q: %v", name, err)
		}
	}
	if err := s.Remove(s.resolve("nosuch")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func TestVersion(t *testing.T) {
	const want = "sha256:e3b0c44298fc1c14"
	if got := Version(nil); got != want {
		t.Errorf("Version of nothing = %s, want %s", got, want)
	}
	if got, err := VersionOf(strings.NewReader("")); err != nil || got != want {
		t.Errorf("VersionOf nothing = %s, %v", got, err)
	}
	if got, err := VersionOf(strings.NewReader("abc")); err != nil || got != Version([]byte("abc")) || got == want {
		t.Errorf("VersionOf = %s, %v", got, err)
	}
	if _, err := VersionOf(iotest.ErrReader(io.ErrClosedPipe)); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
}

func TestIsTemp(t *testing.T) {
	s := newSite(t)
	d, err := s.openDir(s.w)
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	tmp, err := newTemp(d, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if !IsTemp(tmp.name) {
		t.Errorf("%s is not recognised", tmp.name)
	}
	tmp.remove()
	for _, name := range []string{".agentkit-.tmp", ".agentkit-x.tmp", ".agentkit", "a.tmp", ".agentkit-abcdefghijklmnopqrstuvwxyz.tmp"} {
		if IsTemp(name) {
			t.Errorf("%s is taken for one", name)
		}
	}
	s.names("W", "src")
}
