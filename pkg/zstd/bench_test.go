package zstd

import (
	"bytes"
	"io"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// BenchmarkRead compares with the usual library.
func BenchmarkRead(b *testing.B) {
	text := bytes.Repeat(samples(b)["words"], 5)
	data := pack(b, zstd.SpeedDefault, text)
	b.Run("ours", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			if n, err := io.Copy(io.Discard, NewReader(bytes.NewReader(data), 8<<20)); err != nil || n != int64(len(text)) {
				b.Fatal(n, err)
			}
		}
	})
	b.Run("usual", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			r, err := zstd.NewReader(bytes.NewReader(data), zstd.WithDecoderConcurrency(1))
			if err != nil {
				b.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, r); err != nil {
				b.Fatal(err)
			}
			r.Close()
		}
	})
}
