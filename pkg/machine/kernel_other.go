//go:build !linux

package machine

import "runtime"

func kernel() (name string, features []Feature) { return runtime.GOOS, nil }
