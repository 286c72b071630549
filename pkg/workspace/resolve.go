package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

const (
	maxLinks = 40   // links followed for one name, as in the Linux kernel
	maxPath  = 4095 // bytes of an absolute path, as in the Linux kernel
)

// Resolve finds the file that name stands for. Names are relative to the root
// or absolute; "~" and "~/x" are in Options.Home. Nothing else is expanded.
//
// It is meant for names that a person or a model wrote, so it refuses with
// ErrName what is surely meant as something else: an empty or over-long name,
// a NUL byte, a file URL, a UNC name (on Windows one of a machine that neither
// the root nor the other directories of Options lie on), "~user", "$HOME/x",
// "..\x" on systems with slashes. A file that is really called so is reached with "./" before
// it. Other oddities are resolved as they stand and told in Path.Odd.
//
// A missing file is no error. ErrLoop, ErrNotDir (a file is used as a
// directory), ErrMoved (the root was replaced) and what the system says, such
// as fs.ErrPermission, are; the Path then holds the names as far as they are
// known, for a message or a refusal, and is never Inside.
func (w *Workspace) Resolve(name string) (Path, error) {
	return w.resolveName(name, false)
}

// ResolveEntry is Resolve without following the last component: for a
// symbolic link the Path is of the link itself, with Type "". It is for
// removing and renaming.
func (w *Workspace) ResolveEntry(name string) (Path, error) {
	return w.resolveName(name, true)
}

// ResolveIn resolves name as a program gets it from the kernel in the
// directory dir, itself relative to the root or absolute: "~", "$HOME" and the
// like are plain letters, for a shell has already expanded what it wanted.
func (w *Workspace) ResolveIn(dir, name string) (Path, error) {
	p := Path{Given: name}
	for _, n := range []string{dir, name} {
		if reason := badName(n); reason != "" {
			return p, fmt.Errorf("resolving %s: %w: %s", quote(n), ErrName, reason)
		}
	}
	full := name
	if !isAbs(name) {
		full = dir + string(filepath.Separator) + name
	}
	err := w.resolve(&p, full, false)
	return p, err
}

func (w *Workspace) resolveName(name string, entry bool) (Path, error) {
	p := Path{Given: name, Odd: oddName(name)}
	reason := badName(name)
	if reason == "" {
		reason = foreignName(name)
	}
	if reason != "" {
		return p, fmt.Errorf("resolving %s: %w: %s", quote(name), ErrName, reason)
	}
	if name == "~" || len(name) > 1 && name[0] == '~' && os.IsPathSeparator(name[1]) {
		if w.home == "" {
			return p, fmt.Errorf("resolving %s: %w: no home directory is known", quote(name), ErrName)
		}
		name = w.home + name[1:]
	}
	err := w.resolve(&p, name, entry)
	return p, err
}

func (w *Workspace) resolve(p *Path, name string, entry bool) error {
	if !entry && w.resolveFast(p, name) {
		return nil
	}
	s := lookup{root: w.info, ours: [...]string{w.root, w.home, w.temp}}
	start, rest := w.start(name)
	err := s.begin(start)
	if err == nil && start == w.root && !os.SameFile(s.info, w.info) {
		err = fmt.Errorf("%w: the root %s was replaced", ErrMoved, w.root)
	}
	if err == nil {
		err = s.follow(rest, entry)
	}
	p.Magic, p.Named = s.magic, s.named
	if s.magic != "" {
		p.Odd = "it leads through the magic link " + s.magic
	}
	if err != nil {
		p.Real = s.at
		return fmt.Errorf("resolving %s: %w", quote(p.Given), err)
	}
	w.describe(p, &s)
	return nil
}

// start splits name into a directory that is known to be real and the rest.
func (w *Workspace) start(name string) (dir, rest string) {
	if !isAbs(name) {
		return w.root, name
	}
	if rel, ok := safefile.Rel(w.root, name); ok {
		return w.root, rel
	}
	vol := filepath.VolumeName(name)
	return trueVolume(vol) + string(filepath.Separator), name[len(vol):]
}

// describe fills in where the lookup has ended.
func (w *Workspace) describe(p *Path, s *lookup) {
	p.Real = s.at
	rel, inside := safefile.Rel(w.root, s.at)
	if !inside && s.anchor != "" {
		// The root under another name: other case, another mount of it.
		if rel, inside = safefile.Rel(s.anchor, s.at); inside {
			p.Real = w.root
			if rel != "." {
				p.Real = join(w.root, rel)
			}
		}
	}
	if p.Inside = inside && s.magic == ""; p.Inside {
		p.Rel = filepath.ToSlash(rel)
	}
	p.Temp, p.resolved = w.inTemp(p.Real) && s.magic == "", true
	p.describe(s.info)
}

func (w *Workspace) inTemp(abs string) bool {
	if w.temp == "" {
		return false
	}
	_, ok := safefile.Rel(w.temp, abs)
	return ok
}

// resolveFast serves the common case in one question to the kernel: a name
// beneath the root, without "..", of something that exists and is reached
// through no link.
func (w *Workspace) resolveFast(p *Path, name string) bool {
	_, rest := w.start(name)
	if isAbs(rest) || hasDotDot(rest) {
		return false
	}
	rel := filepath.Clean(rest)
	abs := w.root
	if rel != "." {
		abs = join(w.root, rel)
	}
	info, ok := w.probe(rel, abs)
	if !ok || len(abs) > maxPath || endsAsDir(name) && !info.IsDir() {
		return false
	}
	p.Named, p.Real, p.Rel, p.Inside = abs, abs, filepath.ToSlash(rel), true
	p.Temp, p.resolved = w.inTemp(abs), true
	p.describe(info)
	return true
}

func hasDotDot(name string) bool {
	if !strings.Contains(name, "..") {
		return false
	}
	for c := range strings.FieldsFuncSeq(name, isSeparator) {
		if c == ".." {
			return true
		}
	}
	return false
}

func isSeparator(r rune) bool { return r < 0x80 && os.IsPathSeparator(byte(r)) }

// A lookup goes a path component by component, as the kernel would.
type lookup struct {
	root    fs.FileInfo // the workspace's root, to know it under any name
	ours    [3]string   // directories whose hosts are known: the root, home, and for temporary files
	at      string      // the real path reached
	info    fs.FileInfo // of at; nil when it does not exist
	missing int         // how many components at the end of at do not exist
	anchor  string      // a prefix of what was walked that is the workspace's root
	magic   string
	links   int // followed so far

	named string // as Path.Named
	marks []int  // the lengths at which named ends in a link
}

func (s *lookup) begin(dir string) (err error) {
	s.named = dir
	return s.jump(dir)
}

// jump goes to a directory that is real.
func (s *lookup) jump(dir string) (err error) {
	s.at, s.missing = dir, 0
	if reason := badHost(dir, s.ours[:]); reason != "" {
		return fmt.Errorf("%w: %s", ErrName, reason)
	}
	if s.info, err = os.Lstat(dir); err != nil {
		return err
	}
	if os.SameFile(s.info, s.root) {
		s.anchor = dir
	}
	return nil
}

// follow walks name from where it is and keeps named beside it. With entry
// the last component is not followed.
func (s *lookup) follow(name string, entry bool) error {
	comps := strings.FieldsFunc(name, isSeparator)
	for i, c := range comps {
		if c == "." {
			continue
		}
		last := entry && i == len(comps)-1 && !endsAsDir(name)
		link, err := s.step(c, last)
		if err != nil {
			s.named = filepath.Clean(join(s.named, filepath.Join(comps[i:]...)))
			s.at = filepath.Clean(join(s.at, filepath.Join(comps[i:]...)))
			return err
		}
		if c != ".." {
			if !link {
				c = filepath.Base(s.at) // another case, or the short name, is no other way there
			}
			s.named = join(s.named, c)
			if link {
				s.marks = append(s.marks, len(s.named))
			}
			continue
		}
		if n := len(s.marks); n > 0 && s.marks[n-1] == len(s.named) {
			s.named, s.marks = s.at, s.marks[:0] // the kernel leaves the link's target, not its name
			continue
		}
		s.named = filepath.Dir(s.named)
	}
	if endsAsDir(name) && s.info != nil && !s.info.IsDir() {
		return ErrNotDir
	}
	return nil
}

// step goes one component on and reports whether that was a link.
func (s *lookup) step(c string, entry bool) (link bool, err error) {
	if s.missing == 0 && !s.info.IsDir() {
		return false, ErrNotDir
	}
	if c == ".." {
		return false, s.up()
	}
	if reason := badComponent(c); reason != "" {
		return false, fmt.Errorf("%w: %s", ErrName, reason)
	}
	next := join(s.at, c)
	if len(next) > maxPath {
		return false, fmt.Errorf("%w: longer than %d bytes", ErrName, maxPath)
	}
	if s.missing > 0 {
		s.at = next
		s.missing++
		return false, nil
	}
	info, err := os.Lstat(next)
	if errors.Is(err, fs.ErrNotExist) {
		s.at, s.info, s.missing = next, nil, 1
		return false, nil
	}
	if err == nil {
		next, err = trueName(next, s.at)
	}
	if err != nil {
		return false, err
	}
	if !entry && isLink(info) {
		return true, s.link(next)
	}
	s.at, s.info = next, info
	if info.IsDir() && os.SameFile(info, s.root) {
		s.anchor = next
	}
	return false, nil
}

func (s *lookup) up() (err error) {
	s.at = filepath.Dir(s.at)
	if s.missing > 1 {
		s.missing--
		return nil
	}
	s.missing = 0
	s.info, err = os.Lstat(s.at)
	return err
}

// link goes where the link name points.
func (s *lookup) link(name string) error {
	if s.links++; s.links > maxLinks {
		return ErrLoop
	}
	target, err := os.Readlink(name)
	if err != nil {
		return err
	}
	if isMagic(name, target) {
		s.magic = name
		if !filepath.IsAbs(target) { // a pipe, a socket: it has no path
			s.at = name
			s.info, err = os.Stat(name)
			return err
		}
	}
	if filepath.IsAbs(target) {
		vol := filepath.VolumeName(target)
		if err := s.jump(trueVolume(vol) + string(filepath.Separator)); err != nil {
			return err
		}
		target = target[len(vol):]
	}
	for c := range strings.FieldsFuncSeq(target, isSeparator) {
		if c == "." {
			continue
		}
		if _, err := s.step(c, false); err != nil {
			return err
		}
	}
	if endsAsDir(target) && s.info != nil && !s.info.IsDir() {
		return ErrNotDir
	}
	return nil
}

// isLink reports whether the file points elsewhere: a symbolic link, and on
// Windows a junction or another reparse point.
func isLink(info fs.FileInfo) bool {
	const irregular = fs.ModeSymlink | fs.ModeIrregular
	if runtime.GOOS == "windows" {
		return info.Mode()&irregular != 0
	}
	return info.Mode()&fs.ModeSymlink != 0
}
