//go:build linux && (amd64 || arm64)

package sandbox

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/agentkit-go/agentkit/pkg/killtree"
)

// raceArg has the test's own program start ALLOWED or DENIED, while another
// thread changes the name.
const raceArg = "__race"

// A box is one command in one sandbox.
type box struct {
	Config
	uid   int
	dir   string
	env   []string
	stdin string
	tty   *os.File

	out, err       *os.File // what it prints; files, so that all is there when it has ended
	stdout, stderr string
	state          *killtree.State
	report         *Report
}

// newBox is a sandbox with a fresh workspace of the user uid.
func newBox(t testing.TB, uid int, level Level) *box {
	t.Helper()
	dir := layOut(t, uid)
	b := &box{uid: uid, dir: filepath.Join(dir, "root"), Config: Config{
		Level: level, Minimum: level, Root: filepath.Join(dir, "root"), ReadWrite: []string{filepath.Join(dir, "tmp")},
		Hidden: []string{filepath.Join(dir, "state")}, Gate: true, Policy: json.RawMessage(`{}`), Report: filepath.Join(dir, "state", "report"),
	}}
	b.env = []string{"PATH=" + searchPath(), "HOME=" + b.dir, "TMPDIR=" + filepath.Join(dir, "tmp"), "LC_ALL=C.UTF-8"}
	return b
}

// searchPath is the system's, and where the tools are that have their own place.
func searchPath() string {
	path := "/usr/local/bin:/usr/bin:/bin"
	for _, tool := range []string{"go", "cargo"} {
		if at, err := exec.LookPath(tool); err == nil {
			path += ":" + filepath.Dir(at)
		}
	}
	return path
}

func (b *box) denies(programs ...string) *box {
	b.Policy, _ = json.Marshal(testPolicy{Deny: programs})
	return b
}

// start starts argv in the box as the product does.
func (b *box) start(t testing.TB, argv ...string) *killtree.Tree {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	exe = reachable(t, exe)
	how, err := starting(&b.Config, exe)
	if b.uid != os.Getuid() {
		how, argv = killtree.Options{Self: exe}, b.asUser(t, exe, argv)
	}
	if err != nil {
		t.Fatal(err)
	}
	//nolint:noctx // ended below
	c := exec.Command(argv[0], argv[1:]...)
	c.Dir, c.Env = b.dir, b.env
	for _, f := range []**os.File{&b.out, &b.err} {
		if *f, err = os.CreateTemp(t.TempDir(), "output"); err != nil {
			t.Fatal(err)
		}
	}
	c.Stdout, c.Stderr = b.out, b.err
	if b.stdin != "" {
		c.Stdin = strings.NewReader(b.stdin)
	}
	if b.tty != nil {
		c.Stdin, c.Stdout, c.Stderr = b.tty, b.tty, b.tty
		if b.uid == os.Getuid() {
			c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
		}
	}
	tree, err := how.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// starting is how the product starts a command that c confines. Level 2 is what
// there is where there are no user namespaces.
func starting(c *Config, self string) (killtree.Options, error) {
	confine, err := c.Confine()
	o := killtree.Options{Self: self, Confine: confine, Confiner: NewConfiner(testDecider, nil), MaxProcesses: c.Limits.Processes}
	if c.Level == L2 {
		o.Without = "the test wants level 2"
	}
	return o, err
}

// userArg has the test's own program be another user's agentkit, which starts a
// command in a sandbox: CONFIG STATE ARGV.
const userArg = "__user"

// asUser is argv as another user's agentkit starts it.
func (b *box) asUser(t testing.TB, exe string, argv []string) []string {
	t.Helper()
	// The user becomes itself before there is any sandbox, by setpriv.
	id := fmt.Sprint(b.uid)
	path, err := exec.LookPath("setpriv")
	if err != nil {
		t.Skip("SKIPPED: there is no setpriv to become another user")
	}
	config, err := json.Marshal(&b.Config)
	if err != nil {
		t.Fatal(err)
	}
	return append([]string{path, "--reuid", id, "--regid", id, "--clear-groups", exe, userArg, string(config), b.stateFile()}, argv...)
}

// stateFile is where asUser leaves how the command ended.
func (b *box) stateFile() string { return b.Report + ".state" }

func runAs(args []string) int {
	var config Config
	if err := json.Unmarshal([]byte(args[0]), &config); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code, state := runConfined(&config, args[2:])
	raw, err := json.Marshal(state)
	if err := errorsJoin(err, os.WriteFile(args[1], raw, 0o644)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// runConfined runs argv with our own streams.
func runConfined(config *Config, argv []string) (int, *killtree.State) {
	failed := func(err error) (int, *killtree.State) {
		report, _ := ReadReport(config.Report)
		fmt.Fprintln(os.Stderr, err, report.Failed)
		return 125, nil
	}
	exe, err := os.Executable()
	if err != nil {
		return failed(err)
	}
	how, err := starting(config, exe)
	if err != nil {
		return failed(err)
	}
	//nolint:noctx // ended with the outer one
	c := exec.Command(argv[0], argv[1:]...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	if _, err := unix.IoctlGetTermios(0, unix.TCGETS); err == nil {
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	}
	tree, err := how.Start(c)
	if err != nil {
		return failed(err)
	}
	<-tree.Exited()
	state := tree.State()
	tree.End(0)
	return state.ExitCode, state
}

// run runs argv to its end.
func (b *box) run(t testing.TB, argv ...string) *box {
	t.Helper()
	tree := b.start(t, argv...)
	<-tree.Exited()
	b.state = tree.State()
	tree.End(0)
	if raw, err := os.ReadFile(b.stateFile()); err == nil {
		b.state = &killtree.State{}
		if err := json.Unmarshal(raw, b.state); err != nil {
			t.Fatal(err)
		}
	}
	b.stdout, b.stderr = content(t, b.out), content(t, b.err)
	var err error
	if b.report, err = ReadReport(b.Report); err != nil {
		t.Fatal(err)
	}
	return b
}

func commandOutput(t testing.TB, argv ...string) string {
	t.Helper()
	//nolint:noctx // short
	out, err := exec.Command(argv[0], argv[1:]...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func content(t testing.TB, f *os.File) string {
	t.Helper()
	text, err := os.ReadFile(f.Name())
	if err := errorsJoin(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (b *box) bash(t testing.TB, command string) *box {
	t.Helper()
	return b.run(t, "/bin/bash", "--noprofile", "--norc", "-c", command)
}

// levels are those that tests go through.
func levels() []Level { return []Level{L2, L3} }

// starts lists ways to start the program $F with the word $W.
var starts = map[string]string{
	"directly":            `"$F" "$W"`,
	"exec":                `exec "$F" "$W"`,
	"another name":        `exec -a ls "$F" "$W"`,
	"background":          `"$F" "$W" & wait $!`,
	"PATH":                `PATH=${F%/*} forbidden "$W"`,
	"relative":            `cd ${F%/*} && ./forbidden "$W"`,
	"dots":                `${F%/*}/../bin/forbidden "$W"`,
	"/proc/self/cwd":      `cd ${F%/*} && /proc/self/cwd/forbidden "$W"`,
	"/proc/self/root":     `/proc/self/root"$F" "$W"`,
	"sh -c":               `sh -c '"$F" "$W"'`,
	"env":                 `env -i "$F" "$W"`,
	"xargs":               `echo "$W" | xargs "$F"`,
	"find":                `find . -maxdepth 0 -exec "$F" "$W" \;`,
	"nohup":               `nohup "$F" "$W"`,
	"timeout":             `timeout 5 "$F" "$W"`,
	"setsid":              `setsid -w "$F" "$W"`,
	"awk":                 `awk 'BEGIN { system("\"$F\" \"$W\"") }'`,
	"make":                `printf 'all:\n\t@"$$F" "$$W"\n' >m && make -f m`,
	"symbolic link":       `ln -s "$F" link && ./link "$W"`,
	"hard link":           `ln "$F" hard && ./hard "$W"`,
	"copy":                `cp "$F" copy && ./copy "$W"`,
	"script":              `printf '#!%s\n' "$F" >s && chmod +x s && ./s "$W"`,
	"script of a script":  `printf '#!%s\n' "$F" >s1 && printf '#!%s/s1\n' "$PWD" >s2 && chmod +x s1 s2 && ./s2 "$W"`,
	"env script":          `printf '#!/usr/bin/env -S %s\n' "$F" >s && chmod +x s && ./s "$W"`,
	"script interpreter":  `printf '"$F" "$W"\n' >s && sh s`,
	"dynamic loader":      `/lib64/ld-linux-x86-64.so.2 "$F" "$W"`,
	"loader with options": `/lib64/ld-linux-x86-64.so.2 --argv0 ls --library-path /lib "$F" "$W"`,
	"python":              `python3 -c 'import os; os.execv(os.environ["F"], ["x", os.environ["W"]])'`,
	"python spawn":        `python3 -c 'import os, subprocess as s; s.run([os.environ["F"], os.environ["W"]])'`,
	"python thread":       `python3 -c 'import os, threading as t; t.Thread(target=lambda: os.execv(os.environ["F"], ["x", os.environ["W"]])).start()'`,
	"descriptor":          `python3 -c 'import os; os.execve(os.open(os.environ["F"], os.O_RDONLY), ["x", os.environ["W"]], {})'`,
	"descriptor's name":   `python3 -c 'import os; f = os.open(os.environ["F"], os.O_RDONLY); os.set_inheritable(f, True); os.execv("/proc/self/fd/%d" % f, ["x", os.environ["W"]])'`,
	"memory":              `python3 -c 'import os; f = os.memfd_create("m", 0); os.write(f, open(os.environ["F"], "rb").read()); os.execve(f, ["x", os.environ["W"]], {})'`,
	"deleted copy":        `python3 -c 'import os, shutil; shutil.copy(os.environ["F"], "gone"); f = os.open("gone", os.O_RDONLY); os.unlink("gone"); os.execve(f, ["x", os.environ["W"]], {})'`,
	"perl":                `perl -e 'exec $ENV{F}, $ENV{W}'`,
	"node":                `node -e 'require("child_process").execFileSync(process.env.F, [process.env.W], {stdio: "inherit"})'`,
}

// TestDeniedProgram starts a program that is denied in every way there is: it
// never runs, and what denied it is reported. Without the denial it does run,
// or the way would show nothing.
func TestDeniedProgram(t *testing.T) {
	for _, level := range levels() {
		if level == L2 && !thorough() {
			continue // the gate is the same
		}
		for name, command := range starts {
			t.Run(level.String()+" "+name, func(t *testing.T) {
				t.Parallel()
				if word := strings.Fields(command)[0]; slices.Contains([]string{"python3", "perl", "node", "make", "awk"}, word) {
					if _, err := os.Stat("/usr/bin/" + word); err != nil {
						t.Skip("SKIPPED: there is no " + word)
					}
				}
				for _, denied := range []bool{false, true} {
					b := newBox(t, os.Getuid(), level)
					f := filepath.Join(b.dir, "bin", "forbidden")
					if err := errorsJoin(os.Mkdir(filepath.Dir(f), 0o755), copyFile("/bin/echo", f)); err != nil {
						t.Fatal(err)
					}
					b.env = append(b.env, "F="+f, "W=it-ran")
					if denied {
						b.denies("forbidden").Copies = []string{f}
					}
					b.bash(t, command)
					ran := strings.Contains(b.stdout, "it-ran")
					switch {
					case ran == denied:
						t.Errorf("denied %v: ran %v\n%s%s", denied, ran, b.stdout, b.stderr)
					case denied && strings.Contains(b.stderr, "Killed"):
						t.Errorf("only the second look saw it: %s", b.stderr)
					case denied && len(b.report.Denials) == 0:
						t.Errorf("nothing is reported; stderr: %s", b.stderr)
					case denied && (b.report.Denials[0].Rule != "bash(forbidden *)" || b.report.Denials[0].Path != f):
						t.Errorf("reported %+v", b.report.Denials[0])
					}
				}
			})
		}
	}
}

// copyFile makes a program. Nothing is forked meanwhile: a child of another test would
// hold it open for writing until it starts its own program, and so long it cannot run.
func copyFile(from, to string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(to, b, 0o755)
}

// TestExecRace starts programs from a process whose other thread writes a
// denied name over the one that was looked at. The kernel may read either; the
// denied program must not get to do anything. Which one it reads is chance, so
// rounds are repeated until both were seen, or the denied one was refused.
func TestExecRace(t *testing.T) {
	if loadMark == 0 {
		t.Skip("SKIPPED: this machine has no call to look a second time at")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ordinary := users(t)[len(users(t))-1]
	for _, test := range []struct {
		uid    int
		denied bool
		mode   os.FileMode // of the denied program: a process shows itself to nobody where its file cannot be read
	}{{os.Getuid(), false, 0o755}, {os.Getuid(), true, 0o755}, {ordinary, false, 0o111}, {ordinary, true, 0o111}} {
		b, denied := newBox(t, test.uid, L2), test.denied
		if denied {
			b.denies("denied0")
		}
		other := filepath.Join(b.dir, "denied0")
		if err := errorsJoin(copyFile("/bin/echo", filepath.Join(b.dir, "allowed")), copyFile("/usr/bin/printf", other), os.Chmod(other, test.mode)); err != nil {
			t.Fatal(err)
		}
		b.env = append(b.env, "SELF="+reachable(t, exe))
		var first, second, denials, rounds int
		for rounds < 40 && (denied && test.mode == 0o111 && rounds < 8 || first == 0 || (!denied && second == 0) || (denied && denials == 0)) {
			rounds++
			b.bash(t, `for i in {1..25}; do "$SELF" `+raceArg+` ./allowed ./denied0; echo; done`)
			first += strings.Count(b.stdout, "ran-%s it")
			second += strings.Count(b.stdout, "ran-it")
			denials += len(b.report.Denials)
		}
		t.Logf("%+v: in %d rounds of 25 the allowed program ran %d times, the other %d times, %d denials", test, rounds, first, second, denials)
		switch {
		case denied && second > 0:
			t.Error("the denied program ran")
		case denied && denials == 0:
			t.Errorf("the denied program was never tried, or nothing was reported: %s%s", b.stdout, b.stderr)
		case !denied && (first == 0 || second == 0):
			t.Errorf("there was no race: %s%s", b.stdout, b.stderr)
		}
	}
}

// runRace starts args[0] or args[1], whichever name the kernel reads: one
// prints its words, the other uses the first as a format. Where one processor
// is shared, the threads change places only here and there, so this one waits a
// while of another length in each process.
func runRace(args []string) int {
	allowed, denied := args[0], args[1]
	name := append([]byte(allowed), 0)
	words, err := syscall.SlicePtrFromStrings([]string{"x", "ran-%s", "it"})
	if err != nil {
		return 1
	}
	var flips atomic.Int64
	go func() {
		for {
			copy(name, denied)
			flips.Add(1)
			copy(name, allowed)
			flips.Add(1)
		}
	}()
	for flips.Load() == 0 {
		time.Sleep(time.Microsecond)
	}
	time.Sleep(time.Duration(rand.IntN(1000)) * time.Microsecond)
	for range 500 {
		_, _, e := unix.RawSyscall(unix.SYS_EXECVE, uintptr(unsafe.Pointer(&name[0])), uintptr(unsafe.Pointer(&words[0])), 0)
		if e != unix.EACCES && e != unix.ENOENT {
			return 1
		}
	}
	return 0
}

// TestHold shows that a start that is not decided yet waits, and that nothing
// else does: the command itself has to get on for the answer to come.
func TestHold(t *testing.T) {
	for _, level := range levels() {
		b := newBox(t, os.Getuid(), level)
		release := filepath.Join(b.dir, "release")
		b.Policy, _ = json.Marshal(testPolicy{Hold: "sleep", Until: release})
		b.bash(t, `sleep 0 & for i in 1 2 3 4 5 6 7 8 9; do /bin/echo $i; done; kill -0 $! && touch release; wait $!; echo status $?`)
		if got := b.stdout; got != "1\n2\n3\n4\n5\n6\n7\n8\n9\nstatus 126\n" {
			t.Errorf("%s: %q %s", level, got, b.stderr)
		}
	}
}
