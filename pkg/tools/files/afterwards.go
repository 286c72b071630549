package files

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

const (
	// afterLimit is how long a change may take longer for what servers say of it.
	afterLimit = 5 * time.Second

	mostPerFile = 20 // diagnostics of one file that are told after a change
	mostOthers  = 5  // files that the change has not touched
)

// afterwards has a call that changes files tell what language servers say of them then.
type afterwards struct {
	Diagnose bool

	ask    []*asked
	silent []string // why others are not asked
}

func (a *afterwards) params(p *param.Set) {
	p.Bool(&a.Diagnose, "diagnostics", "ask a language server then").Rare()
}

// needs are those of servers that are to be started, and may be without a question.
func (a *afterwards) needs(ctx context.Context, env *tool.Env, paths []workspace.Path) (needs []policy.Access) {
	if !a.Diagnose {
		return nil
	}
	var err error
	if a.ask, a.silent, err = servers(ctx, env, paths, false); err != nil {
		a.silent = append(a.silent, tool.AsError(err).Message)
	}
	for _, one := range a.ask {
		needs = policy.Append(needs, one.needs...)
	}
	return needs
}

// tell adds to the result of a change what is said of it. Whatever goes wrong with that,
// the change is made.
func (a *afterwards) tell(ctx context.Context, env *tool.Env, name string, r *tool.Result) {
	meta := &diagnosticsMeta{Diagnostics: []diagnostic{}, Servers: []string{}, Unasked: a.silent}
	for _, one := range a.ask {
		shown := func(path string) bool {
			now, err := env.Workspace.Resolve(path)
			return err == nil && now.Exists && unreadable(env, name, now) == ""
		}
		one.files = slices.DeleteFunc(slices.Clone(one.files), func(p workspace.Path) bool { return !shown(p.Real) })
		found, late, err := one.diagnose(ctx, env, name, int(afterLimit.Milliseconds()))
		if err != nil {
			meta.Unasked = append(meta.Unasked, tool.AsError(err).Message)
			continue
		}
		maps.DeleteFunc(found, func(path string, _ []diagnostic) bool { return !shown(path) })
		if len(late) > 0 {
			meta.Unasked = append(meta.Unasked, fmt.Sprintf("%s has not answered within %v", one.Name, afterLimit))
		}
		meta.Servers = append(meta.Servers, one.Name)
		meta.after(one, found, late)
	}
	text := meta.afterText()
	switch m := r.Metadata.(type) {
	case changeReport:
		m.Diagnosed = meta
		r.Metadata = m
	case *editMeta:
		m.Diagnosed = meta
	case *patchMeta:
		m.Diagnosed = meta
	}
	if r.Output += text; r.Pretty != nil {
		pretty := r.Pretty
		r.Pretty = func(paint func(tool.Style, string) string) string { return pretty(paint) + text }
	}
}

// after takes in what is said after a change: all of the files that it has changed, and of
// others the errors, only those that are new where that is known.
func (m *diagnosticsMeta) after(one *asked, found map[string][]diagnostic, late []string) {
	mine := map[string]bool{}
	for _, f := range one.files {
		mine[f.Real] = true
		if slices.Contains(late, f.Real) {
			continue // what is known of it is of its text before
		}
		m.take(found[f.Real])
	}
	others := 0
	for _, path := range slices.Sorted(maps.Keys(found)) {
		list := slices.DeleteFunc(found[path], func(d diagnostic) bool { return d.Severity != "error" || one.known && !d.New })
		if mine[path] || len(list) == 0 {
			continue
		}
		if others++; others > mostOthers {
			m.Total += len(list)
			continue
		}
		m.take(list)
	}
}

// take takes in those of one file.
func (m *diagnosticsMeta) take(list []diagnostic) {
	for _, d := range list[:min(len(list), mostPerFile)] {
		m.add(d)
	}
	m.Total += len(list) - min(len(list), mostPerFile)
}

// afterText is what the model is told of them.
func (m *diagnosticsMeta) afterText() string {
	var b strings.Builder
	for i := range m.Diagnostics {
		b.WriteString(m.Diagnostics[i].line())
	}
	if more := m.Total - len(m.Diagnostics); more > 0 {
		fmt.Fprintf(&b, "… and %d more\n", more)
	}
	if m.Total == 0 && len(m.Unasked) == 0 && len(m.Servers) > 0 {
		fmt.Fprintf(&b, "%s finds nothing wrong\n", strings.Join(m.Servers, " and "))
	}
	for _, why := range m.Unasked {
		fmt.Fprintf(&b, "no diagnostics: %s\n", why)
	}
	return b.String()
}
