// Package lsp asks language servers.
//
// A server stays with a session: a keeper, this very program started again (see Work),
// starts it, speaks its protocol, keeps its documents as they are on the disk and what it
// has said of them, and ends when nobody has asked for a while. Keeper and server run in
// one sandbox, so what a hostile server sends is read inside it. Calls and keeper talk in
// lines of JSON, a Request and its Answer.
package lsp

import (
	"encoding/json"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"unicode/utf8"
)

// WorkArg is the first argument of a keeper.
const WorkArg = "agentkit-lsp"

// A Request is what a keeper is asked, one a line.
type Request struct {
	ID       string          `json:"id"`
	Program  string          `json:"program"`            // the server's, which the first request starts
	Open     []string        `json:"open,omitempty"`     // files that the request is about, absolute
	Method   string          `json:"method,omitempty"`   // of the protocol; "" for none
	Params   json.RawMessage `json:"params,omitempty"`   // of the method
	Diagnose bool            `json:"diagnose,omitempty"` // wait for what the server says of Open
	WaitMS   int64           `json:"wait_ms"`            // how long at most
}

// An Answer is a keeper's to one request. A line that says Done with its ID follows it.
type Answer struct {
	ID       string          `json:"id"`
	Result   json.RawMessage `json:"result,omitempty"`   // of the method
	Error    string          `json:"error,omitempty"`    // why there is none
	Late     bool            `json:"late,omitempty"`     // the server had not answered in time
	Encoding string          `json:"encoding,omitempty"` // of columns: utf-8 or utf-16
	Files    []File          `json:"files,omitempty"`    // with Diagnose: what is known of any file
	Missing  []string        `json:"missing,omitempty"`  // those of Open that the server has said nothing of
	Known    bool            `json:"known,omitempty"`    // Fresh is known: the server was there before the change
}

// Done stands behind each Answer.
type Done struct {
	Done string `json:"done"`
}

// A File is what a server says of one file.
type File struct {
	Path  string       `json:"path"`
	List  []Diagnostic `json:"list"`
	Fresh int          `json:"fresh,omitempty"` // how many of List, its first, it did not say before the request
}

// A Diagnostic is one remark of a server.
type Diagnostic struct {
	Range    Range           `json:"range"`
	Severity int             `json:"severity,omitempty"` // from 1, an error, to 4, a hint
	Code     json.RawMessage `json:"code,omitempty"`
	Source   string          `json:"source,omitempty"`
	Message  string          `json:"message"`
}

// A Position counts lines and columns from 0.
type Position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// A Range is a part of a file.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// URI is the address of a file.
func URI(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a drive of Windows
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// Path is the file of an address; "" where it is none of a file.
func Path(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Path == "" {
		return ""
	}
	path := u.Path
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, "/")
		if len(path) > 1 && path[1] == ':' {
			path = strings.ToUpper(path[:1]) + path[1:]
		}
	}
	return filepath.Clean(filepath.FromSlash(path))
}

// Column is the byte of line at which the column of a server's position lies.
func Column(line string, character int, encoding string) int {
	if encoding == "utf-8" {
		return min(max(character, 0), len(line))
	}
	for i, r := range line {
		if character <= 0 {
			return i
		}
		if character--; r > 0xffff {
			character--
		}
	}
	return len(line)
}

// Character is the reverse of Column.
func Character(line string, column int, encoding string) int {
	column = min(max(column, 0), len(line))
	if encoding == "utf-8" {
		return column
	}
	n := 0
	for _, r := range line[:column] {
		if n++; r > 0xffff {
			n++
		}
	}
	return n
}

// maxText bounds a text of a server's that is passed on.
const maxText = 4 << 10

// clip is the beginning of a text, in whole characters.
func clip(text string, most int) string {
	if len(text) <= most {
		return strings.ToValidUTF8(text, "\ufffd")
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return strings.ToValidUTF8(text[:most], "\ufffd") + " …"
}
