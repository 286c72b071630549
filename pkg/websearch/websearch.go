// Package websearch asks search engines on the web. Each has its own protocol; here they
// have one shape, and where one cannot answer the next one is asked.
package websearch

import (
	"context"
	"errors"
	"math"
	"net/http"
	"time"
)

// A Query is what is searched for.
type Query struct {
	Text    string
	Max     int       // most results
	Domains []string  // only these and what is below them, as Domain returns them; none for all
	Exclude []string  // not these, and not what is below them
	Since   time.Time // only what was published since; zero for any time
}

// A Result is a page that was found.
type Result struct {
	Title     string  `json:"title" doc:"of the page"`
	URL       string  `json:"url" doc:"its address"`
	Snippet   string  `json:"snippet" doc:"a piece of its text, or what is said of it"`
	Published string  `json:"published,omitempty" doc:"when, as the provider says"`
	Score     float64 `json:"score,omitempty" doc:"how well it fits, as the provider says"`
}

// An Attempt is what came of asking one provider.
type Attempt struct {
	Provider   string  `json:"provider" doc:"who was asked"`
	Kind       Failure `json:"code,omitempty" doc:"why it has not answered: auth, limit, blocked, timeout, unreachable, failed, malformed, refused, unable or denied; absent where it has"`
	Status     int     `json:"status,omitempty" doc:"the HTTP status"`
	Message    string  `json:"message,omitempty" doc:"what is wrong"`
	RetryAfter float64 `json:"retry_after_s,omitempty" doc:"when it may be asked again"`
	Millis     int64   `json:"ms" doc:"how long it took"`
}

// An Answer is what a search comes to.
type Answer struct {
	Provider string    `json:"provider"`
	Results  []Result  `json:"results"`
	Tried    []Attempt `json:"tried"` // all that were asked, in order
	Hidden   int       `json:"hidden"`
	Cost     float64   `json:"cost,omitempty"` // in US dollars, where the provider says
	Notes    []string  `json:"notes,omitempty"`
	Asked    time.Time `json:"asked"`

	Cached bool `json:"-"`
}

// A Request is one HTTP request.
type Request struct {
	Method, URL string
	Header      map[string]string
	Body        []byte
}

// A Response is what came back, whole.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// An Engine searches.
type Engine struct {
	Providers []Provider                                       // in the order in which they are asked
	Fetch     func(context.Context, Request) (Response, error) // an error that is no *Error is classified by its kind
	Pace      string                                           // directory where processes agree on when providers may be asked
	Cache     string                                           // directory of answers; "" keeps none
	Gap       time.Duration                                    // least time between two requests to a provider, of all processes
	Now       func() time.Time
}

// mostPerProvider is how long one provider may take while another is left to be asked.
const mostPerProvider = 10 * time.Second

// Search asks the providers in turn until one answers. Finding nothing is an answer. An
// error is an *Error, that of the last provider which was asked; Answer.Tried has all.
func (e *Engine) Search(ctx context.Context, q Query) (*Answer, error) {
	key := e.key(q)
	if a := e.cached(key); a != nil {
		return a, nil
	}
	a := &Answer{Asked: e.Now().UTC(), Results: []Result{}}
	last := &Error{Kind: Unable, Message: "there is nobody to ask"}
	for i := range e.Providers {
		p := &e.Providers[i]
		begin := e.Now()
		err := e.try(ctx, p, q, a, len(e.Providers)-i-1)
		tried := Attempt{Provider: p.Name, Millis: e.Now().Sub(begin).Milliseconds()}
		if err == nil {
			a.Provider, a.Tried = p.Name, append(a.Tried, tried)
			e.keep(key, a)
			return a, nil
		}
		last = classify(ctx, err)
		tried.Kind, tried.Status, tried.Message, tried.RetryAfter = last.Kind, last.Status, last.Message, math.Ceil(last.RetryAfter.Seconds())
		a.Tried = append(a.Tried, tried)
		last.Provider = p.Name
		if ctx.Err() != nil || last.Kind == Refused {
			break // nobody is waiting any longer, or the others would say the same
		}
	}
	return a, last
}

// try asks one provider and puts what it finds into a.
func (e *Engine) try(ctx context.Context, p *Provider, q Query, a *Answer, left int) error {
	if why := p.unable(q); why != "" {
		return &Error{Kind: Unable, Message: why}
	}
	if deadline, ok := ctx.Deadline(); ok && left > 0 {
		limited, cancel := context.WithTimeoutCause(ctx, min(mostPerProvider, time.Until(deadline)/2), context.DeadlineExceeded)
		defer cancel()
		ctx = limited
	}
	if err := e.await(ctx, p); err != nil {
		return err
	}
	res, err := e.Fetch(ctx, p.request(p, q))
	if err != nil {
		return err
	}
	page, err := p.read(p, res)
	if err != nil {
		if failed, ok := errors.AsType[*Error](err); ok && (failed.Kind == Limit || failed.Kind == Blocked) {
			e.rest(ctx, p, failed)
		}
		return err
	}
	a.Cost, a.Notes = page.cost, page.notes
	a.take(p, q, page.results)
	return nil
}
