package param

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A value stores one parameter. Flags reach it through setText, JSON through
// decode.
type value interface {
	text() string
	setText(string) error
	decode(json.RawMessage) error
	typeName() string
	list() bool
	schema() *Schema
	plain() any // as JSON would hold it
}

type word string

func (w *word) text() string           { return string(*w) }
func (w *word) setText(s string) error { *w = word(s); return nil }
func (w *word) typeName() string       { return "string" }
func (w *word) list() bool             { return false }
func (w *word) schema() *Schema        { return &Schema{Type: "string"} }
func (w *word) decode(raw json.RawMessage) error {
	s, err := decodeWord(raw)
	if err == nil {
		*w = word(s)
	}
	return err
}

// decodeWord reads a text; a number or a boolean stands for its spelling.
func decodeWord(raw json.RawMessage) (string, error) {
	var s string
	if json.Unmarshal(raw, &s) == nil && len(raw) > 0 && raw[0] == '"' {
		return s, nil
	}
	if len(raw) > 0 && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9' || raw[0] == 't' || raw[0] == 'f') {
		return string(raw), nil
	}
	return "", &Error{Want: "want a string", Got: short(string(raw))}
}

type whole int

func (n *whole) text() string           { return strconv.Itoa(int(*n)) }
func (n *whole) setText(s string) error { return n.decode(json.RawMessage(strconv.Quote(s))) }
func (n *whole) typeName() string       { return "int" }
func (n *whole) list() bool             { return false }
func (n *whole) schema() *Schema        { return &Schema{Type: "integer"} }
func (n *whole) decode(raw json.RawMessage) error {
	f, err := number(raw, "want a whole number")
	if err == nil && f != math.Trunc(f) {
		return &Error{Want: "want a whole number", Got: short(string(raw))}
	}
	if err == nil {
		*n = whole(f)
	}
	return err
}

// number reads a JSON number, also in quotes. Numbers beyond what a float64
// holds exactly are refused rather than rounded.
func number(raw json.RawMessage, want string) (float64, error) {
	text := string(raw)
	var s string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		text = strings.TrimSpace(s)
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(f) || math.Abs(f) > 1<<53 || strings.ContainsAny(text, "xX_pP") {
		return 0, &Error{Want: want, Got: short(string(raw))}
	}
	return f, nil
}

type optionalWhole struct {
	v    **int
	unit bool
}

func (o *optionalWhole) text() string {
	if *o.v == nil {
		return ""
	}
	return strconv.Itoa(**o.v)
}

func (o *optionalWhole) setText(s string) error {
	n := new(int)
	var err error
	if o.unit {
		err = (*millis)(n).setText(s)
	} else {
		err = (*whole)(n).setText(s)
	}
	if err == nil {
		*o.v = n
	}
	return err
}

func (o *optionalWhole) decode(raw json.RawMessage) error {
	n := new(int)
	err := (*whole)(n).decode(raw)
	if err == nil {
		*o.v = n
	}
	return err
}

func (o *optionalWhole) typeName() string {
	if o.unit {
		return "ms"
	}
	return "int"
}
func (o *optionalWhole) list() bool      { return false }
func (o *optionalWhole) schema() *Schema { return &Schema{Type: "integer"} }

type millis int

func (m *millis) text() string                     { return strconv.Itoa(int(*m)) }
func (m *millis) typeName() string                 { return "ms" }
func (m *millis) list() bool                       { return false }
func (m *millis) schema() *Schema                  { return &Schema{Type: "integer"} }
func (m *millis) decode(raw json.RawMessage) error { return (*whole)(m).decode(raw) }
func (m *millis) setText(s string) error {
	if (*whole)(m).setText(s) == nil {
		return nil
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		return &Error{Want: "want milliseconds, or a duration such as 30s", Got: strconv.Quote(short(s))}
	}
	*m = millis(d.Milliseconds())
	return nil
}

type decimal float64

func (r *decimal) text() string           { return strconv.FormatFloat(float64(*r), 'g', -1, 64) }
func (r *decimal) setText(s string) error { return r.decode(json.RawMessage(strconv.Quote(s))) }
func (r *decimal) typeName() string       { return "number" }
func (r *decimal) list() bool             { return false }
func (r *decimal) schema() *Schema        { return &Schema{Type: "number"} }
func (r *decimal) decode(raw json.RawMessage) error {
	f, err := number(raw, "want a number")
	if err == nil {
		*r = decimal(f)
	}
	return err
}

type truth bool

func (b *truth) text() string           { return strconv.FormatBool(bool(*b)) }
func (b *truth) setText(s string) error { return b.decode(json.RawMessage(strconv.Quote(s))) }
func (b *truth) typeName() string       { return "bool" }
func (b *truth) list() bool             { return false }
func (b *truth) schema() *Schema        { return &Schema{Type: "boolean"} }
func (b *truth) decode(raw json.RawMessage) error {
	switch strings.ToLower(strings.TrimSpace(strings.Trim(string(raw), `"`))) {
	case "true", "yes", "on", "1":
		*b = true
	case "false", "no", "off", "0":
		*b = false
	default:
		return &Error{Want: "want true or false", Got: short(string(raw))}
	}
	return nil
}

type words struct {
	v   *[]string
	set bool // a flag was given: further ones add to it
}

func (w *words) text() string     { return strings.Join(*w.v, ",") }
func (w *words) typeName() string { return "strings" }
func (w *words) list() bool       { return true }
func (w *words) schema() *Schema  { return &Schema{Type: "array", Items: &Schema{Type: "string"}} }
func (w *words) setText(s string) error {
	if !w.set {
		*w.v, w.set = nil, true
	}
	*w.v = append(*w.v, s)
	return nil
}

func (w *words) decode(raw json.RawMessage) error {
	items, err := elements(raw)
	if err != nil {
		return err
	}
	list := make([]string, len(items))
	for i, item := range items {
		if list[i], err = decodeWord(item); err != nil {
			return under(fmt.Sprintf("[%d]", i), err)
		}
	}
	*w.v, w.set = list, true
	return nil
}

// elements returns the members of a list; a single value is a list of one,
// and so is a list that came as a JSON text.
func elements(raw json.RawMessage) ([]json.RawMessage, error) {
	var s string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		if t := strings.TrimSpace(s); strings.HasPrefix(t, "[") && json.Valid([]byte(t)) {
			raw = json.RawMessage(t)
			if err := readable(raw); err != nil {
				return nil, err
			}
		}
	}
	if len(raw) == 0 || raw[0] != '[' {
		return []json.RawMessage{raw}, nil
	}
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil {
		return nil, &Error{Want: "want a list", Got: short(string(raw))}
	}
	return items, nil
}

type pairs map[string]string

func (p *pairs) text() string {
	var list []string
	for _, k := range slices.Sorted(maps.Keys(*p)) {
		list = append(list, k+"="+(*p)[k])
	}
	return strings.Join(list, ",")
}

func (p *pairs) typeName() string { return "KEY=VALUE" }
func (p *pairs) list() bool       { return true }
func (p *pairs) schema() *Schema {
	return &Schema{Type: "object", Additional: &Schema{Type: "string"}}
}

func (p *pairs) setText(s string) error {
	k, v, ok := strings.Cut(s, "=")
	if !ok || k == "" {
		return &Error{Want: "want KEY=VALUE", Got: strconv.Quote(short(s))}
	}
	if *p == nil {
		*p = pairs{}
	}
	(*p)[k] = v
	return nil
}

func (p *pairs) decode(raw json.RawMessage) error {
	got := pairs{}
	if len(raw) > 0 && raw[0] == '{' {
		members, err := members(raw)
		if err != nil {
			return err
		}
		for _, m := range members {
			if got[m.name], err = decodeWord(m.raw); err != nil {
				return under(m.name, err)
			}
		}
		*p = got
		return nil
	}
	items, err := elements(raw)
	if err != nil {
		return err
	}
	for i, item := range items {
		s, err := decodeWord(item)
		if err == nil {
			err = got.setText(s)
		}
		if err != nil {
			return under(fmt.Sprintf("[%d]", i), err)
		}
	}
	*p = got
	return nil
}

type rawObject json.RawMessage

func (r *rawObject) text() string           { return string(*r) }
func (r *rawObject) setText(s string) error { return r.decode(json.RawMessage(s)) }
func (r *rawObject) typeName() string       { return "json" }
func (r *rawObject) list() bool             { return false }
func (r *rawObject) schema() *Schema        { return &Schema{Type: "object", Open: true} }
func (r *rawObject) decode(raw json.RawMessage) error {
	var s string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		raw = json.RawMessage(s)
	}
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '{' || !json.Valid(raw) {
		return &Error{Want: "want a JSON object", Got: short(string(raw))}
	}
	*r = rawObject(slices.Clone(raw))
	return nil
}

type anything struct {
	v *json.RawMessage
	s *Schema
}

func (a *anything) text() string           { return string(*a.v) }
func (a *anything) setText(s string) error { return a.decode(json.RawMessage(s)) }
func (a *anything) typeName() string       { return "json" }
func (a *anything) list() bool             { return false }
func (a *anything) plain() any             { return *a.v }
func (a *anything) schema() *Schema        { c := *a.s; return &c }
func (a *anything) decode(raw json.RawMessage) error {
	var s string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil && json.Valid([]byte(s)) {
		raw = json.RawMessage(s) // a list or an object that came as a text
	}
	raw = bytes.TrimSpace(raw)
	want := map[string]byte{"array": '[', "object": '{'}[a.s.Type]
	if want != 0 && (len(raw) == 0 || raw[0] != want) {
		return &Error{Want: "want an " + a.s.Type, Got: short(string(raw))}
	}
	if err := readable(raw); err != nil {
		return err
	}
	*a.v = slices.Clone(raw)
	return nil
}

type objects[T any, P interface {
	*T
	Declarer
}] struct {
	v       *[]T
	given   []json.RawMessage // the members that each came with, by the names we know them by
	ignored []string
	notes   []string
}

func (o *objects[T, P]) innerNotes() []string { return o.notes }

func (o *objects[T, P]) ignoredNames() []string { return o.ignored }

func (o *objects[T, P]) text() string { return "" }
func (o *objects[T, P]) setText(s string) error {
	if err := readable(json.RawMessage(s)); err != nil {
		return err
	}
	return o.decode(json.RawMessage(s))
}

func (o *objects[T, P]) typeName() string { return "json" }
func (o *objects[T, P]) list() bool       { return false }
func (o *objects[T, P]) schema() *Schema {
	return &Schema{Type: "array", Items: Of(P(new(T))).Schema()}
}

func (o *objects[T, P]) decode(raw json.RawMessage) error {
	if !json.Valid(raw) {
		return &Error{Want: "want a list of objects as JSON", Got: short(string(raw))}
	}
	items, err := elements(bytes.TrimSpace(raw))
	if err != nil {
		return err
	}
	list, given := make([]T, len(items)), make([]json.RawMessage, len(items))
	for i, item := range items {
		set := Of(P(&list[i]))
		if err := set.Decode(item); err != nil {
			return under(fmt.Sprintf("[%d]", i), wantsMembers(set, item, err))
		}
		given[i] = set.Given()
		for _, name := range set.ignored {
			o.ignored = append(o.ignored, fmt.Sprintf("[%d].%s", i, name))
		}
		for _, note := range set.Notes() {
			o.notes = append(o.notes, fmt.Sprintf("[%d].%s", i, note))
		}
	}
	*o.v, o.given = list, given
	return nil
}

// wantsMembers has err, which is about an item, show what it is to be where a text came for it:
// an object with the members that it must have, of which the text is the first.
func wantsMembers(set *Set, item json.RawMessage, err error) error {
	e, ok := err.(*Error) //nolint:errorlint // only errors made here are passed in
	var text string
	if !ok || e.Param != "" || json.Unmarshal(item, &text) != nil || len(item) > 60 {
		return err
	}
	var members []string
	for _, p := range set.Params {
		if value := string(item); p.Must {
			if len(members) > 0 {
				value = "…"
			}
			members = append(members, fmt.Sprintf("%q:%s", p.Name, value))
		}
	}
	if len(members) > 0 {
		e.Fix = "give an object such as {" + strings.Join(members, ",") + "}"
	}
	return e
}

func (w *word) plain() any          { return string(*w) }
func (n *whole) plain() any         { return int(*n) }
func (o *optionalWhole) plain() any { return *o.v }
func (m *millis) plain() any        { return int(*m) }
func (r *decimal) plain() any       { return float64(*r) }
func (b *truth) plain() any         { return bool(*b) }
func (w *words) plain() any         { return *w.v }
func (p *pairs) plain() any         { return map[string]string(*p) }
func (r *rawObject) plain() any     { return json.RawMessage(*r) }
func (o *objects[T, P]) plain() any { return append([]json.RawMessage{}, o.given...) }
