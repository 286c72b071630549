package edit

import (
	"io/fs"
	"path"
	"slices"
	"strings"
)

// What a patch does to a file.
const (
	Add    = "add"
	Update = "update"
	Delete = "delete"
	Move   = "move"
)

// NotFound refuses a patch for a file that does not exist.
const NotFound = "not_found"

// Patch is a parsed patch.
type Patch struct {
	Files []FilePatch
	// Strip is how many leading directories are taken off the paths of a unified
	// diff, of which the a/ and b/ that git writes are the first; -1, the default, takes
	// off those alone, and so does 0.
	Strip    int
	Warnings []string // where the text was not quite a patch but could be read as one
	unified  bool
	prefixed bool // the paths had a/ and b/, which are off already
}

// FilePatch is what a patch does to one file.
type FilePatch struct {
	Action  string      // Add, Update, Delete or Move
	Path    string      // the file; for Move the new name
	From    string      // the old name for Move, the original of a copy for Add
	Mode    fs.FileMode // permissions that the patch sets; 0 is none
	Content string      // of Add without From
	Hunks   []Hunk      // of Update, Move, a copy; of Delete when the patch quotes the file
}

// Hunk is one change of a file.
type Hunk struct {
	Anchors   []string // lines of which the last stands before the change, each behind the one before
	OldLine   int      // where the old lines begin, from 1; 0 is unknown
	Lines     []HunkLine
	EndOfFile bool // the old lines are the last of the file

	counted  bool // OldLine comes from a unified diff whose counts fit
	oldNoEOL bool // the last old line has no line ending
	newNoEOL bool
	section  string // what a unified diff says behind @@
	begins   bool   // its context says that the file begins or ends with it
	ends     bool
	git      bool // git wrote it
}

// HunkLine is a line of a hunk: Op is ' ' for context, '-' for a removed and
// '+' for an added line.
type HunkLine struct {
	Op   byte
	Text string
}

// ParsePatch reads a patch: the envelope from *** Begin Patch to *** End
// Patch, or a unified diff as diff and git write it, of any number of files.
// It sees through the wrappings that models add: prose around it, code
// fences, heredocs, JSON, indentation, a missing end, CRLF. The error is a
// *Refusal whose code is BadInput.
func ParsePatch(text string) (*Patch, error) {
	p := &Patch{Strip: -1}
	lines, r := p.unwrap(text)
	if r != nil {
		return nil, r
	}
	if p.unified {
		r = p.parseUnified(lines)
	} else {
		r = p.parseEnvelope(lines)
	}
	if r != nil {
		return nil, r
	}
	return p, nil
}

// Paths are all paths that Apply reads or changes, sorted, each once.
func (p *Patch) Paths() []string {
	var out []string
	for _, f := range p.Files {
		for _, s := range [...]string{f.Path, f.From} {
			if s != "" {
				out = append(out, p.path(s))
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Taken are the paths that Apply removes or renames and does not only change.
func (p *Patch) Taken() []string {
	var out []string
	for _, f := range p.Files {
		switch {
		case f.Action == Delete:
			out = append(out, p.path(f.Path))
		case f.Action == Move && p.path(f.From) != p.path(f.Path):
			out = append(out, p.path(f.From))
		}
	}
	return out
}

// Sources are the paths whose content Apply gives another name.
func (p *Patch) Sources() []string {
	var out []string
	for _, f := range p.Files {
		if f.From != "" && p.path(f.From) != p.path(f.Path) {
			out = append(out, p.path(f.From))
		}
	}
	return out
}

// StripTo is the Strip with which a path of the patch, as it is by default, leads to
// the end of it that another has; ok is false where none does.
func (p *Patch) StripTo(name, end string) (n int, ok bool) {
	rest, ok := strings.CutSuffix(name, "/"+end)
	if !p.unified || !ok {
		return 0, false
	}
	n = 1 + strings.Count(rest, "/")
	if p.prefixed {
		n++
	}
	return n, true
}

// path is a path of the patch without what Strip takes off.
func (p *Patch) path(s string) string {
	if !p.unified || p.Strip < 0 {
		return path.Clean(s)
	}
	n := p.Strip
	if p.prefixed {
		n-- // as patch -p1 and git apply -p1 count
	}
	for range max(n, 0) {
		_, rest, ok := strings.Cut(strings.TrimLeft(s, "/"), "/")
		if !ok {
			break
		}
		s = rest
	}
	return path.Clean(s)
}

func (p *Patch) warn(s string) {
	if !slices.Contains(p.Warnings, s) {
		p.Warnings = append(p.Warnings, s)
	}
}

func badPatch(message string) *Refusal {
	return &Refusal{
		Code: BadInput, Message: message,
		Hint: "a patch is *** Begin Patch, then for each file *** Add File: PATH, *** Delete File: PATH or *** Update File: PATH with hunks that begin with @@ and whose lines begin with a blank, - or +, then *** End Patch; or a unified diff",
	}
}
