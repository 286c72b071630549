package run

import (
	"context"
	"errors"
	"time"

	"github.com/agentkit-go/agentkit/pkg/job"
	"github.com/agentkit-go/agentkit/pkg/screen"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// A screenMeta is the screen of a job's terminal.
type screenMeta struct {
	Rows      int   `json:"rows"`
	Cols      int   `json:"cols"`
	Row       int   `json:"cursor_row" doc:"counted from 1"`
	Col       int   `json:"cursor_col"`
	Alternate bool  `json:"alternate" doc:"a program such as an editor has taken the whole screen"`
	Skipped   int64 `json:"skipped,omitempty" doc:"bytes at the beginning of the output that were not looked at"`

	total int64       // bytes of output until now
	notes []tool.Note // what is said of it behind the output
}

// The screen is drawn from so much of the output, in so much time. A program that
// moves about draws all of its screen again now and then.
const (
	screenBytes = 2 << 20
	screenTime  = 5 * time.Second
)

// onlyScreen reports whether a program that runs in a job's terminal has taken the
// whole screen: what it prints is nothing to read.
func onlyScreen(j *job.Job, info job.Info) bool {
	if !info.TTY || !info.Alive() {
		return false
	}
	c, err := j.Tail(screenBytes)
	return err == nil && screen.Alternate(c.Data)
}

// drawn is the screen that a job's terminal shows, as text and in numbers. All that
// it has printed counts as read then.
func drawn(ctx context.Context, j *job.Job, info job.Info) (text string, m *screenMeta, err error) {
	if !info.TTY {
		return "", nil, jobError(job.ErrNoTerminal)
	}
	c, err := j.Tail(screenBytes)
	if err == nil {
		err = j.Seen(ctx, c.Next)
	}
	if err != nil {
		return "", nil, jobError(err)
	}
	var sizes []screen.Size
	for _, s := range info.Sizes {
		sizes = append(sizes, screen.Size(s))
	}
	s, err := replay(ctx, c, sizes)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		skip := len(c.Data) - len(c.Data)/16 // a busy machine, or a program that makes it hard
		c.Data, c.Offset = c.Data[skip:], c.Offset+int64(skip)
		s, err = replay(ctx, c, sizes)
	}
	switch {
	case ctx.Err() != nil:
		return "", nil, context.Cause(ctx)
	case errors.Is(err, context.DeadlineExceeded):
		return "", nil, tool.Errorf(tool.Timeout, "what the job prints takes longer than %s to draw", screenTime).WithHint("read it with {.lines}, without {.screen}")
	case err != nil:
		return "", nil, tool.Errorf(tool.Unsupported, "%w", err).WithHint("read it without {.screen}")
	}
	m = &screenMeta{Rows: s.Rows, Cols: s.Cols, Row: s.Row, Col: s.Col, Alternate: s.Alternate, Skipped: c.Offset, total: c.Total}
	m.notes = []tool.Note{tool.Notef("the screen: %d lines of %d columns; the cursor in line %d, column %d", s.Rows, s.Cols, s.Row, s.Col)}
	if c.Offset > 0 {
		m.notes = append(m.notes, tool.Notef("drawn from the last %s of the output: what was drawn earlier and has not changed since is missing; {input} with {input.rows} and {input.cols} has most programs draw all of it", tool.Count(int64(len(c.Data)), "byte")))
	}
	return s.Text(), m, nil
}

func replay(ctx context.Context, c job.Chunk, sizes []screen.Size) (*screen.Screen, error) {
	soon, cancel := context.WithTimeout(ctx, screenTime)
	defer cancel()
	return screen.Replay(soon, c.Data, c.Offset, sizes)
}
