package run

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/programs"
)

// fatal is the name of a signal that programs die of by a fault of their own or
// of their reader; these numbers are the same on every Unix. A shell reports
// such a death of its last program as 128 and the number.
func fatal(number int) string {
	return map[int]string{4: "SIGILL", 6: "SIGABRT", 8: "SIGFPE", 9: "SIGKILL", 11: "SIGSEGV", 13: "SIGPIPE"}[number]
}

// exitMeaning explains a status other than 0 by the words of the command that it is
// of, if that is known; "" when there is nothing to say.
func exitMeaning(decider []string, status int) string {
	switch status {
	case 126:
		return "as of a shell that cannot run what it has found"
	case 127:
		return "as of a shell that has not found a command"
	}
	if s := fatal(status - 128); s != "" {
		return "as of a program that " + s + " has ended"
	}
	if len(decider) == 0 {
		return ""
	}
	sub := ""
	if i := slices.IndexFunc(decider[1:], func(w string) bool { return !strings.HasPrefix(w, "-") }); i >= 0 {
		sub = decider[1+i]
	}
	operation, means := programs.ExitMeaning(filepath.Base(decider[0]), sub, status)
	if means == "" {
		return ""
	}
	return "for " + operation + ", " + means
}
