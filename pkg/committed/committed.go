// Package committed says which files of a repository are in its history, where
// every command may read them: that a file with the name of a secret is one of
// them makes it none.
//
// A name in the history proves nothing, for a command can commit any name with
// whatever content. What counts is the content: a file is committed when it
// holds what git's HEAD holds for it, or for a sample beside it. Whoever puts into the history what a file
// holds knows that already. A file that was seen to be committed once stays so
// while HEAD has its name, so that it can be changed and committed again.
package committed

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// Files answers for the repositories of one machine. It is safe for use by
// several goroutines.
type Files struct {
	Git   func() string // the path of git; "" where there is none, and then no file is committed
	State string        // directory where is kept what was seen; "" for nowhere

	mu    sync.Mutex
	repos map[string]*repository // by their tops
	// refused are files that were there and not committed. One of them that takes the
	// place of a committed file is none.
	refused map[string]bool
	news    []string        // of those, what is not kept yet
	secrets map[string]bool // see Secrets
	late    late
}

// A repository is what is known of one.
type repository struct {
	top, git string           // absolute: the work tree, and what .git is or names
	late     *late            // of the Files
	Head     string           `json:"head"` // what HEAD was when Names was asked for; "" where that cannot be told
	Names    map[string]*name `json:"names"`
	changed  bool
}

// A name is a file that HEAD was asked about.
type name struct {
	Hash string `json:"hash,omitempty"` // of its content in HEAD; "" when HEAD has no such file
	Seen bool   `json:"seen,omitempty"` // a file with that content was there
}

// maxSize bounds the files whose content is compared.
const maxSize = 16 << 20

// Among returns those of the paths that are committed. They are absolute, and
// their directories' links resolved. A link to a file is, where the file is, too.
func (f *Files) Among(paths []string) map[string]bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	held := map[string]bool{}
	asked := map[*repository][]string{}
	led := map[string]string{} // the files that links among them lead to
	ask := func(path string) {
		if r := f.repository(filepath.Dir(path)); r != nil {
			asked[r] = append(asked[r], path)
		}
	}
	for _, path := range paths {
		ask(path)
		if to := ledTo(path); to != "" {
			led[path] = to
			ask(to)
		}
	}
	for r, paths := range asked {
		if !r.ask(f.Git, paths) {
			continue
		}
		for _, path := range paths {
			if f.holds(r, path) || led[path] == "" && r.holdsSample(f.Git, path) {
				held[path] = true
			}
		}
		f.save(r)
	}
	for link, to := range led { // HEAD has where the link leads, and not what is there
		held[link] = held[link] && held[to]
	}
	for _, path := range paths {
		if id := identity(path); id != "" && !held[path] && !f.loadRefused()[id] {
			f.refused[id] = true
			f.news = append(f.news, id)
		}
	}
	f.saveRefused()
	return held
}

// ledTo is the file that a link leads to; "" for what is none.
func ledTo(path string) string {
	if i, err := os.Lstat(path); err != nil || i.Mode()&fs.ModeSymlink == 0 {
		return ""
	}
	to, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	if i, err := os.Lstat(to); err != nil || i.IsDir() {
		return ""
	}
	return to
}

// repository finds the innermost one that holds dir; nil for none.
func (f *Files) repository(dir string) *repository {
	for {
		if r, ok := f.repos[dir]; ok {
			return r
		}
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			r := &repository{top: dir, git: gitDir(dir), Names: map[string]*name{}, late: &f.late}
			f.load(r)
			if f.repos == nil {
				f.repos = map[string]*repository{}
			}
			f.repos[dir] = r
			return r
		}
		up := filepath.Dir(dir)
		if up == dir {
			return nil
		}
		dir = up
	}
}

// ask asks git for the names that are not known yet.
func (r *repository) ask(git func() string, paths []string) bool {
	head, born := r.head()
	if !born {
		return false
	}
	if head == "" || head != r.Head {
		for _, n := range r.Names { // what was seen stays
			n.Hash = ""
		}
		r.Head, r.changed = head, true
		for rel, n := range r.Names {
			if !n.Seen {
				delete(r.Names, rel)
			}
		}
		for rel := range r.Names {
			paths = append(paths, filepath.Join(r.top, rel))
		}
		known := r.list(git, paths)
		for _, n := range r.Names {
			n.Seen = n.Seen && (n.Hash != "" || !known)
		}
		return known
	}
	var unknown []string
	for _, path := range paths {
		if _, ok := r.Names[r.rel(path)]; !ok {
			unknown = append(unknown, path)
		}
	}
	return r.list(git, unknown)
}

// atOnce is how many names git is given in one call.
const atOnce = 400

// list asks git what HEAD holds.
func (r *repository) list(git func() string, paths []string) bool {
	for len(paths) > 0 {
		some := paths[:min(atOnce, len(paths))]
		paths = paths[len(some):]
		program := git()
		if program == "" {
			return false
		}
		args := []string{"--literal-pathspecs", "ls-tree", "-z", "--full-tree", "HEAD", "--"}
		for _, path := range some {
			rel := r.rel(path)
			if r.Names[rel] == nil {
				r.Names[rel] = &name{}
			}
			args = append(args, rel)
		}
		out, err := r.run(program, args)
		if err != nil {
			return false
		}
		r.changed = true
		lines := strings.Split(out, "\x00")
		if r.replaces() { // the history that somebody sees is another
			shown, err := r.runAs(program, args, true)
			if err != nil {
				return false
			}
			also := strings.Split(shown, "\x00")
			lines = slices.DeleteFunc(lines, func(line string) bool { return !slices.Contains(also, line) })
		}
		for _, line := range lines {
			about, rel, _ := strings.Cut(line, "\t")
			if n, field := r.Names[rel], strings.Fields(about); n != nil && len(field) == 3 && field[1] == "blob" {
				n.Hash = field[2]
			}
		}
	}
	return true
}

// replaces reports whether git shows other objects in the place of some, see git-replace(1).
func (r *repository) replaces() bool {
	common := commonDir(r.git)
	if entries, err := os.ReadDir(filepath.Join(common, replacedDir)); len(entries) > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return true
	}
	if _, err := os.Lstat(filepath.Join(common, "reftable")); err == nil {
		return true
	}
	packed, err := readFile(filepath.Join(common, "packed-refs"))
	return err != nil && !errors.Is(err, fs.ErrNotExist) || bytes.Contains(packed, []byte(" "+replacedDir+"/"))
}

// replacedDir is where git keeps the names of what it shows in another's place.
const replacedDir = "refs/replace"

// timeout bounds one call of git. Where two of them have lasted so long within a minute, as where what git reads is a
// pipe in which nobody writes, git is not asked for the rest of it: what it would say is not known then.
const timeout = 5 * time.Second

// late is when calls of git had taken too long.
type late struct {
	mu    sync.Mutex
	times []time.Time
}

var errLate = errors.New("git does not answer in time")

// again reports whether git is not to be asked now; add notes that it has not answered.
func (l *late) again(add bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	l.times = slices.DeleteFunc(l.times, func(t time.Time) bool { return now.Sub(t) > time.Minute })
	if add {
		l.times = append(l.times, now)
	}
	return len(l.times) >= 2
}

// run runs git so that nothing which the repository says is run or fetched, on the objects themselves.
func (r *repository) run(program string, args []string) (string, error) {
	return r.runAs(program, args, false)
}

// runAs is run; where replaced is set, on what is shown in the place of objects.
func (r *repository) runAs(program string, args []string, replaced bool) (string, error) {
	return r.runOn(program, args, "", replaced)
}

// runOn is runAs; it reads in.
func (r *repository) runOn(program string, args []string, in string, replaced bool) (string, error) {
	if r.late.again(false) {
		return "", errLate
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	c := exec.CommandContext(ctx, program, args...)
	c.Dir = r.top
	c.Env = []string{
		"LC_ALL=C", "PATH=/usr/bin:/bin", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_OPTIONAL_LOCKS=0",
		"GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "GIT_TERMINAL_PROMPT=0", "GIT_DIR=" + r.git, "GIT_WORK_TREE=" + r.top,
	}
	if !replaced {
		c.Env = append(c.Env, "GIT_NO_REPLACE_OBJECTS=1")
	}
	c.WaitDelay = time.Second
	out := &bounded{left: maxOutput}
	c.Stdout = out
	if in != "" {
		c.Stdin = strings.NewReader(in)
	}
	err := c.Start()
	if err == nil {
		limitMemory(c.Process.Pid)
		err = c.Wait()
	}
	if out.left < 0 {
		err = errTooMuch
	}
	if ctx.Err() != nil {
		r.late.again(true)
	}
	return out.String(), err
}

// What git may take that runs outside the sandbox on a repository in which commands write: of output in all, and
// of memory of its own.
const (
	maxOutput = 64 << 20 // bytes
	maxMemory = 1 << 30
)

// bounded takes so many bytes, and refuses more: git ends then.
type bounded struct {
	strings.Builder
	left int
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, errTooMuch
	}
	return b.Builder.Write(p)
}

var errTooMuch = errors.New("git prints more than can be read")

// rel is the name of a file in the repository, as git has it.
func (r *repository) rel(path string) string {
	rel, _ := filepath.Rel(r.top, path)
	return filepath.ToSlash(rel)
}

// holds compares a file with HEAD.
func (f *Files) holds(r *repository, path string) bool {
	n := r.Names[r.rel(path)]
	if n == nil || n.Hash == "" {
		return false
	}
	if n.Seen && !f.loadRefused()[identity(path)] {
		return true
	}
	same := sameContent(path, n.Hash)
	if id := identity(path); same && f.loadRefused()[id] { // by now it is in the history
		delete(f.refused, id)
		f.news = append(f.news, "-"+id)
	}
	if same && !n.Seen {
		n.Seen, r.changed = true, true
	}
	return same
}

// sampleEnds are the endings of files that show what one of the same name may hold.
var sampleEnds = [...]string{".example", ".sample", ".template", ".dist", ".defaults"}

// holdsSample reports whether a file holds what HEAD has of a sample beside it, as after cp .env.example .env.
// That it did once says nothing: it is made to be filled in.
func (r *repository) holdsSample(git func() string, path string) bool {
	var samples []string
	for _, end := range sampleEnds {
		names := []string{path}
		if dir, name := filepath.Split(path); strings.HasPrefix(name, ".env.") {
			names = append(names, dir+".env")
		}
		for _, name := range names {
			if _, err := os.Lstat(name + end); err == nil {
				samples = append(samples, name+end)
			}
		}
	}
	return len(samples) > 0 && r.ask(git, samples) && slices.ContainsFunc(samples, func(sample string) bool {
		n := r.Names[r.rel(sample)]
		return n != nil && n.Hash != "" && sameContent(path, n.Hash)
	})
}

// maxRefused bounds what is kept of refused files.
const maxRefused = 100_000

// loadRefused returns the refused files.
func (f *Files) loadRefused() map[string]bool {
	if f.refused == nil {
		f.refused = map[string]bool{}
		if f.State != "" {
			data, _ := os.ReadFile(filepath.Join(f.State, "refused"))
			for id := range strings.FieldsSeq(string(data)) {
				if gone, ok := strings.CutPrefix(id, "-"); ok {
					delete(f.refused, gone)
				} else {
					f.refused[id] = true
				}
			}
		}
	}
	return f.refused
}

func (f *Files) saveRefused() {
	if f.State == "" || len(f.news) == 0 || len(f.refused) > maxRefused || os.MkdirAll(f.State, 0o700) != nil {
		return
	}
	file, err := os.OpenFile(filepath.Join(f.State, "refused"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return
	}
	if _, err = file.WriteString(strings.Join(f.news, "\n") + "\n"); err == nil {
		f.news = nil
	}
	_ = file.Close()
}

// sameContent reports whether a file, or what a link says, has the hash that
// git gives it. Line ends may be those of Windows.
func sameContent(path, want string) bool {
	i, err := os.Lstat(path)
	if err != nil || i.Size() > maxSize {
		return false
	}
	var data []byte
	switch {
	case i.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(path)
		return err == nil && blobHash([]byte(target), want) == want
	case i.Mode().IsRegular():
		if data, err = readFile(path); err != nil {
			return false
		}
	default:
		return false
	}
	return blobHash(data, want) == want || blobHash(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")), want) == want
}

// readFile reads a file that stays one: what takes its place is not waited for.
func readFile(path string) ([]byte, error) {
	f, err := safefile.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var b bytes.Buffer
	if info, err := f.Stat(); err == nil && info.Size() <= maxSize {
		b.Grow(int(info.Size()) + bytes.MinRead) // what takes ReadFrom to the end without more
	}
	n, err := b.ReadFrom(io.LimitReader(f, maxSize+1))
	if n > maxSize {
		err = safefile.ErrTooLarge
	}
	return b.Bytes(), err
}

// blobHash is git's hash of a content, in the form that like has.
func blobHash(data []byte, like string) string { return objectHash("blob", data, like) }

// gitDir is what .git in a work tree is, or names.
func gitDir(top string) string {
	at := filepath.Join(top, ".git")
	data, err := readFile(at)
	if err != nil {
		return at
	}
	named, ok := safefile.GitDir(data)
	if !ok {
		return at
	}
	if !filepath.IsAbs(named) {
		named = filepath.Join(top, named)
	}
	return named
}

// commonDir is the directory that a worktree's shares with others.
func commonDir(git string) string {
	common := readable(filepath.Join(git, "commondir"))
	switch {
	case common == "":
		return git
	case filepath.IsAbs(common):
		return common
	}
	return filepath.Join(git, common)
}

// readable is what a small file says; "" where it cannot be read.
func readable(path string) string {
	data, err := readFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// head tells one HEAD from another, and what is shown in the place of its objects; "" where it cannot be told without git. It
// is not born where there is no commit yet, nor where there is no HEAD: git takes
// that for no repository.
func (r *repository) head() (id string, born bool) {
	at := filepath.Join(r.git, "HEAD")
	if _, err := os.Lstat(at); errors.Is(err, fs.ErrNotExist) {
		return "", false
	}
	if i, err := os.Stat(at); err == nil && !i.Mode().IsRegular() { // as a pipe, which git would wait for
		return "", false
	}
	data, err := readFile(at)
	if err != nil {
		return "", true
	}
	text := strings.TrimSpace(string(data))
	ref, ok := strings.CutPrefix(text, "ref: ")
	common := commonDir(r.git)
	if !ok {
		return text + stamps(common), true
	}
	if data, err = readFile(filepath.Join(common, filepath.FromSlash(ref))); err == nil {
		return text + " " + strings.TrimSpace(string(data)) + stamps(common), true
	}
	if _, err := os.Stat(filepath.Join(common, "packed-refs")); err != nil {
		_, err = os.Stat(filepath.Join(common, "reftable"))
		return "", err == nil
	}
	return text + " packed" + stamps(common), true
}

// stamps tell of a change of what git shows in the place of other objects.
func stamps(common string) (s string) {
	if i, err := os.Stat(filepath.Join(common, "packed-refs")); err == nil {
		s = fmt.Sprint(" ", i.ModTime().UnixNano(), " ", i.Size())
	}
	entries, _ := os.ReadDir(filepath.Join(common, replacedDir))
	for _, e := range entries {
		if i, err := e.Info(); err == nil {
			s += fmt.Sprint(" ", e.Name(), " ", i.ModTime().UnixNano())
		}
	}
	return s
}

// file is where is kept what is known of a repository.
func (f *Files) file(r *repository) string {
	sum := sha256.Sum256([]byte(r.top))
	return filepath.Join(f.State, hex.EncodeToString(sum[:12])+".json")
}

func (f *Files) load(r *repository) {
	if f.State == "" {
		return
	}
	data, err := os.ReadFile(f.file(r))
	if err != nil || safefile.DecodeJSON(data, r) != nil || r.Names == nil {
		r.Head, r.Names = "", map[string]*name{}
	}
	for rel, n := range r.Names {
		if n == nil {
			delete(r.Names, rel)
		}
	}
}

// save keeps what is known. Where it cannot be kept it is found out again.
func (f *Files) save(r *repository) {
	if f.State == "" || !r.changed {
		return
	}
	data, err := safefile.EncodeJSON(r)
	if err == nil && os.MkdirAll(f.State, 0o700) == nil && safefile.WriteFile(f.file(r), data, false) == nil {
		r.changed = false
	}
}
