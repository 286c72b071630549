package dialect

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// A Call is a call of another agent's tool, and what it is for us.
type Call struct {
	Dialect *Dialect
	Tool    *Tool
	In      Args // what came, by the names of the dialect; with defaults
	To      string
	Out     Args // what is sent to our tool
	Ignored []string

	given  map[string]bool // names of In that came
	inner  []*Call         // the calls that it makes
	places []editBlock     // the blocks of Aider that its edits are
}

// Decode turns the parameters of a call of the named tool into those of ours.
func (d *Dialect) Decode(name string, raw json.RawMessage) (*Call, error) {
	t, err := d.Find(name)
	if err != nil {
		return nil, err
	}
	c := &Call{Dialect: d, Tool: t, In: Args{}, To: t.To, Out: Args{}, given: map[string]bool{}}
	if err := c.read(raw); err != nil {
		return c, err
	}
	return c, nil
}

// Names are what the caller calls our tools and parameters.
func (c *Call) Names() tool.Names { return c.Dialect.names(c.Tool) }

func (c *Call) read(raw json.RawMessage) error {
	raw, err := c.whole(raw)
	if err != nil {
		return err
	}
	var came map[string]json.RawMessage
	_ = json.Unmarshal(raw, &came) // what is no object is refused below
	set := c.Tool.set(came)
	if c.Dialect.Loose {
		set.Lenient()
	}
	if err := set.Decode(raw); err != nil {
		return tool.AsError(err) // which names the parameters as the caller does
	}
	c.Ignored = set.Ignored()
	for i, p := range set.Params {
		row := &c.Tool.Params[i]
		if !p.Given() && row.Default == nil {
			continue
		}
		v := p.Value()
		if n, ok := v.(*int); ok {
			v = *n
		}
		for _, name := range append(strings.Fields(row.Also), row.Name) { // dialects differ in which of them comes first
			c.given[name], c.In[name] = p.Given(), v
		}
		if row.To != "" {
			c.Out[row.To] = v
		}
	}
	maps.Copy(c.Out, c.Tool.Const)
	if c.Tool.Map != nil {
		if err := c.Tool.Map(c); err != nil {
			return err
		}
	}
	c.replacesInWords()
	return nil
}

// replacesInWords has replace_all take text inside words, too, as the tools of these
// dialects do, which have no exact.
func (c *Call) replacesInWords() {
	if c.To != "edit" {
		return
	}
	if all, ok := c.Out["replace_all"]; ok {
		c.Out["in_words"] = all
	}
	edits, _ := c.Out["edits"].([]Args)
	for _, e := range edits {
		if all, ok := e["replace_all"]; ok {
			e["in_words"] = all
		}
	}
}

// whole is raw, or where a tool with one parameter got a text instead of an object,
// as tools of free form do, an object with that.
func (c *Call) whole(raw json.RawMessage) (json.RawMessage, error) {
	var text string
	if len(raw) == 0 {
		return json.RawMessage("{}"), nil
	}
	if raw[0] != '"' || json.Unmarshal(raw, &text) != nil {
		return raw, nil
	}
	if json.Valid([]byte(text)) && text != "" && text[0] == '{' {
		return json.RawMessage(text), nil
	}
	for _, p := range c.Tool.Params {
		if p.Must && p.Kind == Text {
			return json.Marshal(map[string]string{p.Name: text})
		}
	}
	return raw, nil
}

// Arguments are the parameters for our tool.
func (c *Call) Arguments() json.RawMessage {
	raw, err := json.Marshal(c.Out)
	if err != nil {
		return json.RawMessage("{}")
	}
	return raw
}

// text is a parameter that came, as text.
func (c *Call) text(name string) string { s, _ := c.In[name].(string); return s }

// number is a parameter that came, or its default.
func (c *Call) number(name string) int {
	switch n := c.In[name].(type) {
	case int:
		return n
	case float64:
		return int(n)
	}
	return 0
}

// truth is a parameter that came, or its default.
func (c *Call) truth(name string) bool { b, _ := c.In[name].(bool); return b }

// texts is a list that came.
func (c *Call) texts(name string) []string { l, _ := c.In[name].([]string); return l }

// list is a parameter of the kind JSON that came as a list of objects.
func (c *Call) list(name string) []map[string]any {
	raw, _ := c.In[name].(json.RawMessage)
	var list []map[string]any
	_ = json.Unmarshal(raw, &list)
	return list
}

// renamed is a list of objects with members under other names; those without one are
// left out. They may also come under our names, the usual ones, and however these are spelled.
func renamed(list []map[string]any, names map[string]string) []Args {
	spellings := new(param.Set)
	for _, from := range slices.Sorted(maps.Keys(names)) {
		other := append([]string{names[from]}, usual(names[from])...)
		spellings.String(new(string), from, "").Alias(slices.DeleteFunc(other, func(name string) bool { return name == from })...)
	}
	out := []Args{}
	for _, item := range list {
		one := Args{}
		for name, v := range item {
			p := spellings.Lookup(name)
			if p == nil {
				p = spellings.Spelled(name)
			}
			if p == nil {
				continue
			}
			if _, itself := item[p.Name]; name == p.Name || !itself {
				one[names[p.Name]] = v
			}
		}
		out = append(out, one)
	}
	return out
}

// named is an error in the names of the dialect.
func (c *Call) named(e *tool.Error) *tool.Error {
	e = e.In(c.Names())
	if rest, ok := strings.CutPrefix(e.Message, c.To+" needs approval"); ok {
		e.Message = c.Tool.Name + " needs approval" + rest
	}
	if at := strings.IndexAny(e.Message, ": "); at > 0 && (e.Message[at] == ':' || strings.HasPrefix(e.Message[at:], " is required")) {
		if own := c.Tool.nameOf(e.Message[:at]); own != "" { // it begins with a parameter of ours
			e.Message = own + e.Message[at:]
		}
	}
	return e
}

// Failed is the result of a call that was not made, in the names of the dialect.
func (c *Call) Failed(err error) *tool.Result {
	if c == nil {
		r := tool.Fail("call", err)
		r.Output = r.Error.Words()
		return r
	}
	_, told := errors.AsType[*tool.Error](err)
	if e, ok := errors.AsType[*param.Error](err); ok && !told {
		own := *e
		name, rest := e.Param, ""
		if i := strings.IndexAny(name, ".["); i >= 0 {
			name, rest = name[:i], name[i:]
		}
		if known := c.Names()("", name); known != "" {
			own.Param = known + rest
		}
		err = &own
	}
	r := tool.Fail(c.Tool.Name, c.named(tool.AsError(err)))
	show := c.Tool.Show
	if show == nil {
		show = asItIs
	}
	r.Output = show(&View{Call: c, Result: r})
	return r
}
