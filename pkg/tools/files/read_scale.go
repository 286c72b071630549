package files

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
)

const (
	// maxSide is the width and height in pixels that every maker of models
	// takes; larger images are attached smaller.
	maxSide = 8000

	// scaledSide is how large these are made: more is scaled down by the
	// models themselves.
	scaledSide = 2000

	// maxPixels bounds the images that are decoded, which take four bytes a
	// pixel: 40 million.
	maxPixels = 40_000_000
)

// errDamaged says that an image is cut off, or is none.
var errDamaged = errors.New("it is damaged")

// checkImage looks for the end of an image, which files that were cut off do
// not have, and for its size.
func checkImage(mime string, data []byte) (width, height int, err error) {
	width, height = imageSize(data)
	tail := data[max(0, len(data)-1024):]
	whole := true
	switch mime {
	case "image/png":
		whole = bytes.Contains(tail, []byte("IEND"))
	case "image/jpeg":
		whole = bytes.Contains(tail, []byte("\xff\xd9")) || bytes.Contains(data, []byte("\xff\xd9"))
	case "image/gif":
		whole = bytes.HasSuffix(bytes.TrimRight(data, "\x00"), []byte(";"))
	case "image/webp":
		size := 0
		for i := range 4 {
			size |= int(data[4+i]) << (8 * i)
		}
		whole = len(data) >= size+8
	}
	if !whole || width <= 0 || height <= 0 {
		return width, height, errDamaged
	}
	return width, height, nil
}

// scaleImage makes a smaller copy of an image.
func scaleImage(mime string, data []byte, width, height int) (small []byte, w, h int, err error) {
	if width*height > maxPixels {
		return nil, 0, 0, fmt.Errorf("it has %d x %d pixels", width, height)
	}
	var img image.Image
	switch mime {
	case "image/png":
		img, err = png.Decode(bytes.NewReader(data))
	case "image/jpeg":
		img, err = jpeg.Decode(bytes.NewReader(data))
	case "image/gif":
		img, err = gif.Decode(bytes.NewReader(data))
	default:
		return nil, 0, 0, fmt.Errorf("it has %d x %d pixels, and %s is not made smaller here", width, height, mime)
	}
	if err != nil {
		return nil, 0, 0, fmt.Errorf("%w: %w", errDamaged, err)
	}
	scaled := shrink(img, scaledSide)
	var out bytes.Buffer
	if mime == "image/jpeg" {
		err = jpeg.Encode(&out, scaled, &jpeg.Options{Quality: 85})
	} else {
		err = png.Encode(&out, scaled)
	}
	return out.Bytes(), scaled.Bounds().Dx(), scaled.Bounds().Dy(), err
}

// shrink gives each pixel of a copy, whose longer side is at most most, the
// mean of those that it stands for.
func shrink(img image.Image, most int) image.Image {
	b := img.Bounds()
	longer := max(b.Dx(), b.Dy())
	if longer <= most {
		return img
	}
	w, h := max(1, b.Dx()*most/longer), max(1, b.Dy()*most/longer)
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		top, bottom := b.Min.Y+y*b.Dy()/h, b.Min.Y+max(y*b.Dy()/h+1, (y+1)*b.Dy()/h)
		for x := range w {
			left, right := b.Min.X+x*b.Dx()/w, b.Min.X+max(x*b.Dx()/w+1, (x+1)*b.Dx()/w)
			var red, green, blue, alpha, n uint64
			for sy := top; sy < bottom; sy++ {
				for sx := left; sx < right; sx++ {
					r, g, bl, a := img.At(sx, sy).RGBA()
					red, green, blue, alpha, n = red+uint64(r), green+uint64(g), blue+uint64(bl), alpha+uint64(a), n+1
				}
			}
			out.Set(x, y, color.RGBA64{uint16(red / n), uint16(green / n), uint16(blue / n), uint16(alpha / n)})
		}
	}
	return out
}

// imageSize is the size in pixels that a PNG, GIF, JPEG or WebP file states,
// or zero.
func imageSize(data []byte) (width, height int) {
	if bytes.HasPrefix(data, []byte("\xff\xd8")) {
		return jpegSize(data[2:])
	}
	data = append(bytes.Clone(data[:min(len(data), 32)]), make([]byte, 32)...)
	little, big := binary.LittleEndian, binary.BigEndian
	at := func(s string, offset int) bool { return bytes.HasPrefix(data[offset:], []byte(s)) }
	switch {
	case at("\x89PNG", 0) && at("IHDR", 12):
		return int(big.Uint32(data[16:])), int(big.Uint32(data[20:]))
	case at("GIF8", 0):
		return int(little.Uint16(data[6:])), int(little.Uint16(data[8:]))
	case at("VP8 ", 12):
		return int(little.Uint16(data[26:])) & 0x3fff, int(little.Uint16(data[28:])) & 0x3fff
	case at("VP8L", 12):
		bits := little.Uint32(data[21:])
		return int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1
	case at("VP8X", 12):
		return int(little.Uint32(data[24:])&0xffffff) + 1, int(little.Uint32(append(bytes.Clone(data[27:30]), 0))) + 1
	}
	return 0, 0
}

// jpegSize looks for the segment that begins a frame.
func jpegSize(data []byte) (width, height int) {
	for len(data) >= 9 && data[0] == 0xff {
		marker := data[1]
		switch {
		case marker == 0xff: // padding
			data = data[1:]
			continue
		case marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc:
			return int(data[7])<<8 | int(data[8]), int(data[5])<<8 | int(data[6])
		}
		skip := 2 + (int(data[2])<<8 | int(data[3]))
		if skip < 4 || skip > len(data) {
			return 0, 0
		}
		data = data[skip:]
	}
	return 0, 0
}
