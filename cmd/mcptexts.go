package cmd

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/mcp"
	"github.com/agentkit-go/agentkit/pkg/session"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// The addresses of the session's texts.
const (
	jobText   = "agentkit://job/"
	spillText = "agentkit://output/"
)

// mostTexts bounds how many outputs are listed.
const mostTexts = 100

// sessionTexts are what jobs of the session print, and outputs that were too long for a
// result. They are read by calls of output and read, so policy and audit see it, and
// without these tools there are none.
type sessionTexts struct {
	runner       *runner
	jobs, spills bool
}

// newSessionTexts returns the texts that the tools which are served can read; nil for
// none.
func newSessionTexts(r *runner) *sessionTexts {
	may := func(name string) bool {
		return slices.ContainsFunc(r.base.Tools, func(t *tool.Tool) bool { return t.Name == name })
	}
	s := &sessionTexts{r, may("output") && may("jobs"), may("read") && (r.far == nil || may("ls"))}
	if !s.jobs && !s.spills {
		return nil
	}
	return s
}

// Templates implements mcp.Resources.
func (s *sessionTexts) Templates() []mcp.Resource {
	list := []mcp.Resource{}
	if s.jobs {
		list = append(list, mcp.Resource{Template: jobText + "{id}", Name: "job", Title: "Output of a job", Description: "what a job of this session has printed until now", MIMEType: "text/plain"})
	}
	if s.spills {
		list = append(list, mcp.Resource{Template: spillText + "{name}", Name: "output", Title: "Whole output", Description: "an output of this session that was too long for its result", MIMEType: "text/plain"})
	}
	return list
}

// List implements mcp.Resources.
func (s *sessionTexts) List(ctx context.Context, p tool.Peer) ([]mcp.Resource, error) {
	var list []mcp.Resource
	if s.jobs {
		result := s.runner.call(ctx, p, "jobs", json.RawMessage("{}"))
		if result.Error != nil {
			return nil, result.Error
		}
		raw, err := result.MetadataJSON()
		if err != nil {
			return nil, err
		}
		var meta struct {
			Jobs []struct {
				ID, Name, Command, Status string
				TotalBytes                int64 `json:"total_bytes"`
			}
		}
		if err := json.Unmarshal(raw, &meta); err != nil {
			return nil, err
		}
		for _, j := range meta.Jobs {
			what, _, _ := strings.Cut(strings.TrimSpace(j.Command), "\n")
			list = append(list, mcp.Resource{URI: jobText + j.ID, Name: j.ID, Title: j.Name, Description: j.Status + ": " + tool.Visible(what), MIMEType: "text/plain", Size: j.TotalBytes})
		}
	}
	if s.spills {
		spills, err := s.list(ctx, p)
		if err != nil {
			return nil, err
		}
		for _, f := range spills[:min(len(spills), mostTexts)] {
			list = append(list, mcp.Resource{URI: spillText + f.Name, Name: f.Name, Description: fmt.Sprintf("%d bytes, %s", f.Size, f.At.UTC().Format("2006-01-02 15:04:05")), MIMEType: "text/plain", Size: f.Size})
		}
	}
	return list, nil
}

// dir is the directory of the long outputs.
func (s *sessionTexts) dir() string {
	if s.runner.far != nil {
		return s.runner.far.Hello().Spill
	}
	return s.runner.base.Session.Path("spill")
}

// list are the long outputs, the newest first.
func (s *sessionTexts) list(ctx context.Context, p tool.Peer) (list []session.SpillInfo, err error) {
	if s.runner.far == nil {
		return s.runner.base.Session.Spills()
	}
	args, err := json.Marshal(map[string]any{"path": s.dir()})
	if err != nil {
		return nil, err
	}
	result := s.runner.call(ctx, p, "ls", args)
	switch {
	case result.Error != nil && result.Error.Code == tool.NotFound:
		return nil, nil // nothing was too long yet
	case result.Error != nil:
		return nil, result.Error
	}
	raw, err := result.MetadataJSON()
	if err != nil {
		return nil, err
	}
	var meta struct {
		Entries []struct {
			Name, Type string
			Size       int64
			Modified   time.Time
		}
	}
	err = json.Unmarshal(raw, &meta)
	for _, e := range meta.Entries {
		if e.Type == "file" && !strings.HasPrefix(e.Name, ".") {
			list = append(list, session.SpillInfo{Name: tool.VisibleName(e.Name), Size: e.Size, At: e.Modified})
		}
	}
	slices.SortFunc(list, func(a, b session.SpillInfo) int { return strings.Compare(b.Name, a.Name) })
	return list, err
}

// Read implements mcp.Resources.
func (s *sessionTexts) Read(ctx context.Context, p tool.Peer, uri string) (*tool.Result, error) {
	name, args := "", map[string]any(nil)
	if id, ok := within(uri, jobText); ok && s.jobs {
		name, args = "output", map[string]any{"id": id, "wait": false, "since_last": false}
	} else if file, ok := within(uri, spillText); ok && s.spills {
		name, args = "read", map[string]any{"path": s.dir() + "/" + file, "limit": 100_000, "number_style": "none"}
	}
	if name == "" {
		return nil, nil //nolint:nilnil // there is no such resource, and that is no error
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	result := s.runner.within(ctx, p, name, raw, roomy(maxText))
	if result.Error != nil {
		return nil, result.Error
	}
	return result, nil
}

// within is the one name that follows the beginning of an address.
func within(uri, beginning string) (name string, ok bool) {
	rest, ok := strings.CutPrefix(uri, beginning)
	name, err := url.PathUnescape(rest)
	return name, ok && err == nil && name != "" && !strings.ContainsAny(name, `/\`) && name[0] != '.'
}
