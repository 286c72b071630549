package change

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/workspace"
)

// A step takes one name from what it is to what it shall be: File.Before is
// what it is.
type step struct {
	File
	path workspace.Path // the zero one beneath what is no directory yet
	was  []byte         // what the planner of the change saw; nil when that is not told
	seen bool           // and it is there
	old  []byte         // the old content, where it is known; nil otherwise
	data []byte         // the new content …
	sum  string         // its hash, once asked for

	memory *int64                        // bytes of old contents that all steps remember
	open   func() (io.ReadCloser, error) // … or what gives it; neither: it is in the store
}

// plan looks at every file of the set and says what each is to become. The
// files are locked.
func (h *History) plan(set Set) ([]*step, error) {
	p := planner{h: h, byName: map[string]*step{}}
	var conflicts []error
	for _, c := range set.Changes {
		err := p.add(c)
		if errors.As(err, new(*workspace.ConflictError)) {
			conflicts = append(conflicts, err) // all of them, so that one more look is enough
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("planning the change of %s: %w", c.Path.Given, err)
		}
	}
	if len(conflicts) > 0 {
		return nil, errors.Join(conflicts...)
	}
	for _, s := range slices.Clone(p.steps) {
		if s.Before.Kind == Dir && (s.After.Kind == Regular || s.After.Kind == Link) {
			if err := p.vacate(s.Path); err != nil {
				return nil, err
			}
		}
	}
	for _, s := range p.steps {
		if err := p.parents(s); err != nil {
			return nil, err
		}
	}
	return p.all(), nil
}

type planner struct {
	h      *History
	steps  []*step
	dirs   []*step // directories that have to be made
	byName map[string]*step
	memory int64 // bytes of old contents remembered
}

// remember keeps the small contents that look reads, so that they need not be
// read again: 16 MiB of them.
func (s *step) remember(data []byte) {
	if *s.memory += int64(len(data)); *s.memory <= 16<<20 {
		s.old = data
	}
}

func (p *planner) step(abs string, path workspace.Path, was []byte) (*step, error) {
	if p.byName[abs] != nil {
		return nil, fmt.Errorf("%w: %s", ErrTwice, abs)
	}
	if path.Later() {
		path = workspace.Path{}
	}
	s := &step{path: path, File: File{Path: abs}, was: was, memory: &p.memory}
	if path.Real != "" {
		var err error
		if s.Before, s.InPlace, err = p.h.look(path, s); err != nil {
			return nil, err
		}
	}
	p.byName[abs] = s
	p.steps = append(p.steps, s)
	s.After = s.Before
	return s, nil
}

func (p *planner) add(c Change) error {
	s, err := p.step(c.Path.Real, c.Path, c.Was)
	if err != nil {
		return err
	}
	if c.Was != nil && !s.seen {
		c.Version = workspace.Version(c.Was)
	}
	if c.Version != "" && s.Before.Version() != c.Version {
		return &workspace.ConflictError{Path: c.Path.Real, Have: s.Before.Version(), Want: c.Version}
	}
	kind := s.Before.Kind
	switch c.Op {
	case Create, Symlink:
		if kind != Missing && !(kind == Dir && c.Op == Create) {
			return fs.ErrExist
		}
	case Replace, Delete, Move, Chmod:
		if kind == Missing {
			return fs.ErrNotExist
		}
	}
	switch c.Op {
	case Write, Create, Replace:
		return s.write(c)
	case Chmod:
		return s.chmod(c.Mode)
	case Delete:
		s.After = State{}
		return nil
	case Move:
		return p.move(s, c)
	case Symlink:
		s.After = State{Kind: Link, Target: string(c.Data)}
		return nil
	case Mkdir:
		if kind != Missing && kind != Dir {
			return workspace.ErrNotDir
		}
		if kind == Missing {
			s.After = State{Kind: Dir, AnyMode: true}
		}
		return nil
	}
	return fmt.Errorf("%q is no operation", c.Op)
}

// write sets what the step's file is to hold. A file may be created in the place of
// a directory that the set empties.
func (s *step) write(c Change) error {
	switch s.Before.Kind {
	case Dir:
		if c.Op != Create {
			return workspace.ErrIsDir
		}
	case Link:
		return fmt.Errorf("%w: it is a link", workspace.ErrMoved)
	}
	s.data, s.sum, s.open = c.Data, c.Hash, c.Source
	hash, size, err := s.hash()
	if err != nil {
		return err
	}
	before := s.Before
	s.After = State{Kind: Regular, Hash: hash, Size: size, Mode: before.Mode, AnyMode: before.Kind == Missing || before.Kind == Dir}
	if c.Mode != nil {
		s.After.Mode, s.After.AnyMode = *c.Mode&safefile.ModeBits, false
	}
	if before.Kind == Regular && before.Mode.Perm()&0o222 == 0 && !s.After.is(before) {
		return workspace.ErrReadOnly
	}
	return nil
}

func (s *step) hash() (hash string, size int64, err error) {
	if s.open == nil {
		return s.dataHash(), int64(len(s.data)), nil
	}
	r, err := s.open()
	if err != nil {
		return "", 0, err
	}
	defer r.Close()
	h := sha256.New()
	size, err = io.Copy(h, r)
	return hex.EncodeToString(h.Sum(nil)), size, err
}

func (s *step) dataHash() string {
	if s.sum == "" {
		s.sum = Hash(s.data)
	}
	return s.sum
}

func (s *step) chmod(mode *fs.FileMode) error {
	switch {
	case s.Before.Kind != Regular:
		return workspace.ErrNotRegular
	case mode == nil:
		return errors.New("no mode is given")
	}
	s.After.Mode = *mode & safefile.ModeBits
	return nil
}

func (p *planner) move(from *step, c Change) error {
	if c.To.Real == c.Path.Real { // only its content changes, if anything
		if c.Data == nil && c.Source == nil {
			return nil
		}
		return from.write(c)
	}
	if from.Before.Kind == Dir {
		return workspace.ErrIsDir
	}
	to, err := p.step(c.To.Real, c.To, nil)
	if err != nil {
		return err
	}
	place := to.Before
	if place.Kind != Missing && place.Kind != Dir {
		return &fs.PathError{Op: "move to", Path: c.To.Real, Err: fs.ErrExist}
	}
	to.From, to.InPlace = from.Path, from.InPlace
	to.After, from.After = from.Before, State{}
	if c.Data == nil && c.Source == nil {
		if c.Mode != nil && to.After.Kind == Regular {
			to.After.Mode = *c.Mode & safefile.ModeBits
		}
		return nil
	}
	to.Before = from.Before // what the write will meet
	err = to.write(c)
	to.Before = place
	return err
}

// vacate has a directory go with the directories in it. Each file in it has to be one
// that the set takes away.
func (p *planner) vacate(dir string) error {
	list, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range list {
		name := filepath.Join(dir, e.Name())
		if s := p.byName[name]; s != nil && s.After.Kind == Missing {
			continue
		}
		if !e.IsDir() {
			return fmt.Errorf("%w: %s", ErrOccupied, name)
		}
		path, _, err := p.h.find(name, nil)
		if err != nil {
			return err
		}
		s, err := p.step(name, path, nil)
		if err != nil {
			return err
		}
		s.After = State{}
		if err := p.vacate(name); err != nil {
			return err
		}
	}
	return nil
}

// parents adds the directories above a name that are missing.
func (p *planner) parents(s *step) error {
	if s.After.Kind == Missing || s.path.Exists {
		return nil
	}
	var made []*step
	for dir := filepath.Dir(s.Path); ; dir = filepath.Dir(dir) {
		if planned := p.byName[dir]; planned != nil {
			switch planned.After.Kind {
			case Missing:
				planned.After = State{Kind: Dir, AnyMode: true}
			case Regular, Link:
				return fmt.Errorf("making %s: %w: %s", s.Path, workspace.ErrNotDir, dir)
			}
			break
		}
		if _, err := os.Lstat(dir); err == nil || dir == filepath.Dir(dir) {
			break // what is no directory the write refuses
		} else if !missing(err) {
			return err
		}
		path, _, err := p.h.find(dir, nil)
		if err != nil {
			return err
		}
		d := &step{path: path, File: File{Path: dir, After: State{Kind: Dir, AnyMode: true}}}
		p.byName[dir] = d
		made = append(made, d)
	}
	p.dirs = append(p.dirs, made...)
	return nil
}

// all returns the steps, directories first.
func (p *planner) all() []*step {
	steps := append(p.dirs, p.steps...)
	unlink(steps, p.byName)
	return steps
}

// unlink turns moves that no rename can do into a new file and a removed one.
// What the new one holds is in the store, for the other loses it.
func unlink(steps []*step, by map[string]*step) {
	for _, s := range steps {
		if s.From != "" && !renamable(s, by[s.From]) {
			s.From = ""
		}
	}
}

func renamable(s, from *step) bool {
	return from != nil && from.After.Kind == Missing && s.Before.Kind == Missing &&
		from.Before.Kind == s.After.Kind && (s.After.Kind == Regular || s.After.Kind == Link)
}
