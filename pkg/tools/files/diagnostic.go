package files

import (
	"fmt"
	"strings"
)

// A diagnostic is one thing that is wrong with a file.
type diagnostic struct {
	Path     string `json:"path"`
	Line     int    `json:"line" doc:"from 1"`
	Column   int    `json:"column" doc:"in bytes, from 1; 0 where it is not known"`
	Severity string `json:"severity" doc:"error, warning, information or hint"`
	Message  string `json:"message"`
	Source   string `json:"source" doc:"syntax, or who says it, such as compiler"`
	Code     string `json:"code,omitempty" doc:"what the source calls it"`
	New      bool   `json:"new,omitempty" doc:"after a change: it was not there before"`
}

// line is the diagnostic in a line of text.
func (d *diagnostic) line() string {
	source := strings.TrimSpace(d.Source + " " + d.Code)
	if source != "" {
		source = " (" + source + ")"
	}
	return fmt.Sprintf("%s:%d:%d: %s: %s%s\n", d.Path, d.Line, d.Column, d.Severity, strings.ReplaceAll(strings.TrimSpace(d.Message), "\n", "\n    "), source)
}

type diagnosticsMeta struct {
	Diagnostics []diagnostic `json:"diagnostics" doc:"the files in the order of the call, the worst first"`
	Errors      int          `json:"errors" doc:"how many of them are errors"`
	Warnings    int          `json:"warnings" doc:"how many are warnings"`
	Total       int          `json:"total" doc:"how many there are, of which the first 500 are listed"`
	Servers     []string     `json:"servers" doc:"language servers that were asked"`
	Unchecked   []string     `json:"unchecked,omitempty" doc:"files that nobody could say anything of"`
	Unasked     []string     `json:"unasked,omitempty" doc:"why a language server was not asked, or has not answered"`
}

// maxListed bounds the diagnostics of a result.
const maxListed = 500

// add takes one in.
func (m *diagnosticsMeta) add(d diagnostic) {
	m.Total++
	switch d.Severity {
	case "error":
		m.Errors++
	case "warning":
		m.Warnings++
	}
	if len(m.Diagnostics) < maxListed {
		m.Diagnostics = append(m.Diagnostics, d)
	}
}
