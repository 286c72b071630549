package websearch

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// recorded is an answer of a provider, as testdata has it.
func recorded(t *testing.T, name string) Response {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name+".http"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	res, err := http.ReadResponse(bufio.NewReader(f), nil)
	if err != nil {
		t.Fatal(name, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(name, err)
	}
	return Response{Status: res.StatusCode, Header: res.Header, Body: body}
}

// keys are the settings of somebody who has all keys.
func keys(name string) string {
	return map[string]string{
		"AGENTKIT_GITHUB_KEY": "ghx-SECRETKEY123", "TAVILY_API_KEY": "tvly-SECRETKEY123", "EXA_API_KEY": "exa-SECRETKEY123", "BRAVE_API_KEY": "BSA-SECRETKEY123", "SEARXNG_URL": "https://me:SECRETKEY123@sx.example.org/",
	}[name]
}

func none(string) string { return "" }

// asked is an engine that gets recorded answers, one for each request in turn, and the
// requests that it has made.
func asked(t *testing.T, word string, setting func(string) string, names ...string) (*Engine, *[]Request) {
	t.Helper()
	list, err := Providers(word, setting)
	if err != nil {
		t.Fatal(err)
	}
	var requests []Request
	return &Engine{Providers: list, Now: time.Now, Pace: filepath.Join(t.TempDir(), "pace"), Fetch: func(ctx context.Context, r Request) (Response, error) {
		requests = append(requests, r)
		if len(requests) > len(names) {
			t.Fatalf("one request too many: %s %s", r.Method, r.URL)
		}
		switch name := names[len(requests)-1]; name {
		case "hangs":
			<-ctx.Done()
			return Response{}, ctx.Err()
		case "gone":
			return Response{}, &url.Error{Op: "Get", URL: r.URL, Err: errors.New("no such host")}
		default:
			return recorded(t, name), nil
		}
	}}, &requests
}

func search(t *testing.T, e *Engine, q Query) (*Answer, *Error) {
	t.Helper()
	if q.Text == "" {
		q.Text = "ring buffer"
	}
	if q.Max == 0 {
		q.Max = 8
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	a, err := e.Search(ctx, q)
	if err == nil {
		return a, nil
	}
	failed, ok := errors.AsType[*Error](err)
	if !ok {
		t.Fatal(err)
	}
	return a, failed
}

// TestAnswers checks what each provider's answer becomes.
func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		word, name string
		setting    func(string) string
		want       []Result
	}{
		{"tavily", "tavily", keys, []Result{
			{"Ring buffers", "https://docs.example.org/ring?utm_source=feed", "A ring buffer keeps the newest items.", "", 0.91},
			{"Lock free rings", "https://blog.example.net/p?id=2", "vector<int> & co.", "2026-03-04", 0.4},
		}},
		{"tavily", "tavily-empty", none, []Result{}},
		{"exa", "exa", keys, []Result{
			{"Rings", "https://arxiv.example.org/abs/1", "first piece … second piece", "2026-02-01T00:00:00.000Z", 0.33},
			{"No score", "https://b.example.org/", "the summary", "", 0},
		}},
		{"brave", "brave", keys, []Result{
			{"Ring & buffer", "https://a.example.org/", "it's round and more", "2026-05-06T07:08:09", 0},
			{"Other", "https://sub.other.example.com/x", "elsewhere", "", 0},
		}},
		{"brave", "brave-empty", keys, []Result{}},
		{"searxng", "searxng", keys, []Result{
			{"Ring", "https://wiki.example.org/Ring", "in a wiki", "", 4},
			{"Old", "https://wiki.example.org/Old", "long ago", "2001-01-01T00:00:00", 1},
		}},
		{"duckduckgo", "duckduckgo", none, []Result{
			{"Ring buffer", "https://ring.example.org/doc?a=1&b=2", "Keeps the newest & drops the rest.", "", 0},
			{"Plain", "https://plain.example.org/", "", "", 0},
		}},
		{"duckduckgo", "duckduckgo-empty", none, []Result{}},
		{"stackoverflow", "stackoverflow", none, []Result{
			{"A ring & a channel", "https://stackoverflow.com/q/101", "why does ring <-ch block …", "2026-01-01", 7},
			{"A ring & a channel", "https://stackoverflow.com/a/202", "use a select", "2026-01-02", 3},
		}},
		{"github", "github", none, []Result{{"o/ring", "https://github.com/o/ring", "", "2026-05-01T00:00:00Z", 0}}},
		{"github", "github-code", keys, []Result{{"o/ring: x/ring.go", "https://github.com/o/ring/blob/abc/x/ring.go", "type Ring[T any] struct { … func New()", "", 0}}},
	} {
		t.Run(c.word+" "+c.name, func(t *testing.T) {
			e, _ := asked(t, c.word, c.setting, c.name)
			a, err := search(t, e, Query{})
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(a.Results, c.want) {
				t.Errorf("have %+v\nwant %+v", a.Results, c.want)
			}
			if len(a.Tried) != 1 || a.Tried[0].Kind != "" || a.Provider != e.Providers[0].Name {
				t.Errorf("tried %+v", a.Tried)
			}
		})
	}
	e, _ := asked(t, "duckduckgo", none, "duckduckgo-anomaly", "lite")
	a, err := search(t, e, Query{})
	want := []Result{{"One", "https://lite.example.org/one", "the first one", "", 0}, {"Two", "https://lite.example.org/two", "", "", 0}}
	if err != nil || !reflect.DeepEqual(a.Results, want) || a.Provider != "duckduckgo-lite" || a.Tried[0].Kind != Blocked {
		t.Errorf("lite: %+v, %v", a, err)
	}
}

// TestCounted checks what is told beside the results.
func TestCounted(t *testing.T) {
	e, _ := asked(t, "tavily", keys, "tavily")
	if a, _ := search(t, e, Query{}); a.Hidden != 2 {
		t.Errorf("%d hidden characters, want 2", a.Hidden)
	}
	e, _ = asked(t, "exa", keys, "exa")
	if a, _ := search(t, e, Query{}); a.Cost != 0.007 {
		t.Errorf("cost %v", a.Cost)
	}
	e, _ = asked(t, "searxng", keys, "searxng")
	if a, _ := search(t, e, Query{Since: time.Now().AddDate(0, 0, -3)}); len(a.Results) != 1 || len(a.Notes) != 3 || !strings.Contains(a.Notes[2], "asked for week") {
		t.Errorf("%+v", a)
	}
	e, _ = asked(t, "tavily", keys, "tavily")
	if a, _ := search(t, e, Query{Max: 1}); len(a.Results) != 1 {
		t.Errorf("%+v", a.Results)
	}
}

// TestFailures checks how each failure is understood, and who is asked next.
func TestFailures(t *testing.T) {
	for _, c := range []struct {
		word, name string
		kind       Failure
		retry      time.Duration
		next       bool // somebody else is asked
	}{
		{"tavily", "tavily-401", Auth, 0, true},
		{"tavily", "tavily-400", Refused, 0, false},
		{"tavily", "tavily-403", Limit, 0, true},
		{"tavily", "tavily-429", Limit, 7 * time.Second, true},
		{"tavily", "tavily-432", Limit, 0, true},
		{"tavily", "tavily-433", Limit, 0, true},
		{"tavily", "tavily-keyless-limit", Limit, 30 * time.Minute, true},
		{"tavily", "tavily-500", Failed, 0, true},
		{"tavily", "tavily-302", Failed, 0, true},
		{"tavily", "tavily-shape", Malformed, 0, true},
		{"tavily", "tavily-portal", Malformed, 0, true},
		{"tavily", "gone", Unreachable, 0, true},
		{"exa", "exa-401", Auth, 0, true},
		{"exa", "exa-402", Limit, 0, true},
		{"exa", "exa-429", Limit, 0, true},
		{"exa", "exa-503", Failed, 30 * time.Second, true},
		{"brave", "brave-422", Auth, 0, true},
		{"brave", "brave-429", Limit, time.Hour, true},
		{"searxng", "searxng-403", Auth, 0, true},
		{"searxng", "searxng-silent", Blocked, 0, true},
		{"searxng", "tavily-portal", Malformed, 0, true},
		{"duckduckgo", "duckduckgo-anomaly", Blocked, 10 * time.Minute, true},
		{"duckduckgo", "duckduckgo-anomaly200", Blocked, 10 * time.Minute, true},
		{"duckduckgo", "duckduckgo-403", Blocked, 10 * time.Minute, true},
		{"duckduckgo", "duckduckgo-changed", Malformed, 0, true},
		{"duckduckgo", "tavily-500", Failed, 0, true},
		{"stackoverflow", "stackoverflow-throttle", Limit, 82 * time.Second, true},
		{"stackoverflow", "stackoverflow-400", Refused, 0, false},
		{"stackoverflow", "tavily-empty", Malformed, 0, true},
		{"github", "github-401", Auth, 0, true},
		{"github", "github-403", Limit, 31 * 24 * time.Hour, true},
		{"github", "github-secondary", Limit, time.Minute, true},
	} {
		t.Run(c.word+" "+c.name, func(t *testing.T) {
			e, requests := asked(t, c.word, keys, c.name, "tavily")
			lastly, _ := Providers("tavily", none)
			e.Providers = append(e.Providers[:1], lastly...)
			a, err := search(t, e, Query{})
			if (err == nil) != c.next || (len(*requests) == 2) != c.next {
				t.Errorf("%d requests, %v", len(*requests), err)
			}
			got := a.Tried[0]
			if got.Kind != c.kind || got.RetryAfter != c.retry.Seconds() {
				t.Errorf("%+v, want %s after %s", got, c.kind, c.retry)
			}
			if raw, _ := json.Marshal(a); strings.Contains(string(raw), "SECRETKEY123") {
				t.Errorf("a key stands in %s", raw)
			}
		})
	}
}

// TestHostileResults: a page of results whose elements are opened again and again, or lie in
// each other without end, takes no more memory than any page may, and its results are read.
func TestHostileResults(t *testing.T) {
	result := `<div class=result><a class=result__a href="https://example.com/">One</a></div>`
	bold := "" // of equal elements the parser opens three again only
	for i := range 250 {
		bold += "<b a" + strconv.Itoa(i) + ">"
	}
	for name, hostile := range map[string]string{
		"opened again": "<p>" + bold + strings.Repeat("<p>x", 8_000),
		"nested":       strings.Repeat("<div>", 100_000),
		"attributes":   "<p><b " + strings.Repeat("a ", 2000) + ">" + strings.Repeat("<p>x", 2_000),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		p := duckDuckGo()
		got, err := p.read(&p, Response{Status: 200, Body: []byte("<body>" + result + hostile)})
		runtime.ReadMemStats(&after)
		if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 200 {
			t.Errorf("%s: %d MB are allocated", name, took)
		}
		if err != nil || len(got.results) != 1 || got.results[0].URL != "https://example.com/" {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// TestOrder checks who is asked, and that all of them fail with an error of the last.
func TestOrder(t *testing.T) {
	e, requests := asked(t, Auto, keys, "tavily-429", "exa-429", "brave-429", "searxng-silent", "tavily-keyless-limit", "duckduckgo-anomaly", "duckduckgo-403",
		"exa-429", "searxng-silent")
	a, err := search(t, e, Query{})
	if err == nil || err.Kind != Blocked || err.Provider != "duckduckgo-lite" {
		t.Errorf("%v", err)
	}
	var names, hosts []string
	for i, one := range a.Tried {
		u, err := url.Parse((*requests)[i].URL)
		if err != nil {
			t.Fatal(err)
		}
		names, hosts = append(names, one.Provider), append(hosts, u.Host)
	}
	if got := strings.Join(names, " "); got != "tavily exa brave searxng tavily-keyless duckduckgo duckduckgo-lite" {
		t.Errorf("asked %s", got)
	}
	if got := strings.Join(hosts, " "); got != "api.tavily.com api.exa.ai api.search.brave.com sx.example.org api.tavily.com html.duckduckgo.com lite.duckduckgo.com" {
		t.Errorf("at %s", got)
	}
	// Those that have said for how long are left alone.
	a, _ = search(t, e, Query{Text: "another query"})
	for i, one := range a.Tried {
		again := one.Provider == "exa" || one.Provider == "searxng"
		if strings.Contains(one.Message, "not asked again") == again || !again && one.RetryAfter <= 0 || one.Kind != [...]Failure{Limit, Limit, Limit, Blocked, Limit, Blocked, Blocked}[i] {
			t.Errorf("%+v", one)
		}
	}
	if len(a.Tried) != 7 || len(*requests) != 9 {
		t.Errorf("%d tried by %d requests", len(a.Tried), len(*requests))
	}
}

// TestMissing checks the words for a provider that is not set up.
func TestMissing(t *testing.T) {
	for word, want := range map[string]string{"exa": "EXA_API_KEY", "brave": "BRAVE_API_KEY", "searxng": "SEARXNG_URL"} {
		if _, err := Providers(word, none); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", word, err)
		}
	}
	for _, bad := range []string{"ftp://x.example.org", "x.example.org", "https://me:secretvalue@x.example.org"} {
		_, err := Providers("exa", func(name string) string {
			return map[string]string{"EXA_API_KEY": "k", "AGENTKIT_EXA_URL": bad}[name]
		})
		if err == nil || strings.Contains(err.Error(), "secretvalue") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// TestRequests checks what each provider is sent.
func TestRequests(t *testing.T) {
	q := Query{Text: "a b", Max: 5, Domains: []string{"x.org", "y.org"}, Exclude: []string{"z.org"}, Since: time.Now().AddDate(0, 0, -6)}
	since := q.Since.UTC().Format(time.DateOnly)
	until := time.Now().Add(24 * time.Hour).UTC().Format(time.DateOnly)
	for _, c := range []struct {
		word   string
		header string
		want   []string // what stands in the address and the body, decoded
	}{
		{"tavily", "Authorization: Bearer tvly-SECRETKEY123", []string{`"query":"a b"`, `"max_results":5`, `"include_domains":["x.org","y.org"]`, `"exclude_domains":["z.org"]`, `"start_date":"` + since}},
		{"exa", "x-api-key: exa-SECRETKEY123", []string{`"numResults":5`, `"includeDomains":["x.org","y.org"]`, `"excludeDomains":["z.org"]`, `"startPublishedDate":"` + since + "T"}},
		{"brave", "X-Subscription-Token: BSA-SECRETKEY123", []string{"q=a b (site:x.org OR site:y.org) -site:z.org", "count=5", "freshness=" + since + "to" + until}},
		{"searxng", "Authorization: Basic bWU6U0VDUkVUS0VZMTIz", []string{"https://sx.example.org/search?", "q=a b (site:x.org OR site:y.org) -site:z.org", "format=json", "time_range=week"}},
		{"stackoverflow", "Accept: application/json", []string{"q=a b", "site=stackoverflow", "pagesize=5", "fromdate=" + strconv.FormatInt(q.Since.Unix(), 10)}},
		{"github", "Authorization: Bearer ghx-SECRETKEY123", []string{"/search/code?", "q=a b", "per_page=5"}},
		{"duckduckgo", "Sec-Fetch-Mode: navigate", []string{"q=a b (site:x.org OR site:y.org) -site:z.org", "b=&", "df=w", "kl=wt-wt"}},
	} {
		list, err := Providers(c.word, keys)
		if err != nil {
			t.Fatal(err)
		}
		r := list[0].request(&list[0], q)
		name, value, _ := strings.Cut(c.header, ": ")
		if r.Header[name] != value {
			t.Errorf("%s: %s is %q", c.word, name, r.Header[name])
		}
		sent := r.URL + " " + string(r.Body)
		if plain, err := url.QueryUnescape(sent); err == nil && !strings.Contains(sent, "{") {
			sent = plain
		}
		for _, want := range c.want {
			if !strings.Contains(sent, want) {
				t.Errorf("%s: no %s in %s", c.word, want, sent)
			}
		}
	}
	keyless, _ := Providers("tavily", none)
	if r := keyless[0].request(&keyless[0], q); r.Header["X-Tavily-Access-Mode"] != "keyless" || r.Header["Authorization"] != "" {
		t.Errorf("keyless: %v", r.Header)
	}
}

// TestDomains checks that no result lies elsewhere, whatever a provider makes of the
// query, and what is a domain.
func TestDomains(t *testing.T) {
	e, _ := asked(t, "brave", keys, "brave")
	a, _ := search(t, e, Query{Domains: []string{"example.com"}})
	if len(a.Results) != 1 || a.Results[0].Title != "Other" || len(a.Notes) != 1 {
		t.Errorf("%+v", a)
	}
	e, _ = asked(t, "brave", keys, "brave")
	if a, _ = search(t, e, Query{Exclude: []string{"other.example.com"}}); len(a.Results) != 1 || a.Results[0].Title == "Other" {
		t.Errorf("%+v", a)
	}
	for text, want := range map[string]string{"https://www.Example.org/x": "example.org", "*.example.org": "example.org", "example.org.": "example.org", "localhost": "", "a b.c": "", "x.org) OR (y": "", "": ""} {
		if got := Domain(text); got != want {
			t.Errorf("Domain(%q) is %q", text, got)
		}
	}
}

// TestUnable checks that a query that is too long for a provider is not sent to it.
func TestUnable(t *testing.T) {
	e, _ := asked(t, Auto, keys, "exa")
	a, err := search(t, e, Query{Text: strings.Repeat("long ", 100)})
	if err != nil || a.Provider != "exa" || a.Tried[0].Kind != Unable {
		t.Errorf("%+v, %v", a, err)
	}
}

// TestTime checks that a provider which hangs leaves time for the next.
func TestTime(t *testing.T) {
	e, _ := asked(t, "duckduckgo", none, "hangs", "lite")
	ctx, cancel := context.WithTimeout(t.Context(), 400*time.Millisecond)
	defer cancel()
	a, err := e.Search(ctx, Query{Text: "q", Max: 3})
	if a.Tried[0].Kind != Timeout {
		t.Errorf("%+v, %v", a.Tried, err)
	}
	if err != nil && ctx.Err() == nil {
		t.Errorf("the second provider was not asked: %v", err)
	}
	e, _ = asked(t, "tavily", none, "hangs")
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = e.Search(short, Query{Text: "q", Max: 3})
	if failed, ok := errors.AsType[*Error](err); !ok || failed.Kind != Timeout {
		t.Errorf("%v", err)
	}
}

// TestPace checks that requests of several callers keep their distance, and that one who
// cannot wait so long does not wait at all.
func TestPace(t *testing.T) {
	list, _ := Providers("tavily", none)
	const gap, callers = 50 * time.Millisecond, 5
	var mu sync.Mutex
	var times []time.Time
	dir := filepath.Join(t.TempDir(), "pace")
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			e := Engine{Providers: list, Pace: dir, Gap: gap, Now: time.Now, Fetch: func(context.Context, Request) (Response, error) {
				mu.Lock()
				defer mu.Unlock()
				times = append(times, time.Now())
				return recorded(t, "tavily"), nil
			}}
			if _, err := e.Search(t.Context(), Query{Text: "q", Max: 1}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if first, last := times[0], times[len(times)-1]; last.Sub(first) < (callers-1)*gap*8/10 {
		t.Errorf("%d requests within %s", callers, last.Sub(first))
	}
	e := Engine{Providers: list, Pace: dir, Gap: 50 * time.Second, Now: time.Now, Fetch: func(context.Context, Request) (Response, error) { return recorded(t, "tavily"), nil }}
	if _, err := e.Search(t.Context(), Query{Text: "q", Max: 1}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 45*time.Second)
	defer cancel()
	begin := time.Now()
	_, err := e.Search(ctx, Query{Text: "other", Max: 1})
	if failed, ok := errors.AsType[*Error](err); !ok || failed.Kind != Limit || time.Since(begin) > 40*time.Second {
		t.Errorf("%v after %s", err, time.Since(begin))
	}
}

// TestCache checks that an answer is used again for a quarter of an hour, and no longer.
func TestCache(t *testing.T) {
	e, requests := asked(t, "tavily", keys, "tavily", "tavily-empty", "tavily")
	e.Cache = filepath.Join(t.TempDir(), "cache")
	now := time.Now()
	e.Now = func() time.Time { return now }
	first, _ := search(t, e, Query{})
	again, _ := search(t, e, Query{})
	if !again.Cached || !reflect.DeepEqual(again.Results, first.Results) || len(*requests) != 1 {
		t.Errorf("%+v", again)
	}
	if other, _ := search(t, e, Query{Max: 7}); other.Cached {
		t.Error("the answer to another query was used")
	}
	now = now.Add(fresh)
	if later, _ := search(t, e, Query{}); later.Cached || len(*requests) != 3 {
		t.Error("an old answer was used")
	}
}

// FuzzRead checks that no answer of a provider makes us fail other than with an *Error,
// and that results are clean.
func FuzzRead(f *testing.F) {
	list, err := Providers(Auto, keys)
	if err != nil {
		f.Fatal(err)
	}
	names, _ := filepath.Glob("testdata/*.http")
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		_, body, _ := strings.Cut(string(raw), "\n\n")
		f.Add([]byte(body), 200)
	}
	f.Fuzz(func(t *testing.T, body []byte, status int) {
		for i := range list {
			page, err := list[i].read(&list[i], Response{Status: status, Header: http.Header{}, Body: body})
			if _, ok := errors.AsType[*Error](err); err != nil && !ok {
				t.Fatalf("%s: %v", list[i].Name, err)
			}
			a := &Answer{}
			a.take(&list[i], Query{Max: 20}, page.results)
			for _, r := range a.Results {
				if !strings.HasPrefix(r.URL, "http") || strings.ContainsAny(r.Title+r.Snippet+r.URL, "\n\x00\u200b\u202e") {
					t.Fatalf("%+v", r)
				}
			}
		}
	})
}
