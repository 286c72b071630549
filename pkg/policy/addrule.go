package policy

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// AddRule appends a rule to the allow, ask or deny list of a policy file,
// which is made when it does not exist. Everything else in the file stays as
// it is, byte for byte, comments included. The file is private and replaced
// atomically; when it would not load with the rule, with its tests, it stays
// and the error is of type Problems. A rule that stands there already is no
// error. Of s, the facts about the place and the tools count.
// It waits for another process that adds one until ctx ends.
func AddRule(ctx context.Context, s *Sources, file string, list Verdict, rule string) error {
	return locked(ctx, file+".lock", func() error {
		next, err := added(s, file, list, rule)
		if err != nil || next == nil {
			return err
		}
		was, _ := readOrNothing(file) // it has just been read
		if err = safefile.WriteFile(file, next, true); err == nil && s.Wrote != nil {
			trail := safefile.Trail(file)
			s.Wrote(trail[len(trail)-1], was, next)
		}
		return err
	})
}

// CheckRule reports what AddRule would, and changes nothing.
func CheckRule(s *Sources, file string, list Verdict, rule string) error {
	_, err := added(s, file, list, rule)
	return err
}

// added is the content of the file with the rule; nil where it has it already.
func added(s *Sources, file string, list Verdict, rule string) ([]byte, error) {
	w := newWorld(s)
	if _, err := w.compile(ruleSpec{list: list, text: rule, file: file}); err != nil {
		return nil, Problems{ruleProblem(ruleSpec{text: rule, file: file}, err)}
	}
	data, err := readOrNothing(file)
	if err != nil {
		return nil, err
	}
	next, err := withRule(file, data, list, rule)
	if err != nil || next == nil {
		return nil, err
	}
	return next, w.checkAdded(s, file, next, list, rule)
}

// checkAdded reads the new content as Load would.
func (w *world) checkAdded(s *Sources, file string, data []byte, list Verdict, rule string) error {
	n, err := parse(file, data)
	if err != nil {
		return fmt.Errorf("adding %s: the file would not load: %w", rule, err)
	}
	spec := &fileSpec{name: file, layer: User, trusted: true}
	problems := w.readFile(spec, n)
	if len(problems) == 0 {
		problems = runTests(s, []*fileSpec{spec})
	}
	if len(problems) > 0 {
		return problems
	}
	for _, r := range spec.rules {
		if r.list == list && r.text == rule {
			return nil
		}
	}
	return fmt.Errorf("adding %s: the file has no place for it; add it by hand", rule)
}

// withRule returns the content with the rule; nil when it has it already.
func withRule(file string, data []byte, list Verdict, rule string) ([]byte, error) {
	if rest, ok := bytes.CutPrefix(data, []byte("\ufeff")); ok {
		next, err := withRule(file, rest, list, rule)
		if next != nil {
			next = append([]byte("\ufeff"), next...)
		}
		return next, err
	}
	format := formatOf(file, data)
	if len(bytes.TrimSpace(data)) == 0 {
		return newFile(format, list, rule), nil
	}
	n, err := parse(file, data)
	if err != nil {
		return nil, err
	}
	have := n.get(list.String())
	if have != nil && have.kind == listNode {
		for _, item := range have.items {
			if item.text == rule || item.kind == mapNode && item.get("rule") != nil && item.get("rule").text == rule && len(item.keys) == 1 {
				return nil, nil
			}
		}
	}
	switch {
	case have != nil && have.kind == listNode && have.at >= 0:
		return insertBracketed(data, have.at, rule), nil
	case format == formatJSON:
		return insertJSONKey(data, n, list, rule), nil
	case format == formatTOML:
		return insertTOML(data, have, list, rule), nil
	}
	return insertYAML(data, n, list, rule), nil
}

func newFile(f format, list Verdict, rule string) []byte {
	switch f {
	case formatJSON:
		return []byte("{\n  \"version\": 1,\n  \"" + list.String() + "\": [\n    " + jsonText(rule) + "\n  ]\n}\n")
	case formatTOML:
		return []byte("version = 1\n" + list.String() + " = [\n  " + jsonText(rule) + ",\n]\n")
	}
	return []byte("version: 1\n" + list.String() + ":\n  - " + yamlText(rule) + "\n")
}

// jsonText quotes for JSON, YAML and TOML, whose strings agree here. What YAML or
// TOML wants escaped and JSON does not is escaped: DEL, the further control
// characters, the byte-order mark.
func jsonText(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes
	quoted := strings.TrimSpace(b.String())
	if !strings.ContainsFunc(quoted, mustEscape) {
		return quoted
	}
	var out strings.Builder
	for _, r := range quoted {
		if mustEscape(r) {
			fmt.Fprintf(&out, "\\u%04x", r)
		} else {
			out.WriteRune(r)
		}
	}
	return out.String()
}

func mustEscape(r rune) bool {
	return r >= 0x7f && r < 0xa0 || r == 0xfeff || r == 0xfffe || r == 0xffff
}

// yamlText writes a scalar plain where nothing in it means anything else.
func yamlText(s string) string {
	if strings.ContainsAny(s, "#'\"\\{}[],&!|>%@`") || strings.Contains(s, ": ") || strings.HasSuffix(s, ":") || strings.HasPrefix(s, "*") || strings.ContainsFunc(s, hidden) {
		return jsonText(s)
	}
	return s
}

// insertBracketed adds to the list whose opening bracket stands at open.
func insertBracketed(data []byte, open int, rule string) []byte {
	end, last := closing(data, open)
	if end < 0 {
		return data
	}
	text := jsonText(rule)
	line := bytes.LastIndexByte(data[:end], '\n')
	multi := line > open
	insert := ", " + text
	at := last + 1
	switch {
	case last == open && multi:
		insert, at = "\n  "+text, open+1
	case last == open:
		insert = text
	case multi:
		start := bytes.LastIndexByte(data[:last], '\n') + 1
		indent := data[start : start+len(data[start:])-len(bytes.TrimLeft(data[start:], " \t"))]
		comma := ","
		if data[last] == ',' {
			comma = ""
		}
		insert = comma + "\n" + string(indent) + text
		if comma == "" {
			insert += ","
		}
	case data[last] == ',':
		insert = " " + text
	}
	return splice(data, at, insert)
}

func splice(data []byte, at int, insert string) []byte {
	out := append([]byte{}, data[:at]...)
	out = append(out, insert...)
	return append(out, data[at:]...)
}

// closing finds the bracket that closes the one at open, and the last byte
// before it that is neither blank nor comment.
func closing(data []byte, open int) (end, last int) {
	last = open
	depth := 0
	for i := open; i < len(data); i++ {
		switch c := data[i]; c {
		case ' ', '\t', '\r', '\n':
			continue
		case '#':
			if i > 0 && strings.IndexByte(" \t\n,[", data[i-1]) >= 0 {
				i += max(0, bytes.IndexByte(append(data[i:len(data):len(data)], '\n'), '\n'))
				continue
			}
		case '"', '\'':
			i = quoteEnd(data, i)
		case '[', '{':
			depth++
		case ']', '}':
			if depth--; depth == 0 {
				return i, last
			}
		}
		last = min(i, len(data)-1)
	}
	return -1, last
}

func quoteEnd(data []byte, i int) int {
	quote := data[i]
	for i++; i < len(data) && data[i] != quote; i++ {
		if data[i] == '\\' && quote == '"' {
			i++
		}
	}
	return i
}

// insertJSONKey adds a list to the object.
func insertJSONKey(data []byte, n *node, list Verdict, rule string) []byte {
	text := "\n  \"" + list.String() + "\": [\n    " + jsonText(rule) + "\n  ]"
	if len(n.keys) > 0 {
		return splice(data, n.at+1, text+",")
	}
	return splice(data, n.at+1, text+"\n")
}

// insertTOML adds a [[list]] entry where the list is made of such, else a
// list before the first table.
func insertTOML(data []byte, have *node, list Verdict, rule string) []byte {
	if have != nil {
		return append(endLine(data), "\n[["+list.String()+"]]\nrule = "+jsonText(rule)+"\n"...)
	}
	at := 0
	for line := range bytes.Lines(data) {
		if bytes.HasPrefix(bytes.TrimSpace(line), []byte("[")) {
			break
		}
		at += len(line)
	}
	text := list.String() + " = [\n  " + jsonText(rule) + ",\n]\n"
	if at == len(data) {
		return append(endLine(data), text...)
	}
	return splice(data, at, text)
}

func endLine(data []byte) []byte {
	out := append([]byte{}, data...)
	if len(out) > 0 && out[len(out)-1] != '\n' {
		out = append(out, '\n')
	}
	return out
}

// insertYAML adds to a block list, or a new list at the end.
func insertYAML(data []byte, n *node, list Verdict, rule string) []byte {
	have := n.get(list.String())
	if have == nil {
		return append(endLine(data), list.String()+":\n  - "+yamlText(rule)+"\n"...)
	}
	starts := lineStarts(data)
	key := n.keys[indexOf(n.items, have)]
	if have.kind == nullNode { // "allow:" with nothing below
		end := lineEnd(data, starts[key.line-1])
		return splice(data, end, "\n  - "+yamlText(rule))
	}
	first := lineBytes(data, starts[have.items[0].line-1])
	indent := len(first) - len(bytes.TrimLeft(first, " "))
	at := starts[have.items[len(have.items)-1].line-1]
	for _, start := range starts { // past the further lines of the last entry
		line := lineBytes(data, start)
		trimmed := bytes.TrimLeft(line, " ")
		if start <= at {
			continue
		}
		if len(trimmed) == 0 || trimmed[0] == '#' {
			continue
		}
		if len(line)-len(trimmed) <= indent {
			break
		}
		at = start
	}
	return splice(data, lineEnd(data, at), "\n"+strings.Repeat(" ", indent)+"- "+yamlText(rule))
}

func indexOf(items []*node, n *node) int {
	for i := range items {
		if items[i] == n {
			return i
		}
	}
	return 0
}

func lineBytes(data []byte, start int) []byte { return data[start:lineEnd(data, start)] }

// lineEnd returns where the text of a line ends, before its newline.
func lineEnd(data []byte, start int) int {
	end := len(data)
	if i := bytes.IndexByte(data[start:], '\n'); i >= 0 {
		end = start + i
	}
	if end > start && data[end-1] == '\r' {
		end--
	}
	return end
}

// UserFile returns the policy file of a directory, or the name that it should
// have when there is none.
func UserFile(dir string) (string, error) {
	name, problem := findFile(dir)
	if problem != nil {
		return "", problem
	}
	return orElse(name, filepath.Join(dir, FileNames()[0])), nil
}
