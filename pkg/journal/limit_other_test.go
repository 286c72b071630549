//go:build !unix

package journal

import "errors"

func limitFiles(uint64) error { return errors.ErrUnsupported }
