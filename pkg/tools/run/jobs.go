package run

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/confine"
	"github.com/agentkit-go/agentkit/pkg/job"
	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/session"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

//go:embed jobs.md
var jobsDoc string

// Jobs lists jobs.
var Jobs = tool.Tool{
	Name:       "jobs",
	Summary:    "list the session's jobs",
	Doc:        &jobsDoc,
	New:        func() tool.Call { return new(jobsCall) },
	ReadOnly:   true,
	Idempotent: true,

	Others: []string{"ps", "listjobs", "tasklist"},

	Examples: []string{
		"agentkit jobs",
		"agentkit jobs --status running",
	},

	Metadata: (*jobsMeta)(nil),
}

type jobsCall struct {
	All    bool
	Status []string
}

// Params implements tool.Call.
func (c *jobsCall) Params(p *param.Set) {
	p.Bool(&c.All, "all", "those of other sessions here, too").Rare()
	p.Strings(&c.Status, "status", "only those in these states").
		OneOf(string(job.Running), string(job.Completed), string(job.Failed), string(job.TimedOut), string(job.Aborted), string(job.Lost)).Shown("all but those that kill has ended").Rare()
}

// Needs implements tool.Call. Other sessions' jobs lie in other sessions'
// state.
func (c *jobsCall) Needs(context.Context, *tool.Env) ([]policy.Access, error) {
	if !c.All {
		return nil, nil
	}
	return []policy.Access{{Kind: policy.Tool, Tool: "jobs", Name: "all", Opaque: "other sessions' jobs"}}, nil
}

type jobsMeta struct {
	Jobs    []jobLine `json:"jobs" doc:"the oldest first"`
	Running int       `json:"running" doc:"how many run"`
	Total   int       `json:"total" doc:"how many are listed"`
}

// Run implements tool.Call.
func (c *jobsCall) Run(ctx context.Context, env *tool.Env) (*tool.Result, error) {
	meta := jobsMeta{Jobs: []jobLine{}}
	err := c.collect(ctx, &meta, registry(env), "")
	for _, other := range c.others(env) {
		_ = c.collect(ctx, &meta, &job.Registry{Session: other, Options: other.Options()}, other.ID())
	}
	var out strings.Builder
	for _, j := range meta.Jobs {
		state := j.Status
		switch {
		case j.Silent:
			state = "not answering"
		case j.Waiting != nil:
			state = "waiting for input"
		case j.Stopped:
			state = "stopped by a signal"
		case j.Kept:
			state = "left something running"
		case j.ExitCode != nil && *j.ExitCode != 0:
			state += " " + strconv.Itoa(*j.ExitCode)
		}
		line, _, _ := strings.Cut(strings.TrimSpace(j.Command), "\n")
		fmt.Fprintf(&out, "%s  %s  %s  %s", j.ID, state, time.Duration(j.DurationMS)*time.Millisecond, tool.VisibleName(line))
		if j.Name != "" {
			fmt.Fprintf(&out, "  (%s)", tool.VisibleName(j.Name))
		}
		if j.Session != "" {
			fmt.Fprintf(&out, "  [session %s]", j.Session)
		}
		out.WriteByte('\n')
	}
	if len(meta.Jobs) == 0 {
		out.WriteString("no jobs\n")
	}
	meta.Total = len(meta.Jobs)
	return &tool.Result{Title: fmt.Sprintf("%d of %s running", meta.Running, tool.Count(int64(meta.Total), "job")), Output: out.String(), Metadata: meta}, err
}

func (c *jobsCall) collect(ctx context.Context, meta *jobsMeta, reg *job.Registry, name string) error {
	list, err := reg.List()
	list = slices.DeleteFunc(list, func(i job.Info) bool {
		return len(c.Status) == 0 && i.State == job.Aborted && !i.Kept || len(c.Status) > 0 && !slices.Contains(c.Status, string(i.State))
	})
	// Side by side, or each supervisor that does not answer would be waited for.
	tool.SideBySide(len(list), askedAtOnce, func(n int) {
		if !list[n].Alive() {
			return
		}
		if j, failed := reg.Open(list[n].ID); failed == nil {
			if live, failed := j.Live(ctx); failed == nil {
				list[n] = live
			}
		}
	})
	for _, i := range list {
		if i.Alive() {
			meta.Running++
		}
		if name == "" {
			confine.OfJob(i)
		}
		line := newJobLine(i)
		line.Session = name
		meta.Jobs = append(meta.Jobs, line)
	}
	if err != nil {
		return tool.Errorf(tool.IO, "reading the jobs: %w", err).WithHint("check the state directory")
	}
	return nil
}

// others are the other sessions of this workspace.
func (c *jobsCall) others(env *tool.Env) []*session.Session {
	if !c.All {
		return nil
	}
	entries, err := os.ReadDir(filepath.Dir(env.Session.Dir()))
	if err != nil {
		return nil
	}
	var list []*session.Session
	for _, e := range entries {
		o := env.Session.Options()
		if o.ID = e.Name(); o.ID == env.Session.ID() || !e.IsDir() {
			continue
		}
		if s, err := session.Open(o); err == nil {
			list = append(list, s)
		}
	}
	return list
}
