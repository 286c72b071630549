package remote

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/agentkit-go/agentkit/pkg/tool"
)

// A program is agentkit as the far end may need it.
type program struct {
	path    string
	name    string // differs from that of every other program
	size    int64
	version string // of releases: an installed one of this version will do; else ""
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
	return &program{path: self, name: hex.EncodeToString(h.Sum(nil)[:16]), size: info.Size(), version: version}, nil
}

func unreadable(err error) error {
	return tool.Errorf(tool.IO, "reading agentkit's own program: %w", err).WithHint("install agentkit at the far end, with the version of this one")
}

// fits reports, as an error, that the program does not run on a system.
func (p *program) fits(t *Target, system string) error {
	if have := runtime.GOOS + "/" + runtime.GOARCH; have != system {
		want := p.version
		if want == "" {
			want = "the same version"
		}
		return tool.Errorf(tool.Unsupported, "%s is %s, and this program is for %s", t, system, have).
			WithHint("install agentkit there, in a directory of its PATH: %s for %s", want, system)
	}
	return nil
}

// carry writes the hash of the program, and then the program.
func (p *program) carry(w io.Writer) error {
	f, err := os.Open(filepath.Clean(p.path))
	if err != nil {
		return unreadable(err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	h := sha256.New()
	if n, err := io.Copy(h, f); err != nil || n != p.size {
		return unreadable(fmt.Errorf("it has %d bytes instead of %d: %w", n, p.size, err))
	}
	if _, err := fmt.Fprintln(w, hex.EncodeToString(h.Sum(nil))); err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return unreadable(err)
	}
	_, err = io.Copy(w, f)
	return err
}
