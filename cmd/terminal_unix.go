//go:build unix

package cmd

import "os"

// A dialog is the terminal that questions are asked on.
type dialog struct{ *os.File }

func openTerminal() (dialog, error) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	return dialog{tty}, err
}

// flush drops what was typed and not read.
func (d dialog) flush() { flushInput(d.File) }
