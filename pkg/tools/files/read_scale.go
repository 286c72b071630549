package files

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"sync"
	"time"
)

const (
	// maxSide is the width and height in pixels that every maker of models
	// takes; larger images are attached smaller.
	maxSide = 8000

	// scaledSide is how large these are made: more is scaled down by the
	// models themselves.
	scaledSide = 2000

	// maxPixels bounds the images that are decoded: 40 million.
	maxPixels = 40_000_000

	// maxDecoded bounds the memory that decoding one takes: 256 MiB.
	maxDecoded = 256 << 20

	// longestSide is the most pixels in a row that a JPEG or GIF file can have. A
	// PNG file can have more, and its decoder holds two rows beside the image.
	longestSide = 65_535

	// maxScans is how many scans of a JPEG file are read. A progressive one goes over
	// all pixels in each, usually in some ten, and a scan may be a few bytes long.
	maxScans = 100
)

// decoding is held by the one image that is decoded: many calls of one process may read some at a time.
var decoding sync.Mutex

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

// scaleImage makes a smaller copy of an image, unless that takes too much memory or
// time, or ctx ends.
func scaleImage(ctx context.Context, mime string, data []byte, width, height int) (small []byte, w, h int, err error) {
	if err := decodable(mime, data, width, height); err != nil {
		return nil, 0, 0, err
	}
	for !decoding.TryLock() {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return nil, 0, 0, context.Cause(ctx)
		}
	}
	defer decoding.Unlock()
	var img image.Image
	in := whileWanted{ctx, bytes.NewReader(data)}
	switch mime {
	case "image/png":
		img, err = png.Decode(in)
	case "image/jpeg":
		img, err = jpeg.Decode(in)
	default:
		img, err = gif.Decode(in)
	}
	switch {
	case ctx.Err() != nil:
		return nil, 0, 0, context.Cause(ctx)
	case err != nil:
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

// decodable says, by what the file states, why an image is not decoded.
func decodable(mime string, data []byte, width, height int) error {
	switch size := fmt.Sprintf("%d x %d pixels", width, height); {
	case mime != "image/png" && mime != "image/jpeg" && mime != "image/gif":
		return fmt.Errorf("it has %s, and %s is not made smaller here", size, mime)
	case max(width, height) > longestSide || width*height > maxPixels:
		return fmt.Errorf("it has %s, and at most %d, and %d in a row, are made smaller here", size, maxPixels, longestSide)
	case decodedSize(mime, data, width, height) > maxDecoded:
		return fmt.Errorf("its %s take more memory than %d MiB", size, maxDecoded>>20)
	case mime == "image/jpeg" && bytes.Count(data, []byte("\xff\xda")) > maxScans:
		return fmt.Errorf("its %s are made up of more than %d scans", size, maxScans)
	}
	return nil
}

// decodedSize is how many bytes decoding takes, at most.
func decodedSize(mime string, data []byte, width, height int) int64 {
	pixels := int64(width) * int64(height)
	switch mime {
	case "image/png":
		if len(data) < 29 {
			return 0 // it is damaged, and the decoder says so
		}
		size := 4 * pixels
		if data[24] == 16 { // bits of each sample
			size *= 2
		}
		if data[28] != 0 { // interlaced: each pass is an image before they become one
			size *= 2
		}
		return size
	case "image/jpeg":
		return jpegDecodedSize(jpegFrame(data[2:]), pixels)
	}
	return pixels // a GIF file, whose pixels are places in a palette
}

// jpegDecodedSize is that of a JPEG file by its frame, which tells how often each
// component is sampled. What says nothing that can be, the decoder refuses.
func jpegDecodedSize(frame []byte, pixels int64) int64 {
	if len(frame) < 10 || len(frame) < 10+3*int(frame[9]) {
		return 0
	}
	var samples, across, down int64
	for i := range int(frame[9]) {
		h, v := int64(frame[11+3*i]>>4), int64(frame[11+3*i]&15)
		samples, across, down = samples+h*v, max(across, h), max(down, v)
	}
	if samples == 0 {
		return 0
	}
	size := pixels * samples / (across * down)
	if frame[1] == 0xc2 { // progressive: coefficients of four bytes are held until the last scan
		size *= 5
	}
	if samples >= 3*across*down { // all sampled alike: they may be made into an image of four bytes a pixel
		size += 4 * pixels
	}
	return size
}

// whileWanted is a reader that ends with ctx, since decoders know of none.
type whileWanted struct {
	ctx context.Context
	io.Reader
}

func (r whileWanted) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.Reader.Read(p)
}

// shrink gives each pixel of a copy, whose longer side is at most most, the
// mean of those that it stands for.
func shrink(img image.Image, most int) image.Image {
	b := img.Bounds()
	longer := max(b.Dx(), b.Dy())
	from, ok := img.(image.RGBA64Image) // which all decoders make; At would allocate each pixel
	if longer <= most || !ok {
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
					c := from.RGBA64At(sx, sy)
					red, green, blue, alpha, n = red+uint64(c.R), green+uint64(c.G), blue+uint64(c.B), alpha+uint64(c.A), n+1
				}
			}
			out.SetRGBA64(x, y, color.RGBA64{uint16(red / n), uint16(green / n), uint16(blue / n), uint16(alpha / n)})
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

// jpegSize is the size in pixels that a JPEG file states behind its first two bytes.
func jpegSize(data []byte) (width, height int) {
	frame := jpegFrame(data)
	if len(frame) < 9 {
		return 0, 0
	}
	return int(frame[7])<<8 | int(frame[8]), int(frame[5])<<8 | int(frame[6])
}

// jpegFrame looks for the segment that begins a frame, and returns what begins with it.
// It takes what stands between segments as image/jpeg does, or a file could state one
// size here and have another there.
func jpegFrame(data []byte) []byte {
	for {
		at := bytes.IndexByte(data, 0xff)
		if at < 0 || len(data) < at+9 {
			return nil
		}
		data = data[at:]
		marker := data[1]
		switch {
		case marker == 0xff: // padding
			data = data[1:]
			continue
		case marker == 0, marker >= 0xd0 && marker <= 0xd7: // no segment
			data = data[2:]
			continue
		case marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc:
			return data
		}
		skip := 2 + (int(data[2])<<8 | int(data[3]))
		if skip < 4 || skip > len(data) {
			return nil
		}
		data = data[skip:]
	}
}
