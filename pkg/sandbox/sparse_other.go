//go:build !linux

package sandbox

import (
	"io"
	"os"
)

func copyContent(to, from *os.File) error {
	_, err := io.Copy(to, from)
	return err
}
