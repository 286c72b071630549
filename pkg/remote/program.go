package remote

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/tool"
)

// A program is agentkit as the far end may need it.
type program struct {
	path    string
	name    string // differs from that of every other program
	version string // of releases: an installed one of this version will do; else ""
	open    func() (io.ReadCloser, error)
}

// headSize is how much of a program is looked at to tell it from others: Go's mark of
// each build stands in it. To hash all of it would take a tenth of a second.
const headSize = 64 << 10

// own finds the running program.
func own(self, version string) (*program, error) {
	f, err := os.Open(self)
	if err != nil {
		return nil, unreadable(err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	info, err := f.Stat()
	if err != nil {
		return nil, unreadable(err)
	}
	h := sha256.New()
	_, _ = fmt.Fprintln(h, version, info.Size(), info.ModTime().UnixNano())
	if _, err := io.Copy(h, io.LimitReader(f, headSize)); err != nil {
		return nil, unreadable(err)
	}
	open := func() (io.ReadCloser, error) { return os.Open(filepath.Clean(self)) }
	return &program{path: self, name: hex.EncodeToString(h.Sum(nil)[:16]), version: version, open: open}, nil
}

func unreadable(err error) error {
	return tool.Errorf(tool.IO, "reading agentkit's own program: %w", err).WithHint("install agentkit at the far end, with the version of this one")
}

// on is the program for a system: this one, or one of the release's packages, which lie in a
// directory.
func (p *program) on(t *Target, packages, system string) (*program, error) {
	have := runtime.GOOS + "/" + runtime.GOARCH
	if have == system {
		return p, nil
	}
	want := p.version
	if want == "" {
		want = "the same version"
	}
	goos, arch, _ := strings.Cut(system, "/")
	pack := fmt.Sprintf("agentkit_%s_%s_%s.tar.gz", cmp.Or(strings.TrimPrefix(p.version, "v"), "*"), goos, arch)
	no := func(why string) *tool.Error {
		return tool.Errorf(tool.Unsupported, "%s is %s, and this program is for %s%s", t, tool.VisibleName(system), have, why).
			WithHint("install agentkit there, in a directory of its PATH: %s for %s; or put the release's %s into a directory that AGENTKIT_PROGRAMS names", want, tool.VisibleName(system), tool.VisibleName(pack))
	}
	if packages == "" || strings.ContainsAny(system, `*?[\`) || strings.Count(system, "/") != 1 {
		return nil, no("")
	}
	entries, err := os.ReadDir(packages)
	if err != nil {
		return nil, no("; AGENTKIT_PROGRAMS cannot be read: " + err.Error())
	}
	var found []string
	for _, e := range entries {
		if ok, _ := path.Match(pack, e.Name()); ok { // the pattern is ours
			found = append(found, filepath.Join(packages, e.Name()))
		}
	}
	if len(found) != 1 {
		return nil, no(fmt.Sprintf("; %s holds %d packages of that name", packages, len(found)))
	}
	return &program{path: found[0], name: p.name, version: p.version, open: func() (io.ReadCloser, error) { return unpack(found[0]) }}, nil
}

// An unpacked is a program in a package.
type unpacked struct {
	io.Reader
	io.Closer
}

// unpack opens the program that a package holds.
func unpack(name string) (_ io.ReadCloser, err error) {
	f, err := os.Open(filepath.Clean(name))
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
		}
	}()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err != nil {
			return nil, fmt.Errorf("%s holds no agentkit: %w", name, err)
		}
		if path.Clean(h.Name) == "agentkit" && h.Typeflag == tar.TypeReg && h.Size <= maxProgram {
			return unpacked{r, f}, nil
		}
	}
}

// maxProgram bounds what is taken for a program, in bytes.
const maxProgram = 1 << 30

// carry writes the hash and the size of the program, and then the program, and tells moved of
// each piece.
func (p *program) carry(w io.Writer, moved func()) error {
	f, err := p.open()
	if err != nil {
		return p.unusable(err)
	}
	h := sha256.New()
	size, err := io.Copy(h, f)
	if err = errors.Join(err, f.Close()); err != nil {
		return p.unusable(err)
	}
	if f, err = p.open(); err != nil {
		return p.unusable(err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	if _, err := fmt.Fprintln(w, hex.EncodeToString(h.Sum(nil)), size); err != nil {
		return err
	}
	_, err = io.Copy(&mover{w, moved}, io.LimitReader(f, size))
	return err
}

func (p *program) unusable(err error) error {
	return unreadable(fmt.Errorf("%s: %w", p.path, err))
}

// A mover tells of each piece that was written.
type mover struct {
	io.Writer
	moved func()
}

func (m *mover) Write(p []byte) (int, error) {
	n, err := m.Writer.Write(p)
	m.moved()
	return n, err
}
