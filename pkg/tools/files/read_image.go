package files

import (
	"context"
	"fmt"
	"io"
	"os"
	"path"

	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

// image attaches a picture.
func (r *readCall) image(ctx context.Context, f *os.File, head []byte, meta *readMeta, res *tool.Result) error {
	if err := r.linesOnly("an image", false); err != nil {
		return err
	}
	meta.Type = "image"
	if meta.TotalBytes > maxAttachment {
		return tool.Errorf(tool.TooLarge, "%s has %d bytes, and at most %d are attached", meta.Path, meta.TotalBytes, maxAttachment).
			WithHint("make a smaller copy with {bash}, for example with convert %s -resize 1500x1500 small.png, and read that", tool.QuoteFile(meta.Path))
	}
	data, err := attach(f, head, "image", meta, res)
	if err != nil {
		return err
	}
	w, h, err := checkImage(meta.MIMEType, data)
	if err != nil {
		res.Attachments = nil
		return tool.Errorf(tool.Binary, "%s cannot be looked at: %w", meta.Path, err).
			WithHint("it may be cut off, or still be written; look at it with {bash}, for example: file %[1]s; xxd %[1]s | head", tool.QuoteFile(meta.Path))
	}
	meta.Image = &readImage{w, h}
	res.Output = fmt.Sprintf("%s of %d x %d pixels and %d bytes, attached\n", meta.MIMEType, w, h, len(data))
	if max(w, h) <= maxSide && len(data) <= maxImageBytes {
		return nil
	}
	small, sw, sh, err := scaleImage(ctx, meta.MIMEType, data, w, h)
	if err == nil && len(small) > maxImageBytes {
		err = fmt.Errorf("made smaller it has %d bytes still", len(small))
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		res.Attachments = nil
		return tool.Errorf(tool.TooLarge, "%s is too large to be attached: %w", meta.Path, err).
			WithHint("make a smaller copy with {bash}, for example with convert %s -resize 1500x1500 small.png, and read that", tool.QuoteFile(meta.Path))
	}
	if meta.MIMEType == "image/gif" {
		meta.MIMEType = "image/png"
	}
	res.Attachments[0].Content, res.Attachments[0].MIMEType = small, meta.MIMEType
	meta.Truncated = true
	res.Output = fmt.Sprintf("image of %d x %d pixels and %d bytes, attached smaller: %d x %d pixels\n", w, h, len(data), sw, sh)
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
