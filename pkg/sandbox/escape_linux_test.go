//go:build linux && (amd64 || arm64)

package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/agentkit-go/agentkit/pkg/killtree"
)

// The programs that TestMain can be, beside the stages.
const (
	labArg    = "__lab"    // DIR LEVEL: the throw-away surroundings of a sandbox
	attackArg = "__attack" // DIR [NAME]: all attacks, one process each; or one
)

// labLimit is how long a lab may take: on a busy machine most take seconds.
const labLimit = 3 * time.Minute

// An outcome is what came of an attack.
type outcome struct {
	Name string
	Err  string // "" when it got out
}

// TestEscapes runs every attack at every level, as root and as an ordinary
// user, in throw-away namespaces of their own, and once without a sandbox to
// show that it would work.
func TestEscapes(t *testing.T) {
	for _, uid := range users(t) {
		for _, level := range []Level{L0, L2, L3} {
			t.Run(fmt.Sprintf("%s as %d", level, uid), func(t *testing.T) {
				t.Parallel()
				checkEscapes(t, uid, level, false)
			})
			if level > L0 {
				t.Run(fmt.Sprintf("%s as %d, by a stage", level, uid), func(t *testing.T) {
					t.Parallel()
					checkEscapes(t, uid, level, true)
				})
			}
		}
	}
}

// stageEnv has the lab start the sandbox by a stage, as where a fork does not work.
const stageEnv = "SANDBOX_LAB_STAGE"

func checkEscapes(t *testing.T, uid int, level Level, staged bool) {
	dir := layOut(t, uid)
	before := fingerprint(t, dir)
	c := lab(t, uid, dir, level.String())
	if staged {
		c.Env = append(os.Environ(), stageEnv+"=1")
	}
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("the lab: %v\n%s", err, stderr.String())
	}
	got := map[string]string{}
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var o outcome
		if err := dec.Decode(&o); err != nil {
			t.Fatalf("%v in %s", err, out)
		}
		got[o.Name] = o.Err
	}
	blocked := 0
	for _, a := range attacks {
		err, ran := got[a.name]
		stopped := err != ""
		want := strings.Contains(a.at, level.String()[1:])
		switch {
		case !ran:
			t.Errorf("%s did not run", a.name)
		case level == L0 && stopped && !a.hard && !(a.root && uid != 0):
			t.Errorf("%s fails even without a sandbox, so it shows nothing: %s", a.name, err)
		case level > L0 && want && !stopped:
			t.Errorf("%s gets out", a.name)
		case level > L0 && !want && stopped:
			t.Logf("%s is stopped although nothing promises it: %s", a.name, err)
		}
		if level > L0 && stopped {
			blocked++
		}
	}
	if level == L0 {
		return
	}
	t.Logf("%d of %d attacks are stopped", blocked, len(attacks))
	after := fingerprint(t, dir)
	for path, was := range before {
		if strings.HasPrefix(path, "root/") && (level < L3 || !strings.Contains(path, "protected") && !strings.HasPrefix(path, "root/.git")) {
			continue
		}
		if after[path] != was {
			t.Errorf("%s was %s and is %s", path, was, after[path])
		}
	}
	for path := range after {
		if before[path] == "" && strings.HasPrefix(path, "out/") {
			t.Errorf("%s was made", path)
		}
	}
}

// users are whom tests run as: root and an ordinary user, or whoever runs them.
func users(t *testing.T) []int {
	if os.Getuid() == 0 {
		return []int{0, 1000}
	}
	t.Log("not run as root: only this user is tested")
	return []int{os.Getuid()}
}

// layOut makes the directories that base describes.
func layOut(t testing.TB, uid int) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sandbox") //nolint:usetesting // other users must reach it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	for _, d := range []string{"root/.git/hooks", "root/sub/deep", "out/dir", "out/vault", "state", "tmp"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		"root/.env": "secret", "root/.git/config": "[core]\n", "root/.git/hooks/sample": "#!/bin/sh\n", "root/sub/deep/protected": "x",
		"out/victim": "victim", "state/secret": "secret", "out/vault/secret": "secret",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("vault", filepath.Join(dir, "out/keys")); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setxattr(filepath.Join(dir, "out/victim"), "user.there", []byte("x"), 0); err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err == nil && uid != os.Getuid() {
			err = os.Lchown(path, uid, uid)
		}
		return err
	})
	if err := errorsJoin(err, os.Chmod(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// fingerprint is everything that can be seen of the files below dir, but the
// sockets and notes of the lab.
func fingerprint(t *testing.T, dir string) map[string]string {
	t.Helper()
	seen := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(dir, path)
		if strings.HasPrefix(name, "state/covers/") { // closed, to us too
			return nil
		}
		if err != nil || d.IsDir() || d.Type()&fs.ModeSocket != 0 {
			return err
		}
		if strings.HasPrefix(name, "tmp/") || name == "out/port" || name == "out/terminal" || name == "state/report" {
			return nil
		}
		var st unix.Stat_t
		if err := unix.Lstat(path, &st); err != nil {
			return err
		}
		text, _ := os.ReadFile(path)
		list := make([]byte, 1024)
		n, _ := unix.Llistxattr(path, list)
		seen[name] = fmt.Sprintf("%o %d:%d %d %q %q", st.Mode, st.Uid, st.Gid, st.Mtim.Nano(), text, list[:max(n, 0)])
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return seen
}

// lab is the command that runs the attacks of dir at a level in namespaces of
// their own.
func lab(t testing.TB, uid int, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// Where another test has made this process a gatekeeper, which shows itself to nobody, its child could not be given its users.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	// Should it hang, it says where: Go's runtime prints all goroutines on SIGQUIT.
	ctx, cancel := context.WithTimeout(context.Background(), labLimit)
	t.Cleanup(cancel)
	c := exec.CommandContext(ctx, reachable(t, exe), append([]string{labArg}, args...)...)
	c.Cancel = func() error { return c.Process.Signal(unix.SIGQUIT) }
	c.WaitDelay = time.Minute
	c.Dir = "/"
	attr := &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS,
		Pdeathsig:  unix.SIGKILL,
	}
	if uid != 0 {
		attr.Cloneflags |= unix.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN}
		if os.Getuid() == 0 {
			attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid), NoSetGroups: true}
		}
	}
	c.SysProcAttr = attr
	return c
}

// reachable is a link to the test's own program, or a copy, that every user can
// run.
func reachable(t testing.TB, exe string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "program") //nolint:usetesting // other users must reach it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	name := filepath.Join(dir, "test")
	if os.Link(exe, name) != nil {
		err = copyFile(exe, name)
	}
	if err := errorsJoin(err, os.Chmod(name, 0o755), os.Chmod(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	return name
}

// runLab is the lab's process: the first of its namespaces.
func runLab(args []string) int {
	dir, level := args[0], args[1]
	if err := setUpLab(base(dir)); err != nil {
		fmt.Fprintln(os.Stderr, "lab:", err)
		return 1
	}
	exe, err := os.Executable()
	if err != nil {
		return 1
	}
	argv := []string{exe, attackArg, dir}
	if len(args) > 2 {
		argv = args[2:]
	}
	how := killtree.Options{Self: exe}
	if level != L0.String() {
		if how, err = starting(labConfig(base(dir), level), exe); err != nil {
			fmt.Fprintln(os.Stderr, "lab:", err)
			return 1
		}
		how.NoFork = os.Getenv(stageEnv) != ""
		how.Method = os.Getenv(methodEnv)
	}
	//nolint:noctx // ended with the lab
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = filepath.Join(dir, "root"), append(os.Environ(), "TMPDIR="+filepath.Join(dir, "tmp"), "HOME="+filepath.Join(dir, "root"))
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	tree, err := how.Start(cmd)
	if err != nil {
		fmt.Fprintln(os.Stderr, "lab:", err)
		return 1
	}
	<-tree.Exited()
	state := tree.State()
	tree.End(0)
	if state.Signal != 0 {
		return 128 + int(state.Signal)
	}
	return state.ExitCode
}

func labConfig(b base, level string) *Config {
	c := &Config{
		Root: b.path("root"), ReadWrite: []string{b.path("tmp")},
		ReadOnly:  []string{b.path("root", ".git", "hooks"), b.path("root", ".git", "config"), b.path("root", "sub", "deep", "protected")},
		Pinned:    []string{b.path("root", ".git", "hooks"), b.path("root", "sub", "deep", "protected"), b.path("state")},
		Covers:    b.path("state", "covers"),
		Removable: []string{b.path("root", "loose", "victim")}, Quarantine: b.path("state", "quarantine"),
		Hidden: []string{b.path("root", ".env"), b.path("state"), b.path("state", "secret"), b.path("out", "keys"), b.path("out", "keys", "secret")},
		Gate:   true, Policy: json.RawMessage(`{}`), Report: b.path("state", "report"),
	}
	if err := c.Level.UnmarshalText([]byte(level)); err != nil {
		panic(err)
	}
	c.Minimum = c.Level
	c.TestLandlock, _ = strconv.Atoi(os.Getenv(landlockEnv))
	return c
}

// setUpLab makes what attacks aim at.
func setUpLab(b base) error {
	if err := errorsJoin(
		unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""),
		unix.Mount("proc", "/proc", "proc", 0, ""),
		raise("lo", "127.0.0.1"), raise("lo:1", outside),
	); err != nil {
		return err
	}
	server, err := net.Listen("tcp", ":0")
	if err != nil {
		return err
	}
	go accept(server)
	port := server.Addr().(*net.TCPAddr).Port
	for _, name := range []string{b.path("out", "sock"), b.path("state", "job.sock"), b.path("tmp", "old.sock"), "@" + string(b)} {
		l, err := net.Listen("unix", name)
		if err != nil {
			return err
		}
		go accept(l)
	}
	if _, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: b.path("out", "dgram"), Net: "unixgram"}); err != nil {
		return err
	}
	queue, _ := unix.BytePtrFromString("queue") // not every kernel has them
	_, _, _ = unix.Syscall6(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(queue)), unix.O_CREAT|unix.O_RDWR, 0o666, 0, 0, 0)
	_, terminal, err := pty.Open()
	if err != nil {
		return err
	}
	time.Sleep(10 * time.Millisecond) // the file system's clock moves on: what is made from here on is newer
	return errorsJoin(
		os.WriteFile(b.path("out", "port"), fmt.Append(nil, port), 0o644),
		os.WriteFile(b.path("out", "terminal"), []byte(terminal.Name()), 0o644),
	)
}

func accept(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		_ = c.Close()
	}
}

// raise gives a network interface an address and switches it on.
func raise(name, addr string) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	req, err := unix.NewIfreq(name)
	if err != nil {
		return err
	}
	if err := errorsJoin(req.SetInet4Addr(net.ParseIP(addr).To4()), unix.IoctlIfreq(fd, unix.SIOCSIFADDR, req)); err != nil {
		return err
	}
	req.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, req)
}

// runAttacks runs all attacks, each in a process of its own, or one.
func runAttacks(args []string) int {
	b := base(args[0])
	if len(args) > 1 {
		for _, a := range attacks {
			if a.name == args[1] {
				o := outcome{Name: a.name}
				if err := a.do(b); err != nil {
					o.Err = err.Error()
				}
				_ = json.NewEncoder(os.Stdout).Encode(o)
				return 0
			}
		}
		return 1
	}
	exe, err := os.Executable()
	if err != nil {
		return 1
	}
	code := 0
	for _, a := range attacks {
		//nolint:noctx // ended with the sandbox
		c := exec.Command(exe, attackArg, args[0], a.name)
		c.Stdout, c.Stderr = os.Stdout, os.Stderr
		if err := c.Run(); err != nil {
			fmt.Fprintln(os.Stderr, a.name, err)
			code = 1
		}
		repair(b)
	}
	return code
}

// repair puts back what an attack that got out took away, so that the next
// one shows something.
func repair(b base) {
	if _, err := os.Lstat(b.victim()); err != nil {
		_ = os.WriteFile(b.victim(), []byte("victim"), 0o644)
	}
	_ = os.Chmod(b.victim(), 0o644)
	_ = unix.Setxattr(b.victim(), "user.there", []byte("x"), 0)
	_ = os.Mkdir(b.path("out", "dir"), 0o755)
	_ = os.Rename(b.path("root", "git2"), b.path("root", ".git"))
	_ = os.Rename(b.path("root", "sub2"), b.path("root", "sub"))
	_ = os.MkdirAll(b.path("root", ".git", "hooks"), 0o755)
	_ = os.WriteFile(b.path("root", ".git", "hooks", "sample"), nil, 0o644)
}
