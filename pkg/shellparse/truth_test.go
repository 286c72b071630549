package shellparse

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// A truth runs texts under a real bash whose PATH holds nothing but stubs, and
// tells which started the canary. The texts have no slash, so they reach
// nothing outside their directory; where the system lets us, they run in
// namespaces of their own too.
type truth struct {
	dir, bin, bash string
	shell          string // another shell to run the texts with; "" for bash
	attr           *syscall.SysProcAttr
}

// driver runs each text of the file "in" in a subshell of its own. The canary
// writes its words to the file that CANARY names.
const driver = `
cd "$1" || exit 9
__d=$1 __n=$2
mapfile -d '' -s "$2" __t < in
set --
for __s in "${__t[@]}"; do
  echo "$__n" > at
  (
    ulimit -t 2
    export CANARY="$__d/out.$__n"
    cd "work.$__n" || exit
    unset OLDPWD __t __d __n
    exec 4<&-
    if [ -n "$FUZZ_SHELL" ]; then exec "$FUZZ_SHELL" -c "$__s"; fi
    eval "$__s"
  ) </dev/null >/dev/null 2>&1
  ((__n++))
done
exec 3>&-
read -t 20 -u 4 __s # ends when the last that a text has left behind has closed 3
:
`

// The canary writes all its words at once, so that two do not mix.
const (
	canaryScript = `#!/bin/bash
printf -v s '%s\1' pwn "$@"
printf '%s\2' "$s" >> "$CANARY"
`
	canaryC = `
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static char b[1<<16];
int main(int n, char **v) {
	size_t k = 0;
	v[0] = "pwn";
	for (int i = 0; i < n && k + strlen(v[i]) + 2 < sizeof b; i++) {
		size_t m = strlen(v[i]);
		memcpy(b + k, v[i], m);
		k += m;
		b[k++] = 1;
	}
	b[k++] = 2;
	int fd = open(getenv("CANARY"), O_WRONLY|O_CREAT|O_APPEND, 0644);
	return fd < 0 || write(fd, b, k) != (ssize_t)k;
}
`
)

func newTruth(t testing.TB) *truth {
	t.Helper()
	bash := bashPath(t)
	dir := memoryDir(t)
	tr := &truth{dir: dir, bin: dir + "/bin", bash: bash}
	must(t, os.Mkdir(tr.bin, 0o755))
	buildCanary(t, tr.bin+"/pwn")
	for _, name := range []string{"cat", "env", "sh", "xargs", "find", "timeout", "nohup", "nice", "printf"} {
		if p, err := exec.LookPath(name); err == nil {
			must(t, os.Symlink(p, tr.bin+"/"+name))
		}
	}
	must(t, os.Symlink(bash, tr.bin+"/bash"))
	try := exec.Command(bash, "-c", ":")
	try.SysProcAttr = apart()
	if err := try.Run(); err == nil {
		tr.attr = try.SysProcAttr
	} else {
		t.Logf("no namespaces, only a directory: %v", err)
	}
	return tr
}

// memoryDir is a temporary directory, in memory where there is such a place.
func memoryDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "agentkit-truth") //nolint:usetesting // in memory, and beside the others
	if err != nil {
		dir = t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	dir, err = filepath.EvalSymlinks(dir)
	must(t, err)
	return dir
}

// buildCanary makes the canary: a small program where there is a compiler,
// since it starts four times as fast, else a script.
func buildCanary(t testing.TB, name string) {
	t.Helper()
	for _, flags := range [][]string{{"-static"}, {}} {
		cc := exec.Command("cc", append(flags, "-O1", "-o", name, "-x", "c", "-")...)
		cc.Stdin = strings.NewReader(canaryC)
		if cc.Run() == nil {
			return
		}
	}
	must(t, os.WriteFile(name, []byte(canaryScript), 0o755))
}

func (tr *truth) env() []string {
	return []string{"PATH=" + tr.bin, "HOME=" + tr.dir + "/home", "LC_ALL=C.UTF-8"}
}

// run gives, for each text, the calls of the canary: the words of each. hung
// counts the texts that had to be ended.
func (tr *truth) run(t testing.TB, texts []string) (calls [][][]string, hung int) {
	t.Helper()
	dir, err := os.MkdirTemp(tr.dir, "batch") //nolint:usetesting // in memory, and beside the others
	must(t, err)
	must(t, os.WriteFile(dir+"/in", []byte(strings.Join(texts, "\x00")+"\x00"), 0o644))
	for i := range texts {
		must(t, os.Mkdir(fmt.Sprintf("%s/work.%d", dir, i), 0o755))
	}
	for next := 0; next < len(texts); {
		at, ok := tr.batch(t, dir, next)
		if ok {
			break
		}
		hung++
		t.Logf("bash hangs on %q", texts[at])
		next = at + 1
	}
	out := make([][][]string, len(texts))
	for i := range texts {
		b, err := os.ReadFile(fmt.Sprintf("%s/out.%d", dir, i))
		if err != nil {
			continue
		}
		b = b[:bytes.LastIndexByte(b, 2)+1] // without a call that was ended as it wrote
		for call := range bytes.SplitSeq(bytes.TrimSuffix(b, []byte{2}), []byte{2}) {
			if len(call) == 0 {
				continue
			}
			out[i] = append(out[i], strings.Split(strings.TrimSuffix(string(call), "\x01"), "\x01"))
		}
	}
	must(t, os.RemoveAll(dir))
	return out, hung
}

// batch runs the texts of dir from the first on. Where they do not end in
// time, it ends them all and says which was at work.
func (tr *truth) batch(t testing.TB, dir string, first int) (at int, ok bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, tr.bash, "--norc", "--noprofile", "-c", driver, "driver", dir, strconv.Itoa(first))
	cmd.Env = tr.env()
	if tr.shell != "" {
		cmd.Env = append(cmd.Env, "FUZZ_SHELL="+tr.shell)
	}
	cmd.Dir = dir
	// every child keeps the pipe open, so its end says that all are gone; the
	// driver waits for it, since all that is left ends with the driver
	r, wr, err := os.Pipe()
	must(t, err)
	defer r.Close()
	cmd.ExtraFiles = []*os.File{wr, r}
	cmd.SysProcAttr = tr.attr
	must(t, cmd.Start())
	_ = wr.Close()
	err = cmd.Wait()
	must(t, r.SetReadDeadline(time.Now().Add(10*time.Second)))
	_, _ = io.Copy(io.Discard, r)
	b, _ := os.ReadFile(dir + "/at")
	at, _ = strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil && ctx.Err() == nil && cmd.ProcessState.ExitCode() == 9 {
		t.Fatalf("the driver fails in %s", dir)
	}
	return at, ctx.Err() == nil
}

// world is what is true for the texts.
func (tr *truth) world(dir string) *World {
	b := &bench{root: dir, home: tr.dir + "/home"}
	w := b.world()
	env := tr.env()
	w.Getenv = func(name string) (string, bool) {
		for _, e := range env {
			if k, v, _ := strings.Cut(e, "="); k == name {
				return v, true
			}
		}
		return "", false
	}
	w.LookPath = func(name string) (string, bool) {
		_, err := os.Stat(tr.bin + "/" + name)
		return tr.bin + "/" + name, err == nil
	}
	return w
}

// missed says why an analysis does not account for a call of the canary; "" if
// it does.
func missed(a *Analysis, words []string) string {
	if len(a.Opaque) > 0 {
		return ""
	}
	near := "no exec access"
	for _, x := range a.Accesses {
		if x.Kind != policy.Exec || len(x.Argv) == 0 || path.Base(x.Argv[0]) != "pwn" {
			continue
		}
		if slices.Equal(x.Argv[1:], words[1:]) || slices.Contains(x.Dynamic, true) {
			return ""
		}
		near = fmt.Sprintf("other words: %q", x.Argv)
	}
	return near
}

// fragments that texts are put together from. None holds a slash.
func fragments() []string {
	return []string{
		"pwn", "pwn", "pwn x", "ls", "cat", "echo", "true", "false", ":", "x", "a", "b c", "'pwn'", `"pwn"`, `p\wn`, `p''wn`, `$'pwn'`, `$'\x70wn'`, `$"pwn"`, "$(pwn)", "`pwn`", "<(pwn)", ">(pwn)", "$((1))", "$(( $(pwn)1 ))",
		"${x}", "${x:-pwn}", "${x:-$(pwn)}", "${x:=pwn}", "${x:+pwn}", `"${x:-'$(pwn)'}"`, "${x#pwn}", "${x%$(pwn)}", "${x/a/$(pwn)}", "${#x}", "${!x}", "${x@Q}", "${x@P}", "$@", `"$@"`, "$*", "$1", "$#", "$?", "$x", "$y",
		"x=pwn", "x=a", "y=1", "x+=wn", "x=(pwn a)", "x=p", "x='pwn a'", `x="$(pwn)"`, "${x[@]}", `"${x[0]}"`, "x[0]=pwn", "x[$(pwn)]=1", "{pwn,a}", "{a,pwn}", "{1..3}", "p{w,x}n", "~", "*", "?wn", "[p]wn", "p*", "@(pwn)", "!(x)",
		";", ";", "&", "&&", "||", "|", "|&", "\n", "\n", " ", " ", "\t", "!", "{", "}", "(", ")", "((", "))", "[[", "]]", "if", "then", "else", "elif", "fi", "while", "until", "do", "done", "for", "in", "case", "esac", "select", "function", "time", "coproc",
		";;", ";&", "x)", "*)", "f() { pwn; }", "f", "f() { \"$@\"; }", "f pwn", "f()", "function f { $1 pwn; }", ">o", ">>o", "2>&1", "<o", "<<<pwn", "<<<\"$(pwn)\"", "<<E\n$(pwn)\nE\n", "<<'E'\n$(pwn)\nE\n", "<<-E\n\t`pwn`\n\tE\n", "<<\\E\npwn\nE\n", ">&o", "&>o", "<&0", "<>o",
		"#", " # ", "\\\n", "\\", "'", `"`, "`", "$", "$(", "${", "$((", "\\;", "\\|", "=", "+=", "[", "]", ",", "..", "-", "--", "-c", "-a", "-e",
		"eval pwn", "eval 'pwn x'", `eval "$x"`, "command pwn", "builtin eval pwn", "exec pwn", "env pwn", "env x=1 pwn", "env -S 'pwn a'", "nohup pwn", "nice pwn", "timeout 5 pwn", "xargs pwn", "bash -c pwn", "bash -c 'pwn a'", "sh -c pwn", "find . -maxdepth 0 -exec pwn {} \\;",
		"trap pwn EXIT", "set -- pwn", "shift", "unset x", "export x=pwn", "declare x=pwn", "local x=pwn", "readonly y", "read x", "read x <<<pwn", "printf -v x pwn", "printf pwn", "let y=1", "alias ls=pwn", "shopt -s expand_aliases", "set -e", "cd", "return", "break", "continue", "exit", "wait", "[ a ]", "test a",
		"if true; then pwn; fi", "for x in pwn a; do $x; done", "while pwn; do break; done", "case a in a) pwn;; esac", "{ pwn; }", "(pwn)", "((y=1))", "[[ a == a ]] && pwn", "time pwn", "coproc pwn", "! pwn", "pwn &", "true && pwn", "false || pwn", "echo pwn | bash", "x=$(echo pwn)", "$(echo pwn)", "`echo pwn`",
		"x=pwn; $x", "x=p y=wn; $x$y", "IFS=,", "x=pwn,a", "x='pwn;a'", "set -f", "y=x", "${!y}", "declare -n z=x", "declare -i y", "x='a[$(pwn)]'", "((x))", "[[ $x -eq 1 ]]", "y=${x:-pwn}", "mapfile x <<<pwn", "${x:0:3}", "${x^^}", "${x:- pwn}", "${x:-pwn a}", "${x:-a pwn;pwn}", "${y:+pwn\tb }", "${x:=pwn a}", `${x:-"pwn a"}`,
		"declare -l x=PWN", "local -g x=pwn", "readonly x=pwn", "export x=ls y=$x", "set -eo pipefail a", "set -k", "set -o posix", "shopt -s nullglob", "shopt -so pipefail", "_=ls", "$_", ": pwn", "OPTARG=ls", "getopts a: y -apwn", "$OPTARG", "BASH_REMATCH=ls", "[[ pwn =~ p.* ]]", "$BASH_REMATCH",
		"declare -a x", `declare x="$y"`, "y='($(pwn))'", "f() { return; }", "exec -afoo pwn a", "wait -np 'a[$(pwn)]'", "RANDOM=x", "unset -f f", "unset x", "a=(pwn x)", `"${a[@]}"`, "${a[@]@P}", "time -- pwn", "xargs -iX pwn X <<<a", "bash -s a <<<'pwn $1'", "bash -eo pipefail -c pwn", "bash -O nullglob -c 'zz* pwn'", "f() { declare -g x=pwn; }", "trap 'pwn a' EXIT", "x=ls",
	}
}

// grow makes one text.
func grow(r *rand.Rand, frags []string) string {
	var b strings.Builder
	sep := []string{" ", " ", "; ", "\n", "", " && ", " | "}
	if r.IntN(2) == 0 { // whole commands
		whole := frags[slices.Index(frags, "eval pwn"):]
		for range 1 + r.IntN(4) {
			b.WriteString(whole[r.IntN(len(whole))])
			b.WriteString([]string{"; ", "\n", " && ", " || ", " | ", " & "}[r.IntN(6)])
			if r.IntN(3) == 0 {
				b.WriteString([]string{"pwn", "$x", "$x", `"$y"`, "f", "${x}", "$1", "$@", "ls"}[r.IntN(9)] + "\n")
			}
		}
		b.WriteString(":")
	} else {
		for range 1 + r.IntN(6) {
			b.WriteString(frags[r.IntN(len(frags))])
			b.WriteString(sep[r.IntN(len(sep))])
		}
	}
	if r.IntN(2) == 0 {
		return b.String()
	}
	return damage(r, b.String(), r.IntN(3), frags)
}

// damage changes a text in n places.
func damage(r *rand.Rand, text string, n int, frags []string) string {
	s := []byte(text)
	for range n {
		if len(s) == 0 {
			break
		}
		i := r.IntN(len(s))
		switch r.IntN(4) {
		case 0:
			s = slices.Delete(s, i, i+1)
		case 1:
			s = slices.Insert(s, i, []byte(frags[r.IntN(len(frags))])...)
		case 2:
			const odd = "\\'\"`$(){}[]|&;<>#!=~*?\n \t,"
			s = slices.Insert(s, i, odd[r.IntN(len(odd))])
		case 3:
			j := r.IntN(len(s))
			s[i], s[j] = s[j], s[i]
		}
	}
	return string(s)
}

// fuzzNumber is a number that the environment may set.
func fuzzNumber(name string, def int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return def
}

func fuzzCount() int { return fuzzNumber("AGENTKIT_FUZZ_N", 2000) }

// harmful texts that the generator may come upon are left out: nothing may
// leave the directory, wait for ever, or fork without end.
func tame(s string) bool {
	return !strings.ContainsAny(s, "/\x00") && !strings.Contains(s, "until") && !strings.Contains(s, "while :") && !strings.Contains(s, "while true") && !strings.Contains(s, "..") && len(s) < 400 &&
		strings.Count(s, "while") == strings.Count(s, "while pwn; do break; done") && !strings.Contains(s, "kill") && !strings.Contains(s, "ulimit") && !strings.Contains(s, "suspend") && !strings.Contains(s, "select") && !strings.Contains(s, "not_found") && !strings.Contains(s, ";;pwn") && !strings.Contains(s, "(;;)") && !strings.Contains(s, `\1`)
}

// TestDifferentialFuzz compares the analysis with what bash does. What starts
// the canary must be opaque, or have an exec access with the canary's very
// words. AGENTKIT_FUZZ_N sets the number of texts, AGENTKIT_FUZZ_SEED where to
// begin.
func TestDifferentialFuzz(t *testing.T) {
	frags := fragments()
	differ(t, newTruth(t), "bash", fuzzCount(), func(r *rand.Rand) string { return grow(r, frags) })
}

// TestDifferentialMutations is the same with damaged copies of texts on which
// parsers were seen to differ from bash.
func TestDifferentialMutations(t *testing.T) {
	var seeds []string
	b, err := os.ReadFile(shared(t, "policy/parser-differentials.jsonl"))
	must(t, err)
	for line := range bytes.Lines(b) {
		var c struct{ Input string }
		must(t, json.Unmarshal(line, &c))
		seeds = append(seeds, c.Input)
	}
	differ(t, newTruth(t), "bash", fuzzCount(), mutated(seeds))
}

// TestDifferentialStates is the same with texts in which what runs depends on
// the shell's state.
func TestDifferentialStates(t *testing.T) {
	differ(t, newTruth(t), "bash", fuzzCount(), mutated(hostile(t, "state_bash.txt")))
}

// mutated makes damaged copies of seeds, one within or behind another.
func mutated(seeds []string) func(*rand.Rand) string {
	frags := append(fragments(), seeds...)
	return func(r *rand.Rand) string {
		s := seeds[r.IntN(len(seeds))]
		switch r.IntN(4) {
		case 0: // two of them
			s += []string{"\n", "; ", " ", "", " | ", " && "}[r.IntN(6)] + seeds[r.IntN(len(seeds))]
		case 1: // one within another
			i := r.IntN(len(s) + 1)
			s = s[:i] + seeds[r.IntN(len(seeds))] + s[i:]
		}
		return damage(r, s, 1+r.IntN(4), frags)
	}
}

// TestDifferentialFuzzOtherShells is the same with the sh of the machine where
// that is dash, and with zsh.
func TestDifferentialFuzzOtherShells(t *testing.T) {
	frags := fragments()
	for shell, name := range map[string]string{"dash": "sh", "zsh": "zsh"} {
		t.Run(shell, func(t *testing.T) {
			p, err := exec.LookPath(shell)
			if err != nil {
				t.Skipf("no %s on this machine", shell)
			}
			tr := newTruth(t)
			tr.shell = p
			differ(t, tr, name, fuzzCount()/4, func(r *rand.Rand) string { return grow(r, frags) })
		})
	}
}

// A tally is how the texts came out.
type tally struct {
	texts, opaque, ran, starts, hung int
	misses                           []string
}

func (n *tally) add(m tally) {
	n.texts += m.texts
	n.opaque += m.opaque
	n.ran += m.ran
	n.starts += m.starts
	n.hung += m.hung
	n.misses = append(n.misses, m.misses...)
}

// differ makes and judges total texts. An opaque text is never allowed,
// whatever it does, so that only the others need a shell to run them.
func differ(t *testing.T, tr *truth, shell string, total int, make func(*rand.Rand) string) {
	t.Helper()
	seed := uint64(fuzzNumber("AGENTKIT_FUZZ_SEED", 1))
	const size = 250
	var (
		mu   sync.Mutex
		all  tally
		wg   sync.WaitGroup
		next atomic.Int64
	)
	for range min(runtime.GOMAXPROCS(0), 8) {
		wg.Go(func() {
			world := tr.world(t.TempDir())
			for {
				n := int(next.Add(1)) - 1
				if n*size >= total {
					return
				}
				r := rand.New(rand.NewPCG(seed, uint64(n)))
				var texts []string
				for len(texts) < min(size, total-n*size) {
					if s := make(r); tame(s) {
						texts = append(texts, s)
					}
				}
				one := tr.judge(t, shell, texts, world)
				mu.Lock()
				all.add(one)
				stop := len(all.misses) > 20
				mu.Unlock()
				if stop {
					return
				}
			}
		})
	}
	wg.Wait()
	for _, miss := range all.misses {
		t.Error(miss)
	}
	t.Logf("seed %d: %d texts, %d opaque, %d run by %s, which started the canary %d times; %d ended by force; %d misses",
		seed, all.texts, all.opaque, all.ran, shell, all.starts, all.hung, len(all.misses))
	if all.hung*1000 > all.texts+2000 {
		t.Error("too many texts had to be ended")
	}
	if all.starts == 0 {
		t.Error("the canary never ran: the test says nothing")
	}
}

// judge analyses texts and runs those that are not opaque.
func (tr *truth) judge(t testing.TB, shell string, texts []string, world *World) tally {
	n := tally{texts: len(texts)}
	var clear []string
	var analyses []*Analysis
	for _, s := range texts {
		a := Analyze(context.Background(), s, shell, world)
		if len(a.Opaque) > 0 {
			n.opaque++
			continue
		}
		clear, analyses = append(clear, s), append(analyses, a)
	}
	n.ran = len(clear)
	calls, hung := tr.run(t, clear)
	n.hung = hung
	for i := range calls {
		n.starts += len(calls[i])
		for _, words := range calls[i] {
			if why := missed(analyses[i], words); why != "" {
				n.misses = append(n.misses, fmt.Sprintf("%s ran %q: %s\n%q\n%s", shell, words, why, clear[i], dump(analyses[i])))
				break
			}
		}
	}
	return n
}

// Texts that only name the canary must be seen as what they are when bash runs
// them: the words, not only the name.
func TestGroundTruth(t *testing.T) {
	tr := newTruth(t)
	texts := []string{
		`pwn a "b c" 'd e' f\ g`, `pwn $'a\tb\x41\101\u00e9'`, `pwn {a,b}{1..3} x{,y}`, `x=1; pwn "$x" ${x}2 "${x:-9}" "${y:-z}"`, "pwn a\\\nb", `pwn "a\$b\"c\\d\e"`, `pwn $((1+2*3)) $(echo hi)`,
		`set -- a 'b c'; pwn "$@" "$#" x"$@"y`, `a=(1 '2 3' 4); pwn "${a[@]}" "${a[1]}"`, `x='a b'; pwn $x "$x"`, `f() { pwn "$1" x; }; f 'q r'`, `for i in a 'b c'; do pwn "$i"; done`, "pwn <<E\nhi\nE", `pwn ~`, `pwn x=~`, `pwn a#b`, `pwn "" '' ""''`,
		`eval "pwn 'a b'"`, `env -S 'pwn "a b" c'`, `bash -c 'pwn "$1"' x 'y z'`, `command pwn -a`, `time pwn`, `! pwn`, `x=a y=b pwn`, `{ pwn 1; } | cat`, `echo | pwn 2`, `(pwn 3)`, `pwn [a ]b`, `pwn 'a'"b"c$'d'`, `x=p; ${x}wn k`, `timeout 5 pwn a`, `nohup pwn`,
		`x=pwn; unset x; ${x-pwn} w`, `x=; ${x:-pwn} v`, `x=1; ${x:+pwn} u`, `pwn *`, `pwn ?`, `pwn "*"`, `x='*'; pwn "$x"`, "pwn a;pwn b&&pwn c||pwn d", `case x in x) pwn k;; esac`, "if pwn q; then pwn r; fi", `pwn $(printf 'a b')`, `pwn "$(printf 'a b')"`, `pwn {a,"b c"}`, `pwn a{b}c {} {a}`,
		`${x:- pwn}`, "${x:-\tpwn a}", `${x:-pwn a  b\ c}d e`, `pwn ${x:-a "b c" d} ${x:=e f}g`, `y=k; pwn "${x:-a b}" ${y:+ l  m }n`, "pwn ${x:-a\nb}", `pwn ${x- a$(echo b)c }d`,
	}
	ran, _ := tr.run(t, texts)
	for i, calls := range ran {
		a := Analyze(context.Background(), texts[i], "bash", tr.world(t.TempDir()))
		if len(calls) == 0 {
			t.Errorf("bash did not run the canary: %q", texts[i])
		}
		for _, words := range calls {
			if why := missed(a, words); why != "" {
				t.Errorf("bash ran %q: %s\n%q\n%s", words, why, texts[i], dump(a))
			}
		}
		if len(a.Opaque) > 0 {
			t.Logf("opaque: %q: %s", texts[i], a.Opaque)
		}
	}
}
