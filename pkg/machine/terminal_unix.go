//go:build unix

package machine

import "os"

// A Terminal is the terminal that questions are asked on.
type Terminal struct{ *os.File }

// OpenTerminal opens it, whatever the standard streams are.
func OpenTerminal() (Terminal, error) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	return Terminal{tty}, err
}

// Flush drops what was typed and not read.
func (d Terminal) Flush() { flushInput(d.File) }
