package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"mvdan.cc/sh/v3/shell"

	"github.com/agentkit-go/agentkit/cmd"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// schemas returns the parameters of every tool in a format, by name.
func schemas(t *testing.T, format string, more ...string) map[string]map[string]any {
	t.Helper()
	var list []map[string]any
	raw := output(t, append([]string{"tools", "--format", format}, more...)...)
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	if format == "gemini" {
		declared, _ := list[0]["functionDeclarations"].([]any)
		list = nil
		for _, d := range declared {
			list = append(list, d.(map[string]any))
		}
	}
	found := map[string]map[string]any{}
	for _, one := range list {
		if f, ok := one["function"].(map[string]any); ok {
			one = f
		}
		name := one["name"].(string)
		for _, key := range []string{"input_schema", "inputSchema", "parameters"} {
			if s, ok := one[key].(map[string]any); ok {
				found[name] = s
			}
		}
		if d, _ := one["description"].(string); d == "" || len(d) > 8192 {
			t.Errorf("%s: %s has a description of %d bytes", format, name, len(d))
		}
	}
	if len(found) != len(cmd.Tools) {
		t.Fatalf("%s lists %d of %d tools", format, len(found), len(cmd.Tools))
	}
	return found
}

// walk visits every schema in s, with its place.
func walk(place string, s map[string]any, visit func(string, map[string]any)) {
	visit(place, s)
	props, _ := s["properties"].(map[string]any)
	for name, p := range props {
		walk(place+"."+name, p.(map[string]any), visit)
	}
	if items, ok := s["items"].(map[string]any); ok {
		walk(place+"[]", items, visit)
	}
}

// TestProviders checks each format against what its provider accepts.
func TestProviders(t *testing.T) {
	for _, tt := range []struct {
		format string
		rule   string
		holds  func(s map[string]any) bool
	}{
		{"openai-strict", "every member is required and no others are allowed", func(s map[string]any) bool {
			if s["type"] != "object" {
				return true
			}
			props, _ := s["properties"].(map[string]any)
			required, _ := s["required"].([]any)
			for name := range props {
				if !slices.Contains(required, any(name)) {
					return false
				}
			}
			return len(required) == len(props) && s["additionalProperties"] == false
		}},
		{"openai-strict", "there are no defaults", func(s map[string]any) bool { return s["default"] == nil }},
		{"openai-strict", "null is among the words of what may be null", func(s map[string]any) bool {
			types, _ := s["type"].([]any)
			words, ok := s["enum"].([]any)
			return !ok || slices.Contains(types, any("null")) == slices.Contains(words, any(nil))
		}},
		{"gemini", "additionalProperties and default are not known", func(s map[string]any) bool {
			return s["additionalProperties"] == nil && s["default"] == nil
		}},
		{"gemini", "an object has members", func(s map[string]any) bool {
			props, _ := s["properties"].(map[string]any)
			return s["type"] != "object" || len(props) > 0
		}},
		{"gemini", "a type is one word", func(s map[string]any) bool { _, ok := s["type"].(string); return ok }},
		{"anthropic", "an object whose members are named is closed", func(s map[string]any) bool { return s["properties"] == nil || s["additionalProperties"] != nil }},
		{"openai-responses", "an object whose members are named is closed", func(s map[string]any) bool { return s["properties"] == nil || s["additionalProperties"] != nil }},
		{"mcp", "a schema has a type", func(s map[string]any) bool { return s["type"] != nil }},
	} {
		for name, s := range schemas(t, tt.format) {
			walk(name, s, func(place string, s map[string]any) {
				if !tt.holds(s) {
					t.Errorf("%s: %s: not so at %s: %v", tt.format, tt.rule, place, s)
				}
			})
		}
	}
}

// TestSchemasAreValid resolves every schema of every format as JSON Schema.
func TestSchemasAreValid(t *testing.T) {
	for _, format := range []string{"json", "anthropic", "openai", "openai-strict", "openai-responses", "gemini", "mcp"} {
		for name, s := range schemas(t, format) {
			raw, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			var schema jsonschema.Schema
			if err := json.Unmarshal(raw, &schema); err != nil {
				t.Errorf("%s %s: %v", format, name, err)
			} else if _, err := schema.Resolve(nil); err != nil {
				t.Errorf("%s %s: %v", format, name, err)
			}
		}
	}
}

// What the declarations of all tools may cost a model, in tokens: 6,000 and
// 3,500 for the lean ones. A further tool has to find its room in the words of the others.
const (
	mostTokens, mostLean = 6000, 3500
	bytesPerToken        = 4.2 // of compact JSON: o200k_base makes 4.23 of the declarations, 4.33 of the lean ones
)

// TestDeclarationsAreShort holds what a model has to read before it has done anything.
func TestDeclarationsAreShort(t *testing.T) {
	for _, tt := range []struct {
		args []string
		most int
	}{
		{[]string{"tools", "--format", "anthropic"}, mostTokens},
		{[]string{"tools", "--format", "anthropic", "--lean"}, mostLean},
	} {
		var all bytes.Buffer
		if err := json.Compact(&all, output(t, tt.args...)); err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(all.Bytes(), []byte("metadata.")) {
			t.Errorf("%v: a field of metadata is named, which models do not see", tt.args)
		}
		tokens := int(float64(all.Len()) / bytesPerToken)
		if tokens > tt.most {
			t.Errorf("%v: about %d tokens, want at most %d", tt.args, tokens, tt.most)
		}
		t.Logf("%v: %d bytes, about %d tokens", tt.args, all.Len(), tokens)
	}
}

// TestOutputSchemas: what MCP declares of results is what agentkit schema results prints,
// without its descriptions, an object as the protocol wants it; lean declarations have nothing of it.
func TestOutputSchemas(t *testing.T) {
	for _, args := range [][]string{{"tools", "--format", "mcp"}, {"tools", "--format", "mcp", "--lean"}} {
		var list []struct {
			Name         string
			OutputSchema map[string]any
		}
		if err := json.Unmarshal(output(t, args...), &list); err != nil {
			t.Fatal(err)
		}
		for _, one := range list {
			var want map[string]any
			if len(args) == 3 {
				if err := json.Unmarshal(output(t, "schema", "results", one.Name), &want); err != nil || want["type"] != "object" {
					t.Fatal(want["type"], err)
				}
			}
			undescribe(want)
			if !reflect.DeepEqual(one.OutputSchema, want) {
				t.Errorf("%v: %s has another schema of results", args, one.Name)
			}
		}
	}
}

// undescribe removes all descriptions from a schema.
func undescribe(v any) {
	switch v := v.(type) {
	case map[string]any:
		if _, text := v["description"].(string); text {
			delete(v, "description")
		}
		for _, member := range v {
			undescribe(member)
		}
	case []any:
		for _, one := range v {
			undescribe(one)
		}
	}
}

// TestLean checks that the lean declarations hold what a call must have, and nothing
// that the others lack.
func TestLean(t *testing.T) {
	for name, lean := range schemas(t, "anthropic", "--lean") {
		full := schemas(t, "anthropic")[name]
		if !reflect.DeepEqual(lean["required"], full["required"]) {
			t.Errorf("%s requires %v, lean %v", name, full["required"], lean["required"])
		}
		all, _ := full["properties"].(map[string]any)
		for member := range lean["properties"].(map[string]any) {
			if all[member] == nil {
				t.Errorf("%s: %s is in the lean declaration only", name, member)
			}
		}
	}
}

// TestLimitsAreSensible checks that no format prints a bound that nobody reaches.
func TestLimitsAreSensible(t *testing.T) {
	for _, format := range []string{"json", "anthropic", "openai-strict", "mcp"} {
		for name, s := range schemas(t, format) {
			walk(name, s, func(place string, s map[string]any) {
				if most, ok := s["maximum"].(float64); ok && most > 1_000_000 {
					t.Errorf("%s: %s has the maximum %.0f", format, place, most)
				}
			})
		}
	}
}

// TestStrictCallsDecode sends what a strict provider sends: every member, null
// for those that are not meant.
func TestStrictCallsDecode(t *testing.T) {
	for name, s := range schemas(t, "openai-strict") {
		args := sample(s)
		i := slices.IndexFunc(cmd.Tools, func(t *tool.Tool) bool { return t.Name == name })
		if calls, ok := args.(map[string]any)["calls"].([]any); ok && cmd.Tools[i].Nests {
			calls[0].(map[string]any)["arguments"] = `{"path":"x"}` // a text that holds an object
		}
		raw, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tool.Decode(cmd.Tools[i], raw); err != nil {
			t.Errorf("%s does not take %s: %v", name, raw, err)
		}
	}
}

// sample is a value that a strict provider would send for s.
func sample(s map[string]any) any {
	if words, ok := s["enum"].([]any); ok && words[0] != nil {
		return words[0]
	}
	switch typ := fmt.Sprint(s["type"]); {
	case strings.Contains(typ, "null"):
		return nil
	case strings.Contains(typ, "array"):
		return []any{sample(s["items"].(map[string]any))}
	case strings.Contains(typ, "object"):
		o := map[string]any{}
		for member, p := range s["properties"].(map[string]any) {
			o[member] = sample(p.(map[string]any))
		}
		return o
	}
	return "x"
}

// TestToolsAreComplete checks what every tool must say of itself.
func TestToolsAreComplete(t *testing.T) {
	for _, one := range cmd.Tools {
		in := tool.New(one)
		if strings.TrimSpace(*one.Doc) == "" || one.Summary == "" || strings.HasSuffix(one.Summary, ".") {
			t.Errorf("%s: summary %q, doc of %d bytes", one.Name, one.Summary, len(*one.Doc))
		}
		seen := map[string]bool{}
		for _, p := range in.Set.Params {
			for _, name := range append([]string{p.Name}, p.Aliases...) {
				if seen[name] {
					t.Errorf("%s: %s names two parameters", one.Name, name)
				}
				seen[name] = true
			}
			if p.Usage == "" || strings.HasSuffix(p.Usage, ".") || strings.ToLower(p.Usage[:1]) != p.Usage[:1] && !strings.HasPrefix(p.Usage, "AGENTS") {
				t.Errorf("%s: %s: usage %q", one.Name, p.Name, p.Usage)
			}
		}
	}
}

// TestExamples makes the calls that the help of each tool begins with, as far as the
// policy's decision: they name files and jobs that are not there.
func TestExamples(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	for _, one := range cmd.Tools {
		if len(one.Examples) < 2 {
			t.Errorf("%s has %d examples", one.Name, len(one.Examples))
		}
		for _, line := range one.Examples {
			_, line, ok := strings.Cut("| "+line, "agentkit ")
			words, err := shell.Fields(line, nil)
			if err != nil || !ok || words[0] != one.Name {
				t.Errorf("%s: %q is no call of it: %v", one.Name, line, err)
				continue
			}
			var out bytes.Buffer
			args := append([]string{"-o", "json", "--root", dir, "--dry-run"}, words...)
			cmd.Main(t.Context(), func() {}, args, strings.NewReader("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"), &out, io.Discard)
			if strings.Contains(out.String(), `"code":"bad_input"`) && !strings.Contains(line, "fix.diff") {
				t.Errorf("agentkit %s: %s", line, out.String())
			}
		}
	}
}
