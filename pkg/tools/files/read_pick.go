package files

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/syntax"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// A span is some lines or pages, counted from 1.
type span struct {
	first int64
	last  int64 // 0 for the end
}

// String is the span as a parameter spells it.
func (s span) String() string {
	switch s.last {
	case 0:
		return fmt.Sprintf("%d-", s.first)
	case s.first:
		return fmt.Sprint(s.first)
	}
	return fmt.Sprintf("%d-%d", s.first, s.last)
}

// maxSpans bounds the ranges of one call.
const maxSpans = 1000

// parseSpans reads 10-20, 50- and 7, several of them separated by commas. The
// result is sorted, and what touches is one span.
func parseSpans(param string, words []string) ([]span, error) {
	var list []span
	for _, word := range words {
		for part := range strings.SplitSeq(word, ",") {
			s, ok := parseSpan(strings.TrimSpace(part))
			if !ok {
				return nil, tool.Errorf(tool.BadInput, "%s: %q is no range", param, part).WithHint("write 10-20, 50- for everything from 50 on, or 7")
			}
			list = append(list, s)
		}
	}
	if len(list) > maxSpans {
		return nil, tool.Errorf(tool.BadInput, "%s: %d ranges are more than %d", param, len(list), maxSpans).WithHint("ask for fewer, or for larger ones")
	}
	slices.SortFunc(list, func(a, b span) int { return cmp.Compare(a.first, b.first) })
	var merged []span
	for _, s := range list {
		if n := len(merged); n > 0 && (merged[n-1].last == 0 || s.first <= merged[n-1].last+1) {
			if last := &merged[n-1].last; *last != 0 {
				*last = max(*last, s.last)
				if s.last == 0 {
					*last = 0
				}
			}
			continue
		}
		merged = append(merged, s)
	}
	return merged, nil
}

func parseSpan(word string) (span, bool) {
	from, to, dash := strings.Cut(word, "-")
	first, err := strconv.ParseInt(strings.TrimSpace(from), 10, 52)
	s := span{first, first}
	if dash {
		s.last = 0
		if to = strings.TrimSpace(to); to != "" && err == nil {
			s.last, err = strconv.ParseInt(to, 10, 52)
			if s.last < first {
				return span{}, false
			}
		}
	}
	return s, err == nil && first >= 1
}

// check refuses parameters that contradict each other.
func (r *readCall) check() (err error) {
	if r.AnchorLine > 0 {
		r.Mode = "indentation" // what else could it be for
	}
	var asked []string
	for _, way := range []struct {
		name string
		is   bool
	}{
		{"tail", r.Tail > 0},
		{"ranges", len(r.Ranges) > 0},
		{"symbol", r.Symbol != ""},
		{"mode=indentation", r.Mode == "indentation"},
		{"offset", r.Offset > 1 && r.Mode != "indentation"},
	} {
		if way.is {
			asked = append(asked, way.name)
		}
	}
	if len(asked) > 1 {
		return tool.Errorf(tool.BadInput, "%s and %s both say which lines to show", asked[0], asked[1]).WithHint("give one of them")
	}
	if r.ranges, err = parseSpans("ranges", r.Ranges); err != nil {
		return err
	}
	r.pages, err = parseSpans("pages", r.Pages)
	return err
}

// linesOnly refuses ways to choose lines for what has none that could be
// chosen so.
func (r *readCall) linesOnly(what string, ranges bool) error {
	name := ""
	switch {
	case r.Symbol != "":
		name = "symbol"
	case r.Mode == "indentation":
		name = "mode=indentation"
	case len(r.Ranges) > 0 && !ranges:
		name = "ranges"
	}
	if name == "" {
		return nil
	}
	return tool.Errorf(tool.BadInput, "%s is for text files, and %s is %s", name, r.Path, what).WithHint("leave it out, or use offset and limit")
}

type readRange struct {
	Offset    int64 `json:"offset"`
	LinesRead int   `json:"lines_read"`
	Truncated bool  `json:"truncated"`
}

type readBlock struct {
	Anchor  int   `json:"anchor_line"`
	Line    int64 `json:"line"` // of the whole block, which may be longer than what is shown
	EndLine int64 `json:"end_line"`
}

type readSymbol struct {
	Name    string      `json:"name"` // with those around it: Server.Close
	Kind    syntax.Kind `json:"kind"`
	First   int         `json:"first_line"` // where its comment and decorators begin
	Line    int         `json:"line"`
	EndLine int         `json:"end_line"`
}

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
	meta.Symbol = &readSymbol{s.Path(), s.Kind, s.First, s.Line, s.EndLine}
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
