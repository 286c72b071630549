package remote

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/serve"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// Options says what leads to a far end, and what it is told.
type Options struct {
	Target   *Target
	Self     string        // the running program
	Version  string        // of a release, which an installed agentkit may be, too; else ""
	Programs string        // directory of the release's packages, for far ends of other systems; "" for none
	Welcome  any           // what the far end reads first: how calls are to be made there
	Keep     string        // directory of the sockets of kept connections; "" for none
	Around   []string      // what else may lead elsewhere: calls that differ in it share no kept connection
	Share    string        // directory in which ssh keeps connections for further calls; "" for none
	Brief    bool          // no further call is awaited soon
	Within   time.Duration // how long it may take until the far end is ready; 0 for the usual

	// Find finds a program to be started here; "" where there is none that may be. Path is the
	// PATH that it gets, for what it starts itself. Without Find both are those of this process.
	Find func(name string) string
	Path string
}

// How long it may take to get through, a person's password among it, and from then on for each
// piece of the program that is carried; and all of it together.
const (
	ready    = 3 * time.Minute
	carrying = 30 * time.Minute
)

// Dial opens a connection: it starts the carrier, and agentkit at its far end.
func Dial(ctx context.Context, o Options) (*Conn, error) {
	p, err := own(o.Self, o.Version)
	if err != nil {
		return nil, err
	}
	if o.Within == 0 {
		o.Within = ready
	}
	limit, cancel := context.WithTimeoutCause(ctx, carrying, overdue(&o, carrying))
	defer cancel()
	limit, end := context.WithCancelCause(limit)
	defer end(nil)
	late := time.AfterFunc(o.Within, func() { end(overdue(&o, o.Within)) })
	defer late.Stop()
	carrier, err := start(limit, &o)
	if err != nil {
		return nil, err
	}
	stop := carrier.killOn(limit)
	d := &dialog{carrier: carrier, o: &o, program: p, in: bufio.NewReaderSize(carrier, 64<<10), moved: func() { late.Reset(o.Within) }}
	hello, err := d.open()
	if !stop() && err == nil {
		err = context.Cause(limit)
	}
	if err != nil {
		carrier.close(0)
		if cause := context.Cause(limit); cause != nil {
			err = cause
		}
		return nil, d.explain(err)
	}
	return newConn(o.Target, carrier, d.in, hello), nil
}

// overdue is that a far end was not ready in time.
func overdue(o *Options, within time.Duration) error {
	return tool.Errorf(tool.Timeout, "%s was not ready within %s", o.Target, within).WithHint("see whether %s gets through by itself", tool.QuoteWords(o.Target.Argv()))
}

// A dialog is what is said until the far end makes calls.
type dialog struct {
	carrier *carrier
	o       *Options
	program *program
	in      *bufio.Reader
	moved   func() // the program is on its way: it may take longer
}

// errNoise is that the far end says something else than what a shell says that does as it is
// told.
var errNoise = errors.New("what answers is no shell, or none that does as it is told")

// The bounds of what comes before the far end is ready: what start-up files print, and
// agentkit's first line.
const (
	maxNoise = 1 << 20
	maxHello = 1 << 20
)

func (d *dialog) open() (*serve.Hello, error) {
	word := "agentkit-" + rand.Text()
	if _, err := io.WriteString(d.carrier.in, script(word, d.program)); err != nil {
		return nil, err
	}
	for ready := false; !ready; {
		what, about, err := d.next(word)
		if err != nil {
			return nil, err
		}
		switch what {
		case "ready":
			ready = true
		case "needs":
			system, processor, _ := strings.Cut(about, " ")
			p, err := d.program.on(d.o.Target, d.o.Programs, systems(system, processor))
			if err != nil {
				return nil, err
			}
			err = p.carry(d.carrier.in, d.moved)
			if _, here := errors.AsType[*tool.Error](err); here { // else the shell says why it takes no more
				return nil, err
			}
		case "fails":
			return nil, tool.Errorf(tool.Unsupported, "agentkit cannot be started on %s: %s", d.o.Target, tool.VisibleName(about)).
				WithHint("install agentkit there, in a directory of its PATH: the version of this one, built with CGO_ENABLED=0 where the system has another C library; " +
					"where only the home cannot be used, set AGENTKIT_STATE there, as in exec:ssh HOST env AGENTKIT_STATE=DIR sh")
		default:
			return nil, errNoise
		}
	}
	welcome, err := tool.Encode(d.o.Welcome)
	if err == nil {
		_, err = d.carrier.in.Write(append(welcome, '\n'))
	}
	if err != nil {
		return nil, err
	}
	return d.hello()
}

// next is the next line that the script prints for us.
func (d *dialog) next(word string) (what, about string, err error) {
	for read := 0; read < maxNoise; {
		line, err := readLine(d.in, maxNoise)
		if err != nil {
			return "", "", err
		}
		read += len(line) + 1
		if rest, ok := strings.CutPrefix(strings.TrimSuffix(string(line), "\r"), word+" "); ok {
			what, about, _ = strings.Cut(rest, " ")
			return what, about, nil
		}
	}
	return "", "", errNoise
}

// hello reads the first line of agentkit, which says what it is, or the error with which
// it ends.
func (d *dialog) hello() (*serve.Hello, error) {
	line, err := readLine(d.in, maxHello)
	if err != nil {
		return nil, err
	}
	var first struct {
		serve.Hello
		Error *struct {
			Code          tool.Code
			Message, Hint string
		} `json:"error"`
	}
	switch err := json.Unmarshal(line, &first); {
	case err != nil:
		return nil, errNoise
	case first.Error != nil:
		return nil, tool.Errorf(known(first.Error.Code), "%s: %s", d.o.Target, clip(first.Error.Message)).WithHint("%s", clip(first.Error.Hint))
	case first.Protocol != serve.Protocol:
		return nil, tool.Errorf(tool.Unsupported, "%s speaks protocol %d, and this program %d", d.o.Target, first.Protocol, serve.Protocol).
			WithHint("install the same version of agentkit there, or remove the one that is there")
	}
	return &first.Hello, nil
}

// explain adds to an error what the carrier has said.
func (d *dialog) explain(err error) error {
	if e, ok := errors.AsType[*tool.Error](err); ok && e.Code != tool.Timeout {
		return err
	}
	if _, ok := errors.AsType[*tool.Signal](err); ok {
		return err
	}
	code, why := tool.Network, err.Error()
	if e, ok := errors.AsType[*tool.Error](err); ok {
		code = e.Code
	} else if !errors.Is(err, errNoise) && !errors.Is(err, errLong) { // its pipes have ended
		why = "it ended before agentkit was there"
	}
	return d.o.impassable(code, why, d.carrier.said)
}

// impassable is that what leads to the far end does not.
func (o *Options) impassable(code tool.Code, why string, said *lastWords) error {
	if said := said.text(); said != "" {
		why += ": " + said
	}
	return tool.Errorf(code, "getting through to %s: %s", o.Target, why).WithHint("see whether %s gets through by itself", tool.QuoteWords(o.Target.Argv()))
}

// errLong is that a line is longer than it may be.
var errLong = errors.New("a line is too long")

// readLine reads a line of at most so many bytes, without its end.
func readLine(in *bufio.Reader, most int) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		if len(line)+len(part) > most {
			return nil, errLong
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return bytes.TrimSuffix(line, []byte("\n")), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// clip is a text from elsewhere as a part of a message.
func clip(text string) string {
	if most := 2000; len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + " …"
	}
	return tool.Visible(text)
}

// known is a code that there is.
func known(c tool.Code) tool.Code {
	if slices.Contains(tool.Codes(), c) {
		return c
	}
	return tool.IO
}
