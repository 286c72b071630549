//go:build unix

package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestWriterOutside edits one line of a file that somebody outside appends to all
// the time, as `echo >>` does: no edit is refused, for its place is untouched, unless the machine
// is so slow that the file never rests for one; and no line is lost, unless the machine kept its
// writer waiting with the file open.
func TestWriterOutside(t *testing.T) {
	t.Parallel()
	long(t)
	const edits = 40
	binary := build(t)
	for name, c := range map[string]struct {
		args func(i int) []string
	}{
		"edit": {func(i int) []string {
			return []string{"edit", "log.txt", fmt.Sprint("count ", i), fmt.Sprint("count ", i+1)}
		}},
		"patch": {func(i int) []string {
			return []string{"patch", fmt.Sprintf("*** Begin Patch\n*** Update File: log.txt\n@@\n-count %d\n+count %d\n*** End Patch\n", i, i+1)}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, binary)
			file := filepath.Join(w.root, "log.txt")
			if err := os.WriteFile(file, []byte("head\ncount 0\ntail\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			var over atomic.Bool
			var appended int
			slow := map[int]bool{} // lines of a writer that was held up for longer than one is waited for
			var writer sync.WaitGroup
			writer.Go(func() {
				for !over.Load() && appended < 20_000 {
					begun := time.Now()
					f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0)
					if err == nil {
						_, err = fmt.Fprintf(f, "line %d.\n", appended)
						err = errors.Join(err, f.Close())
					}
					if err != nil {
						t.Error("appending: ", err)
						return
					}
					slow[appended] = time.Since(begun) > 50*time.Millisecond
					appended++
					time.Sleep(rand.N(30 * time.Millisecond))
				}
			})
			late := 0
			for i := 0; i < edits; i++ {
				begun := time.Now()
				out, err := w.command(t.Context(), c.args(i)...).Output()
				if err != nil && strings.Contains(string(out), `"code":"conflict"`) && time.Since(begun) > 5*time.Second && late < 10 {
					late++ // for so long a call tries, and says then that the file never rests
					i--
				} else if err != nil {
					t.Errorf("%s %d: %v: %s", name, i, err, out)
					break
				}
			}
			over.Store(true)
			writer.Wait()
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			text := string(data)
			if !strings.HasPrefix(text, fmt.Sprintf("head\ncount %d\ntail\n", edits)) {
				t.Errorf("the file begins with %.40q", text)
			}
			for i := range appended {
				if !slow[i] && !strings.Contains(text, fmt.Sprintf("line %d.\n", i)) {
					t.Errorf("line %d of %d is lost", i, appended)
				}
			}
			if names, err := os.ReadDir(w.root); err != nil || len(names) != 4 {
				t.Errorf("left in the root: %v, %v", names, err)
			}
		})
	}
}
