package files

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
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
		small, w, h, err := scaleImage(mime, data, w, h)
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
		if _, _, _, err := scaleImage(mime, data[:len(data)/2], 9000, 90); mime == "image/png" && !errors.Is(err, errDamaged) {
			t.Errorf("%s cut off: %v", mime, err)
		}
		if _, _, _, err := scaleImage(mime, data, 90_000, 90_000); err == nil {
			t.Errorf("%s: an image of 8 gigapixels is decoded", mime)
		}
	}
}
