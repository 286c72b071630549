package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentkit-go/agentkit/pkg/killtree"
	"github.com/agentkit-go/agentkit/pkg/machine"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/rg"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/sandbox"
	"github.com/agentkit-go/agentkit/pkg/session"
	"github.com/agentkit-go/agentkit/pkg/shellparse"
	"github.com/agentkit-go/agentkit/pkg/syntax"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// A finding is what doctor says about one thing.
type finding struct {
	Name   string `json:"name"`
	Status string `json:"status"` // ok, warn or fail
	Detail string `json:"detail"`
	Hint   string `json:"hint,omitempty"` // the next step
}

func fine(detail string, args ...any) finding {
	return finding{Status: "ok", Detail: fmt.Sprintf(detail, args...)}
}

func warning(hint, detail string, args ...any) finding {
	return finding{Status: "warn", Detail: fmt.Sprintf(detail, args...), Hint: hint}
}

func failure(err error) finding {
	e := tool.AsError(err)
	return finding{Status: "fail", Detail: e.Message, Hint: e.Hint}
}

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
		{"languages", func(context.Context) finding { return languageReport() }},
		{"readings", func(context.Context) finding { return readingsReport() }},
		{"root", func(context.Context) finding { return a.rootReport() }},
		{"state", func(context.Context) finding { return a.stateReport() }},
		{"policy", func(context.Context) finding { return a.policyReport() }},
		{"shell", func(context.Context) finding { return a.shellReport() }},
		{"git", func(context.Context) finding { return a.gitReport() }},
		{"ripgrep", a.ripgrepReport},
		{"pdftotext", func(context.Context) finding { return a.pdfReport() }},
		{"killing", func(context.Context) finding { return a.killReport() }},
		{"sandbox", a.sandboxReport},
		{"start-up", a.startReport},
	}
}

func (a *app) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "say what this machine offers, and what is missing",
		Long: strings.TrimSpace(`
Looks at what agentkit uses of this machine and how it is set up here: root,
state, policy, shells, git, ripgrep, how commands are ended and confined, how
long a start takes. Each is ok, a warning or a failure, with the next step.
Nothing is changed. Exit status 1 means that something failed.`),
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
			fmt.Fprintf(&b, "%s %-10s %s\n", paint(styles[f.Status], fmt.Sprintf("%-4s", f.Status)), f.Name, f.Detail)
			if f.Hint != "" {
				fmt.Fprintf(&b, "%16s%s\n", "", paint(tool.Faint, f.Hint))
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

// readingsReport says how the text of a command is understood.
func readingsReport() finding {
	if shellparse.Readings == 2 {
		return fine("a command's text is read by two parsers, and counts as known where they agree")
	}
	return warning("build with CGO_ENABLED=1 and a C compiler for the second", "a command's text is read by one parser: this build has no tree-sitter")
}

func languageReport() finding {
	outlines, checks := 0, 0
	for _, l := range syntax.Languages() {
		if l.Outline {
			outlines++
		}
		if l.Check {
			checks++
		}
	}
	detail := fmt.Sprintf("outlines of %d languages, syntax checks of %d", outlines, checks)
	if slices.ContainsFunc(syntax.Languages(), func(l syntax.Language) bool { return l.Name == "Python" }) {
		return fine("%s", detail)
	}
	return warning("build with CGO_ENABLED=1 and a C compiler for more languages", "%s: this build has no tree-sitter", detail)
}

func (a *app) rootReport() finding {
	env, err := a.place()
	if err != nil {
		return failure(err)
	}
	defer env.Workspace.Close()
	return fine("%s", env.Workspace.Root())
}

// stateReport tries to write where state is kept, and takes it away again.
func (a *app) stateReport() finding {
	dir, err := a.stateDir()
	if err != nil {
		return failure(err)
	}
	const hint = "check owner and mode, or on a read-only file system choose a directory on another one with --state, such as a volume or a tmpfs; calls are refused while state cannot be kept"
	d, err := safefile.OpenDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		at := dir
		for parent := filepath.Dir(at); at != parent; at, parent = parent, filepath.Dir(parent) {
			if _, err := os.Stat(at); err == nil {
				break
			}
		}
		probe, err := os.MkdirTemp(at, ".agentkit-doctor-")
		if err != nil {
			return finding{Status: "fail", Detail: fmt.Sprintf("%s cannot be made: %v", dir, err), Hint: hint}
		}
		if err := os.Remove(probe); err != nil {
			return failure(err)
		}
		return fine("%s, made with the first call", dir)
	case err != nil:
		return finding{Status: "fail", Detail: err.Error(), Hint: hint}
	}
	defer d.Close() //nolint:errcheck // it was read
	probe := session.NewID("doctor")
	err = d.WriteFile(probe, []byte("x"), false)
	if err == nil {
		err = d.Remove(probe)
	}
	if err != nil {
		return finding{Status: "fail", Detail: err.Error(), Hint: hint}
	}
	return fine("%s", dir)
}

// policyReport loads the policy as a call does.
func (a *app) policyReport() finding {
	env, err := a.place()
	if err != nil {
		return warning("see root", "not looked at: there is no root")
	}
	defer env.Workspace.Close()
	p, err := loadGranted(env, a.sources(env))
	if err != nil {
		return failure(err)
	}
	var names, untrusted []string
	for _, f := range p.Files() {
		names = append(names, f.Path)
		if f.Layer == policy.Project && !f.Trusted {
			untrusted = append(untrusted, f.Path)
		}
	}
	switch {
	case len(untrusted) > 0:
		return warning("look at it, then run agentkit policy trust; until then it only tightens", "not trusted: %s", strings.Join(untrusted, ", "))
	case len(names) == 0:
		return fine("no file: the profile decides; agentkit policy init writes one")
	}
	return fine("valid: %s", strings.Join(names, ", "))
}

func (a *app) onPath(names ...string) []string {
	var found []string
	for _, name := range names {
		if p, ok := machine.LookPath(name, a.getenv("PATH"), string(filepath.Separator)); ok {
			found = append(found, p)
		}
	}
	return found
}

func (a *app) shellReport() finding {
	if found := a.onPath(machine.Shells()...); len(found) > 0 {
		return fine("%s", strings.Join(found, ", "))
	}
	return finding{Status: "fail", Detail: "there is no shell on PATH", Hint: "install one of " + strings.Join(machine.Shells(), ", ") + "; until then only argv runs programs"}
}

func (a *app) gitReport() finding {
	if found := a.onPath("git"); len(found) > 0 {
		return fine("%s", found[0])
	}
	return warning(install("git", "Git.Git"), "not found: .gitignore is heeded all the same, but commands that use git fail")
}

func (a *app) ripgrepReport(ctx context.Context) finding {
	const use = "for patterns with look-around and backreferences; all else is searched without it"
	p, err := rg.FindRipgrep(ctx, func(name string) string {
		if name == "AGENTKIT_RG" && a.RG != "" {
			return a.RG
		}
		return a.getenv(name)
	})
	switch {
	case a.RG != "" && (err != nil || p.Path != a.RG):
		return warning("correct AGENTKIT_RG, or rg in the configuration", "%s is no ripgrep that works", a.RG)
	case err != nil:
		return warning(install("ripgrep", "BurntSushi.ripgrep.MSVC"), "no version 14 or later is on PATH: it serves %s", use)
	case !p.PCRE2:
		return warning("install one that was built with PCRE2", "%s %s has no PCRE2, which it would be used for: it serves %s", p.Path, p.Version, use)
	}
	return fine("%s %s, %s", p.Path, p.Version, use)
}

func (a *app) pdfReport() finding {
	if found := a.onPath("pdftotext"); len(found) > 0 {
		return fine("%s, for commands: read takes the text out of PDF files itself", found[0])
	}
	return fine("not found, and not needed: read takes the text out of PDF files itself")
}

// install says how a program gets onto this kind of machine.
func install(name, winget string) string {
	switch runtime.GOOS {
	case "darwin":
		return "brew install " + name
	case "windows":
		return "winget install " + winget
	}
	for _, m := range []struct{ file, command string }{
		{"/usr/bin/apt-get", "apt-get install "}, {"/usr/bin/dnf", "dnf install "}, {"/usr/bin/pacman", "pacman -S "}, {"/sbin/apk", "apk add "},
	} {
		if machine.Runnable(m.file) {
			return m.command + name
		}
	}
	return "install " + name + " with the system's package manager"
}

// killReport says how a command and all it started can be ended.
func (a *app) killReport() finding {
	method := killtree.Probe(killtree.Options{Self: a.found.self()})
	switch method {
	case killtree.Group:
		return warning("allow user namespaces, or run where a cgroup can be made", "%s: what leaves its process group and session outlives the command", method)
	case killtree.Subreaper:
		hint := "allow user namespaces for a method that nothing escapes"
		if machine.CoversProc() {
			hint = "the container covers parts of /proc, so no process namespace can have one of its own; for a method that nothing escapes start it with --security-opt unmask=ALL (podman) or systempaths=unconfined (Docker)"
		}
		return warning(hint, "%s: everything is found, but only by looking at the process table", method)
	}
	return fine("%s", method)
}

// sandboxReport says how commands are confined here.
func (a *app) sandboxReport(context.Context) finding {
	have := sandbox.Probe()
	if held := machine.Probe(a.found.self()); held.Level < have.Level {
		have = sandbox.Enforced{Level: held.Level, Missing: []string{held.Missing()}}
	}
	if a.outer() {
		return fine("outer: something around agentkit confines, as --sandbox outer or the profile container says; nothing is held by agentkit; this machine offers %s", have.Level)
	}
	switch {
	case have.Level >= sandbox.L3:
		return fine("%s: %s", have.Level, strings.Join(have.Mechanisms, ", "))
	case have.Level > sandbox.L0:
		return warning("commands that are not known ask first where a secret that git does not track lies in the root; allow what is missing, or run where namespaces can be made",
			"%s: %s; not held: reading files inside the root; missing: %s", have.Level, strings.Join(have.Mechanisms, ", "), strings.Join(have.Missing, "; "))
	}
	return warning("commands that are not known ask first; run agentkit on a Linux with Landlock and seccomp; in a disposable container or virtual machine say --sandbox outer",
		"L0: commands are not confined; not held: files, network, programs; missing: %s", strings.Join(have.Missing, "; "))
}

// outer reports whether calls here count on something around agentkit.
func (a *app) outer() bool {
	env, err := a.place()
	if err != nil {
		return false
	}
	defer env.Workspace.Close()
	p, err := loadGranted(env, a.sources(env))
	return err == nil && p.Outer()
}

// slowStart is how long a start may take before it is worth a word.
const slowStart = 50 * time.Millisecond

// startReport starts this program a few times.
func (a *app) startReport(ctx context.Context) finding {
	if a.found.self() == "" {
		return warning("", "not measured: the program's own path is not known")
	}
	var took []time.Duration
	for range 5 {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		c := exec.CommandContext(ctx, a.found.self(), "version")
		c.Env = a.environ()
		start := time.Now()
		err := c.Run()
		took = append(took, time.Since(start))
		cancel()
		if err != nil {
			return warning("", "not measured: %v", err)
		}
	}
	slices.Sort(took)
	median := took[len(took)/2]
	detail := fmt.Sprintf("%.1f ms, the median of %d", float64(median.Microseconds())/1000, len(took))
	if median > slowStart {
		return warning("the machine may be busy, or something may inspect every program that starts", "%s", detail)
	}
	return fine("%s", detail)
}
