package loss

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/agentkit-go/agentkit/pkg/change"
	"github.com/agentkit-go/agentkit/pkg/machine"
	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/programs"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/sandbox"
	"github.com/agentkit-go/agentkit/pkg/shellparse"
	"github.com/agentkit-go/agentkit/pkg/steps"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/world"
)

// What `grep -rl x | xargs sed -i s/x/y/` changes nobody knows before it runs. When sed
// starts, the gate has all its words, and what they name is kept before it begins.

// watchable are the programs that are looked at when they start.
var watchable = [...]string{"sed", "perl", "sort", "mv", "cp", "install", "ln", "dd", "tee", "truncate", "rm", "unlink"}

// watched are those programs of a command that get words which are not known before it
// runs, those of a file of commands, and ln, whose options decide whether it replaces a link; git, where they may have it take something away.
func (d *dooming) watched() (names []string) {
	if !d.keepsLate() {
		return nil
	}
	for i := range d.needs {
		a := &d.needs[i]
		if sub, _ := steps.Git(a.Argv); steps.GitOpen(a) && a.Class != policy.ReadOnly && (programs.GitDrops(sub) && sub != "commit" || sub == "mv") && !slices.Contains(names, "git") {
			names = append(names, "git")
		}
		if name := steps.Name(a); a.Kind == policy.Exec && (slices.Contains(a.Dynamic, true) || name == "ln" || a.Scripted) && slices.Contains(watchable[:], name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// A Watcher tells, as the programs of a command start, what they are about to take away.
type Watcher struct {
	Env      *tool.Env            // of the call
	Dir      string               // where the command starts
	Shelving change.ShelveOptions // for what is kept
	Watched  []string             // see Taken
	Needs    []policy.Access      // of the command
	GitKept  bool                 // what git keeps of a repository was kept before the command began
	Begun    time.Time            // the command

	Written func(path string) bool // tells what other calls have written since; nil where none is to be looked for

	emptying emptying
	gits     gits
	looking  sync.Mutex
	looks    int
	looked   map[string]look // the last in each repository, by its top
	broken   map[string]bool // the tops of those of which a program has taken something away; true where that is not kept
}

// emptying is what was found of files that are emptied or replaced.
type emptying struct {
	sync.Mutex
	seen map[[2]uint64]bool // by device and number: was looked at, and what it holds later is the command's
	left int64              // bytes that may still be copied

	searched int // names in the root

	repositories map[string]bool // of which a program has removed something: all that git keeps was to be kept once
}

// first reports whether something is removed of a repository for the first time.
func (m *emptying) first(dir string) bool {
	if m.repositories == nil {
		m.repositories = map[string]bool{}
	}
	had := m.repositories[dir]
	m.repositories[dir] = true
	return !had
}

// was reports whether a directory held a repository before a program took something of it away.
func (l *Watcher) was(top string) bool {
	l.looking.Lock()
	defer l.looking.Unlock()
	_, is := l.broken[top]
	return is
}

// forsaken reports whether something that was taken away of a repository could not be kept: what it has of its files is nowhere else then.
func (l *Watcher) forsaken(top string) bool {
	l.looking.Lock()
	defer l.looking.Unlock()
	return l.broken[top]
}

// gits are the processes that have begun since the first git did.
type gits struct {
	sync.Mutex
	looked   bool
	programs []fs.FileInfo // git's, which no command can write: that on the path, and that in its own directory
	work     map[int]bool  // true for a git at work of which what it takes away is kept, or was nothing
}

// A look is what was found to be nowhere else in a repository.
type look struct {
	at      time.Time
	nowhere []string
	newly   []string         // what git ignores by rules that have come since the command began, and is as little anywhere else
	ruled   bool             // there are such rules
	ok      bool             // these are all
	dirs    map[inode]string // that hold them
	files   map[inode]string // they themselves; nil for not known yet
}

// An inode tells a file or directory from others, whatever it is called.
type inode struct{ dev, ino uint64 }

// git is what a git takes away that does not stand in the call, and what of that is nowhere else; false where not
// all of that can be kept. After another one that does, it is what it changes.
func (l *Watcher) git(ctx context.Context, e *sandbox.Exec) (names, must []change.Doomed, ok bool) {
	top, variables := repositoryAbove(e.Cwd), environ(e)
	for _, entry := range variables { // as git tells its hooks, or another place
		name, value, _ := strings.Cut(entry, "=")
		if !filepath.IsAbs(value) {
			value = filepath.Join(e.Cwd, value)
		}
		switch name {
		case "GIT_DIR", "GIT_COMMON_DIR":
			if value != filepath.Join(top, ".git") {
				return nil, nil, false
			}
		case "GIT_WORK_TREE":
			if value != top {
				return nil, nil, false
			}
		case "GIT_INDEX_FILE": // of a hook: git's own, or that of a part of what is changed
			if filepath.Dir(value) != filepath.Join(top, ".git") || !strings.HasPrefix(filepath.Base(value), "index") && !strings.HasPrefix(filepath.Base(value), "next-index-") {
				return nil, nil, false
			}
		case "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS":
			return nil, nil, false
		}
	}
	if l.own(top, e.Argv) {
		return nil, nil, true
	}
	lost, must, ok := l.losses(ctx, e, variables, l.follows(e))
	if !ok || !lost.doom.gitKept {
		return nil, nil, false
	}
	for path := range lost.doom.names {
		info, err := os.Lstat(path)
		if err == nil && filepath.Base(path) == "index" && !info.ModTime().Before(l.Begun) { // as the command has made it
			delete(lost.doom.names, path)
		}
	}
	return lost.doom.names.List(false), must, true
}

// elsewhere reports whether a git that takes something away stood in the command with these words, and for another repository
// than that where it starts: the text may leave the directory open.
func (l *Watcher) elsewhere(e *sandbox.Exec) (found bool) {
	here := ""
	for i := range l.Needs {
		a := &l.Needs[i]
		if a.Kind != policy.Exec || !a.Drops || !slices.Equal(a.Argv, e.Argv) {
			continue
		}
		if !found {
			started := l.accesses(e, environ(e))
			here = repositoryAbove(gitTop(started, slices.IndexFunc(started, func(a policy.Access) bool { return a.Kind == policy.Exec }), e.Cwd))
		}
		known := gitTop(l.Needs, i, "")
		if known == "" && !slices.Contains(a.Argv, "-C") {
			known = l.Dir
		}
		if known != "" && repositoryAbove(known) == here {
			return false
		}
		found = true
	}
	return found
}

// drops reports whether a git takes something away, and did not stand in the command with these words, so that nothing was kept before.
// What is a part of another git's work does not.
func (l *Watcher) drops(e *sandbox.Exec, part bool) bool {
	sub, _ := steps.Git(e.Argv)
	if !programs.GitDrops(sub) || slices.ContainsFunc(l.Needs, func(a policy.Access) bool {
		return a.Kind == policy.Exec && a.Drops && !slices.Contains(a.Dynamic, true) && slices.Equal(a.Argv, e.Argv)
	}) || part {
		return false
	}
	return slices.ContainsFunc(l.accesses(e, environ(e)), func(a policy.Access) bool { return a.Drops })
}

// follows reports whether a git stood in the command with words that were not known, beside one that takes something away.
func (l *Watcher) follows(e *sandbox.Exec) bool {
	sub, _ := steps.Git(e.Argv)
	return l.GitKept && slices.ContainsFunc(l.Needs, func(a policy.Access) bool {
		stood, _ := steps.Git(a.Argv)
		return steps.GitOpen(&a) && stood == sub && a.Class != policy.ReadOnly
	})
}

// files is what another program takes away that does not stand in the call, likewise.
func (l *Watcher) files(ctx context.Context, e *sandbox.Exec) (names, must []change.Doomed, ok bool) {
	lost, must, ok := l.losses(ctx, e, environ(e), false)
	if !ok {
		return nil, nil, false
	}
	made := func(d change.Doomed) bool { return l.made(d.Path) }
	must = slices.DeleteFunc(must, made)
	return append(slices.DeleteFunc(lost.doom.names.List(false), made), must...), must, true // an old file may lie in a directory that was made
}

// losses judges a program that starts as if it were a call, and finds what must be kept of what it takes away; it is
// false where that is not all, or more than a loss is dangerous in it.
func (l *Watcher) losses(ctx context.Context, e *sandbox.Exec, variables []string, lossy bool) (lost *losses, must []change.Doomed, ok bool) {
	lost = &losses{ctx: ctx, env: l.Env, dir: e.Cwd, needs: l.accesses(e, variables), lossy: lossy, keeping: InCall}
	needs, keep := lost.find()
	if len(lost.aside) > 0 || slices.ContainsFunc(needs, func(a policy.Access) bool { return a.Danger != "" }) {
		return nil, nil, false
	}
	for path := range keep {
		must = append(must, change.Doomed{Path: path, Written: lost.doom.names[path]})
	}
	return lost, must, true
}

// environ are the variables of a program that starts.
func environ(e *sandbox.Exec) []string {
	if e.Environ == nil {
		return nil
	}
	return e.Environ()
}

// startedProgram is the name of the program that starts: the file's, whatever the first word says, or what that says where the
// file may be several programs.
func startedProgram(e *sandbox.Exec) string {
	if name := filepath.Base(cmp.Or(e.Original, e.Path)); name == "git" || slices.Contains(watchable[:], name) {
		return name
	}
	return filepath.Base(append(e.Argv, "")[0])
}

// ownLinks are the names by which a process reaches its own directories, also behind the name of an option.
const ownLinks = `/(?:proc/(?:thread-)?self/(cwd|root|fd/[0-9]+)|dev/(fd/[0-9]+))(/|$)`

// ownPlaces is a word of a process with the directories that such names lead to for it.
func ownPlaces(word string, e *sandbox.Exec) string {
	if !strings.Contains(word, "/proc/") && !strings.Contains(word, "/dev/fd/") {
		return word
	}
	links := regexp.MustCompile(ownLinks)
	return links.ReplaceAllStringFunc(word, func(link string) string {
		part := links.FindStringSubmatch(link)
		to, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(e.Pid), part[1]+part[2]))
		if err != nil || !filepath.IsAbs(to) {
			return link
		}
		return to + part[3]
	})
}

// accesses are those of a program that starts with these variables.
func (l *Watcher) accesses(e *sandbox.Exec, variables []string) []policy.Access {
	program := cmp.Or(e.Original, e.Path)
	argv := slices.Clone(programs.Undashed(program, e.Argv))
	for i, word := range argv {
		argv[i] = ownPlaces(word, e)
	}
	if filepath.Base(program) == startedProgram(e) && len(argv) > 0 {
		argv[0] = program
	}
	return shellparse.Argv(argv, world.New(l.Env, e.Cwd, variables)).Accesses
}

// repositoryAbove is the innermost directory at or above dir that holds a repository; "" for none.
func repositoryAbove(dir string) string {
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// own reports whether git is started for a repository that was made in a temporary directory since the session
// began, and is not part of another: whatever is lost there is no older.
func (l *Watcher) own(top string, argv []string) bool {
	if sub, _ := steps.Git(argv); sub == "" || slices.Contains(argv, "-C") || top == "" || safefile.Below(l.Env.Workspace.Root(), top) || !world.Fresh(l.Env, top) {
		return false
	}
	info, err := os.Lstat(filepath.Join(top, ".git"))
	_, common := os.Lstat(filepath.Join(top, ".git", "commondir"))
	return err == nil && info.IsDir() && errors.Is(common, fs.ErrNotExist)
}

// names are what a program with these accesses takes away in the root, as far as it was there when the command
// began; with moves also what mv gives another name.
func (l *Watcher) names(e *sandbox.Exec, accesses []policy.Access, moves bool) []change.Doomed {
	d := newDooming(l.Env, e.Cwd, "", accesses, InCall)
	for j := range d.needs {
		w := &d.needs[j]
		if w.Parent > 0 && destroys(w, &d.needs[w.Parent-1]) {
			d.write(w)
			d.files(w, nil)
		}
	}
	d.rewritten()
	d.replaced()
	d.copied()
	if last := e.Argv[len(e.Argv)-1]; startedProgram(e) == "ln" { // with -n it replaces a link to a directory
		if !filepath.IsAbs(last) {
			last = filepath.Join(e.Cwd, last)
		}
		d.link(&policy.Access{Named: filepath.Clean(last)})
	}
	for j := range d.needs {
		if w := &d.needs[j]; moves && d.steps.Moved(w) && w.Op == policy.Delete && w.Opaque == "" && w.File != policy.Missing && safefile.Below(l.Env.Workspace.Root(), w.Path) {
			d.names.add(false, w.Path)
		}
	}
	d.beside()
	for path, written := range maps.Clone(d.names) {
		switch {
		case safefile.InGit(path):
			delete(d.names, path)
		case l.made(path):
			delete(d.names, path)
			d.names.add(written, l.older(path)...)
		}
	}
	return d.names.List(false)
}

// maxInner bounds how many names of a directory are looked at for a repository among them.
const maxInner = 20_000

// older are the files and directories in a directory of the command's own making that it has moved there. What has a second name
// is not lost.
func (l *Watcher) older(dir string) (names []string) {
	left := maxInner
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch left--; {
		case left < 0:
			return fs.SkipAll
		case err != nil || path == dir && e.IsDir():
		case e.IsDir() && e.Name() == ".git":
			return fs.SkipDir
		case l.made(path):
		case e.IsDir():
			names = append(names, path)
			return fs.SkipDir
		default:
			if p, err := l.Env.Workspace.ResolveIn(dir, path); err == nil && p.Read("bash").Links < 2 {
				names = append(names, path)
			}
		}
		return nil
	})
	return names
}

// made reports whether a file, or the directory that it is to stand in, was made by the
// command itself.
func (l *Watcher) made(path string) bool {
	for at := path; ; at = filepath.Dir(at) {
		if born, ok := machine.Birth(at); ok {
			return !born.Before(l.Begun) && (l.Written == nil || !l.Written(path))
		}
		if at == filepath.Dir(at) {
			return false
		}
	}
}
