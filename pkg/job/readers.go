package job

import "bytes"

// A Reader is a process of the job that may come to read what is typed into it: its
// standard input is the job's, or may be filled by another process.
type Reader struct {
	Pid   int      `json:"pid"`
	Argv  []string `json:"argv"`
	Dir   string   `json:"dir,omitempty"`   // where it is; "" where that cannot be seen
	Waits bool     `json:"waits,omitempty"` // for the job's input, at this moment
	Takes int      `json:"takes,omitempty"` // bytes that it takes at once; 0 where that is not known
}

// mostPending bounds what is remembered of a line that was not ended, in bytes.
const mostPending = 4096

// pending is what stands in the line that was typed last, after more has been typed: a
// shell adds what comes next to it.
func pending(before, typed []byte) []byte {
	line := append(bytes.Clone(before), typed...)
	line = line[bytes.LastIndexAny(line, "\r\n\x03")+1:]
	return line[max(0, len(line)-mostPending):]
}
