package run

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/machine"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// A shell is a program that a command line can be given to.
type shell struct {
	path string // absolute
	kind string // bash, zsh or sh: the language that the analysis reads it in; powershell or cmd on Windows

	// unknown is set when the call names a file that is no shell of the system:
	// only its name says that it is a shell, and a call can have written it.
	unknown bool

	called string // the name by which it was found, which its messages begin with
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
		kind := strings.TrimSuffix(machine.Spelled(filepath.Base(c)), ".exe")
		if c == "" || !slices.Contains(machine.Shells(), kind) {
			continue
		}
		path, own := lookShell(env, c)
		if path == "" || !own && wanted == "" {
			continue
		}
		switch kind {
		case "dash", "ksh":
			kind = "sh"
		case "pwsh":
			kind = "powershell"
		}
		return shell{path, kind, !own, c}, nil
	}
	if wanted != "" {
		return shell{}, tool.Errorf(tool.BadInput, "shell: %q is not there, or not one that can be used", wanted).
			WithHint("use one of %s, or leave it out", strings.Join(machine.Shells(), ", "))
	}
	return shell{}, tool.Errorf(tool.Unsupported, "there is no shell on PATH").WithHint("install one of %s, or send {.argv}", strings.Join(machine.Shells(), ", "))
}

// lookShell finds a shell; "" when there is none. The entries of PATH count that
// lie outside the root and the directories for temporary files, where every
// call can have put a program of that name. Own is false for a path that is
// none of those that PATH, $SHELL or the system's directories lead to.
func lookShell(env *tool.Env, name string) (path string, own bool) {
	usual := func(name string) string {
		return machine.FirstOnPath(name, env.Getenv("PATH"), func(program string) bool { return !env.Placed(program) })
	}
	if !strings.ContainsAny(name, `/`+string(filepath.Separator)) {
		path = usual(name)
		return path, path != ""
	}
	path, ok := machine.LookPath(name, "", env.Workspace.Root())
	if !ok {
		return "", false
	}
	if env.Placed(path) {
		return path, false
	}
	return path, tool.Installed(path) || path == env.Getenv("SHELL") || machine.Spelled(path) == machine.Spelled(usual(filepath.Base(path)))
}

// argv is how the shell is started for a command line. Start-up files run only
// with login.
func (s shell) argv(command string, login bool) []string {
	switch {
	case s.kind == "powershell":
		return []string{s.path, "-NoLogo", "-NoProfile", "-NonInteractive", "-Command", command}
	case s.kind == "cmd":
		return []string{s.path, "/d", "/s", "/c", command}
	}
	argv := []string{s.path}
	switch {
	case login:
		argv = append(argv, "-l")
	case s.kind == "bash":
		argv = append(argv, "--noprofile", "--norc")
	case s.kind == "zsh":
		argv = append(argv, "-f")
	}
	if argv = append(argv, "-c", command); s.called != "" && s.called != s.path {
		argv = append(argv, s.called) // $0
	}
	return argv
}

// commandIn is the command line in what argv has made; "" where there is none.
func commandIn(argv []string) string {
	if len(argv) == 0 || !slices.Contains(machine.Shells(), filepath.Base(argv[0])) {
		return ""
	}
	for n := max(3, len(argv)-1); n <= len(argv); n++ {
		if argv[n-2] == "-c" && (n == len(argv) || slices.Contains(machine.Shells(), argv[n])) {
			return argv[n-1]
		}
	}
	return ""
}

// takes refuses a command that the shell would run only a part of.
func (s shell) takes(command string) error {
	if s.kind == "cmd" && strings.ContainsAny(strings.TrimRight(command, "\r\n"), "\r\n") {
		return tool.Errorf(tool.BadInput, "cmd runs the first line of a command only").WithHint("join the lines with &, or use PowerShell")
	}
	return nil
}

func shellDefault() string {
	if runtime.GOOS == "windows" {
		return "PowerShell, else cmd"
	}
	return "bash, else $SHELL, else sh"
}

// needs are what the policy is asked about the shell itself.
func (s shell) needs(login bool) []policy.Access {
	var list []policy.Access
	if login {
		list = append(list, policy.Access{
			Kind: policy.Exec, Argv: []string{s.path, "-l"}, Program: s.path, Source: "login",
			Opaque: "the shell's start-up files run first and may change what every word means",
		})
	}
	if s.unknown {
		list = append(list, policy.Access{
			Kind: policy.Exec, Argv: []string{s.path}, Program: s.path, Source: "shell",
			Opaque: "it is named as the shell, and what it does with the command is not known",
		})
	}
	return list
}

// parseTime bounds how long a shell may take to read a command line.
const parseTime = 5 * time.Second

// parses has the shell read a command line without running any of it; the error is
// what it says. A shell runs the lines before a mistake, which then stands in the
// middle of what was meant as a whole.
func (s shell) parses(ctx context.Context, command string) error {
	if s.unknown || s.kind != "bash" && s.kind != "zsh" && s.kind != "sh" || len(command) > 64<<10 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, parseTime)
	defer cancel()
	c := exec.CommandContext(ctx, s.path, "-n", "-c", command)
	if s.kind == "sh" { // dash to 0.5.11 would run what follows -c
		c = exec.CommandContext(ctx, s.path, "-n")
		c.Stdin = strings.NewReader(command)
	}
	c.Env = []string{"LC_ALL=C"} // in particular no start-up files
	said, err := c.CombinedOutput()
	if _, failed := errors.AsType[*exec.ExitError](err); !failed || ctx.Err() != nil {
		return nil
	}
	text := strings.TrimSpace(strings.ReplaceAll(string(said), s.path+": ", ""))
	text = strings.ToValidUTF8(text[:min(len(text), 1000)], "")
	return tool.Errorf(tool.BadInput, "the command does not parse: %s", strings.TrimPrefix(text, "-c: ")).
		WithHint("nothing of it was run; correct the command, mostly a quote or bracket that is not closed")
}
