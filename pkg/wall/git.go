package wall

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentkit-go/agentkit/pkg/gitsettings"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// git closes one repository. That of the root stays in its place. Others may be
// removed as a whole, as what was cloned for a test is. Path is a .git, directory
// or file, or the HEAD of a bare repository.
func (w *Wall) git(path string) {
	dir := path
	if filepath.Base(path) == "HEAD" {
		dir = filepath.Dir(path)
	}
	i, err := os.Lstat(dir)
	switch {
	case err != nil:
	case i.IsDir():
		w.repository(dir)
	case i.Mode().IsRegular() && !w.o.Policy.MayWrite(path, policy.Regular):
		w.Watched = append(w.Watched, path)
	case i.Mode()&fs.ModeSymlink != 0: // a repository elsewhere: it may be in the root
		if real, err := filepath.EvalSymlinks(path); err == nil && safefile.Below(w.o.Root, real) {
			w.repository(real)
		}
		w.Fixed = append(w.Fixed, path)
	}
}

// repository closes what git does not change in a repository's directory.
func (w *Wall) repository(dir string) {
	for _, path := range foreign(dir) {
		switch {
		case w.o.Policy.MayWrite(path, policy.Regular) && safefile.InGit(path): // a rule says so
		case strings.HasPrefix(path, dir+"/worktrees/"), dir != w.o.Root+"/.git" && dir != w.Enclosing:
			w.Watched = w.withLed(append(w.Watched, path), path)
		default:
			w.Fixed = w.withLed(append(w.Fixed, path), path)
		}
	}
}

// stays pins a repository that stays where it is, that of the root or the one that encloses it: what is closed in
// its directory, and what it is none without.
func (w *Wall) stays(dir string) {
	for _, path := range w.Fixed {
		if safefile.Below(dir, path) {
			w.Pinned = append(w.Pinned, path)
		}
	}
	if !w.o.Policy.MayWrite(dir, policy.Dir) {
		for _, name := range []string{"objects", "refs"} { // they may be empty
			w.Pinned = append(w.Pinned, filepath.Join(dir, name)+"/.")
		}
	}
}

// withLed adds to a list what links among what git heeds lead to in the root: a hook is often
// one of the project's scripts.
func (w *Wall) withLed(list []string, path string) []string {
	f := &follower{w, func(n called) bool {
		if n.way || n.path != path && !below(n.path, list) {
			list, w.led[n.path] = append(list, n.path), n.name
		}
		return true
	}, map[string]bool{}}
	switch filepath.Base(path) {
	case "hooks", "info":
		f.below(path, path, true)
	}
	f.link(path, path)
	return list
}

// ofBare are the names in a directory that is no .git which make git run something or look elsewhere.
// It may be a directory of the project with names as those of a repository, of which the rest is none of git's.
var ofBare = []string{"config", "config.worktree", "hooks", "commondir", "gitdir", "info", "modules", "worktrees", "branches", "remotes"}

// isGits reports whether a path in a repository's directory is one that git heeds.
func isGits(dir, rel string) bool {
	if filepath.Base(dir) == ".git" || safefile.BelowGit(dir) {
		return true
	}
	first, _, _ := strings.Cut(rel, "/")
	return policy.GitChanges(rel) || slices.Contains(ofBare, strings.ToLower(first))
}

// foreign lists what is in a repository's directory that git heeds and does not change.
func foreign(dir string) []string {
	var list []string
	for _, name := range []string{"alternates", "http-alternates"} { // all else there changes
		path := filepath.Join(dir, "objects/info", name)
		if _, err := os.Lstat(path); err == nil {
			list = append(list, path)
		}
	}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if path == dir || err != nil {
			return nil //nolint:nilerr // what cannot be read is not gone through
		}
		rel := path[len(dir)+1:]
		name := d.Name()
		if !isGits(dir, rel) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !policy.GitChanges(rel) {
			list = append(list, path)
		} else if d.IsDir() && (name == "info" || inModules(rel) && !plain(rel) || strings.HasPrefix(rel+"/", "worktrees/") && strings.Count(rel, "/") < 2) {
			return nil
		}
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
	return list
}

// inModules reports whether what is in a repository's directory is where submodules are
// kept, or one of them. Each worktree has its own.
func inModules(rel string) bool {
	if rest, ok := strings.CutPrefix(rel, "worktrees/"); ok {
		_, rel, _ = strings.Cut(rest, "/")
	}
	return strings.HasPrefix(rel+"/", "modules/")
}

// plain reports whether a directory of a submodule's repository has nothing but branches, by
// their names, or objects. Those above it may be parts of a submodule's name.
func plain(rel string) bool {
	above, name := filepath.Base(filepath.Dir(rel)), filepath.Base(rel)
	return policy.GitBranches(above+"/"+name) || above == "objects" && (name == "pack" || len(name) == 2)
}

// appearedInGit lists what was made in repositories that makes git run
// something, or look elsewhere. What git itself makes is harmless: a new
// repository without settings, a worktree of one that is known.
func (w *Wall) appearedInGit(now *tree) []string {
	var list []string
	for _, path := range now.hits() {
		switch base := filepath.Base(path); {
		case base == "HEAD":
			list = append(list, w.became(path)...)
		case base == ".git":
			i, err := os.Lstat(path)
			switch {
			case err != nil || below(path, w.Fixed):
			case i.IsDir():
				list = append(list, w.newIn(path)...)
			case !slices.Contains(w.Watched, path) && !w.linked(path, i) && w.submodule(path, i) == "" && !w.o.Policy.MayWrite(path, policy.Regular):
				list = append(list, path)
			}
		}
	}
	return list
}

// became lists what is new in a bare repository, by its HEAD. Where a directory that was there has become
// one, that is HEAD alone: the rest was something else before.
func (w *Wall) became(head string) []string {
	dir := filepath.Dir(head)
	list := w.newIn(dir)
	if len(list) == 0 || w.repositories[w.idOfDir(dir)] {
		return list
	}
	entries, err := os.ReadDir(dir)
	if err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return changedAt(filepath.Join(dir, e.Name())).Before(w.begun) }) {
		return []string{head}
	}
	return list
}

// within says where a directory in a repository's lies.
type within struct {
	refs    bool // below refs: the name objects is a part of a branch's there
	objects bool // below objects
	moved   bool // one that has changed or below one, or in a repository that is not known
}

func (w *Wall) newIn(dir string) []string {
	list := slices.DeleteFunc(foreign(dir), func(path string) bool {
		return below(path, w.Fixed) || slices.Contains(w.Watched, path) || w.harmless(path) || w.o.Policy.MayWrite(path, policy.Regular) && safefile.InGit(path)
	})
	from := openBase(dir)
	defer from.close()
	return append(list, w.newIntoGit(from, dir, ".", within{moved: !w.repositories[w.idOfDir(dir)]})...)
}

// number notes what tells the repositories that are known, wherever they are moved.
func (w *Wall) number(hits []string) {
	w.repositories = map[fileID]bool{w.idOfDir(filepath.Join(w.o.Root, ".git")): true, w.idOfDir(w.Enclosing): true}
	for _, path := range hits {
		switch filepath.Base(path) {
		case "HEAD":
			w.repositories[w.idOfDir(filepath.Dir(path))] = true
		case ".git":
			w.repositories[w.idOfDir(path)] = true
		}
	}
}

// newIntoGit lists the links of both kinds that were made in a repository's directory since:
// git makes none, and writes what others have chosen to where such a link leads, as a
// commit's message to COMMIT_EDITMSG and to its logs; and what is astray, or a repository where nobody looks
// at its settings. Rel is the directory in the repository's, top, that is looked at; from is open at top. Objects say nothing by themselves. A directory
// that has changed may have been moved there with all that is in it, which keeps its times.
func (w *Wall) newIntoGit(from base, top, rel string, in within) (list []string) {
	dir := filepath.Join(top, rel)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	changed := in.moved || rel == "." && !from.changedAt(dir).Before(w.begun) // below the top in.moved says that, too
	if changed && rel != "." && isRepository(entries) && !lookedThrough(rel) && filepath.Dir(rel) != "worktrees" {
		list = append(list, filepath.Join(dir, "HEAD")) // nobody looks at its settings
	}
	times := from.changed(dir, entries, in.objects && !in.moved)
	for i, e := range entries {
		switch path := func() string { return filepath.Join(dir, e.Name()) }; {
		case rel == "." && !isGits(top, e.Name()):
		case e.IsDir():
			sub := within{
				refs: in.refs || e.Name() == "refs" && !in.objects, objects: in.objects || e.Name() == "objects" && !in.refs,
				moved: in.moved || !times(i).Before(w.begun),
			}
			if sub.moved || !in.objects {
				list = append(list, w.newIntoGit(from, top, filepath.Join(rel, e.Name()), sub)...)
			}
		case in.objects: // only a link says something there: git looks for objects where it leads
			if e.Type()&fs.ModeSymlink != 0 && (in.moved || !from.changedAt(path()).Before(w.begun)) {
				list = append(list, path())
			}
		case e.Type().IsRegular() && w.astray(dir, e.Name(), in.moved), in.moved && e.Type()&fs.ModeSymlink != 0:
			list = append(list, path())
		case !changed || from.changedAt(path()).Before(w.begun):
		case e.Type()&fs.ModeSymlink != 0:
			list = append(list, path())
		default:
			if n, _ := links(path()); n > 1 {
				list = append(list, path())
			}
		}
	}
	return list
}

// changed returns when each of the entries of a directory was changed. Those of a repository's objects are up to
// 256 directories, which every processor has a part of.
func (b base) changed(dir string, entries []fs.DirEntry, many bool) func(i int) time.Time {
	const part = 64
	if !many || len(entries) <= part || runtime.GOMAXPROCS(0) == 1 {
		return func(i int) time.Time { return b.changedAt(filepath.Join(dir, entries[i].Name())) }
	}
	here := openBase(dir)
	defer here.close()
	times := make([]time.Time, len(entries))
	var done sync.WaitGroup
	for first := 0; first < len(entries); first += part {
		done.Go(func() {
			for i := first; i < min(first+part, len(entries)); i++ {
				times[i] = here.changedIn(entries[i].Name())
			}
		})
	}
	done.Wait()
	return func(i int) time.Time { return times[i] }
}

// isRepository reports whether what is in a directory makes it a repository for git, or a
// worktree's part of one.
func isRepository(entries []fs.DirEntry) bool {
	has := func(name string) bool {
		return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == name })
	}
	return has("HEAD") && (has("objects") && has("refs") || has("commondir")) // links, too
}

// linked reports whether a .git file is that of a worktree as git makes it.
func (w *Wall) linked(path string, i fs.FileInfo) bool {
	if !i.Mode().IsRegular() {
		return false
	}
	dir, ok := gitDir(path)
	if real, err := filepath.EvalSymlinks(dir); err != nil || real != dir { // git writes it so, and what follows is about these very names
		return false
	}
	if !ok || !filepath.IsAbs(dir) || filepath.Base(filepath.Dir(dir)) != "worktrees" || text(dir+"/gitdir") != path || text(dir+"/commondir") != "../.." {
		return false
	}
	// And the repository is one that stands elsewhere as such, and whose settings are looked at.
	common := filepath.Dir(filepath.Dir(dir))
	return w.looksAt(common) && (filepath.Base(common) == ".git" || !safefile.BelowGit(common))
}

// submodule is the directory in a repository's modules that the .git file of a submodule's
// work tree leads to, as git makes it; "" for every other file. The settings there lead back, and are
// looked at with those of the repository.
func (w *Wall) submodule(path string, i fs.FileInfo) string {
	to, ok := gitDir(path)
	if !ok || !i.Mode().IsRegular() || filepath.IsAbs(to) || to != filepath.Clean(to) { // x/../y may be elsewhere by a link
		return ""
	}
	tree := filepath.Dir(path)
	dir := filepath.Join(tree, to)
	top, _, ok := strings.Cut(dir, "/.git/modules/")
	if !ok || !safefile.Below(top, tree) || !w.looksAt(top+"/.git") || !w.looksAt(dir) || worktreeOf(dir) != tree {
		return ""
	}
	for _, path := range []string{tree, dir} { // what was compared are these very names
		if real, err := filepath.EvalSymlinks(path); err != nil || real != path {
			return ""
		}
	}
	return dir
}

// worktreeOf is the work tree that the settings of a submodule's repository name, in one line
// as git writes it; "" where they name none, or not so.
func worktreeOf(dir string) (tree string) {
	for line := range strings.Lines(text(dir + "/config")) {
		if line = strings.TrimSpace(line); !strings.Contains(strings.ToLower(line), "worktree") {
			continue
		}
		to, ok := strings.CutPrefix(line, "worktree = ")
		if !ok || tree != "" || to != filepath.Clean(to) {
			return ""
		}
		tree = filepath.Join(dir, to)
	}
	return tree
}

// checkedOut reports whether what is at a path lies in a worktree of the root's repository
// and is just what the root has there, which a mount has held meanwhile: git worktree add
// brings nothing new by it.
func (w *Wall) checkedOut(at string) bool {
	if !w.o.Mounts {
		return false
	}
	for dir := filepath.Dir(at); dir != w.o.Root && safefile.Below(w.o.Root, dir); dir = filepath.Dir(dir) {
		file := filepath.Join(dir, ".git")
		i, err := os.Lstat(file)
		if err != nil {
			continue
		}
		twin := filepath.Join(w.o.Root, at[len(dir):])
		return w.linked(file, i) && strings.HasPrefix(text(file), "gitdir: "+w.o.Root+"/.git/worktrees/") && w.stands(twin) && sameTree(at, twin)
	}
	return false
}

// maxTwin bounds the names that are compared with those of the root.
const maxTwin = 200

// sameTree reports whether all that is at a path is at another, too: directories, and files
// of the same content that have no other name.
func sameTree(at, twin string) bool {
	names := 0
	err := filepath.WalkDir(at, func(path string, d fs.DirEntry, err error) error {
		other := twin + path[len(at):]
		i, bad := os.Lstat(other)
		n, _ := links(path)
		switch names++; {
		case err != nil || bad != nil || names > maxTwin || d.Type() != i.Mode().Type():
			return fs.ErrInvalid
		case d.IsDir():
			return nil
		case !d.Type().IsRegular() || n != 1 || !sameContent(path, other):
			return fs.ErrInvalid
		}
		return nil
	})
	return err == nil
}

func sameContent(a, b string) bool {
	x, err1 := small(a)
	y, err2 := small(b)
	return err1 == nil && err2 == nil && bytes.Equal(x, y)
}

// text is what a small file says; "" where it cannot be read.
func text(path string) string {
	data, err := small(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// gitDir is the directory that a .git file names.
func gitDir(path string) (dir string, ok bool) { return safefile.GitDir([]byte(text(path))) }

// small is what a file of less than 64 KiB holds.
func small(path string) ([]byte, error) { return upTo(path, 64<<10) }

// upTo is what a file of less than size bytes holds.
func upTo(path string, size int64) ([]byte, error) {
	f, err := safefile.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, size))
	if err == nil && int64(len(data)) == size {
		err = fs.ErrInvalid
	}
	return data, err
}

// harmless reports whether what is new in a repository is as git makes it, and
// makes git run nothing.
func (w *Wall) harmless(path string) bool {
	i, err := os.Lstat(path)
	if err != nil {
		return true // it is gone
	}
	switch name := filepath.Base(path); {
	case i.IsDir():
		list, err := os.ReadDir(path)
		return err == nil && (name == "hooks" || len(list) == 0) && !slices.ContainsFunc(list, func(e fs.DirEntry) bool {
			return !strings.HasSuffix(e.Name(), ".sample") || !e.Type().IsRegular()
		})
	case !i.Mode().IsRegular():
		return false
	case name == "description":
		return true
	case name == "config":
		dir := filepath.Dir(path)
		if tree := worktreeOf(dir); tree != "" {
			i, err := os.Lstat(tree + "/.git")
			return err == nil && w.submodule(tree+"/.git", i) == dir && plainConfig(text(path), "worktree")
		}
		return plainConfig(text(path), "")
	case name == "commondir":
		above := filepath.Dir(filepath.Dir(path))
		return filepath.Base(above) == "worktrees" && text(path) == "../.." && w.looksAt(filepath.Dir(above))
	case name == "gitdir":
		return filepath.Base(filepath.Dir(filepath.Dir(path))) == "worktrees"
	case name == "alternates": // of a git clone --shared or --reference
		objects, ok := strings.CutSuffix(text(path), "/objects")
		real, err := filepath.EvalSymlinks(objects)
		if !ok || err != nil || real != filepath.Clean(objects) || filepath.Base(filepath.Dir(filepath.Dir(path))) != "objects" {
			return false
		}
		if !safefile.Below(w.o.Root, real) && w.o.Policy.MayRead(real+"/objects", policy.Dir) {
			_, err := os.Lstat(real + "/objects/info/alternates") // which may lead on
			return errors.Is(err, fs.ErrNotExist)
		}
		return w.looksAt(real)
	}
	return false
}

// looksAt reports whether the settings of a repository are looked at: nobody looks for one in
// what git keeps in another's directory but for submodules.
func (w *Wall) looksAt(repository string) bool {
	rel, ok := safefile.Rel(w.o.Root, repository)
	if repository != w.Enclosing && !ok {
		return false
	}
	if _, kept, ok := strings.Cut("/"+rel, "/.git/"); ok && !lookedThrough(kept) {
		return false
	}
	_, err := os.Lstat(filepath.Join(repository, "HEAD"))
	return err == nil && !slices.ContainsFunc([]string{"objects", "refs"}, func(name string) bool {
		i, err := os.Lstat(filepath.Join(repository, name))
		return err != nil || !i.IsDir()
	})
}

// lookedThrough reports whether foreign comes to a directory in a repository's directory.
func lookedThrough(rel string) bool {
	for dir := rel; dir != "."; dir = filepath.Dir(dir) {
		if plain(dir) {
			return false
		}
	}
	return inModules(rel)
}

// plainConfig reports whether a repository's settings are among those that git
// init, clone and commit make, or that are free, and run nothing; also is one more of [core].
func plainConfig(config, also string) bool {
	section, named := "", false
	lines := bufio.NewScanner(bytes.NewReader([]byte(config)))
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if line == "" {
			continue
		}
		if head, ok := strings.CutPrefix(line, "["); ok {
			head, closed := strings.CutSuffix(head, "]")
			name, sub, quoted := strings.Cut(head, ` "`)
			if !closed || strings.ContainsAny(head, `[]\`) || quoted && strings.Count(sub, `"`) != 1 {
				return false
			}
			section, named = strings.ToLower(name), quoted
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		key, value = strings.ToLower(strings.TrimSpace(key)), strings.TrimSpace(value)
		if !ok || strings.ContainsAny(value, "\"\\;#") || strings.Contains(value, "::") || strings.HasPrefix(value, "-") || !plainSetting(section, named, key) && (section != "core" || key != also) && (named || !gitsettings.Free(section+"."+key, value)) {
			return false
		}
	}
	return lines.Err() == nil && config != ""
}

func plainSetting(section string, named bool, key string) bool {
	words := map[string]string{
		"core":       "repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks",
		"user":       "name email",
		"init":       "defaultbranch",
		"extensions": "objectformat refstorage",
	}[section]
	if named {
		words = map[string]string{"remote": "url fetch tagopt", "branch": "remote merge rebase", "submodule": "url active"}[section]
	}
	return slices.Contains(strings.Fields(words), key)
}
