package search

import (
	"io/fs"
)

// lsMode is a mode in the ten characters in which POSIX has ls print it.
func lsMode(mode fs.FileMode) string {
	out := []byte("-rwxrwxrwx")
	switch {
	case mode.IsDir():
		out[0] = 'd'
	case mode&fs.ModeSymlink != 0:
		out[0] = 'l'
	case mode&fs.ModeNamedPipe != 0:
		out[0] = 'p'
	case mode&fs.ModeSocket != 0:
		out[0] = 's'
	case mode&fs.ModeCharDevice != 0:
		out[0] = 'c'
	case mode&fs.ModeDevice != 0:
		out[0] = 'b'
	case !mode.IsRegular():
		out[0] = '?'
	}
	for i := range 9 {
		if mode&(1<<(8-i)) == 0 {
			out[1+i] = '-'
		}
	}
	for _, s := range []struct {
		bit  fs.FileMode
		at   int
		mark byte // beside x; as a capital without
	}{{fs.ModeSetuid, 3, 's'}, {fs.ModeSetgid, 6, 's'}, {fs.ModeSticky, 9, 't'}} {
		switch {
		case mode&s.bit == 0:
		case out[s.at] == 'x':
			out[s.at] = s.mark
		default:
			out[s.at] = s.mark - 'a' + 'A'
		}
	}
	return string(out)
}
