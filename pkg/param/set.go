package param

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/nearest"
)

// Lookup returns the parameter called name or by one of its aliases, or nil.
func (s *Set) Lookup(name string) *Param {
	for _, p := range s.Params {
		if p.Name == name || slices.Contains(p.Aliases, name) {
			return p
		}
	}
	return nil
}

// Spelled returns the parameter called name but for capitals, underscores and hyphens, as
// oldString is old_string, or nil: also where several are called so, or the name has less than
// three letters.
func (s *Set) Spelled(name string) *Param {
	plain := folded(name)
	if len(plain) < 3 {
		return nil
	}
	var found *Param
	for _, p := range s.Params {
		if folded(p.Name) != plain && !slices.ContainsFunc(p.Aliases, func(alias string) bool { return folded(alias) == plain }) {
			continue
		}
		if found != nil {
			return nil
		}
		found = p
	}
	return found
}

// folded is a name without what models mix up in it.
func folded(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
}

// Decode stores the members of a JSON object, or of one that is the text of a JSON string, and
// checks the result. An error is an *Error.
func (s *Set) Decode(raw json.RawMessage) error {
	list, err := members(unpacked(raw))
	if err != nil {
		return err
	}
	from := map[*Param]member{}
	for _, m := range list {
		p := s.Lookup(m.name)
		if p == nil {
			p = s.Spelled(m.name)
		}
		if p == nil && (s.lenient || slices.Contains(asides[:], m.name)) {
			s.ignored = append(s.ignored, m.name)
			continue
		}
		if p == nil {
			return s.unknown(m.name)
		}
		if p.absent(m.raw) {
			continue
		}
		p, m.raw = s.listed(p, m.raw)
		if other, twice := from[p]; twice {
			if same(other.raw, m.raw) {
				continue
			}
			return &Error{Param: p.Name, Want: fmt.Sprintf("given twice, as %s and as %s", other.name, m.name)}
		}
		from[p] = m
		if err := p.Decode(m.raw); err != nil {
			return under(p.Name, err)
		}
		if inner, ok := p.value.(interface{ ignoredNames() []string }); ok {
			for _, name := range inner.ignoredNames() {
				s.ignored = append(s.ignored, p.Name+name)
			}
		}
	}
	return s.Check()
}

// listed is the parameter that a value given for p is for, and the value. A list of
// one text is that text, of more the value of the parameter that p names for it.
func (s *Set) listed(p *Param, raw json.RawMessage) (*Param, json.RawMessage) {
	var list []json.RawMessage
	if p.lists == "" || json.Unmarshal(raw, &list) != nil || list == nil {
		return p, raw
	}
	if len(list) == 1 {
		return p, list[0]
	}
	to := s.Lookup(p.lists)
	to.took = p.Name
	return to, raw
}

// unpacked is the object that is the text of a JSON string: some callers encode arguments twice.
// Anything else stays as it is, and so does a text that would lose bytes.
func unpacked(raw json.RawMessage) json.RawMessage {
	var text string
	if trimmed := bytes.TrimSpace(raw); len(trimmed) == 0 || trimmed[0] != '"' {
		return raw
	}
	if bad, _ := Flaw(raw); bad >= 0 || json.Unmarshal(raw, &text) != nil || !strings.HasPrefix(strings.TrimSpace(text), "{") || !json.Valid([]byte(text)) {
		return raw
	}
	return json.RawMessage(text)
}

// same reports whether two JSON values are equal, or one is the text of the other.
func same(a, b json.RawMessage) bool {
	return bytes.Equal(bytes.Trim(bytes.TrimSpace(a), `"`), bytes.Trim(bytes.TrimSpace(b), `"`))
}

// asides are what models add to a call because another tool has it, or to say
// why they make it. They change nothing about what a call means.
var asides = [...]string{
	"description", "explanation", "reason", "reasoning", "rationale", "thought", "activeForm", "active_form",
	"expected_replacements", "expectedReplacements", "task_progress", "toolSummary",
	"instruction", "purpose", "intent", "justification", "thinking", "thoughts", "comment", "prompt", "should_read_entire_file",
}

// Lenient passes over names that are not known.
func (s *Set) Lenient() { s.lenient = true }

// Ignored returns the names that came and that have no meaning here.
func (s *Set) Ignored() []string { return s.ignored }

// Notes says which values were changed to what is possible.
func (s *Set) Notes() []string {
	var notes []string
	for _, p := range s.Params {
		if p.capped != "" {
			notes = append(notes, fmt.Sprintf("%s: %s is more than the most, %s is used", p.Name, p.capped, p.text()))
		}
		if p.reread != "" {
			notes = append(notes, fmt.Sprintf("%s: %s is taken for %s", p.Name, p.reread, p.text()))
		}
		if p.took != "" {
			notes = append(notes, fmt.Sprintf("%s: a list is taken for %s", p.took, p.Name))
		}
		if inner, ok := p.value.(interface{ innerNotes() []string }); ok {
			for _, note := range inner.innerNotes() {
				notes = append(notes, p.Name+note)
			}
		}
	}
	return notes
}

// absent says whether a JSON value stands for "not given": null always, and
// what models fill in where they have nothing to say. An empty text is a value
// only where the parameter is a text that has no default, 0 only where it is
// within the bounds.
func (p *Param) absent(raw json.RawMessage) bool {
	text := strings.TrimSpace(string(raw))
	switch {
	case text == "null":
		return true
	case p.Must:
		return false
	}
	empty := text == `""`
	switch p.typeName() {
	case "string":
		return empty && (p.Enum != nil || p.Kind != Text || p.text() != "")
	case "int", "ms", "number":
		return empty || p.ZeroIsAbsent() && p.isZero(strings.Trim(text, `"`))
	case "strings":
		return empty || strings.ReplaceAll(text, " ", "") == `[""]`
	}
	return empty
}

// ZeroIsAbsent reports whether 0 stands for "not given", as a flag and in JSON: p is a number
// that may be left out, and 0 is out of its bounds. Models fill it in where they have
// nothing to say.
func (p *Param) ZeroIsAbsent() bool {
	return !p.Must && p.bounded && (p.Min > 0 || p.Max < 0)
}

// isZero reports whether a text is the number 0, or no time at all.
func (p *Param) isZero(text string) bool {
	if n, err := number(json.RawMessage(strconv.Quote(text)), ""); err == nil {
		return n == 0
	}
	d, err := time.ParseDuration(text)
	return err == nil && d == 0 && p.typeName() == "ms"
}

func (s *Set) unknown(name string) error {
	names, spellings := s.names(), s.names()
	for _, p := range s.Params {
		if p.Silent {
			continue
		}
		spellings = append(spellings, p.Aliases...)
	}
	e := &Error{Want: fmt.Sprintf("unknown parameter %q", name), Known: names}
	for _, near := range nearest.Words(name, spellings, 3) {
		if n := s.Lookup(near).Name; !slices.Contains(e.Near, n) {
			e.Near = append(e.Near, n)
		}
	}
	if len(names) == 0 {
		e.Want += "; the call takes none"
	}
	return e
}

// Fill stores plain arguments in the positional parameters that no flag gave,
// then checks the result.
func (s *Set) Fill(args []string) error {
	for _, p := range s.Params {
		if !p.Pos || p.given || len(args) == 0 {
			continue
		}
		n := 1
		if p.list() {
			n = len(args)
		}
		for _, arg := range args[:n] {
			if err := p.Set(arg); err != nil {
				return under(p.Name, err)
			}
		}
		args = args[n:]
	}
	if len(args) > 0 {
		return &Error{Want: fmt.Sprintf("unexpected argument %q", args[0]), Known: flagsOf(s)}
	}
	return s.Check()
}

func flagsOf(s *Set) []string {
	var flags []string
	for _, name := range s.names() {
		flags = append(flags, "--"+strings.ReplaceAll(name, "_", "-"))
	}
	return flags
}

// Flag returns the name of p's flag.
func (p *Param) Flag() string { return strings.ReplaceAll(p.Name, "_", "-") }

// Canonical returns every parameter with its present value as one JSON object,
// names sorted: the same for equal calls, however they were written.
func (s *Set) Canonical() json.RawMessage {
	values := map[string]any{}
	for _, p := range s.Params {
		values[p.Name] = p.plain()
	}
	raw, err := json.Marshal(values)
	if err != nil {
		return nil
	}
	return raw
}

// Said returns the parameters that were given as one JSON object, names sorted, the
// texts as shorten returns them.
func (s *Set) Said(shorten func(string) string) json.RawMessage {
	values := map[string]any{}
	for _, p := range s.Params {
		if !p.given {
			continue
		}
		values[p.Name] = p.plain()
		if text, ok := values[p.Name].(string); ok {
			values[p.Name] = shorten(text)
		}
	}
	raw, err := json.Marshal(values)
	if err != nil {
		return nil
	}
	return raw
}

// Given returns the parameters that were given as one JSON object, whole.
func (s *Set) Given() json.RawMessage { return s.Said(func(text string) string { return text }) }

// Check reports the first required parameter that is missing.
func (s *Set) Check() error {
	for _, p := range s.Params {
		if p.Must && !p.given && (p.unless == nil || !p.unless()) {
			return &Error{Param: p.Name, Want: required + ": " + p.Usage}
		}
	}
	return nil
}

// check reports a value out of bounds; it repairs a word's case.
func (p *Param) check() error {
	if p.Enum != nil {
		return p.checkWords()
	}
	if !p.bounded || p.text() == "" {
		return nil
	}
	f, err := strconv.ParseFloat(p.text(), 64)
	if err == nil && f > p.Max && p.typeName() == "ms" { // what asks for more time gets the most
		p.capped = p.text()
		return p.setText(plain(p.Max))
	}
	if err == nil && (f < p.Min || f > p.Max) {
		return &Error{Want: "want " + p.bounds(f), Got: p.text()}
	}
	return nil
}

func (p *Param) checkWords() error {
	if list, ok := p.value.(*words); ok {
		all := (*list.v)[:0:0]
		for i, text := range *list.v {
			for word := range strings.SplitSeq(text, ",") { // --kinds function,class
				if err := p.oneOf(&word); err != nil {
					return under(fmt.Sprintf("[%d]", i), err)
				}
				all = append(all, word)
			}
		}
		*list.v = all
		return nil
	}
	text := p.text()
	if err := p.oneOf(&text); err != nil {
		return err
	}
	return p.setText(text)
}

func (p *Param) oneOf(text *string) error {
	for _, w := range p.Enum {
		if strings.EqualFold(w, strings.TrimSpace(*text)) {
			*text = w
			return nil
		}
	}
	for i := 0; i+1 < len(p.alike); i += 2 {
		if strings.EqualFold(p.alike[i], strings.TrimSpace(*text)) {
			p.reread, *text = *text, p.alike[i+1]
			return nil
		}
	}
	return &Error{Want: "want one of the known words", Got: strconv.Quote(short(*text)), Near: nearest.Words(*text, p.Enum, 3), Known: p.Enum}
}

// bounds says between what a value must lie that is f. A bound that no call comes near is
// left out, unless f is beyond it.
func (p *Param) bounds(f float64) string {
	switch low, high := p.Min > -1<<53, p.Max < 1<<31 || f > p.Max && p.Max < 1<<53; {
	case low && high:
		return fmt.Sprintf("%s to %s", plain(p.Min), plain(p.Max))
	case low:
		return "at least " + plain(p.Min)
	case high:
		return "at most " + plain(p.Max)
	}
	return "any"
}

func plain(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func (s *Set) names() []string {
	var names []string
	for _, p := range s.Params {
		if !p.Silent {
			names = append(names, p.Name)
		}
	}
	return names
}

type member struct {
	name string
	raw  json.RawMessage
}

// members reads one JSON object, keeping the order of its members. A name
// that comes twice is an error: which one counts would be a guess.
func members(raw json.RawMessage) ([]member, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	tok, err := dec.Token()
	if d, ok := tok.(json.Delim); err != nil || !ok || d != '{' {
		return nil, notObject(raw, err)
	}
	var list []member
	seen := map[string]bool{}
	bad, what := Flaw(raw)
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, notObject(raw, err)
		}
		named := int(dec.InputOffset())
		var m member
		m.name, _ = name.(string)
		if err := dec.Decode(&m.raw); err != nil {
			return nil, notObject(raw, err)
		}
		if bad >= 0 && bad < int(dec.InputOffset()) {
			e := &Error{Want: fmt.Sprintf("byte %d of the object is %s", bad+1, what), Fix: encoded}
			if bad >= named {
				e.Param = m.name
			}
			return nil, e
		}
		if seen[m.name] {
			return nil, &Error{Param: m.name, Want: "stands twice in the object"}
		}
		seen[m.name] = true
		list = append(list, m)
	}
	if _, err := dec.Token(); err != nil {
		return nil, notObject(raw, err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, &Error{Want: "want one JSON object and nothing after it"}
	}
	return list, nil
}

// Twice is the name of a member that stands twice in an object, in whatever case, since
// encoding/json takes the last one in any; "" where none does, or raw is no object. raw is JSON.
func Twice(raw []byte) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '{' {
		return ""
	}
	seen := make(map[string]bool, 8)
	depth, named := 0, false // named: the next text in the object itself is the name of a member
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '{', '[':
			depth++
			named = depth == 1
		case '}', ']':
			depth--
		case ',':
			named = depth == 1
		case '"':
			end := i + 1
			for end < len(raw) && raw[end] != '"' {
				if raw[end] == '\\' {
					end++
				}
				end++
			}
			if named && end < len(raw) {
				named = false
				var name string
				if json.Unmarshal(raw[i:end+1], &name) != nil {
					return ""
				}
				folded := strings.ToLower(strings.ToUpper(name)) // the long s and the Kelvin sign are s and k
				if seen[folded] {
					return name
				}
				seen[folded] = true
			}
			i = end
		}
	}
	return ""
}

func notObject(raw json.RawMessage, err error) error {
	e := &Error{Want: "want a JSON object", Got: short(string(raw))}
	if len(bytes.TrimSpace(raw)) == 0 {
		e.Got = "nothing"
	} else if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		e.Want = "want a JSON object: it ends before it is whole"
	} else if err != nil {
		e.Want = fmt.Sprintf("want a JSON object: %v", err)
	}
	return e
}
