package job

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
)

// A key is one name that Job.Input knows.
type key struct{ name, bytes string }

// keys are sorted by name. The sequences are those of xterm, which is what
// nearly every program expects.
var keys = [...]key{
	{"backspace", "\x7f"},
	{"delete", "\x1b[3~"},
	{"down", "\x1b[B"},
	{"end", "\x1b[F"},
	{"enter", "\r"},
	{"esc", "\x1b"},
	{"escape", "\x1b"},
	{"f1", "\x1bOP"},
	{"f10", "\x1b[21~"},
	{"f11", "\x1b[23~"},
	{"f12", "\x1b[24~"},
	{"f2", "\x1bOQ"},
	{"f3", "\x1bOR"},
	{"f4", "\x1bOS"},
	{"f5", "\x1b[15~"},
	{"f6", "\x1b[17~"},
	{"f7", "\x1b[18~"},
	{"f8", "\x1b[19~"},
	{"f9", "\x1b[20~"},
	{"home", "\x1b[H"},
	{"insert", "\x1b[2~"},
	{"left", "\x1b[D"},
	{"pagedown", "\x1b[6~"},
	{"pageup", "\x1b[5~"},
	{"return", "\r"},
	{"right", "\x1b[C"},
	{"shift-tab", "\x1b[Z"},
	{"space", " "},
	{"tab", "\t"},
	{"up", "\x1b[A"},
}

// ErrSignal is returned for a signal that this system does not have.
var ErrSignal = errors.New("no such signal")

func unknownSignal(name string) error { return fmt.Errorf("%w: %q", ErrSignal, name) }

// Key returns what a terminal sends for a key: enter, tab, esc, up, pagedown,
// f1 and the like, ctrl-x for a letter or one of @[\]^_, alt-x for anything
// else, or a single character.
func Key(name string) (string, error) {
	lower := strings.ToLower(strings.TrimSpace(name))
	if i, ok := slices.BinarySearchFunc(keys[:], lower, func(k key, s string) int { return strings.Compare(k.name, s) }); ok {
		return keys[i].bytes, nil
	}
	if rest, ok := strings.CutPrefix(lower, "ctrl-"); ok && len(rest) == 1 {
		if c := rest[0]; c >= 'a' && c <= 'z' || strings.IndexByte(`@[\]^_`, c) >= 0 {
			return string(rune(c & 0x1f)), nil
		}
	}
	if rest, ok := strings.CutPrefix(lower, "alt-"); ok {
		seq, err := Key(rest)
		return "\x1b" + seq, err
	}
	if r := []rune(name); len(r) == 1 {
		return name, nil
	}
	return "", fmt.Errorf("%w: %q; known are ctrl-a to ctrl-z, alt-x, and %s", ErrKey, name, keyNames())
}

func keyNames() string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.name
	}
	return strings.Join(names, ", ")
}

// A control key that a terminal turns into something else is done by hand
// where there is no terminal.
func controlSignal(seq string) (syscall.Signal, bool) {
	switch seq {
	case "\x03":
		return syscall.SIGINT, true
	case "\x1c":
		return syscall.SIGQUIT, true
	}
	return 0, false
}
