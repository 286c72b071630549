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
	Target  *Target
	Self    string        // the running program
	Version string        // of a release, which an installed agentkit may be, too; else ""
	Welcome any           // what the far end reads first: how calls are to be made there
	Share   string        // directory in which ssh keeps connections for further calls; "" for none
	Within  time.Duration // how long it may take until the far end is ready; 0 for the usual
}

// ready is how long it may take to get through, a person's password among it, and to
// carry the program there.
const ready = 3 * time.Minute

// Dial opens a connection: it starts the carrier, and agentkit at its far end.
func Dial(ctx context.Context, o Options) (*Conn, error) {
	p, err := own(o.Self, o.Version)
	if err != nil {
		return nil, err
	}
	if o.Within == 0 {
		o.Within = ready
	}
	carrier, err := start(shared(o.Target.Argv(), o.Share))
	if err != nil {
		return nil, err
	}
	limit, cancel := context.WithTimeoutCause(ctx, o.Within, tool.Errorf(tool.Timeout, "%s was not ready within %s", o.Target, o.Within).
		WithHint("see whether %s gets through by itself", quote(o.Target.Argv())))
	defer cancel()
	stop := carrier.killOn(limit)
	d := &dialog{carrier: carrier, o: &o, program: p, in: bufio.NewReaderSize(carrier.out, 64<<10)}
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

// A dialog is what is said until the far end makes calls.
type dialog struct {
	carrier *carrier
	o       *Options
	program *program
	in      *bufio.Reader
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
			if err := d.program.fits(d.o.Target, systems(system, processor)); err != nil {
				return nil, err
			}
			if err := d.program.carry(d.carrier.in); err != nil {
				return nil, err
			}
		case "fails":
			return nil, tool.Errorf(tool.Unsupported, "agentkit cannot be started on %s: %s", d.o.Target, tool.VisibleName(about)).
				WithHint("install agentkit there, in a directory of its PATH: the version of this one, built with CGO_ENABLED=0 where the system has another C library")
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
	said := d.carrier.said.text()
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
	if said != "" {
		why += ": " + said
	}
	return tool.Errorf(code, "getting through to %s: %s", d.o.Target, why).WithHint("see whether %s gets through by itself", quote(d.o.Target.Argv()))
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
