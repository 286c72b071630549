package job

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/agentkit-go/agentkit/pkg/killtree"
	"github.com/agentkit-go/agentkit/pkg/session"
)

// What a caller can act on.
var (
	ErrNotFound   = errors.New("no such job in this session")
	ErrEnded      = errors.New("the job has ended")
	ErrNoInput    = errors.New("the job's input is closed: it was started without a terminal and without open input, or the end was sent")
	ErrBusy       = errors.New("the job does not read its input")
	ErrNoTerminal = errors.New("the job has no terminal")
	ErrKey        = errors.New("no such key")
	ErrNoSelf     = errors.New("the path of our own program is not known, which a job needs: /proc is missing")
	ErrSilent     = errors.New("the job's supervisor does not answer: it is stopped or stuck")
)

// A LimitError says that a job was not started because of a limit.
type LimitError struct {
	What      string // "running jobs" or "bytes of logs"
	Max, Have int64
}

// Error implements error.
func (e *LimitError) Error() string {
	return fmt.Sprintf("starting a job: the limit is %d %s, and there are %d", e.Max, e.What, e.Have)
}

// Limits bounds a session's jobs. Zero means the default.
type Limits struct {
	Running int   // jobs that run at the same time; default 256
	Disk    int64 // bytes of all logs; default 2 GiB; the oldest ended jobs make room
	Log     int64 // bytes kept of one log, its beginning and its end; default 256 MiB
}

func (l Limits) filled() Limits {
	if l.Running <= 0 {
		l.Running = 256
	}
	if l.Disk <= 0 {
		l.Disk = 2 << 30
	}
	if l.Log <= 0 {
		l.Log = 256 << 20
	}
	return l
}

// A Registry is the jobs of one session. It has no state of its own: all that
// is known of a job is in the session's directory.
type Registry struct {
	Session *session.Session
	Options session.Options // what Session was opened with; the supervisors open it again
	Self    string          // absolute path of the running program, whose main calls [Stage] first
	Env     []string        // environment of the supervisors themselves
	Limits  Limits
	Answer  time.Duration // how long a supervisor may take to answer; 0 for five seconds

	last atomic.Pointer[chan struct{}] // closed when the supervisor that was started last is gone
}

// A Spec is what a job runs.
type Spec struct {
	Command          // the time limit is the supervisor's: it holds when the starter is gone
	Name      string // for people; may be empty
	OpenStdin bool   // without a terminal: the input stays open after Stdin, for Job.Input
	Keep      bool   // what the command leaves running stays, under the supervisor
	// Loose has the time limit end when the caller lets go of the command, or only
	// what it left running is kept. Then Later holds, counted from the start; 0 for none.
	Loose   bool
	Later   time.Duration
	Started func() `json:"-"` // called when the command runs; nil for nothing
	Report  string // file that tells what held the command, for whoever reads Info
	Held    string // file of which the supervisor holds a shared lock until all has ended; "" for none
}

// A State is where a job's command stands.
type State string

// The states.
const (
	Running   State = "running"
	Completed State = "completed" // ended with status 0
	Failed    State = "failed"    // ended with another status, or by a signal
	TimedOut  State = "timed_out" // ended by the time limit
	Aborted   State = "aborted"   // ended by Kill, or because the caller it belonged to was gone
	Lost      State = "lost"      // the supervisor was killed, and the command with it
)

// Info is what is known of a job. The status file holds the same.
type Info struct {
	ID      string    `json:"id"`
	Name    string    `json:"name,omitempty"`
	Argv    []string  `json:"argv"`
	Dir     string    `json:"dir"`
	State   State     `json:"status"`
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended,omitzero"`

	ExitCode *int          `json:"exit_code"` // nil while it runs and when it is lost; 128+n by signal n
	Signal   string        `json:"signal,omitempty"`
	Wall     time.Duration `json:"wall_ns"`
	User     time.Duration `json:"user_ns"`
	System   time.Duration `json:"system_ns"`
	MaxRSS   int64         `json:"max_rss"`

	Leftovers bool `json:"leftovers,omitempty"` // it left something running, which was ended
	Overtime  bool `json:"overtime,omitempty"`  // what it left running was kept, and ended by the time limit
	Killed    bool `json:"killed,omitempty"`    // a signal of Signal ended it, or Kill ended what it had left running
	Kept      bool `json:"kept,omitempty"`      // it left something running, which still runs
	Crowded   bool `json:"crowded,omitempty"`   // see Status.Crowded
	Exhausted bool `json:"exhausted,omitempty"` // see Status.Exhausted
	Held      bool `json:"held,omitempty"`      // see Status.Held

	Report     string `json:"report,omitempty"` // as in Spec
	TTY        bool   `json:"tty,omitempty"`
	Sizes      []Size `json:"sizes,omitempty"`      // of the terminal, in the order in which it had them; at most mostSizes
	OpenStdin  bool   `json:"open_stdin,omitempty"` // the input may still be written to
	Method     string `json:"method"`               // see killtree
	Total      int64  `json:"total_bytes"`
	LostFrom   int64  `json:"lost_from,omitempty"` // the log lacks the bytes from here
	LostTo     int64  `json:"lost_to,omitempty"`   // to here
	Incomplete string `json:"incomplete,omitempty"`

	Supervisor killtree.Process `json:"supervisor"`
	Head       killtree.Process `json:"head"` // the process that all of the job descend from

	Waiting *Waiting `json:"waiting,omitempty"` // only while it runs
	Readers []Reader `json:"readers,omitempty"` // who may read what is typed; only of Live, and on Linux
	Lines   bool     `json:"lines,omitempty"`   // its terminal hands over whole lines; likewise
	Typed   []byte   `json:"typed,omitempty"`   // the end of what was typed; only of Live
	Stopped bool     `json:"stopped,omitempty"` // a signal such as SIGSTOP holds it, and SIGCONT would let it go on
	Silent  bool     `json:"silent,omitempty"`  // its supervisor does not answer; the rest is what the status file says
	Reads   bool     `json:"reads,omitempty"`   // it would take input, but does not wait for it; known only while somebody waits
	Found   *string  `json:"-"`                 // the line that a wait until one matches has found; nil for none
	Quiet   bool     `json:"quiet,omitempty"`   // for a moment it has printed nothing and worked on nothing; known only while somebody waits
}

// A Size is the size of a terminal from a place in the output on.
type Size struct {
	From int64  `json:"from"`
	Rows uint16 `json:"rows"`
	Cols uint16 `json:"cols"`
}

// mostSizes bounds the status of a terminal that is resized all the time.
const mostSizes = 64

// Waiting says that a process waits for input.
type Waiting struct {
	Pid      int      `json:"pid"`
	Program  string   `json:"program"`
	Argv     []string `json:"argv,omitempty" doc:"as the process shows it, at most 4 KiB"`
	LastLine string   `json:"last_line" doc:"what the output ends with, without control sequences"`
	Secret   bool     `json:"secret,omitzero" doc:"the terminal does not show what is typed, as for a password"`
}

// Alive reports whether anything of the job runs.
func (i Info) Alive() bool { return i.State == Running || i.Kept }

// A Job is one that was started, now or earlier, by whomever.
type Job struct {
	reg *Registry
	id  string
}

// ID names the job within its session; nobody can guess it.
func (j *Job) ID() string { return j.id }

const (
	statusFile = "status.json"
	logFile    = "log"
	indexFile  = "index"
	cursorFile = "cursor"
	socketFile = "sock"
)

func (j *Job) file(name string) string { return "jobs/" + j.id + "/" + name }

// Open finds a job of the session.
func (r *Registry) Open(id string) (*Job, error) {
	j := &Job{reg: r, id: id}
	if _, err := j.stored(); err != nil {
		return nil, err
	}
	return j, nil
}

// stored reads the status file.
func (j *Job) stored() (Info, error) {
	var i Info
	raw, err := j.reg.Session.ReadFile(j.file(statusFile))
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, session.ErrName):
		return i, fmt.Errorf("%w: %q", ErrNotFound, j.id)
	case err != nil:
		return i, fmt.Errorf("reading the status of job %s: %w", j.id, err)
	}
	if err := json.Unmarshal(raw, &i); err != nil {
		return i, fmt.Errorf("the status of job %s is damaged: %w", j.id, err)
	}
	return i, nil
}

// Info returns what is known now. A job whose supervisor is gone without a
// word is Lost: its lock is free, or its PID is another process by now.
func (j *Job) Info() (Info, error) {
	i, err := j.stored()
	if err != nil || !i.Alive() {
		return i, err
	}
	alive, err := j.reg.Session.JobAlive(j.id)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return i, err
	}
	if alive && (i.Supervisor.Start == 0 || i.Supervisor.Alive()) {
		i.Total = max(i.Total, j.size())
		return i, nil
	}
	// It may have ended between the two looks.
	if i, err = j.stored(); err != nil || !i.Alive() {
		return i, err
	}
	i.Total = max(i.Total, j.size())
	i.Kept = false
	if i.State == Running {
		i.State = Lost
		i.Incomplete = "the job's supervisor was killed"
	}
	return i, nil
}

func (j *Job) size() int64 {
	f, err := j.reg.Session.OpenFile(j.file(logFile), os.O_RDONLY)
	if err != nil {
		return 0
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return 0
	}
	return st.Size()
}

// List returns the session's jobs, the oldest first. A status file that
// cannot be read does not hide the other jobs.
func (r *Registry) List() ([]Info, error) {
	names, err := os.ReadDir(r.Session.Path("jobs"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var list []Info
	for _, e := range names {
		if !e.IsDir() {
			continue
		}
		i, failed := (&Job{reg: r, id: e.Name()}).Info()
		switch {
		case errors.Is(failed, ErrNotFound): // being started, or being removed
		case failed != nil:
			err = errors.Join(err, failed)
		default:
			list = append(list, i)
		}
	}
	slices.SortFunc(list, func(a, b Info) int { return a.Started.Compare(b.Started) })
	return list, err
}

// Remove removes an ended job with its log. A live one is an error.
func (r *Registry) Remove(id string) error {
	j, err := r.Open(id)
	if err != nil {
		return err
	}
	i, err := j.Info()
	if err != nil {
		return err
	}
	if i.Alive() {
		return fmt.Errorf("removing job %s: it is running", id)
	}
	return r.Session.RemoveAll("jobs/" + id)
}

// room makes sure that one more job may start. Of the ended jobs the oldest go
// to make room for its log; what runs is never touched.
func (r *Registry) room() error {
	if r.hasRoom() {
		return nil
	}
	list, err := r.List()
	if err != nil && len(list) == 0 {
		return err
	}
	limits := r.Limits.filled()
	var alive, bytes int64
	for _, i := range list {
		bytes += stays(i)
		if i.Alive() {
			alive++
		}
	}
	if alive >= int64(limits.Running) {
		return &LimitError{What: "running jobs", Max: int64(limits.Running), Have: alive}
	}
	for _, i := range list {
		if bytes < limits.Disk {
			return nil
		}
		if !i.Alive() && r.Session.RemoveAll("jobs/"+i.ID) == nil {
			bytes -= stays(i)
		}
	}
	if bytes >= limits.Disk {
		return &LimitError{What: "bytes of logs", Max: limits.Disk, Have: bytes}
	}
	return nil
}

// hasRoom answers for most cases without reading the status of every job.
func (r *Registry) hasRoom() bool {
	limits := r.Limits.filled()
	dir := r.Session.Path("jobs")
	names, err := os.ReadDir(dir)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	var bytes int64
	alive := 0
	for _, e := range names {
		path := filepath.Join(dir, e.Name())
		// A log with a hole counts for more than it takes: that errs towards
		// the careful look.
		if st, err := os.Lstat(filepath.Join(path, logFile)); err == nil {
			bytes += st.Size()
		}
		if len(names) < limits.Running {
			continue
		}
		// A supervisor that was killed leaves its socket: that errs the same way.
		if _, err := os.Lstat(filepath.Join(path, socketFile)); err == nil {
			alive++
		}
	}
	return alive < limits.Running && bytes < limits.Disk
}

func stays(i Info) int64 { return i.Total - (i.LostTo - i.LostFrom) }
