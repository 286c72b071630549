package run

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/confine"
	"github.com/agentkit-go/agentkit/pkg/job"
	"github.com/agentkit-go/agentkit/pkg/nearest"
	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/shellparse"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/truncate"
)

// registry is the jobs of the session.
func registry(env *tool.Env) *job.Registry {
	return &job.Registry{Session: env.Session, Options: env.Session.Options(), Self: env.Self()}
}

// A jobLine is one job in a list.
type jobLine struct {
	ID         string       `json:"id" doc:"what output, input and kill take"`
	Session    string       `json:"session,omitempty" doc:"of another session"`
	Name       string       `json:"name,omitempty" doc:"the call's description"`
	Command    string       `json:"command" doc:"as it was given"`
	Cwd        string       `json:"cwd" doc:"where it runs"`
	Status     string       `json:"status" doc:"as in the result of bash"`
	Kept       bool         `json:"kept,omitempty" doc:"the command has ended, what it left running has not"`
	ExitCode   *int         `json:"exit_code" doc:"null until it has ended by itself"`
	Signal     string       `json:"signal,omitempty" doc:"the signal that it died by"`
	Started    time.Time    `json:"started" doc:"when"`
	DurationMS int64        `json:"duration_ms" doc:"until now or its end"`
	TotalBytes int64        `json:"total_bytes" doc:"that it has printed"`
	TTY        bool         `json:"tty" doc:"it has a terminal"`
	Pid        int          `json:"pid" doc:"of its first process"`
	Waiting    *job.Waiting `json:"waiting,omitempty" doc:"what waits for input"`
	Stopped    bool         `json:"stopped,omitempty" doc:"a signal holds it"`
	Silent     bool         `json:"not_answering,omitempty" doc:"its supervisor is stopped or stuck"`
	Killed     bool         `json:"killed,omitempty" doc:"we ended it, or something that it left running"`
}

func newJobLine(i job.Info) jobLine {
	r := jobState(i, nil)
	return jobLine{
		ID: i.ID, Name: i.Name, Command: commandOf(i), Cwd: i.Dir, Status: r.Status, Kept: i.Kept, ExitCode: r.ExitCode, Signal: i.Signal,
		Started: i.Started, DurationMS: r.DurationMS, TotalBytes: i.Total, TTY: i.TTY, Pid: i.Head.Pid, Waiting: i.Waiting, Stopped: i.Stopped, Silent: i.Silent, Killed: r.Killed,
	}
}

// commandOf is the command of a job as it was given: without the shell that
// runs it.
func commandOf(i job.Info) string {
	if text := commandIn(i.Argv); text != "" {
		return text
	}
	return policy.Subject(&policy.Access{Kind: policy.Exec, Argv: i.Argv})
}

// jobMeaning is exitMeaning for a job that has failed by itself.
func jobMeaning(i job.Info) string {
	if i.State != job.Failed || i.Signal != "" || i.ExitCode == nil {
		return ""
	}
	decider := i.Argv
	if text := commandIn(i.Argv); text != "" {
		decider = shellparse.Decider(text)
	}
	return exitMeaning(decider, *i.ExitCode)
}

// A jobOutput is how a job stands and where its output was read.
type jobOutput struct {
	commandState
	Offset     int64  `json:"offset" doc:"of the first byte that was looked at"`
	NextOffset int64  `json:"next_offset" doc:"where to read on"`
	TotalBytes int64  `json:"total_bytes" doc:"that it has printed"`
	Lost       int64  `json:"lost_bytes,omitempty" doc:"from offset on that are no longer kept"`
	More       bool   `json:"more" doc:"there is more after next_offset"`
	Truncated  bool   `json:"truncated" doc:"the output leaves something out"`
	SpillPath  string `json:"spill_path,omitempty" doc:"the file that holds all that this call looked at"`
	Incomplete string `json:"incomplete,omitempty" doc:"why the output may lack something"`
	Command    string `json:"command" doc:"as it was given"`
	Meaning    string `json:"exit_meaning,omitempty" doc:"what the status means for this program"`
	confine.Meta

	Screen *screenMeta `json:"screen,omitempty" doc:"where the output is what the terminal shows: the cursor and the size"`
}

// lastLook is how long a caller that is interrupted still looks at its job.
const lastLook = time.Second

// outlast returns a context for what is shown even to who is interrupted: it ends a
// moment after ctx.
func outlast(ctx context.Context) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		time.AfterFunc(lastLook, func() { cancel(context.Cause(ctx)) })
	})
	return longer, func() { stop(); cancel(nil) }
}

// A jobView says what of a job is shown: its screen, or a part of its output.
type jobView struct {
	job.Query
	screen bool
	silent *job.Info // what is known of a job whose supervisor was just found not to answer; else nil
}

// all reports whether v is whatever there is to see now.
func (v jobView) all() bool { return v.SinceLast && v.Grep == nil && v.Lines == 0 }

// standing is how the job stands. One whose supervisor does not answer is not asked
// a second time.
func (v jobView) standing(ctx context.Context, j *job.Job) (job.Info, error) {
	if v.silent != nil {
		return *v.silent, nil
	}
	return j.Live(ctx)
}

// readJob is how a job stands and what it has printed.
func readJob(ctx context.Context, env *tool.Env, j *job.Job, q jobView) (*tool.Result, error) {
	ctx, cancel := outlast(ctx)
	defer cancel()
	info, err := q.standing(ctx, j)
	if err != nil {
		return nil, jobError(err)
	}
	meta := &jobOutput{Command: commandOf(info)}
	paged := !q.screen && !q.SinceLast && q.Grep == nil && q.Lines == 0
	opts := truncate.Options{Limits: env.Limits, Shape: truncate.Tail, Clean: true}
	if q.Max = max(env.Limits.Bytes, 4096); !paged {
		q.Max, opts.Spill, opts.ReadOn = 1<<20, env.Spill, env.ReadOn
	}
	w := truncate.New(opts)
	shown := &zeroCounter{to: w}
	if q.screen || q.all() && onlyScreen(j, info) {
		var text string
		if text, meta.Screen, err = drawn(ctx, j, info); err == nil {
			meta.Offset, meta.NextOffset, meta.TotalBytes = meta.Screen.Skipped, meta.Screen.total, meta.Screen.total
			_, err = io.WriteString(shown, text)
		}
	} else {
		info, err = meta.take(ctx, j, q.Query, info, paged, shown, env.Limits.Lines)
	}
	if err != nil {
		return nil, err
	}
	cut := w.Close()
	meta.commandState, meta.Meta = jobState(info, nil), confine.OfJob(info).Or(env.Policy)
	meta.LookForCopies(env.Workspace.Root())
	meta.Job = j.ID()
	meta.Truncated, meta.SpillPath, meta.Incomplete = cut.Truncated, cut.SpillPath, cut.Incomplete
	switch {
	case info.Incomplete != "":
		meta.Incomplete = info.Incomplete
	case info.Held:
		meta.Incomplete = heldOutput
	case meta.Incomplete == "" && meta.Lost > 0:
		meta.Incomplete = tool.Count(meta.Lost, "byte") + " of the output are no longer kept"
	}
	meta.Meaning, meta.zeroBytes = jobMeaning(info), shown.n
	notes := meta.notes(paged)
	say := func(first ...tool.Note) { notes = slices.Insert(notes, 0, first...) }
	if meta.Screen != nil {
		say(meta.Screen.notes...)
	}
	switch {
	case cut.Text != "" || meta.Screen != nil || shown.n > 0:
	case q.Grep != nil && q.SinceLast && meta.Offset > 0:
		say(tool.Notef("no new line matches; with {.since_last} false all that it has printed is searched"))
	case q.Grep != nil:
		say(state("no line matches"))
	case q.SinceLast:
		say(state("nothing new"))
	case q.Offset > 0 && q.Offset >= meta.TotalBytes:
		say(state("nothing from there on: it has printed %s", tool.Count(meta.TotalBytes, "byte")))
	}
	return &tool.Result{
		Title: meta.Command + ": " + meta.Status, Output: cut.Text, Notes: orNothing(cut.Text, notes), Metadata: meta, Trimmed: true, Passes: true,
	}, nil
}

// take reads what q is about into shown, and returns how the job stood by then.
func (m *jobOutput) take(ctx context.Context, j *job.Job, q job.Query, info job.Info, paged bool, shown io.Writer, lines int) (job.Info, error) {
	for first := true; ; first = false {
		c, err := j.Read(ctx, q)
		if err != nil {
			return info, jobError(err)
		}
		if paged {
			c = wholeLines(c, lines)
		}
		if first {
			m.Offset = c.Offset
		}
		m.NextOffset, m.TotalBytes, m.More = c.Next, c.Total, c.More
		m.Lost += c.Lost
		if _, err := shown.Write(c.Data); err != nil {
			return info, err
		}
		if q.SinceLast && c.More && c.Next < info.Total {
			continue
		}
		// It has ended only for those who have seen all that it printed.
		now, err := j.Info()
		switch {
		case err != nil || now.Alive() || info.State == now.State && info.Kept == now.Kept:
			return info, nil
		case c.Total >= now.Total:
			return now, nil
		case !q.SinceLast:
			return info, nil
		}
		info = now
	}
}

// notes say in words what the output does not show.
func (m *jobOutput) notes(paged bool) []tool.Note {
	notes := append(m.commandState.notes(m.Meaning), m.Meta.Notes()...)
	switch {
	case m.Status == string(job.TimedOut):
		notes = append(notes, state("ended by its time limit"))
	case m.Status == string(job.Aborted):
		notes = append(notes, state("ended by {kill}"))
	case m.Status == string(job.Completed) && len(notes) == 0:
		notes = append(notes, state("ended with exit status 0"))
	}
	if paged && m.More {
		notes = slices.Insert(notes, 0, tool.Notef("%s more: read on with {output.offset} %d", tool.Count(m.TotalBytes-m.NextOffset, "byte"), m.NextOffset))
	}
	if m.Lost > 0 {
		notes = append(notes, tool.Notef("%s in between are no longer kept", tool.Count(m.Lost, "byte")))
	}
	return notes
}

// wholeLines ends a page between two lines, where it has one.
func wholeLines(c job.Chunk, lines int) job.Chunk {
	size := len(c.Data)
	if lines > 0 {
		for n, at := 0, 0; ; n++ {
			i := bytes.IndexByte(c.Data[at:], '\n')
			if i < 0 {
				break
			}
			if at += i + 1; n+1 == lines && at < len(c.Data) {
				c.Data = c.Data[:at]
				break
			}
		}
	}
	if c.More && len(c.Data) == size {
		if i := bytes.LastIndexByte(c.Data, '\n'); i >= 0 {
			c.Data = c.Data[:i+1]
		}
	}
	c.Next -= int64(size - len(c.Data))
	c.More = c.Next < c.Total
	return c
}

// askedAtOnce is how many supervisors are asked side by side at most.
const askedAtOnce = 32

// jobID declares the parameter that names a job.
func jobID(p *param.Set, id *string) *param.Param {
	return p.String(id, "id", "the job").Required().Arg().Alias("job", "job_id", "shell_id", "bash_id", "session_id", "task_id")
}

// jobIDs are the jobs of the session.
func jobIDs(_ context.Context, env *tool.Env) (list []string) {
	jobs, _ := registry(env).List()
	for _, i := range jobs {
		list = append(list, i.ID+"\t"+commandOf(i))
	}
	return list
}

// openJob finds a job of the session by its id, or a beginning of it that no other
// has; the error for one that is not there
// names those that are.
func openJob(env *tool.Env, id string) (*job.Job, error) {
	reg := registry(env)
	j, err := reg.Open(id)
	if err == nil {
		return j, nil
	}
	if !errors.Is(err, job.ErrNotFound) {
		return nil, jobError(err)
	}
	e := tool.Errorf(tool.NotFound, "there is no job %q in this session", id).WithHint("this session has no jobs; start one with {bash} and {bash.background}")
	list, err := reg.List()
	if err == nil && len(list) > 0 {
		var ids []string
		for _, i := range list {
			ids = append(ids, i.ID)
		}
		switch begun := idsWith(ids, id); len(begun) {
		case 0:
		case 1:
			return openJob(env, begun[0])
		default:
			return nil, tool.Errorf(tool.Ambiguous, "%d jobs have ids that begin with %q", len(begun), id).WithHint("give more of it").Suggest(begun...)
		}
		_ = e.WithHint("see {jobs}")
		if near := nearest.Words(id, ids, 3); len(near) > 0 {
			_ = e.Suggest(near...)
		} else {
			_ = e.Suggest(ids[max(0, len(ids)-3):]...)
		}
	}
	return nil, e
}

// idsWith are the ids that begin as a shortened one does, such as j7k2 or j7k2….
func idsWith(ids []string, short string) []string {
	short = strings.TrimRight(short, "….")
	if len(short) < 2 {
		return nil
	}
	var list []string
	for _, id := range ids {
		if strings.HasPrefix(id, short) {
			list = append(list, id)
		}
	}
	return list
}
