package job

import (
	"os"
	"testing"
)

// TestPending: output is still to come while a pipe holds some, and while nobody holds the
// pipe, since then its reader has only to see the end; not while somebody holds it silently.
func TestPending(t *testing.T) {
	r := &running{}
	var writers []*os.File
	for range 2 { // as for a command whose streams are apart
		read, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer read.Close()
		r.mine, writers = append(r.mine, read), append(writers, write)
	}
	want := func(pending bool, when string) {
		t.Helper()
		if got := r.pending(); got != pending {
			t.Errorf("%s: %v, want %v", when, got, pending)
		}
	}
	want(false, "both are held")
	if _, err := writers[0].WriteString("last words"); err != nil {
		t.Fatal(err)
	}
	want(true, "one holds something")
	if _, err := r.mine[0].Read(make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	want(false, "all is read")
	_ = writers[0].Close()
	want(false, "one is still held")
	_ = writers[1].Close()
	want(true, "nobody holds them")
	if (&running{}).pending() {
		t.Error("there is nothing to wait for without pipes")
	}
}
