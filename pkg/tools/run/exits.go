package run

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/programs"
	"github.com/agentkit-go/agentkit/pkg/shellparse"
)

// fatal is the name of a signal that programs die of by a fault of their own or
// of their reader; these numbers are the same on every Unix. A shell reports
// such a death of its last program as 128 and the number.
func fatal(number int) string {
	switch number {
	case 4:
		return "SIGILL"
	case 6:
		return "SIGABRT"
	case 8:
		return "SIGFPE"
	case 9:
		return "SIGKILL"
	case 11:
		return "SIGSEGV"
	case 13:
		return "SIGPIPE"
	}
	return ""
}

// exitMeaning explains a status other than 0, going by the last command of the
// line, whose status it most likely is; "" when there is nothing to say.
func exitMeaning(found *shellparse.Analysis, status int) string {
	switch status {
	case 126:
		return "something was found that cannot be run"
	case 127:
		return "a command was not found"
	}
	if s := fatal(status - 128); s != "" {
		return "as of a program that " + s + " has ended"
	}
	if found == nil {
		return ""
	}
	var last []string
	for _, c := range found.Commands {
		if c.Access > 0 && c.Access <= len(found.Accesses) && found.Accesses[c.Access-1].Parent == 0 && len(c.Words) > 0 {
			last = c.Words
		}
	}
	if last == nil {
		return ""
	}
	sub := ""
	if i := slices.IndexFunc(last[1:], func(w string) bool { return !strings.HasPrefix(w, "-") }); i >= 0 {
		sub = last[1+i]
	}
	operation, means := programs.ExitMeaning(filepath.Base(last[0]), sub, status)
	if means == "" {
		return ""
	}
	return "for " + operation + ", " + means
}
