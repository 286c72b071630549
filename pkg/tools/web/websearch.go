// Package web holds the tools that reach the World Wide Web.
package web

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/websearch"
)

//go:embed websearch.md
var websearchDoc string

// Websearch asks search engines.
var Websearch = tool.Tool{
	Name:       "websearch",
	Summary:    "search the web",
	Doc:        &websearchDoc,
	New:        func() tool.Call { return &websearchCall{NumResults: 8, Provider: websearch.Auto, TimeoutMS: 25_000} },
	ReadOnly:   true,
	Idempotent: true,
	OpenWorld:  true,

	Others: []string{"googlewebsearch", "searchweb", "search", "internetsearch", "codesearch"},

	Examples: []string{
		"agentkit websearch 'go context cancellation cause'",
		"agentkit websearch --domains stackoverflow.com --since year 'EMFILE inotify'",
	},

	Metadata: (*websearchMeta)(nil),
	Details:  []tool.Details{WebsearchDetails{}},
}

type websearchCall struct {
	Query      string
	NumResults int
	Provider   string
	TimeoutMS  int
	Domains    []string
	Exclude    []string
	Since      string

	query   websearch.Query
	asked   []websearch.Provider // those that may be asked
	skipped []websearch.Attempt  // those that may not
}

// Params implements tool.Call.
func (w *websearchCall) Params(p *param.Set) {
	p.String(&w.Query, "query", "what to search for").Required().Arg().Alias("q", "search_query", "searchQuery", "search_term", "objective")
	p.Int(&w.NumResults, "num_results", "most results").Between(1, 20).Alias("numResults", "max_results", "maxResults", "count", "limit", "n")
	p.Strings(&w.Domains, "domains", "only these sites").Alias("include_domains", "includeDomains", "allowed_domains", "allowedDomains", "site")
	p.Strings(&w.Exclude, "exclude_domains", "not these sites").Alias("excludeDomains", "blocked_domains", "blockedDomains").Rare()
	p.String(&w.Since, "since", "no older than day, week, month, year, 3d or 2026-01-31").Alias("time_range", "timeRange", "recency", "freshness")
	p.String(&w.Provider, "provider", "who to ask").OneOf(websearch.Names()...).Alias("engine").Rare()
	p.Millis(&w.TimeoutMS, "timeout_ms", "time limit").Between(1, 120_000).Alias("timeout", "timeoutMs").Rare()
}

// Needs implements tool.Call: the host of each provider that may be asked. One that is
// denied is left out as long as there is another.
func (w *websearchCall) Needs(_ context.Context, env *tool.Env) ([]policy.Access, error) {
	var err error
	if w.query, err = w.wanted(env.Now()); err != nil {
		return nil, err
	}
	providers, err := websearch.Providers(w.Provider, settings(env))
	if err != nil {
		return nil, tool.Errorf(tool.BadInput, "%w", err).WithHint("set it, or leave {.provider} out: there are providers that need no key")
	}
	return w.choose(env, providers), nil
}

// choose takes the providers that may be asked, and returns what asking them needs: their
// hosts, and the proxies that lead there. Where none may be asked it is what all need, so
// that the policy says why.
func (w *websearchCall) choose(env *tool.Env, providers []websearch.Provider) []policy.Access {
	where := &reach{env: env, tool: "websearch"}
	var all []policy.Access
	outcomes := make([]policy.Outcome, len(providers))
	best := policy.Deny
	for i, p := range providers {
		at, err := url.Parse(p.Base)
		if err != nil {
			continue // it was parsed before
		}
		outcomes[i] = env.Policy.DecideAll(where.accesses(at))
		all = append(all, outcomes[i].Accesses...)
		best = max(best, outcomes[i].Verdict)
	}
	if best == policy.Deny {
		return all
	}
	var needs []policy.Access
	for i, p := range providers {
		out := &outcomes[i]
		if out.Verdict != best || best == policy.Ask && len(w.asked) > 0 {
			d := out.Deciding()
			w.skipped = append(w.skipped, websearch.Attempt{Provider: p.Name, Kind: websearch.Denied, Message: fmt.Sprintf("the policy says %s: %s (%s)", d.Verdict, cmp.Or(d.Reason, d.Why, "a rule says so"), d.Rule)})
			continue
		}
		w.asked = append(w.asked, p)
		for _, a := range out.Accesses {
			if !slices.ContainsFunc(needs, func(b policy.Access) bool { return a.Same(&b) }) {
				needs = append(needs, a)
			}
		}
	}
	return needs
}

// wanted is the query that the parameters say.
func (w *websearchCall) wanted(now time.Time) (q websearch.Query, err error) {
	q.Text, q.Max = strings.Join(strings.Fields(w.Query), " "), w.NumResults
	if len([]rune(q.Text)) < 2 {
		return q, tool.Errorf(tool.BadInput, "query: want at least two characters").WithHint("say what to search for")
	}
	for _, list := range []struct {
		name string
		from []string
		to   *[]string
	}{{"domains", w.Domains, &q.Domains}, {"exclude_domains", w.Exclude, &q.Exclude}} {
		for _, text := range list.from {
			d := websearch.Domain(text)
			if d == "" {
				return q, tool.Errorf(tool.BadInput, "%s: %q is no domain", list.name, text).WithHint("give the name of a site, such as stackoverflow.com")
			}
			*list.to = append(*list.to, d)
		}
	}
	if q.Since, err = since(w.Since, now); err != nil {
		return q, tool.Errorf(tool.BadInput, "since: %w", err).WithHint("give day, week, month, year, a number of these as in 3d or 2w, or a date as 2026-01-31")
	}
	return q, nil
}

// since reads a period or a date; the zero time is for "".
func since(text string, now time.Time) (time.Time, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	if text == "" {
		return time.Time{}, nil
	}
	digits := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyz ")
	n, err := strconv.Atoi(digits)
	if digits == "" {
		n, err = 1, nil
	}
	if err == nil && n > 0 && n < 1000 {
		switch strings.TrimSuffix(strings.TrimSpace(text[len(digits):]), "s") {
		case "d", "day", "pd":
			return now.AddDate(0, 0, -n), nil
		case "w", "week", "pw":
			return now.AddDate(0, 0, -7*n), nil
		case "m", "month", "pm":
			return now.AddDate(0, -n, 0), nil
		case "y", "year", "py":
			return now.AddDate(-n, 0, 0), nil
		}
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, strings.ToUpper(text)); err == nil {
			if t.After(now) {
				return t, fmt.Errorf("%s is still to come", text)
			}
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no period and no date", text)
}

type websearchMeta struct {
	Query    string              `json:"query" doc:"what was searched for"`
	Provider string              `json:"provider" doc:"who has answered; empty where nobody has"`
	Results  []websearch.Result  `json:"results" doc:"what was found, the best first"`
	Tried    []websearch.Attempt `json:"tried" doc:"who was asked, in order, and who may not be"`
	Cached   bool                `json:"cached" doc:"it is the answer to an earlier call"`
	Age      float64             `json:"age_s" doc:"how many seconds ago it was given"`
	Hidden   int                 `json:"hidden_removed" doc:"characters that nobody sees and that were taken out"`
	Cost     float64             `json:"cost,omitempty" doc:"in US dollars, where the provider says"`
	Remarks  []string            `json:"remarks,omitempty" doc:"what else there is to know of the answer"`
	Boundary string              `json:"boundary,omitempty" doc:"the word in the lines around the results in the output, another one in each call"`
	Untrust  bool                `json:"untrusted" doc:"always true: it is text of others"`
}

// WebsearchDetails are of a search that nobody has answered.
type WebsearchDetails struct {
	Tried      []websearch.Attempt `json:"tried" doc:"who was asked, in order, and why they have not answered"`
	Retryable  bool                `json:"retryable" doc:"the same call may succeed later"`
	RetryAfter float64             `json:"retry_after_s,omitempty" doc:"the earliest time at which a provider lets itself be asked again"`
}

// Codes implements tool.Details.
func (WebsearchDetails) Codes() []tool.Code {
	return []tool.Code{tool.Network, tool.Timeout, tool.BadInput}
}

// MayRetry says that another try may succeed.
func (d WebsearchDetails) MayRetry() bool { return d.Retryable }

// gap is the least time between two requests to a provider: some allow one in a second.
const gap = time.Second

// Run implements tool.Call.
func (w *websearchCall) Run(ctx context.Context, env *tool.Env) (*tool.Result, error) {
	limited, cancel := context.WithTimeout(ctx, time.Duration(w.TimeoutMS)*time.Millisecond)
	defer cancel()
	ask, done := asker(env)
	defer done()
	e := websearch.Engine{
		Providers: w.asked, Fetch: ask, Gap: gap, Now: env.Now,
		Pace: filepath.Join(env.Session.StateDir(), "websearch"), Cache: env.Session.Path("cache", "websearch"),
	}
	a, err := e.Search(limited, w.query)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	meta := &websearchMeta{
		Query: w.query.Text, Provider: a.Provider, Results: a.Results, Tried: append(w.skipped, a.Tried...), Cached: a.Cached,
		Age: max(0, env.Now().Sub(a.Asked).Round(time.Second).Seconds()), Hidden: a.Hidden, Cost: a.Cost, Remarks: a.Notes, Untrust: true,
	}
	if err != nil {
		return &tool.Result{Title: "no answer: " + w.query.Text, Metadata: meta}, unanswered(err, meta.Tried, w.Provider == websearch.Auto)
	}
	return meta.result(), nil
}

func (m *websearchMeta) result() *tool.Result {
	r := &tool.Result{Title: tool.Count(int64(len(m.Results)), "result") + " by " + m.Provider, Metadata: m, No: len(m.Results) == 0}
	if r.No {
		r.Output = fmt.Sprintf("%s has found nothing for %q\n", m.Provider, m.Query)
	} else {
		var b strings.Builder
		for i, one := range m.Results {
			fmt.Fprintf(&b, "%d. %s\n   %s\n", i+1, one.Title, one.URL)
			if one.Published != "" {
				fmt.Fprintf(&b, "   %s\n", one.Published)
			}
			if one.Snippet != "" {
				fmt.Fprintf(&b, "   %s\n", one.Snippet)
			}
		}
		r.Output, m.Boundary = untrusted("results of a web search", b.String())
	}
	if m.Hidden > 0 {
		r.Notes = append(r.Notes, tool.Notef("%d characters that nobody sees were taken out of the results", m.Hidden))
	}
	for _, remark := range m.Remarks {
		r.Notes = append(r.Notes, tool.Notef("%s", remark))
	}
	return r
}

// unanswered is the error of a search that nobody has answered. Whether all providers were
// asked, or one alone, says what to do next.
func unanswered(err error, tried []websearch.Attempt, everybody bool) error {
	failed, ok := errors.AsType[*websearch.Error](err)
	if !ok {
		return err
	}
	kinds := map[websearch.Failure]bool{}
	var words []string
	details := WebsearchDetails{Tried: tried}
	for _, t := range tried {
		words = append(words, t.Provider+": "+t.Message)
		if t.Kind != websearch.Denied && t.Kind != websearch.Unable {
			kinds[t.Kind] = true
		}
		if t.RetryAfter > 0 && (details.RetryAfter == 0 || t.RetryAfter < details.RetryAfter) {
			details.RetryAfter = t.RetryAfter
		}
	}
	only := func(kind websearch.Failure) bool { return len(kinds) == 1 && kinds[kind] }
	details.Retryable = kinds[websearch.Limit] || kinds[websearch.Blocked] || kinds[websearch.Timeout] || kinds[websearch.Unreachable] || kinds[websearch.Failed]
	all := strings.Join(words, "; ")
	switch {
	case failed.Kind == websearch.Refused:
		return tool.Errorf(tool.BadInput, "%s", words[len(words)-1]).With(details).WithHint("put the query in other words, or ask another {.provider}")
	case only(websearch.Auth):
		return tool.Errorf(tool.BadInput, "nobody lets us in: %s", all).With(details).WithHint("whoever runs agentkit corrects the key; other values of {.provider} need none")
	case only(websearch.Timeout):
		return tool.Errorf(tool.Timeout, "nobody has answered in time: %s", all).With(details).WithHint("give a larger {.timeout_ms}, or call again later")
	case only(websearch.Unreachable):
		return tool.Errorf(tool.Network, "no search provider can be reached, this machine seems to be offline: %s", all).With(details).
			WithHint("go on with what the repository and installed documentation tell, or ask whoever runs agentkit for a connection or a proxy")
	}
	when := "later"
	if details.RetryAfter > 0 {
		when = "in " + (time.Duration(details.RetryAfter) * time.Second).String()
	}
	none := tool.Errorf(tool.Network, "no search provider has answered: %s", all).With(details)
	if !everybody {
		return none.WithHint("leave {.provider} out, which has the others asked; this one may answer %s", when)
	}
	return none.WithHint("do not repeat the search now; it may be answered %s, or at once where whoever runs agentkit sets TAVILY_API_KEY, EXA_API_KEY, BRAVE_API_KEY or SEARXNG_URL", when)
}
