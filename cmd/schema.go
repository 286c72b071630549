package cmd

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentkit-go/agentkit/pkg/dialect"
	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/tools/files"
	"github.com/agentkit-go/agentkit/pkg/tools/run"
)

// A schemaFormat is a way of listing tools that a provider or protocol reads.
type schemaFormat struct {
	name string
	list func([]declaration) any
}

// schemaFormats says what each format accepts. Sources: the tool-use pages of
// the providers and the MCP specification of 2026-07-28.
func schemaFormats() []schemaFormat {
	return []schemaFormat{
		{"json", each(jsonSpec)},
		{"anthropic", native(anthropicSpec)},
		{"openai", each(openaiSpec)},
		{"openai-strict", each(openaiStrictSpec)},
		{"openai-responses", native(responsesSpec)},
		{"gemini", geminiSpec},
		{"mcp", each(mcpSpec)},
	}
}

func (a *app) toolsCommand() *cobra.Command {
	var format string
	var lean bool
	var known []string
	for _, f := range schemaFormats() {
		known = append(known, f.name)
	}
	c := &cobra.Command{
		Use:               "tools [TOOL]...",
		Short:             "print the tools as a provider or protocol wants them declared",
		ValidArgsFunction: toolNames,
		RunE: func(c *cobra.Command, args []string) error {
			if err := a.check(); err != nil {
				return err
			}
			list, err := a.declarations(c.Context(), args, format, lean)
			if err != nil {
				return err
			}
			return a.declared(list, format)
		},
	}
	c.Flags().StringVar(&format, "format", "", "one of "+strings.Join(known, ", ")+" (default: a table on a terminal, else json)")
	c.Flags().BoolVar(&lean, "lean", false, "half as many tokens: the first paragraphs, and the parameters that most calls need")
	_ = c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(known, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// declarations says of the named tools, of all where none is named, what models are
// told, in the dialect that is set.
func (a *app) declarations(ctx context.Context, names []string, format string, lean bool) ([]declaration, error) {
	d, err := a.spoken()
	if err != nil {
		return nil, err
	}
	if d != nil {
		list, err := chosen(names, d.Listed(), d.Find)
		if err != nil {
			return nil, err
		}
		return a.declareSpoken(ctx, list, format)
	}
	list, err := chosen(names, Tools, Tools.Find)
	if err == nil {
		list, err = a.narrowed(ctx, list)
	}
	return declare(list, lean), err
}

// chosen are the things of some names, or all where no name is given.
func chosen[T any](names []string, all []T, find func(string) (T, error)) ([]T, error) {
	if len(names) == 0 {
		return all, nil
	}
	var list []T
	for _, name := range names {
		one, err := find(name)
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, nil
}

// declared prints declarations in a format; without one a table on a terminal, else
// JSON.
func (a *app) declared(list []declaration, format string) error {
	if format == "" {
		if a.format() == "text" {
			a.print(overview(list))
			return nil
		}
		format = "json"
	}
	v, err := formatted(list, format)
	if err != nil {
		return err
	}
	raw, err := json.MarshalIndent(v, "", "  ")
	if err == nil {
		a.print(string(raw) + "\n")
	}
	return err
}

// formatted is declarations in a format.
func formatted(list []declaration, format string) (any, error) {
	var known []string
	for _, f := range schemaFormats() {
		if f.name == format {
			return f.list(list), nil
		}
		known = append(known, f.name)
	}
	return nil, wantOneOf("--format", format, known)
}

// declareSpoken says of each tool of a dialect what its models know of it.
func (a *app) declareSpoken(ctx context.Context, list []*dialect.Tool, format string) ([]declaration, error) {
	allowed, err := a.allowed(ctx)
	if err != nil {
		return nil, err
	}
	var all []declaration
	for _, t := range list {
		ours, err := Tools.Find(t.To)
		if err != nil {
			return nil, err
		}
		own := *ours
		own.Name = t.Name
		own.Summary, _, _ = strings.Cut(strings.ToLower(t.Told[:1])+t.Told[1:], ". ")
		own.Summary = strings.TrimSuffix(own.Summary, ".")
		one := declaration{tool: &own, text: t.Told, schema: t.Schema()}
		if t.To == run.Bash.Name && allowed != "" {
			one.text += "\nA command is one program with its arguments, without a shell. " + strings.TrimSuffix(allowed, "\n")
		}
		if t.Format == format {
			one.native = t.Native
		}
		all = append(all, one)
	}
	return all, nil
}

// narrowed has the description of bash list the commands that are allowed,
// where the call names a policy under which no others are: the profile argv.
func (a *app) narrowed(ctx context.Context, list []*tool.Tool) ([]*tool.Tool, error) {
	at := slices.Index(list, &run.Bash)
	if at < 0 {
		return list, nil
	}
	allowed, err := a.allowed(ctx)
	if err != nil || allowed == "" {
		return list, err
	}
	told, rest, _ := strings.Cut(run.Bash.Told(), "\n\n")
	text := told + "\nOnly programs without a shell are allowed: send `argv`, not `command`. " + allowed + "\n" + rest
	own := run.Bash
	own.Doc = &text
	list = slices.Clone(list)
	list[at] = &own
	return list, nil
}

// allowed says which commands are allowed where no others are; "" where a shell is.
func (a *app) allowed(ctx context.Context) (string, error) {
	if a.Profile != policy.ArgvOnly.String() && len(a.Policy) == 0 {
		return "", nil
	}
	here := *a
	here.On = "" // what the caller's own policy says can be told without the other place
	env, err := here.env(ctx)
	if err != nil || !env.Policy.NoShell() {
		return "", err
	}
	list := env.Policy.Commands()
	if len(list) == 0 {
		return "The policy lists none.\n", nil
	}
	text := "These are allowed, * stands for any words:\n"
	return text + "- `" + strings.Join(list, "`\n- `") + "`\n", nil
}

// overview lists tools for a person.
func overview(list []declaration) string {
	var b strings.Builder
	for _, d := range list {
		fmt.Fprintf(&b, "%-12s %s\n", d.tool.Name, d.tool.Summary)
	}
	return b.String()
}

func each[S any](spec func(declaration) S) func([]declaration) any {
	return func(list []declaration) any {
		specs := make([]S, 0, len(list))
		for _, d := range list {
			specs = append(specs, spec(d))
		}
		return specs
	}
}

// native is each, but for the tools that the provider declares itself.
func native[S any](spec func(declaration) S) func([]declaration) any {
	return each(func(d declaration) any {
		if d.native != nil {
			return d.native
		}
		return spec(d)
	})
}

// A declaration is what a model is told of a tool.
type declaration struct {
	tool   *tool.Tool
	text   string
	schema *param.Schema
	native map[string]any // how the provider declares a tool of its own; nil for one of ours
	result bool           // say what its results are, where the format can; no model reads that
}

// declare says of each tool what a model needs to know. Lean is what small models and
// short contexts can bear: the first paragraph, and the parameters that most calls
// need or that it names; a call may have the others all the same.
func declare(list []*tool.Tool, lean bool) []declaration {
	var all []declaration
	for _, t := range list {
		text, spare := t.Told(), func(param.Property) bool { return false }
		if lean {
			text, _, _ = strings.Cut(text, "\n\n")
			spare = func(p param.Property) bool { return p.Rare && !strings.Contains(text, "`"+p.Name+"`") }
		}
		all = append(all, declaration{t, text, brief(param.Of(t.New()).Schema(), nil, spare), nil, !lean})
	}
	return all
}

// maxEnum is how many words a model is told that a parameter may be.
const maxEnum = 12

// brief is s without what costs tokens and tells a model nothing: bounds that no call
// comes near, defaults that are false, 0 or the root, and in the items of a list what
// has been said of the parameter of the same name beside it, which outer has, and
// without what it can spare.
func brief(s *param.Schema, outer []param.Property, spare func(param.Property) bool) *param.Schema {
	c := *s
	if c.Minimum != nil && (*c.Minimum == 0 || *c.Minimum == 1) {
		c.Minimum = nil
	}
	if c.Maximum != nil && *c.Maximum >= 100 {
		c.Maximum = nil
	}
	if slices.Contains([]string{"false", "0", `"."`}, string(c.Default)) {
		c.Default = nil
	}
	if len(c.Enum) > maxEnum {
		c.Enum = nil // the error for another word names them
	}
	if c.Items != nil {
		c.Items = brief(c.Items, outer, spare)
	}
	c.Properties = slices.DeleteFunc(slices.Clone(s.Properties), spare)
	for i, p := range c.Properties {
		m := brief(p.Schema, s.Properties, spare)
		if j := slices.IndexFunc(outer, func(o param.Property) bool { return o.Name == p.Name }); j >= 0 && outer[j].Schema.Description == m.Description {
			m.Description = ""
		}
		c.Properties[i].Schema = m
	}
	return &c
}

type toolSpec struct {
	Name        string        `json:"name"`
	Summary     string        `json:"summary"`
	Description string        `json:"description"`
	ReadOnly    bool          `json:"read_only"`
	Parameters  *param.Schema `json:"parameters"`
}

func jsonSpec(d declaration) toolSpec {
	return toolSpec{d.tool.Name, d.tool.Summary, d.text, d.tool.ReadOnly, d.schema}
}

type anthropicTool struct {
	Name        string        `json:"name"`
	Description string        `json:"description"`
	InputSchema *param.Schema `json:"input_schema"`
}

func anthropicSpec(d declaration) anthropicTool {
	return anthropicTool{d.tool.Name, d.text, d.schema}
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

func openaiSpec(d declaration) openaiTool {
	return openaiTool{"function", openaiFunction{d.tool.Name, d.text, d.schema, false}}
}

func openaiStrictSpec(d declaration) openaiTool {
	return openaiTool{"function", openaiFunction{d.tool.Name, d.text, strict(d.schema), true}}
}

// A responsesTool is a function tool of OpenAI's Responses API. Without strict that
// would take the schema for one of strict mode.
type responsesTool struct {
	Type        string        `json:"type"`
	Name        string        `json:"name"`
	Description string        `json:"description"`
	Parameters  *param.Schema `json:"parameters"`
	Strict      bool          `json:"strict"`
}

func responsesSpec(d declaration) responsesTool {
	return responsesTool{"function", d.tool.Name, d.text, d.schema, false}
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

func geminiSpec(list []declaration) any {
	var g geminiTools
	for _, d := range list {
		s := plain(d.schema)
		if len(s.Properties) == 0 {
			s = nil // an object without members is refused
		}
		g.FunctionDeclarations = append(g.FunctionDeclarations, geminiFunction{d.tool.Name, d.text, s})
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
	Result      *param.Schema  `json:"outputSchema,omitempty"` // of structuredContent, which is the result
	Annotations mcpAnnotations `json:"annotations"`
}

type mcpAnnotations struct {
	Title       string `json:"title"`
	ReadOnly    bool   `json:"readOnlyHint"`
	Destructive bool   `json:"destructiveHint"`
	Idempotent  bool   `json:"idempotentHint"`
	OpenWorld   bool   `json:"openWorldHint"`
}

func mcpSpec(d declaration) mcpTool {
	t := d.tool
	title := strings.ToUpper(t.Summary[:1]) + t.Summary[1:]
	var result *param.Schema
	if d.result {
		result = wordless(results(t))
	}
	return mcpTool{t.Name, title, d.text, d.schema, result, mcpAnnotations{title, t.ReadOnly, !t.ReadOnly && !t.Additive, t.ReadOnly || t.Idempotent, t.OpenWorld}}
}

// wordless is s without its descriptions, which are for those who write programs: half
// of it, should a client hand it to a model all the same.
func wordless(s *param.Schema) *param.Schema {
	if s == nil {
		return nil
	}
	c := *s
	c.Description = ""
	c.Items, c.Additional = wordless(s.Items), wordless(s.Additional)
	c.Properties, c.AnyOf = slices.Clone(s.Properties), slices.Clone(s.AnyOf)
	for i, p := range c.Properties {
		c.Properties[i].Schema = wordless(p.Schema)
	}
	for i, one := range c.AnyOf {
		c.AnyOf[i] = wordless(one)
	}
	return &c
}

// results is the schema of the results of t: see standIn.
func results(t *tool.Tool) *param.Schema {
	if t.Name == run.Bash.Name {
		return t.ResultSchema(&files.Patch)
	}
	return t.ResultSchema()
}
