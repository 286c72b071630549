//go:build linux && (amd64 || arm64)

package sandbox

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// An identity is which program runs with which words, as /proc shows it.
type identity struct {
	dev, ino uint64
	cmdline  string
	hidden   bool // its file cannot be read, so that the process shows itself to nobody
}

// exec decides the start of a program. The kernel goes on from memory that
// another thread of the process may write to meanwhile; what really was
// started is looked at once more by loaded.
func (g *gatekeeper) exec(n *notice) verdict {
	if g.decide == nil {
		return verdict{goOn: true}
	}
	x, err := g.readExec(n)
	if err != nil {
		return g.unknown(n, err)
	}
	if !g.valid(n) {
		return refused(unix.EINTR)
	}
	steps, id := g.chain(x)
	for _, e := range steps {
		if a := g.decide(g.ctx, e); !a.Allow {
			g.denyExec(e, a)
			return refused(unix.EACCES)
		}
	}
	if id != nil {
		g.expect(int(n.pid), id)
	}
	return verdict{goOn: true}
}

// unknown refuses a start of which nothing is known, unless there is nothing
// to know: the kernel will not read either what is not there.
func (g *gatekeeper) unknown(n *notice, err error) verdict {
	if !g.valid(n) {
		return refused(unix.EINTR)
	}
	if errors.Is(err, unix.E2BIG) {
		return refused(unix.E2BIG)
	}
	g.log.deny(&Denial{Kind: DeniedExec, Pid: int(n.pid), Why: "the program to start cannot be told: " + err.Error()})
	return refused(unix.EACCES)
}

func (g *gatekeeper) denyExec(e *Exec, a Answer) {
	path := e.Path
	if e.Original != "" {
		path = e.Original
	}
	g.log.deny(&Denial{Kind: DeniedExec, Path: path, Argv: e.Argv, Pid: e.Pid, Rule: a.Rule, Why: a.Why})
}

// expect notes what process pid is about to be.
func (g *gatekeeper) expect(pid int, id *identity) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.due) >= maxDue {
		clear(g.due) // they are looked at as if never seen
	}
	g.due[pid] = id
}

// loaded looks at a program that runs by now, at the first call that it makes:
// it is the one that was decided, or is decided now.
func (g *gatekeeper) loaded(n *notice) verdict {
	pid := int(n.pid)
	g.mu.Lock()
	id := g.due[pid]
	delete(g.due, pid)
	g.mu.Unlock()
	if g.decide == nil {
		return verdict{goOn: true}
	}
	dir := "/proc/" + strconv.Itoa(pid)
	var st unix.Stat_t
	errExe := unix.Stat(dir+"/exe", &st)
	cmdline, errWords := os.ReadFile(dir + "/cmdline")
	if !g.valid(n) {
		return refused(unix.EINTR)
	}
	unseen := false
	switch {
	case errExe != nil || errWords != nil: // a process does not show itself to others where its file cannot be read
		if id != nil && id.hidden {
			return verdict{goOn: true} // it was decided once
		}
		unseen = true // another file may have taken the name of the one that was decided about
	case id != nil && id.dev == st.Dev && id.ino == st.Ino && id.cmdline == string(cmdline):
		return verdict{goOn: true}
	}
	process, err := unix.PidfdOpen(pid, 0) // by the time of an answer the number may be another's
	if err != nil || !g.valid(n) {
		return refused(unix.EACCES)
	}
	defer unix.Close(process)
	e := g.running(pid, cmdline)
	a := Answer{Why: "whether it is the program that was decided about cannot be told, as its file cannot be read"}
	if !unseen {
		a = g.decide(g.ctx, e)
	}
	if !a.Allow {
		g.denyExec(e, a)
		_ = unix.PidfdSendSignal(process, unix.SIGKILL, nil, 0)
		return refused(unix.EACCES)
	}
	return verdict{goOn: true}
}

// running describes a program that runs.
func (g *gatekeeper) running(pid int, cmdline []byte) *Exec {
	dir := "/proc/" + strconv.Itoa(pid)
	path, _ := os.Readlink(dir + "/exe")
	cwd, _ := os.Readlink(dir + "/cwd")
	argv := strings.Split(strings.TrimSuffix(string(cmdline), "\x00"), "\x00")
	e := &Exec{Path: path, Named: path, Argv: argv, Cwd: cwd, Pid: pid, Parents: func() []int { return g.parents(pid) }, Environ: func() []string {
		env, err := os.ReadFile(dir + "/environ")
		if err != nil {
			return nil
		}
		return strings.Split(strings.TrimSuffix(string(env), "\x00"), "\x00")
	}}
	if fd, err := unix.Open(dir+"/exe", unix.O_PATH|unix.O_CLOEXEC, 0); err == nil {
		f := &executable{fd: fd, path: path}
		g.identify(e, f)
		f.close()
	}
	return e
}

// A request is an exec as its caller wrote it.
type request struct {
	Exec
	dir   int // descriptor that Named starts from; unix.AT_FDCWD for the current directory
	flags int
}

// readExec reads what n is about.
func (g *gatekeeper) readExec(n *notice) (*request, error) {
	x := &request{dir: unix.AT_FDCWD}
	x.Pid = group(int(n.pid))
	x.Parents = func() []int { return g.parents(x.Pid) }
	path, argv, env := n.args[0], n.args[1], n.args[2]
	if uintptr(n.nr) == unix.SYS_EXECVEAT {
		x.dir, x.flags = n.number(0), n.number(4)
		path, argv, env = n.args[1], n.args[2], n.args[3]
	}
	m := &memory{pid: x.Pid}
	var err error
	if x.Named, err = m.text(path); err != nil {
		return nil, err
	}
	if x.Argv, err = m.words(argv); err != nil {
		return nil, err
	}
	x.Environ = func() []string {
		words, err := (&memory{pid: x.Pid}).words(env)
		if err != nil || !g.valid(n) {
			return nil
		}
		return words
	}
	x.Cwd, err = os.Readlink("/proc/" + strconv.Itoa(x.Pid) + "/cwd")
	return x, err
}

// An executable is a file that is about to be run.
type executable struct {
	fd   int
	path string
	st   unix.Stat_t
}

func (f *executable) close() { _ = unix.Close(f.fd) }

// outside opens a directory that the command sees by its path in our own mount namespace,
// where the kernel lets names go on which the command has something mounted; EBUSY where
// another one stands there.
func (g *gatekeeper) outside(f *executable) (*executable, error) {
	dir, err := g.file(unix.Openat2(unix.AT_FDCWD, f.path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS}))
	if err != nil {
		return nil, err
	}
	if dir.st.Dev != f.st.Dev || dir.st.Ino != f.st.Ino {
		dir.close()
		return nil, unix.EBUSY
	}
	return dir, nil
}

// find opens the file that the request names, without reading it.
func (g *gatekeeper) find(x *request) (*executable, error) {
	proc := "/proc/" + strconv.Itoa(x.Pid)
	base := x.Cwd
	if x.dir != unix.AT_FDCWD {
		if x.Named == "" && x.flags&unix.AT_EMPTY_PATH != 0 {
			return g.file(unix.Open(proc+"/fd/"+strconv.Itoa(x.dir), unix.O_PATH|unix.O_CLOEXEC, 0))
		}
		if !filepath.IsAbs(x.Named) {
			dir, err := os.Readlink(proc + "/fd/" + strconv.Itoa(x.dir))
			if err != nil {
				return nil, err
			}
			base = dir
		}
	}
	return g.look(x.Pid, base, x.Named, 0)
}

// look opens the file that a process calls name in directory base, with
// further flags of open.
func (g *gatekeeper) look(pid int, base, name string, flags uint64) (*executable, error) {
	if !strings.HasPrefix(name, "/") {
		name = base + "/" + name // not Join: x/.. is not nothing when x is a link
	}
	how := &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC | flags, Resolve: unix.RESOLVE_IN_ROOT}
	fd, err := unix.Openat2(g.root, name, how)
	if err != nil {
		// Links such as /proc/self/exe lead where no name does.
		fd, err = unix.Open(theirs(name, pid), unix.O_PATH|unix.O_CLOEXEC|int(flags), 0)
	}
	return g.file(fd, err)
}

// theirs is the name for us of what process pid calls name.
func theirs(name string, pid int) string {
	proc := "/proc/" + strconv.Itoa(pid)
	if rest, ok := strings.CutPrefix(filepath.Clean(name), "/proc/self/task/"); ok { // a thread has another number for us
		_, rest, _ = strings.Cut(rest, "/")
		name = "/proc/self/" + rest
	}
	for _, own := range [][2]string{{"/proc/self", proc}, {"/proc/thread-self", proc}, {"/dev/fd", proc + "/fd"}, {"/dev/stdin", proc + "/fd/0"}} {
		if rest, ok := strings.CutPrefix(filepath.Clean(name), own[0]); ok && (rest == "" || rest[0] == '/') {
			return own[1] + rest
		}
	}
	return proc + "/root" + name
}

func (g *gatekeeper) file(fd int, err error) (*executable, error) {
	if err != nil {
		return nil, err
	}
	f := &executable{fd: fd}
	if f.path, err = os.Readlink(self(fd)); err == nil {
		err = unix.Fstat(fd, &f.st)
	}
	if err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

// maxChain is how many interpreters in a row the kernel follows.
const maxChain = 5

// chain lists every program that the start amounts to: the one that is named,
// the interpreter of a script, the one that a dynamic loader is told to run.
// The identity is what the process will then look like; nil when that cannot
// be told. Where there is no program at all the list is empty, and the kernel
// says so itself.
func (g *gatekeeper) chain(x *request) (list []*Exec, id *identity) {
	f, err := g.find(x)
	if err != nil {
		return nil, nil
	}
	if f.st.Mode&unix.S_IFMT != unix.S_IFREG {
		f.close()
		return nil, nil
	}
	e := x.Exec
	argv := x.Argv
	if len(argv) == 0 {
		argv = []string{""} // the kernel's own answer to no words at all
	}
	for range maxChain {
		e.Path, e.Argv = f.path, argv
		g.identify(&e, f)
		step := e
		list = append(list, &step)
		interpreter, option := f.script()
		if interpreter == "" {
			id = &identity{dev: f.st.Dev, ino: f.st.Ino, cmdline: strings.Join(argv, "\x00") + "\x00", hidden: !f.readable()}
			if inner := g.loads(&step, f, x); inner != nil {
				list = append(list, inner)
			}
			f.close()
			return list, id
		}
		script := e.Named
		if e.Named == "" {
			script = "/dev/fd/" + strconv.Itoa(x.dir)
		} else if x.dir != unix.AT_FDCWD && !filepath.IsAbs(e.Named) {
			script = "/dev/fd/" + strconv.Itoa(x.dir) + "/" + e.Named
		}
		words := []string{interpreter}
		if option != "" {
			words = append(words, option)
		}
		argv = append(append(words, script), argv[1:]...)
		x.dir = unix.AT_FDCWD
		f.close()
		if f, err = g.look(x.Pid, x.Cwd, interpreter, 0); err != nil {
			return list, nil
		}
		e = Exec{Named: interpreter, Script: step.Path, Cwd: x.Cwd, Pid: x.Pid, Parents: x.Parents, Environ: x.Environ}
	}
	f.close()
	return list, nil
}

// script returns the interpreter of a script and the one word that it may get.
func (f *executable) script() (interpreter, option string) {
	if f.st.Mode&unix.S_IFMT != unix.S_IFREG {
		return "", ""
	}
	head := make([]byte, 256)
	n := f.readHead(head)
	rest, ok := bytes.CutPrefix(head[:n], []byte("#!"))
	if !ok {
		return "", ""
	}
	first, _, _ := bytes.Cut(rest, []byte("\n"))
	first, _, _ = bytes.Cut(first, []byte{0})
	text := strings.Trim(string(first), " \t")
	interpreter, option, _ = strings.Cut(strings.ReplaceAll(text, "\t", " "), " ")
	if option != "" {
		option = strings.Trim(text[len(interpreter):], " \t")
	}
	return interpreter, option
}

// readable reports whether the file can be read, which the kernel asks of whoever wants to see a process that runs it.
func (f *executable) readable() bool {
	return unix.Faccessat(unix.AT_FDCWD, self(f.fd), unix.R_OK, 0) == nil
}

func (f *executable) readHead(b []byte) int {
	fd, err := unix.Open(self(f.fd), unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return 0
	}
	defer unix.Close(fd)
	n, err := unix.Pread(fd, b, 0)
	if err != nil {
		return 0
	}
	return n
}

// identify fills in what kind of file e runs.
func (g *gatekeeper) identify(e *Exec, f *executable) {
	if f.st.Ino == 0 && unix.Fstat(f.fd, &f.st) != nil {
		return
	}
	e.InMemory = f.st.Nlink == 0 || strings.HasPrefix(f.path, "/memfd:")
	e.Original = g.copies.original(f)
}

// loads describes the program that a dynamic loader, called by itself, runs.
func (g *gatekeeper) loads(loader *Exec, f *executable, x *request) *Exec {
	if !isLoader(loader.Path, f) {
		return nil
	}
	withValue := []string{"--library-path", "--preload", "--audit", "--argv0", "--inhibit-rpath", "--glibc-hwcaps-prepend", "--glibc-hwcaps-mask"}
	for i := 1; i < len(loader.Argv); i++ {
		w := loader.Argv[i]
		if slices.Contains(withValue, w) {
			i++
			continue
		}
		if strings.HasPrefix(w, "--") {
			continue
		}
		f, err := g.look(x.Pid, x.Cwd, w, 0)
		if err != nil {
			return nil
		}
		defer f.close()
		e := &Exec{Path: f.path, Named: w, Argv: loader.Argv[i:], Cwd: x.Cwd, Pid: x.Pid, Loaded: true, Parents: x.Parents, Environ: x.Environ}
		g.identify(e, f)
		return e
	}
	return nil
}

// isLoader reports whether a file is a dynamic loader: by its name, or, where
// the system did not put it there, by what it says of itself.
func isLoader(path string, f *executable) bool {
	base := filepath.Base(path)
	for _, name := range []string{"ld-linux", "ld-musl", "ld64.so", "ld.so"} {
		if strings.HasPrefix(base, name) {
			return true
		}
	}
	if f.st.Uid == 0 && (strings.HasPrefix(path, "/usr/") || strings.HasPrefix(path, "/bin/") || strings.HasPrefix(path, "/lib")) {
		return strings.HasPrefix(base, "ld-") && strings.HasSuffix(base, ".so")
	}
	program, err := elf.Open(self(f.fd))
	if err != nil {
		return false
	}
	defer program.Close()
	names, err := program.DynString(elf.DT_SONAME)
	return err == nil && len(names) > 0 && strings.HasPrefix(names[0], "ld")
}

// String is what a denial is called in messages.
func (d *Denial) String() string { return fmt.Sprintf("%s: %s: %s", d.Kind, d.Path, d.Why) }
