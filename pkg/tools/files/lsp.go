package files

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/lsp"
	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/syntax"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

//go:embed lsp.md
var lspDoc string

// LSP asks a language server.
var LSP = tool.Tool{
	Name:    "lsp",
	Summary: "ask a language server about code",
	Doc:     &lspDoc,
	New:     func() tool.Call { return &lspCall{Limit: 100, TimeoutMS: 30_000} },

	Others: []string{"languageserver", "gotodefinition", "findreferences", "definition", "references", "hover", "rename", "renamesymbol"},

	Examples: []string{
		"agentkit lsp definition main.go --symbol Server.Close",
		"agentkit lsp references main.go:12:6",
		"agentkit lsp rename main.go --symbol oldName --new-name newName",
	},

	Metadata: (*lspMeta)(nil),
}

type lspCall struct {
	Operation    string
	Path         string
	Line, Column int
	Symbol       string
	NewName      string
	Limit        int
	DryRun       bool
	TimeoutMS    int

	path   workspace.Path
	server *server
	rename *renaming // what a rename changes; nil where it could not be found out before it was allowed to ask
}

// lspMethods are the operations, each with what the protocol calls it.
func lspMethods() map[string]string {
	return map[string]string{
		"definition": "textDocument/definition", "implementation": "textDocument/implementation", "references": "textDocument/references",
		"hover": "textDocument/hover", "completion": "textDocument/completion", "rename": "textDocument/rename",
		"symbols": "workspace/symbol", "incoming_calls": "callHierarchy/incomingCalls", "outgoing_calls": "callHierarchy/outgoingCalls",
	}
}

// Params implements tool.Call.
func (l *lspCall) Params(p *param.Set) {
	p.String(&l.Operation, "operation", "what to ask").Required().Arg().
		OneOf("definition", "references", "implementation", "hover", "symbols", "completion", "incoming_calls", "outgoing_calls", "rename").Alias("op", "action")
	p.Path(&l.Path, "path", param.File, "a file").Required().Arg().Alias("file_path", "filePath", "file")
	p.Int(&l.Line, "line", "from 1").Between(0, 1<<31).Shown("symbol")
	p.Int(&l.Column, "column", "from 1").Between(0, 1<<31).Alias("character").Shown("symbol")
	p.String(&l.Symbol, "symbol", "a name instead").Alias("query", "name")
	p.String(&l.NewName, "new_name", "of a rename").Alias("newName").Rare()
	p.Int(&l.Limit, "limit", "most results").Between(1, 10_000).Unlisted()
	p.Bool(&l.DryRun, "dry_run", "only show the difference").Alias("dryRun").Unlisted()
	p.Millis(&l.TimeoutMS, "timeout_ms", "time limit").Between(1, 600_000).Alias("timeout").Unlisted()
}

// Needs implements tool.Call. What a rename changes is known only when the server has been
// asked: that happens here where it may be, and in Run where somebody has to say yes first.
func (l *lspCall) Needs(ctx context.Context, env *tool.Env) (needs []policy.Access, err error) {
	if m := regexp.MustCompile(`^(.+?):([1-9]\d{0,8}):([1-9]\d{0,8}):?$`).FindStringSubmatch(l.Path); m != nil && l.Line == 0 {
		_, _ = fmt.Sscan(m[2]+" "+m[3], &l.Line, &l.Column)
		l.Path = m[1]
	}
	switch {
	case l.Operation == "rename" && l.NewName == "":
		return nil, tool.Errorf(tool.BadInput, "new_name is required for a rename").WithHint("give {.new_name}")
	case l.Symbol == "" && (l.Line == 0 || l.Column == 0):
		return nil, tool.Errorf(tool.BadInput, "no place is given").WithHint("give {.symbol}, or {.line} and {.column}; {outline} lists the symbols of a file")
	}
	if l.path, err = env.Workspace.Resolve(l.Path); err != nil {
		return nil, err
	}
	if !l.path.Exists || l.path.Type != policy.Regular {
		return []policy.Access{l.path.Read("lsp")}, nil // Run says what it is, to those who may know
	}
	if l.server, err = findServer(ctx, env, l.path); err != nil {
		return nil, err
	}
	needs = policy.Append([]policy.Access{l.path.Read("lsp")}, l.server.needs...)
	if l.Operation != "rename" || env.DryRun || env.Policy.DecideAll(needs).Verdict != policy.Allow {
		return needs, nil
	}
	if l.rename, err = l.planRename(ctx, env); err != nil {
		return nil, err
	}
	if l.DryRun {
		return needs, nil
	}
	return append(needs, l.rename.needs()...), nil
}

// Describe implements tool.Describer.
func (l *lspCall) Describe(ctx context.Context, env *tool.Env) map[string]any {
	if l.rename == nil {
		return map[string]any{"operation": l.Operation, "symbol": l.Symbol, "new_name": l.NewName}
	}
	return foreseen(ctx, env, l.rename.paths(), func(ctx context.Context, env *tool.Env) (*tool.Result, error) {
		return l.rename.run(ctx, env, true)
	})
}

// Run implements tool.Call.
func (l *lspCall) Run(ctx context.Context, env *tool.Env) (*tool.Result, error) {
	if !l.path.Exists {
		return nil, env.Missing(l.path, "check the path")
	}
	if l.path.Type != policy.Regular {
		return nil, tool.Errorf(tool.BadInput, "%s is no file", tool.Shown(l.path)).WithHint("name a source file; {glob} lists them")
	}
	if l.Operation == "rename" {
		return l.runRename(ctx, env)
	}
	raw, encoding, err := l.request(ctx, env)
	if err != nil {
		return nil, err
	}
	meta := &lspMeta{Operation: l.Operation, Server: l.server.Name, Places: []lspPlace{}}
	switch l.Operation {
	case "hover":
		meta.Text = hoverText(raw)
	case "completion":
		meta.Names = completions(raw)
		meta.Total = len(meta.Names)
		meta.Names = meta.Names[:min(len(meta.Names), l.Limit)]
	default:
		found := foundPlaces(raw)
		meta.Total = len(found)
		meta.locate(env, found[:min(len(found), l.Limit)], encoding)
	}
	return meta.result(l.path), nil
}

// request asks the server for the operation.
func (l *lspCall) request(ctx context.Context, env *tool.Env) (raw json.RawMessage, encoding string, err error) {
	if l.Operation == "symbols" {
		a, err := l.call(ctx, env, lspMethods()[l.Operation], map[string]string{"query": l.Symbol})
		if err != nil {
			return nil, "", err
		}
		return a.Result, a.Encoding, nil
	}
	params, err := l.place(ctx, env)
	if err != nil {
		return nil, "", err
	}
	switch l.Operation {
	case "references":
		params["context"] = map[string]bool{"includeDeclaration": true}
	case "rename":
		params["newName"] = l.NewName
	case "incoming_calls", "outgoing_calls":
		a, err := l.call(ctx, env, "textDocument/prepareCallHierarchy", params)
		if err != nil {
			return nil, "", err
		}
		var items []json.RawMessage
		if json.Unmarshal(a.Result, &items) != nil || len(items) == 0 {
			return nil, a.Encoding, nil
		}
		params = map[string]any{"item": items[0]}
	}
	a, err := l.call(ctx, env, lspMethods()[l.Operation], params)
	if err != nil {
		return nil, "", err
	}
	return a.Result, a.Encoding, nil
}

// call makes one request of the protocol.
func (l *lspCall) call(ctx context.Context, env *tool.Env, method string, params any) (*lsp.Answer, error) {
	raw, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	a, err := l.server.ask(ctx, env, lsp.Request{Open: []string{l.path.Real}, Method: method, Params: raw, WaitMS: int64(l.TimeoutMS)})
	if err == nil && a.Late {
		err = l.server.late(l.TimeoutMS)
	}
	return a, err
}

// place is the parameters that say where.
func (l *lspCall) place(ctx context.Context, env *tool.Env) (map[string]any, error) {
	data, err := env.Workspace.ReadFile(l.path, maxFile)
	if err != nil {
		return nil, err
	}
	text := readable(data)
	lines := strings.Split(string(text), "\n")
	line, column := l.Line, l.Column
	if l.Symbol != "" {
		if line, column, err = l.find(ctx, text, lines); err != nil {
			return nil, err
		}
	}
	if line > len(lines) {
		return nil, behind(tool.Shown(l.path), int64(line), int64(len(lines)))
	}
	a, err := l.server.ask(ctx, env, lsp.Request{WaitMS: int64(l.TimeoutMS)}) // how it counts columns
	if err == nil && a.Late {
		err = l.server.late(l.TimeoutMS)
	}
	if err != nil {
		return nil, err
	}
	at := lsp.Position{Line: line - 1, Character: lsp.Character(lines[line-1], column-1, a.Encoding)}
	return map[string]any{"textDocument": map[string]string{"uri": lsp.URI(l.path.Real)}, "position": at}, nil
}

// find finds where a symbol stands: on the line that is given, where the file defines it,
// or where it first uses it.
func (l *lspCall) find(ctx context.Context, text []byte, lines []string) (line, column int, err error) {
	name := l.Symbol[strings.LastIndexAny(l.Symbol, ".:/#")+1:]
	word := regexp.MustCompile(`(?:^|[^\pL\pN_])(` + regexp.QuoteMeta(name) + `)(?:[^\pL\pN_]|$)`)
	on := func(n int) bool {
		at := word.FindStringSubmatchIndex(lineAt(lines, n-1))
		if at == nil {
			return false
		}
		line, column = n, at[2]+1
		return true
	}
	if l.Line > 0 {
		if on(l.Line) {
			return line, column, nil
		}
		return 0, 0, tool.Errorf(tool.NotFound, "line %d of %s has no %s", l.Line, tool.Shown(l.path), name).WithHint("leave {.line} out, or look at it with {read}")
	}
	all, err := syntax.OutlineContext(ctx, l.path.Real, text)
	if err == nil || errors.As(err, new(*syntax.PartialError)) {
		found, _ := syntax.Find(all, l.Symbol)
		for _, s := range syntax.Narrow(found, l.Symbol) {
			if on(s.Line) {
				return line, column, nil
			}
		}
	}
	for n := range lines {
		if on(n + 1) {
			return line, column, nil
		}
	}
	return 0, 0, tool.Errorf(tool.NotFound, "%s has no %s", tool.Shown(l.path), l.Symbol).WithHint("{outline} lists the symbols of the file, {grep} finds files that have it")
}

// planRename asks the server what a rename changes.
func (l *lspCall) planRename(ctx context.Context, env *tool.Env) (*renaming, error) {
	raw, encoding, err := l.request(ctx, env)
	if err != nil {
		return nil, err
	}
	return newRenaming(env, l.server.Name, raw, encoding)
}

// runRename makes the changes. Where they could not be known before the server might be
// asked, each file must be one that may be written without a question.
func (l *lspCall) runRename(ctx context.Context, env *tool.Env) (*tool.Result, error) {
	if l.rename == nil {
		r, err := l.planRename(ctx, env)
		if err != nil {
			return nil, err
		}
		for _, a := range r.needs() {
			if err := env.May(a); err != nil && !l.DryRun {
				return nil, err
			}
		}
		l.rename = r
	}
	return l.rename.run(ctx, env, l.DryRun)
}
