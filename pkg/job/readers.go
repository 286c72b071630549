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
	Fed   bool     `json:"fed,omitempty"`   // through a pipe, by one that waits for the job's input and may pass it on
}

// mostTyped bounds what is remembered of what was typed, in bytes.
const mostTyped = 4096

// remembered is the end of what was typed, after more has been: a shell adds what comes next to
// a line or a command that is not whole, and ctrl-c has it begin anew.
func remembered(before, typed []byte) []byte {
	all := append(bytes.Clone(before), typed...)
	all = all[bytes.LastIndexByte(all, 3)+1:]
	return all[max(0, len(all)-mostTyped):]
}
