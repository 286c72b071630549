package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/agentkit-go/agentkit/pkg/sandbox"
)

// onTerminal runs a command on a terminal of its own, types what is to be typed whenever something
// stands there, and returns all that was shown.
func onTerminal(t *testing.T, c *exec.Cmd, when, typed string) (shown string, status int) {
	t.Helper()
	tty, err := pty.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	stop := time.AfterFunc(2*time.Minute, func() { _ = c.Process.Kill() })
	defer stop.Stop()
	var all strings.Builder
	answered := 0
	buf := make([]byte, 4096)
	for {
		n, err := tty.Read(buf)
		all.Write(buf[:n])
		for when != "" && strings.Count(all.String(), when) > answered {
			answered++
			if _, err := io.WriteString(tty, typed); err != nil {
				t.Fatal(err)
			}
		}
		if err != nil { // the command has ended
			break
		}
	}
	_ = c.Wait()
	return all.String(), c.ProcessState.ExitCode()
}

// TestRemoteInterrupted: Ctrl-C on a terminal ends the call at the far end, not what leads there:
// all that the command still says comes, as it does here.
func TestRemoteInterrupted(t *testing.T) {
	t.Parallel()
	long(t)
	p := sshHost(t)
	const command = `trap 'echo caught' INT TERM; echo begun; while :; do sleep 0.1; done`
	states := map[string]string{"a connection of its own": filepath.Join(p.dir, "ours", strings.Repeat("long", 30))}
	if sandbox.Probe().Level >= sandbox.L3 {
		states["a shared one"] = filepath.Join(p.dir, "s")
	}
	for name, state := range states {
		t.Run(name, func(t *testing.T) {
			for range 2 { // the second one finds a shared connection
				shown, status := onTerminal(t, p.command("--state", state, "bash", "--timeout-ms", "60000", command), "begun", "\x03")
				if status != 130 || !strings.Contains(shown, "caught") || !strings.Contains(shown, "[aborted") || !strings.Contains(shown, "interrupted by SIGINT") {
					t.Errorf("%d: %s", status, shown)
				}
			}
		})
	}
	shared, _ := filepath.Glob(filepath.Join(p.dir, "s", "ssh", "*"))
	if want := len(states) - 1; len(shared) != want {
		t.Errorf("%q, want %d", shared, want)
	}
	for _, socket := range shared {
		_ = exec.Command(filepath.Join(p.bin, "ssh"), "-S", socket, "-O", "exit", "there").Run()
	}
	_ = os.RemoveAll(filepath.Join(p.dir, "s", "kept"))
}

// TestRemoteScreen: nothing that a far end sends has a terminal do something: not in text, and not
// in JSON, which need not escape all that terminals obey.
func TestRemoteScreen(t *testing.T) {
	t.Parallel()
	long(t)
	p := newFarHost(t)
	const text = `E='\u001b[2J\u001b]0;x\u0007\u009b2J\u202e'
read -r l; read -r l; n=${l%% *}; n=${n#n=}
printf '\033[2J\n' >&2; echo "$n ready"
echo '{"agentkit":"v1'$E'","protocol":1,"tools":["read","bash"],"root":"/x'$E'","level":"L0'$E'"}'
while read -r l; do case $l in *'"name"'*) break;; esac; done
case $l in *'"events":["start"'*)
	echo '{"id":1,"event":"start","value":{"tool":"'$E'","title":"'$E'"}}'
	echo '{"id":1,"event":"output","value":{"text":"live'$E'\n"}}' ;;
esac
case $l in *'"ask":true'*)
	echo '{"id":1,"event":"ask","value":{"tool":"'$E'","id":"'$E'","on":"ssh://bank","accesses":[{"kind":"'$E'","subject":"'$E'","decision":"ask","rule":"'$E'","why":"'$E'"}],"request":{"id":"'$E'","patterns":["'$E'"],"suggestions":[{"rules":["bash(x'$E')"],"title":"'$E'"}]}}}'
	read -r l ;;
esac
m='"metadata":{"'$E'":"'$E'","notes":["'$E'"],"diff":"'$E'","path":"'$E'"}'
case $1 in
ok) echo '{"id":1,"result":{"title":"'$E'","output":"o'$E'","attachments":[{"type":"image","filename":"'$E'","mime_type":"'$E'","content":""}],'$m'},"exit":0,"output_bytes":1,"pretty":"'$E'"}' ;;
*) echo '{"id":1,"result":{"title":"'$E'","output":"o'$E'",'$m',"error":{"code":"io","message":"'$E'","hint":"'$E'","suggestions":["'$E'"],"details":{"'$E'":"'$E'"}}},"exit":2,"output_bytes":-1}' ;;
esac
cat >/dev/null
`
	p.put("far", "#!/bin/bash\n"+text, 0o700)
	styles := regexp.MustCompile(`\x1b\[[0-9;]*m|\r\x1b\[K`) // our own
	for _, result := range []string{"ok", "error"} {
		on := "exec:" + p.dir + "/far " + result
		for _, args := range [][]string{
			{"-o", "text", "bash", "ls"},
			{"-o", "json", "bash", "ls"},
			{"-o", "events", "bash", "ls"},
			{"-o", "text", "read", "a.txt"},
			{"-o", "text", "--ask", "bash", "ls"},
			{"-o", "text", "--on", on + " 2", "bash", "ls"},
			{"-o", "json", "--on", on + " 2", "bash", "ls"},
			{"call", "read"},
		} {
			t.Run(fmt.Sprint(result, args), func(t *testing.T) {
				t.Parallel()
				p := &farHost{t: t, dir: p.dir, bin: p.bin, path: p.path, on: on}
				// the name of the state is too long for a connection to be kept: this far end answers once
				c := p.command(append([]string{"--state", filepath.Join(p.dir, "ours", strings.Repeat("long", 30))}, args...)...)
				when, typed := "allow?", "n\n"
				if args[0] == "call" {
					c.Args = append([]string{"sh", "-c", `echo '{"path":"a.txt"}' | "$0" "$@"`}, c.Args...)
					c.Path = "/bin/sh"
				}
				shown, _ := onTerminal(t, c, when, typed)
				if !strings.Contains(shown, "2J") {
					t.Errorf("it says nothing of it: %q", shown)
				}
				if left := styles.ReplaceAllString(shown, ""); strings.ContainsAny(left, "\x1b\a\u009b\u202e") {
					t.Errorf("%q", left)
				}
				if strings.Contains(shown, "ssh://bank") {
					t.Errorf("it goes by another name: %q", shown)
				}
			})
		}
	}
}

// TestRemoteHomes: a far end that can keep no program says why, and what to do.
func TestRemoteHomes(t *testing.T) {
	t.Parallel()
	long(t)
	p := newFarHost(t)
	p.put("bin/uname", "#!/bin/sh\ncase $1 in -s) echo Linux;; *) echo mips;; esac\n", 0o700)
	usual := "PATH='" + os.Getenv("PATH") + "'"
	for _, c := range []struct {
		name, mount, env, want, hint string
	}{
		{"no home", "", usual, "nowhere to keep a program", "AGENTKIT_STATE"},
		{"a home that is not there", "", "HOME=/proc/none " + usual, "nowhere to keep a program", "AGENTKIT_STATE"},
		{"a home that is read-only", "ro", "HOME=DIR/home " + usual, "nowhere to keep a program", "AGENTKIT_STATE"},
		{"a home from which nothing is run", "noexec", "HOME=DIR/home " + usual, "does not run there, or not from DIR/home", "AGENTKIT_STATE"},
		{"a home without room", "size=1m", "HOME=DIR/home " + usual, "the program cannot be kept in DIR/home", "AGENTKIT_STATE"},
		{"another processor", "size=500m", "HOME=DIR/home PATH='DIR/bin:" + os.Getenv("PATH") + "'", "is linux/mips, and this program is for linux/", "for linux/mips"},
		{"another state directory", "ro", "HOME=DIR/home AGENTKIT_STATE=DIR/ours/theirs " + usual, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			named := strings.NewReplacer("DIR", p.dir)
			p := &farHost{t: t, dir: p.dir, bin: p.bin, path: p.path, on: named.Replace("exec:cd DIR/root && exec env -i " + c.env + " sh")}
			if c.mount != "" {
				if out, err := exec.Command("unshare", "-rm", "mount", "-t", "tmpfs", "none", p.dir+"/home").CombinedOutput(); err != nil {
					t.Skipf("SKIPPED: no mount namespaces here: %v %s", err, out)
				}
				p.put("mounted", "#!/bin/sh\nmount -t tmpfs -o "+c.mount+" none DIR/home && cd DIR/root && exec env -i "+c.env+" sh\n", 0o700)
				p.on = "exec:exec unshare -rm " + p.dir + "/mounted"
			}
			if c.want == "" {
				if out, status := p.run("bash", "echo fine"); status != 0 {
					t.Errorf("%s", out)
				}
				return
			}
			out, status := p.run("read", "a.txt")
			r := p.result(out)
			if status != 2 || r.Error.Code != "unsupported" || !strings.Contains(r.Error.Message, named.Replace(c.want)) || !strings.Contains(r.Error.Hint, c.hint) || !strings.Contains(r.Error.Hint, "install agentkit there") {
				t.Errorf("%d %s", status, out)
			}
			if left, _ := filepath.Glob(p.dir + "/home/.local/state/agentkit/far/*"); len(left) > 0 {
				t.Errorf("left: %q", left)
			}
		})
	}
}

// TestRemotePackage: to a far end of another processor goes the program of the release's package
// for it. Here that is this very one, which is packed as such.
func TestRemotePackage(t *testing.T) {
	t.Parallel()
	long(t)
	p := newFarHost(t)
	p.put("bin/uname", "#!/bin/sh\ncase $1 in -s) echo Linux;; *) echo mips;; esac\n", 0o700)
	p.on = "exec:cd " + p.dir + "/root && exec env -i HOME=" + p.dir + "/home PATH='" + p.path + "' sh"
	program := build(t)
	pack := exec.Command("tar", "-chf", filepath.Join(p.dir, "agentkit_1.0.0_linux_mips.tar.gz"), "--use-compress-program=gzip -1",
		"--transform=s/.*/agentkit/", "-C", filepath.Dir(program), filepath.Base(program))
	if out, err := pack.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for range 2 { // the second call finds it there
		c := p.command("bash", "echo fine")
		c.Env = append(c.Env, "AGENTKIT_PROGRAMS="+p.dir)
		if out, err := c.Output(); err != nil || p.result(out).Output != "fine\n" {
			t.Errorf("%v: %s", err, out)
		}
	}
}

// TestRemoteStream: what a command prints without end takes no more memory than little output, and
// a reader that stops reading stops the command.
func TestRemoteStream(t *testing.T) {
	t.Parallel()
	long(t)
	p := shellHost(t)
	lines := sampled(1900, 5000) // of 60 kB: more than the memory that it may take
	count := filepath.Join(p.dir, "root", "n")
	c := p.command("-o", "events", "--max-bytes", "10000", "bash", "--timeout-ms", "300000",
		fmt.Sprintf(`text=$(head -c 60000 /dev/zero | tr '\0' x); i=0; while [ $i -lt %d ]; do echo "$text"; i=$((i+1)); echo $i >n; done`, lines))
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	most := highWater(c.Process.Pid)
	in := bufio.NewReaderSize(out, 1<<20)
	if _, err := in.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	printed := func() int {
		text, _ := os.ReadFile(count) // it may just be written
		n, _ := strconv.Atoi(strings.TrimSpace(string(text)))
		return n
	}
	last, same := -1, 0
	for begun := time.Now(); same < 10 && time.Since(begun) < time.Minute; time.Sleep(100 * time.Millisecond) {
		if n := printed(); n == last && n > 0 {
			same++
		} else {
			last, same = n, 0
		}
	}
	if most := 16 << 20 / 60000; same < 10 || last > most {
		t.Errorf("%d lines of 60 kB were printed for a reader that has stopped", last)
	}
	bytes, err := io.Copy(io.Discard, in)
	if err := c.Wait(); err != nil {
		t.Fatal(err)
	}
	if err != nil || bytes < int64(lines)*58_000 {
		t.Errorf("%d bytes came: %v", bytes, err)
	}
	took := most()
	if took == 0 || took > 100<<20 {
		t.Errorf("%d MB were taken", took>>20)
	}
	t.Logf("%d MB of memory for %d MB of output, %d lines ahead of the reader", took>>20, bytes>>20, last)
}

// TestRemoteBrings: a search in a large tree brings its result, and nothing of the tree.
func TestRemoteBrings(t *testing.T) {
	t.Parallel()
	long(t)
	p := newFarHost(t)
	for i := range 2000 {
		p.put(fmt.Sprintf("root/f%d.txt", i), strings.Repeat("a line of text\n", 300), 0o600)
	}
	p.put("root/f7.txt", "the needle\n", 0o600)
	p.put("lead", "#!/bin/sh\ncd DIR/root && env -i HOME=DIR/home PATH='"+os.Getenv("PATH")+"' sh | tee DIR/came\n", 0o700)
	p.on = "exec:" + p.dir + "/lead"
	if out, status := p.run("grep", "needle"); status != 0 || !strings.Contains(string(out), "f7.txt") {
		t.Fatalf("%d %s", status, out)
	}
	var came []byte
	eventually(t, "tee, which passes it on first, has written what came", func() bool {
		came, _ = os.ReadFile(filepath.Join(p.dir, "came")) // it may not be there yet
		return len(came) > 0
	})
	if len(came) > 20_000 {
		t.Errorf("%d bytes came", len(came))
	}
}

// TestRemoteFleet: a call at many hosts leaves no connection to each of them, as a single call
// does for the calls that follow.
func TestRemoteFleet(t *testing.T) {
	t.Parallel()
	long(t)
	if sandbox.Probe().Level < sandbox.L3 {
		t.Skip("SKIPPED: this machine reaches no sandbox of level 3")
	}
	p := sshHost(t)
	state := filepath.Join(p.dir, "s")
	out, status := p.run("--state", state, "--on", "ssh://there"+p.dir, "bash", "echo x")
	if status != 0 || strings.Count(string(out), `"exit":0`) != 2 {
		t.Fatalf("%s", out)
	}
	eventually(t, "ssh has let go of the host", func() bool {
		left, _ := filepath.Glob(filepath.Join(state, "ssh", "*"))
		return len(left) == 0
	})
	if kept, _ := filepath.Glob(filepath.Join(state, "kept", "*")); len(kept) > 0 {
		t.Errorf("kept: %q", kept)
	}
}
