//go:build !darwin && (!linux || (!amd64 && !arm64))

package sandbox

import "runtime"

// wrapped is not called where there is no sandbox.
func (c *Config) wrapped(path string, argv []string) (string, []string) { return path, argv }

func probe() Enforced {
	return Enforced{Missing: []string{"L1: agentkit has no sandbox for " + runtime.GOOS + "/" + runtime.GOARCH}}
}
