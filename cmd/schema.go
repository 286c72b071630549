package cmd

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentkit-go/agentkit/pkg/nearest"
	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/tools/run"
)

// A schemaFormat is a way of listing tools that a provider or protocol reads.
type schemaFormat struct {
	name string
	list func([]*tool.Tool) any
}

// schemaFormats says what each format accepts. Sources: the tool-use pages of
// the providers and the MCP specification of 2026-07-28.
func schemaFormats() []schemaFormat {
	return []schemaFormat{
		{"json", each(jsonSpec)},
		{"anthropic", each(anthropicSpec)},
		{"openai", each(openaiSpec)},
		{"openai-strict", each(openaiStrictSpec)},
		{"gemini", geminiSpec},
		{"mcp", each(mcpSpec)},
	}
}

func (a *app) toolsCommand() *cobra.Command {
	var format string
	var known []string
	for _, f := range schemaFormats() {
		known = append(known, f.name)
	}
	c := &cobra.Command{
		Use:   "tools [TOOL]...",
		Short: "print the tools as a provider or protocol wants them declared",
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return Tools.Names(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			if err := a.check(); err != nil {
				return err
			}
			if a.Dialect != "" {
				return tool.Errorf(tool.Unsupported, "dialect %q is not there yet", a.Dialect).WithHint("leave --dialect out")
			}
			list := Tools
			if len(args) > 0 {
				list = nil
			}
			for _, name := range args {
				t, err := Tools.Find(name)
				if err != nil {
					return err
				}
				list = append(list, t)
			}
			list, err := a.narrowed(c.Context(), list)
			if err != nil {
				return err
			}
			if format == "" {
				if a.format() == "text" {
					a.print(overview(list))
					return nil
				}
				format = "json"
			}
			i := slices.IndexFunc(schemaFormats(), func(f schemaFormat) bool { return f.name == format })
			if i < 0 {
				return tool.Errorf(tool.BadInput, "--format: want one of %s, got %q", strings.Join(known, ", "), format).
					WithHint("choose the format of your provider").Suggest(nearest.Words(format, known, 3)...)
			}
			raw, err := json.MarshalIndent(schemaFormats()[i].list(list), "", "  ")
			if err != nil {
				return err
			}
			a.print(string(raw) + "\n")
			return nil
		},
	}
	c.Flags().StringVar(&format, "format", "", "one of "+strings.Join(known, ", ")+" (default: a table on a terminal, else json)")
	_ = c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(known, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// narrowed has the description of bash list the commands that are allowed,
// where the call names a policy under which no others are: the profile argv.
func (a *app) narrowed(ctx context.Context, list []*tool.Tool) ([]*tool.Tool, error) {
	at := slices.Index(list, &run.Bash)
	if at < 0 || a.Profile != policy.ArgvOnly.String() && len(a.Policy) == 0 {
		return list, nil
	}
	env, err := a.env(ctx)
	if err != nil || !env.Policy.NoShell() {
		return list, err
	}
	text := description(&run.Bash) + "\n\nOnly programs without a shell are allowed: send argv, not command. "
	if allowed := env.Policy.Commands(); len(allowed) > 0 {
		text += "These are allowed, * stands for any words:\n"
		for _, p := range allowed {
			text += "- `" + p + "`\n"
		}
	} else {
		text += "The policy lists none."
	}
	own := run.Bash
	own.Doc = &text
	list = slices.Clone(list)
	list[at] = &own
	return list, nil
}

// overview lists tools for a person.
func overview(list []*tool.Tool) string {
	var b strings.Builder
	for _, t := range list {
		fmt.Fprintf(&b, "%-12s %s\n", t.Name, t.Summary)
	}
	return b.String()
}

func each[S any](spec func(*tool.Tool) S) func([]*tool.Tool) any {
	return func(list []*tool.Tool) any {
		specs := make([]S, 0, len(list))
		for _, t := range list {
			specs = append(specs, spec(t))
		}
		return specs
	}
}

func description(t *tool.Tool) string { return strings.TrimSpace(*t.Doc) }

func schemaOf(t *tool.Tool) *param.Schema { return param.Of(t.New()).Schema() }

type toolSpec struct {
	Name        string        `json:"name"`
	Summary     string        `json:"summary"`
	Description string        `json:"description"`
	ReadOnly    bool          `json:"read_only"`
	Parameters  *param.Schema `json:"parameters"`
}

func jsonSpec(t *tool.Tool) toolSpec {
	return toolSpec{t.Name, t.Summary, description(t), t.ReadOnly, schemaOf(t)}
}

type anthropicTool struct {
	Name        string        `json:"name"`
	Description string        `json:"description"`
	InputSchema *param.Schema `json:"input_schema"`
}

func anthropicSpec(t *tool.Tool) anthropicTool {
	return anthropicTool{t.Name, description(t), schemaOf(t)}
}

// An openaiTool is a function tool of the chat completions API, which
// compatible services take over.
type openaiTool struct {
	Type     string         `json:"type"`
	Function openaiFunction `json:"function"`
}

type openaiFunction struct {
	Name        string        `json:"name"`
	Description string        `json:"description"`
	Parameters  *param.Schema `json:"parameters"`
	Strict      bool          `json:"strict,omitempty"`
}

func openaiSpec(t *tool.Tool) openaiTool {
	return openaiTool{"function", openaiFunction{t.Name, description(t), schemaOf(t), false}}
}

func openaiStrictSpec(t *tool.Tool) openaiTool {
	return openaiTool{"function", openaiFunction{t.Name, description(t), strict(schemaOf(t)), true}}
}

// strict rewrites s for OpenAI's strict mode: every member is required, and
// one that may be left out may be null instead; no defaults, no open objects.
// Decode reads null as "not given", texts for objects, and KEY=VALUE lists.
func strict(s *param.Schema) *param.Schema {
	c := closed(s)
	if c.Items != nil {
		c.Items = strict(c.Items)
	}
	for i, p := range c.Properties {
		m := strict(p.Schema)
		m.Nullable = !slices.Contains(s.Required, p.Name)
		m.Description = withDefault(p.Schema)
		m.Default = nil
		c.Properties[i].Schema = m
	}
	c.Required = nil
	for _, p := range c.Properties {
		c.Required = append(c.Required, p.Name)
	}
	return c
}

// closed is a copy of s in which objects of free form are texts or lists, for
// providers that want every member named.
func closed(s *param.Schema) *param.Schema {
	c := *s
	c.Properties = slices.Clone(s.Properties)
	switch {
	case s.Additional != nil:
		return &param.Schema{Type: "array", Description: s.Description + ", each as KEY=VALUE", Items: &param.Schema{Type: "string"}}
	case s.Open:
		return &param.Schema{Type: "string", Description: s.Description + ", as JSON text"}
	}
	return &c
}

// withDefault is s's description with its default in words.
func withDefault(s *param.Schema) string {
	text := closed(s).Description
	if s.Default != nil {
		text += fmt.Sprintf(" (default %s)", strings.Trim(string(s.Default), `"`))
	}
	return text
}

type geminiTools struct {
	FunctionDeclarations []geminiFunction `json:"functionDeclarations"`
}

type geminiFunction struct {
	Name        string        `json:"name"`
	Description string        `json:"description"`
	Parameters  *param.Schema `json:"parameters,omitempty"`
}

func geminiSpec(list []*tool.Tool) any {
	var g geminiTools
	for _, t := range list {
		s := plain(schemaOf(t))
		if len(s.Properties) == 0 {
			s = nil // an object without members is refused
		}
		g.FunctionDeclarations = append(g.FunctionDeclarations, geminiFunction{t.Name, description(t), s})
	}
	return []geminiTools{g}
}

// plain rewrites s for the OpenAPI subset that Gemini reads: no
// additionalProperties and no defaults.
func plain(s *param.Schema) *param.Schema {
	c := closed(s)
	c.Description, c.Default, c.Loose = withDefault(s), nil, true
	if c.Items != nil {
		c.Items = plain(c.Items)
	}
	for i, p := range c.Properties {
		c.Properties[i].Schema = plain(p.Schema)
	}
	return c
}

type mcpTool struct {
	Name        string         `json:"name"`
	Title       string         `json:"title"`
	Description string         `json:"description"`
	InputSchema *param.Schema  `json:"inputSchema"`
	Annotations mcpAnnotations `json:"annotations"`
}

type mcpAnnotations struct {
	Title       string `json:"title"`
	ReadOnly    bool   `json:"readOnlyHint"`
	Destructive bool   `json:"destructiveHint"`
	Idempotent  bool   `json:"idempotentHint"`
	OpenWorld   bool   `json:"openWorldHint"`
}

func mcpSpec(t *tool.Tool) mcpTool {
	title := strings.ToUpper(t.Summary[:1]) + t.Summary[1:]
	return mcpTool{t.Name, title, description(t), schemaOf(t), mcpAnnotations{title, t.ReadOnly, !t.ReadOnly && !t.Additive, t.ReadOnly || t.Idempotent, t.OpenWorld}}
}
