package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// TestContainment has one row for each way out of the root, and its twin that
// stays inside. @ stands for the directory that holds W and O.
func TestContainment(t *testing.T) {
	rows := []struct {
		name        string
		links       []string // "name target" in the order made
		path        string
		real, named string // "" for named: as real
		inside      bool
	}{
		{name: "plain", path: "src/a.ts", real: "W/src/a.ts", inside: true},
		{name: "root", path: ".", real: "W", inside: true},
		{name: "absolute", path: "@/W/src/a.ts", real: "W/src/a.ts", inside: true},
		{name: "absolute root with slash", path: "@/W/", real: "W", inside: true},
		{name: "missing tail", path: "new/deep/f", real: "W/new/deep/f", inside: true},
		{name: "dots in names", path: "a..b/..hidden", real: "W/a..b/..hidden", inside: true},
		{name: "three dots", path: "...", real: "W/...", inside: true},
		{name: "dash", path: "-rf", real: "W/-rf", inside: true},
		{name: "not UTF-8", path: "caf\xe9", real: "W/caf\xe9", inside: true},
		{name: "slashes and dots", path: ".//src/.///./a.ts", real: "W/src/a.ts", inside: true},
		{name: "absolute with double slashes", path: "@//W//src", real: "W/src", inside: true},
		{name: "dot-dot within", path: "src/../src/a.ts", real: "W/src/a.ts", inside: true},
		{name: "dot-dot out and in", path: "../W/src/a.ts", real: "W/src/a.ts", inside: true},

		{name: "dot-dot", path: "../O/secret", real: "O/secret"},
		{name: "dot-dot after a directory", path: "src/../../O/secret", real: "O/secret"},
		{name: "dot-dot after a missing directory", path: "nosuch/../../O/secret", real: "O/secret"},
		{name: "deep missing dot-dot", path: "no/such/dir/../../../../O/new", real: "O/new"},
		{name: "absolute with dot-dot", path: "@/W//..//O/secret", real: "O/secret"},
		{name: "parent", path: "..", real: ""},
		{name: "sibling with the root as prefix", path: "@/W-evil/secret", real: "W-evil/secret"},
		{name: "sibling by dot-dot", path: "../W-evil/x", real: "W-evil/x"},

		{name: "linked file", links: []string{"W/f @/O/secret"}, path: "f", real: "O/secret", named: "W/f"},
		{name: "linked directory", links: []string{"W/l @/O"}, path: "l/secret", real: "O/secret", named: "W/l/secret"},
		{name: "relative target", links: []string{"W/l ../O"}, path: "l/secret", real: "O/secret", named: "W/l/secret"},
		{name: "chain", links: []string{"W/3 @/O", "W/2 3", "W/1 2"}, path: "1/secret", real: "O/secret", named: "W/1/secret"},
		{name: "new file in a linked directory", links: []string{"W/l @/O"}, path: "l/a/b", real: "O/a/b", named: "W/l/a/b"},
		{name: "dangling link", links: []string{"W/d @/O/new"}, path: "d", real: "O/new", named: "W/d"},
		{name: "dangling link with a deep target", links: []string{"W/d @/O/x/y"}, path: "d/z", real: "O/x/y/z", named: "W/d/z"},
		{name: "dangling link to dot-dot", links: []string{"W/d no/../../O/x"}, path: "d", real: "O/x", named: "W/d"},
		{name: "link to the parent", links: []string{"W/up .."}, path: "up/O/secret", real: "O/secret", named: "W/up/O/secret"},
		{name: "link to slash", links: []string{"W/s /"}, path: "s@/O/secret", real: "O/secret", named: "W/s@/O/secret"},
		{name: "dot-dot after a link is walked", links: []string{"O/sub @/O", "W/l @/O/sub/."}, path: "l/../x", real: "x"},
		{name: "dot-dot after a link, back in", links: []string{"W/l @/O"}, path: "l/../W/src", real: "W/src", inside: true},
		{name: "dot-dot below a link keeps its name", links: []string{"W/l @/O"}, path: "l/a/../b", real: "O/b", named: "W/l/b"},
		{name: "dot-dot twice below a link", links: []string{"W/l @/O"}, path: "l/a/../../b", real: "b"},

		{name: "link within", links: []string{"W/l src"}, path: "l/a.ts", real: "W/src/a.ts", named: "W/l/a.ts", inside: true},
		{name: "link to the root", links: []string{"W/me @/W"}, path: "me/src/a.ts", real: "W/src/a.ts", named: "W/me/src/a.ts", inside: true},
		{name: "root by an outside link", links: []string{"alias W"}, path: "@/alias/src", real: "W/src", named: "alias/src", inside: true},
		{name: "dangling link within", links: []string{"W/d new"}, path: "d", real: "W/new", named: "W/d", inside: true},
		{name: "home", path: "~/note", real: "H/note"},
		{name: "home itself", path: "~", real: "H"},
		{name: "literal tilde", path: "./~/x", real: "W/~/x", inside: true},
		{name: "literal variable", path: "./$HOME/x", real: "W/$HOME/x", inside: true},
		{name: "office lock file", path: "~$doc.docx", real: "W/~$doc.docx", inside: true},
		{name: "route parameter", path: "$id.tsx", real: "W/$id.tsx", inside: true},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			s := newSite(t)
			for _, l := range r.links {
				name, target, _ := strings.Cut(l, " ")
				s.link(strings.ReplaceAll(target, "@", s.top), name)
			}
			p := s.resolve(strings.ReplaceAll(r.path, "@", s.top))
			if r.named == "" {
				r.named = r.real
			}
			abs, named := filepath.Join(s.top, r.real), filepath.Join(s.top, strings.ReplaceAll(r.named, "@", s.top))
			if p.Real != abs || p.Named != named || p.Inside != r.inside {
				t.Errorf("real %s named %s inside %v, want %s %s %v", p.Real, p.Named, p.Inside, abs, named, r.inside)
			}
			wantRel := ""
			if r.inside {
				rel, _ := filepath.Rel(s.w, abs)
				wantRel = filepath.ToSlash(rel)
			}
			if p.Rel != wantRel {
				t.Errorf("rel %q, want %q", p.Rel, wantRel)
			}
			info, err := os.Lstat(abs)
			if p.Exists != (err == nil) || p.Exists && !os.SameFile(info, p.Info) || p.Exists == (p.Type == policy.Missing) {
				t.Errorf("exists %v type %s, want %v", p.Exists, p.Type, err == nil)
			}
		})
	}
}

// TestFastAgrees resolves the same names with and without the kernel's help.
func TestFastAgrees(t *testing.T) {
	s := newSite(t)
	s.link(s.o, "W/l")
	s.link("src", "W/in")
	for _, name := range []string{".", "src", "src/", "src/a.ts", "src//a.ts", "l/secret", "in/a.ts", "no", "a..b", s.w, s.w + "/src/./a.ts", s.o} {
		fast := s.resolve(name)
		saved := s.base.openat2Off()
		slow := s.resolve(name)
		saved()
		slow.Info, fast.Info = nil, nil
		if fast != slow {
			t.Errorf("%q: fast %+v\nslow %+v", name, fast, slow)
		}
	}
}

func TestRefusedNames(t *testing.T) {
	s := newSite(t)
	s.link("loop2", "W/loop1")
	s.link("loop1", "W/loop2")
	s.link("self/x", "W/self")
	long := strings.Repeat("x/", 3000)
	for name, want := range map[string]error{
		"": ErrName, "a\x00b": ErrName, "src/\x00/../../O/secret": ErrName, long: ErrName,
		strings.Repeat("n", 256): ErrName, "new/" + strings.Repeat("n", 256): ErrName,
		"~root/x": ErrName, "~root": ErrName, "$HOME/x": ErrName, "${HOME}/x": ErrName, "$HOME": ErrName,
		"file:///etc/passwd": ErrName, "FILE:/etc/passwd": ErrName, "file://localhost/x": ErrName,
		"loop1": ErrLoop, "loop1/x": ErrLoop, "self": ErrLoop,
		"src/a.ts/": ErrNotDir, "src/a.ts/x": ErrNotDir, "src/a.ts/..": ErrNotDir, "src/a.ts/.": ErrNotDir,
	} {
		p, err := s.Resolve(name)
		if !errors.Is(err, want) {
			t.Errorf("Resolve(%.40q): %v, want %v", name, err, want)
		}
		if p.Inside || p.Given != name {
			t.Errorf("Resolve(%.40q) with an error: %+v", name, p)
		}
	}
	if runtime.GOOS != "windows" {
		for _, name := range []string{`\\host\share\x`, `..\O\secret`, `src\..\..\O`} {
			if _, err := s.Resolve(name); !errors.Is(err, ErrName) {
				t.Errorf("Resolve(%q): %v", name, err)
			}
		}
	}
	s.link("src", "W/c0")
	for i := range maxLinks {
		s.link("c"+strconv.Itoa(i), "W/c"+strconv.Itoa(i+1))
	}
	if p := s.resolve("c" + strconv.Itoa(maxLinks-1)); p.Rel != "src" {
		t.Errorf("%d links lead to %q", maxLinks, p.Rel)
	}
	if _, err := s.Resolve("c" + strconv.Itoa(maxLinks)); !errors.Is(err, ErrLoop) {
		t.Errorf("%d links: %v", maxLinks+1, err)
	}
	w, err := Open(s.w, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Resolve("~/x"); !errors.Is(err, ErrName) {
		t.Errorf("~ without a home: %v", err)
	}
}

// TestOddNames checks that look-alikes stay literal, inside, and never
// unasked, and that plain relatives of theirs are plain.
func TestOddNames(t *testing.T) {
	s := newSite(t)
	for _, name := range []string{"%2e%2e/O/secret", "..%2fO", "..\u200b/O", "src/..\u2215O", ".../O", ".. /O", "a\nb", "\u202egnp.exe", "..  "} {
		p := s.resolve(name)
		if p.Odd == "" || !p.Inside || p.Read("read").Opaque == "" {
			t.Errorf("%q: odd %q inside %v", name, p.Odd, p.Inside)
		}
	}
	for _, name := range []string{"...", "....", "..a/b", "日本語.txt", "caf\xe9", "100%.md", "a b/c", "x..", "ünïcödé", "../O/secret"} {
		if p := s.resolve(name); p.Odd != "" {
			t.Errorf("%q: odd %q", name, p.Odd)
		}
	}
}

func TestResolveIn(t *testing.T) {
	s := newSite(t)
	s.link(s.o, "W/l")
	for _, r := range []struct{ dir, name, real string }{
		{"src", "a.ts", "W/src/a.ts"},
		{"src", "../../O/secret", "O/secret"},
		{"l", "secret", "O/secret"},
		{"l", "..", ""},
		{s.o, "secret", "O/secret"},
		{"src", s.o, "O"},
		{"src", "~", "W/src/~"}, // the shell has expanded what it wanted
		{"src", "$HOME/x", "W/src/$HOME/x"},
		{"nosuch", "../src", "W/src"},
	} {
		p, err := s.ResolveIn(r.dir, r.name)
		if want := filepath.Join(s.top, r.real); err != nil || p.Real != want {
			t.Errorf("ResolveIn(%q, %q) = %s, %v, want %s", r.dir, r.name, p.Real, err, want)
		}
	}
	if _, err := s.ResolveIn("src/a.ts", "x"); !errors.Is(err, ErrNotDir) {
		t.Errorf("in a file: %v", err)
	}
	if _, err := s.ResolveIn("src", ""); !errors.Is(err, ErrName) {
		t.Errorf("an empty name: %v", err)
	}
}

func TestResolveEntry(t *testing.T) {
	s := newSite(t)
	s.link(filepath.Join(s.o, "secret"), "W/f")
	s.link(s.o, "W/l")
	for name, want := range map[string]string{"f": "W/f", "l": "W/l", "l/": "O", "l/.": "O", "l/secret": "O/secret", "src/a.ts": "W/src/a.ts"} {
		p, err := s.ResolveEntry(name)
		if err != nil || p.Real != filepath.Join(s.top, want) {
			t.Errorf("ResolveEntry(%q) = %s, %v, want %s", name, p.Real, err, want)
		}
		if link := name == "f" || name == "l"; link != (p.Type == "") {
			t.Errorf("ResolveEntry(%q): type %q", name, p.Type)
		}
	}
}

func TestAccess(t *testing.T) {
	s := newSite(t)
	s.link(filepath.Join(s.o, "secret"), "W/f")
	got := s.resolve("f").Write("edit", policy.Change)
	want := policy.Access{
		Kind: policy.Write, Tool: "edit", Op: policy.Change, Path: filepath.Join(s.o, "secret"),
		Named: filepath.Join(s.w, "f"), File: policy.Regular, Links: got.Links, Source: "f",
	}
	if runtime.GOOS != "windows" {
		want.Links = 1
	}
	if !equalAccess(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if r := s.resolve("src").Read("ls"); r.Kind != policy.Read || r.Named != "" || r.File != policy.Dir || r.Links != 0 || r.Op != "" {
		t.Errorf("a directory: %+v", r)
	}
	if r := s.resolve("new").Write("write", policy.Create); r.File != policy.Missing {
		t.Errorf("a missing file: %+v", r)
	}
}

func equalAccess(a, b policy.Access) bool {
	return a.Kind == b.Kind && a.Tool == b.Tool && a.Op == b.Op && a.Path == b.Path && a.Named == b.Named &&
		a.File == b.File && a.Links == b.Links && a.Source == b.Source && a.Opaque == b.Opaque
}

func TestMagicLinks(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has them")
	}
	s := newSite(t)
	t.Chdir(s.w)
	f, err := os.Open(s.w)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, pw, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer pw.Close()
	fd := "/proc/self/fd/" + strconv.Itoa(int(f.Fd()))
	for _, row := range []struct{ path, real string }{
		{"/proc/self/cwd/src/a.ts", s.w + "/src/a.ts"},
		{"/proc/self/cwd/../O/secret", s.o + "/secret"},
		{"/proc/self/root" + s.o + "/secret", s.o + "/secret"},
		{"/proc/thread-self/root" + s.w + "/src", s.w + "/src"},
		{fd + "/src/a.ts", s.w + "/src/a.ts"},
		{"/dev/fd/" + strconv.Itoa(int(f.Fd())) + "/src", s.w + "/src"},
	} {
		p := s.resolve(row.path)
		if p.Inside || p.Rel != "" || p.Magic == "" || p.Odd == "" || p.Real != row.real || p.Read("read").Opaque == "" {
			t.Errorf("%s: %+v", row.path, p)
		}
	}
	s.link("/proc/self/cwd", "W/sneaky")
	if p := s.resolve("sneaky/src/a.ts"); p.Inside || p.Magic == "" {
		t.Errorf("a link in the root to a magic link: %+v", p)
	}
	pipe := "/proc/self/fd/" + strconv.Itoa(int(r.Fd()))
	if p := s.resolve(pipe); p.Type != policy.FIFO || p.Inside {
		t.Errorf("a pipe: %+v", p)
	}
	if p := s.resolve("/proc/self/environ"); p.Magic != "" || p.Named != "/proc/self/environ" || p.Real == p.Named {
		t.Errorf("plain links of /proc are not magic: %+v", p)
	}
}

func TestPermissionOnTheWay(t *testing.T) {
	if os.Getuid() <= 0 {
		t.Skip("needs a user that modes bind; see TestAsUser for root")
	}
	s := newSite(t)
	s.put("W/shut/x", "")
	if err := os.Chmod(filepath.Join(s.w, "shut"), 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(s.w, "shut"), 0o700) })
	if p, err := s.Resolve("shut/x"); !errors.Is(err, fs.ErrPermission) || p.Inside {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestNear(t *testing.T) {
	s := newSite(t)
	for _, f := range []string{"sample.txt", "README.md", "src/main.go", "src/config.yaml", "pkg/deep/helper.go", "docs/Guide.md", ".agentkit-AAAAAAAAAAAAAAAAAAAAAAAAAA.tmp"} {
		s.put("W/"+f, "")
	}
	for name, want := range map[string]string{
		"sampel.txt": "sample.txt", "readme.md": "README.md", "src/mian.go": "src/main.go", "scr/main.go": "src/main.go",
		"helper.go": "pkg/deep/helper.go", "src/config.yml": "src/config.yaml", "src/config.json": "src/config.yaml",
		"docs/guide.md": "docs/Guide.md", "lib/helper.go": "pkg/deep/helper.go",
	} {
		got := s.Near(s.resolve(name), 5)
		if len(got) == 0 || got[0] != want || len(got) > 5 {
			t.Errorf("Near(%q) = %q, want first %q", name, got, want)
		}
	}
	for _, name := range []string{"src/main.go", "../O/secrte", "qqqqqqqqqq", "src"} {
		if got := s.Near(s.resolve(name), 5); len(got) != 0 {
			t.Errorf("Near(%q) = %q, want none", name, got)
		}
	}
	if got := s.Near(s.resolve("sampel.txt"), 0); got != nil {
		t.Errorf("none wanted, got %q", got)
	}
	for i := range 30 {
		s.put("W/many/file"+strconv.Itoa(i), "")
	}
	got := s.Near(s.resolve("many/file"), 5)
	if len(got) != 5 || !slices.Contains(got, "many/file0") {
		t.Errorf("many: %q", got)
	}
}
