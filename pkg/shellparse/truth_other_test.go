//go:build !linux

package shellparse

import "syscall"

// apart is for systems without namespaces: nothing is set apart.
func apart() *syscall.SysProcAttr { return nil }
