package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/agentkit-go/agentkit/pkg/sandbox"
	"golang.org/x/sys/unix"
)

// A farHost is a far end with a home of its own, and the means of this side to get there.
type farHost struct {
	t    *testing.T
	dir  string // of both sides: root and home are the far end's
	on   string
	log  logged // of the server
	bin  string // directory of programs of this side's own
	path string // of directories with programs, for this side
}

// A logged is what a program writes while others read it.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// run makes a call there.
func (p *farHost) run(args ...string) (out []byte, status int) {
	p.t.Helper()
	c := p.command(args...)
	out, err := c.Output()
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		if len(out) == 0 {
			p.t.Errorf("%q says only: %s", args, e.Stderr)
		}
		return out, e.ExitCode()
	}
	if err != nil {
		p.t.Fatal(err)
	}
	return out, 0
}

func (p *farHost) command(args ...string) *exec.Cmd {
	c := exec.Command(build(p.t), append([]string{"--on", p.on, "--sandbox", "off"}, args...)...)
	c.Env = append(os.Environ(), "PATH="+p.path, "HOME="+filepath.Join(p.dir, "ours"), "XDG_STATE_HOME=", "XDG_CONFIG_HOME=", "OURS=secret")
	return c
}

func newFarHost(t *testing.T) *farHost {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "remote") //nolint:usetesting // the far end may still write there when the test is over; names of sockets have to be short
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for range 3000 {
			if os.RemoveAll(dir) == nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
		t.Error("the far end still writes")
	})
	bin := durableDir(t) // what lies where calls can put it does not lead anywhere
	p := &farHost{t: t, dir: dir, bin: bin, path: bin + ":" + os.Getenv("PATH")}
	for _, d := range []string{"bin", "root", "home", "ours"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// put writes a file, in whose text DIR is the host's directory.
func (p *farHost) put(name, text string, mode os.FileMode) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(strings.ReplaceAll(text, "DIR", p.dir)), mode); err != nil {
		p.t.Fatal(err)
	}
}

// lead writes a program of this side's own, in whose text DIR is the host's directory.
func (p *farHost) lead(name, text string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.bin, name), []byte(strings.ReplaceAll(text, "DIR", p.dir)), 0o700); err != nil { //nolint:gosec // it is run
		p.t.Fatal(err)
	}
}

// sshHost is an OpenSSH server of the test's own, with its own keys, on a loopback port, and
// an ssh that knows of it.
func sshHost(t *testing.T) *farHost {
	t.Helper()
	return sshHostWith(t, "", "")
}

// sshHostWith has further lines in the server's configuration, and in that of ssh; DIR is the
// host's directory.
func sshHostWith(t *testing.T, server, client string) *farHost {
	t.Helper()
	sshd := "/usr/sbin/sshd"
	if _, err := os.Stat(sshd); err != nil {
		t.Skip("SKIPPED: sshd is not here: ssh is not tried")
	}
	me, err := user.Current()
	if err != nil || me.Username == "" {
		t.Skip("SKIPPED: ssh-keygen works for nobody whom it does not know by name")
	}
	p := newFarHost(t)
	dir := p.dir
	for _, key := range []string{"host", "own"} {
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, key)).CombinedOutput(); err != nil {
			if strings.Contains(string(out), "No user exists") {
				t.Skip("SKIPPED: ssh-keygen works for nobody whom it does not know by name")
			}
			t.Fatalf("%v: %s", err, out)
		}
	}
	if os.Geteuid() == 0 {
		_ = os.MkdirAll("/run/sshd", 0o755) // which it insists on
	}
	ssh, err := exec.LookPath("ssh")
	if err != nil {
		t.Skip("SKIPPED: ssh is not here: ssh is not tried")
	}
	p.lead("ssh", "#!/bin/sh\nexec "+ssh+" -F DIR/ssh_config \"$@\"\n")
	own := strings.ReplaceAll(os.Getenv("PATH"), "%", "%%") // in front of it is the way on from there
	for range 5 {                                           // somebody else may take the port that was free
		port := freePort(t)
		p.put("sshd_config", fmt.Sprintf("ListenAddress 127.0.0.1:%d\nHostKey DIR/host\nAuthorizedKeysFile DIR/own.pub\nPidFile none\nStrictModes no\nUsePAM no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n"+server+
			"SetEnv PATH="+p.bin+":"+own+" HOME=DIR/home XDG_STATE_HOME=DIR/home/state XDG_CONFIG_HOME=DIR/home/config XDG_CACHE_HOME=DIR/home/cache\n", port), 0o600)
		p.put("ssh_config", fmt.Sprintf("Host there\n  HostName 127.0.0.1\n  Port %d\n  User %s\n  IdentityFile DIR/own\n  IdentitiesOnly yes\n  StrictHostKeyChecking accept-new\n  UserKnownHostsFile DIR/known\n  SendEnv OURS\n  LogLevel ERROR\n", port, me.Username)+client, 0o600)
		if p.serve(sshd) {
			p.on = "ssh://there" + filepath.Join(dir, "root")
			return p
		}
	}
	t.Fatalf("sshd does not start: %s", p.log.String())
	return nil
}

// serve starts the server, and waits until it listens; it has ended where that fails.
func (p *farHost) serve(sshd string) bool {
	server := exec.Command(sshd, "-D", "-e", "-f", filepath.Join(p.dir, "sshd_config"))
	server.Stderr = &p.log
	if err := server.Start(); err != nil {
		p.t.Fatal(err)
	}
	over := make(chan struct{})
	go func() {
		_ = server.Wait()
		close(over)
	}()
	server.WaitDelay = time.Second // its children have its standard error, too
	p.t.Cleanup(func() {
		_ = os.RemoveAll(filepath.Join(p.dir, "ours", ".local", "state", "agentkit", "kept")) // kept connections end
		_ = server.Process.Kill()
		<-over
		if p.t.Failed() {
			p.t.Log(p.log.String())
		}
	})
	for !strings.Contains(p.log.String(), "Server listening") {
		select {
		case <-over:
			return false
		case <-time.After(10 * time.Millisecond):
		}
	}
	return true
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // it was never used
	return l.Addr().(*net.TCPAddr).Port
}

// TestRemoteSSH: over a real ssh calls are made at the far end, by our own program, which is
// carried there once; nothing of this side goes along.
func TestRemoteSSH(t *testing.T) {
	t.Parallel()
	p := sshHost(t)
	out, status := p.run("write", "a b.txt", "one\n")
	if text, err := os.ReadFile(filepath.Join(p.dir, "root", "a b.txt")); status != 0 || err != nil || string(text) != "one\n" {
		t.Fatalf("%s %d %v", out, status, err)
	}
	var r struct {
		Output   string
		Metadata struct {
			On, Job, Status string
			Repeated        bool
		}
		Error struct{ Code, Message string }
	}
	read := func(out []byte) {
		t.Helper()
		r.Error.Code = ""
		if err := json.Unmarshal(out, &r); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	carried, err := filepath.Glob(filepath.Join(p.dir, "home", "state", "agentkit", "far", "*"))
	if err != nil || len(carried) != 1 {
		t.Fatal(carried, err)
	}
	before, err := os.Stat(carried[0])
	if err != nil {
		t.Fatal(err)
	}
	out, status = p.run("bash", `echo "$PWD [$OURS]"; exit 7`)
	if read(out); status != 7 || r.Metadata.On != p.on || !strings.HasPrefix(r.Output, filepath.Join(p.dir, "root")+" []\n") {
		t.Errorf("%s %d", out, status)
	}
	if after, err := os.Stat(carried[0]); err != nil || !os.SameFile(before, after) || !before.ModTime().Equal(after.ModTime()) {
		t.Errorf("the program was carried twice: %v", err)
	}
	if out, _ = p.run("bash", "--background", "sleep 300"); true {
		read(out)
	}
	job := r.Metadata.Job
	if out, _ = p.run("output", "--wait=false", job); true {
		read(out)
	}
	if r.Metadata.Status != "running" {
		t.Errorf("the job has not lived on: %s", out)
	}
	if out, status = p.run("kill", job); status != 0 {
		t.Errorf("%s", out)
	}
	if out, status = p.run("read", "none"); status != 2 {
		t.Errorf("%s", out)
	}

	// The user's signal ends the call there, and the result still comes.
	pid := filepath.Join(p.dir, "root", "pid")
	c := p.command("bash", "--timeout-ms", "30000", "echo $$ >pid; sleep 300")
	var said strings.Builder
	c.Stdout = &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	n := waitForPid(t, pid)
	_ = c.Process.Signal(syscall.SIGINT)
	_ = c.Wait()
	if read([]byte(said.String())); c.ProcessState.ExitCode() != 130 || r.Error.Code != "interrupted" || r.Metadata.Status != "aborted" {
		t.Errorf("%d %s", c.ProcessState.ExitCode(), said.String())
	}
	ends(t, n)

	// So does the loss of the connection, and the result is asked for over another one.
	_ = os.Remove(pid)
	c = p.command("bash", "--timeout-ms", "30000", "echo $$ >pid; sleep 300")
	said.Reset()
	c.Stdout = &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	n = waitForPid(t, pid)
	for _, ssh := range withWords("ssh_config", p.dir) {
		_ = syscall.Kill(ssh, syscall.SIGKILL)
	}
	_ = c.Wait()
	if read([]byte(said.String())); r.Error.Code != "interrupted" || !r.Metadata.Repeated || r.Metadata.Status != "aborted" {
		t.Errorf("%d %s", c.ProcessState.ExitCode(), said.String())
	}
	ends(t, n)
}

// TestRemoteShared: where commands cannot reach it, one connection of ssh serves many calls, and
// the next call opens another when it is lost.
func TestRemoteShared(t *testing.T) {
	t.Parallel()
	long(t)
	if sandbox.Probe().Level < sandbox.L3 {
		t.Skip("SKIPPED: this machine reaches no sandbox of level 3")
	}
	p := sshHost(t)
	state, err := os.MkdirTemp("/tmp", "r") //nolint:usetesting // the name of a socket has to be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(state) })
	socket := func() string {
		t.Helper()
		found, err := filepath.Glob(filepath.Join(state, "ssh", "*"))
		if err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		return found[0]
	}
	end := func() {
		c := exec.Command(filepath.Join(p.bin, "ssh"), "-S", socket(), "-O", "exit", "there")
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	}
	for i, want := range []int{1, 1, 1, 2} {
		if i == 3 {
			end()
		}
		if out, status := p.run("--state", state, "bash", "echo x"); status != 0 {
			t.Errorf("%s", out)
		}
		if got := strings.Count(p.log.String(), "Accepted publickey"); got != want {
			t.Errorf("call %d: %d connections, want %d", i, got, want)
		}
	}
	if info, err := os.Stat(filepath.Dir(socket())); err != nil || info.Mode().Perm() != 0o700 {
		t.Error(info, err)
	}
	end()
}

// TestRemoteShells: every usual shell finds our program or takes it from the pipe, also where
// there is no home, and is told from one that is none.
func TestRemoteShells(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"busybox sh", "dash", "bash"} {
		if shell == "bash" && !everyCase() {
			continue // as the other tests' shells are
		}
		t.Run(shell, func(t *testing.T) {
			program, _, _ := strings.Cut(shell, " ")
			if _, err := exec.LookPath(program); err != nil {
				t.Skipf("SKIPPED: %s is not here: %s is not tried", program, shell)
			}
			p := newFarHost(t)
			for _, home := range []string{"HOME=" + p.dir + "/home", "TMPDIR=" + p.dir + "/home XDG_STATE_HOME=" + p.dir + "/home/state"} {
				p.on = "exec:cd " + p.dir + "/root && echo noise && exec env -i " + home + " PATH='" + os.Getenv("PATH") + "' " + shell
				if out, status := p.run("write", "a.txt", "one"); status != 0 {
					t.Errorf("%s: %s", home, out)
				}
			}
			kept, _ := filepath.Glob(p.dir + "/home/state/agentkit/far/agentkit-*")
			if len(kept) != 1 {
				t.Errorf("kept: %q", kept)
			}
		})
	}
}

// TestKeptHoldsNothing: a kept connection outlives the call that opened it, and lets go of the
// files that the call was born with: who waits for the end of one does not wait for it.
func TestKeptHoldsNothing(t *testing.T) {
	t.Parallel()
	long(t)
	if sandbox.Probe().Level < sandbox.L3 {
		t.Skip("SKIPPED: this machine reaches no sandbox of level 3")
	}
	p := newFarHost(t)
	p.on = "exec:cd " + p.dir + "/root && exec env HOME=" + p.dir + "/home sh"
	kept := filepath.Join(p.dir, "ours", ".local", "state", "agentkit", "kept")
	t.Cleanup(func() { _ = os.RemoveAll(kept) }) // by which it ends
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	c := p.command("bash", "echo there")
	c.ExtraFiles = []*os.File{write}
	out, err := c.Output()
	if err := errors.Join(err, write.Close()); err != nil || !strings.Contains(string(out), "there") {
		t.Fatalf("%v: %s", err, out)
	}
	if err := read.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := read.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the end of a file that the call was born with does not come: %v", err)
	}
	for range 1200 { // it may only just begin
		if locks, _ := filepath.Glob(filepath.Join(kept, "*.lock")); len(locks) == 1 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Error("no connection is kept")
}

// TestRemotePod: kubectl gets the words that it takes. It is a stand-in, which checks them and
// starts the shell that the real one would start in the pod.
func TestRemotePod(t *testing.T) {
	t.Parallel()
	long(t)
	p := newFarHost(t)
	p.lead("kubectl", "#!/bin/sh\n[ \"$*\" = '--context=prod --namespace=dev exec -i api-0 --container=side -- sh' ] || { echo \"what is $*\" >&2; exit 9; }\ncd / && exec env -i HOME=DIR/home PATH=\"$PATH\" sh\n")
	p.on = "kubectl://prod/dev/api-0/side//" + p.dir + "/root"
	if out, status := p.run("write", "a.txt", "one"); status != 0 || !strings.Contains(string(out), `"on":"`+p.on) {
		t.Errorf("%s", out)
	}
	p.on = "kubectl://dev/api-1/srv"
	if out, status := p.run("read", "a.txt"); status != 2 || !strings.Contains(string(out), "what is --namespace=dev exec -i api-1 -- sh") {
		t.Errorf("%d %s", status, out)
	}
}

// TestRemoteContainer: in a real container, in one behind a real ssh, and in one behind two.
func TestRemoteContainer(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: needs root, whose containers need no other user's rights")
	}
	for _, program := range []string{"podman", "runc"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("SKIPPED: no %s on this machine", program)
		}
	}
	p := sshHost(t)
	name := "agentkit-" + filepath.Base(p.dir)
	start := exec.Command("podman", "--runtime", "runc", "run", "-d", "--rm", "--name", name, "--network", "none", "--ulimit", "nofile=1024:1024", "--ulimit", "nproc=4096:4096", "--rootfs", "/:O", "sleep", "600")
	if out, err := start.CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: no containers on this machine: %s", out)
	}
	t.Cleanup(func() { _ = exec.Command("podman", "rm", "-f", "-t", "0", name).Run() })
	for _, on := range []string{"podman://" + name + "/srv", "ssh://there > podman://" + name + "/srv", "ssh://there>ssh://there>podman://" + name + "/srv"} {
		p.on = on
		if out, status := p.run("bash", "echo one >>a.txt; cat a.txt; hostname"); status != 0 || !strings.Contains(string(out), `"on":"`+on+`"`) || !strings.Contains(string(out), `"output":"one\n`) {
			t.Errorf("%d %s", status, out)
		}
	}
	if out, status := p.run("read", "a.txt"); status != 0 || !strings.Contains(string(out), "1\\tone\\n2\\tone\\n3\\tone\\n") {
		t.Errorf("the calls were in one container: %d %s", status, out)
	}
	if _, err := os.Stat("/srv/a.txt"); err == nil {
		t.Error("it was written here")
	}
	p.on = "podman://" + name + "-none/srv"
	if out, status := p.run("read", "a.txt"); status != 2 || !strings.Contains(string(out), `"code":"network"`) || !strings.Contains(string(out), "no such container") {
		t.Errorf("%d %s", status, out)
	}
}

// waitForPid waits for the number that a command writes into a file.
func waitForPid(t *testing.T, name string) process {
	t.Helper()
	for range 3000 {
		text, _ := os.ReadFile(name)
		if n, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && strings.HasSuffix(string(text), "\n") {
			fd, err := unix.PidfdOpen(n, 0)
			if err != nil {
				return process{n, nil} // it has ended
			}
			return process{n, os.NewFile(uintptr(fd), "process")}
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the command has not begun")
	return process{}
}

// A process is one that was there, and never another one that has got its number since.
type process struct {
	pid    int
	handle *os.File // nil where it has ended
}

// ends checks that a process ends.
func ends(t *testing.T, p process) {
	t.Helper()
	if p.handle == nil {
		return
	}
	defer p.handle.Close()
	ended := []unix.PollFd{{Fd: int32(p.handle.Fd()), Events: unix.POLLIN}}
	for begun := time.Now(); time.Since(begun) < 30*time.Second; {
		if n, _ := unix.Poll(ended, 1000); n > 0 {
			return
		}
	}
	t.Errorf("process %d still runs", p.pid)
}
