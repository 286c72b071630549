//go:build !linux && !windows

package job

import (
	"fmt"
	"path/filepath"
)

// socketName is the job's socket. Addresses have room for some hundred bytes.
func socketName(dir string) (name string, done func(), err error) {
	name = filepath.Join(dir, socketFile)
	if len(name) > 103 {
		return "", nil, fmt.Errorf("reaching a job: the path of its socket has more than 103 bytes, choose a shorter state directory: %s", name)
	}
	return name, func() {}, nil
}
