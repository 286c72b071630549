package killtree

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/windows"
)

var errLines = errors.New("cmd runs the first line of a command only: join the lines with &, or use PowerShell")

// quoteForCmd writes the command line of c itself where cmd is to read it.
// os/exec quotes as C programs want it, which cmd does not: it takes \" for the
// end of the quotes, and what comes after an & in an argument for a command.
func quoteForCmd(c *exec.Cmd) (err error) {
	if c.SysProcAttr.CmdLine != "" {
		return nil
	}
	switch name := strings.ToLower(filepath.Base(c.Path)); {
	case name == "cmd.exe":
		c.SysProcAttr.CmdLine, err = commandOf(c.Args)
	case strings.HasSuffix(name, ".bat"), strings.HasSuffix(name, ".cmd"):
		var system string
		if c.SysProcAttr.CmdLine, err = batchOf(c.Path, c.Args); err == nil {
			if system, err = windows.GetSystemDirectory(); err == nil {
				c.Path = filepath.Join(system, "cmd.exe")
			}
		}
	}
	return err
}

// commandOf is the line for cmd /s /c COMMAND, which takes away one pair of
// quotes and reads the rest as it stands. It is "" for other calls of cmd.
func commandOf(args []string) (string, error) {
	n := len(args) - 1
	if n < 3 || !strings.EqualFold(args[n-1], "/c") || !strings.EqualFold(args[n-2], "/s") {
		return "", nil
	}
	if strings.ContainsAny(strings.TrimRight(args[n], "\r\n"), "\r\n") {
		return "", errLines
	}
	var line strings.Builder
	for _, arg := range args[:n] {
		line.WriteString(syscall.EscapeArg(arg) + " ")
	}
	return line.String() + `"` + strings.TrimRight(args[n], "\r\n") + `"`, nil
}

// batchOf is the line for a batch file, which is cmd that runs. What it would
// expand, or take for the end of an argument, cannot be handed to it, see
// https://flatt.tech/research/posts/batbadbut-you-cant-securely-execute-commands-on-windows/
func batchOf(script string, args []string) (string, error) {
	line := `cmd.exe /e:on /v:off /d /s /c ""` + filepath.FromSlash(script) + `"`
	for _, arg := range append([]string{script}, args[1:]...) {
		if i := strings.IndexAny(arg, "\"%\r\n"); i >= 0 {
			return "", fmt.Errorf("a batch file cannot be given %q, which %s holds", arg[i], syscall.EscapeArg(arg))
		}
	}
	for _, arg := range args[1:] {
		bare := strings.TrimRight(arg, `\`)
		if bare == "" || bare != arg || strings.ContainsFunc(arg, special) {
			arg = `"` + arg + arg[len(bare):] + `"` // backslashes before a quote count half
		}
		line += " " + arg
	}
	return line + `"`, nil
}

// special reports what cmd may take for more than a letter of a word.
func special(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(`#$*+-./:?@\_`, r))
}
