package edit

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// Meta is what Apply must know of a file besides its bytes.
type Meta struct {
	Mode fs.FileMode // type and permissions; a directory is refused
	EOL  string      // "\r\n" where new files end their lines so; asked for files that do not exist too
}

// Changes are all files that a patch changes.
type Changes struct {
	Files    []FileChange // in the order of the patch, each path once
	Warnings []string     // what was not quite right but clear
}

// FileChange is what a patch makes of one file.
type FileChange struct {
	Path   string
	Action string      // Add, Update, Delete or Move
	From   string      // the old name of Move, the original of a copied Add
	Before []byte      // nil for Add
	After  []byte      // nil for Delete
	Mode   fs.FileMode // permissions of After: the old ones, or those that the patch sets; 0 for a new file of no mode
	Hunks  []HunkResult
}

// HunkResult says where a hunk was applied.
type HunkResult struct {
	Line       int     // first line of the result that the hunk is about, from 1
	Strategy   string  // how the place was found
	Similarity float64 // of the hunk's old lines and the file's, white space aside
}

// isDirectory is the cause when a path is a directory.
const isDirectory = "it is a directory"

// Apply computes what the patch makes of the files that read returns. Nothing
// is written. Sections for one file build on each other. Either all of the
// patch can be applied or none: the error is a *Refusal then, or an error of
// read other than fs.ErrNotExist. Paths are as in the patch, cleaned; read
// must keep them inside its root.
func (p *Patch) Apply(read func(path string) ([]byte, Meta, error)) (*Changes, error) {
	a := &applier{patch: p, read: read, files: make(map[string]*fileState)}
	done := 0
	var already *Refusal
	for i := range p.Files {
		err := a.apply(&p.Files[i])
		var r *Refusal
		if errors.As(err, &r) && r.Code == AlreadyApplied {
			already = r
			continue
		}
		if err != nil {
			return nil, err
		}
		done++
	}
	if already != nil {
		if done > 0 && a.changed() {
			already.Hint = "leave this file out of the patch, or " + already.Hint
		}
		return nil, already
	}
	c := a.changes()
	if len(c.Files) == 0 {
		return nil, &Refusal{Code: AlreadyApplied, Message: "the files are as the patch makes them already", Hint: "nothing is left to do"}
	}
	return c, nil
}

// fileState is a file while a patch is applied.
type fileState struct {
	path   string
	exists bool
	data   []byte
	meta   Meta
	mode   fs.FileMode // set by the patch; 0 keeps
	from   string      // where the content comes from, when from another path
	copied bool
	added  bool // by this patch
	taken  bool // the patch has moved another file here before it moved or deleted this one
	hunks  []HunkResult

	existed bool
	before  []byte
}

type applier struct {
	patch *Patch
	read  func(string) ([]byte, Meta, error)
	files map[string]*fileState
	order []*fileState
	warns []string

	copied int // bytes of files that others are made of
}

func (a *applier) refuse(code, path, message, hint string) error {
	return &Refusal{Code: code, Path: path, Message: message, Hint: hint}
}

// file is the present state of a path, read when first asked for.
func (a *applier) file(name string) (*fileState, error) {
	name = a.patch.path(name)
	if s := a.files[name]; s != nil {
		return s, nil
	}
	data, meta, err := a.read(name)
	s := &fileState{path: name, data: data, meta: meta, before: data, exists: err == nil}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s.data, s.before = nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	s.existed = s.exists
	a.files[name] = s
	a.order = append(a.order, s)
	return s, nil
}

// checkPath and orAdd are what to do where a file is missing: one that goes, one that changes.
const (
	checkPath = "check the path"
	orAdd     = checkPath + "; to make a new file use *** Add File"
	orFromNil = checkPath + "; to make a new file put --- " + devNull + " above it"
)

// existing is a file that must be there.
func (a *applier) existing(name, otherwise string) (*fileState, error) {
	s, err := a.file(name)
	switch {
	case err != nil:
		return nil, err
	case !s.exists && s.existed:
		return nil, a.refuse(Conflict, s.path, "the patch has deleted or moved this file before", "put all changes of the file into one section")
	case !s.exists:
		return nil, a.refuse(NotFound, s.path, "the file does not exist", otherwise)
	case s.meta.Mode.IsDir():
		return nil, a.refuse(BadInput, s.path, isDirectory, "name a file")
	}
	return s, nil
}

// original is the file that a copy is made of; git lets the patch delete it
// first.
func (a *applier) original(name string) (*fileState, error) {
	if s := a.files[a.patch.path(name)]; s != nil && s.existed && a.patch.unified {
		return s, nil
	}
	return a.existing(name, checkPath)
}

func (a *applier) apply(f *FilePatch) error {
	switch f.Action {
	case Add:
		return a.add(f)
	case Delete:
		return a.remove(f)
	case Move:
		if a.patch.path(f.From) != a.patch.path(f.Path) {
			return a.move(f)
		}
	}
	otherwise := orAdd
	if a.patch.unified {
		otherwise = orFromNil
	}
	s, err := a.existing(f.Path, otherwise)
	if err != nil {
		return err
	}
	return a.update(s, f)
}

func (a *applier) update(s *fileState, f *FilePatch) error {
	if f.Mode != 0 {
		s.mode = f.Mode
	}
	if len(f.Hunks) == 0 {
		return nil
	}
	after, hunks, warns, r := applyHunks(s.data, f.Hunks)
	if r != nil {
		r.Path = s.path
		return r
	}
	s.data = after
	s.hunks = append(s.hunks, hunks...)
	for _, w := range warns {
		a.warns = append(a.warns, s.path+": "+w)
	}
	return nil
}

func (a *applier) add(f *FilePatch) error {
	content := []byte(f.Content)
	var mode fs.FileMode
	if f.From != "" {
		from, err := a.original(f.From)
		if err != nil {
			return err
		}
		copied := &fileState{path: from.path, data: from.data}
		if a.patch.unified && from.existed {
			copied.data = from.before // git copies what was there before the patch
		}
		if a.copied += len(copied.data); a.copied > MostGrowth {
			return a.refuse(TooLarge, a.patch.path(f.Path), fmt.Sprintf("the patch would copy more than %d MiB", MostGrowth>>20), "copy fewer files in one patch, or use a program such as cp")
		}
		if err := a.update(copied, &FilePatch{Hunks: f.Hunks}); err != nil {
			return err
		}
		content, mode = copied.data, from.meta.Mode.Perm()
	}
	s, err := a.file(f.Path)
	switch {
	case err != nil:
		return err
	case s.exists && s.meta.Mode.IsDir():
		return a.refuse(BadInput, s.path, isDirectory, "name a file")
	case s.added:
		return a.refuse(Conflict, s.path, "the patch adds this file twice", "put the whole content into one section")
	case s.exists && sameText(s.data, content):
		return nil
	case s.exists:
		return a.refuse(Conflict, s.path, "the file exists already, with other content", "use *** Update File, or delete it first")
	}
	if s.meta.EOL == "\r\n" && f.From == "" && !bytes.Contains(content, []byte{'\r'}) {
		content = bytes.ReplaceAll(content, []byte{'\n'}, []byte("\r\n"))
	}
	s.exists, s.added, s.data, s.mode = true, true, content, mode
	if f.Mode != 0 {
		s.mode = f.Mode
	}
	if f.From != "" {
		s.from, s.copied = a.patch.path(f.From), true
	}
	return nil
}

// sameText reports whether two texts are equal but for their line endings.
func sameText(a, b []byte) bool {
	return bytes.Equal(a, b) || string(bytes.ReplaceAll(a, []byte("\r\n"), []byte{'\n'})) == string(bytes.ReplaceAll(b, []byte("\r\n"), []byte{'\n'}))
}

func (a *applier) remove(f *FilePatch) error {
	s, err := a.existing(f.Path, checkPath)
	if err != nil {
		return err
	}
	data := s.data
	if s.taken {
		data = s.before
	}
	if len(f.Hunks) > 0 {
		var b strings.Builder
		for _, h := range f.Hunks {
			for _, l := range h.Lines {
				if l.Op != '+' {
					b.WriteString(l.Text + "\n")
				}
			}
		}
		if strings.TrimRight(unixLines(b.String()), " \t\r\n") != strings.TrimRight(unixLines(string(data)), " \t\r\n") {
			return a.refuse(Conflict, s.path, "the file to be deleted has other content than the patch says", "read it again")
		}
	}
	if s.taken {
		s.taken = false // what is there now has come from elsewhere
		return nil
	}
	s.exists, s.data, s.added = false, nil, false
	return nil
}

func (a *applier) move(f *FilePatch) error {
	otherwise := checkPath
	if to, err := a.file(f.Path); err == nil && to.exists && !to.meta.Mode.IsDir() {
		otherwise += "; " + to.path + " is there, so it may have been renamed already"
	}
	from, err := a.existing(f.From, otherwise)
	if err != nil {
		return err
	}
	to, err := a.file(f.Path)
	switch {
	case err != nil:
		return err
	case to.exists && to.meta.Mode.IsDir():
		return a.refuse(BadInput, to.path, "the file cannot be moved there: "+isDirectory, "name a file")
	case to.exists && !a.leaves(to, f):
		return a.refuse(Conflict, to.path, "the file would be overwritten by the move of "+from.path, "delete it first, in a section of its own, or choose another name")
	}
	moved := *from
	if from.taken {
		moved = fileState{path: from.path, data: from.before, meta: from.meta}
	}
	if err := a.update(&moved, f); err != nil {
		return err
	}
	to.taken = to.exists
	to.exists, to.data, to.mode, to.hunks = true, moved.data, moved.mode, moved.hunks
	if to.taken && to.mode == 0 && from.meta.Mode.Perm() != to.meta.Mode.Perm() {
		to.mode = from.meta.Mode.Perm()
	} else if !to.taken {
		to.meta.Mode = from.meta.Mode
	}
	if to.from = from.path; moved.from != "" {
		to.from, to.copied = moved.from, moved.copied
	}
	to.added = from.added && !from.existed
	if from.taken {
		from.taken = false
		return nil
	}
	from.exists, from.data, from.hunks, from.added = false, nil, nil, false
	return nil
}

// leaves reports whether a section behind f moves or deletes the file: the
// sections of git's diffs are about the files as they were before the patch.
func (a *applier) leaves(s *fileState, f *FilePatch) bool {
	behind := false
	for i := range a.patch.Files {
		g := &a.patch.Files[i]
		if behind = behind || g == f; !behind || g == f || !a.patch.unified {
			continue
		}
		if g.Action == Move && a.patch.path(g.From) == s.path || g.Action == Delete && a.patch.path(g.Path) == s.path {
			return true
		}
	}
	return false
}

func (a *applier) changed() bool { return len(a.changes().Files) > 0 }

// changes are the files whose state differs from the one before.
func (a *applier) changes() *Changes {
	c := &Changes{Warnings: append(append([]string(nil), a.patch.Warnings...), a.warns...)}
	movedAway := make(map[string]bool)
	for _, s := range a.order {
		if s.exists && !s.existed && s.from != "" && !s.copied {
			movedAway[s.from] = true
		}
	}
	for _, s := range a.order {
		f := FileChange{Path: s.path, Before: s.before, After: s.data, Mode: s.meta.Mode.Perm(), Hunks: s.hunks}
		if s.mode != 0 {
			f.Mode = s.mode
		}
		switch {
		case s.exists && s.existed:
			f.Action = Update
			if bytes.Equal(s.data, s.before) && (s.mode == 0 || s.mode == s.meta.Mode.Perm()) {
				continue
			}
		case s.exists && s.from != "" && !s.copied && a.files[s.from].existed && !a.files[s.from].exists:
			f.Action, f.From, f.Before = Move, s.from, a.files[s.from].before
		case s.exists:
			f.Action, f.Before = Add, nil
			if s.copied {
				f.From = s.from
			}
		case s.existed && !movedAway[s.path]:
			f.Action, f.After = Delete, nil
		default:
			continue
		}
		if f.Action != Delete && f.After == nil {
			f.After = []byte{}
		}
		c.Files = append(c.Files, f)
	}
	return c
}
