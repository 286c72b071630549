//go:build !unix

package audit

import "errors"

func limitFiles(uint64) error { return errors.ErrUnsupported }
