package cmd

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// A dialog is the console that questions are asked on: one name for what is
// typed, and one for what is shown.
type dialog struct{ in, out *os.File }

func openTerminal() (dialog, error) {
	in, err := os.OpenFile("CONIN$", os.O_RDWR, 0)
	if err != nil {
		return dialog{}, err
	}
	out, err := os.OpenFile("CONOUT$", os.O_RDWR, 0)
	if err != nil {
		return dialog{}, errors.Join(err, in.Close())
	}
	return dialog{in, out}, nil
}

// Read implements io.Reader.
func (d dialog) Read(p []byte) (int, error) { return d.in.Read(p) }

// Write implements io.Writer.
func (d dialog) Write(p []byte) (int, error) { return d.out.Write(p) }

// Close implements io.Closer.
func (d dialog) Close() error { return errors.Join(d.in.Close(), d.out.Close()) }

// flush drops what was typed and not read.
func (d dialog) flush() { _ = windows.FlushConsoleInputBuffer(windows.Handle(d.in.Fd())) }
