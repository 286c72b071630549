package websearch

import (
	"cmp"
	"encoding/base64"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// tavily is Tavily, which may be asked without a key, too.
func tavily(key string) Provider {
	p := Provider{Name: "tavily", Base: "https://api.tavily.com", Key: key, keyName: "TAVILY_API_KEY", request: askTavily, read: readTavily, bytes: 400}
	if key == "" {
		p.Name = "tavily-keyless"
	}
	return p
}

func askTavily(p *Provider, q Query) Request {
	header := map[string]string{"Authorization": "Bearer " + p.Key}
	if p.Key == "" {
		header = map[string]string{"X-Tavily-Access-Mode": "keyless"}
	}
	return body(p.Base+"/search", header, struct {
		Query   string   `json:"query"`
		Depth   string   `json:"search_depth"`
		Max     int      `json:"max_results"`
		Domains []string `json:"include_domains,omitempty"`
		Exclude []string `json:"exclude_domains,omitempty"`
		Since   string   `json:"start_date,omitempty"`
	}{q.Text, "basic", q.Max, q.Domains, q.Exclude, day(q.Since)})
}

func readTavily(p *Provider, res Response) (page, error) {
	var got struct{ Results *[]scored }
	if e := decode(p, res, &got); e != nil {
		if res.Status == 403 { // its plans end with this one, too
			e.Kind = Limit
		}
		return page{}, e
	}
	return scoredPage(res, got.Results)
}

// scored is a result as Tavily and SearXNG give it. Each has its own name for the date.
type scored struct {
	Title, URL, Content string
	Score               float64
	Published           string `json:"publishedDate"`
	Date                string `json:"published_date"`
}

func scoredPage(res Response, list *[]scored) (out page, err error) {
	if list == nil {
		return page{}, missing(res, "results")
	}
	for _, r := range *list {
		out.results = append(out.results, Result{Title: r.Title, URL: r.URL, Snippet: r.Content, Score: r.Score, Published: cmp.Or(r.Published, r.Date)})
	}
	return out, nil
}

// missing is the error for JSON of another shape.
func missing(res Response, member string) error {
	return &Error{Kind: Malformed, Status: res.Status, Message: "its answer has no " + member}
}

// exa is Exa.
func exa(key string) Provider {
	return Provider{Name: "exa", Base: "https://api.exa.ai", Key: key, keyName: "EXA_API_KEY", request: askExa, read: readExa}
}

func askExa(p *Provider, q Query) Request {
	since := ""
	if !q.Since.IsZero() {
		since = q.Since.UTC().Format(time.RFC3339)
	}
	type contents struct {
		Highlights bool `json:"highlights"`
	}
	return body(p.Base+"/search", map[string]string{"x-api-key": p.Key}, struct {
		Query    string   `json:"query"`
		Type     string   `json:"type"`
		Max      int      `json:"numResults"`
		Domains  []string `json:"includeDomains,omitempty"`
		Exclude  []string `json:"excludeDomains,omitempty"`
		Since    string   `json:"startPublishedDate,omitempty"`
		Contents contents `json:"contents"`
	}{q.Text, "auto", q.Max, q.Domains, q.Exclude, since, contents{true}})
}

func readExa(p *Provider, res Response) (page, error) {
	var got struct {
		Results *[]struct {
			Title, URL, Text, Summary string
			Published                 string   `json:"publishedDate"`
			Score                     *float64 // null where it has none
			Highlights                []string
		}
		Cost struct {
			Total float64 `json:"total"`
		} `json:"costDollars"`
	}
	if e := decode(p, res, &got); e != nil {
		return page{}, e
	}
	if got.Results == nil {
		return page{}, missing(res, "results")
	}
	out := page{cost: got.Cost.Total}
	for _, r := range *got.Results {
		one := Result{Title: r.Title, URL: r.URL, Snippet: cmp.Or(strings.Join(r.Highlights, " … "), r.Summary, r.Text), Published: r.Published}
		if r.Score != nil {
			one.Score = *r.Score
		}
		out.results = append(out.results, one)
	}
	return out, nil
}

// brave is Brave Search.
func brave(key string) Provider {
	return Provider{Name: "brave", Base: "https://api.search.brave.com", Key: key, keyName: "BRAVE_API_KEY", request: askBrave, read: readBrave, bytes: 400, words: 50, sites: true}
}

func askBrave(p *Provider, q Query) Request {
	form := url.Values{"q": {withSites(q)}, "count": {strconv.Itoa(min(q.Max, 20))}, "text_decorations": {"false"}, "result_filter": {"web"}}
	if !q.Since.IsZero() {
		form.Set("freshness", day(q.Since)+"to"+day(time.Now().Add(24*time.Hour)))
	}
	return Request{Method: "GET", URL: p.Base + "/res/v1/web/search?" + form.Encode(), Header: map[string]string{"X-Subscription-Token": p.Key, "Accept": "application/json"}}
}

func readBrave(p *Provider, res Response) (page, error) {
	var got struct {
		Type  string
		Query *struct{}
		Web   struct {
			Results []struct {
				Title, URL, Description string
				Published               string `json:"page_age"`
				Age                     string
				Extra                   []string `json:"extra_snippets"`
			}
		}
	}
	if e := decode(p, res, &got); e != nil {
		if e.Kind == Refused && strings.Contains(string(res.Body), "SUBSCRIPTION_TOKEN") {
			e.Kind, e.Message = Auth, p.keyAdvice()
		}
		if e.Kind == Limit && e.RetryAfter == 0 {
			e.RetryAfter = braveReset(res)
		}
		return page{}, e
	}
	if got.Query == nil && got.Type != "search" {
		return page{}, missing(res, "query")
	}
	var out page
	for _, r := range got.Web.Results {
		out.results = append(out.results, Result{
			Title: plain(r.Title), URL: r.URL, Snippet: plain(strings.Join(append([]string{r.Description}, r.Extra...), " ")), Published: cmp.Or(r.Published, r.Age),
		})
	}
	return out, nil
}

// braveReset is when the window opens again of which nothing is left: the headers list
// one for a second and one for a month.
func braveReset(res Response) time.Duration {
	left, opens := strings.Split(res.Header.Get("X-RateLimit-Remaining"), ","), strings.Split(res.Header.Get("X-RateLimit-Reset"), ",")
	wait := time.Duration(0)
	for i, text := range opens {
		n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || i < len(left) && strings.TrimSpace(left[i]) != "0" {
			continue
		}
		wait = max(wait, seconds(n))
	}
	return wait
}

// searxng is an instance of SearXNG, whose address may hold a name and a password.
func searxng(base string) Provider {
	p := Provider{Name: "searxng", Base: base, keyName: "SEARXNG_URL", request: askSearxng, read: readSearxng, sites: true, periods: true}
	if u, err := url.Parse(base); err == nil && u.User != nil {
		password, _ := u.User.Password()
		p.Key = u.User.Username() + ":" + password
		u.User = nil
		p.Base = u.String()
	}
	return p
}

func askSearxng(p *Provider, q Query) Request {
	form := url.Values{"q": {withSites(q)}, "format": {"json"}}
	if period := period(q.Since, time.Now()); period != "" {
		form.Set("time_range", period)
	}
	header := map[string]string{"Accept": "application/json"}
	if p.Key != "" {
		header["Authorization"] = "Basic " + base64.StdEncoding.EncodeToString([]byte(p.Key))
	}
	return Request{Method: "GET", URL: strings.TrimSuffix(p.Base, "/search") + "/search?" + form.Encode(), Header: header}
}

func readSearxng(p *Provider, res Response) (page, error) {
	var got struct {
		Results *[]scored
		Silent  [][]string `json:"unresponsive_engines"`
	}
	if e := decode(p, res, &got); e != nil {
		if res.Status == 403 && p.Key == "" {
			e.Message = "it does not answer in JSON (HTTP 403): add json to search.formats in its settings.yml"
		}
		return page{}, e
	}
	out, err := scoredPage(res, got.Results)
	if err != nil {
		return page{}, err
	}
	var silent []string
	for _, s := range got.Silent {
		silent = append(silent, p.secretless(strings.Join(s, ": ")))
	}
	switch {
	case len(silent) > 0 && len(out.results) == 0:
		return page{}, &Error{Kind: Blocked, Status: res.Status, Message: "its engines do not answer: " + cut(strings.Join(silent, ", "), 300)}
	case len(silent) > 0:
		out.notes = append(out.notes, "searxng has heard nothing of "+cut(strings.Join(silent, ", "), 300))
	}
	return out, nil
}

// day is a date, as most providers want it; "" for none.
func day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.DateOnly)
}

// period is the shortest of the periods that engines know which reaches back to since;
// "" where none does.
func period(since, now time.Time) string {
	if since.IsZero() {
		return ""
	}
	back := now.Sub(since)
	for _, p := range []struct {
		name string
		days int
	}{{"day", 1}, {"week", 7}, {"month", 31}, {"year", 366}} {
		if back <= time.Duration(p.days)*24*time.Hour+time.Hour {
			return p.name
		}
	}
	return ""
}
