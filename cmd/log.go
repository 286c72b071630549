package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentkit-go/agentkit/pkg/audit"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/timeline"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

func (a *app) logCommand() *cobra.Command {
	o := &logOptions{limit: 100}
	c := &cobra.Command{
		Use:   "log [flags] [CALL]...",
		Short: "print what was decided and done",
		Long: strings.TrimSpace(`
Prints the newest calls of a session, oldest first: when each was made, what it
was about, what was decided about it and what came of it. With the beginning of
the name of a call, or with what the caller called it, as an agent's tool_use_id, or
the message that holds it, it prints all there is to know of that one. --session names another session.

--html FILE writes a page for a browser, --replay a script for a shell that makes
the same calls again. With --verify it checks instead that no record was changed,
put in, moved or cut off since it was written, and exits with 2 where one was.`),

		ValidArgsFunction: a.callNames,
		RunE: func(c *cobra.Command, args []string) error {
			o.filter.calls = args
			return a.showLog(c.Context(), o)
		},
	}
	f := c.Flags()
	f.BoolVar(&o.verify, "verify", false, "check that the records are those that were written")
	f.IntVar(&o.limit, "limit", o.limit, "most calls to print, the newest; 0 is all")
	f.StringSliceVar(&o.filter.tools, "tool", nil, "only calls of these tools")
	f.StringVar(&o.filter.decision, "decision", "", "only calls that were decided so: allow, ask or deny")
	f.StringVar(&o.filter.since, "since", "", "only calls since a time, as 2026-01-31T12:00, or so long ago, as 2h or 3d")
	f.StringVar(&o.filter.path, "path", "", "only calls that were about a file or directory, or what is below it")
	f.BoolVar(&o.filter.failed, "failed", false, "only calls that failed or were refused")
	f.BoolVarP(&o.follow, "follow", "f", false, "go on with what happens now")
	f.StringVar(&o.html, "html", "", "write a page for a browser to this file, a new one or such a page; - prints it")
	f.BoolVar(&o.replay, "replay", false, "print a script for a shell that makes the calls again")
	f.BoolVar(&o.records, "records", false, "print the records themselves, as the file has them")
	_ = c.RegisterFlagCompletionFunc("tool", toolNames)
	_ = c.RegisterFlagCompletionFunc("decision", cobra.FixedCompletions([]string{"allow", "ask", "deny"}, cobra.ShellCompDirectiveNoFileComp))
	c.MarkFlagsMutuallyExclusive("verify", "records", "replay", "follow", "html")
	return c
}

// showLog does what the options say.
func (a *app) showLog(ctx context.Context, o *logOptions) error {
	if err := a.check(); err != nil {
		return err
	}
	env, err := a.place()
	if err != nil {
		return err
	}
	defer env.Workspace.Close()
	if err := o.filter.prepare(time.Now(), env.Workspace.Root()); err != nil {
		return err
	}
	log, err := audit.Open(env.Session.Dir(), audit.Options{})
	if err != nil {
		return err
	}
	defer log.Close()
	if o.follow {
		return a.followLog(ctx, log, o)
	}
	r, err := o.result(ctx, env, log)
	if r == nil {
		return err
	}
	if err != nil {
		r.Error = tool.AsError(err)
	}
	if (o.replay || o.html == "-") && r.Error == nil && !r.No {
		a.printPlain(r.Title, r.Output)
		return nil
	}
	a.emit(r)
	return nil
}

func (o *logOptions) result(ctx context.Context, env *tool.Env, log *audit.Audit) (*tool.Result, error) {
	switch {
	case o.verify:
		return verified(ctx, log.Path())
	case o.records:
		return recorded(ctx, log, o.limit)
	}
	calls, damaged := audit.Calls(log.Read(ctx, audit.Filter{}))
	if cause := context.Cause(ctx); cause != nil {
		return nil, cause
	}
	if len(calls) == 0 && damaged == 0 {
		return nothingRecorded(), nil
	}
	kept := o.filter.apply(calls)
	log.Fill(kept...)
	switch {
	case o.replay:
		return &tool.Result{Title: tool.Count(int64(len(kept)), "call"), Output: replayed(env.Workspace.Root(), env.Session.ID(), kept), Trimmed: true}, nil
	case o.html != "":
		return drawn(ctx, env, log, o.html, kept)
	}
	return listed(kept, damaged, o), nil
}

// drawn writes the page.
func drawn(ctx context.Context, env *tool.Env, log *audit.Audit, name string, calls []*audit.Call) (*tool.Result, error) {
	file := name
	if name != "-" {
		var err error
		if file, err = pageFile(env, name); err != nil {
			return nil, err
		}
	}
	s := timeline.Session{ID: "Session " + env.Session.ID(), Root: env.Workspace.Root(), Made: env.Now()}
	report, err := audit.Verify(ctx, log.Path())
	s.Chain = fmt.Sprintf("The %d records behind this page are as they were written", report.Lines)
	if err != nil {
		s.Chain = fmt.Sprintf("The records behind this page are not as they were written: %v", err)
	}
	page := timeline.Page(s, calls)
	if name == "-" {
		return &tool.Result{Title: tool.Count(int64(len(calls)), "call"), Output: page, Trimmed: true}, nil
	}
	if err := safefile.WriteFile(file, []byte(page), false); err != nil {
		return nil, err
	}
	meta := struct {
		Path  string `json:"path"`
		Calls int    `json:"calls"`
		Bytes int    `json:"bytes"`
	}{file, len(calls), len(page)}
	return &tool.Result{Title: "wrote " + name, Output: fmt.Sprintf("%s shows %s; open it in a browser\n", file, tool.Count(int64(len(calls)), "call")), Metadata: &meta}, nil
}

// pageFile is the absolute path of the file that the page is written to: a new one, or a
// page that was written before.
func pageFile(env *tool.Env, name string) (string, error) {
	file, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	dir, err := env.Workspace.Resolve(filepath.Dir(file))
	if err != nil {
		return "", err
	}
	if dir.Type != policy.Dir {
		return "", tool.Errorf(tool.NotFound, "there is no directory %s", filepath.Dir(name)).WithHint("make it first, or name another file")
	}
	there, err := env.Workspace.Resolve(file)
	if err != nil || !there.Exists {
		return file, err
	}
	begin := ""
	if f, err := safefile.FollowRegular(there.Real); err == nil {
		b, _ := io.ReadAll(io.LimitReader(f, timeline.BeginBytes))
		begin = string(b)
		_ = f.Close()
	}
	if !timeline.IsPage(begin) {
		return "", tool.Errorf(tool.Conflict, "%s is there, and is no page of this command's", name).WithHint("name another file, or take this one away first")
	}
	return file, nil
}

// verified checks the chain of records. A result without an error says that it
// holds.
func verified(ctx context.Context, path string) (*tool.Result, error) {
	report, err := audit.Verify(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nothingRecorded(), nil
	}
	var meta struct {
		audit.Report
		Broken *audit.BrokenError `json:"broken,omitempty"`
	}
	meta.Report = report
	r := &tool.Result{Title: fmt.Sprintf("%d records are as they were written", report.Lines), Metadata: &meta}
	if errors.As(err, &meta.Broken) {
		r.Title = "the records are not as they were written"
		return r, tool.Errorf(tool.Conflict, "%w", err).
			WithHint("%d records before that place are in order; whoever may write to the state directory changed the rest: keep a copy, and trust nothing from there on", report.Lines)
	}
	if err != nil {
		return nil, err
	}
	r.Output = fmt.Sprintf("%s, the last one has the hash %s\n", r.Title, report.Hash)
	if report.Missing != "" {
		r.Output += "the records before them are not there: " + report.Missing + "\n"
	}
	if report.Torn > 0 {
		r.Output += fmt.Sprintf("a killed process left %d bytes of a record that was not finished\n", report.Torn)
	}
	return r, nil
}

func nothingRecorded() *tool.Result {
	return &tool.Result{Title: "nothing is recorded", Output: "nothing is recorded of this session\n", No: true}
}

// recorded lists the newest records.
func recorded(ctx context.Context, log *audit.Audit, limit int) (*tool.Result, error) {
	var meta struct {
		Records []audit.Record `json:"records"`
		Total   int            `json:"total"`
		Damaged int            `json:"damaged,omitempty"` // lines that are no records
	}
	meta.Records = []audit.Record{}
	for r, err := range log.Read(ctx, audit.Filter{}) {
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		if err != nil {
			meta.Damaged++
			continue
		}
		meta.Total++
		if meta.Records = append(meta.Records, r); limit > 0 && len(meta.Records) >= 2*limit {
			meta.Records = append(meta.Records[:0], meta.Records[len(meta.Records)-limit:]...)
		}
	}
	if limit > 0 && len(meta.Records) > limit {
		meta.Records = meta.Records[len(meta.Records)-limit:]
	}
	if meta.Total == 0 && meta.Damaged == 0 {
		return nothingRecorded(), nil
	}
	var b strings.Builder
	for i := range meta.Records {
		b.WriteString(recordLine(&meta.Records[i]))
	}
	b.WriteString(leftOut(meta.Total-len(meta.Records), meta.Damaged, "record"))
	return &tool.Result{Title: tool.Count(int64(meta.Total), "record"), Output: b.String(), Metadata: &meta}, nil
}

// recordLine is a record in one line: what its event says most about.
func recordLine(r *audit.Record) string {
	words := []string{fmt.Sprint(r.Seq), r.Time.Local().Format(time.DateTime), r.ID, r.Tool, string(r.Event), r.Decision}
	for _, access := range r.Accesses {
		if access.Kind != "" && (access.Decision == r.Decision || r.Decision == "") {
			words = append(words, access.Kind+" "+access.Subject+",")
		}
	}
	if r.Code != "" {
		words = append(words, r.Code)
	}
	if r.Exit != nil {
		words = append(words, "exit "+strconv.Itoa(*r.Exit))
	}
	if r.Note != "" {
		words = append(words, "("+r.Note+")")
	}
	line := strings.Join(strings.Fields(tool.VisibleName(strings.Join(words, " "))), " ")
	return strings.TrimSuffix(line, ",") + "\n"
}
