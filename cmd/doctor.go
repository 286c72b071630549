package cmd

import (
	"context"
	"fmt"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentkit-go/agentkit/pkg/tool"
)

// An inspection looks at one thing.
type inspection struct {
	name string
	look func(context.Context) finding
}

// inspections are what doctor looks at, in its order.
func (a *app) inspections() []inspection {
	return []inspection{
		{"version", func(context.Context) finding {
			return fine("%s, %s/%s, %s", build(), runtime.GOOS, runtime.GOARCH, runtime.Version())
		}},
		{"kernel", func(context.Context) finding { return kernelReport() }},
		{"languages", func(context.Context) finding { return languageReport() }},
		{"readings", func(context.Context) finding { return readingsReport() }},
		{"root", func(context.Context) finding { return a.rootReport() }},
		{"state", func(context.Context) finding { return a.stateReport() }},
		{"configuration", func(context.Context) finding { return a.configurationReport() }},
		{"policy", func(context.Context) finding { return a.policyReport() }},
		{"shell", func(context.Context) finding { return a.shellReport() }},
		{"git", func(context.Context) finding { return a.gitReport() }},
		{"ripgrep", a.ripgrepReport},
		{"pdftotext", func(context.Context) finding { return a.pdfReport() }},
		{"killing", func(context.Context) finding { return a.killReport() }},
		{"sandbox", a.sandboxReport},
		{"walls", func(context.Context) finding { return a.wallReport() }},
		{"web", func(context.Context) finding { return a.webReport() }},
		{"record", a.recordReport},
		{"start-up", a.startReport},
	}
}

const doctorName = "doctor"

func (a *app) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use:   doctorName,
		Short: "say what this machine offers, and what is missing",
		Long: strings.TrimSpace(`
Looks at what agentkit uses of this machine and how it is set up here: kernel,
root, state, configuration, policy files and whether they are trusted, shells, git, ripgrep,
how commands are ended and confined, what each wall holds of this policy, who answers
searches of the web, whether the session's record is whole, how long a start takes. Each is ok, a
warning or a failure, with the next step. Nothing is changed, and no host is asked. Exit
status 1 means that something failed.`),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := a.check(); err != nil {
				return err
			}
			a.emit(a.diagnose(c.Context()))
			return nil
		},
	}
}

func (a *app) diagnose(ctx context.Context) *tool.Result {
	var meta struct {
		Checks   []finding `json:"checks"`
		Warnings int       `json:"warnings"`
		Failures int       `json:"failures"`
	}
	for _, i := range a.inspections() {
		f := i.look(ctx)
		f.Name = i.name
		meta.Checks = append(meta.Checks, f)
		switch f.Status {
		case "warn":
			meta.Warnings++
		case "fail":
			meta.Failures++
		}
	}
	render := func(paint func(tool.Style, string) string) string {
		styles := map[string]tool.Style{"ok": tool.Added, "warn": tool.Number, "fail": tool.Match}
		var b strings.Builder
		for _, f := range meta.Checks {
			fmt.Fprintf(&b, "%s %-13s %s\n", paint(styles[f.Status], fmt.Sprintf("%-4s", f.Status)), f.Name, f.Detail)
			if f.Hint != "" {
				fmt.Fprintf(&b, "%19s%s\n", "", paint(tool.Faint, f.Hint))
			}
		}
		return b.String()
	}
	title := "all is well"
	if n := meta.Warnings + meta.Failures; n > 0 {
		title = fmt.Sprintf("%s, %s", tool.Count(int64(meta.Failures), "failure"), tool.Count(int64(meta.Warnings), "warning"))
	}
	return &tool.Result{
		Title: title, Output: render(tool.Unpainted),
		Pretty: render, Metadata: meta, No: meta.Failures > 0, Trimmed: true,
	}
}
