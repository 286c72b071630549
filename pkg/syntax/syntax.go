// Package syntax reads source files far enough to say what they hold and
// whether a change has broken them.
//
// [Outline] lists the named parts of a file, [Find] looks one up, [Block]
// gives the code around a line by its indentation, and [New] reports mistakes
// that were not there before. Go, JSON, YAML, TOML and Markdown are read by
// parsers in Go, alike in every build; the other languages by tree-sitter
// grammars, which only builds with cgo have: see [Languages]. What it does not
// know it says nothing about. Only mistakes that were not there before count,
// so a file that was broken already, or is no plain text of its language,
// stays quiet.
package syntax

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/scanner"
	"go/token"
	"io"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"
)

// maxSize is the size in bytes beyond which a file is not looked at: 4 MiB.
const maxSize = 4 << 20

// A Problem is a mistake in a file. Line and Column count from 1, columns in
// bytes; Column is 0 where the parser names none.
type Problem struct {
	Line    int    `json:"line" doc:"from 1"`
	Column  int    `json:"column,omitempty"`
	Message string `json:"message" doc:"what is wrong"`
	Text    string `json:"text,omitempty" doc:"the line"`
}

// New is [NewContext] without a context.
func New(name string, before, after []byte) []Problem {
	return NewContext(context.Background(), name, before, after)
}

// NewContext returns the mistakes in after that before did not have. A nil
// before is a file that did not exist. Where a grammar could not read all of
// before, which may be correct all the same, only more mistakes than before
// count.
func NewContext(ctx context.Context, name string, before, after []byte) []Problem {
	found, _ := CheckContext(ctx, name, after)
	if len(found) == 0 || before == nil {
		return found
	}
	old, _ := CheckContext(ctx, name, before)
	lang := languageOf(name, after)
	if len(old) > 0 && lang.check == nil && len(found) <= len(old) {
		return nil
	}
	known := map[string]int{}
	for _, p := range old {
		known[p.Message]++
	}
	var fresh []Problem
	for _, p := range found {
		if known[p.Message] > 0 {
			known[p.Message]--
			continue
		}
		fresh = append(fresh, p)
	}
	return fresh
}

// Check is [CheckContext] without a context.
func Check(name string, data []byte) []Problem {
	found, _ := CheckContext(context.Background(), name, data)
	return found
}

// CheckContext returns the mistakes in a file, judged by the ending of its
// name and, without one, by its #! line. Where it can say nothing of the file, such
// as one in a language that this build does not check, of more than 4 MiB, or that takes more
// than two seconds, why says so.
func CheckContext(ctx context.Context, name string, data []byte) (found []Problem, why string) {
	if why := Unread(name, data, int64(len(data))); why != "" {
		return nil, why
	}
	lang := languageOf(name, data)
	switch {
	case strings.HasSuffix(strings.ToLower(name), ".d.ts"):
		return nil, "declarations (.d.ts) are not read for syntax errors" // the grammar reads 1 of 20 wrongly
	case lang.check != nil:
		found = lang.check(data)
	default:
		found, why = checkTree(ctx, lang, data)
	}
	if len(found) == 0 {
		return nil, why
	}
	lines := bytes.Split(data, []byte("\n"))
	for i := range found {
		if n := found[i].Line; n >= 1 && n <= len(lines) {
			found[i].Text = clip(strings.TrimRight(string(lines[n-1]), "\r"))
		}
	}
	return found, ""
}

// Unread says why a file of so many bytes, which begins with head, is not read for mistakes at all;
// "" where it is.
func Unread(name string, head []byte, size int64) string {
	lang := languageOf(name, head)
	switch {
	case lang == nil || !lang.checked():
		return "nothing here reads its language"
	case size > maxSize:
		return fmt.Sprintf("it has %d bytes, and at most %d are read for syntax errors", size, maxSize)
	}
	return ""
}

func checkGo(data []byte) []Problem {
	_, err := parser.ParseFile(token.NewFileSet(), "", data, parser.SkipObjectResolution)
	list, ok := errors.AsType[scanner.ErrorList](err)
	if !ok {
		return nil
	}
	var found []Problem
	for _, e := range list {
		found = append(found, Problem{Line: e.Pos.Line, Column: e.Pos.Column, Message: e.Msg})
	}
	return found
}

// commented reports whether there are comments outside strings: then it is
// another dialect of JSON.
func commented(data []byte) bool {
	quoted := false
	for i := 0; i < len(data); i++ {
		switch {
		case quoted && data[i] == '\\':
			i++
		case data[i] == '"':
			quoted = !quoted
		case data[i] == '\n':
			quoted = false // a string never goes on; a broken one must not hide the rest
		case !quoted && data[i] == '/' && i+1 < len(data) && (data[i+1] == '/' || data[i+1] == '*'):
			return true
		}
	}
	return false
}

// checkJSON leaves files with comments alone: many tools allow them.
func checkJSON(data []byte) []Problem {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if len(bytes.TrimSpace(data)) == 0 || commented(data) {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	for {
		var v json.RawMessage
		err := dec.Decode(&v)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			continue // one document a line is common, too
		}
		offset := len(data)
		if e, ok := errors.AsType[*json.SyntaxError](err); ok {
			offset = int(e.Offset)
		}
		before := data[:min(max(offset-1, 0), len(data))]
		return []Problem{{
			Line:    1 + bytes.Count(before, []byte("\n")),
			Column:  len(before) - bytes.LastIndexByte(before, '\n'),
			Message: err.Error(),
		}}
	}
}

func checkYAML(data []byte) []Problem {
	if bytes.Contains(data, []byte("{{")) || bytes.Contains(data, []byte("{%")) {
		return nil // a template, which need not be YAML yet
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var node yaml.Node
		err := dec.Decode(&node)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return []Problem{yamlProblem(err)}
		}
	}
}

// yamlProblem reads the line from a message such as
// "yaml: line 3: mapping values are not allowed in this context".
func yamlProblem(err error) Problem {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	p := Problem{Line: 1, Message: text}
	rest, ok := strings.CutPrefix(text, "line ")
	if !ok {
		return p
	}
	digits, message, ok := strings.Cut(rest, ": ")
	n := 0
	for _, d := range digits {
		if d < '0' || d > '9' {
			return p
		}
		n = n*10 + int(d-'0')
	}
	if ok && n > 0 {
		p.Line, p.Message = n, message
	}
	return p
}

func checkTOML(data []byte) []Problem {
	var v any
	err := toml.Unmarshal(data, &v)
	if e, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, column := e.Position()
		return []Problem{{Line: line, Column: column, Message: strings.TrimPrefix(e.Error(), "toml: ")}}
	}
	return nil
}

func clip(line string) string { return clipTo(line, 200) }

func clipTo(line string, limit int) string {
	if len(line) <= limit {
		return line
	}
	cut := limit
	for cut > 0 && line[cut]&0xC0 == 0x80 {
		cut--
	}
	return line[:cut] + "…"
}
