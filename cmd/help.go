package cmd

import (
	"cmp"
	"embed"
	"fmt"
	"iter"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

//go:embed help
var pages embed.FS

// A topic is a page of help that is about no single command.
type topic struct {
	name, title string
	text        func(*app, *cobra.Command) string
}

func topics() []topic {
	page := func(name, title string) topic {
		return topic{name, title, func(*app, *cobra.Command) string {
			text, _ := pages.ReadFile("help/" + name + ".txt") // the test reads them all
			return string(text)
		}}
	}
	return []topic{
		page("policy", "what a call may do"),
		page("json", "calls as JSON"),
		page("results", "what a call prints"),
		{"exit-status", "what the status of a call says", func(*app, *cobra.Command) string { return exitPage() }},
		{"environment", "variables, settings and flags of every command", (*app).environmentPage},
		page("sandbox", "what holds a command while it runs"),
	}
}

// examplesOf are command lines of a command that is no tool: tools have their own.
func examplesOf(c *cobra.Command) []string {
	return map[string][]string{
		"call":             {`echo '{"pattern":"TODO"}' | agentkit call grep`, `echo '{"name":"read","arguments":{"path":"main.go"}}' | agentkit call`, `agentkit call --wrap anthropic <response.json >tool_results.json`},
		"serve":            {`agentkit serve --stdio`, `agentkit --root ~/src/project --session review serve --stdio`, `agentkit serve --http 127.0.0.1:8642`},
		"mcp":              {`agentkit mcp`, `agentkit mcp --http 127.0.0.1:8643`, `agentkit mcp --config claude-code`},
		"tools":            {`agentkit tools`, `agentkit tools --format anthropic >tools.json`, `agentkit tools --lean --format openai read edit bash`},
		"schema":           {`agentkit schema read`, `agentkit schema --format gemini`},
		"schema results":   {`agentkit schema results`, `agentkit schema results bash`},
		"policy":           {`agentkit policy init`, `agentkit policy check bash 'rm -rf build'`, `agentkit policy allow 'bash(make *)'`},
		"policy allow":     {`agentkit policy allow 'bash(make *)'`, `agentkit policy allow 'net(example.org)'`},
		"policy approvals": {`agentkit policy approvals`, `agentkit policy approvals -o json`},
		"policy approve":   {`agentkit policy approve k3m9x2`, `agentkit policy approve k3m9x2 --scope session --suggestion 2`, `agentkit policy approve k3m9x2 --scope always --rule 'bash(git push origin *)'`},
		"policy ask":       {`agentkit policy ask 'bash(git commit *)'`, `agentkit policy ask 'edit(migrations/**)'`},
		"policy check":     {`agentkit policy check bash 'rm -rf build'`, `agentkit policy check edit --json '{"path":".env"}'`, `agentkit policy check --batch <calls.jsonl`},
		"policy deny":      {`agentkit policy deny 'bash(terraform apply *)'`, `agentkit policy deny 'read(private/**)'`},
		"policy explain":   {`agentkit policy explain bash 'make deploy'`, `agentkit policy explain bash 'cat notes.txt | xargs rm' -o json`},
		"policy import":    {`agentkit policy import .claude/settings.json -o text >policy.yaml`, `agentkit policy import --from codex default.rules`},
		"policy init":      {`agentkit policy init`, `agentkit --root ~/src/project policy init`},
		"policy lint":      {`agentkit policy lint`, `agentkit --policy strict.yaml policy lint`},
		"policy refuse":    {`agentkit policy refuse k3m9x2`, `agentkit policy refuse k3m9x2 'use the staging server'`},
		"policy test":      {`agentkit policy test .agentkit/policy.yaml`, `agentkit policy test cases.jsonl`},
		"policy trust":     {`agentkit policy trust`, `agentkit policy trust --list`, `agentkit policy trust --remove`},
		"log":              {`agentkit log --failed --since 2h`, `agentkit log --follow`, `agentkit --session review log --html session.html`, `agentkit log --replay >again.sh`},
		"gc":               {`agentkit gc`, `agentkit gc --dry-run`, `agentkit gc --free 500M`},
		"doctor":           {`agentkit doctor`, `agentkit doctor -o json`},
		"completion":       {`agentkit completion bash >~/.local/share/bash-completion/completions/agentkit`, `agentkit completion fish >~/.config/fish/completions/agentkit.fish`},
		"version":          {`agentkit version`},
	}[strings.TrimPrefix(c.CommandPath(), "agentkit ")]
}

// frontPage is the help of agentkit itself, on one screen of 24 lines.
func frontPage(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString(`agentkit: the tools of a coding agent, one command each.

    agentkit read main.go:40                         show a file, from line 40
    agentkit grep 'func main' --type go              search the files
    agentkit bash 'go test ./...'                    run a command, confined
    echo '{"pattern":"TODO"}' | agentkit call grep   the same for programs: JSON
    agentkit policy explain bash 'rm -rf build'      what may happen, and why

`)
	for _, family := range families() {
		row(&b, family.title, family.names)
	}
	var more []string
	for _, c := range root.Commands() {
		if c.GroupID == "more" && c.Name() != "help" {
			more = append(more, c.Name())
		}
	}
	row(&b, "More", more)
	var names []string
	for _, t := range topics() {
		names = append(names, t.name)
	}
	b.WriteString("\n")
	row(&b, "Topics", names)
	b.WriteString(`
agentkit help NAME shows the help of a command or topic, agentkit doctor what
this machine offers, and agentkit help environment the flags of every command.
`)
	return b.String()
}

// A family is tools of one kind.
type family struct {
	title string
	names []string
}

// families are the tools by the package that holds them, in the order of the list.
func families() (list []*family) {
	titles := map[string]string{"run": "Commands", "plan": "The user", "compose": "Many calls"}
	for _, t := range Tools {
		kind := path.Base(reflect.TypeOf(t.New()).Elem().PkgPath())
		title := cmp.Or(titles[kind], strings.ToUpper(kind[:1])+kind[1:])
		i := slices.IndexFunc(list, func(f *family) bool { return f.title == title })
		if i < 0 {
			i, list = len(list), append(list, &family{title: title})
		}
		list[i].names = append(list[i].names, t.Name)
	}
	return list
}

// row writes a title and words behind it, in lines of at most 78 characters.
func row(b *strings.Builder, title string, words []string) {
	fmt.Fprintf(b, "%-12s %s\n", title, wrapped(slices.Values(words), 65, 13))
}

// statuses are what the exit status of a call says.
func statuses() [][2]string {
	return [][2]string{
		{"0", "done"},
		{"1", "done, and the answer is no: nothing found, a test failed"},
		{"2", "an error; its code says which"},
		{"124", "the time limit ran out"},
		{"125", "bash and output only: an error that elsewhere is 2"},
		{"126", "denied, or approval is required"},
		{"128+n", "signal n ended the call, or the command"},
	}
}

const passesOn = `bash and output pass on the status of the command, which may be any of these.
The result tells them apart: error is there when agentkit failed or refused, and
metadata.exit_code is the command's own status.
`

func exitPage() string {
	var b strings.Builder
	b.WriteString("What the exit status says\n\n")
	for _, s := range statuses() {
		fmt.Fprintf(&b, "    %-6s %s\n", s[0], s[1])
	}
	b.WriteString("\n" + passesOn + `
    agentkit grep TODO >/dev/null; case $? in 0) ;; 1) echo none ;; *) exit 1 ;; esac
    agentkit bash 'make test' || echo "make or agentkit said $?"

See also: agentkit help results
`)
	return b.String()
}

// environmentPage lists the flags of every command with their variables.
func (a *app) environmentPage(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString("Flags of every command, and where else they can be set\n\nA flag wins over its variable, the variable over the file of settings.\n\n")
	settings := settingNames()
	root.PersistentFlags().VisitAll(func(f *pflag.Flag) {
		key := strings.ReplaceAll(f.Name, "-", "_")
		variable := "AGENTKIT_" + strings.ToUpper(key)
		if !slices.Contains(settings, key) {
			if f.Name == "help" || f.Name == "version" {
				return
			}
			variable = "(flag alone)"
		}
		_, usage := pflag.UnquoteUsage(f)
		flag := "--" + f.Name
		if f.Shorthand != "" {
			flag = "-" + f.Shorthand + ", " + flag
		}
		fmt.Fprintf(&b, "    %-14s %-20s %s\n", flag, variable, wrapped(strings.FieldsSeq(usage), 40, 40))
	})
	b.WriteString(`
    PROJECT_ROOT stands in for AGENTKIT_ROOT; AGENTKIT_RG names the ripgrep to use,
    AGENTKIT_PROGRAMS a directory of the release's packages for --on.
    NO_COLOR and TERM=dumb turn colours off.

The file is config.yaml, config.toml or config.json in ` + a.configDir() + `,
with keys such as max_lines: 1000.

See also: docs/configuration.md
`)
	return b.String()
}

// wrapped breaks words into lines of so many characters; all but the first are indented.
func wrapped(words iter.Seq[string], width, indent int) string {
	var b strings.Builder
	n := 0
	for word := range words {
		switch {
		case n > 0 && n+1+len(word) > width:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			n = 0
		case n > 0:
			b.WriteByte(' ')
			n++
		}
		b.WriteString(word)
		n += len(word)
	}
	return b.String()
}
