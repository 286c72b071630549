package cmd

import (
	"os"

	"github.com/mattn/go-isatty"
)

// terminal reports whether stream is a terminal.
func terminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && (isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd()))
}
