package cmd

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/audit"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// listed shows the newest calls, or all of those that were named.
func listed(calls []*audit.Call, damaged int, o *logOptions) *tool.Result {
	var meta struct {
		Calls   []*audit.Call `json:"calls"`
		Total   int           `json:"total"`             // that the filter lets pass
		Damaged int           `json:"damaged,omitempty"` // lines that are no records
	}
	meta.Calls, meta.Total, meta.Damaged = calls, len(calls), damaged
	if o.limit > 0 && len(calls) > o.limit {
		meta.Calls = calls[len(calls)-o.limit:]
	}
	render := func(paint func(tool.Style, string) string) string {
		var b strings.Builder
		day := ""
		for _, c := range meta.Calls {
			if d := c.Time.Local().Format(time.DateOnly); d != day {
				day = d
				b.WriteString(paint(tool.Faint, day) + "\n")
			}
			b.WriteString(callLine(c, paint))
			if len(o.filter.calls) > 0 {
				b.WriteString(wholeCall(c, paint))
			}
		}
		b.WriteString(leftOut(meta.Total-len(meta.Calls), damaged, "call"))
		if meta.Total == 0 && damaged == 0 {
			b.WriteString("no call is like that\n")
		}
		return b.String()
	}
	return &tool.Result{Title: tool.Count(int64(meta.Total), "call"), Output: render(tool.Unpainted), Pretty: render, Metadata: &meta, No: meta.Total == 0}
}

// leftOut says what is not shown.
func leftOut(older, damaged int, what string) string {
	text := ""
	if older > 0 {
		text += fmt.Sprintf("[%s; --limit shows more]\n", tool.Count(int64(older), "older "+what))
	}
	if damaged > 0 {
		text += fmt.Sprintf("[%s; agentkit log --verify says where]\n", tool.Count(int64(damaged), "damaged line"))
	}
	return text
}

// callLine is a call in one line: its time, the beginning of its name, the tool, what it is
// about, and what came of it where that is not that it was done.
func callLine(c *audit.Call, paint func(tool.Style, string) string) string {
	style, came := tool.Faint, ""
	switch {
	case c.Decision == "deny":
		style, came = tool.Match, "denied: "+c.Why()
	case c.Unanswered():
		style, came = tool.Match, c.Wants()
		if why := c.Why(); why != "" {
			came += ": " + why
		}
	case c.Code != "":
		style, came = tool.Match, c.Code
	case !c.Ended:
		came = "not ended"
	case c.Exit != nil && *c.Exit != 0:
		style, came = tool.Number, fmt.Sprint("exit ", *c.Exit)
	}
	for _, one := range [][2]string{{"change", c.Change}, {"job", c.Job}} {
		if one[1] != "" {
			came = strings.TrimSpace(came + " " + one[0] + " " + one[1])
		}
	}
	indent := ""
	if c.Parent != "" {
		indent = "  "
	}
	what := []rune(tool.VisibleName(c.What()))
	if len(what) > 100 {
		what = append(what[:99], '…')
	}
	line := fmt.Sprintf("%s %s %s%-9s %s", paint(tool.Faint, c.Time.Local().Format(time.TimeOnly)), paint(tool.Faint, c.ID[:min(8, len(c.ID))]), indent, c.Tool, string(what))
	if came != "" {
		line += "  " + paint(style, tool.VisibleName(came))
	}
	if c.Ended {
		line += "  " + paint(tool.Faint, (time.Duration(c.Millis)*time.Millisecond).String())
	}
	return strings.TrimRight(line, " ") + "\n"
}

// wholeCall is all there is to know of a call.
func wholeCall(c *audit.Call, paint func(tool.Style, string) string) string {
	var b strings.Builder
	part := func(name, text string) {
		if text = strings.TrimRight(text, "\n"); text != "" {
			fmt.Fprintf(&b, "  %s\n    %s\n", paint(tool.Faint, name), strings.ReplaceAll(tool.Visible(text), "\n", "\n    "))
		}
	}
	part("call", c.ID)
	part("called", c.Caller)
	part("message", c.Message)
	part("agent", c.Agent)
	part("made by", c.Parent)
	part("parameters", string(c.Args))
	var accesses strings.Builder
	for _, list := range [][]audit.Access{c.Accesses, c.Asked} {
		for i := range list {
			a := &list[i]
			fmt.Fprintf(&accesses, "%s %s %s: %s (%s)\n", a.Decision, a.Kind, a.Subject, a.Why, a.Rule)
		}
	}
	part("policy", accesses.String())
	part("approved", c.Note)
	part("sandbox", c.Level)
	part("answer", c.Text)
	part("difference", c.Diff)
	return b.String()
}

// followEvery is the time between two looks at the log.
const followEvery = 200 * time.Millisecond

// followLog prints calls as they end, or are refused, until it is interrupted.
func (a *app) followLog(ctx context.Context, log *audit.Audit, o *logOptions) error {
	known := map[string]*audit.Call{}
	shown := map[string]bool{}
	p := a.printer()
	for records := range log.Follow(ctx, audit.Filter{Since: o.filter.from}, followEvery) {
		var calls []*audit.Call
		for r, err := range records {
			if err != nil {
				continue // what is damaged is found by --verify
			}
			c := audit.Add(known, &r)
			if c == nil || shown[c.ID] || !c.Ended && c.Decision == "allow" || !o.filter.passes(c) {
				continue
			}
			shown[c.ID] = true
			delete(known, c.ID)
			calls = append(calls, c)
		}
		log.Fill(calls...) // all of them together: it reads whole files
		for _, c := range calls {
			if err := p.call(c); err != nil {
				return err
			}
		}
	}
	return nil
}

// call prints a call in a line.
func (p *printer) call(c *audit.Call) error {
	if p.format != "text" {
		return p.line(c)
	}
	line := callLine(c, tool.Unpainted)
	if p.colour {
		line = coloured(tool.Visible(callLine(c, tool.Mark)))
	}
	_, err := io.WriteString(p.stdout, line)
	return err
}
