//go:build !linux

package workspace

import "errors"

func playPlatform(*Workspace, string, []string) error { return errors.ErrUnsupported }
