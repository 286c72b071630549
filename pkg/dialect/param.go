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
	Silent  bool   // it is understood, and not declared
	Default any
	Least   float64 // with Most: its bounds; both 0 for none
	Most    float64
	Schema  *param.Schema // of a parameter of the kind JSON
}

// fileParam is the file that a tool reads or changes.
func fileParam(name, also, usage string) Param {
	return Param{Name: name, Also: also, To: "path", Usage: usage, Kind: Path, Must: true}
}

// A Kind is a type of parameters.
type Kind int

// The kinds.
const (
	Text Kind = iota
	Path
	Whole
	Truth
	Texts
	JSON // anything that fits Schema
)

// declare adds p to s.
func (p *Param) declare(s *param.Set) (made *param.Param) {
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
	if p.Silent {
		made.Unlisted()
	}
	if p.Enum != "" {
		made.OneOf(strings.Fields(p.Enum)...)
	}
	if p.Least < p.Most {
		made.Between(p.Least, p.Most)
	}
	return made
}

// usual are the names under which models know a parameter of ours from other agents. How
// they are spelled does not matter: see [param.Set.Spelled].
func usual(to string) []string {
	switch to {
	case "path":
		return []string{"path", "file_path", "file", "filename"}
	case "command":
		return []string{"command", "cmd"}
	case "workdir":
		return []string{"workdir", "cwd", "working_directory", "directory"}
	case "timeout_ms":
		return []string{"timeout_ms"}
	case "background":
		return []string{"background", "run_in_background", "is_background"}
	case "pattern":
		return []string{"pattern", "query", "regex"}
	case "include":
		return []string{"include", "glob", "include_pattern", "file_pattern"}
	case "ignore_case":
		return []string{"ignore_case", "case_insensitive"}
	case "limit":
		return []string{"limit", "max_results", "head_limit"}
	case "old_string":
		return []string{"old_string", "old_str", "old_text"}
	case "new_string":
		return []string{"new_string", "new_str", "new_text"}
	case "replace_all":
		return []string{"replace_all", "allow_multiple"}
	case "content":
		return []string{"content", "contents", "file_text"}
	case "patch":
		return []string{"patch", "input", "patch_text", "diff"}
	case "id":
		return []string{"id", "bash_id", "shell_id", "session_id", "task_id"}
	case "url":
		return []string{"url", "uri"}
	case "query":
		return []string{"query", "search_query", "search_term"}
	}
	return nil
}

// set is t's parameters. What models often send goes by its other usual names, too, where the
// tool has nothing else of that name, and, but for the file, where its own name did not come.
func (t *Tool) set(came map[string]json.RawMessage) *param.Set {
	s := new(param.Set)
	taken := map[string]bool{}
	for i := range t.Params {
		taken[t.Params[i].Name] = true
		for other := range strings.FieldsSeq(t.Params[i].Also) {
			taken[other] = true
		}
	}
	for i := range t.Params {
		p := &t.Params[i]
		made := p.declare(s)
		if p.To == "path" && p.Kind != Path {
			continue
		}
		_, itself := came[p.Name]
		for _, other := range usual(p.To) {
			if !taken[other] && (!itself || p.To == "path") {
				taken[other] = true
				made.Alias(append(made.Aliases, other)...)
			}
		}
	}
	return s
}

// Schema is the JSON Schema of t's parameters.
func (t *Tool) Schema() *param.Schema { return t.set(nil).Schema() }
