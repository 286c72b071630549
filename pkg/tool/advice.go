package tool

import (
	"fmt"
	"strings"
)

// Advice is text for a model that names tools and parameters: in braces, as {grep} or
// {bash.tty}, and {.limit} for a parameter of the tool that was called. Models which
// know tools by other names read those names instead. Other braces mean nothing.
type Advice struct {
	format string
	args   []any
}

// Advise returns advice; the arguments are filled in as fmt.Sprintf does, and braces in
// them mean nothing.
func Advise(format string, args ...any) Advice { return Advice{format, args} }

// Names says what a model calls a tool, where param is "", or a parameter of it; tool is
// "" for the tool that was called. The answer is "" where the model has no such thing.
type Names func(tool, param string) string

// String is the advice in our names.
func (a Advice) String() string {
	return a.In(func(tool, param string) string {
		if param != "" {
			return param
		}
		return tool
	})
}

// none stands for what a model has no name for.
const none = "\x00"

// In is the advice in other names. A part of it, between semicolons or before ", or",
// that names something the model does not have is left out.
func (a Advice) In(names Names) string {
	text := a.named(names)
	if len(a.args) > 0 {
		text = fmt.Sprintf(text, a.args...)
	} else {
		text = strings.ReplaceAll(text, "%%", "%")
	}
	if !strings.Contains(text, none) {
		return text
	}
	kept, before := "", ""
	for len(text) > 0 {
		i, sep := len(text), ""
		for _, s := range []string{"; ", ", or "} {
			if at := strings.Index(text, s); at >= 0 && at < i {
				i, sep = at, s
			}
		}
		if part := text[:i]; !strings.Contains(part, none) {
			if kept != "" {
				kept += before
			}
			kept += part
		}
		text, before = text[i+len(sep):], sep
	}
	return kept
}

// named is the format with the names filled in.
func (a Advice) named(names Names) string {
	var b strings.Builder
	rest := a.format
	for {
		i := strings.IndexByte(rest, '{')
		if i < 0 {
			return b.String() + rest
		}
		b.WriteString(rest[:i])
		rest = rest[i:]
		tool, param, size := Named(rest)
		if size == 0 {
			b.WriteByte('{')
			rest = rest[1:]
			continue
		}
		name := names(tool, param)
		if name == "" {
			name = none
		}
		b.WriteString(strings.ReplaceAll(name, "%", "%%"))
		rest = rest[size:]
	}
}

// Named reads the name in braces at the beginning of text; size is 0 where there is
// none.
func Named(text string) (tool, param string, size int) {
	end := strings.IndexByte(text, '}')
	if end < 2 || text[0] != '{' || strings.Trim(text[1:end], "abcdefghijklmnopqrstuvwxyz_.") != "" {
		return "", "", 0
	}
	tool, param, _ = strings.Cut(text[1:end], ".")
	return tool, param, end + 1
}

// A Note is what we say about an output. It is shown in brackets.
type Note struct {
	Advice
	State bool // it says how a command stands, for which other models have words of their own
}

// Notef is a note; the arguments are filled in as [Advise] does.
func Notef(format string, args ...any) Note { return Note{Advice: Advise(format, args...)} }

// String is the note in our names.
func (n Note) String() string { return "[" + n.Advice.String() + "]" }

// In is the note in other names; "" where nothing of it is left.
func (n Note) In(names Names) string {
	if text := n.Advice.In(names); text != "" {
		return "[" + text + "]"
	}
	return ""
}
