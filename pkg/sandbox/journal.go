package sandbox

import (
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"
)

// A journal is the report's file while it is written. A nil file takes nothing.
type journal struct {
	mu      sync.Mutex
	file    *os.File
	denials int
}

func openJournal(name string) (*journal, error) {
	if name == "" {
		return &journal{}, nil
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the sandbox's report: %w", err)
	}
	return &journal{file: f}, nil
}

func (j *journal) close() { _ = j.file.Close() }

// write appends l, in one piece. What cannot be written is lost: nothing that
// is denied depends on it.
func (j *journal) write(l line) {
	if j.file == nil {
		return
	}
	b, err := json.Marshal(l)
	if err != nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	_, _ = j.file.Write(append(b, '\n'))
}

// deny appends a denial, or when there are too many, counts it.
func (j *journal) deny(d *Denial) {
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
