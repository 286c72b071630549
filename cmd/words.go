package cmd

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

// shown is a path as titles and messages name it: relative to the root where
// it lies inside.
func shown(p workspace.Path) string {
	switch {
	case p.Inside:
		return p.Rel
	case p.Real != "":
		return p.Real
	}
	return p.Given
}

// A skipped is something that a tool passed over, and why.
type skipped struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// reason is why something was skipped, in a few words.
func reason(err error) string {
	e := tool.AsError(err)
	switch e.Code {
	case tool.Denied, tool.ApprovalRequired:
		return "the policy says no"
	case tool.IO:
		return "not readable"
	}
	return e.Message
}

// count is a number of things: 1 match, 2 matches, 3 entries.
func count(n int64, what string) string {
	switch {
	case n == 1:
		return "1 " + what
	case strings.HasSuffix(what, "ch"):
		what += "es"
	case strings.HasSuffix(what, "y"):
		what = strings.TrimSuffix(what, "y") + "ies"
	default:
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// visibleName is a name of a file as it stands in a listing: one line, nothing
// hidden.
func visibleName(name string) string {
	return strings.NewReplacer("\n", `\x0a`, "\t", `\x09`).Replace(visible(name))
}

// quoteFile is the name of a file as one word of a shell that no program takes
// for an option.
func quoteFile(name string) string {
	if strings.HasPrefix(name, "-") {
		name = "./" + name
	}
	return quoteWord(name)
}

// quoteWord is s as one word of a shell.
func quoteWord(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// cursorIsOld is the warning where a list that is gone through by cursor is not
// the one that the cursor was made for.
const cursorIsOld = "files have changed since the cursor was made: some results may be missing or come twice; leave cursor out to start over\n"

// absent says that a path does not exist, and where it leads if it is a link.
func absent(p workspace.Path) string {
	if name := filepath.Base(p.Given); name != filepath.Base(p.Real) && name == filepath.Base(p.Named) {
		return fmt.Sprintf("%s leads to %s, which does not exist", visibleName(p.Given), shown(p))
	}
	return shown(p) + " does not exist"
}
