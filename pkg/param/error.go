package param

import (
	"fmt"
	"strings"
)

// required begins what an Error says of a parameter that was not given.
const required = "is required"

// An Error says which parameter is wrong, what was wanted and what came.
type Error struct {
	Param string   // the parameter, as todos[2].status; "" for the input as a whole
	Want  string   // what was wanted, such as "a whole number"
	Got   string   // what came, shortened; "" when nothing did
	Near  []string // known names or words close to what came, best first
	Known []string // every name or word that would do, where there are few enough to list
	Fix   string   // the next step; "" for the one that follows from the rest
}

// Error implements error: "limit: want a whole number, got "ten"".
func (e *Error) Error() string {
	var b strings.Builder
	switch {
	case e.Param == "":
	case e.missing():
		b.WriteString(e.Param + " ")
	default:
		b.WriteString(e.Param + ": ")
	}
	b.WriteString(e.Want)
	if e.Got != "" {
		b.WriteString(", got " + e.Got)
	}
	if len(e.Near) > 0 {
		fmt.Fprintf(&b, "; did you mean %s?", e.Near[0])
	}
	if len(e.Known) > 0 {
		b.WriteString("; known: " + strings.Join(e.Known, ", "))
	}
	return b.String()
}

// missing reports whether nothing was given.
func (e *Error) missing() bool { return strings.HasPrefix(e.Want, required) }

// Hint returns the next step.
func (e *Error) Hint() string {
	switch {
	case e.Fix != "":
		return e.Fix
	case len(e.Near) > 0:
		return fmt.Sprintf("use %s", e.Near[0])
	case len(e.Known) > 0:
		return "use one of " + strings.Join(e.Known, ", ")
	case e.Param != "" && e.missing():
		return fmt.Sprintf("give %s and call again", e.Param)
	case e.Param != "":
		return fmt.Sprintf("correct %s and call again", e.Param)
	}
	return "send one JSON object with the tool's parameters"
}

// under puts a parent's name before the parameter of err.
func under(parent string, err error) error {
	e, ok := err.(*Error) //nolint:errorlint // only errors made here are passed in
	if !ok {
		return &Error{Param: parent, Want: err.Error()}
	}
	c := *e
	switch {
	case c.Param == "":
		c.Param = parent
	case strings.HasPrefix(c.Param, "["):
		c.Param = parent + c.Param
	default:
		c.Param = parent + "." + c.Param
	}
	return &c
}

// short is raw for a message: one line, at most 60 bytes on a rune's border.
func short(raw string) string {
	raw = strings.Join(strings.Fields(raw), " ")
	if len(raw) <= 60 {
		return raw
	}
	cut := 57
	for cut > 0 && raw[cut]&0xC0 == 0x80 {
		cut--
	}
	return raw[:cut] + "…"
}
