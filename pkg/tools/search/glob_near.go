package search

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/rg"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// nothing says why nothing was found, by looking for what is near.
func (t *globTarget) nothing(ctx context.Context, env *tool.Env, o rg.GlobOptions) string {
	if dir := t.plainDir(env); dir != "" {
		return fmt.Sprintf("%s is a directory, and %s/** finds the files in it", tool.VisibleName(dir), tool.VisibleName(strings.TrimSuffix(dir, "/")))
	}
	if slices.ContainsFunc(t.given, hasBareComma) {
		return "a comma stands for itself; give several patterns as a list or as {a,b}"
	}
	o.Limit, o.Sort, o.Cursor, o.MaxEntries, o.Timeout = 5, rg.ByPath, "", maxLookedFor, 2*time.Second
	find := func(patterns []string) string {
		res, err := rg.Glob(ctx, t.dir.Real, patterns, o)
		if err != nil || res.Total == 0 {
			return ""
		}
		var names []string
		for _, e := range res.Entries {
			names = append(names, tool.VisibleName(t.prefix()+e.Path))
		}
		if res.Total > len(names) {
			names = append(names, fmt.Sprintf("and %d more", res.Total-len(names)))
		}
		return strings.Join(names, ", ")
	}
	patterns := t.patterns()
	folded, longer := make([]string, len(patterns)), make([]string, len(patterns))
	for i, pattern := range patterns {
		folded[i] = anyCase(pattern)
		longer[i] = folded[i] + "*"
	}
	if near := find(folded); near != "" {
		return "with other upper and lower case there is " + near
	}
	if !strings.ContainsAny(strings.Join(t.given, ""), wildcards) {
		if near := find(longer); near != "" {
			return "the pattern has to match the whole name; there is " + near
		}
	}
	o.Hidden, o.NoIgnore = true, true
	if near := find(patterns); near != "" {
		return "hidden or ignored, so that hidden: true or ignore: false finds them: " + near
	}
	return ""
}

// anyCase is a pattern that matches in upper and lower case.
func anyCase(pattern string) string {
	var b strings.Builder
	class := false
	for i := 0; i < len(pattern); i++ {
		c := pattern[i]
		lower := c | 0x20
		switch {
		case c == '\\' && i+1 < len(pattern):
			i++
			b.WriteString(pattern[i-1 : i+1])
			continue
		case c == '[':
			class = true
		case c == ']':
			class = false
		}
		if !class && lower >= 'a' && lower <= 'z' {
			b.WriteString("[" + string(lower) + string(lower-0x20) + "]")
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// plainDir gives the first pattern that is the name of a directory: glob lists
// files, so it finds nothing there.
func (t *globTarget) plainDir(env *tool.Env) string {
	for _, pattern := range t.given {
		if strings.ContainsAny(pattern, wildcards) {
			continue
		}
		dir, err := env.Workspace.Resolve(filepath.Join(t.path, pattern))
		if err == nil && dir.Exists && dir.Type == policy.Dir && env.May(dir.Read("glob")) == nil {
			return pattern
		}
	}
	return ""
}

func hasBareComma(pattern string) bool {
	return strings.Contains(pattern, ",") && !strings.Contains(pattern, "{")
}
