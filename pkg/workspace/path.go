package workspace

import (
	"cmp"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// A Path is a name with the facts about it at the time it was resolved. It is
// a value: copies are as good as the original. Only a Path that Resolve,
// ResolveIn or ResolveEntry returned without an error can be opened.
type Path struct {
	Given string // as the caller wrote it

	// Named is absolute and clean and keeps the links' own names: for the
	// link l to /x, "l/f" is named ROOT/l/f. Where ".." follows a link it is
	// walked as the kernel walks it, not cut from the text: "l/../f" is
	// named /f. Where ".." follows what does not exist, nothing can be
	// walked, and it takes one name away.
	Named string

	// Real is absolute, with every symbolic link resolved. The tail of it
	// may not exist; through a dangling link it is the file that would be
	// created. On a file system that ignores case it keeps the case given.
	Real string

	Rel    string // Real relative to the root with slashes; "." for the root, "" outside
	Inside bool   // Real is beneath the root, or the root, and no magic link led there
	Temp   bool   // Real is beneath Options.Temp
	Exists bool
	Type   policy.FileType // policy.Missing when it does not exist; "" for a link, which only ResolveEntry returns
	Info   fs.FileInfo     // of Real; nil when missing
	Links  uint64          // hard links of Real; 0 when missing or not known

	// Magic is the link of /proc that the name goes through, such as
	// /proc/1/root, which leads where its text may not say; "" for none.
	// Such a Path is never Inside.
	Magic string

	// Odd says why the name may not be what it looks like, or leads through
	// a magic link; "" when it is plain. An odd name is resolved literally
	// and its accesses are Opaque: no rule allows them unasked.
	Odd string

	resolved bool // it came out of a resolution without an error
	later    bool // see Beneath
}

// Beneath is the path that rel will have when a directory stands in the place of p,
// which is none now. It can be locked and decided about; to be opened it is to be
// resolved again.
func (p Path) Beneath(rel string) Path {
	q := Path{
		Given: p.Given + "/" + rel, Named: filepath.Join(p.Named, rel), Real: filepath.Join(p.Real, rel),
		Inside: p.Inside, Temp: p.Temp, Type: policy.Missing, Magic: p.Magic, Odd: cmp.Or(oddName(rel), p.Odd), later: p.resolved,
	}
	if p.Rel != "" {
		q.Rel = path.Join(p.Rel, rel)
	}
	return q
}

// Later reports whether p is a path that Beneath has made.
func (p Path) Later() bool { return p.later }

// Read returns the access that reading the file, or listing the directory,
// by the named tool needs.
func (p Path) Read(tool string) policy.Access { return p.access(policy.Read, tool, "") }

// Write returns the access that changing the file by the named tool needs.
func (p Path) Write(tool string, op policy.Op) policy.Access {
	return p.access(policy.Write, tool, op)
}

func (p Path) access(kind policy.Kind, tool string, op policy.Op) policy.Access {
	a := policy.Access{Kind: kind, Tool: tool, Path: p.Real, Op: op, File: p.Type, Opaque: p.Odd, Source: p.Given}
	if p.Named != p.Real {
		a.Named = p.Named
	}
	if p.Type == policy.Regular {
		a.Links = p.Links
	}
	return a
}

// typeOf names what info describes; "" for a symbolic link.
func typeOf(info fs.FileInfo) policy.FileType {
	switch m := info.Mode(); {
	case m.IsRegular():
		return policy.Regular
	case m.IsDir():
		return policy.Dir
	case m&fs.ModeNamedPipe != 0:
		return policy.FIFO
	case m&fs.ModeSocket != 0:
		return policy.Socket
	case m&fs.ModeSymlink != 0:
		return ""
	}
	return policy.Device // also what the system itself calls irregular
}

// describe fills in the facts that the file itself holds.
func (p *Path) describe(info fs.FileInfo) {
	p.Type = policy.Missing
	if info == nil {
		return
	}
	p.Exists, p.Info, p.Type = true, info, typeOf(info)
	if info.Mode().IsRegular() {
		p.Links = linkCount(info)
	}
}

// endsAsDir reports whether the name asks for a directory: "x/", "x/.".
func endsAsDir(name string) bool {
	n := len(name)
	for n > 0 && !os.IsPathSeparator(name[n-1]) {
		n--
	}
	last := name[n:]
	return n > 0 && (last == "" || last == "." || last == "..")
}
