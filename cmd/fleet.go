package cmd

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/agentkit-go/agentkit/pkg/machine"
	"github.com/agentkit-go/agentkit/pkg/remote"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// targets is --on as a flag, which may be repeated.
type targets struct {
	first *string
	more  *[]string
	given bool
}

func (t *targets) String() string {
	if t.first == nil {
		return ""
	}
	return *t.first
}

func (t *targets) Type() string { return "string" }

// Set takes what the flag says in the place of what is set elsewhere.
func (t *targets) Set(text string) error {
	if t.given {
		*t.more = append(*t.more, text)
		return nil
	}
	*t.first, t.given = text, true
	return nil
}

// places are the targets of --on, with those of files.
func (a *app) places() (list []string, err error) {
	for _, one := range append([]string{a.On}, a.more...) {
		name, isFile := strings.CutPrefix(one, "@")
		if !isFile {
			list = append(list, one)
			continue
		}
		text, err := a.targetFile(name)
		if err != nil {
			return nil, tool.Errorf(tool.BadInput, "--on %s: %w", one, err).WithHint("name a file with one target on each line, or @- for standard input")
		}
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
				list = append(list, line)
			}
		}
	}
	seen := map[string]bool{}
	for _, one := range list {
		if _, err := remote.Parse(one); err != nil {
			return nil, err
		}
		if seen[one] {
			return nil, tool.Errorf(tool.BadInput, "the target %s is named twice", one).WithHint("name each target once")
		}
		seen[one] = true
	}
	if len(list) == 0 {
		return nil, tool.Errorf(tool.BadInput, "--on names no target").WithHint("name one, or a file that holds some")
	}
	return list, nil
}

func (a *app) targetFile(name string) ([]byte, error) {
	if name == "-" {
		return a.readStdin()
	}
	return os.ReadFile(name)
}

// An arrival is the result from one of several places, as it is printed.
type arrival struct {
	On     string       `json:"on"`
	Exit   int          `json:"exit"`
	Result *tool.Result `json:"result"`
}

// A fleetSummary is the last line of a call at several places.
type fleetSummary struct {
	Targets  int      `json:"targets"`
	OK       int      `json:"ok"`
	Failed   int      `json:"failed"`
	Skipped  int      `json:"skipped"`  // nothing was begun there
	Failures []string `json:"failures"` // the first of those that failed
}

// mostFailures bounds how many of them are named.
const mostFailures = 100

// A fleet is one call at several places.
type fleet struct {
	app   *app
	name  string
	args  json.RawMessage
	peer  tool.Peer
	said  fleetSummary
	exits map[int]bool
	out   *bufio.Writer
	shows bool     // how far it is, on a terminal
	tty   *console // where a person is asked
}

// fleet makes a call at every place of --on, some at a time, and prints each result when it comes.
// The status is 0 where all are, the one that all failures have in common, else 1.
func (a *app) fleet(ctx context.Context, in *tool.Invocation) error {
	places, err := a.places()
	if err != nil {
		return err
	}
	args, err := sent(in.Set)
	if err != nil {
		return err
	}
	a.listen()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	f := &fleet{app: a, name: in.Tool.Name, args: args, said: fleetSummary{Targets: len(places), Failures: []string{}}, exits: map[int]bool{}, out: bufio.NewWriter(a.stdout), shows: machine.IsTerminal(a.stderr), tty: newConsole()}
	ask, approver := a.asker(f.tty)
	f.peer.Key, f.peer.Name = a.key, a.named
	f.peer.Origin = a.origin
	if f.peer.Approver = approver; ask != nil {
		turn := make(chan struct{}, 1) // a person is asked about one place at a time
		f.peer.Ask = func(ctx context.Context, r *tool.Request) (tool.Answer, error) {
			select {
			case turn <- struct{}{}:
				defer func() { <-turn }()
				f.clear()
				return ask(ctx, r)
			case <-ctx.Done():
				return tool.Answer{}, context.Cause(ctx)
			}
		}
	}
	arrivals := make(chan arrival)
	go f.begin(ctx, end, places, arrivals)
	for one := range arrivals {
		if err := f.arrived(one); err != nil {
			a.deliver(err)
			end(&tool.Signal{Number: syscall.SIGPIPE}) // nobody reads the rest
		}
	}
	return f.finish()
}

// begin makes the calls until ctx ends, and closes arrivals when all have ended.
func (f *fleet) begin(ctx context.Context, end context.CancelCauseFunc, places []string, arrivals chan<- arrival) {
	defer close(arrivals)
	next := make(chan string)
	go func() {
		defer close(next)
		for _, place := range places {
			select {
			case next <- place:
			case <-ctx.Done():
				return
			}
		}
	}()
	var workers sync.WaitGroup
	for range min(len(places), cmp.Or(f.app.Parallel, usualParallel)) {
		workers.Go(func() {
			for place := range next {
				if ctx.Err() != nil {
					return
				}
				r := f.at(ctx, place)
				if r.Exit() != 0 && f.app.failFast {
					end(tool.Errorf(tool.Interrupted, "a call at another place has failed").WithHint("leave --fail-fast out to have all of them made"))
				}
				arrivals <- arrival{place, r.Exit(), r}
			}
		})
	}
	workers.Wait()
}

// usualParallel is how many places work at a time.
const usualParallel = 8

// at makes the call at one place.
func (f *fleet) at(ctx context.Context, place string) (result *tool.Result) {
	defer caught(f.name, &result)
	own := *f.app
	own.On, own.more, own.Dialect, own.alone = place, nil, "", true
	failed := func(err error) *tool.Result {
		r := tool.Fail(f.name, err)
		r.Place(place)
		return r
	}
	there, err := own.reach(ctx, nil)
	if err != nil {
		return failed(err)
	}
	defer there.Close()
	peer := f.peer
	peer.Consult = own.consultant(f.tty)
	return there.call(ctx, peer, f.name, f.args)
}

// arrived prints a result.
func (f *fleet) arrived(one arrival) error {
	f.exits[one.Exit] = true
	if one.Exit == 0 {
		f.said.OK++
	} else {
		f.said.Failed++
		if len(f.said.Failures) < mostFailures {
			f.said.Failures = append(f.said.Failures, one.On)
		}
	}
	f.tty.turn <- struct{}{} // not while a question of another place stands
	defer func() { <-f.tty.turn }()
	f.clear()
	p := f.app.printer()
	p.stdout = f.out
	var err error
	if p.format == "text" {
		_, _ = fmt.Fprintf(f.out, "== %s (exit status %d)\n", tool.VisibleName(one.On), one.Exit)
		err = errors.Join(f.out.Flush(), p.text(one.Result)) // what it complains of comes below its heading
	} else {
		err = p.line(one)
	}
	err = errors.Join(err, f.out.Flush())
	if f.shows {
		_, _ = fmt.Fprintf(f.app.stderr, "agentkit: %d of %d targets, %d failed", f.said.OK+f.said.Failed, f.said.Targets, f.said.Failed)
	}
	return err
}

// clear takes away the line that says how far it is.
func (f *fleet) clear() {
	if f.shows {
		_, _ = io.WriteString(f.app.stderr, "\r\x1b[K")
	}
}

// finish prints the summary.
func (f *fleet) finish() error {
	f.clear()
	f.said.Skipped = f.said.Targets - f.said.OK - f.said.Failed
	slices.Sort(f.said.Failures)
	a, p := f.app, f.app.printer()
	status := 0
	switch delete(f.exits, 0); len(f.exits) {
	case 0:
	case 1:
		status = slices.Collect(maps.Keys(f.exits))[0]
	default:
		status = tool.ExitNo
	}
	if status == 0 && f.said.Skipped > 0 {
		status = tool.ExitError
	}
	if a.exit != 0 {
		return nil // nobody reads it
	}
	a.exit = status
	if p.format == "text" {
		a.print(fmt.Sprintf("== %d targets: %d ok, %d failed, %d skipped\n", f.said.Targets, f.said.OK, f.said.Failed, f.said.Skipped))
		return nil
	}
	a.deliver(p.line(map[string]any{"summary": f.said}))
	return nil
}
