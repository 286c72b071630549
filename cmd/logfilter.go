package cmd

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/audit"
	"github.com/agentkit-go/agentkit/pkg/nearest"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// logOptions are what the log is to show.
type logOptions struct {
	verify, records, replay, follow bool
	html                            string
	limit                           int
	filter                          logFilter
}

// A logFilter says which calls are shown.
type logFilter struct {
	tools, calls          []string
	decision, since, path string
	failed                bool

	from time.Time
}

// prepare checks the filter. Paths count from the root.
func (f *logFilter) prepare(now time.Time, root string) error {
	if words := []string{"", "allow", "ask", "deny"}; !slices.Contains(words, f.decision) {
		return tool.Errorf(tool.BadInput, "--decision: want allow, ask or deny, got %q", f.decision).WithHint("correct --decision").Suggest(nearest.Words(f.decision, words[1:], 1)...)
	}
	for _, name := range f.tools {
		if _, err := Tools.Find(name); err != nil {
			return err
		}
	}
	if f.path != "" && !filepath.IsAbs(f.path) {
		f.path = filepath.Join(root, f.path)
	}
	if f.since == "" {
		return nil
	}
	var ok bool
	if f.from, ok = moment(f.since, now); !ok {
		return tool.Errorf(tool.BadInput, "--since: %q is no time", f.since).WithHint("give how long ago, as 90s, 2h or 3d, or a time as 2026-01-31, 2026-01-31T12:00 or 12:00")
	}
	return nil
}

// moment reads a time, or how long ago it was.
func moment(text string, now time.Time) (time.Time, bool) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseFloat(days, 64)
		return now.Add(-time.Duration(n * 24 * float64(time.Hour))), err == nil && n >= 0 && n < 100_000
	}
	if ago, err := time.ParseDuration(text); err == nil {
		return now.Add(-ago), ago >= 0
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", time.DateTime, "2006-01-02 15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return t, true
		}
	}
	for _, layout := range []string{time.TimeOnly, "15:04"} {
		if t, err := time.ParseInLocation(time.DateOnly+" "+layout, now.Format(time.DateOnly)+" "+text, now.Location()); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// apply returns the calls that the filter lets pass.
func (f *logFilter) apply(calls []*audit.Call) []*audit.Call {
	return slices.DeleteFunc(slices.Clone(calls), func(c *audit.Call) bool { return !f.passes(c) })
}

func (f *logFilter) passes(c *audit.Call) bool {
	return (len(f.tools) == 0 || slices.Contains(f.tools, c.Tool)) &&
		(len(f.calls) == 0 || slices.ContainsFunc(f.calls, func(id string) bool { return strings.HasPrefix(c.ID, id) || id == c.Caller || id == c.Message })) &&
		(f.decision == "" || c.Decision == f.decision) &&
		(!f.failed || c.Failed()) &&
		!c.Time.Before(f.from) &&
		(f.path == "" || c.Touches(f.path))
}
