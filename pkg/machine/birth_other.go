//go:build !linux

package machine

import "time"

// Birth is when a file was made, which cannot be told here.
func Birth(string) (time.Time, bool) { return time.Time{}, false }
