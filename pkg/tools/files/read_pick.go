package files

import (
	"bytes"
	"context"
	"path"
	"path/filepath"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/syntax"
)

// pick says which lines of a text are to be shown.
func (r *readCall) pick(ctx context.Context, decoded []byte, meta *readMeta) ([]span, error) {
	total := *meta.TotalLines
	switch {
	case len(r.ranges) > 0:
		return r.ranges, nil
	case r.Tail > 0:
		return []span{{first: max(1, total-int64(r.Tail)+1)}}, nil
	case r.Symbol != "":
		return r.pickSymbol(ctx, decoded, meta)
	case r.Mode == "indentation":
		return r.pickBlock(decoded, meta)
	}
	return []span{{first: int64(r.Offset)}}, nil
}

func (r *readCall) pickSymbol(ctx context.Context, decoded []byte, meta *readMeta) ([]span, error) {
	if meta.Newline == "cr" {
		decoded = bytes.ReplaceAll(decoded, []byte("\r"), []byte("\n"))
	}
	_, s, err := findSymbol(ctx, path.Base(filepath.ToSlash(r.path.Real)), decoded, r.Symbol)
	if err != nil {
		return nil, err
	}
	meta.Symbol = &readSymbol{s.Path(), s.Kind, s.First, s.Line, s.EndLine, s.Doubt}
	return []span{{int64(s.First), int64(s.EndLine)}}, nil
}

func (r *readCall) pickBlock(decoded []byte, meta *readMeta) ([]span, error) {
	if meta.Newline == "cr" {
		decoded = bytes.ReplaceAll(decoded, []byte("\r"), []byte("\n"))
	}
	anchor := r.AnchorLine
	if anchor == 0 {
		anchor = r.Offset
	}
	if int64(anchor) > *meta.TotalLines {
		return nil, behind(meta.Path, int64(anchor), *meta.TotalLines)
	}
	lines := strings.Split(strings.TrimSuffix(string(decoded), "\n"), "\n")
	o := syntax.BlockOptions{MaxLevels: r.MaxLevels, IncludeSiblings: r.IncludeSiblings, IncludeHeader: r.IncludeHeader}
	first, last := syntax.Block(lines, anchor, o)
	meta.Block = &readBlock{anchor, int64(first), int64(last)}
	o.MaxLines = r.Limit
	first, last = syntax.Block(lines, anchor, o)
	return []span{{int64(first), int64(last)}}, nil
}
