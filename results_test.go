package main

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/agentkit-go/agentkit/cmd"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// contract is what agentkit schema results prints, ready to check results by.
var contract = sync.OnceValues(func() (c resolved, err error) {
	var printed struct {
		Tools, Events map[string]*jsonschema.Schema
		Details       map[string]*jsonschema.Schema
		Asked         *jsonschema.Schema `json:"approval_required"`
	}
	raw, err := printedBy("schema", "results")
	if err == nil {
		err = json.Unmarshal(raw, &printed)
	}
	c.tools, c.events, c.details = map[string]*jsonschema.Resolved{}, map[string]*jsonschema.Resolved{}, map[string]*jsonschema.Resolved{}
	for into, from := range map[*map[string]*jsonschema.Resolved]map[string]*jsonschema.Schema{&c.tools: printed.Tools, &c.events: printed.Events, &c.details: printed.Details} {
		for name, s := range from {
			if err == nil {
				(*into)[name], err = s.Resolve(nil)
			}
		}
	}
	if err == nil {
		c.asked, err = printed.Asked.Resolve(nil)
	}
	return c, err
})

type resolved struct {
	tools, events, details map[string]*jsonschema.Resolved // the last by code
	asked                  *jsonschema.Resolved
}

// keepsContract says what is wrong about a line of JSON that a call of the named tool
// printed; "" stands for any.
func keepsContract(name string, line []byte) error {
	c, err := contract()
	if err != nil {
		return err
	}
	var value map[string]any
	if err := json.Unmarshal(line, &value); err != nil {
		return err
	}
	if event, ok := value["event"].(string); ok && event != "result" {
		if c.events[event] == nil {
			return fmt.Errorf("the event %s is not declared", event)
		}
		return c.events[event].Validate(value)
	}
	delete(value, "event")
	if failed, ok := value["error"].(map[string]any); ok && failed["details"] != nil {
		code, _ := failed["code"].(string)
		if c.details[code] == nil {
			return fmt.Errorf("no details of %s are declared", code)
		}
		if err := c.details[code].Validate(failed["details"]); err != nil {
			return fmt.Errorf("the details of %s: %w", code, err)
		}
		if err := c.asked.Validate(failed["details"]); err != nil && code == "approval_required" {
			return fmt.Errorf("the details of approval_required: %w", err)
		}
	}
	if name != "" {
		return c.tools[name].Validate(value)
	}
	for _, s := range c.tools {
		if err = s.Validate(value); err == nil {
			return nil
		}
	}
	return err
}

// A checkedScript is the test of one script. Every result that it prints is checked
// by the schema of its tool.
type checkedScript struct {
	*testing.T
	seen *seenResults
}

// seenResults counts them, by tool.
type seenResults struct {
	sync.Mutex
	count map[string]int
}

func (c checkedScript) Run(name string, f func(testscript.T)) {
	c.T.Run(name, func(t *testing.T) { f(checkedScript{t, c.seen}) })
}

// Verbose has the log hold what every command printed.
func (c checkedScript) Verbose() bool { return true }

// Log is given what a script has done and printed, once.
func (c checkedScript) Log(args ...any) {
	c.T.Helper()
	log := fmt.Sprint(args...)
	c.check(log)
	if at := strings.LastIndex(log, "\n# "); at > 0 && !testing.Verbose() {
		log = log[at:] // what failed stands in the last part
	}
	c.T.Log(log)
}

func (c checkedScript) check(log string) {
	c.T.Helper()
	var command string
	printed := false
	for line := range strings.Lines(log) {
		switch {
		case strings.HasPrefix(line, "> "):
			command, printed = line[2:], false
		case line == "[stdout]\n" || line == "[stderr]\n":
			printed = line == "[stdout]\n"
		case printed && (strings.HasPrefix(line, `{"title":`) || strings.HasPrefix(line, `{"event":`)):
			name, isTool := calledTool(command)
			if !isTool {
				continue
			}
			c.seen.Lock()
			c.seen.count[name]++
			c.seen.Unlock()
			if err := keepsContract(name, []byte(line)); err != nil {
				c.T.Errorf("%s\nprinted %.2000s\nwhich agentkit schema results %s does not declare: %v", command, line, name, err)
			}
		}
	}
}

// calledTool is the tool that a line of a script calls, "" where it cannot be known;
// isTool is false where the line calls another command.
func calledTool(line string) (name string, isTool bool) {
	words := strings.Fields(line)
	at := slices.Index(words, "agentkit")
	if at < 0 || strings.Count(line, "agentkit ") > 1 {
		return "", !strings.Contains(line, "agentkit") || strings.Contains(line, "agentkit call")
	}
	call := false
	for i := at + 1; i < len(words); i++ {
		word := words[i]
		switch {
		case slices.Contains(cmd.Tools.Names(), word):
			return word, !slices.Contains(words, "--help")
		case call:
			return "", true
		case word == "call":
			call = true
		case strings.HasPrefix(word, "--") && !strings.Contains(word, "=") && word != "--ask" && word != "--dry-run", word == "-o":
			i++ // its value
		case !strings.HasPrefix(word, "-"):
			return "", false
		}
	}
	return "", call
}

// enough checks that the results of the scripts were seen at all.
func (s *seenResults) enough(t *testing.T) {
	total := 0
	views, err := condition("overlay")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range cmd.Tools.Names() {
		least := 10
		if name == "apply" || name == "discard" { // where there are no views, they have nothing to do
			if least = 3; !views {
				least = 0
			}
		}
		if total += s.count[name]; s.count[name] < least {
			t.Errorf("only %d results of %s were checked", s.count[name], name)
		}
	}
	t.Logf("%d results of tools were checked by their schemas: %v", total, s.count)
}

// TestResultSchemas checks what is declared of results: every member of the metadata
// says what it is, and a result with an undeclared one does not pass.
func TestResultSchemas(t *testing.T) {
	for _, one := range cmd.Tools {
		var own map[string]any
		for _, branch := range one.ResultSchema().Properties {
			if branch.Name == "metadata" {
				own = asMap(t, branch.Schema.AnyOf[0])
			}
		}
		props, _ := own["properties"].(map[string]any)
		if len(props) < 3 {
			t.Errorf("%s declares only %d members", one.Name, len(props))
		}
		for name, p := range props {
			if d, _ := p.(map[string]any)["description"].(string); d == "" {
				t.Errorf("%s: metadata.%s is not described", one.Name, name)
			}
		}
	}
	for _, tt := range []struct {
		name, result, want string
	}{
		{"todo", `{"title":"t","output":"","metadata":{}}`, ""},
		{"todo", `{"title":"t","output":"","metadata":{"notes":["a"]},"error":{"code":"denied","message":"no"}}`, ""},
		{"todo", `{"title":"t","output":"","metadata":{},"error":{"code":"unheard_of","message":"no"}}`, "enum"},
		{"todo", `{"title":"t","output":"","metadata":{"undeclared":1}}`, "undeclared"},
		{"todo", `{"title":"t","output":"","metadata":{},"error":{"code":"internal","message":"no","details":{"stack":"a"}}}`, ""},
		{"todo", `{"title":"t","output":"","metadata":{},"error":{"code":"internal","message":"no","details":{"stacks":"a"}}}`, "internal"},
		{"todo", `{"title":"t","output":"","metadata":{},"error":{"code":"timeout","message":"no","details":{}}}`, "timeout"},
		{"todo", `{"title":"t","output":"","metadata":{"notes":"a"}}`, "notes"},
		{"todo", `{"title":"t","output":"","metadata":{},"more":1}`, "more"},
		{"todo", `{"title":"t","metadata":{}}`, "output"},
		{"", `{"event":"output","text":"a"}`, ""},
		{"", `{"event":"output","words":"a"}`, "words"},
		{"", `{"event":"elsewhere"}`, "elsewhere"},
	} {
		err := keepsContract(tt.name, []byte(tt.result))
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q in it", tt.result, err, tt.want)
		}
	}
}

func asMap(t *testing.T, v any) (m map[string]any) {
	t.Helper()
	raw, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(raw, &m)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestResultsPage checks what docs/results.md lists against the code: the error codes
// with their exit statuses, the events, the members that any metadata may have.
func TestResultsPage(t *testing.T) {
	raw, err := os.ReadFile("docs/results.md")
	if err != nil {
		t.Fatal(err)
	}
	var codes, events, named []string
	details := map[tool.Code]string{} // what the page says of them
	for line := range strings.Lines(string(raw)) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 || !strings.HasPrefix(cells[1], " `") {
			continue
		}
		first := strings.Trim(cells[1], " `")
		switch status, err := strconv.Atoi(strings.TrimSpace(cells[2])); {
		case err == nil:
			codes = append(codes, first)
			if want := tool.Code(first).Exit(); status != want {
				t.Errorf("%s: status %d on the page, %d in the code", first, status, want)
			}
			details[tool.Code(first)] = cells[5]
		case len(cells) == 4:
			for name := range strings.SplitSeq(cells[1], ",") {
				named = append(named, strings.Trim(name, " `"))
			}
			events = append(events, first)
		}
	}
	for i, c := range tool.Codes() {
		if i >= len(codes) || codes[i] != string(c) {
			t.Errorf("the codes on the page are %v, want %v", codes, tool.Codes())
			break
		}
	}
	if len(codes) != len(tool.Codes()) {
		t.Errorf("%d codes on the page, want %d", len(codes), len(tool.Codes()))
	}
	declared := tool.DetailSchemas(cmd.Tools)
	for code, s := range declared {
		said := details[code]
		if strings.Contains(said, "as `no_match`") {
			said += details[tool.NoMatch]
		}
		for _, one := range s.AnyOf {
			for _, p := range one.Properties {
				if !strings.Contains(said, "`"+p.Name+"`") {
					t.Errorf("the page does not name %s among the details of %s", p.Name, code)
				}
			}
		}
	}
	for code, said := range details {
		if declared[code] == nil && strings.TrimSpace(said) != "" {
			t.Errorf("the page says %q of the details of %s, which has none", said, code)
		}
	}
	for _, e := range tool.EventSchemas() {
		if !slices.Contains(events, e.Name) {
			t.Errorf("the page does not name the event %s", e.Name)
		}
	}
	for _, p := range tool.SchemaOf(reflect.TypeFor[tool.Shared]()).Properties {
		if !slices.Contains(named, p.Name) {
			t.Errorf("the page does not name %s, which any metadata may have", p.Name)
		}
	}
	if !strings.Contains(string(raw), fmt.Sprintf("contract, version %d.", tool.ResultVersion)) {
		t.Errorf("the page is not about version %d", tool.ResultVersion)
	}
}
