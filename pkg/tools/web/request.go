package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/agentkit-go/agentkit/pkg/fetch"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/websearch"
)

// maxPage is how much of a search engine's answer is read.
const maxPage = 4 << 20

// asker makes requests to search engines, whose hosts the policy has let pass. It goes
// where it is told and nowhere else. done lets go of the connections.
func asker(env *tool.Env) (ask func(context.Context, websearch.Request) (websearch.Response, error), done func()) {
	where := &reach{env: env, tool: "websearch"}
	config := where.config()
	config.Cache, config.Agent, config.Limits.Retries = nil, "agentkit", -1 // others keep and repeat what is worth it
	client := fetch.New(config)
	ask = func(ctx context.Context, r websearch.Request) (websearch.Response, error) {
		at, err := url.Parse(r.URL)
		if err != nil {
			return websearch.Response{}, err
		}
		header := http.Header{}
		for name, value := range r.Header {
			header.Set(name, value)
		}
		res, err := client.Do(ctx, fetch.Request{Method: r.Method, URL: at, Header: header, Body: r.Body, MaxBytes: maxPage, Visit: where.staying})
		if err != nil {
			return websearch.Response{}, unasked(err)
		}
		return websearch.Response{Status: res.Status, Header: res.Header, Body: res.Body}, nil
	}
	return ask, client.Close
}

// staying refuses redirects: a key that an API is sent is for nobody else.
func (r *reach) staying(ctx context.Context, to, from *url.URL) error {
	if from == nil {
		return r.visit(ctx, to, from)
	}
	return &websearch.Error{Kind: websearch.Failed, Message: "it sends us on to " + to.Host}
}

// unasked says why a provider could not be asked.
func unasked(err error) error {
	e, ok := errors.AsType[*fetch.Error](err)
	if !ok {
		return err
	}
	kind := websearch.Malformed
	switch e.Code {
	case fetch.Timeout:
		kind = websearch.Timeout
	case fetch.DNS, fetch.Connection, fetch.TLS:
		kind = websearch.Unreachable
	case fetch.Refused:
		kind = websearch.Denied
	}
	return &websearch.Error{Kind: kind, Message: e.Message}
}
