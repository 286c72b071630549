package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"
)

// TestImages reads images of odd sizes: what no model takes is attached smaller,
// and said to be; what is damaged or huge is refused, and not attached.
func TestImages(t *testing.T) {
	h := newEditHouse(t)
	encoded := func(w, h int, as string) []byte {
		var b bytes.Buffer
		img := image.NewGray(image.Rect(0, 0, w, h))
		var err error
		if as == "png" {
			err = png.Encode(&b, img)
		} else {
			err = jpeg.Encode(&b, img, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	huge := encoded(4, 4, "png")
	copy(huge[16:24], "\x00\x00\xea\x60\x00\x00\xea\x60") // 60,000 x 60,000; the sum of the header no longer fits
	for _, c := range []struct {
		name string
		data []byte
		w, h int // of what is attached; 0 for nothing
		code string
	}{
		{"one.png", encoded(1, 1, "png"), 1, 1, ""},
		{"wide.png", encoded(9000, 90, "png"), 2000, 20, ""},
		{"tall.png", encoded(3, 9000, "png"), 1, 2000, ""},
		{"wide.jpg", encoded(9000, 300, "jpeg"), 2000, 66, ""},
		{"cut.png", encoded(300, 300, "png")[:60], 0, 0, "binary"},
		{"huge.png", huge, 0, 0, "too_large"},
	} {
		h.put(c.name, c.data)
		_, out := h.call("read", map[string]any{"path": c.name})
		var r struct {
			Output      string
			Attachments []struct{ Content string }
			Error       struct{ Code string }
		}
		if err := json.Unmarshal([]byte(out), &r); err != nil {
			t.Fatalf("%s: %v: %s", c.name, err, out)
		}
		if r.Error.Code != c.code || len(r.Attachments) != min(c.w, 1) {
			t.Errorf("%s: %q with %d attachments, want %q: %s", c.name, r.Error.Code, len(r.Attachments), c.code, r.Output)
			continue
		}
		if c.w == 0 {
			continue
		}
		data, err := base64.StdEncoding.DecodeString(r.Attachments[0].Content)
		if err != nil {
			t.Fatal(err)
		}
		img, _, err := image.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatalf("%s: what is attached: %v", c.name, err)
		}
		if b := img.Bounds(); b.Dx() != c.w || b.Dy() != c.h {
			t.Errorf("%s: attached with %d x %d pixels, want %d x %d", c.name, b.Dx(), b.Dy(), c.w, c.h)
		}
		if smaller := !bytes.Equal(data, c.data); smaller != strings.Contains(r.Output, fmt.Sprintf("attached smaller: %d x %d pixels", c.w, c.h)) {
			t.Errorf("%s: attached smaller: %v, and said: %s", c.name, smaller, r.Output)
		}
	}
}
