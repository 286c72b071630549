package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// approvers are ways of a command to run agentkit as if a person had. ID is a
// request, POLICY what else only a person may do.
const approvers = `use POSIX;
my $n = $ARGV[0]; open(A, "args"); my ($bin, $id) = split(" ", <A>);
sub run { exec("env", "-i", "HOME=$ENV{HOME}", "PATH=$ENV{PATH}", @_) or POSIX::_exit(9) }
sub approve { run($bin, "policy", "approve", $id) }
sub orphan { return if fork(); setsid(); POSIX::_exit(0) if fork(); my $was = getppid(); for (1..30) { last if getppid() != $was; select(undef, undef, undef, 0.01) } $_[0]->(); POSIX::_exit(0) }
sub init { my $p = getppid(); for (1..20) { open(S, "/proc/$p/stat") or last; my $s = <S>; open(C, "/proc/$p/cmdline"); my $c = <C>; return $p if $c =~ /agentkit-init|__init/; $s =~ /\) \S (\d+)/; $p = $1 } 0 }
my @ways = (
  \&approve,
  sub { setsid(); approve() },
  sub { orphan(\&approve) },
  sub { orphan(sub { select(undef, undef, undef, 2); approve() }) },
  sub { system("cp", $bin, "/var/tmp/renamed.$$"); run("/var/tmp/renamed.$$", "policy", "approve", $id) },
  sub { run("bash", "-c", "exec -a person \"\$@\"", "-", $bin, "policy", "approve", $id) },
  sub { run("unshare", "-Ur", "--pid", "--fork", "--mount-proc", $bin, "policy", "approve", $id) },
  sub { run("unshare", "-Ur", "--pid", "--fork", $bin, "policy", "approve", $id) },
  sub { my $i = init(); orphan(sub { kill(9, $i) if $i; select(undef, undef, undef, 0.2); approve() }); select(undef, undef, undef, 1) },
  sub { run("script", "-qc", "$bin policy approve $id", "/dev/null") },
  sub { run("nohup", "setsid", $bin, "policy", "approve", $id) },
  sub { run($bin, "--sandbox", "off", "--allow", "bash", "bash", "env -u AGENTKIT $bin policy approve $id") },
  sub { run("prlimit", "--msgqueue=unlimited", "setsid", $bin, "policy", "approve", $id) },
  sub { run("prlimit", "--rttime=unlimited", "setsid", $bin, "policy", "approve", $id) },
  sub { run($bin, "policy", "trust") },
  sub { orphan(sub { run($bin, "policy", "trust") }) },
  sub { orphan(sub { run($bin, "policy", "allow", "bash(make *)") }) },
);
$ways[$n]->() if $n < @ways;
`

// approverCount is how many ways there are.
const approverCount = 17

// TestOnlyPeopleApprove: no command approves a request, trusts a project's policy or
// changes one, as an ordinary user and with the sandbox off, where nothing but
// descent tells it from a person; in the call and as a job. A person can.
func TestOnlyPeopleApprove(t *testing.T) {
	t.Parallel()
	long(t)
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: needs root, to become an ordinary user whose home is not root's")
	}
	dir, err := os.MkdirTemp("/var/tmp", "agentkit-approve") //nolint:usetesting // another user must reach it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	bin := filepath.Join(dir, "bin/agentkit")
	install(t, bin)
	writeTree(t, dir, map[string]string{"work/approve.pl": approvers, "work/.agentkit/policy.yaml": "version: 1\nallow: [bash(make *)]\n", "home/x": ""})
	if out, err := exec.Command("sh", "-c", `chmod 755 "$1" "$1/bin" && chown -R 61234:61234 "$1/work" "$1/home"`, "-", dir).CombinedOutput(); err != nil {
		t.Fatalf("%s", out)
	}
	as := func(args ...string) string {
		cmd := exec.Command("setpriv", append([]string{"--reuid=61234", "--regid=61234", "--clear-groups", bin}, args...)...)
		cmd.Dir, cmd.Env = filepath.Join(dir, "work"), []string{"HOME=" + dir + "/home", "PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8"}
		out, _ := cmd.Output()
		return string(out)
	}
	var asked struct {
		Error struct {
			Details struct{ Request struct{ ID string } }
		}
	}
	if out := as("bash", "git push origin main"); json.Unmarshal([]byte(out), &asked) != nil || asked.Error.Details.Request.ID == "" {
		t.Fatalf("nothing was asked: %s", out)
	}
	id := asked.Error.Details.Request.ID
	state := func() string {
		out := as("policy", "approvals")
		trust, _ := exec.Command("find", dir+"/home", "-name", "*trust*").Output()
		policies, _ := exec.Command("sh", "-c", "cat "+dir+"/work/.agentkit/policy.yaml; find "+dir+"/home/.config").CombinedOutput()
		return strings.Join([]string{out, string(trust), string(policies)}, "\n")
	}
	writeTree(t, dir, map[string]string{"work/args": bin + " " + id})
	if err := os.Chmod(filepath.Join(dir, "work/args"), 0o644); err != nil {
		t.Fatal(err)
	}
	before := state()
	if !strings.Contains(before, `"pending"`) {
		t.Fatalf("%s", before)
	}
	for n := range approverCount {
		for _, how := range [][]string{nil, {"--background"}} {
			args := append([]string{"--sandbox", "off", "--allow", "bash", "--allow", "edit", "--allow", "read", "bash"}, how...)
			out := as(append(args, "perl approve.pl "+strconv.Itoa(n))...)
			if strings.Contains(out, "approval_required") || strings.Contains(out, `"code":"denied"`) && !strings.Contains(out, "exit_code") {
				t.Fatalf("%d was not tried: %s", n, out)
			}
			if n == 3 {
				time.Sleep(2500 * time.Millisecond)
			} else if how != nil {
				time.Sleep(500 * time.Millisecond)
			}
			if after := state(); after != before {
				t.Errorf("way %d %v: %s\nbefore: %s\nafter: %s", n, how, out, before, after)
				before = after
			}
		}
	}
	// A person can, also where the machine has set one of the limits that mark commands.
	var low unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MSGQUEUE, &low); err != nil {
		t.Fatal(err)
	}
	was := low
	low.Cur, low.Max = 1000, min(1000, low.Max)
	if err := unix.Setrlimit(unix.RLIMIT_MSGQUEUE, &low); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Setrlimit(unix.RLIMIT_MSGQUEUE, &was) }()
	if out := as("policy", "approve", id); !strings.Contains(out, "approved") {
		t.Errorf("a person cannot approve: %s", out)
	}
}
