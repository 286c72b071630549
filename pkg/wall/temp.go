package wall

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

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
		stamp, _, _ := base{}.identity(dir)
		if empty, known := w.empty[dir]; after && known && empty == stamp {
			continue
		}
		begun := time.Now()
		entries, err := s.among(dir)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				w.Beyond = append(w.Beyond, dir+": "+err.Error())
			}
			continue
		}
		if !after && len(entries) == 0 && stamp != 0 && remembers(stamp, begun) {
			w.empty[dir] = stamp
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
	entries, _ := s.list(dir)
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
	".git", ".hg", ".sl", ".jj", ".envrc", ".tool-versions", ".mise.toml", "mise.toml", ".mise.local.toml", "mise.local.toml", ".mise", "mise", ".rtx.toml", ".config",
	".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", ".cargo", ".bundle", ".bazelrc",
	".mcp.json", "opencode.json", "opencode.jsonc", "crush.json", ".crush.json", ".aider.conf.yml",
}

// among has what is there of the names that are looked for upward, or make a directory a repository. A
// directory for temporary files may hold thousands of others, and changes all the time.
func (s *scratch) among(dir string) (entries []fs.DirEntry, err error) {
	f, err := s.open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it is only read
	for _, name := range slices.Concat(upward[:], ofRepository[:]) {
		if i, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			entries = append(entries, fs.FileInfoToDirEntry(i))
		}
	}
	return entries, nil
}

// list has the entries of a directory.
func (s *scratch) list(dir string) ([]fs.DirEntry, error) {
	f, err := s.open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it is only read
	return f.ReadDir(-1)
}

// open opens a directory. One of the user's own that has been shut since stays open then: what is in it is
// moved away.
func (s *scratch) open(dir string) (*os.File, error) {
	if s.after && shut(dir) && !changedAt(dir).Before(s.w.begun) {
		return (&doors{root: filepath.Dir(dir)}).open(dir)
	}
	return os.Open(dir + "/.") // a pipe, whose opening would wait, has no such name
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
	w.empty = map[string]int64{}
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
