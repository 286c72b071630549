package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/textproto"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// languageServer is a server for C that scripts find as clangd. It knows words, in the
// files *.c of the workspace: one stands first where it is defined. A line with BAD is an
// error, one with UGLY a warning; a word that no file defines and that is called, as in
// f(), is an error in whatever file.
func languageServer() {
	if os.Getenv("LANGUAGE_SERVER") == "crash" {
		os.Exit(3)
	}
	s := &wordServer{root: ".", out: os.Stdout}
	in := textproto.NewReader(bufio.NewReader(os.Stdin))
	for {
		header, err := in.ReadMIMEHeader()
		if err != nil {
			return
		}
		size, err := strconv.Atoi(header.Get("Content-Length"))
		if err != nil {
			return
		}
		body := make([]byte, size)
		if _, err := io.ReadFull(in.R, body); err != nil {
			return
		}
		var m wordMessage
		if json.Unmarshal(body, &m) != nil {
			return
		}
		result := s.handle(&m)
		if why, wrong := result.(error); wrong {
			s.send(map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": map[string]any{"code": -32602, "message": why.Error()}})
		} else if len(m.ID) > 0 {
			s.send(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": result})
		}
	}
}

type wordMessage struct {
	ID     json.RawMessage
	Method string
	Params struct {
		RootURI      string
		TextDocument struct {
			URI     string
			Version int
		}
		Position struct{ Line, Character int }
		NewName  string
		Query    string
	}
}

type wordServer struct {
	root string
	out  io.Writer
}

func (s *wordServer) send(v any) {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(s.out, "Content-Length: %d\r\n\r\n%s", len(raw), raw)
}

// A wordPlace is where a word stands.
type wordPlace struct {
	URI   string         `json:"uri"`
	Range map[string]any `json:"range"`
}

func placeOf(file string, line, from, to int) wordPlace {
	at := func(n int) map[string]int { return map[string]int{"line": line, "character": n} }
	return wordPlace{(&url.URL{Scheme: "file", Path: file}).String(), map[string]any{"start": at(from), "end": at(to)}}
}

// A wordLine is a line of a file, from 0.
type wordLine struct {
	file string
	n    int
	text string
}

// lines yields each line of the workspace's files, until yield says to stop.
func (s *wordServer) lines(yield func(wordLine) bool) {
	files, _ := filepath.Glob(filepath.Join(s.root, "*.c"))
	for _, file := range files {
		raw, _ := os.ReadFile(file)
		for n, line := range strings.Split(string(raw), "\n") {
			if !yield(wordLine{file, n, line}) {
				return
			}
		}
	}
}

func (s *wordServer) places(word string) (list []wordPlace) {
	re := regexp.MustCompile(`\b` + regexp.QuoteMeta(word) + `\b`)
	for line := range s.lines {
		for _, m := range re.FindAllStringIndex(line.text, -1) {
			list = append(list, placeOf(line.file, line.n, m[0], m[1]))
		}
	}
	return list
}

// word is what stands at a position.
func (s *wordServer) word(m *wordMessage) string {
	u, _ := url.Parse(m.Params.TextDocument.URI)
	at := m.Params.Position
	for line := range s.lines {
		if line.file != u.Path || line.n != at.Line {
			continue
		}
		for _, w := range regexp.MustCompile(`\w+`).FindAllStringIndex(line.text, -1) {
			if w[0] <= at.Character && at.Character <= w[1] {
				return line.text[w[0]:w[1]]
			}
		}
	}
	return ""
}

func (s *wordServer) handle(m *wordMessage) any {
	switch m.Method {
	case "initialize":
		u, _ := url.Parse(m.Params.RootURI)
		s.root = u.Path
		return map[string]any{"capabilities": map[string]any{"positionEncoding": "utf-8"}}
	case "exit":
		os.Exit(0)
	case "textDocument/didOpen", "textDocument/didChange":
		if log := os.Getenv("LANGUAGE_SERVER"); filepath.IsAbs(log) {
			s.note(log, m.Params.TextDocument.URI)
		}
		if os.Getenv("LANGUAGE_SERVER") == "slow" {
			return nil
		}
		s.publish(m)
	case "textDocument/definition":
		return s.places(s.word(m))[:1]
	case "textDocument/references":
		return s.places(s.word(m))
	case "textDocument/hover":
		return map[string]any{"contents": map[string]string{"kind": "plaintext", "value": "the word " + s.word(m)}}
	case "textDocument/completion":
		return map[string]any{"items": []any{map[string]any{"label": s.word(m) + "Later", "kind": 3, "detail": "a longer word"}}}
	case "textDocument/rename":
		if strings.Contains(m.Params.NewName, " ") {
			return fmt.Errorf("%s is no name", m.Params.NewName)
		}
		changes := map[string][]any{}
		for _, p := range s.places(s.word(m)) {
			changes[p.URI] = append(changes[p.URI], map[string]any{"range": p.Range, "newText": m.Params.NewName})
		}
		return map[string]any{"changes": changes}
	case "workspace/symbol":
		if m.Params.Query == "flood" {
			return json.RawMessage("[" + strings.Repeat("{},", 2_000_000) + "{}]")
		}
		var list []any
		for _, p := range s.places(m.Params.Query) {
			list = append(list, map[string]any{"name": m.Params.Query, "kind": 12, "location": p})
		}
		return list
	}
	return nil
}

// note writes down that a file was opened.
func (s *wordServer) note(log, uri string) {
	f, err := os.OpenFile(log, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(f, uri)
	_ = f.Close()
}

// publish says what is wrong with each file.
func (s *wordServer) publish(m *wordMessage) {
	wrong := map[string][]any{}
	for line := range s.lines {
		uri := placeOf(line.file, 0, 0, 0).URI
		add := func(from, to, severity int, message string) {
			p := placeOf(line.file, line.n, from, to)
			wrong[uri] = append(wrong[uri], map[string]any{"range": p.Range, "severity": severity, "message": message, "source": "words", "code": 7})
		}
		wrong[uri] = append(wrong[uri], []any{}...)
		if at := strings.Index(line.text, "BAD"); at >= 0 {
			add(at, at+3, 1, "a bad word")
		}
		if at := strings.Index(line.text, "UGLY"); at >= 0 {
			add(at, at+4, 2, "an ugly word")
		}
		for _, c := range regexp.MustCompile(`\b(\w+)\(\)`).FindAllStringSubmatchIndex(line.text, -1) {
			if word := line.text[c[2]:c[3]]; !s.defined(word) {
				add(c[2], c[3], 1, word+" is not defined")
			}
		}
	}
	wrong[m.Params.TextDocument.URI] = append(wrong[m.Params.TextDocument.URI], []any{}...)
	for uri, list := range wrong {
		params := map[string]any{"uri": uri, "diagnostics": append([]any{}, list...)}
		if uri == m.Params.TextDocument.URI {
			params["version"] = m.Params.TextDocument.Version
		}
		s.send(map[string]any{"jsonrpc": "2.0", "method": "textDocument/publishDiagnostics", "params": params})
	}
}

// defined reports whether a line begins with "def WORD".
func (s *wordServer) defined(word string) bool {
	for line := range s.lines {
		if strings.HasPrefix(line.text, "def "+word) {
			return true
		}
	}
	return false
}
