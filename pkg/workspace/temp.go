package workspace

import (
	"crypto/rand"
	"io/fs"
	"os"
	"strings"
)

const tempPrefix, tempSuffix = ".agentkit-", ".tmp"

// IsTemp reports whether name, without a directory, is that of a file that a
// write makes on its way. One that is older than the write can take was left
// by a crash and may be removed.
func IsTemp(name string) bool {
	mid, ok := strings.CutPrefix(name, tempPrefix)
	mid, ok2 := strings.CutSuffix(mid, tempSuffix)
	return ok && ok2 && len(mid) == len(rand.Text()) && strings.Trim(mid, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

// A temp is a file on its way to its name.
type temp struct {
	f    *os.File
	dir  dir
	name string // "" once it is renamed or removed
}

func newTemp(d dir, perm fs.FileMode) (*temp, error) {
	name := tempPrefix + rand.Text() + tempSuffix
	f, err := d.open(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return nil, err
	}
	return &temp{f, d, name}, nil
}

func (t *temp) rename(name string, keep bool) error {
	err := t.dir.rename(t.name, t.dir, name, keep)
	if err == nil {
		t.name = ""
	}
	return err
}

func (t *temp) remove() {
	_ = t.f.Close()
	if t.name != "" {
		_ = t.dir.remove(t.name, false) // the failure that led here is what counts
	}
}
