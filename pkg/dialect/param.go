package dialect

import (
	"encoding/json"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/param"
)

// A Param is a parameter of another agent's tool, and which of ours it is.
type Param struct {
	Name    string
	To      string // our parameter; "" for none: it is understood and changes nothing by itself
	Usage   string
	Kind    Kind
	Must    bool
	Also    string // other spellings, as words
	Enum    string // the words it may be, as words; "" for any
	Default any
	Times   float64 // what a number is multiplied with to be ours; 0 for 1
	Least   float64 // with Most: its bounds; both 0 for none
	Most    float64
	Schema  *param.Schema // of a parameter of the kind JSON
}

// A Kind is a type of parameters.
type Kind int

// The kinds.
const (
	Text Kind = iota
	Path
	Whole
	Number
	Truth
	Texts
	JSON // anything that fits Schema
)

// declare adds p to s.
func (p *Param) declare(s *param.Set) {
	var made *param.Param
	switch p.Kind {
	case Text, Path:
		v := new(string)
		*v, _ = p.Default.(string)
		if made = s.String(v, p.Name, p.Usage); p.Kind == Path {
			made.Kind = param.File
		}
	case Whole:
		if n, ok := p.Default.(int); ok {
			made = s.Int(&n, p.Name, p.Usage)
		} else {
			made = s.OptionalInt(new(*int), p.Name, p.Usage)
		}
	case Number:
		v := new(float64)
		*v, _ = p.Default.(float64)
		made = s.Number(v, p.Name, p.Usage)
	case Truth:
		v := new(bool)
		*v, _ = p.Default.(bool)
		made = s.Bool(v, p.Name, p.Usage)
	case Texts:
		made = s.Strings(new([]string), p.Name, p.Usage)
	case JSON:
		made = s.Any(new(json.RawMessage), p.Name, p.Usage, p.Schema)
	}
	if made.Alias(strings.Fields(p.Also)...); p.Must {
		made.Required()
	}
	if p.Enum != "" {
		made.OneOf(strings.Fields(p.Enum)...)
	}
	if p.Least < p.Most {
		made.Between(p.Least, p.Most)
	}
}

// set is t's parameters.
func (t *Tool) set() *param.Set {
	s := new(param.Set)
	for i := range t.Params {
		t.Params[i].declare(s)
	}
	return s
}

// Schema is the JSON Schema of t's parameters.
func (t *Tool) Schema() *param.Schema { return t.set().Schema() }

// scaled is a value in our unit.
func (p *Param) scaled(v any) any {
	if p.Times == 0 {
		return v
	}
	switch n := v.(type) {
	case int:
		return int(float64(n) * p.Times)
	case *int:
		return int(float64(*n) * p.Times)
	case float64:
		return int(n * p.Times)
	}
	return v
}
