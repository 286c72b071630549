package machine

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// A Terminal is the console that questions are asked on: one name for what is
// typed, and one for what is shown.
type Terminal struct{ in, out *os.File }

// OpenTerminal opens it, whatever the standard streams are.
func OpenTerminal() (Terminal, error) {
	in, err := os.OpenFile("CONIN$", os.O_RDWR, 0)
	if err != nil {
		return Terminal{}, err
	}
	out, err := os.OpenFile("CONOUT$", os.O_RDWR, 0)
	if err != nil {
		return Terminal{}, errors.Join(err, in.Close())
	}
	return Terminal{in, out}, nil
}

// Read implements io.Reader.
func (d Terminal) Read(p []byte) (int, error) { return d.in.Read(p) }

// Write implements io.Writer.
func (d Terminal) Write(p []byte) (int, error) { return d.out.Write(p) }

// Close implements io.Closer.
func (d Terminal) Close() error { return errors.Join(d.in.Close(), d.out.Close()) }

// Flush drops what was typed and not read.
func (d Terminal) Flush() { _ = windows.FlushConsoleInputBuffer(windows.Handle(d.in.Fd())) }
