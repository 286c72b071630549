package run

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/shellparse"
)

// A verdict is what an exit status means for one program: a fact about what
// was looked at, where others would suspect a failure.
type verdict struct {
	program string // with its first argument where that decides
	status  int
	means   string
}

// verdicts follow the manuals of the programs (POSIX.1-2024 for grep, diff,
// cmp, test and command; git-diff, git-grep, rg, pgrep, curl, timeout, pytest).
var verdicts = [...]verdict{
	{"grep", 1, "no line matched"},
	{"egrep", 1, "no line matched"},
	{"fgrep", 1, "no line matched"},
	{"zgrep", 1, "no line matched"},
	{"rg", 1, "no line matched"},
	{"ag", 1, "no line matched"},
	{"git grep", 1, "no line matched"},
	{"diff", 1, "the files differ"},
	{"cmp", 1, "the files differ"},
	{"git diff", 1, "there are differences"},
	{"git merge-base", 1, "there is no common ancestor, or it is none"},
	{"git check-ignore", 1, "none of the paths is ignored"},
	{"git config", 1, "the key is not set"},
	{"git show-ref", 1, "there is no such reference"},
	{"test", 1, "the condition is false"},
	{"[", 1, "the condition is false"},
	{"[[", 1, "the condition is false"},
	{"expr", 1, "the result is null or 0"},
	{"command", 1, "there is no such command"},
	{"which", 1, "there is no such command"},
	{"type", 1, "there is no such command"},
	{"pgrep", 1, "no process matched"},
	{"pidof", 1, "no process matched"},
	{"systemctl is-active", 3, "the unit is not active"},
	{"fuser", 1, "no process uses it"},
	{"lsof", 1, "nothing was found"},
	{"timeout", 124, "the time limit of timeout ran out"},
	{"pytest", 1, "tests failed"},
	{"pytest", 5, "no tests were collected"},
	{"curl", 6, "the host's name could not be resolved"},
	{"curl", 7, "the connection was refused"},
	{"curl", 22, "the server answered with an error"},
	{"curl", 28, "the time limit ran out"},
	{"ssh", 255, "the connection failed"},
}

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
	names := []string{filepath.Base(last[0])}
	if rest := slices.DeleteFunc(slices.Clone(last[1:]), func(w string) bool { return strings.HasPrefix(w, "-") }); len(rest) > 0 {
		names = append(names, names[0]+" "+rest[0])
	}
	for _, v := range verdicts {
		if v.status == status && slices.Contains(names, v.program) {
			return "for " + v.program + ", " + v.means
		}
	}
	return ""
}
