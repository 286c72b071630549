package confine

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/gate"
	"github.com/agentkit-go/agentkit/pkg/job"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/programs"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/sandbox"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// Meta is what held a command, and what it was refused.
type Meta struct {
	Sandbox string          `json:"sandbox" doc:"the level: L0 to L3; outer where something around agentkit confines"`
	Detail  *sandbox.Report `json:"sandbox_detail,omitempty" doc:"what held the command, and what was refused it"`
	copied  bool            // protected files were made in a copy of a repository
}

// sandboxOf reads the report of a sandbox; the level is L0 without one.
func sandboxOf(report string) Meta {
	m := Meta{Sandbox: sandbox.L0.String()}
	if report == "" {
		return m
	}
	r, err := sandbox.ReadReport(report)
	if err != nil || r == nil {
		return m
	}
	return reported(r)
}

// reported is what a report says, as a result shows it.
func reported(r *sandbox.Report) Meta {
	shown := *r
	shown.Hosts = foldPackages(r.Hosts)
	return Meta{Sandbox: r.Level.String(), Detail: &shown}
}

// foldPackages says packages for the hosts of that preset: a policy that allows it
// would else have each result list fifty of them.
func foldPackages(hosts []string) []string {
	preset := programs.PackageHosts()
	for _, h := range preset {
		if !slices.Contains(hosts, h) {
			return hosts
		}
	}
	rest := slices.DeleteFunc(slices.Clone(hosts), func(h string) bool { return slices.Contains(preset, h) })
	return append([]string{"packages"}, rest...)
}

// Or names what else holds a command that has no sandbox of ours.
func (m Meta) Or(p *policy.Policy) Meta {
	if m.Detail == nil && p.Outer() {
		m.Sandbox = p.Wall()
	}
	return m
}

// Notes say what the sandbox refused, and how to ask for it.
func (m *Meta) Notes() []tool.Note {
	if m.Detail == nil {
		return nil
	}
	var list []tool.Note
	for i, d := range m.Detail.Denials {
		if i == 5 {
			list = append(list, tool.Notef("the sandbox refused %d more things: see sandbox_detail", len(m.Detail.Denials)-i))
			break
		}
		what := d.Path
		if d.Kind == sandbox.DeniedExec && len(d.Argv) > 0 {
			what = policy.Subject(&policy.Access{Kind: policy.Exec, Argv: d.Argv})
		}
		text := fmt.Sprintf("the sandbox refused %s %s: %s", d.Kind, tool.VisibleName(what), d.Why)
		if d.Rule != "" && !strings.Contains(d.Why, d.Rule) {
			text += " (" + d.Rule + ")"
		}
		if d.Allow != "" {
			text += "; " + allowing(d.Allow) + " would allow it"
		} else if d.Kind == sandbox.DeniedWrite {
			text += instead(d.Path)
		}
		list = append(list, tool.Notef("%s", text))
	}
	if m.Detail.Failed != "" {
		list = append(list, tool.Notef("%s", m.Detail.Failed))
	}
	for _, q := range m.Detail.Quarantined {
		if q.Action == sandbox.Removed {
			list = append(list, tool.Notef("%s was hidden from the command, which removed it: it is kept in %s", tool.VisibleName(q.Path), tool.VisibleName(q.Quarantine)))
			continue
		}
		if q.Why != "" {
			list = append(list, tool.Notef("%s was %s: %s; it is kept in %s", tool.VisibleName(q.Path), q.Action, q.Why, tool.VisibleName(q.Quarantine)))
			continue
		}
		list = append(list, tool.Notef("%s is protected, and was %s: %s%s", tool.VisibleName(q.Path), q.Action, ended(q), instead(q.Path)))
	}
	if m.copied {
		list = append(list, tool.Notef("protected files do not stay in a copy of a repository: a person copies them, or git clone brings them from its host, in a call of its own"))
	}
	return list
}

// LookForCopies notes whether protected files were made in a repository below the root.
func (m *Meta) LookForCopies(root string) {
	if m.Detail == nil {
		return
	}
	for _, q := range m.Detail.Quarantined {
		if q.Action != "created" || q.Why != "" || safefile.InGit(q.Path) {
			continue // git clone brings nothing of what a repository itself holds
		}
		for up := filepath.Dir(q.Path); up != root && safefile.Below(root, up); up = filepath.Dir(up) {
			if info, err := os.Lstat(filepath.Join(up, ".git")); err == nil && info.IsDir() {
				m.copied = true
				return
			}
		}
	}
}

// ended says what has become of a protected file at the end, and of what a command had made of it.
func ended(q sandbox.Restore) string {
	switch {
	case q.Action == "created" && q.Quarantine != "":
		return "it is gone from there, and kept in " + tool.VisibleName(q.Quarantine)
	case q.Quarantine != "":
		return "it is again as it was; what the command made of it is kept in " + tool.VisibleName(q.Quarantine)
	}
	return "it is again as it was"
}

// instead says what goes without a change of a file; "" where nothing does.
func instead(path string) string {
	switch {
	case strings.HasSuffix(path, "/.git/config"):
		return "; a setting for one command needs no file: git -c KEY=VALUE, and others a person sets outside"
	case strings.HasSuffix(path, "/index") && safefile.InGit(path):
		return "; it named files that git may write to no work tree, or trees that are not those of its files: git reset makes it anew"
	}
	return ""
}

// allowing says where a rule or setting goes that would allow something.
func allowing(rule string) string {
	if strings.HasSuffix(rule, ")") {
		return fmt.Sprintf("--allow %q", rule)
	}
	return rule + " in the policy"
}

// OfJob tells what held, or holds, a job. Once it has ended, what is protected is put
// back, should its supervisor have been killed before it did so.
func OfJob(info job.Info) Meta {
	if info.Report == "" || info.Alive() {
		return sandboxOf(info.Report)
	}
	if err := sandbox.Settle(info.Report, gate.Found); err != nil {
		m := sandboxOf(info.Report)
		m.notPutBack(err)
		return m
	}
	return sandboxOf(info.Report)
}

// notPutBack says that protected files are not as they were.
func (m *Meta) notPutBack(err error) {
	if m.Detail != nil {
		m.Detail.Failed = "not all that is protected could be put back: " + err.Error()
		if safefile.DiskFull(err) {
			m.Detail.Failed += "; what is missing is put back before the next call, once there is room"
		}
	}
}
