// Package dialect knows the tools of other agents: a model that was trained on those
// calls them by their names and parameters, and reads the answers in the form it
// knows. A dialect turns such a call into one of ours before anything is decoded, and
// the result back into text; the policy, approvals and the audit log see our tools
// only.
//
// A dialect is data: a row for each parameter says which of ours it is. What rows
// cannot say is a function beside them.
package dialect

import (
	"runtime"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/nearest"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// A Dialect is the tools of an agent, as its models know them.
type Dialect struct {
	Name  string
	Of    string // whose tools they are
	Tools []Tool
	Loose bool   // parameters that are not known are passed over, as that agent does
	Later string // tools of that agent that have no counterpart yet, for the manual
}

// A Tool is a tool of another agent.
type Tool struct {
	Name    string
	Also    string // other names for it, as words
	To      string // our tool
	Told    string // what the model is told of it
	Params  []Param
	Const   Args               // parameters of ours that are always so
	Map     func(*Call) error  // what the rows do not say; nil for nothing
	Show    func(*View) string // the result as text; nil for ours
	Differs string             // how it differs from the original, for the manual
	Room    int                // bytes of output that Show wants to see; 0 for the usual limits
	Only    string             // the operating system it is for: unix or windows; "" for every one
	Native  map[string]any     // how its provider declares it without a schema; nil for none that does
	Format  string             // the format of declarations in which it does
	Hidden  bool               // it is understood, and not declared
}

// Args are the parameters of a call.
type Args map[string]any

// dialects are all of them, each made when it is asked for.
var dialects = [...]struct {
	name string
	made func() *Dialect
}{
	{"claude", claude},
	{"codex", codex},
	{"opencode", opencode},
	{"gemini", gemini},
	{"jido", jido},
	{"codepilot", codepilot},
	{"aider", aider},
	{"openloaf", openloaf},
	{"anthropic", anthropic},
	{"openai", openai},
}

// Names are the names of all dialects.
func Names() []string {
	var list []string
	for _, d := range dialects {
		list = append(list, d.name)
	}
	return list
}

// Find returns the dialect of a name.
func Find(name string) (*Dialect, error) {
	for _, d := range dialects {
		if d.name == name {
			return d.made(), nil
		}
	}
	return nil, tool.Errorf(tool.BadInput, "unknown dialect %q", name).WithHint("use one of %s", strings.Join(Names(), ", ")).
		Suggest(nearest.Words(name, Names(), 3)...)
}

// Find returns the tool of a name; the error for one that is not there names the
// nearest.
func (d *Dialect) Find(name string) (*Tool, error) {
	var known []string
	for i := range d.Tools {
		t := &d.Tools[i]
		if !t.here() {
			continue
		}
		if t.Name == name || slices.Contains(strings.Fields(t.Also), name) {
			return t, nil
		}
		if !t.Hidden {
			known = append(known, t.Name)
		}
	}
	e := tool.Errorf(tool.BadInput, "unknown tool %.80q in the dialect %s", name, d.Name).WithHint("the tools are %s", strings.Join(known, ", "))
	if instead := d.instead(name); instead != "" {
		return nil, e.WithHint("%s", instead)
	}
	return nil, e.Suggest(nearest.Words(name, known, 3)...)
}

// Listed are the tools that are declared to a model on this machine.
func (d *Dialect) Listed() []*Tool {
	var list []*Tool
	for i := range d.Tools {
		if t := &d.Tools[i]; t.here() && !t.Hidden {
			list = append(list, t)
		}
	}
	return list
}

// here reports whether the tool is one of this operating system.
func (t *Tool) here() bool {
	return t.Only == "" || (t.Only == "windows") == (runtime.GOOS == "windows")
}

// names are what a model of d that has called t calls our tools and parameters.
func (d *Dialect) names(t *Tool) tool.Names {
	return func(name, param string) string {
		if name == "" || name == t.To && param != "" {
			return t.nameOf(param)
		}
		for _, other := range d.Listed() {
			if other.To != name {
				continue
			}
			if param == "" {
				return other.Name
			}
			if own := other.nameOf(param); own != "" {
				return own
			}
		}
		return ""
	}
}

// nameOf is t's name for a parameter of ours; "" where it has none.
func (t *Tool) nameOf(param string) string {
	for _, p := range t.Params {
		if param != "" && p.To == param {
			return p.Name
		}
	}
	return ""
}
