package wall

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// A scratch is what is protected right in the directories for temporary files, each with what tells it from
// another that takes its place: .envrc, .git, also .cargo/config.toml and what else stands in a directory with
// which a protected name begins. Programs that work anywhere below look up to there; what lies deeper
// nobody takes for anything.
type scratch struct {
	w     *Wall
	after bool // the command
	found map[string]string
}

// inTemp finds it. It finds the names, too, that make such a directory itself a repository: before a command
// each of them, after it where they do.
func (w *Wall) inTemp(after bool) map[string]string {
	s := scratch{w, after, map[string]string{}}
	for _, dir := range w.o.Temp {
		if safefile.Below(w.o.Root, dir) && !w.o.Policy.Passed(dir) {
			continue // it is looked at as a part of the root
		}
		entries, err := s.list(dir, lookedUp)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				w.Beyond = append(w.Beyond, dir+": "+err.Error())
			}
			continue
		}
		if !after || isRepository(entries) {
			s.repository(dir)
		}
		for _, e := range entries {
			if path := filepath.Join(dir, e.Name()); !safefile.Below(path, w.Enclosing) || w.Enclosing == "" { // there git works
				s.look(path, e)
			}
		}
	}
	return s.found
}

// ofRepository are the names without which a directory is no repository, see isRepository.
var ofRepository = [...]string{"HEAD", "commondir", "objects", "refs"}

// repository notes what makes a directory one.
func (s *scratch) repository(dir string) {
	for _, name := range ofRepository {
		path := filepath.Join(dir, name)
		s.note(path)
		if s.after && name == "HEAD" && s.found[path] != s.w.temp[path] {
			return // without it the rest makes none
		}
	}
}

// look notes what is protected right in a directory for temporary files, or in a directory that is.
func (s *scratch) look(path string, e fs.DirEntry) {
	p := s.w.o.Policy
	hit, opens := p.Notable(path, false)
	switch {
	case e.Name() == ".git":
		for _, at := range foreign(path) {
			s.note(at)
		}
		s.note(path)
		return
	case hit && p.Named(path):
		s.note(path)
	}
	if opens && path != s.w.o.Root {
		s.within(path, e, maxParts)
	}
}

// maxParts is how many directories a protected name begins with at most, as .jj/repo/config.toml.
const maxParts = 2

// within notes what is protected in a directory with which a protected name begins. What a link leads to is
// protected only by the link's name.
func (s *scratch) within(dir string, e fs.DirEntry, parts int) {
	entries, _ := s.list(dir, nil)
	for _, in := range entries {
		switch at := filepath.Join(dir, in.Name()); {
		case s.w.o.Policy.Named(at) && e.Type()&fs.ModeSymlink != 0:
			s.note(dir)
		case s.w.o.Policy.Named(at):
			s.note(at)
		case in.IsDir() && parts > 1:
			s.within(at, in, parts-1)
		}
	}
}

// note notes what is there.
func (s *scratch) note(path string) {
	i, err := os.Lstat(path)
	if err != nil {
		return
	}
	s.found[path] = fmt.Sprint(idOf(path))
	if i.Mode()&fs.ModeSymlink != 0 {
		target, _ := os.Readlink(path)
		s.found[path] = fmt.Sprintf("%q", target)
	}
}

// upward are the protected names, and the directories of such, that programs look for in the directories above
// as well. A .bashrc, .ssh or .claude is looked for in the home alone, which may be a directory for temporary
// files, a .github or .pre-commit-config.yaml right in a repository, a Jenkinsfile or model.pth nowhere but where it is meant.
var upward = [...]string{
	".git", ".hg", ".sl", ".jj", ".envrc", ".tool-versions", ".mise.toml", "mise.toml", ".mise.local.toml", "mise.local.toml", ".mise", ".config",
	".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", ".cargo", ".bundle", ".bazelrc",
	".mcp.json", "opencode.json", "opencode.jsonc", "crush.json", ".crush.json", ".aider.conf.yml",
}

// lookedUp reports whether programs may look for a name in the directories above as well.
func lookedUp(name string) bool {
	return slices.Contains(upward[:], strings.ToLower(name)) || slices.Contains(ofRepository[:], name)
}

// list has the entries of a directory whose names are wanted. One of the user's own that has been shut since
// stays open then: what is in it is moved away.
func (s *scratch) list(dir string, wanted func(name string) bool) (entries []fs.DirEntry, err error) {
	var f *os.File
	if s.after && shut(dir) && !changedAt(dir).Before(s.w.begun) {
		f, err = (&doors{root: filepath.Dir(dir)}).open(dir)
	} else {
		f, err = os.Open(dir + "/.") // a pipe, whose opening would wait, has no such name
	}
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it is only read
	for {
		some, err := f.ReadDir(1024)
		for _, e := range some {
			if wanted == nil || wanted(e.Name()) {
				entries = append(entries, e)
			}
		}
		if err == io.EOF {
			return entries, nil
		} else if err != nil {
			return entries, err
		}
	}
}

// plantedInTemp lists what of that has come since, without what the call was granted.
func (w *Wall) plantedInTemp() (list []string) {
	var news []string
	for path, mark := range w.inTemp(true) {
		if w.temp[path] != mark {
			news = append(news, path)
		}
	}
	if len(news) == 0 {
		return nil
	}
	granted := slices.Clone(w.Granted)
	for _, f := range w.written() {
		if _, held := w.temp[f.Path]; held { // no command could change it before
			granted = append(granted, Grant{Path: f.Path})
		}
	}
	for _, path := range news {
		list = append(list, ungranted(path, granted)...)
	}
	return list
}

// closeTemp holds what of that is there, and what links among it lead to in such a directory.
func (w *Wall) closeTemp() {
	w.temp = w.inTemp(false)
	for path := range w.temp {
		real, err := filepath.EvalSymlinks(path)
		if !w.o.Policy.Named(path) && real == path {
			continue
		}
		if err == nil && real != path && real != w.o.Root && slices.ContainsFunc(w.o.Temp, func(dir string) bool { return real != dir && safefile.Below(dir, real) }) {
			w.hold(real)
		}
		w.hold(path)
	}
	w.Fixed = outermost(w.Fixed)
}

// hold fixes what can be: links and files, to be put back where no mount holds them, and with mounts
// directories. Who may not read another user's file does not replace it in such a directory either.
func (w *Wall) hold(path string) {
	i, err := os.Lstat(path)
	if err != nil {
		return
	}
	switch f, err := safefile.OpenRegular(path); {
	case err == nil:
		_ = f.Close()
	case i.Mode()&fs.ModeSymlink == 0 && !w.o.Mounts, !i.IsDir() && !i.Mode().IsRegular() && i.Mode()&fs.ModeSymlink == 0:
		return
	}
	w.Fixed, w.Pinned = append(w.Fixed, path), append(w.Pinned, path)
}
