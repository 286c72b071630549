//go:build linux && (amd64 || arm64)

package sandbox

import (
	"strings"

	"golang.org/x/sys/unix"
)

// In a view of the root a hard link to a file that stood before has a number of its own: overlayfs copies the
// file up, and only under its old name it still shows the old number. git clone of a directory compares the two, and
// gives up on what it takes for another file. Where links cannot be made, it copies (copy_or_link_directory in git's builtin/clone.c).

// links lists the calls.
func links() []uintptr {
	list := []uintptr{unix.SYS_LINKAT}
	if linkHere != ^uintptr(0) {
		list = append(list, linkHere)
	}
	return list
}

// link answers for git's objects as between two file systems.
func (g *gatekeeper) link(n *notice) verdict {
	word := n.args[1]
	if uintptr(n.nr) == linkHere {
		word = n.args[0]
	}
	if name, err := (&memory{pid: int(n.pid)}).text(word); err == nil && strings.Contains(name, "/objects/") {
		return refused(unix.EXDEV)
	}
	return verdict{goOn: true}
}
