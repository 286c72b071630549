package shellparse

import (
	"strings"
	"testing"
)

// The tables are searched by halving, so a row out of place is a program that
// nobody finds.
func TestTablesAreSorted(t *testing.T) {
	for name, table := range map[string][]program{"read": readPrograms[:], "write": writePrograms[:], "run": runPrograms[:], "wrappers": wrappers[:]} {
		for i := 1; i < len(table); i++ {
			if table[i-1].name >= table[i].name {
				t.Errorf("%s: %q stands before %q", name, table[i-1].name, table[i].name)
			}
		}
	}
	for i := 1; i < len(builtins); i++ {
		if builtins[i-1].name >= builtins[i].name {
			t.Errorf("builtins: %q stands before %q", builtins[i-1].name, builtins[i].name)
		}
	}
	for i := 1; i < len(gitCommands); i++ {
		if gitCommands[i-1].name >= gitCommands[i].name {
			t.Errorf("git: %q stands before %q", gitCommands[i-1].name, gitCommands[i].name)
		}
	}
}

// A table that is misspelt would let an option through.
func TestTablesAreWellFormed(t *testing.T) {
	for _, table := range [][]program{readPrograms[:], writePrograms[:], runPrograms[:], wrappers[:]} {
		for _, p := range table {
			if findProgram(p.name) == nil {
				t.Errorf("%s is not found", p.name)
			}
			checkRules(t, p.name, p.opts)
			if strings.Trim(strings.NewReplacer("grep", "", "gzip", "", "getent", "", "rm", "", "|.", "").Replace(p.operands), "prRwcdDmMnx*") != "" {
				t.Errorf("%s: operands %q", p.name, p.operands)
			}
		}
	}
	for _, p := range wrappers {
		if p.source == "" {
			t.Errorf("%s: no source", p.name)
		}
	}
	for _, g := range gitCommands {
		checkRules(t, "git "+g.name, g.opts)
	}
	checkRules(t, "git diff", gitDiffOptions)
	checkRules(t, "git log", gitLogOptions)
	checkRules(t, "git", gitGlobals)
}

func checkRules(t *testing.T, name, opts string) {
	t.Helper()
	if opts == "*" {
		return
	}
	for _, r := range rules(opts) {
		if strings.Trim(r.does, "<>!$%=@+~") != "" || r.names == "" {
			t.Errorf("%s: rule %+v", name, r)
		}
		for n := range strings.SplitSeq(r.names, ",") {
			if n == "" {
				t.Errorf("%s: an empty name in %+v", name, r)
			}
		}
	}
}
