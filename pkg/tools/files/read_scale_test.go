package files

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"slices"
	"strings"
	"testing"
)

// TestScale makes images smaller that no model takes, and refuses those that
// are cut off or would take too much memory.
func TestScale(t *testing.T) {
	img := image.NewGray(image.Rect(0, 0, 9000, 90))
	for x := range 4500 {
		for y := range 90 {
			img.SetGray(x, y, color.Gray{255})
		}
	}
	var asPNG, asJPEG bytes.Buffer
	if err := errors.Join(png.Encode(&asPNG, img), jpeg.Encode(&asJPEG, img, nil)); err != nil {
		t.Fatal(err)
	}
	for mime, data := range map[string][]byte{"image/png": asPNG.Bytes(), "image/jpeg": asJPEG.Bytes()} {
		w, h, err := checkImage(mime, data)
		if w != 9000 || h != 90 || err != nil {
			t.Fatalf("%s: %d x %d, %v", mime, w, h, err)
		}
		small, w, h, err := scaleImage(t.Context(), mime, data, w, h)
		if err != nil || w != 2000 || h != 20 {
			t.Fatalf("%s: %d x %d, %v", mime, w, h, err)
		}
		back, _, err := image.Decode(bytes.NewReader(small))
		if err != nil {
			t.Fatal(err)
		}
		left, _, _, _ := back.At(10, 10).RGBA()
		right, _, _, _ := back.At(1990, 10).RGBA()
		if left < 0xf000 || right > 0x0fff {
			t.Errorf("%s: %x and %x", mime, left, right)
		}
		if _, _, err := checkImage(mime, data[:len(data)/2]); !errors.Is(err, errDamaged) {
			t.Errorf("%s cut off: %v", mime, err)
		}
		if _, _, _, err := scaleImage(t.Context(), mime, data[:len(data)/2], 9000, 90); mime == "image/png" && !errors.Is(err, errDamaged) {
			t.Errorf("%s cut off: %v", mime, err)
		}
		if _, _, _, err := scaleImage(t.Context(), mime, data, 90_000, 90_000); err == nil {
			t.Errorf("%s: an image of 8 gigapixels is decoded", mime)
		}
	}
}

// header begins a PNG file that states a size.
func header(width, height uint32, bits, interlaced byte) []byte {
	data := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"), make([]byte, 13)...)
	binary.BigEndian.PutUint32(data[16:], width)
	binary.BigEndian.PutUint32(data[20:], height)
	data[24], data[25], data[28] = bits, 6, interlaced
	return append(data, "\x00\x00\x00\x00IEND"...)
}

// frame is the segment that begins a frame of three components, of which the first is
// sampled as often as said.
func frame(marker byte, width, height uint16, sampled byte) []byte {
	data := append([]byte{0xff, marker, 0, 17, 8}, make([]byte, 14)...)
	binary.BigEndian.PutUint16(data[5:], height)
	binary.BigEndian.PutUint16(data[7:], width)
	copy(data[9:], []byte{3, 1, sampled, 0, 2, 0x11, 0, 3, 0x11, 0})
	return data
}

// TestScaleBounds: what an image takes is known before it is decoded, also where few
// bytes stand for many pixels, or for one long row, or go over them many times.
func TestScaleBounds(t *testing.T) {
	start := []byte("\xff\xd8")
	scan := []byte("\xff\xda\x00\x08\x01\x01\x00\x00\x00\x00\x00")
	end := []byte("\xff\xd9")
	for _, c := range []struct {
		name, mime string
		data       []byte
		why        string
	}{
		{"a row of millions", "image/png", header(39_000_000, 1, 8, 0), "39000000 x 1 pixels, and at most"},
		{"a column of millions", "image/png", header(1, 39_000_000, 8, 0), "1 x 39000000 pixels, and at most"},
		{"eight bytes a pixel", "image/png", header(8001, 4800, 16, 0), "more memory"},
		{"interlaced", "image/png", header(8001, 4800, 8, 1), "more memory"},
		{"as large as may be", "image/png", header(8001, 4800, 8, 0), "damaged"}, // so it was decoded
		{"coefficients", "image/jpeg", slices.Concat(start, frame(0xc2, 8001, 4800, 0x11), end), "more memory"},
		{"without them", "image/jpeg", slices.Concat(start, frame(0xc0, 8001, 4800, 0x22), end), "damaged"},
		{"fewer of them", "image/jpeg", slices.Concat(start, frame(0xc2, 8001, 3000, 0x22), end), "damaged"},
		{"many scans", "image/jpeg", slices.Concat(start, frame(0xc2, 8001, 1000, 0x22), bytes.Repeat(scan, 101), end), "more than 100 scans"},
	} {
		w, h, err := checkImage(c.mime, c.data)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if _, _, _, err := scaleImage(t.Context(), c.mime, c.data, w, h); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %v, want %s", c.name, err, c.why)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, _, err := scaleImage(ended, "image/png", header(8001, 4800, 8, 0), 8001, 4800); !errors.Is(err, context.Canceled) {
		t.Errorf("nobody waits for it, and it is decoded: %v", err)
	}
}

// TestScaleFrame: the size that a JPEG file is taken to have is that of the frame which
// is decoded, where a marker without a segment stands before another.
func TestScaleFrame(t *testing.T) {
	decoded := slices.Concat([]byte("\xff\xfe\x00\x04xx"), frame(0xc2, 16_000, 16_000, 0x22))
	data := slices.Concat([]byte("\xff\xd8\xff\xd0"), decoded, []byte("\xff\xfe\xff\xf0"))
	data = append(data, make([]byte, 4+0xfffe-len(data))...) // what a length of ff fe reaches
	data = slices.Concat(data, frame(0xc0, 9000, 90, 0x22), make([]byte, 100), []byte("\xff\xda\x00\x02\xff\xd9"))
	if c, err := jpeg.DecodeConfig(bytes.NewReader(data)); err != nil || c.Width != 16_000 {
		t.Fatalf("%+v, %v", c, err)
	}
	if w, h := imageSize(data); w != 16_000 || h != 16_000 {
		t.Errorf("taken for %d x %d", w, h)
	}
}
