package truncate

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"testing"
	"time"
)

// logBlock returns about size bytes of lines as a build prints them.
func logBlock(size int) []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "[%6d] compiling package number %d of the tree, no trouble\n", i, i%977)
	}
	return b.Bytes()
}

// heapAfter returns by how much the live heap grew in fill, whose Writer stays.
func heapAfter(fill func() *Writer) int64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	w := fill()
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(w)
	return int64(after.HeapAlloc) - int64(before.HeapAlloc)
}

func TestMemoryIsBounded(t *testing.T) {
	const limit = 1 << 20
	total := int64(1 << 30)
	if testing.Short() {
		total = 64 << 20
	}
	block := logBlock(256 << 10)
	small := []byte("sixty bytes of output, as a program prints them unbuffered..\n")
	long := bytes.Repeat([]byte("x"), 256<<10)
	for name, c := range map[string]struct {
		chunk []byte
		total int64
		clean bool
	}{
		"big writes": {block, total, false}, "61-byte writes": {small, total, false},
		"one line of 200 MB": {long, min(200<<20, total), false}, "cleaned": {block, total / 4, true},
	} {
		t.Run(name, func(t *testing.T) {
			n := 0
			grown := heapAfter(func() *Writer {
				w := New(Options{Shape: Tail, Clean: c.clean, Spill: func() (SpillFile, error) { n++; return discard{}, nil }})
				for sent := int64(0); sent < c.total; sent += int64(len(c.chunk)) {
					_, _ = w.Write(c.chunk)
				}
				if r := w.Snapshot(); !r.Truncated || len(r.Text) > 51200 {
					t.Errorf("truncated %t, %d bytes", r.Truncated, len(r.Text))
				}
				return w
			})
			if grown > limit || n != 1 {
				t.Errorf("the heap grew by %d bytes, limit %d; %d spills", grown, limit, n)
			}
			t.Logf("heap grew by %d bytes", grown)
		})
	}
}

// discard is a SpillFile that keeps nothing.
type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) Close() error                { return nil }
func (discard) Path() string                { return "/dev/null" }

func BenchmarkString10MB(b *testing.B) {
	in := string(logBlock(10 << 20))
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		String(in, Options{})
	}
}

func BenchmarkSnapshot(b *testing.B) {
	w := New(Options{Shape: Tail})
	_, _ = w.Write(logBlock(10 << 20))
	for b.Loop() {
		w.Snapshot()
	}
}

// counter counts the bytes written to it.
type counter int64

func (c *counter) Write(p []byte) (int, error) { *c += counter(len(p)); return len(p), nil }

// endless yields blocks until n bytes are read.
type endless struct {
	block []byte
	n     int64
}

func (e *endless) Read(p []byte) (int, error) {
	if e.n <= 0 {
		return 0, io.EOF
	}
	n := copy(p, e.block)
	e.n -= int64(n)
	return n, nil
}

// BenchmarkStream1GB passes 1 GiB through a pipe-like copy, to a counting writer
// and to a Writer in turns, and reports bytes per second and the ratio.
func BenchmarkStream1GB(b *testing.B) {
	const total = 1 << 30
	block := logBlock(256 << 10)
	var ours, peer time.Duration
	b.SetBytes(total)
	for b.Loop() {
		start := time.Now()
		var c counter
		_, _ = io.CopyBuffer(struct{ io.Writer }{&c}, &endless{block, total}, make([]byte, 256<<10))
		peer += time.Since(start)
		start = time.Now()
		w := New(Options{Shape: Tail})
		_, _ = io.CopyBuffer(struct{ io.Writer }{w}, &endless{block, total}, make([]byte, 256<<10))
		w.Close()
		ours += time.Since(start)
	}
	b.ReportMetric(float64(b.N)*total/1e9/ours.Seconds(), "GB/s")
	b.ReportMetric(float64(b.N)*total/1e9/peer.Seconds(), "peer-GB/s")
	b.ReportMetric(ours.Seconds()/peer.Seconds(), "ratio")
}

// benchmarkWrites measures a Writer fed with writes of one size.
func benchmarkWrites(b *testing.B, chunk []byte, o Options) {
	b.SetBytes(int64(len(chunk)))
	w := New(o)
	for b.Loop() {
		_, _ = w.Write(chunk)
	}
}

func BenchmarkWrite256K(b *testing.B) { benchmarkWrites(b, logBlock(256<<10), Options{Shape: Tail}) }
func BenchmarkWrite64K(b *testing.B)  { benchmarkWrites(b, logBlock(64<<10), Options{Shape: Tail}) }
func BenchmarkWrite61(b *testing.B) {
	benchmarkWrites(b, append(bytes.Repeat([]byte("y"), 60), 10), Options{Shape: Tail})
}

func BenchmarkWriteClean(b *testing.B) {
	benchmarkWrites(b, logBlock(64<<10), Options{Shape: Tail, Clean: true})
}
