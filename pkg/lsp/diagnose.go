package lsp

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"
)

const (
	maxFiles       = 1000 // beside open ones, of which it is remembered what a server says
	maxDiagnostics = 500  // of one file

	// calm is how long a server has to say nothing after it has spoken of all files of a
	// request: what it says of others comes later.
	calm = 400 * time.Millisecond

	// done is the same for one that says by itself that it has nothing to do.
	done = 1500 * time.Millisecond
)

// A publication is the last that the server has said of a file.
type publication struct {
	list    []Diagnostic
	version *int // of its text; nil where the server does not say
	number  int  // in the order of publications
}

// hear takes in what the server tells.
func (k *keeper) hear(method string, params json.RawMessage) {
	switch method {
	case "textDocument/publishDiagnostics":
		var p struct {
			URI         string       `json:"uri"`
			Version     *int         `json:"version"`
			Diagnostics []Diagnostic `json:"diagnostics"`
		}
		if json.Unmarshal(params, &p) != nil {
			return
		}
		path := Path(p.URI)
		if path == "" {
			return
		}
		list := p.Diagnostics[:min(len(p.Diagnostics), maxDiagnostics)]
		for i := range list {
			list[i].Message, list[i].Source = clip(list[i].Message, maxText), clip(list[i].Source, 100)
			if len(list[i].Code) > 200 {
				list[i].Code = nil
			}
		}
		version, _ := k.docs.given(path)
		k.news(func() {
			k.count++
			if _, ok := k.published[path]; ok || version > 0 || len(k.published) < maxFiles {
				k.published[path] = publication{list, p.Version, k.count}
			}
		})
	case "experimental/serverStatus": // of rust-analyzer
		var p struct {
			Quiescent bool `json:"quiescent"`
		}
		if json.Unmarshal(params, &p) == nil {
			k.news(func() { k.settled = p.Quiescent })
		}
	}
}

// news notes what was heard.
func (k *keeper) news(note func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	note()
	k.last = time.Now()
	close(k.heard)
	k.heard = make(chan struct{})
}

// answer is for a server's own requests.
func (k *keeper) answer(method string, params json.RawMessage) (any, *rpcError) {
	switch method {
	case "workspace/configuration":
		var p struct {
			Items []struct {
				Section string `json:"section"`
			} `json:"items"`
		}
		_ = json.Unmarshal(params, &p)
		settings, list := k.server.settings(k.program), []any{}
		for _, item := range p.Items[:min(len(p.Items), 100)] {
			list = append(list, setting(settings, item.Section))
		}
		return list, nil
	case "workspace/workspaceFolders":
		return []any{map[string]string{"uri": URI(k.root), "name": "workspace"}}, nil
	case "workspace/applyEdit":
		return map[string]bool{"applied": false}, nil
	case "client/registerCapability", "client/unregisterCapability", "window/showMessageRequest", "window/workDoneProgress/create":
		return nil, nil
	}
	return nil, &rpcError{-32601, "no such method"}
}

// before is what the server had said when a request came.
type before struct {
	count int
	said  map[string][]Diagnostic
}

func (k *keeper) told() before {
	k.mu.Lock()
	defer k.mu.Unlock()
	b := before{count: k.count, said: map[string][]Diagnostic{}}
	for path, p := range k.published {
		b.said[path] = p.list
	}
	return b
}

// settle waits until the server has said what it has to say of files.
func (k *keeper) settle(ctx context.Context, files []string, b before, a *Answer) {
	for begun := time.Now(); ; {
		var missing []string
		k.mu.Lock()
		heard, idle := k.heard, time.Since(k.last)
		for _, path := range files {
			version, mark := k.docs.given(path)
			if p, ok := k.published[path]; !ok || p.number <= mark || p.version != nil && *p.version < version {
				missing = append(missing, path)
			}
		}
		left := calm - idle
		switch {
		case len(missing) == 0:
		case k.settled:
			left = done - min(idle, time.Since(begun))
		default:
			left = time.Hour
		}
		k.mu.Unlock()
		if left <= 0 {
			break
		}
		timer := time.NewTimer(left)
		select {
		case <-heard:
		case <-timer.C:
		case <-k.conn.over:
			a.Error = k.why(k.conn.err).Error()
			return
		case <-ctx.Done():
			a.Late, a.Missing = len(missing) > 0, missing
			k.collect(b, a)
			return
		}
		timer.Stop()
	}
	k.collect(b, a)
}

// collect is all that the server says of files now, and what of it is new.
func (k *keeper) collect(b before, a *Answer) {
	k.mu.Lock()
	defer k.mu.Unlock()
	a.Known = len(b.said) > 0
	for _, path := range slices.Sorted(maps.Keys(k.published)) {
		if p := k.published[path]; len(p.list) > 0 {
			list, fresh := sorted(p.list, b.said[path])
			a.Files = append(a.Files, File{path, list, fresh})
		}
	}
}

// sorted puts in front what old does not have, and of these and the others the worst
// first. A remark that has only moved is none that is new.
func sorted(list, old []Diagnostic) (all []Diagnostic, fresh int) {
	known := map[string]int{}
	for _, d := range old {
		known[d.Message]++
	}
	var stays []Diagnostic
	for _, d := range list {
		if known[d.Message] > 0 {
			known[d.Message]--
			stays = append(stays, d)
		} else {
			all = append(all, d)
		}
	}
	worst := func(a, b Diagnostic) int { return cmp.Compare(cmp.Or(a.Severity, 1), cmp.Or(b.Severity, 1)) }
	slices.SortStableFunc(all, worst)
	slices.SortStableFunc(stays, worst)
	return append(all, stays...), len(all)
}
