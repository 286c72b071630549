package cmd

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/machine"
	"github.com/agentkit-go/agentkit/pkg/rg"
	"github.com/agentkit-go/agentkit/pkg/shellparse"
	"github.com/agentkit-go/agentkit/pkg/syntax"
)

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
	}, func(path string) bool { return !a.placed(path) })
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
