package websearch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// A Failure is a kind of reason for which a provider does not answer.
type Failure string

// The failures.
const (
	Auth        Failure = "auth"        // the key is missing, wrong or not allowed this
	Limit       Failure = "limit"       // too many requests, or the plan is used up
	Blocked     Failure = "blocked"     // it takes us for a robot and shows a puzzle
	Timeout     Failure = "timeout"     // it was too slow
	Unreachable Failure = "unreachable" // there was no connection
	Failed      Failure = "failed"      // it has a fault of its own
	Malformed   Failure = "malformed"   // its answer is none that is known
	Refused     Failure = "refused"     // it takes the query for wrong
	Unable      Failure = "unable"      // it has no way to say what is wanted; it was not asked
	Denied      Failure = "denied"      // the policy keeps it from being asked
)

// An Error is why a provider has not answered.
type Error struct {
	Provider   string
	Kind       Failure
	Status     int // of HTTP; 0 where there was none
	Message    string
	RetryAfter time.Duration // 0 where nobody said
}

// Error implements error.
func (e *Error) Error() string {
	if e.Provider == "" {
		return e.Message
	}
	return e.Provider + ": " + e.Message
}

// classify makes an *Error of what went wrong on the way to a provider.
func classify(ctx context.Context, err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if network, ok := errors.AsType[net.Error](err); ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) || ok && network.Timeout() {
		return &Error{Kind: Timeout, Message: "it has not answered in time"}
	}
	if inner, ok := errors.AsType[*url.Error](err); ok { // its address has the whole query in it
		err = inner.Err
	}
	return &Error{Kind: Unreachable, Message: err.Error()}
}

// failure is what an HTTP status says, with the provider's own words; nil where it says
// that all is well.
func failure(p *Provider, res Response, words string) *Error {
	e := &Error{Status: res.Status, RetryAfter: retryAfter(res.Header)}
	switch s := res.Status; {
	case s >= 200 && s < 300:
		return nil
	case s == 401 || s == 403:
		e.Kind, e.Message = Auth, p.keyAdvice()
	case s == 402 || s == 429 || s == 432 || s == 433:
		e.Kind, e.Message = Limit, "its limit of requests is reached"
	case s == 408:
		e.Kind, e.Message = Timeout, "it has given up"
	case s == 400 || s == 422:
		e.Kind, e.Message = Refused, "it refuses the query"
	default:
		e.Kind, e.Message = Failed, "it has failed"
	}
	e.Message += fmt.Sprintf(" (HTTP %d", res.Status)
	if words = p.secretless(words); words != "" {
		e.Message += ": " + words
	}
	e.Message += ")"
	return e
}

// said finds the message in an error that came as JSON: the shapes of all providers.
func said(body []byte) (words string, retry time.Duration) {
	var shape struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Other   string          `json:"error_message"`
		Detail  json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(body, &shape) != nil {
		return "", 0
	}
	for _, raw := range []json.RawMessage{shape.Error, shape.Detail} {
		var inner struct {
			Error   string  `json:"error"`
			Message string  `json:"message"`
			Detail  string  `json:"detail"`
			Retry   float64 `json:"retry_after_seconds"`
		}
		var plain string
		switch {
		case len(raw) == 0:
		case json.Unmarshal(raw, &plain) == nil:
			words = plain
		case json.Unmarshal(raw, &inner) == nil:
			words = cmp.Or(inner.Message, inner.Detail, inner.Error)
			retry = seconds(inner.Retry)
		}
		if words != "" {
			return words, retry
		}
	}
	return cmp.Or(shape.Message, shape.Other), 0
}

// longestRest bounds what is believed of how long to wait.
const longestRest = 31 * 24 * time.Hour

func seconds(n float64) time.Duration {
	if !(n > 0) { // NaN, too
		return 0
	}
	return time.Duration(min(n, longestRest.Seconds()) * float64(time.Second))
}

// retryAfter reads the header Retry-After.
func retryAfter(h http.Header) time.Duration {
	text := strings.TrimSpace(h.Get("Retry-After"))
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		return seconds(n)
	}
	if at, err := http.ParseTime(text); err == nil {
		date, err := http.ParseTime(h.Get("Date"))
		if err != nil {
			date = time.Now()
		}
		return seconds(at.Sub(date).Seconds())
	}
	return 0
}
