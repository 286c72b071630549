//go:build !unix

package job

import "os"

func endedBy(*os.ProcessState) (int, string) { return 0, "" }

func maxRSS(*os.ProcessState) int64 { return 0 }
