//go:build linux && (amd64 || arm64)

package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// methodEnv has the lab end its commands by this method: without a PID
// namespace, which the best one has.
const methodEnv = "SANDBOX_LAB_METHOD"

// landlockEnv has the lab do with the Landlock of an older kernel.
const landlockEnv = "SANDBOX_LAB_LANDLOCK"

// ways are the ways to start a command: each a list of variables of the lab.
func ways() []string {
	return []string{"", methodEnv + "=subreaper", stageEnv + "=1", landlockEnv + "=4", landlockEnv + "=4 " + methodEnv + "=subreaper", landlockEnv + "=4 " + stageEnv + "=1"}
}

// TestAttackPrograms runs the attacks of testdata, in C, Python and Perl, at
// every level, as root and as an ordinary user, with a PID namespace and without,
// forked and by a stage. Without a sandbox they get out, but for those whose
// name ends in FAR, which the machine may refuse by itself.
func TestAttackPrograms(t *testing.T) {
	for _, c := range []struct{ name, program, file string }{{"C", "gcc", "attacks.c"}, {"Python", "python3", "attacks.py"}, {"Perl", "perl", "attacks.pl"}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			argv := attackProgram(t, c.program, c.file)
			for _, uid := range users(t) {
				free := attackResults(t, uid, L0, "", argv)
				if len(free) < 30 {
					t.Fatalf("only %d attacks ran", len(free))
				}
				for name, errno := range free { // an ordinary user's lab keeps rights that its command has not
					if errno != 0 && uid == 0 && !strings.HasSuffix(name, " FAR") {
						t.Errorf("%s fails even without a sandbox as %d, so it shows nothing: %v", name, uid, unix.Errno(errno))
					}
				}
				for _, level := range []Level{L2, L3} {
					for _, how := range ways() {
						got := attackResults(t, uid, level, how, argv)
						for name := range free {
							if errno, ran := got[name]; !ran || errno == 0 {
								t.Errorf("%s gets out at %s as %d %s (it ran: %t)", name, level, uid, how, ran)
							}
						}
					}
				}
			}
		})
	}
}

// attackProgram makes one of the programs and returns how it is started.
func attackProgram(t *testing.T, program, file string) []string {
	t.Helper()
	path, err := exec.LookPath(program)
	if system := "/usr/bin/" + program; err == nil {
		if _, err := os.Stat(system); err == nil {
			path = system // where every user may start it
		}
	}
	if err != nil {
		t.Skip("SKIPPED: there is no " + program)
	}
	if program != "gcc" {
		return []string{path, reachable(t, filepath.Join("testdata", file))}
	}
	exe := filepath.Join(t.TempDir(), "attacks")
	if out, err := exec.CommandContext(t.Context(), path, "-O1", "-o", exe, filepath.Join("testdata", file)).CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: it cannot be compiled here: %v\n%s", err, out)
	}
	return []string{reachable(t, exe)}
}

// attackResults runs a program of attacks in the lab: what the kernel said to
// each, 0 for one that got out.
func attackResults(t *testing.T, uid int, level Level, how string, argv []string) map[string]int {
	t.Helper()
	dir := layOut(t, uid)
	c := lab(t, uid, append(append([]string{dir, level.String()}, argv...), dir)...)
	c.Env = append(os.Environ(), strings.Fields(how)...)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("the lab at %s as %d %s: %v\n%s\n%s", level, uid, how, err, out, stderr.String())
	}
	got := map[string]int{}
	for line := range strings.Lines(string(out)) {
		name, errno, _ := strings.Cut(strings.TrimSpace(line), "\t")
		n, err := strconv.Atoi(errno)
		if err != nil {
			t.Fatalf("%q", line)
		}
		got[name] = n
	}
	return got
}

// TestOwnProcesses: what honest programs do to their own processes works, by
// their numbers, too.
func TestOwnProcesses(t *testing.T) {
	// The test may itself have been started with nice or on some of the processors.
	const script = `set -e
lower=$(($(nice) + 5)); [ $lower -le 19 ] || lower=19
mask=$(taskset -p $$); mask=${mask##* }
nice -n 1 true
sleep 60 & p=$!
renice -n $lower -p $p >/dev/null
chrt -o -p 0 $p
taskset -p $mask $p >/dev/null
taskset -p $mask $$ >/dev/null
ionice -c 3 -p $p
prlimit --pid $p --core=0
prlimit --pid $$ --core=0
ulimit -c 0; ulimit -n 100
taskset $mask true
(sleep 60 & echo $! >orphan); renice -n $lower -p $(cat orphan) >/dev/null
kill $p $(cat orphan)
if command -v node >/dev/null; then node -e "os.setPriority(os.getPriority()); os.setPriority(process.pid, $lower)"; fi
if command -v python3 >/dev/null; then python3 -c 'import os,threading; t=threading.Thread(target=lambda: os.sched_setaffinity(threading.get_native_id(), os.sched_getaffinity(0))); t.start(); t.join(); os.killpg(0, 0)'; fi
if command -v java >/dev/null; then java -XX:ThreadPriorityPolicy=1 -XX:+UseSerialGC -version 2>/dev/null; fi
echo well`
	for _, program := range []string{"nice", "renice", "chrt", "taskset", "ionice", "prlimit"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("SKIPPED: there is no " + program)
		}
	}
	for _, uid := range users(t) {
		for _, level := range []Level{L2, L3} {
			for _, how := range ways() {
				t.Run(fmt.Sprintf("%s as %d %s", level, uid, how), func(t *testing.T) {
					t.Parallel()
					c := lab(t, uid, layOut(t, uid), level.String(), "sh", "-c", script)
					c.Env = append(os.Environ(), strings.Fields(how)...)
					if uid != os.Getuid() { // the root's own programs are not there for another user
						c.Env = append(c.Env, "PATH=/usr/bin:/bin")
					}
					if out, err := c.CombinedOutput(); err != nil || !strings.HasSuffix(string(out), "well\n") {
						t.Errorf("%v: %s", err, out)
					}
				})
			}
		}
	}
}
