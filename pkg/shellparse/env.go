package shellparse

import (
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/programs"
)

// dynamicVariables are those that the shell itself sets.
var dynamicVariables = [...]string{
	"COLUMNS", "COMPREPLY", "COMP_WORDS", "COPROC", "DIRSTACK", "EUID", "FUNCNAME", "GROUPS", "HISTCMD", "HOSTNAME", "HOSTTYPE", "IFS", "LINENO",
	"LINES", "MACHTYPE", "MAPFILE", "OLDPWD", "OPTARG", "OPTERR", "OPTIND", "OSTYPE", "PATH", "PIPESTATUS", "PPID", "PS4", "RANDOM",
	"READLINE_LINE", "REPLY", "SECONDS", "SHELL", "SHELLOPTS", "SHLVL", "SRANDOM", "TERM", "UID", "_",
}

// numberVariables hold numbers whatever they are given.
var numberVariables = [...]string{"BASHPID", "EUID", "HISTCMD", "LINENO", "OPTIND", "PPID", "RANDOM", "SECONDS", "SRANDOM", "UID"}

func numberVariable(name string) bool { return slices.Contains(numberVariables[:], name) }

// ownVariable reports whether the shell gives a variable new values by itself,
// whatever it was set to.
func ownVariable(name string) bool {
	switch name {
	case "_", "PWD", "OLDPWD", "OPTARG", "COPROC", "DIRSTACK", "FUNCNAME", "GROUPS", "PIPESTATUS", "COLUMNS", "LINES":
		return true
	}
	return strings.HasPrefix(name, "BASH_") || strings.HasPrefix(name, "EPOCH") || strings.HasPrefix(name, "COMP_") || strings.HasPrefix(name, "READLINE_")
}

func dynamicVariable(name string) bool {
	return slices.Contains(dynamicVariables[:], name) || strings.HasPrefix(name, "BASH") || strings.HasPrefix(name, "EPOCH") ||
		strings.HasPrefix(name, "COMP_") || strings.HasPrefix(name, "HIST")
}

// kindOfVariable says what giving a variable this value does.
func kindOfVariable(name string, v value) programs.VariableKind {
	if harmlessValue(name, v) {
		return programs.HarmlessVariable
	}
	if name == "LANGUAGE" && (!v.known || v.array || strings.Contains(v.first(), "/")) {
		return programs.ProgramVariable // messages, which are formats of printf, come from any file
	}
	return programs.KindOfVariable(name)
}

// harmlessValue reports whether a variable that could make programs run
// something else does not with this value.
func harmlessValue(name string, v value) bool {
	if !v.known || v.array {
		return false
	}
	s := v.first()
	switch {
	case name == "ENV": // a file that interactive shells read, which ask themselves; most mean another thing by it
		return programs.Plain(s) && !strings.Contains(s, "/")
	case len(name) == 3 && strings.HasPrefix(name, "PS") && name[2] >= '0' && name[2] <= '4': // the shell runs what stands in a prompt
		return !strings.ContainsAny(s, "$`\\")
	case strings.HasSuffix(name, "PAGER"):
		return s == "cat" || s == ""
	case name == "GIT_EDITOR" || name == "GIT_SEQUENCE_EDITOR":
		return s == "true" || s == ":"
	case name == "GOPROXY":
		return s == "off" || s == "direct"
	case name == "GOTOOLCHAIN":
		return s == "local"
	case name == "GOWORK":
		return s == "off" || s == ""
	case name == "GOFLAGS":
		for f := range strings.FieldsSeq(s) {
			if !harmlessGoFlag(f) {
				return false
			}
		}
		return true
	}
	return false
}

func harmlessGoFlag(f string) bool {
	name, _, _ := strings.Cut(strings.TrimLeft(f, "-"), "=")
	return slices.Contains([]string{"mod", "v", "x", "n", "race", "count", "tags", "trimpath", "short", "p", "buildvcs", "timeout"}, name)
}
