package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/sandbox"
)

// starts are ways to start the program pwn, which no reading of a command's
// text needs to understand: the kernel's list of programs is what counts.
var starts = []string{
	"pwn", "p''wn", "x=pw; ${x}n", "$(echo pwn)", "eval pwn", "echo pwn | sh", "sh <<< pwn", "bash -c 'p\"w\"n'",
	"command pwn", "exec pwn", "env pwn", "env -i @B@/pwn", "nice pwn", "nohup pwn", "timeout 1 pwn", "setsid -w pwn", "xargs pwn </dev/null",
	"echo | xargs -I{} pwn", "find . -maxdepth 0 -exec pwn \\;", "find . -maxdepth 0 -exec sh -c pwn \\;", "@B@/pwn", "@B@/../@b@/pwn", "cd @B@ && ./pwn",
	"ln -s @B@/pwn other; ./other", "cp @B@/pwn other && ./other", "ln @B@/pwn hard && ./hard", "cat @B@/pwn > c; chmod +x c; ./c",
	"python3 -c 'import os; os.system(\"pwn\")'", "python3 -c 'import os; os.execvp(\"pwn\", [\"other\"])'",
	"perl -e 'exec \"pwn\"'", "awk 'BEGIN{system(\"pwn\")}'", "printf 'all:\\n\\tpwn\\n' | make -f -",
	"printf '#!/bin/sh\\npwn\\n' > s; chmod +x s; ./s", "printf '#!@B@/pwn\\n' > s; chmod +x s; ./s", "trap pwn EXIT", "pwn &", "(pwn)", "coproc pwn; wait",
	"f() { pwn; }; f", "alias x=pwn; shopt -s expand_aliases\nx", ". <(echo pwn)", "cat < <(pwn)", "git -c alias.x='!pwn' x", "git -c core.pager=pwn -p log",
	"tar cf /dev/null --checkpoint=1 --checkpoint-action=exec=pwn .", "PROMPT_COMMAND=pwn bash -i </dev/null", "BASH_ENV=<(echo pwn) bash -c :", "/lib64/ld-linux-x86-64.so.2 @B@/pwn",
	"hash -p @B@/pwn ls; ls", "PATH=@B@ pwn", "enable -n echo; PATH=@B@ pwn", "busybox sh -c pwn", "script -qc pwn /dev/null", "flock x pwn", "sed '1e pwn' /etc/hostname", "ed <<< '!pwn'", "vim -es -c '!pwn' -c q", "sudo -n pwn", "strace -o x pwn",
}

// runner runs each text twice in a directory of its own: as an argument of
// bash, and as what it reads from its input, where nothing shows what comes.
// It prints the number of each text that started the canary.
const runner = `
import json, os, subprocess, sys
texts, where, bindir = json.load(open("texts.json")), os.getcwd(), sys.argv[1]
log = where + "/canary.log"
for i, text in enumerate(texts):
    for how in ("argument", "input"):
        d = "%s/work/%d.%s" % (where, i, how)
        os.makedirs(d)
        env = {"PATH": bindir + ":/usr/bin:/bin", "HOME": d, "LC_ALL": "C.UTF-8"}
        argv = ["bash", "-c", text] if how == "argument" else ["bash"]
        try:
            subprocess.run(argv, input="" if how == "argument" else text + "\n", cwd=d, env=env, timeout=5, encoding="utf-8", errors="surrogatepass",
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        except (subprocess.TimeoutExpired, OSError, ValueError, UnicodeError):
            pass
        if os.path.exists(log):
            print(i, flush=True)
            os.remove(log)
print("end", flush=True)
`

// TestGateHolds: a program that the policy denies never runs inside, however it
// is started: by the ways above and by those of the labelled cases. Everything
// happens as nobody, in namespaces of its own and in the sandbox; without the
// deny rule most of the same texts do run it.
func TestGateHolds(t *testing.T) {
	t.Parallel()
	long(t)
	if os.Geteuid() != 0 || sandbox.Probe().Level < sandbox.L3 {
		t.Skip("SKIPPED: needs root, to become nobody, and a sandbox of level 3")
	}
	texts := slices.Concat(starts, labelledInputs(t))
	dir, err := os.MkdirTemp("/var/tmp", "agentkit-gate") //nolint:usetesting // nobody must reach it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	agentkit := filepath.Join(dir, "agentkit")
	install(t, agentkit)
	bin := filepath.Join(dir, "bin")
	canary := "#!/bin/sh\necho ran >> " + dir + "/w/canary.log\n"
	files := map[string]string{"bin/pwn": canary, "w/run.py": runner, "h/yes": "#!/bin/sh\necho '{\"decision\":\"allow\"}'\n", "o/secret": "secret\n"}
	for name, deny := range map[string]string{"deny.yaml": "deny: [\"bash(pwn *)\"]\n", "none.yaml": ""} {
		files[name] = "version: 1\nsandbox: require\nprofile: open\n" + deny
	}
	fill := strings.NewReplacer("@B@", bin, "@b@", "bin", "@W@", dir+"/w", "@O@", dir+"/o", "@H@", dir+"/h")
	for i := range texts {
		texts[i] = fill.Replace(texts[i])
	}
	raw, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	files["w/texts.json"] = string(raw)
	for name, text := range files {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	const nobody = 65534
	for _, d := range []string{dir, "w", "h", "o"} {
		if err := os.Chown(filepath.Join(dir, strings.TrimPrefix(d, dir)), nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	run := func(policy string) map[string]bool {
		t.Helper()
		_ = os.RemoveAll(dir + "/w/work")
		c := exec.Command(agentkit, "--root", dir+"/w", "--state", dir+"/h/state", "--policy", filepath.Join(dir, policy), "--ask=cmd:"+dir+"/h/yes",
			"bash", "--timeout-ms", "600000", "--argv", "/usr/bin/python3", "--argv", "run.py", "--argv", bin, "--max-lines", "100000", "--max-bytes", "1000000")
		c.Env = []string{"PATH=" + bin + ":/usr/bin:/bin", "HOME=" + dir + "/h", "LC_ALL=C.UTF-8"}
		c.Dir = dir
		c.SysProcAttr = &syscall.SysProcAttr{
			Credential: &syscall.Credential{Uid: nobody, Gid: nobody, NoSetGroups: true},
			Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC, Pdeathsig: syscall.SIGKILL,
		}
		out, err := c.Output()
		var a struct {
			Output   string
			Metadata struct{ Sandbox, Stdout string }
			Error    any
		}
		if bad := json.Unmarshal(out, &a); bad != nil || a.Metadata.Sandbox != "L3" || !strings.Contains(a.Output, "end\n") {
			t.Fatalf("%v %v\n%.2000s", err, bad, out)
		}
		ran := map[string]bool{}
		for word := range strings.FieldsSeq(a.Output[:strings.Index(a.Output, "end\n")]) {
			ran[word] = true
		}
		return ran
	}
	without := run("none.yaml")
	if len(without) < len(starts)/2 {
		t.Errorf("without the rule only %d of %d texts start the canary: the test shows nothing", len(without), len(texts))
	}
	with := run("deny.yaml")
	for i, text := range texts {
		if with[string(json.Number(itoa(i)))] {
			t.Errorf("it ran: %q", text)
		}
	}
	t.Logf("%d texts, each started in two ways: %d start the canary without the rule, %d with it", len(texts), len(without), len(with))
}

func itoa(n int) string {
	raw, _ := json.Marshal(n)
	return string(raw)
}

// labelledInputs are inputs of the labelled cases that start the canary: every
// fifth, or all where AGENTKIT_SOAK is set.
func labelledInputs(t *testing.T) []string {
	var list []string
	n, every := 0, often(sampled(15, 5), 1)
	for _, name := range []string{"cases.jsonl", "parser-differentials.jsonl"} {
		raw, err := os.ReadFile(filepath.Join("..", "shared", "cases", "policy", name))
		if err != nil {
			t.Logf("SKIPPED: no labelled cases: %v", err)
			return nil
		}
		for line := range strings.Lines(string(raw)) {
			var c struct{ Input, Effect, Setup string }
			if err := json.Unmarshal([]byte(line), &c); err != nil {
				t.Fatal(err)
			}
			if c.Effect != "" && c.Effect != "exec:pwn" || strings.ContainsRune(c.Input, 0) {
				continue
			}
			if c.Setup != "" {
				c.Input = c.Setup + "\n" + c.Input
			}
			if n++; n%every == 0 {
				list = append(list, c.Input)
			}
		}
	}
	return list
}
