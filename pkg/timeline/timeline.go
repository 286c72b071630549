// Package timeline writes what a session did as one page for a browser, which needs
// nothing else: when its calls were made, what was decided about them and what came of it.
package timeline

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/audit"
)

//go:embed page.css
var style string

//go:embed page.js
var script string

// A Session is whose page it is.
type Session struct {
	ID, Root string
	Chain    string // what checking the records has shown
	Made     time.Time
}

// state is what a call is shown as.
func state(c *audit.Call) string {
	switch {
	case c.Decision == "deny" || c.Code == "denied":
		return "denied"
	case c.Unanswered():
		return "asked"
	case c.Code != "" || c.Exit != nil && *c.Exit > 1:
		return "failed"
	case c.Exit != nil && *c.Exit == 1:
		return "no"
	case !c.Ended:
		return "open"
	}
	return "done"
}

// states are all of them, with what they mean.
func states() [][2]string {
	return [][2]string{{"done", "done"}, {"no", "answered no"}, {"failed", "failed"}, {"asked", "needs approval or an answer"}, {"denied", "denied"}, {"open", "not ended"}}
}

// Page is the whole page.
func Page(s Session, calls []*audit.Call) string {
	var b strings.Builder
	sum := sha256.Sum256([]byte(script))
	fmt.Fprintf(&b, pageBegin+`<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-%s'; base-uri 'none'; form-action 'none'">
<title>%s: what happened</title><style>%s</style></head><body>
`, base64.StdEncoding.EncodeToString(sum[:]), esc(s.ID), style)
	head(&b, s, calls)
	chart(&b, calls)
	controls(&b, calls)
	b.WriteString("<main id=\"calls\">\n")
	day := ""
	for _, c := range calls {
		if d := c.Time.Local().Format("Monday, 2 January 2006"); d != day {
			day = d
			fmt.Fprintf(&b, "<h2>%s</h2>\n", esc(day))
		}
		call(&b, c)
	}
	fmt.Fprintf(&b, "</main><p id=\"none\" hidden>No call is like that.</p>\n<footer>%s. Secrets are left out; of long texts the beginning and the end are kept.</footer>\n<script>%s</script></body></html>\n", esc(s.Chain), script)
	return b.String()
}

// pageBegin begins each page, and says what made it.
const pageBegin = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="generator" content="agentkit log">`

// BeginBytes is how much of a file IsPage has to see.
const BeginBytes = int64(len(pageBegin))

// IsPage reports whether a file with this beginning is a page that Page has made.
func IsPage(begin string) bool { return strings.HasPrefix(begin, pageBegin) }

func esc(text string) string { return html.EscapeString(strings.ToValidUTF8(text, "\ufffd")) }

// head says in numbers what the page is about.
func head(b *strings.Builder, s Session, calls []*audit.Call) {
	fmt.Fprintf(b, "<header><h1>%s</h1><p class=\"root\">%s</p><dl>", esc(s.ID), esc(s.Root))
	fact := func(name, value, class string) {
		fmt.Fprintf(b, "<div class=\"%s\"><dt>%s</dt><dd>%s</dd></div>", class, name, esc(value))
	}
	count := map[string]int{}
	changes, busy := 0, time.Duration(0)
	for _, c := range calls {
		count[state(c)]++
		busy += time.Duration(c.Millis) * time.Millisecond
		if c.Change != "" {
			changes++
		}
	}
	fact("calls", fmt.Sprint(len(calls)), "")
	for _, st := range states()[1:] {
		if n := count[st[0]]; n > 0 {
			fact(st[1], fmt.Sprint(n), st[0])
		}
	}
	fact("changes", fmt.Sprint(changes), "")
	fact("at work", took(busy.Milliseconds()), "")
	if n := len(calls); n > 0 {
		fact("from", calls[0].Time.Local().Format("2 Jan 15:04:05"), "")
		fact("to", calls[n-1].End().Local().Format("2 Jan 15:04:05"), "")
	}
	b.WriteString("</dl></header>\n")
}

// took is a time in words.
func took(millis int64) string {
	switch {
	case millis < 1000:
		return fmt.Sprintf("%d ms", millis)
	case millis < 60_000:
		return fmt.Sprintf("%.1f s", float64(millis)/1000)
	}
	return (time.Duration(millis) * time.Millisecond).Round(time.Second).String()
}

// chart draws the calls over time, a row for each tool. Where nothing happens for long,
// the time between is shown short, with how long it was.
func chart(b *strings.Builder, calls []*audit.Call) {
	if len(calls) == 0 {
		return
	}
	at, breaks, whole := places(calls)
	rows := map[string]int{}
	for _, c := range calls {
		if _, known := rows[c.Tool]; !known {
			rows[c.Tool] = len(rows)
		}
	}
	const height = 20
	fmt.Fprintf(b, "<section class=\"chart\" aria-label=\"calls over time\"><div class=\"lanes\" style=\"height:%dpx\">", len(rows)*height)
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		fmt.Fprintf(b, "<span class=\"lane\" style=\"top:%dpx\">%s</span>", rows[name]*height, esc(name))
	}
	b.WriteString("<div class=\"plot\">")
	for _, br := range breaks {
		fmt.Fprintf(b, "<span class=\"gap\" style=\"left:%.3f%%\" title=\"%s in which nothing was called\"></span>", 100*br.at/whole, esc(br.long.Round(time.Second).String()))
	}
	for i, c := range calls {
		fmt.Fprintf(b, "<a class=\"bar %s\" href=\"#%s\" style=\"top:%dpx;left:%.3f%%;width:%.3f%%\" title=\"%s %s (%s)\"></a>",
			state(c), esc(c.ID), rows[c.Tool]*height+3, 100*at[i]/whole, 100*float64(c.Millis)/1000/whole, esc(c.Tool), esc(short(c.What(), 120)), took(c.Millis))
	}
	b.WriteString("</div></div></section>\n")
}

// A gap is a time in which nothing happens.
type gap struct {
	at   float64 // where it is drawn, in seconds
	long time.Duration
}

// places are where calls begin in the chart, in seconds from its left, and how long it is.
func places(calls []*audit.Call) (at []float64, breaks []gap, whole float64) {
	work := 0.0
	for _, c := range calls {
		work += float64(c.Millis) / 1000
	}
	most := max(1, work/20)
	end := calls[0].Time
	for _, c := range calls {
		idle := c.Time.Sub(end).Seconds()
		if idle > most {
			breaks = append(breaks, gap{whole + most/2, c.Time.Sub(end)})
			idle = most
		}
		start := max(0, whole+idle) // calls that overlap begin before the last one ends
		at = append(at, start)
		if c.End().After(end) {
			end = c.End()
			whole = start + float64(c.Millis)/1000
		}
	}
	return at, breaks, max(whole, 0.001) * 1.01
}

// controls choose which calls are shown.
func controls(b *strings.Builder, calls []*audit.Call) {
	tools, seen := map[string]int{}, map[string]int{}
	for _, c := range calls {
		tools[c.Tool]++
		seen[state(c)]++
	}
	b.WriteString("<nav><input id=\"find\" type=\"search\" placeholder=\"find in the calls\" aria-label=\"find in the calls\" autocomplete=\"off\"><div role=\"group\" aria-label=\"what came of them\">")
	for _, st := range states() {
		if seen[st[0]] > 0 {
			fmt.Fprintf(b, "<button type=\"button\" data-state=\"%s\" aria-pressed=\"false\" class=\"%s\">%s <small>%d</small></button>", st[0], st[0], st[1], seen[st[0]])
		}
	}
	b.WriteString("</div><div role=\"group\" aria-label=\"tools\">")
	for _, name := range slices.Sorted(maps.Keys(tools)) {
		fmt.Fprintf(b, "<button type=\"button\" data-tool=\"%s\" aria-pressed=\"false\">%s <small>%d</small></button>", esc(name), esc(name), tools[name])
	}
	b.WriteString("</div></nav>\n")
}

// call is one call: a line, and all there is to know of it below.
func call(b *strings.Builder, c *audit.Call) {
	st, inner := state(c), ""
	if c.Parent != "" {
		inner = " inner"
	}
	fmt.Fprintf(b, "<details id=\"%s\" class=\"call %s%s\" data-tool=\"%s\" data-state=\"%s\"><summary><time datetime=\"%s\">%s</time><b>%s</b><code>%s</code><span class=\"came\">%s</span><span class=\"ms\">%s</span></summary><div class=\"more\">\n",
		esc(c.ID), st, inner, esc(c.Tool), st, c.Time.Format(time.RFC3339Nano), c.Time.Local().Format("15:04:05"), esc(c.Tool), esc(short(c.What(), 300)), esc(came(c)), took(c.Millis))
	if why := c.Why(); why != "" {
		fmt.Fprintf(b, "<p class=\"why\">%s</p>\n", esc(why))
	}
	parameters(b, string(c.Args))
	if c.Diff != "" {
		diff(b, c.Diff)
	}
	if c.Text != "" {
		fmt.Fprintf(b, "<h3>answer</h3><pre>%s</pre>\n", esc(c.Text))
	}
	accesses(b, append(slices.Clone(c.Accesses), c.Asked...))
	b.WriteString("<p class=\"ids\">")
	for _, one := range [][2]string{{"call", c.ID}, {"message", c.Message}, {"agent", c.Agent}, {"made by", c.Parent}, {"change", c.Change}, {"job", c.Job}, {"sandbox", c.Level}, {"approved", c.Note}} {
		if one[1] != "" {
			fmt.Fprintf(b, "<span>%s <code>%s</code></span>", one[0], esc(one[1]))
		}
	}
	b.WriteString("</p></div></details>\n")
}

// came is what came of a call, in a word or two.
func came(c *audit.Call) string {
	switch {
	case c.Decision == "deny":
		return "denied"
	case c.Unanswered():
		return c.Wants()
	case c.Code != "":
		return strings.ReplaceAll(c.Code, "_", " ")
	case !c.Ended:
		return "not ended"
	case c.Job != "":
		return "runs on"
	case c.Exit != nil && *c.Exit != 0:
		return fmt.Sprint("exit ", *c.Exit)
	case c.Change != "":
		return "changed"
	}
	return ""
}

// parameters shows what a call was given: one alone in a line stays there, texts of several
// keep theirs.
func parameters(b *strings.Builder, args string) {
	var given map[string]any
	if json.Unmarshal([]byte(args), &given) != nil {
		if args != "" {
			fmt.Fprintf(b, "<h3>parameters</h3><pre>%s</pre>\n", esc(args))
		}
		return
	}
	if len(given) == 0 {
		return
	}
	b.WriteString("<h3>parameters</h3><dl class=\"given\">")
	for _, name := range slices.Sorted(maps.Keys(given)) {
		text, ok := given[name].(string)
		if !ok {
			raw, _ := json.MarshalIndent(given[name], "", "  ") // it was JSON before
			text = string(raw)
		}
		fmt.Fprintf(b, "<dt>%s</dt><dd><pre>%s</pre></dd>", esc(name), esc(text))
	}
	b.WriteString("</dl>\n")
}

// diff shows lines that came and went in colours.
func diff(b *strings.Builder, text string) {
	b.WriteString("<h3>difference</h3><pre class=\"diff\">")
	for line := range strings.Lines(text) {
		class := ""
		switch {
		case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"):
			class = "file"
		case strings.HasPrefix(line, "@@"):
			class = "at"
		case strings.HasPrefix(line, "+"):
			class = "add"
		case strings.HasPrefix(line, "-"):
			class = "del"
		}
		fmt.Fprintf(b, "<span class=\"%s\">%s</span>", class, esc(line))
	}
	b.WriteString("</pre>\n")
}

// mostAccesses bounds how many are shown of a call.
const mostAccesses = 200

func accesses(b *strings.Builder, list []audit.Access) {
	if len(list) == 0 || len(list) == 1 && list[0].Kind == "tool" {
		return
	}
	b.WriteString("<h3>policy</h3><table>")
	for i := range list[:min(len(list), mostAccesses)] {
		a := &list[i]
		where := a.Rule
		if a.File != "" {
			where += fmt.Sprintf(", %s:%d", a.File, a.Line)
		}
		fmt.Fprintf(b, "<tr class=\"%s\"><td>%s</td><td>%s</td><td><code>%s</code></td><td>%s</td></tr>", esc(a.Decision), esc(a.Decision), esc(a.Kind), esc(a.Subject), esc(strings.TrimSpace(where)))
	}
	b.WriteString("</table>\n")
	if more := len(list) - mostAccesses; more > 0 {
		fmt.Fprintf(b, "<p>and %d more</p>\n", more)
	}
}

func short(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
