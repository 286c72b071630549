package files

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path"

	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

// image attaches a picture.
func (r *readCall) image(f *os.File, head []byte, meta *readMeta, res *tool.Result) error {
	if err := r.linesOnly("an image", false); err != nil {
		return err
	}
	meta.Type = "image"
	if meta.TotalBytes > maxAttachment {
		return tool.Errorf(tool.TooLarge, "%s has %d bytes, and at most %d are attached", meta.Path, meta.TotalBytes, maxAttachment).
			WithHint("make a smaller copy with bash, for example with convert %s -resize 1500x1500 small.png, and read that", tool.QuoteFile(meta.Path))
	}
	data, err := attach(f, head, "image", meta, res)
	if err != nil {
		return err
	}
	size := ""
	if w, h := imageSize(data); w > 0 {
		meta.Image = &readImage{w, h}
		size = fmt.Sprintf(" of %d x %d pixels", w, h)
	}
	res.Output = fmt.Sprintf("%s%s and %d bytes, attached\n", meta.MIMEType, size, len(data))
	if size == "" {
		res.Output = fmt.Sprintf("%s of %d bytes, attached\n", meta.MIMEType, len(data))
	}
	return nil
}

// attach adds a file to the result as it is.
func attach(f *os.File, head []byte, kind string, meta *readMeta, res *tool.Result) ([]byte, error) {
	rest, err := io.ReadAll(io.LimitReader(f, maxAttachment))
	if err != nil {
		return nil, err
	}
	data := append(head, rest...)
	meta.Version, meta.TotalBytes = workspace.Version(data), int64(len(data))
	res.Attachments = append(res.Attachments, tool.Attachment{Type: kind, Filename: path.Base(meta.Path), MIMEType: meta.MIMEType, Content: data})
	return data, nil
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
