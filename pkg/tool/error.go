package tool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"syscall"

	"github.com/agentkit-go/agentkit/pkg/param"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/session"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

// A Code names a kind of failure. Callers branch on it, so a code never
// changes its meaning.
type Code string

// The codes.
const (
	BadInput         Code = "bad_input"         // the parameters, a flag or a configuration file are wrong
	NotFound         Code = "not_found"         // nothing is there
	Conflict         Code = "conflict"          // the file is not as the caller thinks
	Ambiguous        Code = "ambiguous"         // several places fit
	NoMatch          Code = "no_match"          // the text to change is not there
	AlreadyApplied   Code = "already_applied"   // the change is in the file already
	Binary           Code = "binary"            // the file is not text
	Denied           Code = "denied"            // the policy or the person said no
	ApprovalRequired Code = "approval_required" // someone has to say yes, and nobody was there
	Timeout          Code = "timeout"           // the time limit ran out
	Interrupted      Code = "interrupted"       // a signal ended the call
	TooLarge         Code = "too_large"         // beyond a limit
	Network          Code = "network"           // a host could not be reached
	IO               Code = "io"                // the machine refused: permission, disk full
	Unsupported      Code = "unsupported"       // this build or machine cannot
	Internal         Code = "internal"          // a bug
)

// Codes lists every code, in the order of the manual.
func Codes() []Code {
	return []Code{
		BadInput, NotFound, Conflict, Ambiguous, NoMatch, AlreadyApplied, Binary, Denied,
		ApprovalRequired, Timeout, Interrupted, TooLarge, Network, IO, Unsupported, Internal,
	}
}

// Exit statuses, beside 128+n for signal n.
const (
	ExitDone     = 0   // done
	ExitNo       = 1   // done, and the answer is no: no match, nothing found
	ExitError    = 2   // an error; its code says which
	ExitTimeout  = 124 // timed out
	ExitAgentkit = 125 // where a command's own status is passed through: agentkit itself failed
	ExitDenied   = 126 // denied, or approval is required
	ExitSignal   = 128 // plus the signal's number
)

// Exit is the status of a process whose call failed with code c.
func (c Code) Exit() int {
	switch c {
	case Timeout:
		return ExitTimeout
	case Denied, ApprovalRequired:
		return ExitDenied
	case Interrupted:
		return ExitSignal + int(syscall.SIGINT)
	}
	return ExitError
}

// An Error is a failure that a caller can act on.
type Error struct {
	Code        Code     `json:"code" doc:"what a program branches on"`
	Message     string   `json:"message" doc:"what is wrong"`
	Hint        string   `json:"hint,omitempty" doc:"the next step"`
	Retryable   bool     `json:"retryable,omitempty" doc:"the very same call may succeed later"`
	Suggestions []string `json:"suggestions,omitempty" doc:"near names, candidate lines, a ready rule"`
	Details     Details  `json:"details,omitempty" doc:"an object whose shape belongs to the code: agentkit schema results has its schema under details"`

	show string // see Show
	said string // its words, where another process has made them
	hint Advice // what Hint was made of
	err  error
}

// Details are what an error holds besides, for programs: a struct that marshals to an
// object. Tools list their own in Tool.Details, so that the contract declares them.
type Details interface {
	Codes() []Code // the codes of the errors that hold them
}

// A VersionDetails is of a file that is not as the caller thinks.
type VersionDetails struct {
	Version  string  `json:"version" doc:"what the file is now; empty where it is gone"`
	Expected string  `json:"expected" doc:"what the caller took it for"`
	Content  *string `json:"content,omitempty" doc:"the beginning of what it holds now"`
}

// Codes implements Details.
func (VersionDetails) Codes() []Code { return []Code{Conflict} }

// Errorf returns an Error; it wraps as fmt.Errorf does.
func Errorf(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: err.Error(), err: errors.Unwrap(err)}
}

// WithHint sets the next step, which is Advice: tools and parameters stand in braces.
func (e *Error) WithHint(format string, args ...any) *Error {
	return e.advise(Advise(format, args...))
}

// Next is WithHint for advice that stands elsewhere.
func (e *Error) Next(advice string) *Error { return e.advise(Advice{format: advice}) }

func (e *Error) advise(a Advice) *Error {
	e.hint, e.Hint = a, a.String()
	return e
}

// In is e as a model reads it that has other names for tools and parameters.
func (e *Error) In(names Names) *Error {
	c := *e
	if e.hint.format != "" && e.hint.String() == e.Hint {
		c.Hint = e.hint.In(names)
	}
	return &c
}

// Suggest adds suggestions.
func (e *Error) Suggest(words ...string) *Error {
	e.Suggestions = append(e.Suggestions, words...)
	return e
}

// With sets the details, which may also say whether another try may succeed.
func (e *Error) With(details Details) *Error {
	e.Details = details
	if d, ok := details.(interface{ MayRetry() bool }); ok {
		e.Retryable = d.MayRetry()
	}
	return e
}

// Show sets what of the details a model should see, such as the nearest places.
func (e *Error) Show(text string) *Error { e.show = text; return e }

// maxShown bounds what Shown gives, in bytes.
const maxShown = 8 << 10

// Shown is what Show has set, here or at the far end, or its beginning, without an end of line; "" where there is nothing.
func (e *Error) Shown() string {
	text := e.show
	if e.said != "" {
		plain := &Error{Message: e.Message, Hint: e.Hint}
		if rest, ok := strings.CutPrefix(e.said, plain.Words()); ok && !strings.HasPrefix(rest, "suggestions: ") {
			text = rest
		}
	}
	if len(text) > maxShown {
		text = strings.ToValidUTF8(text[:maxShown], "") + " …"
	}
	return strings.TrimRight(text, "\n")
}

// Words says in words what is wrong and what to do: the output of a failed call,
// which callers hand on to the model.
func (e *Error) Words() string {
	if e.said != "" {
		return e.said
	}
	var b strings.Builder
	line := func(label, text string) {
		if text = strings.TrimSpace(text); text != "" {
			b.WriteString(label + strings.ReplaceAll(text, "\n", "\n  ") + "\n")
		}
	}
	line("error: ", e.Message)
	line("hint: ", e.Hint)
	if text := e.Shown(); text != "" {
		b.WriteString(text + "\n")
	} else if len(e.Suggestions) > 0 {
		line("suggestions: ", strings.Join(e.Suggestions, "\n"))
	}
	return b.String()
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.err }

// A Signal is the cause of a context that a signal cancelled.
type Signal struct {
	Number syscall.Signal
	Again  <-chan struct{} // closed when another one comes; nil where nobody sees it
}

// Hurry returns the channel that is closed when the caller does not want to wait
// any longer.
func (s *Signal) Hurry() <-chan struct{} { return s.Again }

// Error implements error.
func (s *Signal) Error() string {
	switch s.Number {
	case syscall.SIGINT:
		return "interrupted by SIGINT"
	case syscall.SIGTERM:
		return "interrupted by SIGTERM"
	case syscall.SIGHUP:
		return "interrupted by SIGHUP"
	}
	return "interrupted by signal " + strconv.Itoa(int(s.Number))
}

// AsError turns any error into one that a caller can act on. It knows the
// errors of the file system and of package context; what it does not know is
// a bug, and so Internal.
func AsError(err error) *Error {
	e, known := errors.AsType[*Error](err)
	// Waiting for a lock, a file or an answer, what was interrupted has words of
	// its own for its failure, but what ended it is the signal.
	if _, ok := errors.AsType[*Signal](err); ok && (!known || e.Code != Interrupted) {
		return Errorf(Interrupted, "%w", err).WithHint("call again to start over")
	}
	for inner, ok := e, known; ok; inner, ok = errors.AsType[*Error](inner.Unwrap()) {
		if inner.Code == Interrupted { // by a caller at another place
			return inner
		}
	}
	if known {
		return e
	}
	if e, ok := errors.AsType[*param.Error](err); ok {
		return Errorf(BadInput, "%w", err).WithHint("%s", e.Hint()).Suggest(e.Near...)
	}
	if c, ok := errors.AsType[*workspace.ConflictError](err); ok {
		return Errorf(Conflict, "%w", err).With(VersionDetails{Version: c.Have, Expected: c.Want}).
			WithHint("the file has changed since it was read: read it again and decide anew")
	}
	for _, k := range knownErrors() {
		if errors.Is(err, k.is) {
			return Errorf(k.code, "%s", clean(err)).Next(k.hint)
		}
	}
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return Errorf(IO, "%s", clean(err)).WithHint("check the path and its file system")
	}
	if _, ok := errors.AsType[syscall.Errno](err); ok {
		return Errorf(IO, "%s", clean(err)).WithHint("check the machine: disk, memory, limits")
	}
	return Errorf(Internal, "%w", err).WithHint("this is a bug in agentkit; please report it with the command that led here")
}

type knownError struct {
	is   error
	code Code
	hint string
}

// knownErrors is a function and not a variable because the values of package
// syscall would have to be copied into it at every start.
func knownErrors() []knownError {
	return []knownError{
		{workspace.ErrName, BadInput, "give a plain path, relative to the root or absolute"},
		{workspace.ErrLoop, BadInput, "the path runs in a circle of links; name the file itself"},
		{workspace.ErrNotDir, BadInput, "a part of the path is a file; check the path"},
		{workspace.ErrIsDir, BadInput, "that is a directory; name a file in it"},
		{workspace.ErrNotRegular, Unsupported, "only regular files can be used; for devices and pipes use {bash}"},
		{workspace.ErrReadOnly, IO, "the file is read-only; change its mode first, or leave it"},
		{workspace.ErrTooLarge, TooLarge, "take a part of it, or use {bash}"},
		{workspace.ErrMoved, Conflict, "something in the path was replaced meanwhile; look again and repeat the call"},
		{workspace.ErrRoot, BadInput, "the root itself stays; name something in it"},
		{safefile.ErrUnsafe, IO, "make the state directory yours alone (mode 0700), or choose another --state"},
		{session.ErrID, BadInput, "choose a session id of letters, digits, dot, dash and underscore"},
		{fs.ErrNotExist, NotFound, "check the path; list the directory with {ls}"},
		{fs.ErrExist, Conflict, "something of that name is already there"},
		{fs.ErrPermission, IO, "the operating system refuses; check owner and mode"},
		{syscall.ENOSPC, IO, stateFull},
		{syscall.EROFS, IO, "the file system is read-only; choose another place"},
		{syscall.EISDIR, BadInput, "that is a directory; name a file"},
		{syscall.ENOTDIR, BadInput, "a part of the path is a file; check the path"},
		{syscall.ENAMETOOLONG, BadInput, "the path is too long; choose a shorter one"},
		{syscall.ELOOP, BadInput, "the path runs in a circle of links; name the file itself"},
		{syscall.EMFILE, IO, "too many open files; raise the limit"},
		{context.DeadlineExceeded, Timeout, "give a larger {.timeout_ms}, or narrow the call"},
		{context.Canceled, Interrupted, "call again to start over"},
	}
}

// What to do about a full disk: the state's, and another one.
const (
	stateFull = "the disk is full; agentkit gc --free 1G removes what earlier calls printed; then call again"
	otherFull = "the disk is full, and the state of agentkit lies on another one: remove or move there what is not needed; then call again"
)

// clean is the text of err without the name of the system call in front.
func clean(err error) string {
	text := err.Error()
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		text = strings.Replace(text, p.Op+" "+p.Path+": ", p.Path+": ", 1)
	}
	return text
}
