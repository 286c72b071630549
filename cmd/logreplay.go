package cmd

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/audit"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// replayed is a script for a shell that makes calls again, in their order, from the same
// root. Those that were refused, and those whose parameters are not all on record, stand
// in it as comments.
func replayed(root, session string, calls []*audit.Call) string {
	var b strings.Builder
	fmt.Fprintf(&b, "#!/bin/sh\n# What session %s did. Each call is decided anew; -e would end at the first that is not done.\nset -u\ncd %s || exit\n", tool.VisibleName(session), tool.QuoteWord(root))
	for _, c := range calls {
		if c.Parent != "" {
			continue // the call that made it makes it again
		}
		fmt.Fprintf(&b, "\n# %s %s\n", c.Time.Local().Format(time.DateTime), c.ID)
		line := fmt.Sprintf("agentkit %s --json %s\n", c.Tool, tool.QuoteWord(string(c.Args)))
		why := ""
		switch {
		case c.Decision != "allow":
			why = "not made then, " + map[string]string{"deny": "it was denied", "ask": "it needed approval"}[c.Decision]
		case c.Cut():
			why = "not all of its parameters are on record"
		case slices.Contains([]string{"output", "input", "kill"}, c.Tool):
			why = "the job that it is about has another name each time"
		}
		if why != "" {
			fmt.Fprintf(&b, "# %s:\n# %s", why, strings.ReplaceAll(line, "\n", " ")+"\n")
			continue
		}
		b.WriteString(line)
	}
	return b.String()
}
