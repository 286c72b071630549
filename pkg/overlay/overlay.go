// Package overlay keeps what a command changed in a copy-on-write view of the
// workspace, until somebody wants it or not.
//
// The rules:
//   - The kernel's overlay shows the command the root, and writes what it changes to
//     the directory upper of a [Trial]. The root stays as it is.
//   - What changed is read from upper alone, and from what the root has at these
//     places: nothing else is walked.
//   - [Trial.Apply] changes the root through package change, all or none, if each of
//     these places still is as it was when the command ended. So undo takes it back.
//
// Not applied is what is no file, directory or link. Where the workspace and the state
// directory are not on one mount, neither are owners, extended attributes and hard links.
package overlay

import (
	"io/fs"
	"strconv"

	"github.com/agentkit-go/agentkit/pkg/change"
)

// Other is what is no file, directory or link.
const Other change.Kind = "other"

// A Change is a name that the command changed.
type Change struct {
	Path   Name   // slash-separated, from the root
	Action string // as of [change.File], or "touch" where only the time differs, "link" where only another name came
	Before State
	After  State

	// Of is another name of the file, which the command wrote to where it is: what upper
	// has under that name becomes of this one, too.
	Of Name `json:",omitempty"`

	// Outside is set where somebody else changed the name while the command ran.
	Outside bool `json:",omitempty"`
}

// Same reports whether a file holds what it held.
func (c *Change) Same() bool { return c.Action == "mode" || c.Action == "touch" || c.Action == "link" }

// A State is what a name stands for.
type State struct {
	Kind   change.Kind `json:",omitempty"`
	Mode   fs.FileMode `json:",omitempty"` // permission bits, with setuid, setgid and sticky
	Size   int64       `json:",omitempty"`
	Target Name        `json:",omitempty"` // of a link
	MTime  int64       `json:",omitempty"` // nanoseconds
	CTime  int64       `json:",omitempty"` // when anything about it changed
	ATime  int64       `json:"-"`          // when it was last read
	Dev    uint64      `json:",omitempty"`
	Ino    uint64      `json:",omitempty"`
	Links  uint64      `json:",omitempty"` // names of a file
}

// is reports whether nobody has changed what s describes. The times of a directory
// say what is in it, which is a matter of its own.
func (s State) is(now State) bool {
	if s.Kind != now.Kind {
		return false
	}
	return s.Kind == change.Missing || s.Dev == now.Dev && s.Ino == now.Ino && s.Mode == now.Mode && (s.Kind == change.Dir || s.CTime == now.CTime)
}

// A Name is a path of any bytes, which JSON has as a Go string literal.
type Name string

// MarshalText implements encoding.TextMarshaler.
func (n Name) MarshalText() ([]byte, error) { return strconv.AppendQuoteToASCII(nil, string(n)), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (n *Name) UnmarshalText(text []byte) error {
	s, err := strconv.Unquote(string(text))
	*n = Name(s)
	return err
}
