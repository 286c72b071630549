package rg

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// An adapter turns ripgrep's JSON lines into the results of this package.
type adapter struct {
	q      *Query
	c      *collector
	filter *pathFilter
	status *runStatus
	roots  []rootPath
	dirs   map[string]bool // what reaches has found

	skip   bool // the present file is not wanted
	key    fileKey
	want   request
	found  found
	lastAt int // the last line on which a match began
	ended  bool
}

// A jsonText is text, or bytes where it is not UTF-8.
type jsonText struct {
	Text  *string `json:"text"`
	Bytes []byte  `json:"bytes"`
}

func (t jsonText) bytes() []byte {
	if t.Text != nil {
		return []byte(*t.Text)
	}
	return t.Bytes
}

type message struct {
	Type string `json:"type"`
	Data struct {
		Path       jsonText `json:"path"`
		Lines      jsonText `json:"lines"`
		LineNumber int      `json:"line_number"`
		Offset     int64    `json:"absolute_offset"`
		Binary     *int64   `json:"binary_offset"`
		Submatches []struct {
			Start int `json:"start"`
			End   int `json:"end"`
		} `json:"submatches"`
		Stats struct {
			Searches int `json:"searches"`
		} `json:"stats"`
	} `json:"data"`
}

func (a *adapter) readAll(r io.Reader) error {
	in := bufio.NewReaderSize(r, 256<<10)
	for {
		line, err := in.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			var m message
			if err := json.Unmarshal(line, &m); err != nil {
				return err
			}
			if !a.take(&m) {
				return a.c.visited
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (a *adapter) take(m *message) bool {
	switch m.Type {
	case "begin":
		a.begin(strings.TrimPrefix(filepath.ToSlash(string(m.Data.Path.bytes())), "./"))
	case "match", "context":
		if !a.skip {
			a.lines(m)
		}
	case "end":
		if a.skip {
			break
		}
		if m.Data.Binary != nil {
			a.status.skips.add(a.key.path, ReasonBinary)
			break
		}
		return a.c.add(a.key, &a.found)
	case "summary":
		a.status.searched = m.Data.Stats.Searches
		a.ended = true
	}
	return true
}

func (a *adapter) begin(path string) {
	a.key, a.found, a.lastAt = fileKey{path: path}, found{}, 0
	abs := absolutePath(a.q.Root, path)
	a.skip = a.q.Allow != nil && !a.q.Allow(abs) ||
		!a.named(path) && !(a.reaches(filepath.Dir(abs)) && a.admitted(path)) || !a.c.claim(path)
	if a.skip {
		return
	}
	if a.q.Sort != Unordered {
		if info, err := os.Stat(abs); err == nil {
			st := newInfoStat(info)
			a.key = newKey(path, a.q.Sort, &st)
		}
	}
	a.want = a.c.request(a.key)
}

// reaches says whether a walk may enter a directory, and those above it up to
// the one that the query names.
func (a *adapter) reaches(dir string) bool {
	if a.q.AllowDir == nil || slices.ContainsFunc(a.roots, func(r rootPath) bool { return r.abs == dir }) {
		return true
	}
	known, ok := a.dirs[dir]
	if !ok {
		up := filepath.Dir(dir)
		known = up == dir || a.q.AllowDir(dir) && a.reaches(up)
		if a.dirs == nil {
			a.dirs = map[string]bool{}
		}
		a.dirs[dir] = known
	}
	return known
}

func (a *adapter) named(path string) bool {
	for _, r := range a.roots {
		if !r.isDir && r.show == path {
			return true
		}
	}
	return false
}

func (a *adapter) admitted(path string) bool {
	cut := strings.LastIndexByte(path, '/') + 1
	var buf pathBuf
	if len(a.filter.spelled) > 0 && !a.q.Hidden && a.hides(path) {
		return false
	}
	return a.filter.narrows(path[:cut], []byte(path[cut:]), false, &buf)
}

// hides says whether a name of the path below its root is hidden and no glob
// asks for it.
func (a *adapter) hides(path string) bool {
	for _, r := range a.roots {
		if rest, ok := strings.CutPrefix(path, r.show); ok {
			path = rest
			break
		}
	}
	for part := range strings.SplitSeq(path, "/") {
		if strings.HasPrefix(part, ".") && !a.filter.spells([]byte(part)) {
			return true
		}
	}
	return false
}

// lines takes one message: one line, or those of a multiline match.
func (a *adapter) lines(m *message) {
	text := m.Data.Lines.bytes()
	number := m.Data.LineNumber
	isMatch := m.Type == "match"
	for at := 0; at < len(text); number++ {
		end := lineEnd(text, at)
		var spans []Span
		begins := false
		for _, s := range m.Data.Submatches {
			if isMatch && s.Start <= end && (s.End > at || s.Start >= at) {
				spans = append(spans, Span{max(s.Start, at) - at, min(s.End, end) - at})
				begins = begins || s.Start >= at
			}
		}
		if isMatch && len(m.Data.Submatches) == 0 { // with Query.Invert
			spans = []Span{{}}
		}
		a.line(text[at:end], number, m.Data.Offset+int64(at), isMatch, begins || isMatch && at == 0, spans)
		at = end + 1
	}
}

func (a *adapter) line(raw []byte, number int, offset int64, isMatch, begins bool, spans []Span) {
	f := &a.found
	if isMatch && begins {
		f.matches++
		f.sum ^= hashEntry("", uint64(offset))
		switch {
		case number <= a.want.after:
			f.before++
			return
		case f.stored >= a.want.lines:
			return
		}
		f.stored++
		a.lastAt = number
	}
	if a.want.lines == 0 || number <= a.want.after || !isMatch && f.stored >= a.want.lines && number > a.lastAt+a.q.After {
		return
	}
	if isMatch && len(spans) == 0 {
		spans = []Span{{}}
	}
	if isMatch && !begins && f.stored >= a.want.lines && a.lastAt == 0 {
		return
	}
	l := newLine(raw, number, offset, spans[:min(len(spans), MaxSpans)], a.q.MaxLineShown, nil)
	l.Continues = isMatch && !begins
	f.lines = append(f.lines, l)
}

// errors reads what ripgrep complained about. Files that it could not read are
// skipped; a message without results is about the query.
func (a *adapter) errors(waitErr error, stderr []byte) error {
	exit, _ := errors.AsType[*exec.ExitError](waitErr)
	if waitErr != nil && exit == nil {
		return fmt.Errorf("running ripgrep: %w", waitErr)
	}
	text := strings.TrimSpace(string(stderr))
	if !a.ended && exit != nil && exit.ExitCode() == 2 {
		return &PatternError{Pattern: a.q.Pattern, Message: strings.TrimPrefix(text, "rg: ")}
	}
	if !a.ended {
		return fmt.Errorf("running ripgrep: it ended early: %s", text)
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		path, reason, ok := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(line, "rg: "), "./"), ": ")
		if ok && line != "" {
			a.status.skips.add(path, reason)
		}
	}
	return nil
}
