// Package param declares the parameters of a tool once, so that flags, JSON
// input, JSON Schema, shell completion and the manual all read the same list.
//
// JSON input is read the way models write it: other spellings of a name, a
// number or a boolean in quotes, null for "not given", one value where a list
// is wanted. What the schema accepts, Decode accepts.
package param

import "encoding/json"

// A Set is the parameters of one call, in the order they were declared.
type Set struct {
	Params []*Param

	ignored []string // names that came and that the tool has no use for
	lenient bool     // unknown names are no error
}

// Of returns the parameters that d declares.
func Of(d Declarer) *Set {
	s := new(Set)
	d.Params(s)
	return s
}

// A Declarer lists its fields as parameters. A field's value at the time of
// the call is that parameter's default.
type Declarer interface{ Params(*Set) }

// A Param is one named input. Its methods refine it and return it.
type Param struct {
	Name    string   // snake_case in JSON; the flag spells it with hyphens
	Usage   string   // one line, no capital, no full stop
	Aliases []string // other spellings, in JSON and as flags
	Enum    []string // the words it may be; nil for any
	Min     float64  // with Max: the bounds of a number
	Max     float64
	Must    bool            // the caller has to give it
	Pos     bool            // it may be given as an argument, without its flag
	Program bool            // with Pos: several arguments are a program and its words
	Stdin   bool            // on the command line, "-" stands for standard input
	Short   string          // one-letter flag; "" for none
	Alone   string          // what the flag means without a value; "" where it needs one
	Kind    Kind            // what shell completion offers
	Known   func() []string // words that shell completion offers, of many; nil for none
	Default string          // what the manual shows as its default; "" for the value at declaration
	Silent  bool            // it is understood, and stands in no manual or schema
	Seldom  bool            // few calls need it: see Rare

	DashFits func(word string) bool // see Dashed; nil for never

	value
	bounded bool
	alike   []string    // other words for those of Enum, each before the one it means
	unless  func() bool // a required one may be missing where this holds
	capped  string      // what came, where that was more than the most
	reread  string      // what came, where that was another word for one of Enum
	lists   string      // the parameter that takes a list which came for this one
	took    string      // the parameter for which a list came that this one took
	given   bool
}

// A Kind tells shell completion what a string stands for.
type Kind int

// What a string can stand for.
const (
	Text Kind = iota
	File
	Directory
)

// Required marks p as one the caller has to give.
func (p *Param) Required() *Param { p.Must = true; return p }

// OrList has a list of several that is given for p, which takes one value, be that of
// the parameter called name, which must be one of the set.
func (p *Param) OrList(name string) *Param { p.lists = name; return p }

// Arg lets p be given as the next plain argument on the command line; a list
// takes all that are left.
func (p *Param) Arg() *Param { p.Pos = true; return p }

// Words has several plain arguments be a program and its own words.
func (p *Param) Words() *Param { p.Program = true; return p }

// Dashed lets a dash and a word that fits stand for p on the command line, as the signal
// of kill -9 does.
func (p *Param) Dashed(fits func(word string) bool) *Param { p.DashFits = fits; return p }

// FromStdin lets "-" on the command line stand for what standard input holds.
// Nothing is ever read from there unasked: callers leave it open.
func (p *Param) FromStdin() *Param { p.Stdin = true; return p }

// Alias accepts other spellings of p's name.
func (p *Param) Alias(names ...string) *Param { p.Aliases = names; return p }

// OneOf limits p to the given words.
func (p *Param) OneOf(words ...string) *Param { p.Enum = words; return p }

// Alike accepts other words for those of OneOf: a word, what it means, and so on.
func (p *Param) Alike(pairs ...string) *Param { p.alike = pairs; return p }

// Unless lets a required parameter be missing where what else was given makes up for it.
func (p *Param) Unless(holds func() bool) *Param { p.unless = holds; return p }

// Among has shell completion offer words, beside which there may be others.
func (p *Param) Among(words func() []string) *Param { p.Known = words; return p }

// Between limits the number p to low..high, both included.
func (p *Param) Between(low, high float64) *Param {
	p.Min, p.Max, p.bounded = low, high, true
	return p
}

// Letter gives p a one-letter flag.
func (p *Param) Letter(letter string) *Param { p.Short = letter; return p }

// WithoutValue is what the flag means where no = and value follow it.
func (p *Param) WithoutValue(text string) *Param { p.Alone = text; return p }

// Unlisted keeps p out of the manual and the schema: it is there for those who
// know it from another program.
func (p *Param) Unlisted() *Param { p.Silent = true; return p }

// Rare has the schema for models that are to be told little leave p out.
func (p *Param) Rare() *Param { p.Seldom = true; return p }

// Shown sets what the manual calls p's default where the value itself would
// say little, such as "until it ends".
func (p *Param) Shown(text string) *Param { p.Default = text; return p }

// Value is p's present value, as JSON has it.
func (p *Param) Value() any { return p.plain() }

// Given reports whether the caller gave p a value.
func (p *Param) Given() bool { return p.given }

// Set stores p from its command-line text; a 0 that stands for "not given" leaves it as it
// is. It makes p a flag's value.
func (p *Param) Set(text string) error {
	if p.ZeroIsAbsent() && p.isZero(text) {
		return nil
	}
	if err := p.setText(text); err != nil {
		return err
	}
	p.given = true
	return p.check()
}

// Decode stores p from its JSON value; what stands for "not given" leaves it as
// it is.
func (p *Param) Decode(raw json.RawMessage) error {
	if p.absent(raw) {
		return nil
	}
	if err := p.decode(raw); err != nil {
		return err
	}
	p.given = true
	return p.check()
}

// List reports whether p takes several values.
func (p *Param) List() bool { return p.list() }

// String returns p's present value as the command line would write it.
func (p *Param) String() string {
	if p.value == nil {
		return ""
	}
	return p.text()
}

// Type names p's type in help texts: string, int, number, bool, strings,
// KEY=VALUE or json.
func (p *Param) Type() string { return p.typeName() }

// String declares a text.
func (s *Set) String(v *string, name, usage string) *Param { return s.add(name, usage, (*word)(v)) }

// Path declares a file or directory.
func (s *Set) Path(v *string, name string, kind Kind, usage string) *Param {
	p := s.add(name, usage, (*word)(v))
	p.Kind = kind
	return p
}

// Int declares a whole number, by default between -2^53 and 2^53, which is
// what JSON numbers hold exactly.
func (s *Set) Int(v *int, name, usage string) *Param {
	return s.add(name, usage, (*whole)(v)).Between(-1<<53, 1<<53)
}

// OptionalInt declares a whole number whose absence means something of its
// own: *v stays nil then.
func (s *Set) OptionalInt(v **int, name, usage string) *Param {
	return s.add(name, usage, &optionalWhole{v: v}).Between(-1<<53, 1<<53)
}

// Millis declares a duration in milliseconds. On the command line it may also
// be written with a unit, as 30s or 2m.
func (s *Set) Millis(v *int, name, usage string) *Param {
	return s.add(name, usage, (*millis)(v)).Between(0, 1<<53)
}

// OptionalMillis is Millis where absence means something of its own.
func (s *Set) OptionalMillis(v **int, name, usage string) *Param {
	return s.add(name, usage, &optionalWhole{v: v, unit: true}).Between(0, 1<<53)
}

// Number declares a number that need not be whole.
func (s *Set) Number(v *float64, name, usage string) *Param {
	return s.add(name, usage, (*decimal)(v)).Between(-1<<53, 1<<53)
}

// Bool declares a switch.
func (s *Set) Bool(v *bool, name, usage string) *Param { return s.add(name, usage, (*truth)(v)) }

// Strings declares a list of texts.
func (s *Set) Strings(v *[]string, name, usage string) *Param {
	return s.add(name, usage, &words{v: v})
}

// Paths declares a list of files or directories.
func (s *Set) Paths(v *[]string, name string, kind Kind, usage string) *Param {
	p := s.add(name, usage, &words{v: v})
	p.Kind = kind
	return p
}

// Map declares texts by name. In JSON it is an object, or a list of KEY=VALUE.
func (s *Set) Map(v *map[string]string, name, usage string) *Param {
	return s.add(name, usage, (*pairs)(v))
}

// Raw declares a JSON object that is passed on as it is.
func (s *Set) Raw(v *json.RawMessage, name, usage string) *Param {
	return s.add(name, usage, (*rawObject)(v))
}

// Any declares a value of any shape that is passed on as it is; schema says what the
// caller is told of it.
func (s *Set) Any(v *json.RawMessage, name, usage string, schema *Schema) *Param {
	return s.add(name, usage, &anything{v, schema})
}

// Objects declares a list of objects, each with the parameters that *T declares.
func Objects[T any, P interface {
	*T
	Declarer
}](s *Set, v *[]T, name, usage string) *Param {
	return s.add(name, usage, &objects[T, P]{v: v})
}

func (s *Set) add(name, usage string, v value) *Param {
	p := &Param{Name: name, Usage: usage, value: v}
	s.Params = append(s.Params, p)
	return p
}
