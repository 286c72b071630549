package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentkit-go/agentkit/pkg/audit"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

func (a *app) logCommand() *cobra.Command {
	verify, limit := false, 100
	c := &cobra.Command{
		Use:   "log",
		Short: "print what was decided and done",
		Long: strings.TrimSpace(`
Prints the newest records of a session's audit, oldest first: each decision of
the policy, each answer of a person and each result. --session names another
session. With --verify it checks instead that no record was changed, put in,
moved or cut off since it was written, and exits with 2 where one was.`),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := a.check(); err != nil {
				return err
			}
			env, err := a.place()
			if err != nil {
				return err
			}
			defer env.Workspace.Close()
			log, err := audit.Open(env.Session.Dir(), audit.Options{})
			if err != nil {
				return err
			}
			defer log.Close()
			var r *tool.Result
			if verify {
				r, err = verified(c.Context(), log.Path())
			} else {
				r, err = recorded(c.Context(), log, limit)
			}
			if r == nil {
				return err
			}
			if err != nil {
				r.Error = tool.AsError(err)
			}
			a.emit(r)
			return nil
		},
	}
	c.Flags().BoolVar(&verify, "verify", false, "check that the records are those that were written")
	c.Flags().IntVar(&limit, "limit", limit, "most records to print, the newest; 0 is all")
	return c
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
	if left := meta.Total - len(meta.Records); left > 0 {
		fmt.Fprintf(&b, "[%d older records; --limit shows more]\n", left)
	}
	if meta.Damaged > 0 {
		fmt.Fprintf(&b, "[%d damaged lines; agentkit log --verify says where]\n", meta.Damaged)
	}
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
		words = append(words, fmt.Sprint("exit ", *r.Exit))
	}
	if r.Note != "" {
		words = append(words, "("+r.Note+")")
	}
	line := strings.Join(strings.Fields(tool.VisibleName(strings.Join(words, " "))), " ")
	return strings.TrimSuffix(line, ",") + "\n"
}
