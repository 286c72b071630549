package cmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/agentkit-go/agentkit/pkg/tool"
)

// A printer writes what a call has to say, in the form that was asked for.
//
// The rules of text: the tool's own output goes to standard output as it is.
// On a terminal control and invisible characters in it are shown as escapes,
// for a file must not be able to draw on the screen, in JSON too, and there is colour unless
// TERM is dumb or NO_COLOR is set. Errors go to standard error as lines that begin with
// "agentkit: error:" and "agentkit: hint:", lower case, without a full stop.
type printer struct {
	format         string // json, text or events
	stdout, stderr io.Writer
	terminal       bool   // standard output is one
	colour         bool   // of standard output
	loud           bool   // colour of standard error
	shown          bool   // the output went to the terminal while the call ran
	begun          string // what else of it was printed then
}

// result prints r; an error is one of writing.
func (p *printer) result(r *tool.Result) error {
	switch p.format {
	case "text":
		return p.text(r)
	case "events":
		return p.event("result", r)
	}
	return p.line(r)
}

// line writes v as one line of JSON, in one write.
func (p *printer) line(v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		b.Reset()
		if err := enc.Encode(tool.Fail("agentkit", tool.Errorf(tool.Internal, "encoding the result: %w", err))); err != nil {
			return err
		}
	}
	line := b.Bytes()
	if p.terminal {
		line = onScreen(line)
	}
	_, err := p.stdout.Write(line)
	return err
}

// onScreen is a line of JSON in which JSON's escapes stand for what JSON need not escape, but a
// terminal obeys or does not show.
func onScreen(line []byte) []byte {
	var b []byte
	for _, r := range string(line) {
		switch {
		case r <= '~' || tool.Visible(string(r)) == string(r):
			b = utf8.AppendRune(b, r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			b = fmt.Appendf(b, `\u%04x\u%04x`, high, low)
		default:
			b = fmt.Appendf(b, `\u%04x`, r)
		}
	}
	return b
}

// event writes v's members on a line of their own, after the event's name.
func (p *printer) event(name string, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	raw := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	if err != nil || len(raw) < 2 || raw[0] != '{' {
		return p.line(map[string]any{"event": name, "value": v})
	}
	head := fmt.Sprintf("{%q:%q", "event", name)
	if len(raw) > 2 {
		head += ","
	}
	return p.line(json.RawMessage(head + string(raw[1:])))
}

func (p *printer) text(r *tool.Result) error {
	out := r.Text()
	if p.shown {
		out = strings.TrimPrefix(out, r.Output)
	}
	if r.Pretty != nil && p.colour {
		out = r.Pretty(tool.Mark)
	}
	if p.terminal {
		out = coloured(tool.Visible(out))
	}
	if out != "" && !strings.HasSuffix(out, "\n") {
		out += "\n"
	}
	_, err := io.WriteString(p.stdout, strings.TrimPrefix(out, p.begun))
	if e := r.Error; e != nil {
		p.complain("error", "31;1", e.Message)
		if e.Hint != "" {
			p.complain("hint", "36", e.Hint)
		}
		if text := e.Shown(); text != "" && r.Output == "" && len(e.Suggestions) > 0 && (e.Code == tool.NoMatch || e.Code == tool.Ambiguous || e.Code == tool.Conflict) {
			_, _ = fmt.Fprintln(p.stderr, tool.Visible(text)) // the nearest places, of which the suggestions name the lines
			return err
		}
		for _, s := range e.Suggestions {
			p.complain("try", "36", s)
		}
	}
	return err
}

// live shows what a command prints, as it comes.
func (p *printer) live(text string) error {
	_, err := io.WriteString(p.stdout, tool.Visible(text))
	return err
}

func (p *printer) complain(kind, style, text string) {
	label := "agentkit: " + kind + ":"
	if p.loud {
		label = "agentkit: \x1b[" + style + "m" + kind + ":\x1b[0m"
	}
	_, _ = fmt.Fprintf(p.stderr, "%s %s\n", label, tool.Visible(text))
}

// coloured replaces the marks by what a terminal understands.
func coloured(text string) string {
	pairs := []string{string(tool.LastMark), "\x1b[0m"}
	for s, code := range map[tool.Style]string{
		tool.Match: "1;31", tool.Name: "35", tool.Number: "32", tool.Added: "32", tool.Removed: "31", tool.Faint: "2",
	} {
		pairs = append(pairs, string(tool.FirstMark+rune(s)), "\x1b["+code+"m")
	}
	return strings.NewReplacer(pairs...).Replace(text)
}
