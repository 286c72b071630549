package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/tool"
)

// listens is the method by which a client waits for changes.
const listens = "subscriptions/listen"

// do does what a request asks for.
func (r *request) do(ctx context.Context) (object, *Error) {
	s := r.link.server
	switch method := r.m.Method; {
	case strings.HasSuffix(method, "/list") && s.known(method) && r.paged():
		return nil, fail(invalidParams, "there is no such cursor: all stands on one page")
	case method == "initialize" && !r.modern():
		return r.initialize()
	case method == "ping" && !r.modern():
		return object{}, nil
	case method == "server/discover" && r.modern():
		return fresh(object{"supportedVersions": Versions(), "capabilities": s.capabilities(), "instructions": s.o.Instructions}, true), nil
	case method == "tools/list":
		list, err := s.o.Declare()
		if r.plain && err == nil {
			list, err = unstructured(list)
		}
		return fresh(object{"tools": append([]any{}, list...)}, true), internal(err)
	case method == "tools/call":
		return r.call(ctx)
	case method == listens && r.modern():
		return r.listen(ctx)
	case s.o.Resources == nil:
	case method == "resources/list":
		list, err := s.o.Resources.List(ctx, tool.Peer{})
		return fresh(object{"resources": append([]Resource{}, list...)}, false), internal(err)
	case method == "resources/templates/list":
		return fresh(object{"resourceTemplates": s.o.Resources.Templates()}, true), nil
	case method == "resources/read":
		return r.read(ctx)
	}
	return nil, r.link.server.noMethod(r.m.Method)
}

// paged reports whether r asks for another page than the first. We hand out no cursor.
func (r *request) paged() bool {
	var p struct {
		Cursor any `json:"cursor"`
	}
	_ = json.Unmarshal(r.m.Params, &p) // an object, as it was checked
	return p.Cursor != nil && p.Cursor != ""
}

// known reports whether there is a method of that name in the newest revision.
func (s *Server) known(method string) bool {
	if slices.Contains([]string{"resources/list", "resources/templates/list", "resources/read"}, method) {
		return s.o.Resources != nil
	}
	return slices.Contains([]string{"server/discover", "tools/list", "tools/call", listens}, method)
}

// noMethod is the error for a method that there is not, which may be of any length.
func (s *Server) noMethod(method string) *Error {
	names := "server/discover, tools/list and tools/call"
	if s.o.Resources != nil {
		names = "server/discover, tools/list, tools/call, resources/list and resources/read"
	}
	return fail(methodNotFound, fmt.Sprintf("there is no method %.80s: there are %s", method, names))
}

// keeps is how long a client may keep what only another start of the server changes.
const keeps = time.Hour

// fresh says how long a client may keep a result.
func fresh(o object, lasting bool) object {
	o["ttlMs"], o["cacheScope"] = 0, "private"
	if lasting {
		o["ttlMs"] = keeps.Milliseconds()
	}
	return o
}

// initialize agrees on a revision.
func (r *request) initialize() (object, *Error) {
	var p struct {
		Version string        `json:"protocolVersion"`
		Client  *capabilities `json:"capabilities"`
		Info    *program      `json:"clientInfo"`
	}
	if err := json.Unmarshal(r.m.Params, &p); err != nil || p.Version == "" {
		return nil, fail(invalidParams, "initialize needs protocolVersion and capabilities")
	}
	version := latest
	if p.Version < newest && slices.Contains(Versions(), p.Version) {
		version = p.Version
	}
	l := r.link
	l.mu.Lock()
	l.version, l.client, l.info = version, p.Client, p.Info
	l.mu.Unlock()
	s := l.server
	return object{"protocolVersion": version, "capabilities": s.capabilities(), "serverInfo": s.about(), "instructions": s.o.Instructions}, nil
}

func (s *Server) capabilities() object {
	c := object{"tools": object{}}
	if s.o.Resources != nil {
		c["resources"] = object{}
	}
	return c
}

// unstructured is tools without the schemas of results, for clients that get no data.
func unstructured(list []any) ([]any, error) {
	plain := make([]any, len(list))
	for i, one := range list {
		raw, err := json.Marshal(one)
		if err != nil {
			return nil, err
		}
		var o map[string]json.RawMessage
		if err := json.Unmarshal(raw, &o); err != nil {
			return nil, err
		}
		delete(o, "outputSchema")
		plain[i] = o
	}
	return plain, nil
}

// internal is the error of what should not fail.
func internal(err error) *Error {
	if err == nil {
		return nil
	}
	return fail(busy, tool.AsError(err).Words())
}

// read shows a resource.
func (r *request) read(ctx context.Context) (object, *Error) {
	var p struct {
		URI string `json:"uri"`
	}
	if err := json.Unmarshal(r.m.Params, &p); err != nil || p.URI == "" {
		return nil, fail(invalidParams, "resources/read needs a uri")
	}
	result, err := r.link.server.o.Resources.Read(ctx, tool.Peer{}, p.URI)
	switch e := (*tool.Error)(nil); {
	case result == nil && err == nil, errors.As(err, &e) && e.Code == tool.NotFound:
		failed := fail(invalidParams, "there is no resource "+p.URI+": resources/list names those that there are")
		if !r.modern() {
			failed.Code = oldNotFound
		}
		failed.Data = object{"uri": p.URI}
		return nil, failed
	case err != nil:
		return nil, internal(err)
	}
	return fresh(object{"contents": []object{{"uri": p.URI, "mimeType": "text/plain", "text": result.Said()}}}, false), nil
}

// beat is how often a stream on which nothing happens shows that it is there.
const beat = 15 * time.Second

// listen waits with the client for changes that it wants to hear of. None of ours are
// told: what is served stays as it is, and who wants to know what jobs do asks.
func (r *request) listen(ctx context.Context) (object, *Error) {
	about := object{"io.modelcontextprotocol/subscriptionId": r.m.ID}
	r.send(notice{Version: "2.0", Method: "notifications/subscriptions/acknowledged", Params: object{"notifications": object{}, "_meta": about}})
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return object{"_meta": about}, nil
		case <-r.link.deaf:
			return object{"_meta": about}, nil
		case <-tick.C:
			r.send(nil)
		}
	}
}
