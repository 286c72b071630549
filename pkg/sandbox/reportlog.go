package sandbox

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// A reportLog is a report while it is written, into a file or, where who reads it is
// this process, into memory. A nil file takes nothing.
type reportLog struct {
	mu      sync.Mutex
	file    *os.File
	memory  bool
	lines   []line
	denials int
}

// report is what was written into memory so far.
func (j *reportLog) report() *Report {
	j.mu.Lock()
	defer j.mu.Unlock()
	r := &Report{}
	seen := map[string]int{}
	for i := range j.lines {
		r.add(&j.lines[i], seen)
	}
	return r
}

func openReportLog(name string) (*reportLog, error) {
	if name == "" {
		return &reportLog{}, nil
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the sandbox's report: %w", err)
	}
	return &reportLog{file: f}, nil
}

func (j *reportLog) close() {
	if j.file != nil {
		_ = j.file.Close()
	}
}

// write appends l, in one piece. What cannot be written is lost: nothing that
// is denied depends on it.
func (j *reportLog) write(l line) {
	if j.memory {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.lines = append(j.lines, l)
		return
	}
	if j.file == nil {
		return
	}
	b, err := safefile.EncodeJSON(l)
	if err != nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	_, _ = j.file.Write(append(b, '\n'))
}

// deny appends a denial, or when there are too many, counts it.
func (j *reportLog) deny(d *Denial) {
	j.mu.Lock()
	j.denials++
	many := j.denials > maxDenials
	j.mu.Unlock()
	if many {
		j.write(line{Dropped: 1})
		return
	}
	d.Time = time.Now().UTC()
	d.Argv = shorten(d.Argv)
	j.write(line{Denial: d})
}

// shorten keeps a report readable whatever a program was given.
func shorten(argv []string) []string {
	const words, size = 32, 256
	list := append([]string(nil), argv[:min(words, len(argv))]...)
	for i, w := range list {
		if len(w) > size {
			list[i] = w[:size] + "…"
		}
	}
	if len(argv) > words {
		list = append(list, "…")
	}
	return list
}
