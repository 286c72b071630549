package killtree

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestMain makes the test binary the stage, and the supervisor that is killed.
func TestMain(m *testing.M) {
	if code, ok := Stage(os.Args[1:], stageConfiner()); ok {
		os.Exit(code)
	}
	if len(os.Args) > 3 && os.Args[1] == "supervise" {
		supervise(os.Args[2], os.Args[3], os.Args[4:])
		return
	}
	if len(os.Args) == 2 && os.Args[1] == "hear" {
		hear()
		return
	}
	// What the tests inherit they would hand on, other than a tree does.
	_ = unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC)
	os.Exit(m.Run())
}

// supervise starts a command by a method, prints its pid, and waits for the
// end that comes as SIGKILL.
func supervise(self, method string, argv []string) {
	c := exec.Command(argv[0], argv[1:]...)
	c.Stdout = os.Stdout
	if _, err := (Options{Self: self, Method: method, NoFork: os.Getenv("NOFORK") != ""}).Start(c); err != nil {
		fmt.Println("error", err)
		return
	}
	time.Sleep(time.Minute)
}

// hear says which SIGUSR1 came: two to itself, and one to a child in a session
// of its own. A shell that counts in a trap may miss one under load.
func hear() {
	heard := make(chan os.Signal, 9)
	signal.Notify(heard, syscall.SIGUSR1)
	if os.Getenv("CHILD") != "" {
		fmt.Println("up")
		<-heard
		fmt.Println("other")
		return
	}
	child := exec.Command(os.Args[0], "hear")
	child.Env = append(os.Environ(), "CHILD=1")
	child.Stdout = os.Stdout
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := child.Start(); err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		<-heard
		fmt.Println("usr1")
	}
	_ = child.Wait()
}

// self is a copy of the test binary that every user may run.
func self(t testing.TB) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() != 0 {
		return path
	}
	dir := openDir(t)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, "agent")
	if err := os.WriteFile(path, data, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// openDir is a temporary directory that every user may enter.
func openDir(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for d := dir; d != filepath.Dir(os.TempDir()) && d != "/"; d = filepath.Dir(d) {
		if d == os.TempDir() {
			break
		}
		_ = os.Chmod(d, 0o755)
	}
	return dir
}

// zooScript starts one of each kind of process that gets away elsewhere, and
// RACERS that fork all the time, each generation ending at once.
const zooScript = `
sleep 1000 &
set -m; sleep 1000 & set +m
setsid sleep 1000 &
(sleep 1000 &)
( (setsid sleep 1000 &) & )
setsid sh -c '(sh -c "setsid sleep 1000 & exit" &) ; exit' &
setsid sh -c 'sleep 1000 & sleep 1000 & wait' </dev/null >/dev/null 2>&1 &
(nohup sleep 1000 >/dev/null 2>&1 &)
sh -c 'trap "" TERM HUP INT; sleep 1000 & while :; do sleep 1; done' &
( (setsid sh -c 'trap "" TERM HUP INT; while :; do sleep 1; done' &) & )
i=0; while [ $i -lt ${RACERS:-3} ]; do i=$((i+1)); sh "$ZOO" racer </dev/null >/dev/null 2>&1 & done
sleep 0.15
echo ready
`

const racerScript = `
if [ "$1" = racer ]; then sleep 0.02; setsid sh "$0" racer & exit; fi
`

// zoo is the command that starts the script's processes and then does what end
// says.
func zoo(t testing.TB, mark, end string) *exec.Cmd {
	t.Helper()
	file := filepath.Join(openDir(t), "zoo.sh")
	if err := os.WriteFile(file, []byte(racerScript+zooScript+end), 0o644); err != nil {
		t.Fatal(err)
	}
	c := exec.Command("bash", file)
	racers := os.Getenv("KILLTREE_SOAK_RACERS")
	if racers == "" {
		racers = "3"
	}
	c.Env = []string{"PATH=/usr/bin:/bin", "ZOO=" + file, "RACERS=" + racers, mark}
	c.Dir = "/"
	return c
}

// marked lists the living processes with the mark in their environment.
func marked(mark string) (pids []int) {
	for _, p := range living(table()) {
		env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.Pid))
		if err == nil && bytes.Contains(env, []byte(mark)) && p.Pid != os.Getpid() {
			pids = append(pids, p.Pid)
		}
	}
	return pids
}

// survivors waits a moment for the last ones to be gone, and looks twice: a
// racer is between two processes for an instant.
func survivors(mark string) (pids []int) {
	for range 1500 {
		if pids = marked(mark); len(pids) == 0 {
			time.Sleep(40 * time.Millisecond)
			if pids = marked(mark); len(pids) == 0 {
				return nil
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	return pids
}

func newMark(t testing.TB) string {
	return fmt.Sprintf("KILLTREE_ZOO=%d.%d.%s", os.Getpid(), time.Now().UnixNano(), strings.Map(func(r rune) rune {
		if r == '/' || r == '#' {
			return '.'
		}
		return r
	}, t.Name()))
}

// forMethods runs a test with each method that has a stage.
func forMethods(t *testing.T, run func(t *testing.T, o Options)) {
	path := self(t)
	var ways []Options
	for _, m := range candidates() {
		ways = append(ways, Options{Self: path, Method: m, NoFork: true}, Options{Self: path, Method: m})
	}
	for _, o := range ways {
		name := o.Method
		if o.NoFork {
			name += ",started"
		} else {
			o.Self = "/nonexistent" // there is nothing that could be started
		}
		t.Run(name, func(t *testing.T) {
			tree, err := o.Start(exec.Command("true"))
			if errors.Is(err, ErrMethod) {
				t.Skipf("not on this machine for this user: %v", err)
			}
			if err != nil {
				t.Fatal(err)
			}
			<-tree.Exited()
			o.Self = path
			run(t, o)
		})
	}
}

func rounds() int {
	if n, err := strconv.Atoi(os.Getenv("KILLTREE_SOAK")); err == nil {
		return n
	}
	return 1
}

// bystander is a process of ours that no tree may touch.
func bystander(t *testing.T) func() {
	t.Helper()
	c := exec.Command("sleep", "1000")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	was, _ := Find(c.Process.Pid)
	return func() {
		t.Helper()
		if p, ok := Find(was.Pid); !ok || !was.Alive() || p.State != 'S' {
			t.Errorf("the bystander is %+v", p)
		}
		_ = c.Process.Kill()
		_ = c.Wait()
	}
}

func TestZoo(t *testing.T) {
	forMethods(t, func(t *testing.T, o Options) {
		for range rounds() {
			t.Run("while it runs", func(t *testing.T) { testZoo(t, o, "sleep 1000", false) })
			t.Run("after it ended", func(t *testing.T) { testZoo(t, o, "exit 7", true) })
			t.Run("supervisor killed", func(t *testing.T) { testKilledSupervisor(t, o) })
		}
	})
}

func testZoo(t *testing.T, o Options, end string, ends bool) {
	untouched := bystander(t)
	mark := newMark(t)
	c := zoo(t, mark, end)
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	c.Stdout = in
	tree, err := o.Start(c)
	_ = in.Close()
	if err != nil {
		t.Fatal(err)
	}
	defer tree.End(0)
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("%q %v", line, err)
	}
	if ends {
		<-tree.Exited()
		if s := tree.State(); s.ExitCode != 7 || s.MaxRSS == 0 {
			t.Errorf("%+v", s)
		}
	}
	before := len(marked(mark))
	if before < 12 || before > 60 && os.Getenv("KILLTREE_SOAK") == "" {
		t.Errorf("the zoo has %d animals", before)
	}
	if n := len(tree.Members()); n < 10 {
		t.Errorf("%d members are seen", n)
	}
	begin := time.Now()
	if !tree.End(150 * time.Millisecond) {
		t.Error("nothing to end")
	}
	took := time.Since(begin)
	if tree.Alive() {
		t.Error("the tree counts as alive")
	}
	if left := survivors(mark); len(left) > 0 {
		t.Errorf("%d of %d survive: %v", len(left), before, left)
	}
	if !ends {
		if s := tree.State(); s == nil || s.Signal == 0 {
			t.Errorf("%+v", s)
		}
	}
	if took > 2*time.Minute {
		t.Errorf("ending %d took %v", before, took)
	}
	t.Logf("%d ended in %v, of which 150 ms grace", before, took)
	untouched()
}

func testKilledSupervisor(t *testing.T, o Options) {
	untouched := bystander(t)
	mark := newMark(t)
	z := zoo(t, mark, "sleep 1000")
	c, line := supervised(t, o, z.Env, z.Args...)
	before := len(marked(mark))
	if line != "ready\n" || before < 12 {
		t.Errorf("%q, %d animals", line, before)
	}
	_ = c.Process.Kill()
	begin := time.Now()
	_ = c.Wait()
	if left := survivors(mark); len(left) > 0 {
		t.Errorf("%d of %d survive: %v", len(left), before, left)
		for _, pid := range left {
			if p, err := os.FindProcess(pid); err == nil {
				_ = p.Kill()
			}
		}
	}
	t.Logf("%d gone within %v", before, time.Since(begin))
	untouched()
}

// supervised starts a supervisor of argv and returns it with the first line that
// argv prints.
func supervised(t *testing.T, o Options, env []string, argv ...string) (*exec.Cmd, string) {
	t.Helper()
	c := exec.Command(o.Self, append([]string{"supervise", o.Self, o.Method}, argv...)...)
	c.Env = env
	if o.NoFork {
		c.Env = append(c.Env, "NOFORK=1")
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	return c, line
}

// TestAsOthers runs the zoo again as ordinary users.
func TestAsOthers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can become someone else")
	}
	path := self(t)
	for uid, tests := range map[uint32]string{1000: "TestInitIsClosed|TestZoo|TestInside|TestAuto|TestComposed|TestNested", 65534: "TestZoo|TestAuto"} {
		c := exec.Command(path, "-test.run=^("+tests+")$", "-test.v", "-test.timeout=4m")
		c.Env = []string{"PATH=/usr/bin:/bin", "KILLTREE_SOAK=" + os.Getenv("KILLTREE_SOAK"), "TMPDIR=" + ownDir(t, uid)}
		c.Dir = "/"
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
		out, err := c.CombinedOutput()
		for line := range strings.Lines(string(out)) {
			if strings.Contains(line, "---") || strings.Contains(line, "_test.go") {
				t.Logf("uid %d: %s", uid, strings.TrimRight(line, "\n"))
			}
		}
		if err != nil || !strings.Contains(string(out), "PASS: TestZoo/subreaper/while_it_runs") ||
			strings.Contains(tests, "TestInitIsClosed") && !strings.Contains(string(out), "PASS: TestInitIsClosed/subreaper") {
			t.Errorf("uid %d: %v", uid, err)
		}
	}
}

func ownDir(t *testing.T, uid uint32) string {
	t.Helper()
	dir := filepath.Join(openDir(t), "own")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dir, int(uid), int(uid)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestAuto: without a wish the best method is taken, and reported.
func TestAuto(t *testing.T) {
	if tree, err := (Options{Self: self(t), NoUserNamespace: true}).Start(exec.Command("true")); err != nil || tree.Method() == UserNamespace {
		t.Errorf("%v %v", tree, err)
	}
	o := Options{Self: self(t)}
	best := Probe(o)
	tree, err := o.Start(exec.Command("true"))
	if err != nil {
		t.Fatal(err)
	}
	<-tree.Exited()
	t.Logf("best method: %s", best)
	if tree.Method() != best || Method() != best || best == Group {
		t.Errorf("%q %q %q", best, tree.Method(), Method())
	}
	if _, err := (Options{Method: Cgroup}).Start(exec.Command("true")); !errors.Is(err, ErrMethod) {
		t.Errorf("without a program: %v", err)
	}
	if _, err := (Options{Self: "/bin/false", Method: Subreaper, NoFork: true}).Start(exec.Command("true")); !errors.Is(err, ErrMethod) {
		t.Errorf("with a program that is no stage: %v", err)
	}
}

// output runs a script to its end and returns what it prints.
func output(t *testing.T, o Options, c *exec.Cmd) (string, *State) {
	t.Helper()
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	c.Stdout, c.Stderr = in, in
	tree, err := o.Start(c)
	_ = in.Close()
	if err != nil {
		t.Fatal(err)
	}
	all, _ := io.ReadAll(out)
	<-tree.Exited()
	if !tree.Gone(5 * time.Second) { // what ends with it may take a moment
		t.Errorf("%s left something", c)
	}
	return string(all), tree.State()
}

// TestInside: the command sees a usual world.
func TestInside(t *testing.T) {
	forMethods(t, func(t *testing.T, o Options) {
		script := func(s string) *exec.Cmd { return exec.Command("bash", "-c", s) }
		if out, _ := output(t, o, script(`ps -o pid= -p $$ | tr -d ' '; echo $$; cat /proc/self/comm; ps -e -o pid= | grep -c .`)); !looksRight(out) {
			t.Errorf("ps: %q", out)
		}
		world := `id -u; id -g; grep -E 'CapEff|CapAmb|SigIgn|SigBlk|NoNewPrivs' /proc/self/status; ulimit -n; umask; ls /proc/self/fd`
		if o.Method == UserNamespace {
			world = strings.Replace(world, "CapEff|", "", 1) // root has all of them there
		}
		want, err := exec.Command("bash", "-c", world).CombinedOutput()
		if out, _ := output(t, o, script(world)); err != nil || string(want) != out {
			t.Errorf("the command's world is\n%snot\n%s", out, want)
		}
		for script, want := range map[string]State{`exit 3`: {ExitCode: 3}, `kill -9 $$`: {ExitCode: -1, Signal: 9}, `kill -SEGV $$`: {ExitCode: -1, Signal: 11}, `kill -TERM 1 $PPID; exit 4`: {ExitCode: 4}} {
			if strings.Contains(script, "PPID") && !namespaces(o.Method) {
				continue
			}
			if _, s := output(t, o, exec.Command("bash", "-c", script)); s.ExitCode != want.ExitCode || s.Signal != want.Signal {
				t.Errorf("%s: %+v", script, s)
			}
		}
		c := script(`cat; cat <&3; pwd; echo $A`)
		file, err := os.Open("/proc/version")
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		c.Stdin, c.ExtraFiles, c.Dir, c.Env = strings.NewReader(strings.Repeat("in\n", 50_000)), []*os.File{file}, "/usr", []string{"A=b c", "PATH=/usr/bin:/bin"}
		version, _ := os.ReadFile("/proc/version")
		if out, _ := output(t, o, c); out != strings.Repeat("in\n", 50_000)+string(version)+"/usr\nb c\n" {
			t.Errorf("%d bytes, the last %q", len(out), out[max(0, len(out)-80):])
		}
		plain := filepath.Join(t.TempDir(), "plain")
		if err := os.WriteFile(plain, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		_, err = o.Start(exec.Command("/nowhere/at/all"))
		if !errors.Is(err, os.ErrNotExist) || errors.Is(err, ErrMethod) {
			t.Errorf("a missing program: %v", err)
		}
		c = exec.Command("true")
		c.Dir = "/nowhere"
		if _, err = o.Start(c); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "chdir /nowhere") {
			t.Errorf("a missing directory: %v", err)
		}
		if _, err = o.Start(exec.Command(plain)); !errors.Is(err, os.ErrPermission) {
			t.Errorf("a file that is no program: %v", err)
		}
	})
}

func looksRight(out string) bool {
	w := strings.Fields(out)
	if len(w) != 4 || w[0] != w[1] || w[2] != "cat" {
		return false
	}
	return w[3] != "0"
}

// TestUnknown: the first process of a tree is a copy of its caller, and shows
// nothing of it.
func TestUnknown(t *testing.T) {
	forMethods(t, func(t *testing.T, o Options) {
		if o.NoFork {
			return
		}
		c := exec.Command("bash", "-c", "cd /proc/$PPID && tr '\\0' '\\n' <cmdline; echo; cat comm; tr '\\0' ' ' <environ; readlink cwd; ls fd | wc -l")
		out, s := output(t, o, c)
		if strings.Contains(out, "=") || strings.Contains(out, "test") || !strings.HasPrefix(out, "agentkit-init\n") || s.ExitCode != 0 && os.Geteuid() == 0 {
			t.Errorf("%q %+v", out, s)
		}
	})
}

// changed reports whether this is the test where the machine is as script makes
// it, a command line to which the program to run is added. Where it is not,
// the test is run so, in namespaces of its own.
func changed(t *testing.T, script string) bool {
	t.Helper()
	if os.Getenv("KILLTREE_CHANGED") != "" {
		return true
	}
	c := exec.Command("unshare", "-Urm", "sh", "-c", script+` "$0" -test.run='^`+t.Name()+`$' -test.v -test.timeout=2m`, self(t))
	c.Env = append(os.Environ(), "KILLTREE_CHANGED=1")
	out, err := c.CombinedOutput()
	if err != nil && !strings.Contains(string(out), "=== RUN") {
		t.Skipf("no namespaces to change the machine in: %v %s", err, out)
	}
	if err != nil || !strings.Contains(string(out), "--- PASS") {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

// TestPassingShortage: what works while the machine is short of namespaces is not taken for
// the best that works from then on.
func TestPassingShortage(t *testing.T) {
	if !changed(t, "echo 0 >/proc/sys/user/max_pid_namespaces && exec") {
		return
	}
	method := func() string {
		tree, err := Options{Self: self(t)}.Start(exec.Command("true"))
		if err != nil {
			t.Fatal(err)
		}
		<-tree.Exited()
		return tree.Method()
	}
	if m := method(); namespaces(m) {
		t.Errorf("%s, though there are no namespaces", m)
	}
	if err := os.WriteFile("/proc/sys/user/max_pid_namespaces", []byte("100"), 0); err != nil {
		t.Fatal(err)
	}
	if m := method(); !namespaces(m) {
		t.Errorf("%s, though there are namespaces again", m)
	}
}

// TestFallback: where a container hides a part of /proc no new one can be
// mounted, and the next method that works is taken, without a loss of input.
func TestFallback(t *testing.T) {
	if !changed(t, "mount -t tmpfs none /proc/sys && exec unshare -Urm") {
		return
	}
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		c := exec.Command("cat")
		c.Stdin = strings.NewReader("all of it")
		out, in, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		c.Stdout = in
		tree, err := Options{Self: path}.Start(c)
		_ = in.Close()
		if err != nil {
			t.Fatal(err)
		}
		if all, err := io.ReadAll(out); string(all) != "all of it" || err != nil {
			t.Errorf("%q %v", all, err)
		}
		<-tree.Exited()
		if m := tree.Method(); namespaces(m) || m == Group || Method() != m {
			t.Errorf("%s, %s", m, Method())
		}
	}
	for _, m := range []string{PIDNamespace, UserNamespace} {
		if _, err := (Options{Self: path, Method: m}).Start(exec.Command("true")); !errors.Is(err, ErrMethod) || !strings.Contains(err.Error(), "setting up") {
			t.Errorf("%s: %v", m, err)
		}
	}
}

// TestNested: a tree in a tree, as when one agent starts another.
func TestNested(t *testing.T) {
	forMethods(t, func(t *testing.T, o Options) {
		c := exec.Command(o.Self, "-test.run=^(TestAuto|TestSignal)$", "-test.v", "-test.timeout=2m")
		out, s := output(t, o, c)
		if s.ExitCode != 0 || !strings.Contains(out, "--- PASS: TestSignal/subreaper") || !strings.Contains(out, "--- PASS: TestAuto") {
			t.Errorf("%+v\n%s", s, out)
		}
		for line := range strings.Lines(out) {
			if strings.Contains(line, "best method") {
				t.Log("inside: ", strings.TrimSpace(line))
			}
		}
	})
}

// TestStageKilled: with the stage the command ends, and where the kernel
// holds the tree together everything else, too.
func TestStageKilled(t *testing.T) {
	forMethods(t, func(t *testing.T, o Options) {
		mark := newMark(t)
		c := exec.Command("bash", "-c", "setsid sleep 1000 & sleep 1000")
		c.Env = []string{"PATH=/usr/bin:/bin", mark}
		if o.Method == Subreaper {
			c.Args[2] = "exec sleep 1000"
		}
		tree, err := o.Start(c)
		if err != nil {
			t.Fatal(err)
		}
		for len(tree.Members()) < 3 && o.Method != Subreaper {
			time.Sleep(time.Millisecond)
		}
		if err := syscall.Kill(tree.Pid(), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		<-tree.Exited()
		if s := tree.State(); s.Signal != syscall.SIGKILL || tree.Alive() || tree.End(0) {
			t.Errorf("%+v", s)
		}
		if base, err := ownCgroup(); err == nil {
			for _, pid := range []int{tree.Pid(), os.Getpid()} {
				if left, _ := filepath.Glob(filepath.Join(base, fmt.Sprintf("agentkit-%d-*", pid))); len(left) > 0 {
					t.Errorf("cgroups are left: %v", left)
				}
			}
		}
		if left := survivors(mark); len(left) > 0 {
			t.Errorf("%v survive", left)
		}
	})
}

// TestComposed: namespaces that the caller asks for are used, and the command
// keeps the capabilities that it needs to go on from there, as a sandbox does.
func TestComposed(t *testing.T) {
	uid, gid := os.Geteuid(), os.Getegid()
	c := exec.Command("sh", "-c", `mount -t tmpfs none /mnt && touch /mnt/x; cat /proc/net/dev | wc -l; sh -c 'echo $$; exec readlink /proc/self' | uniq | wc -l; cat <&3`)
	c.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}, GidMappings: []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}},
		AmbientCaps: []uintptr{21}, // CAP_SYS_ADMIN
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	_, _ = w.WriteString("spec\n")
	_ = w.Close()
	c.ExtraFiles = []*os.File{r}
	defer r.Close()
	if tree, err := (Options{Self: self(t), Method: UserNamespace}).Start(exec.Command("true")); err != nil {
		t.Skipf("no user namespaces here: %v", err)
	} else {
		<-tree.Exited()
	}
	out, s := output(t, Options{Self: self(t)}, c)
	if out != "3\n1\nspec\n" || s.ExitCode != 0 {
		t.Errorf("%q %+v", out, s)
	}
	if _, err := os.Stat("/mnt/x"); err == nil {
		t.Error("the mount is seen outside")
	}
}

// TestStopped: a command that stops itself is reported, and ends when asked.
func TestStopped(t *testing.T) {
	forMethods(t, func(t *testing.T, o Options) {
		tree, err := o.Start(exec.Command("sh", "-c", "kill -STOP $$; exit 5"))
		if err != nil {
			t.Fatal(err)
		}
		defer tree.End(0)
		select {
		case s := <-tree.Stopped():
			if s != syscall.SIGSTOP {
				t.Error(s)
			}
		case <-time.After(time.Minute):
			t.Fatal("not seen")
		}
		tree.Signal(syscall.SIGCONT)
		<-tree.Exited()
		if s := tree.State(); s.ExitCode != 5 {
			t.Errorf("%+v", s)
		}
	})
}

// TestSignal: to the group, or to all.
func TestSignal(t *testing.T) {
	forMethods(t, func(t *testing.T, o Options) {
		c := exec.Command(o.Self, "hear")
		out, in, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		c.Stdout = in
		tree, err := o.Start(c)
		_ = in.Close()
		if err != nil {
			t.Fatal(err)
		}
		defer tree.End(0)
		r := bufio.NewReader(out)
		next := func() string { s, _ := r.ReadString('\n'); return strings.TrimSpace(s) }
		if s := next(); s != "up" {
			t.Fatal(s)
		}
		tree.Signal(syscall.SIGUSR1)
		if s := next(); s != "usr1" {
			t.Error(s)
		}
		tree.SignalAll(syscall.SIGUSR1)
		rest, _ := io.ReadAll(r)
		if s := string(rest); s != "usr1\nother\n" && s != "other\nusr1\n" {
			t.Errorf("%q", s)
		}
		<-tree.Exited()
	})
}

// TestReuse: a PID with another start time is another process.
func TestReuse(t *testing.T) {
	me, ok := Find(os.Getpid())
	if !ok || !me.Alive() || me.Parent != os.Getppid() {
		t.Fatalf("%+v", me)
	}
	me.Start++
	if me.Alive() {
		t.Error("taken for another")
	}
	p, ok := parseStat([]byte("12 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 99 20 21"))
	if !ok || p.Name != "a) b (c" || p.Parent != 1 || p.Group != 2 || p.Session != 3 || p.Start != 99 || p.State != 'S' {
		t.Errorf("%+v", p)
	}
	for _, bad := range []string{"", "12 (a", "12 (a) S 1 2", ") ("} {
		if _, ok := parseStat([]byte(bad)); ok {
			t.Errorf("%q is taken", bad)
		}
	}
}

// TestOrder: what the stage is told arrives, and nonsense is refused.
func TestOrder(t *testing.T) {
	c := exec.Command("a", "b", "", "c d")
	c.Path, c.Dir, c.Env = "/x", "/y", []string{"A=1", "B="}
	c.SysProcAttr = &syscall.SysProcAttr{Setctty: true, Ctty: 2, Credential: &syscall.Credential{Uid: 1 << 31, Gid: 6, Groups: []uint32{7, 8}}}
	raw := orderOf(Cgroup, c, Options{MaxProcesses: 9}).bytes()
	r, err := readOrder(bytes.NewReader(raw))
	if err != nil || r.ctty != 2 || r.most != 9 || r.user.Uid != 1<<31 || fmt.Sprintf("%q %q %s %s %s %v", r.argv, r.env, r.dir, r.path, r.method, r.user.Groups) != `["a" "b" "" "c d"] ["A=1" "B="] /y /x cgroup [7 8]` {
		t.Errorf("%+v %+v %v", r, r.user, err)
	}
	for i := range len(raw) - 4 {
		short := append([]byte{byte(i), byte(i >> 8), 0, 0}, raw[4:4+i]...)
		if _, err := readOrder(bytes.NewReader(short)); err == nil {
			t.Errorf("%d of %d bytes are taken", i, len(raw))
		}
	}
}

func BenchmarkStart(b *testing.B) {
	path := self(b)
	for _, m := range append([]string{"exec", Group}, candidates()...) {
		b.Run(m, func(b *testing.B) {
			for b.Loop() {
				if m == "exec" {
					if err := exec.Command("/bin/true").Run(); err != nil {
						b.Fatal(err)
					}
					continue
				}
				tree, err := Options{Self: path, Method: m}.Start(exec.Command("/bin/true"))
				if err != nil {
					b.Skip(err)
				}
				<-tree.Exited()
			}
		})
	}
}

// TestUnheardSignals: how a command ended is known although the process above it ended
// with it, before it had read all that it was sent.
func TestUnheardSignals(t *testing.T) {
	forMethods(t, func(t *testing.T, o Options) {
		for range 10 {
			tree, err := o.Start(exec.Command("sleep", "1000"))
			if err != nil {
				t.Fatal(err)
			}
			tree.SignalAll(syscall.SIGTERM)
			for range 20 {
				tree.Signal(syscall.SIGCONT)
			}
			<-tree.Exited()
			if s := tree.State(); s.Signal != syscall.SIGTERM {
				t.Fatalf("%+v", s)
			}
		}
	})
}
