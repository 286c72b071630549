package policy

import (
	"strings"

	"github.com/agentkit-go/agentkit/pkg/programs"
)

// nothing is the record of a program that has none.
var nothing programs.Record

// record is what is known of the program that a word starts; nothing of most.
func record(name string) *programs.Record {
	if r, _ := programs.Lookup(programName(name)); r != nil {
		return r
	}
	return &nothing
}

// roleOf returns what kind of program a name means: python3.12 is python.
func roleOf(name string) programs.Role {
	name = programName(name)
	if name == "." {
		return programs.ShellRole
	}
	if role := record(name).Role; role != programs.NoRole {
		return role
	}
	return record(strings.TrimRight(name, "0123456789.-")).Role
}

func isShell(name string) bool { return name != "" && roleOf(name) == programs.ShellRole }

// commandWords returns how many words of argv make the command: "git push" is
// two, so "git push *" is the rule that somebody who allows "git push origin
// main" for good may mean. Commands of which it is not known are only ever
// suggested as they are.
func commandWords(argv []string) (n int, known bool) {
	r := record(argv[0])
	if len(argv) > 1 && programs.Has(r.Deeper, argv[1]) {
		return r.Arity + 1, true
	}
	return r.Arity, r.Arity > 0
}

// isRunner reports whether a command runs what its arguments name.
func isRunner(argv []string) bool {
	return len(argv) > 1 && programs.Has(record(argv[0]).Runs, argv[1])
}
