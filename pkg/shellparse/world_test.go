package shellparse

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// A bench is a place for cases: a workspace, a directory outside it with a
// secret, a home, and a PATH directory with the canary pwn.
type bench struct{ root, out, bin, home string }

func newBench(t testing.TB) *bench {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{root: base + "/W", out: base + "/O", bin: base + "/B", home: base + "/H"}
	for _, d := range []string{b.root + "/src", b.out + "/e", b.bin, b.home} {
		must(t, os.MkdirAll(d, 0o755))
	}
	for name, text := range map[string]string{
		b.root + "/f": "a\n", b.root + "/list": b.out + "/secret\n", b.root + "/src/a.ts": "x\n", b.root + "/s.sh": "pwn\n",
		b.out + "/secret": "s\n", b.bin + "/pwn": "#!/bin/sh\n",
	} {
		must(t, os.WriteFile(name, []byte(text), 0o755))
	}
	must(t, os.Symlink(b.out, b.root+"/link"))
	return b
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fill puts the bench's paths into a case's text.
func (b *bench) fill(s string) string {
	return strings.NewReplacer("@W@", b.root, "@O@", b.out, "@B@", b.bin, "@H@", b.home).Replace(s)
}

// world is what this machine says, with the bench's PATH and home.
func (b *bench) world() *World {
	return &World{
		Dir: b.root, Root: b.root, Home: b.home, Temp: []string{"/tmp/agentkit-tmp"},
		Getenv: func(name string) (string, bool) {
			switch name {
			case "HOME":
				return b.home, true
			case "PATH":
				return b.bin + ":/usr/bin:/bin", true
			}
			return "", false
		},
		LookPath: func(name string) (string, bool) {
			for _, d := range []string{b.bin, "/usr/bin", "/bin", "/usr/sbin", "/sbin"} {
				if _, err := os.Stat(d + "/" + name); err == nil {
					return d + "/" + name, true
				}
			}
			return "/usr/bin/" + name, true // as if it were installed
		},
		Resolve:  resolveReal,
		ReadFile: os.ReadFile,
		Enters: func(dir string) bool {
			_, err := os.Stat(dir + "/.")
			return err == nil
		},
		Owns: func(dir string) bool {
			_, err := os.Stat(dir)
			return err == nil
		},
		Glob: func(dir, pattern string) ([]string, bool) {
			m, err := filepath.Glob(filepath.Join(dir, pattern))
			if strings.HasPrefix(pattern, "/") {
				m, err = filepath.Glob(pattern)
			}
			var out []string
			for _, p := range m {
				if !strings.HasPrefix(pattern, "/") {
					p = strings.TrimPrefix(p, dir+"/")
				}
				if !strings.HasPrefix(filepath.Base(p), ".") {
					out = append(out, p)
				}
			}
			return out, err == nil
		},
	}
}

// resolveReal follows every link of a path whose end need not exist.
func resolveReal(dir, name string) (policy.Access, error) {
	full := name
	if !filepath.IsAbs(full) {
		full = dir + "/" + name
	}
	a := policy.Access{Path: walkLinks(full, 0)}
	if n := filepath.Clean(full); n != a.Path {
		a.Named = n
	}
	a.File = policy.Missing
	if fi, err := os.Stat(a.Path); err == nil {
		switch {
		case fi.IsDir():
			a.File = policy.Dir
		case fi.Mode().IsRegular():
			a.File = policy.Regular
		case fi.Mode()&os.ModeDevice != 0:
			a.File = policy.Device
		}
	}
	return a, nil
}

func walkLinks(p string, depth int) string {
	out := "/"
	for part := range strings.SplitSeq(p, "/") {
		switch part {
		case "", ".":
			continue
		case "..":
			out = filepath.Dir(out)
			continue
		}
		next := filepath.Join(out, part)
		if to, err := os.Readlink(next); err == nil && depth < 40 {
			if !filepath.IsAbs(to) {
				to = out + "/" + to
			}
			next = walkLinks(to, depth+1)
		}
		out = next
	}
	return out
}

// shared finds the labelled cases beside the checkout.
func shared(t testing.TB, name string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != "/" && dir != "."; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir + "/go.mod"); err != nil {
			continue
		}
		p := filepath.Join(filepath.Dir(dir), "shared", "cases", name)
		if _, err := os.Stat(p); err != nil {
			t.Skipf("no labelled cases at %s", p)
		}
		return p
	}
	t.Skip("no go.mod above")
	return ""
}

func bashPath(t testing.TB) string {
	t.Helper()
	p, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash on this machine")
	}
	return p
}

func analyze(b *bench, src string) *Analysis {
	return Analyze(context.Background(), src, "bash", b.world())
}
