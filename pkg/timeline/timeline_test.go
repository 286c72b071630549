package timeline

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/agentkit-go/agentkit/pkg/audit"
)

var begin = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func sample() []*audit.Call {
	exit := func(n int) *int { return &n }
	hostile := `</pre></details><script>alert(1)</script><img src=x onerror="alert(2)">`
	return []*audit.Call{
		{ID: "c1", Time: begin, Tool: "bash", Args: audit.Args(`{"command":"` + strings.ReplaceAll(hostile, `"`, `\"`) + `","list":[1,2]}`), Decision: "allow", Ended: true, Exit: exit(3), Text: hostile, Title: hostile, Millis: 1200},
		{ID: "c2", Parent: "c1", Time: begin.Add(time.Second), Tool: "edit", Args: `{"path":"a.go"}`, Decision: "allow", Ended: true, Exit: exit(0), Diff: "--- a\n+++ b\n@@ -1 +1 @@\n-<old>\n+<new>\n", Change: "k1"},
		{ID: "c3", Time: begin.Add(time.Hour), Tool: "read", Args: "{broken", Decision: "deny", Accesses: []audit.Access{{Kind: "read", Subject: hostile, Decision: "deny", Rule: hostile, Why: hostile, File: "p.yaml", Line: 3}}},
		{ID: "c4", Time: begin.Add(2 * time.Hour), Tool: "bash", Args: `{"command":"push"}`, Decision: "ask"},
		{ID: "c5", Time: begin.Add(2 * time.Hour), Tool: "grep", Args: `{"pattern":"x"}`, Decision: "allow", Ended: true, Exit: exit(1)},
		{ID: "c6", Time: begin.Add(26 * time.Hour), Tool: "bash", Decision: "allow", Job: "j1"},
		{ID: "c7", Time: begin.Add(27 * time.Hour), Tool: "question", Args: `{"questions":[{"question":"Which?"}]}`, Decision: "allow", Ended: true, Exit: exit(126), Code: "approval_required"},
	}
}

// TestPage checks that each call is there, that nothing a call holds becomes a part of the
// page, and that the page asks for nothing else.
func TestPage(t *testing.T) {
	page := Page(Session{ID: "<s>", Root: "/w", Chain: "whole"}, sample())
	doc, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	count, class := map[string]int{}, map[string]string{}
	policy := ""
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		count[n.Data]++
		attr := map[string]string{}
		for _, a := range n.Attr {
			attr[a.Key] = a.Val
			if strings.HasPrefix(a.Key, "on") || a.Key == "src" || a.Key == "href" && !strings.HasPrefix(a.Val, "#c") {
				t.Errorf("%s has %s=%q", n.Data, a.Key, a.Val)
			}
		}
		if n.Data == "details" {
			class[attr["id"]] = attr["class"]
		}
		if attr["http-equiv"] != "" {
			policy = attr["content"]
		}
		if n.Data == "script" {
			sum := sha256.Sum256([]byte(n.FirstChild.Data))
			if want := "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(policy, want) {
				t.Errorf("the page's policy %q lets not its own script run, %s", policy, want)
			}
		}
	}
	for id, want := range map[string]string{"c1": "call failed", "c2": "call done inner", "c3": "call denied", "c4": "call asked", "c5": "call no", "c6": "call open", "c7": "call asked"} {
		if class[id] != want {
			t.Errorf("%s is %q, want %q", id, class[id], want)
		}
	}
	if count["script"] != 1 || count["img"] != 0 || count["details"] != 7 || count["link"] != 0 || count["a"] != 7 {
		t.Errorf("%v", count)
	}
	for _, want := range []string{`<span class="del">-&lt;old&gt;`, `<span class="add">+&lt;new&gt;`, "p.yaml:3", "{broken", "needs approval", "not answered"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s", want)
		}
	}
}

// TestPlaces checks that long pauses are drawn short, and that calls stay in order.
func TestPlaces(t *testing.T) {
	calls := sample()
	at, breaks, whole := places(calls)
	if len(breaks) != 4 || breaks[0].long.Round(time.Minute) != time.Hour {
		t.Errorf("%+v", breaks)
	}
	for i := range at {
		if i > 0 && at[i] < at[i-1] || at[i]+float64(calls[i].Millis)/1000 > whole {
			t.Errorf("call %d at %v of %v", i, at[i], whole)
		}
	}
	if whole > 10 {
		t.Errorf("the chart is %v seconds long", whole)
	}
	if page := Page(Session{ID: "s"}, nil); !strings.Contains(page, "<dd>0</dd>") {
		t.Error("no page for no calls")
	}
}
