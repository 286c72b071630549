package web

import (
	"context"
	_ "embed"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/change"
	"github.com/agentkit-go/agentkit/pkg/fetch"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

//go:embed fetch.md
var fetchDoc string

// Fetch gets what an address holds.
var Fetch = tool.Tool{
	Name:    "fetch",
	Summary: "get a page of the web as Markdown",
	Doc:     &fetchDoc,
	New: func() tool.Call {
		return &fetchCall{Format: "markdown", MainContent: "auto", TimeoutMS: 30_000, MaxBytes: fetch.DefaultMaxBytes, Limit: 40_000, UserAgent: "auto", Robots: "ignore"}
	},
	Additive:   true,
	Idempotent: true,
	OpenWorld:  true,

	Others: []string{"webfetch", "curl", "wget", "http", "httpget", "browse", "openurl", "readurl", "fetchurl", "getwebpage", "scrape"},

	Examples: []string{
		"agentkit fetch https://go.dev/doc/effective_go --section 'Channels'",
		"agentkit fetch https://go.dev/blog/ --format links",
		"agentkit fetch https://example.org/data.zip --save data.zip",
	},

	Metadata: (*fetchMeta)(nil),
	Details:  []tool.Details{FetchDetails{}},
}

// Needs implements tool.Call: the host, the proxy that leads there, and the file that is
// written.
func (c *fetchCall) Needs(_ context.Context, env *tool.Env) (needs []policy.Access, err error) {
	c.reach = reach{env: env, tool: "fetch"}
	if c.url, err = parseURL(c.URL); err != nil {
		return nil, err
	}
	needs = c.reach.accesses(c.url)
	if raw, ok := fetch.RawFile(c.url); ok && c.Format != "html" {
		list := c.reach.accesses(raw)
		if out := env.Policy.DecideAll(list); out.Verdict == policy.Allow {
			c.raw, needs = raw, append(needs, list...)
		}
	}
	if c.Save == "" {
		return needs, nil
	}
	to, err := env.Workspace.Resolve(c.Save)
	if err != nil {
		return nil, err
	}
	switch {
	case to.Type == policy.Dir:
		return nil, tool.Errorf(tool.BadInput, "%s is a directory", tool.Shown(to)).WithHint("name a file in it")
	case to.Exists:
		return nil, tool.Errorf(tool.Conflict, "%s exists already", tool.Shown(to)).WithHint("choose another name, or remove it first")
	}
	c.to = &to
	return append(needs, to.Write("fetch", policy.Create)), nil
}

// parseURL reads an address as a person writes it. The host gets its usual form, so that
// what is asked is what was decided.
func parseURL(text string) (*url.URL, error) {
	text = strings.TrimSpace(text)
	wrong := func(format string, args ...any) error {
		return tool.Errorf(tool.BadInput, "url: "+format, args...).WithHint("give an address such as https://example.org/page")
	}
	if regexp.MustCompile(`^[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z]{2,}(:\d+)?(/|$)`).MatchString(text) {
		text = "https://" + text
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == '\\' || r == 0x7f }) {
		return nil, wrong("%q holds what no address holds", text)
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, wrong("%s", strings.TrimPrefix(err.Error(), "parse "))
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, wrong("only http and https are fetched")
	case u.Opaque != "" || u.Hostname() == "":
		return nil, wrong("%q names no host", text)
	case u.User != nil:
		return nil, tool.Errorf(tool.BadInput, "url: it holds a user name").WithHint("leave it out; {.headers} can hold an Authorization")
	}
	return u, usual(u)
}

// Run implements tool.Call.
func (c *fetchCall) Run(ctx context.Context, env *tool.Env) (*tool.Result, error) {
	begun := time.Now()
	timeout := time.Duration(c.TimeoutMS) * time.Millisecond
	ctx, cancel := context.WithTimeout(ctx, timeout+grace)
	defer cancel()
	meta := &fetchMeta{URL: c.url.Redacted(), Untrusted: true}
	res := &tool.Result{Title: "fetch " + c.url.Redacted(), Metadata: meta, Trimmed: true}
	answer, err := c.get(ctx, timeout)
	meta.ElapsedMS = time.Since(begun).Milliseconds()
	if err != nil {
		return res, failure(err)
	}
	meta.take(answer)
	refused := c.statusError(answer, env.Now())
	if c.to != nil && refused == nil {
		err = c.save(ctx, env, answer, meta, res)
	} else {
		err = c.show(ctx, env, answer, meta, res)
	}
	if refused != nil {
		res.Output = refused.Words() + res.Output
		err = refused
	}
	meta.ElapsedMS = time.Since(begun).Milliseconds()
	return res, err
}

// grace is what a page may take to be converted after the time limit has passed.
const grace = 5 * time.Second

// get asks for the file that the address is a page about, and else for the address.
func (c *fetchCall) get(ctx context.Context, timeout time.Duration) (*fetch.Response, error) {
	config := c.reach.config()
	if c.seam != nil {
		c.seam(&config)
	}
	client := fetch.New(config)
	defer client.Close()
	r := fetch.Request{URL: c.url, Header: c.header(c.Headers), MaxBytes: int64(c.MaxBytes), Timeout: timeout, Visit: c.reach.visit}
	switch {
	case c.Offset > 0 && !c.Reload:
		r.Mode = fetch.Kept
	case c.Reload:
		r.Mode = fetch.Reload
	}
	if c.UserAgent == "auto" {
		r.Browser = browser
	}
	if c.Robots == "obey" {
		may, err := client.Robots(ctx, r, "agentkit")
		if err == nil && !may {
			err = tool.Errorf(tool.Denied, "the robots.txt of %s asks robots to stay away from this address", c.url.Host).
				WithHint("leave it; or ask whoever may decide, and leave {.robots} out")
		}
		if err != nil {
			return nil, err
		}
	}
	if c.raw != nil {
		file := r
		if file.URL = c.raw; c.raw.Host != c.url.Host {
			file.Header = c.header(nil) // what the call adds may be a secret of the host that it names
		}
		if answer, err := client.Do(ctx, file); err == nil && answer.Status == http.StatusOK {
			return answer, nil
		}
	}
	return client.Do(ctx, r)
}

// header is what the request says of itself, with what is added: Markdown first, which
// some servers have.
func (c *fetchCall) header(added map[string]string) http.Header {
	h := http.Header{"Accept": {"text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, application/json;q=0.8, */*;q=0.5"}}
	if c.Format == "html" || c.Format == "raw" {
		h.Set("Accept", "text/html, application/xhtml+xml, */*;q=0.8")
	}
	switch c.UserAgent {
	case "browser":
		h.Set("User-Agent", browser)
	case "mobile":
		h.Set("User-Agent", mobile)
	case "bot":
		h.Set("User-Agent", bot)
	}
	for name, value := range added {
		h.Set(name, value)
	}
	return h
}

// save writes the body to a file, which undo takes back.
func (c *fetchCall) save(ctx context.Context, env *tool.Env, a *fetch.Response, meta *fetchMeta, res *tool.Result) error {
	switch {
	case a.Truncated:
		return tool.Errorf(tool.TooLarge, "%s holds more than %d bytes; nothing was written", a.URL.Redacted(), c.MaxBytes).WithHint("give a larger {.max_bytes}, up to %d", 100<<20)
	case a.Incomplete != "":
		return tool.Errorf(tool.Network, "not all of %s came: %s; nothing was written", a.URL.Redacted(), a.Incomplete).WithHint("try again, with a larger {.timeout_ms}")
	}
	record, err := env.Commit(ctx, change.Set{Tool: "fetch", Title: "fetch of " + tool.Shown(*c.to), Changes: []change.Change{{Op: change.Create, Path: *c.to, Data: a.Body}}})
	if err != nil {
		return err
	}
	meta.Saved, meta.Change = tool.Shown(*c.to), record.ID
	res.Title = "Saved " + meta.Saved
	res.Output = "saved " + tool.Count(int64(len(a.Body)), "byte") + " of " + meta.ContentType + " in " + meta.Saved + "\n"
	return nil
}

// failure says why there is no answer.
func failure(err error) error {
	if own, ok := errors.AsType[*tool.Error](err); ok {
		return own
	}
	e, ok := errors.AsType[*fetch.Error](err)
	if !ok {
		return err
	}
	details := FetchDetails{Reason: string(e.Code), Phase: e.Phase, Retryable: e.Retryable}
	fail := func(code tool.Code, hint string) error {
		failed := tool.Errorf(code, "%w", err).Next(hint)
		if code != tool.BadInput {
			failed = failed.With(details)
		}
		return failed
	}
	switch e.Code {
	case fetch.BadURL, fetch.BadHeader:
		return fail(tool.BadInput, "correct it, or leave it out")
	case fetch.Timeout:
		if e.Phase != "total" { // a limit that no parameter sets
			return fail(tool.Timeout, "try again later, or look for the same elsewhere")
		}
		return fail(tool.Timeout, "try again later, or give a larger {.timeout_ms}")
	case fetch.DNS:
		return fail(tool.Network, "check the name; there may be no network here")
	case fetch.TLS:
		return fail(tool.Network, "the server cannot be trusted as it is; a company's own authority belongs into a file that SSL_CERT_FILE or NODE_EXTRA_CA_CERTS names")
	case fetch.Decode:
		return fail(tool.Unsupported, "look for another address of the same")
	case fetch.Downgrade:
		return fail(tool.Network, "ask for the address with http itself, where nobody else's words do harm")
	case fetch.Connection:
		return fail(tool.Network, "a server that {bash} has started listens where only {bash} reaches it, as with curl; else try again later")
	}
	return fail(tool.Network, "look for another address of the same")
}

// statusError is what a status other than success says; nil for success.
func (c *fetchCall) statusError(a *fetch.Response, now time.Time) *tool.Error {
	details := FetchDetails{Reason: "http_status", Status: a.Status}
	if after, ok := fetch.RetryAfter(a.Header, now); ok {
		details.RetryAfter = int(after.Seconds())
	}
	what := a.URL.Host + " answers " + fetch.StatusText(a.Status)
	switch {
	case a.Challenge != "":
		details.Reason = "bot_challenge"
		return tool.Errorf(tool.Network, "%s shows robots a wall of %s, as a browser too", a.URL.Host, a.Challenge).With(details).
			WithHint("do not try again; look for the same elsewhere, or ask the user for its text")
	case a.Status < 400:
		return nil
	case a.Status == http.StatusNotFound || a.Status == http.StatusGone:
		return tool.Errorf(tool.NotFound, "%s", what).With(details).WithHint("check the address, or look for the page with {websearch}")
	case a.Status == http.StatusTooManyRequests || a.Status >= 500:
		details.Retryable = true
		if details.RetryAfter > 0 {
			return tool.Errorf(tool.Network, "%s, and asks to wait for %v", what, time.Duration(details.RetryAfter)*time.Second).With(details).WithHint("try again after that, or look for the same elsewhere")
		}
		return tool.Errorf(tool.Network, "%s", what).With(details).WithHint("try again later, or look for the same elsewhere")
	case a.Status == http.StatusUnauthorized || a.Status == http.StatusForbidden:
		return tool.Errorf(tool.Network, "%s", what).With(details).WithHint("it is not for everybody: ask the user, or look for the same elsewhere")
	}
	return tool.Errorf(tool.Network, "%s", what).With(details).WithHint("check the address, or look for the same elsewhere")
}
