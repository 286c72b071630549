package dialect

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Page is the manual's page about the dialects, in Markdown.
func Page() string {
	var b strings.Builder
	b.WriteString(strings.TrimLeft(`
# Dialects

A model that was trained on the tools of another agent calls them by their names. With
`+"`--dialect NAME`"+` agentkit declares those tools, takes their calls and answers in the form
that the model knows:

    agentkit tools --dialect claude --format anthropic
    agentkit call --dialect claude Read <arguments.json

What is done is done by our tools: rules of a policy, approvals and the audit log name
`+"`bash`, `read`, `edit`"+` whatever the model calls them, and hints name the tools and
parameters that the model has. `+"`-o text`"+` prints what the model is to read, JSON holds it in
`+"`output`"+` beside our metadata. Below, an arrow leads from a
parameter to ours where that has another name; one behind which there is a dot has no
counterpart: it chooses what is done or shown, or is passed over.

Models mix up the names of parameters. `+"`oldString`, `old_string` and `OldString`"+` are one name, here and for
our own tools, and so is what other agents call the same: `+"`file_path`, `cwd`, `cmd`, `old_str`, `patchText`"+` are
understood by every tool of a dialect that has such a parameter and no other one of that name. A call
that gives both names with different values is refused.

`, "\n"))
	for _, d := range dialects {
		page(&b, d.made())
	}
	return b.String()
}

func page(b *strings.Builder, d *Dialect) {
	fmt.Fprintf(b, "## %s\n\nThe tools of %s.", d.Name, d.Of)
	if d.Loose {
		b.WriteString(" Parameters that are not known are passed over, and named in `metadata.ignored`.")
	}
	if d.Later != "" {
		fmt.Fprintf(b, " Not there yet: %s.", d.Later)
	}
	b.WriteString("\n\n| tool | ours | parameters | what differs |\n| --- | --- | --- | --- |\n")
	for i := range d.Tools {
		t := &d.Tools[i]
		if t.Only != "windows" {
			fmt.Fprintf(b, "| %s | `%s`%s | %s | %s |\n", t.title(), t.To, t.constants(), t.parameters(), t.Differs)
		}
	}
	b.WriteString("\n")
}

// title is t's name with the others that it has.
func (t *Tool) title() string {
	text := "`" + t.Name + "`"
	if t.Also != "" {
		text += " (also `" + strings.Join(strings.Fields(t.Also), "`, `") + "`)"
	}
	if t.Hidden {
		text += ", understood, not declared"
	}
	return text
}

// constants are the parameters of ours that are always so.
func (t *Tool) constants() string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(t.Const)) {
		list = append(list, fmt.Sprintf("%s=%v", name, t.Const[name]))
	}
	if len(list) == 0 {
		return ""
	}
	return " with `" + strings.Join(list, " ") + "`"
}

func (t *Tool) parameters() string {
	var list []string
	for _, p := range t.Params {
		text := "`" + p.Name + "`"
		if p.To != "" && p.To != p.Name {
			text += " → `" + p.To + "`"
		}
		if p.To == "" {
			text += " ·"
		}
		if p.Silent {
			text += " (not declared)"
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}
