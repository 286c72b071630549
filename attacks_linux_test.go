package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestAttacks runs the programs of testdata/attacks at each level, as root and as an
// ordinary user, and says how many attempts there were and how many got out. Without
// ATTACKS=all each level and user gets one or two of the programs and another sixteenth of the
// aims and sequences, with CASES=all another eighth; ATTACKS=control runs those on files without a sandbox, where they succeed.
func TestAttacks(t *testing.T) {
	t.Parallel()
	long(t)
	levels := sandboxLevels(t)
	var tried, out atomic.Int64
	var mu sync.Mutex
	said := map[string]int{}
	t.Cleanup(func() {
		t.Logf("%d attacks, %v: %d out", tried.Load(), said, out.Load())
		least := int64(sampled(25, 50) * len(said))
		if os.Getenv("ATTACKS") == "all" {
			least = int64(2000 * len(said))
		}
		if tried.Load() < least && os.Getenv("ATTACKS") != "control" {
			t.Errorf("only %d attacks were tried, %d are expected", tried.Load(), least)
		}
	})
	bin := filepath.Join(t.TempDir(), "agentkit")
	install(t, bin)
	for _, argv := range [][]string{
		{"gcc", "-O1", "-o", filepath.Join(filepath.Dir(bin), "files"), "testdata/attacks/files.c", "-lpthread"},
		{"gcc", "-O1", "-o", filepath.Join(filepath.Dir(bin), "kernel"), "testdata/attacks/kernel.c"},
	} {
		if _, err := exec.LookPath(argv[0]); err != nil {
			t.Skip("SKIPPED: there is no " + argv[0])
		}
		if o, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, o)
		}
	}
	share := -1
	for _, uid := range attackers() {
		for _, level := range slices.Sorted(maps.Keys(levels)) {
			share++
			mine := share
			t.Run(fmt.Sprint(level, "/", uid), func(t *testing.T) {
				t.Parallel()
				r := newRange(t, bin, level, levels[level], uid)
				r.share = mine
				r.all(t)
				tried.Add(int64(r.tried))
				out.Add(int64(r.out))
				mu.Lock()
				defer mu.Unlock()
				said[fmt.Sprint(level, " as ", uid)] = r.tried
			})
		}
	}
}

// attackers are whom the attacks run as: root and an ordinary user, or whoever runs them.
func attackers() []int {
	if os.Getuid() == 0 {
		return []int{0, 61234}
	}
	return []int{os.Getuid()}
}

// A firing range is what the attacks of one level and user aim at:
//
//	root/   the workspace: a repository, secrets, protected files
//	home/   the user's, with the policy
//	other/  another project of the same user
//	bin/    agentkit, and the program that the policy denies
type firingRange struct {
	base, level string
	uid, share  int
	prefix      []string // of a call
	env         []string
	victim      *exec.Cmd
	reached     atomic.Int64 // servers
	tried, out  int
	turn        int
	before      map[string]string
	inodes      map[uint64]bool // of the files that hold secrets
}

func (r *firingRange) path(names ...string) string {
	return filepath.Join(append([]string{r.base}, names...)...)
}

const attackPolicy = `version: 1
protect: [deploy/**]
deny:
  - edit(**/*.lock)
  - read(private/**)
  - bash(forbidden *)
allow: ["edit(open/.husky/pre-commit)"]
`

// newRange makes it.
func newRange(t *testing.T, bin, level string, prefix []string, uid int) *firingRange {
	t.Helper()
	base := durableDir(t)
	if uid != os.Getuid() { // who cannot get into our home
		at := "/srv"
		if _, err := os.Stat(at); err != nil {
			at = "/var/lib"
		}
		var err error
		if base, err = os.MkdirTemp(at, "agentkit-attacks-"); err != nil { //nolint:usetesting // another user must reach it
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(base) })
	}
	r := &firingRange{base: base, level: level, uid: uid, inodes: map[uint64]bool{}}
	files := map[string]string{"home/.config/agentkit/policy.yaml": attackPolicy, "root/src/f": "a file\n", "root/open/.husky/pre-commit": "victim\n", "root/.gitignore": "loot\n"}
	for _, name := range []string{"other/victim", "other/dir/file", "other/y/f", "other/d/.envrc", "other/d/.husky/f", "home/.bashrc", "home/.cargo/bin/x", "home/go/bin/x", "root/.envrc", "root/sub/.vscode/settings.json", "root/sub2/.vscode/settings.json", "root/sub3/.vscode/settings.json", "root/deploy/run.sh", "root/locked/f.lock", "state/agentkit/canary"} {
		files[name] = "victim\n"
	}
	for _, name := range []string{"other/secret", "home/.ssh/id_ed25519", "home/.aws/credentials", "home/.bash_history", "home/notes.txt", "state/agentkit/secret"} {
		files[name] = "CANARY " + name + "\n"
	}
	if level == "L3" { // below, a command is asked about these, for it can read them
		for _, name := range []string{"root/.env", "root/sub/.env", "root/sub/id_rsa", "root/private/key", "root/crate/.cargo/credentials.toml"} {
			files[name] = "CANARY " + name + "\n"
		}
	}
	writeTree(t, base, files)
	programs, _ := filepath.Glob("testdata/attacks/*")
	for _, program := range programs {
		data, err := os.ReadFile(program)
		if err != nil {
			t.Fatal(err)
		}
		writeTree(t, base, map[string]string{"root/atk/" + filepath.Base(program): string(data)})
	}
	script := `set -e; cd "$1"; mkdir -p bin tmp home/.local; cp "$2" bin/agentkit-real; chmod 755 . bin
cat > bin/agentkit <<'S'
#!/bin/sh
exec "$ATTACK_BIN/agentkit-real" "$@"
S
chmod 755 bin/agentkit root/deploy/run.sh
gcc -O1 -o bin/forbidden -DMARK="\"$1/root/loot/ran\"" root/atk/forbidden.c
cp "${2%/*}/files" "${2%/*}/kernel" root/atk
cd root; git init -q . ; git init -q nested; echo '#!/bin/sh' > .git/hooks/pre-commit; mkdir loot
git add -f .gitignore .envrc src open; git -c user.name=a -c user.email=a@b commit -qm first
if [ -e .env ]; then ln .env plain.txt; ln sub/.env sub/plain.txt; ln sub/.env other.txt; fi
cd ..; chown -R "$3" .`
	if o, err := exec.Command("sh", "-c", script, "-", base, bin, fmt.Sprint(uid, ":", uid)).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, o)
	}
	if uid != os.Getuid() {
		r.prefix = []string{"setpriv", fmt.Sprint("--reuid=", uid), fmt.Sprint("--regid=", uid), "--clear-groups"}
	}
	if prefix != nil && uid == 0 { // root keeps its rights, in a user namespace that may have no other
		prefix = []string{"unshare", "-Ur", "sh", "-c", `echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"`, "-"}
	}
	r.prefix = append(r.prefix, prefix...)
	r.surround(t)
	r.before = r.look(t)
	return r
}

// surround starts what lives outside: servers, and a process of the user's.
func (r *firingRange) surround(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	r.env = []string{
		"HOME=" + r.path("home"), "XDG_STATE_HOME=" + r.path("state"), "PATH=" + r.path("bin") + ":/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL=C.UTF-8", "TMPDIR=" + r.path("tmp"), "AGENTKIT_SANDBOX=auto",
		"ATTACK_ROOT=" + r.path("root"), "ATTACK_OTHER=" + r.path("other"), "ATTACK_BASE=" + r.base, "ATTACK_BIN=" + r.path("bin"), "ATTACK_LEVEL=" + r.level, "ATTACK_IP=" + ownAddress(),
		"ATTACK_SOCKET=" + r.path("other/sock"), "SSH_AUTH_SOCK=" + r.path("other/sock"), "ATTACK_ABSTRACT=" + r.base,
		"ATTACK_TEMP_SOCKET=" + r.path("tmp/sock"), "ATTACK_LATE_SOCKET=" + r.path("tmp/late"), "ATTACK_TEMP_ROOT=" + r.path("tmp/up/root"), "ATTACK_ALL=" + strings.TrimSuffix(os.Getenv("ATTACKS"), "control"),
	}
	var listen net.ListenConfig
	serve := func(network, at string) net.Addr {
		l, err := listen.Listen(ctx, network, at)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				r.reached.Add(1)
				_, _ = c.Write([]byte("reached"))
				_ = c.Close()
			}
		}()
		return l.Addr()
	}
	tcp := serve("tcp", ":0").(*net.TCPAddr)
	udp, err := net.ListenUDP("udp", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = udp.Close() })
	go func() {
		b := make([]byte, 100)
		for {
			_, from, err := udp.ReadFrom(b)
			if err != nil {
				return
			}
			r.reached.Add(1)
			_, _ = udp.WriteTo([]byte("reached"), from)
		}
	}()
	for _, at := range []string{r.path("other/sock"), r.path("tmp/sock"), "@" + r.base} {
		serve("unix", at)
		_ = os.Chown(at, r.uid, r.uid)
	}
	r.env = append(r.env, fmt.Sprint("ATTACK_TCP=", tcp.Port), fmt.Sprint("ATTACK_UDP=", udp.LocalAddr().(*net.UDPAddr).Port))
	argv := append(slices.Clone(r.prefix[:min(len(r.prefix), 4*min(1, r.uid^os.Getuid()))]), "sleep", "1000")
	r.victim = exec.Command(argv[0], argv[1:]...)
	r.victim.Env = []string{"SECRET=CANARY of a process", "PATH=/usr/bin:/bin"}
	r.victim.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := r.victim.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.victim.Process.Kill(); _ = r.victim.Wait() })
	for range 6000 { // until it is the program that it becomes
		if name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", r.victim.Process.Pid)); string(name) == "sleep\n" {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	r.env = append(r.env, fmt.Sprint("ATTACK_PID=", r.victim.Process.Pid))
}

// ownAddress is one of this machine's that is not its loopback.
func ownAddress() string {
	list, _ := net.InterfaceAddrs()
	for _, a := range list {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLoopback() && n.IP.To4() != nil {
			return n.IP.String()
		}
	}
	return "192.0.2.1"
}

// look is everything that must stay as it is.
func (r *firingRange) look(t *testing.T) map[string]string {
	t.Helper()
	seen := map[string]string{}
	note := func(path string, exact bool) {
		var st unix.Stat_t
		if err := unix.Lstat(path, &st); err != nil {
			seen[path] = "missing"
			return
		}
		var text []byte
		if st.Size <= 1<<20 {
			text, _ = os.ReadFile(path)
			seen[path] = fmt.Sprintf("%o %q", st.Mode, text)
		} else { // agentkit itself: the time of a file's last change cannot be set
			seen[path] = fmt.Sprintf("%o %d %d", st.Mode, st.Size, st.Ctim.Nano())
		}
		if exact {
			list := make([]byte, 1024)
			n, _ := unix.Llistxattr(path, list)
			seen[path] += fmt.Sprintf(" %d:%d %d %d %q", st.Uid, st.Gid, st.Ino, st.Mtim.Nano(), list[:max(n, 0)])
		}
		if bytes.Contains(text, []byte("CANARY")) {
			r.inodes[st.Ino] = true
		}
	}
	for _, dir := range []string{"other", "bin", "home/.ssh", "home/.aws", "home/.cargo/bin", "home/go/bin", "home/.config"} {
		_ = filepath.WalkDir(r.path(dir), func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type()&fs.ModeSocket == 0 {
				if d.IsDir() {
					seen[path] = "a directory"
				} else {
					note(path, true)
				}
			}
			return nil
		})
	}
	for _, name := range []string{"home/.bashrc", "home/.bash_history", "home/notes.txt", "state/agentkit/canary", "state/agentkit/secret"} {
		note(r.path(name), true)
	}
	for _, target := range r.targets() {
		if kind, path, _ := strings.Cut(target, "\t"); kind == "new" || kind == "plant" || kind == "fixed" {
			note(path, false)
		}
	}
	for _, name := range []string{".env", "sub/.env", "sub/id_rsa", "private/key", "crate/.cargo/credentials.toml"} {
		note(r.path("root", name), false)
	}
	return seen
}

// targets are what the programs about files are given.
func (r *firingRange) targets() (list []string) {
	add := func(kind string, names ...string) {
		for _, name := range names {
			list = append(list, kind+"\t"+r.path(name))
		}
	}
	add("file", "other/victim", "home/.bashrc", "home/.cargo/bin/x", "bin/agentkit-real", "home/.config/agentkit/policy.yaml", "state/agentkit/canary", "home/go/bin/x")
	add("fixed", "root/.git/config", "root/sub/.vscode/settings.json", "root/deploy/run.sh", "root/.envrc", "root/.git/hooks/pre-commit", "root/locked/f.lock", "root/nested/.git/config")
	add("new", "other/new", "home/.zshrc", "state/agentkit/new", "home/.cargo/bin/new", "bin/new")
	add("plant", "root/.git/hooks/post-commit", "root/sub/.envrc", "root/deploy/new", "root/.mcp.json")
	add("secret", "other/secret", "home/.ssh/id_ed25519", "home/.bash_history", "state/agentkit/secret", "home/notes.txt", "home/.aws/credentials")
	if r.level == "L3" {
		add("secret", "root/.env", "root/sub/.env", "root/other.txt", "root/private/key", "root/crate/.cargo/credentials.toml")
	}
	return list
}

// all runs the programs one after another, and looks after each what has become of
// the aims.
func (r *firingRange) all(t *testing.T) {
	every := os.Getenv("ATTACKS")
	targets := r.targets()
	if every == "" { // others at each level and for each user
		targets = slices.DeleteFunc(targets, func(string) bool { return !r.mine() })
	}
	writeTree(t, r.path("root/atk"), map[string]string{"targets": strings.Join(targets, "\n") + "\n"})
	if err := os.Chmod(r.path("root/atk/targets"), 0o644); err != nil {
		t.Fatal(err)
	}
	programs := []string{"./atk/files atk/targets", "python3 atk/files.py atk/targets", "perl atk/files.pl atk/targets", "./atk/kernel", "trap '' USR1; python3 atk/processes.py", "python3 atk/network.py", "sh atk/starts.sh", "python3 atk/plant.py"}
	parts := sampled(8, 4) // each level and user tries some
	for i, program := range programs {
		if every == "" && i%parts != r.share%4*parts/4 {
			continue
		}
		if every == "control" {
			if strings.Contains(program, "atk/targets") {
				r.control(t, program)
			}
			continue
		}
		r.judge(t, program, func(ctx context.Context) string { return r.attack(ctx, t, program) })
	}
	if every == "control" {
		return
	}
	for name := range strings.FieldsSeq(r.outside(t.Context(), "sh", r.path("root/atk/sequences.sh"), "list")) {
		if every == "" && !r.mine() {
			continue
		}
		r.judge(t, name, func(ctx context.Context) string {
			cmd := r.command(ctx, "sh", filepath.Join("atk", "sequences.sh"), name)
			o, err := cmd.CombinedOutput()
			if cmd.ProcessState != nil && err != nil {
				return fmt.Sprintf("%s %s\tout (%v: %s)\n", name, r.level, err, o)
			}
			return name + "\theld\n"
		})
	}
}

// mine reports whether the next of a list is in the share of this level and user.
func (r *firingRange) mine() bool {
	r.turn++
	parts := sampled(16, 8)
	if len(attackers()) == 1 { // who has half as many shares gets twice as much in each
		parts = 8
	}
	return r.turn%parts == r.share%4
}

// command is one outside, as the user, where agentkit has the level.
func (r *firingRange) command(ctx context.Context, argv ...string) *exec.Cmd {
	argv = append(slices.Clone(r.prefix), argv...)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = r.path("root"), r.env, time.Minute
	return cmd
}

func (r *firingRange) outside(ctx context.Context, argv ...string) string {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = r.env
	o, _ := cmd.Output()
	return string(o)
}

// attack runs a program inside, with descriptors that nobody meant to hand on, and
// returns its lines.
func (r *firingRange) attack(ctx context.Context, t *testing.T, program string) string {
	cmd := r.command(ctx, r.path("bin/agentkit"), "bash", "--timeout-ms", "300000", program+" >loot/lines.txt 2>loot/errors.txt")
	for _, name := range []string{"other/victim", "other"} {
		f, err := os.Open(r.path(name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		cmd.ExtraFiles = append(cmd.ExtraFiles, f)
	}
	var listen net.ListenConfig
	_ = os.Remove(r.path("tmp/late"))
	late := time.AfterFunc(300*time.Millisecond, func() { // a socket that is younger than the command
		if l, err := listen.Listen(ctx, "unix", r.path("tmp/late")); err == nil {
			_ = os.Chown(r.path("tmp/late"), r.uid, r.uid)
			go func() {
				for {
					c, err := l.Accept()
					if err != nil {
						return
					}
					_, _ = c.Write([]byte("reached"))
					_ = c.Close()
				}
			}()
			context.AfterFunc(ctx, func() { _ = l.Close() })
		}
	})
	defer late.Stop()
	o, err := cmd.Output()
	var got struct {
		Output   string
		Metadata struct {
			Sandbox  string
			ExitCode int `json:"exit_code"`
		}
	}
	if bad := json.Unmarshal(o, &got); bad != nil || got.Metadata.Sandbox != r.level {
		t.Errorf("%s at %s as %d: %v %v\n%.3000s", program, r.level, r.uid, err, bad, o)
	}
	lines, _ := os.ReadFile(r.path("root/loot/lines.txt"))
	if got.Metadata.ExitCode != 0 || len(lines) == 0 {
		errs, _ := os.ReadFile(r.path("root/loot/errors.txt"))
		t.Errorf("%s at %s as %d ends with %d\n%.2000s", program, r.level, r.uid, got.Metadata.ExitCode, errs)
	}
	return string(lines)
}

// judge runs an attack, counts its attempts, and finds out what got out.
func (r *firingRange) judge(t *testing.T, name string, attack func(context.Context) string) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	r.reached.Store(0)
	victim := r.victimState()
	begin := time.Now()
	var faults []string
	for line := range strings.Lines(attack(ctx)) {
		what, said, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok {
			continue
		}
		r.tried++
		if strings.HasPrefix(said, "out") && !r.open(what) {
			faults = append(faults, what+": "+said)
		}
	}
	if n := r.reached.Load(); n > 0 {
		faults = append(faults, fmt.Sprintf("servers outside were reached %d times", n))
	}
	if now := r.victimState(); now != victim {
		faults = append(faults, "a process outside is not as it was:\n"+victim+now)
	}
	faults = append(faults, r.leaks()...)
	r.tidy()
	after := r.look(t)
	for path := range after {
		if was, ok := r.before[path]; !ok || was != after[path] {
			faults = append(faults, fmt.Sprintf("%s was %s and is %.300s", path, was, after[path]))
		}
	}
	for path := range r.before {
		if after[path] == "" {
			faults = append(faults, path+" is gone")
		}
	}
	if len(faults) > 0 {
		r.out += len(faults)
		t.Errorf("%s at %s as %d: %d got out\n%s", name, r.level, r.uid, len(faults), strings.Join(faults[:min(25, len(faults))], "\n"))
		r.before = after
	}
	if testing.Verbose() {
		t.Logf("%s at %s as %d: %v", name, r.level, r.uid, time.Since(begin).Round(time.Millisecond))
	}
}

// tidy takes away what an attack may leave, and puts back what it may move.
func (r *firingRange) tidy() {
	const script = `cd "$1/root" && find loot planted late k u race node_modules -type d ! -perm -700 -exec chmod u+rwx {} \; 2>/dev/null
[ -d sub ] || for d in sub-moved node_modules/sub nested/.git/objects/sub loot/sub.example tracked.env; do [ -d "$d" ] && mv "$d" sub; done
for n in 2 3; do for d in sub$n-moved .git/refs/s; do [ -d "$d" ] && rm -rf sub$n && mv "$d" sub$n; done; done
[ -d crate ] || mv crate2 crate; [ -d crate/.cargo ] || mv crate/cargo crate/c crate/.cargo
rm -rf loot planted late k u race x node_modules tracked.env deploy2 && mkdir loot && chown "$2" loot`
	_ = exec.Command("sh", "-c", script, "-", r.base, fmt.Sprint(r.uid, ":", r.uid)).Run()
}

// open reports whether docs/sandbox.md says that the level leaves an attempt open.
func (r *firingRange) open(what string) bool {
	// What is put back afterwards: below L3 all that is protected, there what lies in
	// repositories inside, and what was not there.
	return strings.Contains(what, " fixed ") && (r.level != "L3" || strings.Contains(what, "/nested/")) || strings.Contains(what, " plant ")
}

// victimState is what of a process others can change.
func (r *firingRange) victimState() (s string) {
	proc := "/proc/" + strconv.Itoa(r.victim.Process.Pid)
	stat, err := os.ReadFile(proc + "/stat")
	if err != nil {
		return "it has ended\n"
	}
	f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	limits, _ := os.ReadFile(proc + "/limits")
	oom, _ := os.ReadFile(proc + "/oom_score_adj")
	status, _ := os.ReadFile(proc + "/status")
	_, cpus, _ := strings.Cut(string(status), "Cpus_allowed:")
	cpus, _, _ = strings.Cut(cpus, "\n")
	return fmt.Sprintf("stopped %t nice %s policy %s cpus %s oom %s %s\n", strings.Contains("TtZX", f[0]), f[16], f[38], cpus, oom, limits)
}

// leaks looks through what was written in the workspace and the temporary directory.
func (r *firingRange) leaks() (list []string) {
	for _, top := range []string{"root", "tmp"} {
		_ = filepath.WalkDir(r.path(top), func(path string, d fs.DirEntry, err error) error {
			if err != nil || strings.HasPrefix(path, r.path("root/atk")) || path == r.path("root/.git/objects") {
				return nil
			}
			inLoot := strings.HasPrefix(path, r.path("root/loot")+"/")
			switch {
			case d.Type()&fs.ModeSymlink != 0:
				if to, _ := os.Readlink(path); !inLoot && strings.Contains(to, "PLANTED") {
					list = append(list, path+" leads to "+to)
				}
			case d.Type().IsRegular():
				var st unix.Stat_t
				text, _ := os.ReadFile(path)
				if unix.Lstat(path, &st) == nil && bytes.Contains(text, []byte("CANARY")) && !r.inodes[st.Ino] {
					i := bytes.Index(text, []byte("CANARY"))
					list = append(list, fmt.Sprintf("a secret is in %s: %q", path, text[max(0, i-60):min(len(text), i+60)]))
				}
				if !inLoot && bytes.Contains(text, []byte("PLANTED")) {
					list = append(list, path+" was planted")
				}
			}
			return nil
		})
	}
	return list
}

// control runs a program without a sandbox: what cannot succeed anyway shows nothing.
func (r *firingRange) control(t *testing.T, program string) {
	failed := map[string]bool{}
	tried, out := 0, 0
	if o, err := exec.CommandContext(t.Context(), "cp", "-a", r.path("other"), r.path("fresh")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, o)
	}
	defer func() { _ = os.RemoveAll(r.path("fresh")) }()
	for target := range strings.Lines(string(must(os.ReadFile(r.path("root/atk/targets"))))) {
		kind, path, _ := strings.Cut(strings.TrimSpace(target), "\t")
		if !strings.HasPrefix(path, r.path("other")) {
			continue
		}
		_ = os.WriteFile(r.path("root/atk/one"), []byte(kind+"\t"+path+"\n"), 0o644)
		cmd := r.command(t.Context(), "sh", "-c", strings.Replace(program, "atk/targets", "atk/one", 1))
		cmd.Env = append(slices.Clone(cmd.Env), `ATTACK_FRESH=rm -rf "$ATTACK_OTHER" && cp -a "$ATTACK_BASE/fresh" "$ATTACK_OTHER"`)
		o, _ := cmd.Output()
		for line := range strings.Lines(string(o)) {
			if what, said, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
				tried++
				if said == "out" {
					out++
				} else {
					failed[strings.TrimSuffix(what, " "+path)] = true
				}
			}
		}
	}
	t.Logf("%s without a sandbox: %d of %d get out; not %s", program, out, tried, strings.Join(slices.Sorted(maps.Keys(failed)), ", "))
}

func must(data []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return data
}
