package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/agentkit-go/agentkit/pkg/change"
	"github.com/agentkit-go/agentkit/pkg/confine"
	"github.com/agentkit-go/agentkit/pkg/job"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/sandbox"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

func noDirectory(dir workspace.Path) error {
	if dir.Type == policy.Missing {
		return tool.Errorf(tool.NotFound, "workdir: %s does not exist", tool.Shown(dir)).WithHint("name a directory that exists, or leave {.workdir} out for the root")
	}
	return tool.Errorf(tool.NotFound, "workdir: %s is not a directory", tool.Shown(dir)).WithHint("name a directory, or leave {.workdir} out for the root")
}

// track puts what the command changed into the metadata, but for names that are kept otherwise.
func (m *bashMeta) track(ctx context.Context, root string, t *change.Tracking, kept func(path string) bool) {
	rec, err := t.Finish(context.WithoutCancel(ctx), kept)
	if err != nil {
		m.Untracked = []change.Gap{{Why: err.Error()}}
		return
	}
	m.changedIn(root, rec, func(i int) (int, int64) {
		f := &rec.Files[i]
		return 1, cmp.Or(f.After.Size, f.Before.Size)
	})
	if m.Untracked = append(m.Untracked, rec.Gaps...); m.kept != nil && rec.ID != "" {
		m.walked = new(tool.Notef("what else it changed, {undo} %s takes back", rec.ID))
	}
}

// changedIn tells the first names of a change, and how many there are; size gives how many
// names a name stands for, and their bytes.
func (m *bashMeta) changedIn(root string, rec change.Record, size func(i int) (names int, bytes int64)) {
	changed := []changedFile{}
	if m.Changed != nil {
		changed = *m.Changed
	}
	for i := range rec.Files {
		f := &rec.Files[i]
		names, bytes := size(i)
		m.Total += names
		if len(changed) < maxWould {
			changed = append(changed, changedFile{strings.TrimPrefix(f.Path, root+string(filepath.Separator)), f.Action(), bytes})
		}
	}
	m.Changed, m.Change = &changed, cmp.Or(rec.ID, m.Change)
}

type bashMeta struct {
	commandState
	Command     string `json:"command" doc:"as it was given"`
	Description string `json:"description,omitempty" doc:"as it was given"`
	Cwd         string `json:"cwd" doc:"where it ran"`
	Shell       string `json:"shell,omitempty" doc:"the shell that ran it; absent for argv"`
	Meaning     string `json:"exit_meaning,omitempty" doc:"what the status means for this program"`
	*streamTexts
	Truncated  bool   `json:"truncated" doc:"the output leaves something out"`
	TotalLines int64  `json:"total_lines" doc:"lines that it printed"`
	TotalBytes int64  `json:"total_bytes" doc:"bytes that it printed"`
	SpillPath  string `json:"spill_path,omitempty" doc:"the file that holds all it printed"`
	Incomplete string `json:"incomplete,omitempty" doc:"why the output may lack something"`
	confine.Meta
	Withheld  []string               `json:"withheld,omitempty" doc:"variables that were not handed down"`
	Asked     []confine.AskedProgram `json:"asked,omitempty" doc:"programs that somebody was asked about while it ran"`
	Published []int                  `json:"published,omitempty" doc:"ports of its loopback that this machine's own answers at"`
	Changed   *[]changedFile         `json:"changed,omitempty" doc:"with track, the files that it changed; with try, what it would change; without, the names that it took away, replaced or overwrote; 200 at most"`
	Change    string                 `json:"change,omitempty" doc:"what undo calls that; with try, what apply and discard call it"`
	tryMeta
	Untracked []change.Gap `json:"untracked,omitempty" doc:"what of that undo cannot take back"`
	keepMeta
	kept     *tool.Note        // what undo can bring back
	walked   *tool.Note        // what it takes back beside that
	aside    *tool.Note        // what was copied before
	moves    *tool.Note        // renames that could not be made
	withheld []sandbox.Restore // what the policy lets no command make
	Screen   *screenMeta       `json:"screen,omitempty" doc:"where the output is what the terminal shows: the cursor and the size"`
}

// Traces implements tool.Tracer.
func (m *bashMeta) Traces() tool.Traces {
	if m.tried != nil { // what it names has not happened
		return tool.Traces{Job: m.Job}
	}
	return tool.Traces{Change: m.Change, Job: m.Job}
}

// startError says why a command could not be started.
func startError(argv []string, err error) error {
	if limit, ok := errors.AsType[*job.LimitError](err); ok {
		return tool.Errorf(tool.TooLarge, "%w", limit).WithHint("look at them with {jobs}, and end what is not needed with {kill}")
	}
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		hint := "check its name, or give its path"
		if len(argv) == 1 && strings.ContainsAny(argv[0], " \t") {
			hint = "{.argv} has one item for each word; a whole command line belongs in {.command}"
		}
		return tool.Errorf(tool.NotFound, "%s cannot be found", argv[0]).Next(hint)
	case errors.Is(err, exec.ErrDot):
		return tool.Errorf(tool.NotFound, "%s lies in the current directory, where programs are not looked for", argv[0]).WithHint("give its path: %s", "."+string(filepath.Separator)+argv[0])
	case errors.Is(err, fs.ErrPermission):
		return tool.Errorf(tool.IO, "%s cannot be run: %w", argv[0], err).WithHint("check that it is executable")
	case errors.Is(err, syscall.E2BIG):
		return tool.Errorf(tool.TooLarge, "the command or the variables are longer than the system hands to a program").
			WithHint("hand large text over in {.stdin}, or in a file that the command reads")
	case errors.Is(err, syscall.ENOEXEC):
		return tool.Errorf(tool.Unsupported, "%s is no program that this system can start", argv[0]).WithHint("if it is a script, name its interpreter first")
	case errors.Is(err, job.ErrNoSelf):
		return tool.Errorf(tool.Unsupported, "running the command: %w", err).WithHint("leave out {.background}, {.yield_ms}, {.until}, {.keep} and {.tty}: what the call waits for runs all the same")
	case safefile.DiskFull(err):
		return tool.AsError(fmt.Errorf("running the command: %w", err))
	case errors.Is(err, errors.ErrUnsupported):
		return tool.Errorf(tool.Unsupported, "running the command: %w", err).WithHint("leave {.tty} out: this system has none")
	}
	return tool.Errorf(tool.IO, "running the command: %w", err).WithHint("check the machine: memory, limits on processes")
}

// conclude says in the output what the model could not see otherwise; its
// error is a time limit or an interruption. Waited is set where the call waited for
// a line.
func (m *bashMeta) conclude(ctx context.Context, limit time.Duration, waited bool, r *tool.Result) error {
	var notes []tool.Note
	if m.Screen != nil {
		notes = m.Screen.notes
	}
	notes = append(append(notes, m.commandState.notes(m.Meaning)...), m.Meta.Notes()...)
	for _, n := range []*tool.Note{m.moves, m.kept, m.walked, m.aside} {
		if n != nil {
			notes = append(notes, *n)
		}
	}
	if m.tried != nil {
		notes = append(notes, *m.tried)
	}
	var err error
	switch m.Status {
	case string(job.TimedOut):
		notes = append(notes, state("timed out after %d ms; the command and what it started were ended", limit.Milliseconds()))
		err = tool.Errorf(tool.Timeout, "the command took longer than %d ms and was ended", limit.Milliseconds()).
			WithHint("give a larger {.timeout_ms} (at most 600000), or {.background} to let it run on as a job")
	case string(job.Aborted):
		notes = append(notes, state("aborted; the command and what it started were ended"))
		if err = context.Cause(ctx); err == nil {
			err = tool.Errorf(tool.Interrupted, "the command was ended from elsewhere").WithHint("see {jobs}")
		}
	}
	if m.Incomplete != "" {
		notes = append(notes, tool.Notef("%s", m.Incomplete))
	}
	if waited && m.Until == nil {
		notes = append(notes, noLine())
	}
	if r.Output == "" && m.TotalBytes > 0 && m.zeroBytes == 0 {
		notes = append(notes, tool.Notef("what it printed, %s, shows nothing", tool.Count(m.TotalBytes, "byte")))
	}
	r.Notes = orNothing(r.Output, notes)
	return err
}

// screenInstead is the screen of a job, where a program has taken all of it, and
// otherwise its output.
func screenInstead(ctx context.Context, env *tool.Env, id, output string) (string, *screenMeta) {
	j, err := registry(env).Open(id)
	if err != nil {
		return output, nil
	}
	info, err := j.Info()
	if err != nil || !onlyScreen(j, info) {
		return output, nil
	}
	text, m, err := drawn(ctx, j, info)
	if err != nil {
		return output, nil
	}
	return text, m
}
