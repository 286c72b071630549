package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/agentkit-go/agentkit/pkg/text"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// show shows the lines of a text that are asked for.
func (r *readCall) show(ctx context.Context, decoded []byte, meta *readMeta, res *tool.Result, env *tool.Env) error {
	o := text.LineOptions{CR: meta.Newline == "cr", MaxLine: len(decoded) + 1}
	total, err := text.LinesOf(decoded, o).Skip(1 << 60)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	meta.TotalLines = &total
	spans, err := r.pick(ctx, decoded, meta)
	if err != nil {
		return err
	}
	spans, missing, err := within(spans, total, meta)
	if err != nil {
		return err
	}
	if err = r.page(text.LinesOf(decoded, o), spans, meta, res, env); err == nil {
		res.Output += missing
	}
	return err
}

// large shows a part of a file without holding it, or reading behind the part.
func (r *readCall) large(ctx context.Context, f *os.File, enc text.Encoding, meta *readMeta, res *tool.Result, env *tool.Env) error {
	o := text.LineOptions{CR: meta.Newline == "cr", MaxLine: min((r.Column+env.Limits.LineChars)*utf8.UTFMax+1<<16, maxColumnBytes)}
	switch {
	case r.Symbol != "" || r.Mode == "indentation":
		return tool.Errorf(tool.TooLarge, "%s has %d bytes, and blocks and symbols are found in files of at most %d", meta.Path, meta.TotalBytes, wholeFile).
			WithHint("find the place with {grep}, and read it with {.offset} and {.limit}")
	case r.Tail > 0 && (!enc.ASCII() || o.CR):
		return tool.Errorf(tool.Unsupported, "the end of a large file in %s cannot be found without reading all of it", enc.Name).
			WithHint("read it with {.offset}, or convert it to UTF-8")
	}
	spans, at := r.ranges, int64(0)
	if len(spans) == 0 {
		spans = []span{{first: int64(r.Offset)}}
	}
	if r.Tail > 0 {
		// Nobody knows how many lines come before: these count from the end.
		// Of more than fit the last are shown, for there is no going on from one.
		offset, lines, err := text.Tail(f, meta.TotalBytes, min(r.Tail, r.Limit))
		if err != nil {
			return err
		}
		spans, at = []span{{first: -int64(lines)}}, offset
	}
	if _, err := f.Seek(at, io.SeekStart); err != nil {
		return err
	}
	return r.page(text.NewLineReader(enc.Reader(&interruptible{ctx, f}), o), spans, meta, res, env)
}

// An interruptible reader ends when its context does.
type interruptible struct {
	ctx context.Context
	r   io.Reader
}

// Read implements io.Reader.
func (i *interruptible) Read(p []byte) (int, error) {
	if err := context.Cause(i.ctx); err != nil {
		return 0, err
	}
	return i.r.Read(p)
}

// page prints the lines of spans until the limits are reached. The first span
// may count from the end, with a negative number: then lines begins there.
func (r *readCall) page(lines *text.LineReader, spans []span, meta *readMeta, res *tool.Result, env *tool.Env) error {
	p := &pager{
		w:     pageWriter{call: r, env: env, chars: env.Limits.LineChars, room: env.Limits.Bytes},
		lines: lines, meta: meta, limit: r.Limit, at: min(spans[0].first, 1),
	}
	meta.Offset = spans[0].first
	for _, s := range spans {
		if n, err := lines.Skip(s.first - p.at); err != nil && !errors.Is(err, io.EOF) {
			return err
		} else if n < s.first-p.at {
			return behind(meta.Path, s.first, p.at+n-1)
		}
		if err := p.span(s, len(r.ranges) > 0); err != nil {
			return err
		}
		if p.more {
			break
		}
	}
	meta.LongLines, meta.Invalid = p.w.long, p.w.invalid
	if p.more {
		meta.Truncated, meta.NextOffset = true, p.at
	}
	if b := meta.Block; b != nil && int64(meta.LinesRead) < b.EndLine-b.Line+1 {
		meta.Truncated = true
	}
	res.Output = p.w.b.String() + r.footer(meta, spans, p.at)
	if p.w.invalid > 0 {
		res.Output += fmt.Sprintf("[bytes that are not UTF-8 are shown as \ufffd, on %s]\n", tool.Count(int64(p.w.invalid), "line"))
	}
	meta.Truncated = meta.Truncated || p.w.long > 0
	return nil
}

// A pager prints spans of one reader's lines.
type pager struct {
	w     pageWriter
	lines *text.LineReader
	meta  *readMeta
	limit int
	at    int64 // number of the next line
	more  bool  // there was no room for the next line
}

// span prints one span, whose first line is the next one.
func (p *pager) span(s span, titled bool) error {
	p.at = s.first
	before := p.meta.LinesRead
	if titled {
		p.w.title(s)
	}
	for s.last == 0 || p.at <= s.last {
		line, err := p.lines.Next()
		if errors.Is(err, io.EOF) {
			if p.at == s.first && s.first > 1 {
				return behind(p.meta.Path, s.first, s.first-1)
			}
			if titled && s.last > 0 && p.meta.TotalLines == nil {
				fmt.Fprintf(&p.w.b, "[the file ends with line %d]\n", p.at-1)
			}
			if p.meta.TotalLines == nil && s.first > 0 {
				total := p.at - 1
				p.meta.TotalLines = &total
			}
			break
		}
		if err != nil {
			return err
		}
		if p.meta.LinesRead >= p.limit || !p.w.line(p.at, line) {
			p.more = true
			break
		}
		p.meta.LinesRead++
		p.at++
	}
	if titled {
		p.meta.Ranges = append(p.meta.Ranges, readRange{Offset: s.first, LinesRead: p.meta.LinesRead - before, Truncated: p.more})
	}
	return nil
}

func (r *readCall) footer(meta *readMeta, spans []span, next int64) string {
	of := ""
	if meta.TotalLines != nil {
		of = fmt.Sprintf(" of %d", *meta.TotalLines)
	}
	switch {
	case meta.TotalBytes == 0:
		return "[empty file]\n"
	case meta.Truncated && len(r.ranges) > 0:
		return fmt.Sprintf("[no room for more%s; go on with ranges=[%s]]\n", of, restOf(spans, next))
	case meta.Truncated && meta.Block != nil:
		return fmt.Sprintf("[lines %d-%d%s of the block around line %d, which is lines %d-%d; a larger max_lines or limit shows more]\n",
			meta.Offset, next-1, of, meta.Block.Anchor, meta.Block.Line, meta.Block.EndLine)
	case meta.Truncated:
		return fmt.Sprintf("[lines %d-%d%s; go on with offset=%d]\n", meta.Offset, next-1, of, next)
	case len(r.ranges) > 0:
		return ""
	case meta.Symbol != nil && meta.Symbol.Doubt != nil:
		return fmt.Sprintf("[%s %s: lines %d-%d%s; where it ends is not sure: line %d: %s]\n", meta.Symbol.Kind, meta.Symbol.Name, meta.Offset, next-1, of, meta.Symbol.Doubt.Line, meta.Symbol.Doubt.Message)
	case meta.Symbol != nil:
		return fmt.Sprintf("[%s %s: lines %d-%d%s]\n", meta.Symbol.Kind, meta.Symbol.Name, meta.Offset, next-1, of)
	case meta.Block != nil:
		return fmt.Sprintf("[the block around line %d: lines %d-%d%s]\n", meta.Block.Anchor, meta.Block.Line, meta.Block.EndLine, of)
	case meta.Offset < 0:
		return fmt.Sprintf("[the last %d lines, numbered from the end of the file]\n", meta.LinesRead)
	case meta.Offset > 1:
		return fmt.Sprintf("[lines %d-%d%s: the end of the file]\n", meta.Offset, next-1, of)
	}
	return ""
}

// restOf is what of the spans lies at a line and behind, as the parameter
// spells it.
func restOf(spans []span, next int64) string {
	var rest []string
	for _, s := range spans {
		if s.last == 0 || s.last >= next {
			s.first = max(s.first, next)
			rest = append(rest, fmt.Sprintf("%q", s.String()))
		}
	}
	return strings.Join(rest, ",")
}

// A pageWriter prints numbered lines as long as there is room.
type pageWriter struct {
	call    *readCall
	env     *tool.Env
	chars   int // of a line
	room    int // bytes that are left
	long    int // lines that were cut
	invalid int // lines with bytes that are not UTF-8
	any     bool
	b       strings.Builder
}

// title prints what lines follow.
func (w *pageWriter) title(s span) {
	row := fmt.Sprintf("[lines %s]\n", s)
	if s.first == s.last {
		row = fmt.Sprintf("[line %s]\n", s)
	}
	w.room -= len(row)
	w.b.WriteString(row)
}

// line prints one line, or reports that it does not fit. The first always does.
func (w *pageWriter) line(number int64, l text.Line) bool {
	if !utf8.Valid(l.Text) {
		w.invalid++
	}
	text := w.cut(strings.ToValidUTF8(string(l.Text), "\ufffd"), l)
	row := w.number(number) + text + "\n"
	if w.room -= len(row); w.room < 0 && w.any {
		return false
	}
	w.any = true
	w.b.WriteString(row)
	return true
}

// cut takes of a line what the call wants to see of it.
func (w *pageWriter) cut(text string, l text.Line) string {
	if w.call.Column == 1 && len(text) <= w.chars && int64(len(l.Text)) == l.Length {
		return text
	}
	start := skipRunes(text, w.call.Column-1)
	end := start + skipRunes(text[start:], w.chars)
	shown := text[start:end]
	if end < len(text) || int64(len(l.Text)) < l.Length {
		w.long++
		how := tool.Advise("line has %d bytes; go on with {.offset}=%d {.limit}=1 {.column}=%d", l.Length, l.Number, w.call.Column+utf8.RuneCountInString(shown))
		return shown + "[… " + w.env.Say(how) + "]"
	}
	return shown
}

// skipRunes is the offset of the n-th rune of s, or its length.
func skipRunes(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

func (w *pageWriter) number(n int64) string {
	switch w.call.NumberStyle {
	case "padded":
		return fmt.Sprintf("%05d| ", n)
	case "tab":
		return fmt.Sprintf("%d\t", n)
	case "colon":
		return fmt.Sprintf("%d: ", n)
	case "L":
		return fmt.Sprintf("L%d: ", n)
	case "arrow":
		return fmt.Sprintf("%6d→", n)
	}
	return ""
}

// rendered shows lines of what a file looks like rather than of the file.
func (r *readCall) rendered(lines string, meta *readMeta, res *tool.Result, env *tool.Env) error {
	o := text.LineOptions{MaxLine: len(lines) + 1}
	total := int64(strings.Count(lines, "\n"))
	meta.TotalLines = &total
	spans := r.ranges
	switch {
	case r.Tail > 0:
		spans = []span{{first: max(1, total-int64(r.Tail)+1)}}
	case len(spans) == 0:
		spans = []span{{first: int64(r.Offset)}}
	}
	spans, missing, err := within(spans, total, meta)
	if err != nil {
		return err
	}
	if err = r.page(text.LinesOf([]byte(lines), o), spans, meta, res, env); err == nil {
		res.Output += missing
	}
	return err
}

// within leaves of spans what a text of so many lines has, and says what it does
// not have. It is an error where nothing is left.
func within(spans []span, total int64, meta *readMeta) (some []span, missing string, err error) {
	for i, s := range spans {
		switch {
		case s.first <= total || s.first == 1 && i == 0:
			if s.last > total {
				missing = fmt.Sprintf("[the file has %s; there is none from %d to %d]\n", tool.Count(total, "line"), max(total+1, s.first), s.last)
				s.last = max(total, s.first)
			}
			some = append(some, s)
		case len(some) == 0:
			return nil, "", behind(meta.Path, s.first, total)
		default:
			missing = fmt.Sprintf("[the file has %s; there is none from %d on]\n", tool.Count(total, "line"), s.first)
		}
	}
	return some, missing, nil
}

// showed reports whether a line of a rendered file is among those shown.
func (r *readCall) showed(meta *readMeta, line int64) bool {
	if len(meta.Ranges) == 0 {
		return line >= meta.Offset && line < meta.Offset+int64(meta.LinesRead)
	}
	for _, s := range meta.Ranges {
		if line >= s.Offset && line < s.Offset+int64(s.LinesRead) {
			return true
		}
	}
	return false
}

// A sheet is text that grows line by line.
type sheet struct {
	b     strings.Builder
	lines int64
}

func (s *sheet) add(text string) {
	text = strings.TrimRight(strings.ToValidUTF8(text, "\ufffd"), "\n")
	s.b.WriteString(text + "\n")
	s.lines += int64(strings.Count(text, "\n")) + 1
}
