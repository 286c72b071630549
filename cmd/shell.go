package cmd

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/tool"
)

// A shell is a program that a command line can be given to.
type shell struct {
	path string // absolute
	kind string // bash, zsh or sh: the language that the analysis reads it in; powershell or cmd on Windows
}

// shells are the ones whose language the analysis understands. Fish, nu and
// the C shells speak others.
func shells() []string {
	if runtime.GOOS == "windows" {
		return []string{"powershell", "pwsh", "cmd", "bash", "sh"}
	}
	return []string{"bash", "zsh", "sh", "dash", "ksh"}
}

// candidates are the shells to try when none is asked for, the best first.
func candidates(env *tool.Env) []string {
	if runtime.GOOS == "windows" {
		return []string{"pwsh", "powershell", "cmd"}
	}
	return []string{"bash", env.Getenv("SHELL"), "sh", "/bin/sh"}
}

// findShell returns the shell that was asked for, or the first there is.
func findShell(env *tool.Env, wanted string) (shell, error) {
	list := candidates(env)
	if wanted != "" {
		list = []string{wanted}
	}
	for _, c := range list {
		kind := strings.TrimSuffix(filepath.Base(c), ".exe")
		if c == "" || !slices.Contains(shells(), kind) {
			continue
		}
		path, ok := lookPath(c, env.Getenv("PATH"), env.Workspace.Root())
		if !ok {
			continue
		}
		switch kind {
		case "dash", "ksh":
			kind = "sh"
		case "pwsh":
			kind = "powershell"
		}
		return shell{path, kind}, nil
	}
	if wanted != "" {
		return shell{}, tool.Errorf(tool.BadInput, "shell: %q is not there, or not one that can be used", wanted).
			WithHint("use one of %s, or leave it out", strings.Join(shells(), ", "))
	}
	return shell{}, tool.Errorf(tool.Unsupported, "there is no shell on PATH").WithHint("install one of %s, or send argv", strings.Join(shells(), ", "))
}

// argv is how the shell is started for a command line. Start-up files run only
// with login.
func (s shell) argv(command string, login bool) []string {
	switch {
	case s.kind == "powershell":
		return []string{s.path, "-NoLogo", "-NoProfile", "-NonInteractive", "-Command", command}
	case s.kind == "cmd":
		return []string{s.path, "/d", "/s", "/c", command}
	case login:
		return []string{s.path, "-l", "-c", command}
	case s.kind == "bash":
		return []string{s.path, "--noprofile", "--norc", "-c", command}
	case s.kind == "zsh":
		return []string{s.path, "-f", "-c", command}
	}
	return []string{s.path, "-c", command}
}

func shellDefault() string {
	if runtime.GOOS == "windows" {
		return "PowerShell, else cmd"
	}
	return "bash, else $SHELL, else sh"
}
