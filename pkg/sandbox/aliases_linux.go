//go:build linux && (amd64 || arm64)

package sandbox

import (
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// everywhere is c with the other names of what it closes. Where a directory is mounted
// twice, what lies in it has a name in each place, and what is mounted over one of them
// does not show in the other.
func (c *Config) everywhere() *Config {
	m := mountTable()
	if len(m) == 0 {
		return c
	}
	e := *c
	e.Hidden, e.Private, e.ReadOnly = m.withAliases(c.Hidden), m.withAliases(c.Private), m.withAliases(c.ReadOnly)
	if c.Sealed {
		e.ReadOnly = append(e.ReadOnly, m.withAliases([]string{c.Root})[1:]...)
	}
	return &e
}

// A mountPoint is where a part of a file system is mounted.
type mountPoint struct {
	root string // the directory of the file system that is shown
	at   string
}

// A mountList lists what is mounted, by the file systems of which more than one part is, or
// one part twice.
type mountList map[string][]mountPoint

func mountTable() mountList {
	list := mountList{}
	for device, m := range mountsOf("self") {
		list[device] = append(list[device], m)
	}
	maps.DeleteFunc(list, func(_ string, m []mountPoint) bool { return len(m) < 2 })
	return list
}

// mountedOn reports whether anything is mounted on a path of process pid, also where another
// mount lies over it.
func mountedOn(pid int, path string) bool {
	for _, m := range mountsOf(strconv.Itoa(pid)) {
		if m.at == path {
			return true
		}
	}
	return false
}

// mountsOf gives what a process, a name in /proc, has mounted, by the device.
func mountsOf(process string) iter.Seq2[string, mountPoint] {
	return func(yield func(string, mountPoint) bool) {
		raw, _ := safefile.ReadKernel("/proc/" + process + "/mountinfo")
		for line := range strings.Lines(string(raw)) {
			f := strings.Fields(line) // id, parent, device, root, mount point
			if len(f) > 4 && !yield(f[2], mountPoint{unescaped(f[3]), unescaped(f[4])}) {
				return
			}
		}
	}
}

// unescaped is a name of mountinfo, in which blanks, line ends and backslashes are octal.
func unescaped(s string) string {
	for i := 0; i+3 < len(s); i++ {
		if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); s[i] == '\\' && err == nil {
			s = s[:i] + string([]byte{byte(n)}) + s[i+4:]
		}
	}
	return s
}

// withAliases is paths, and after them the other names of those that are there.
func (l mountList) withAliases(paths []string) []string {
	all := slices.Clone(paths)
	for _, path := range paths {
		for _, mounts := range l {
			for _, m := range mounts {
				if rel, ok := safefile.Rel(m.at, path); ok {
					all = append(all, otherNames(path, filepath.Join(m.root, rel), mounts)...)
				}
			}
		}
	}
	return all
}

// otherNames lists what else a path is called that has a name within its file system.
func otherNames(path, within string, mounts []mountPoint) (names []string) {
	for _, m := range mounts {
		rel, ok := safefile.Rel(m.root, within)
		name := filepath.Join(m.at, rel)
		if !ok || name == path || safefile.Below("/dev", name) && !safefile.Below(sharedMemory, name) { // /dev is the command's own
			continue
		}
		is, err := os.Lstat(path)
		other, err2 := os.Lstat(name)
		if err == nil && err2 == nil && os.SameFile(is, other) {
			names = append(names, name)
		}
	}
	return names
}
