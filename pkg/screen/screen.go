// Package screen tells what a terminal shows after a program has printed to it.
//
// The emulator is a library. What a program prints may be anything, so that it is
// fenced here: numbers that no screen has are cut, its work has an end, and where it
// fails that is an error of the call. One thing it does not do: a wide character that
// does not fit into the last column is lost, and does not begin the next line.
package screen

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
)

// A Size is the size of a terminal from a place in its output on.
type Size struct {
	From int64  `json:"from"`
	Rows uint16 `json:"rows"`
	Cols uint16 `json:"cols"`
}

// A Screen is what a terminal shows.
type Screen struct {
	Lines     []string // as many as the terminal has, without the blanks at their ends
	Rows      int
	Cols      int
	Row       int // where the cursor stands, counted from 1
	Col       int
	Alternate bool // a program has taken the whole screen, and gives back what was there before
}

// Replay shows the output, which begins at from, on a terminal of these sizes, of which
// there is at least one. It ends with ctx.
func Replay(ctx context.Context, output []byte, from int64, sizes []Size) (s *Screen, err error) {
	defer func() {
		if failed := recover(); failed != nil {
			s, err = nil, fmt.Errorf("showing the screen: the terminal emulator failed: %v", failed)
		}
	}()
	if len(sizes) == 0 {
		return nil, errors.New("showing the screen: its size is not known")
	}
	for len(sizes) > 1 && sizes[1].From <= from {
		sizes = sizes[1:]
	}
	e := newEmulator(sizes[0])
	// Its own Close would be seen by who reads its answers at any time.
	if answers, ok := e.InputPipe().(io.Closer); ok {
		defer answers.Close()
	}
	if len(sizes) == 1 {
		output = lastLines(output, int(sizes[0].Rows))
	}
	for _, next := range sizes[1:] {
		n := min(max(next.From-from, 0), int64(len(output)))
		if err := write(ctx, e, output[:n]); err != nil {
			return nil, err
		}
		output, from = output[n:], from+n
		e.Resize(int(next.Cols), int(next.Rows))
	}
	if err := write(ctx, e, output); err != nil {
		return nil, err
	}
	return picture(e), nil
}

// lastLines are the lines that a terminal still shows of an output that does nothing but
// print lines, in colour perhaps; of any other it is all.
func lastLines(output []byte, rows int) []byte {
	for rest := output; ; {
		i := bytes.IndexByte(rest, '\x1b')
		if i < 0 {
			break
		}
		rest = rest[i+1:]
		n := 1
		for n < len(rest) && strings.IndexByte("0123456789;:", rest[n]) >= 0 {
			n++
		}
		if n >= len(rest) || rest[0] != '[' || rest[n] != 'm' {
			return output
		}
	}
	at := len(output)
	for range max(rows, 1) + 1 {
		if at = bytes.LastIndex(output[:at], []byte("\r\n")); at < 0 {
			return output
		}
	}
	return output[at+2:]
}

// newEmulator is a terminal that answers nobody.
func newEmulator(size Size) *vt.Emulator {
	e := vt.NewEmulator(max(int(size.Cols), 1), max(int(size.Rows), 1))
	e.SetScrollbackSize(1) // what has left the screen is in the log
	go func() { _, _ = io.Copy(io.Discard, e) }()
	for _, command := range "@ABCDEFGHILMPSTXZ`abdefrs" {
		e.RegisterCsiHandler(int(command), func(params ansi.Params) bool {
			limit(params, command, e.Height(), e.Width())
			return false // the emulator's own handler does the rest
		})
	}
	return e
}

// limit cuts the numbers of a sequence down to what the screen has: the emulator does
// not look beyond it, and repeats or moves as often as it is told.
func limit(params ansi.Params, command rune, rows, cols int) {
	most := max(rows, cols)
	switch command {
	case 'r':
		most = rows
	case 's':
		most = cols
	case 'b':
		most = rows * cols
	}
	for i, p := range params {
		if n := p.Param(0); n > most {
			params[i] = p - ansi.Param(n-most) // the rest of its bits stay
		}
	}
}

// step is how much is shown between two looks at the time. One repeated character
// costs as much as a screen full of them.
const step = 256

func write(ctx context.Context, e *vt.Emulator, output []byte) error {
	for len(output) > 0 {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		n := min(step, len(output))
		if n < len(output) {
			// A character with its marks is not parted.
			if i := bytes.LastIndexAny(output[:n], "\n\x1b"); i > 0 {
				n = i
			}
		}
		_, _ = e.Write(output[:n]) // it fails only when it is closed
		output = output[n:]
	}
	return nil
}

func picture(e *vt.Emulator) *Screen {
	at := e.CursorPosition()
	s := &Screen{Rows: e.Height(), Cols: e.Width(), Row: at.Y + 1, Col: at.X + 1, Alternate: e.IsAltScreen()}
	var line strings.Builder
	for y := range s.Rows {
		line.Reset()
		for x := 0; x < s.Cols; {
			cell := e.CellAt(x, y)
			switch {
			case cell == nil || cell.Content == "":
				line.WriteByte(' ')
				x++
			default:
				line.WriteString(cell.Content)
				x += max(cell.Width, 1)
			}
		}
		s.Lines = append(s.Lines, strings.TrimRight(line.String(), " "))
	}
	return s
}

// Text is the lines, without the empty ones at the end.
func (s *Screen) Text() string {
	lines := s.Lines
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return strings.Join(lines, "\n")
}

// Alternate reports whether output ends on the alternate screen, which programs such
// as editors and pagers switch to.
func Alternate(output []byte) bool {
	last, on := -1, false
	for _, mode := range []string{"1049", "1047", "47"} {
		for _, end := range []byte{'h', 'l'} {
			if i := bytes.LastIndex(output, []byte("\x1b[?"+mode+string(end))); i > last {
				last, on = i, end == 'h'
			}
		}
	}
	return on
}
