package cmd

import (
	"bytes"
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// Manual returns the page of t: the Markdown that docs/tools holds. The examples, with
// what they print, are those of testdata/examples, which the tests run.
func Manual(t *tool.Tool, examples string) []byte {
	set := param.Of(t.New())
	w := new(bytes.Buffer)
	fmt.Fprintf(w, "# agentkit %s\n\n%s\n\n", t.Name, t.Summary)
	fmt.Fprintf(w, "    agentkit %s\n\n%s\n\n", strings.Join(append([]string{t.Name}, append(synopsis(set), "[flags]")...), " "), t.Page())
	fmt.Fprintf(w, "## Parameters\n\n| JSON | flag | type | default | meaning |\n| --- | --- | --- | --- | --- |\n")
	for _, p := range set.Params {
		if p.Silent {
			continue
		}
		fmt.Fprintf(w, "| `%s` | `--%s` | %s | %s | %s |\n", p.Name, p.Flag(), p.Type(), standard(p), meaning(p))
	}
	fmt.Fprintf(w, "\n## Metadata\n\nWhat programs find in a result, [beside what all have](../results.md#metadata).\n\n| member | type | meaning |\n| --- | --- | --- |\n")
	own := tool.SchemaOf(reflect.TypeOf(t.Metadata))
	for _, p := range own.Properties {
		fmt.Fprintf(w, "| `%s` | %s | %s |\n", p.Name, memberType(p, own.Required), strings.ReplaceAll(p.Schema.Description, "|", `\|`))
	}
	fmt.Fprintf(w, "\n## Examples\n%s", examples)
	return w.Bytes()
}

// memberType names the type of a member of an object.
func memberType(p param.Property, required []string) string {
	s, list := p.Schema, ""
	for ; s.Items != nil; s = s.Items {
		list += "list of "
	}
	name := cmp.Or(s.Type, "any")
	if list != "" {
		name = list + name + "s"
	}
	switch {
	case s.Nullable:
		name += " or null"
	case !slices.Contains(required, p.Name):
		name += ", may be absent"
	}
	return name
}

func standard(p *param.Param) string {
	text := p.String()
	switch {
	case p.Must:
		return "required"
	case p.Default != "":
		text = p.Default
	}
	if p.ZeroIsAbsent() && text != "" {
		text += ", also for 0"
	}
	return text
}

func meaning(p *param.Param) string {
	text := p.Usage
	if p.Enum != nil {
		text += ": " + strings.Join(p.Enum, ", ")
	}
	if len(p.Aliases) > 0 {
		text += " (also `" + strings.Join(p.Aliases, "`, `") + "`)"
	}
	return strings.ReplaceAll(text, "|", `\|`)
}

// exitStatus is the section of the exit statuses.
func exitStatus() string {
	var b strings.Builder
	b.WriteString("\n## Exit status\n\n| status | meaning |\n| --- | --- |\n")
	for _, s := range statuses() {
		fmt.Fprintf(&b, "| %s | %s |\n", s[0], s[1])
	}
	return b.String() + "\n" + passesOn
}

// Reference returns the page of the global flags and of the commands that are
// not tools: the Markdown of docs/commands.md.
func Reference() []byte {
	a := &app{variables: variables{func(string) string { return "" }, func() []string { return nil }}}
	root := a.root()
	a.add(root, true)
	w := new(bytes.Buffer)
	fmt.Fprintf(w, "# Commands and flags\n\n%s\n\nThe tools have pages of their own in [tools](tools).\n\n## Flags of every command\n\n", root.Long)
	flagTable(w, root.PersistentFlags())
	w.WriteString(exitStatus())
	for _, c := range root.Commands() {
		if c.GroupID == "more" {
			reference(w, c, "##")
		}
	}
	return w.Bytes()
}

func reference(w *bytes.Buffer, c *cobra.Command, level string) {
	if c.Name() == "help" {
		return
	}
	text := c.Long
	if text == "" {
		text = strings.ToUpper(c.Short[:1]) + c.Short[1:] + "."
	}
	fmt.Fprintf(w, "\n%s %s\n\n    %s\n\n%s\n", level, strings.TrimPrefix(c.CommandPath(), "agentkit "), c.UseLine(), text)
	if c.LocalNonPersistentFlags().HasFlags() {
		w.WriteByte('\n')
		flagTable(w, c.LocalNonPersistentFlags())
	}
	for _, sub := range c.Commands() {
		reference(w, sub, level+"#")
	}
}

func flagTable(w *bytes.Buffer, flags *pflag.FlagSet) {
	fmt.Fprintf(w, "| flag | meaning |\n| --- | --- |\n")
	flags.VisitAll(func(f *pflag.Flag) {
		name, usage := pflag.UnquoteUsage(f)
		short := ""
		if f.Shorthand != "" {
			short = "-" + f.Shorthand + ", "
		}
		if f.Hidden || f.Name == "help" {
			return
		}
		flag := strings.TrimSpace(short + "--" + f.Name + " " + name)
		fmt.Fprintf(w, "| `%s` | %s |\n", flag, strings.ReplaceAll(usage, "|", `\|`))
	})
}
