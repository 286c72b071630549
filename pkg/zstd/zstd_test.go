package zstd

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/zstd"
)

func pack(t testing.TB, level zstd.EncoderLevel, data []byte, o ...zstd.EOption) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil, append(o, zstd.WithEncoderLevel(level))...)
	if err != nil {
		t.Fatal(err)
	}
	return w.EncodeAll(data, nil)
}

// samples are of every kind: nothing, the same again, text, code, what has no pattern.
func samples(t testing.TB) map[string][]byte {
	random := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 150_000)
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	var words strings.Builder
	for words.Len() < 200_000 {
		fmt.Fprintf(&words, "%s %d, ", []string{"alpha", "beta", "gamma", "delta", "so", "it is"}[random.IntN(6)], random.IntN(5000))
	}
	code, err := os.ReadFile("block.go")
	if err != nil {
		t.Fatal(err)
	}
	few := bytes.Map(func(r rune) rune { return 'a' + r%3 }, []byte(words.String()))
	far := append(append(bytes.Clone(noise), noise[:90_000]...), noise[50_000:]...)
	return map[string][]byte{
		"empty": {}, "one": {'x'}, "same": bytes.Repeat([]byte{'z'}, 150_000), "noise": noise, "words": []byte(words.String()), "code": code, "few": few, "far": far,
		"short": []byte("hello, hello, hello"), "mixed": append(append(bytes.Clone(code), noise[:5000]...), words.String()[:9000]...),
	}
}

// TestRead reads what the usual library writes.
func TestRead(t *testing.T) {
	for _, c := range []struct {
		level zstd.EncoderLevel
		o     []zstd.EOption
	}{
		{zstd.SpeedFastest, nil},
		{zstd.SpeedDefault, nil},
		{zstd.SpeedBestCompression, nil},
		{zstd.SpeedDefault, []zstd.EOption{zstd.WithWindowSize(32 << 10), zstd.WithEncoderCRC(false)}},
		{zstd.SpeedFastest, []zstd.EOption{zstd.WithSingleSegment(true)}},
		{zstd.SpeedFastest, []zstd.EOption{zstd.WithNoEntropyCompression(true)}},
	} {
		w, err := zstd.NewWriter(nil, append(c.o, zstd.WithEncoderLevel(c.level), zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))...)
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range samples(t) {
			got, err := io.ReadAll(NewReader(bytes.NewReader(w.EncodeAll(want, nil)), 8<<20))
			if err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%s, level %d: %d bytes, want %d: %v", name, c.level, len(got), len(want), err)
			}
		}
	}
}

// TestStreams reads frames behind each other, some to be skipped, a byte at a time.
func TestStreams(t *testing.T) {
	s := samples(t)
	skip := []byte("\x53\x2a\x4d\x18\x03\x00\x00\x00abc")
	data := bytes.Join([][]byte{pack(t, zstd.SpeedDefault, s["code"]), skip, pack(t, zstd.SpeedFastest, s["short"]), skip}, nil)
	want := append(bytes.Clone(s["code"]), s["short"]...)
	got, err := io.ReadAll(NewReader(iotest.OneByteReader(bytes.NewReader(data)), 8<<20))
	if err != nil || !bytes.Equal(got, want) {
		t.Fatalf("%d bytes: %v", len(got), err)
	}
	var stream bytes.Buffer
	w, err := zstd.NewWriter(&stream)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(s["words"]); i += 10_000 { // without a size, in many blocks
		if _, err := w.Write(s["words"][i:min(i+10_000, len(s["words"]))]); err != nil {
			t.Fatal(err)
		}
		_ = w.Flush()
	}
	_ = w.Close()
	if got, err = io.ReadAll(NewReader(&stream, 8<<20)); err != nil || !bytes.Equal(got, s["words"]) {
		t.Fatalf("%d bytes: %v", len(got), err)
	}
}

// TestDamaged cuts off and changes what is read: what comes is a beginning, or an error
// that says so, and never more than there was.
func TestDamaged(t *testing.T) {
	want := samples(t)["mixed"]
	whole := pack(t, zstd.SpeedBestCompression, want)
	for n := 0; n < len(whole); n += 1 + n/20 {
		got, err := io.ReadAll(NewReader(bytes.NewReader(whole[:n]), 8<<20))
		if n > 0 && !errors.Is(err, io.ErrUnexpectedEOF) || !bytes.HasPrefix(want, got) {
			t.Fatalf("the first %d bytes: %d bytes, %v", n, len(got), err)
		}
	}
	random := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		bad := bytes.Clone(whole)
		bad[random.IntN(len(bad))] ^= 1 << random.IntN(8)
		got, err := io.ReadAll(NewReader(bytes.NewReader(bad), 8<<20))
		if err != nil && !errors.Is(err, ErrDamaged) && !errors.Is(err, io.ErrUnexpectedEOF) || len(got) > len(want)+maxBlock {
			t.Fatalf("%d bytes, %v", len(got), err)
		}
	}
	for data, want := range map[string]error{"": nil, "\x28": io.ErrUnexpectedEOF, "words": ErrDamaged, "\x28\xb5\x2f\xfd\x00\xa0\x01\x00\x00": ErrDamaged, "\x28\xb5\x2f\xfd\x21\x05\x01": ErrDamaged, "\x28\xb5\x2f\xfd\x08\x00": ErrDamaged} {
		if got, err := io.ReadAll(NewReader(strings.NewReader(data), 8<<20)); !errors.Is(err, want) || len(got) > 0 {
			t.Errorf("%q: %v", data, err)
		}
	}
}

// FuzzRead reads anything, and agrees with the usual library about what can be read.
func FuzzRead(f *testing.F) {
	for _, data := range samples(f) {
		f.Add(pack(f, zstd.SpeedDefault, data[:min(len(data), 3000)]))
	}
	other, err := zstd.NewReader(nil, zstd.WithDecoderMaxWindow(1<<20), zstd.WithDecoderMaxMemory(4<<20), zstd.IgnoreChecksum(true), zstd.WithDecoderConcurrency(1))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := io.ReadAll(io.LimitReader(NewReader(bytes.NewReader(data), 1<<20), 4<<20))
		want, refused := other.DecodeAll(data, nil)
		if err == nil && refused == nil && !bytes.Equal(got, want) {
			t.Errorf("%d bytes, want %d", len(got), len(want))
		}
	})
}
