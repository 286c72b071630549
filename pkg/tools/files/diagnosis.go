package files

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/agentkit-go/agentkit/pkg/lsp"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

// asked is a server with the files that it is asked about.
type asked struct {
	*server
	files []workspace.Path
	known bool // it had spoken before it was asked, so what is new is known
}

// servers are those for files, and why others are not asked. Where they must be it is an
// error that there is none, and starting one may have to be approved.
func servers(ctx context.Context, env *tool.Env, files []workspace.Path, must bool) (list []*asked, silent []string, err error) {
	for _, f := range files {
		if i := slices.IndexFunc(list, func(a *asked) bool {
			return slices.ContainsFunc(lsp.For(f.Real), func(s lsp.Server) bool { return s.Name == a.Name })
		}); i >= 0 {
			list[i].files = append(list[i].files, f)
			continue
		}
		s, err := findServer(ctx, env, f)
		why := ""
		switch {
		case err != nil && must:
			return nil, nil, err
		case err != nil:
			if why = tool.AsError(err).Message; len(lsp.For(f.Real)) == 0 {
				continue
			}
		case !must:
			why = s.allowed(env)
		}
		if why == "" {
			list = append(list, &asked{server: s, files: []workspace.Path{f}})
		} else if !slices.Contains(silent, why) {
			silent = append(silent, why)
		}
	}
	return list, silent, nil
}

// diagnose asks the server about its files: what it says of every file, by real path,
// and the files of which it has said nothing in time.
func (a *asked) diagnose(ctx context.Context, env *tool.Env, name string, ms int) (found map[string][]diagnostic, late []string, err error) {
	q := lsp.Request{Diagnose: true, WaitMS: int64(ms)}
	for _, f := range a.files {
		q.Open = append(q.Open, f.Real)
	}
	answer, err := a.ask(ctx, env, q)
	if err != nil {
		return nil, nil, err
	}
	if late = answer.Missing; answer.Late && len(late) == 0 {
		late = q.Open
	}
	found, a.known = map[string][]diagnostic{}, answer.Known
	for _, f := range answer.Files {
		p, shown, may := shownFile(env, name, f.Path)
		if !may {
			continue
		}
		lines := linesOf(env, p)
		for i, one := range f.List {
			at := one.Range.Start
			found[p.Real] = append(found[p.Real], diagnostic{
				Path: shown, Line: at.Line + 1, Column: lsp.Column(lineAt(lines, at.Line), at.Character, answer.Encoding) + 1,
				Severity: severity(one.Severity), Message: one.Message, Source: cmp.Or(one.Source, a.Name), Code: codeText(one.Code),
				New: answer.Known && i < f.Fresh,
			})
		}
	}
	return found, late, nil
}

func severity(n int) string {
	switch n {
	case 2:
		return "warning"
	case 3:
		return "information"
	case 4:
		return "hint"
	}
	return "error"
}

// codeText is a code, which is a text or a number.
func codeText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text // of null, none
	}
	return string(raw)
}
