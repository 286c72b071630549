package workspace

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
)

// Version returns the version of a file with this content: "sha256:" and the
// first 16 hexadecimal digits of its SHA-256. It tells whether a file has
// changed; it is too short to withstand someone who wants two files to agree.
func Version(data []byte) string {
	sum := sha256.Sum256(data)
	return version(sum[:])
}

// VersionOf is Version of all that r gives.
func VersionOf(r io.Reader) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return "", fmt.Errorf("hashing: %w", err)
	}
	return versionOf(h), nil
}

// Holds reports whether a file has just this content.
func Holds(f *os.File, content []byte) bool {
	if info, err := f.Stat(); err != nil || info.Size() != int64(len(content)) {
		return false
	}
	buf := make([]byte, min(len(content)+1, 64<<10))
	for at := 0; ; {
		n, err := f.ReadAt(buf, int64(at))
		if n > len(content)-at || !bytes.Equal(buf[:n], content[at:at+n]) {
			return false
		}
		if at += n; err != nil {
			return errors.Is(err, io.EOF) && at == len(content)
		}
	}
}

func versionOf(h hash.Hash) string { return version(h.Sum(nil)) }

func version(sum []byte) string { return "sha256:" + hex.EncodeToString(sum[:8]) }

// A ConflictError says that a file is not in the version that its writer has
// seen. Have or Want is "" for a file that does not exist.
type ConflictError struct {
	Path       string // real path
	Have, Want string // the present version and the one that was asked for
}

// Error implements error.
func (e *ConflictError) Error() string {
	switch {
	case e.Have == "":
		return fmt.Sprintf("writing %s: version %s was expected, but the file is gone", e.Path, e.Want)
	case e.Want == "":
		return fmt.Sprintf("writing %s: the file was created by someone else meanwhile", e.Path)
	}
	return fmt.Sprintf("writing %s: version %s was expected, but it is %s now", e.Path, e.Want, e.Have)
}
