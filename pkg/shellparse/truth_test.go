package shellparse

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// A truth runs texts under a real bash whose PATH holds nothing but stubs, and
// tells which started the canary. The texts have no slash, so they reach
// nothing outside their directory.
type truth struct {
	dir, bin, bash string
	shell          string // another shell to run the texts with; "" for bash
}

// driver runs each text of the directory in a subshell of its own. The stub
// writes its words to the file that CANARY names.
const driver = `
cd "$1" || exit 9
__d=$1 __n=$2
set --
for ((__i = 0; __i < __n; __i++)); do
  IFS= read -r -d '' __s < "in.$__i"
  echo "$__i" > at
  (
    ulimit -t 2
    export CANARY="$__d/out.$__i"
    cd "work.$__i" || exit
    unset OLDPWD __i __d __n
    if [ -n "$FUZZ_SHELL" ]; then exec "$FUZZ_SHELL" -c "$__s"; fi
    eval "$__s"
  ) </dev/null >/dev/null 2>&1
done
`

// The stub writes all its words at once, so that two do not mix.
const stub = `#!/bin/bash
printf -v s '%s\1' pwn "$@"
printf '%s\2' "$s" >> "$CANARY"
`

func newTruth(t testing.TB) *truth {
	t.Helper()
	bash := bashPath(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	tr := &truth{dir: dir, bin: dir + "/bin", bash: bash}
	must(t, os.Mkdir(tr.bin, 0o755))
	must(t, os.WriteFile(tr.bin+"/pwn", []byte(stub), 0o755))
	for _, name := range []string{"cat", "env", "sh", "xargs", "find", "timeout", "nohup", "nice", "printf"} {
		if p, err := exec.LookPath(name); err == nil {
			must(t, os.Symlink(p, tr.bin+"/"+name))
		}
	}
	must(t, os.Symlink(bash, tr.bin+"/bash"))
	return tr
}

func (tr *truth) env() []string {
	return []string{"PATH=" + tr.bin, "HOME=" + tr.dir + "/home", "LC_ALL=C.UTF-8"}
}

// run gives, for each text, the calls of the canary: the words of each.
func (tr *truth) run(t testing.TB, texts []string) [][][]string {
	t.Helper()
	dir, err := os.MkdirTemp(tr.dir, "batch")
	must(t, err)
	for i, s := range texts {
		must(t, os.WriteFile(fmt.Sprintf("%s/in.%d", dir, i), append([]byte(s), 0), 0o644))
		must(t, os.Mkdir(fmt.Sprintf("%s/work.%d", dir, i), 0o755))
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, tr.bash, "--norc", "--noprofile", "-c", driver, "driver", dir, strconv.Itoa(len(texts)))
	cmd.Env = tr.env()
	if tr.shell != "" {
		cmd.Env = append(cmd.Env, "FUZZ_SHELL="+tr.shell)
	}
	cmd.Dir = dir
	// every child keeps the pipe open, so its end says that all are gone
	r, wr, err := os.Pipe()
	must(t, err)
	cmd.ExtraFiles = []*os.File{wr}
	must(t, cmd.Start())
	wr.Close()
	if cmd.Wait(); ctx.Err() != nil {
		at, _ := os.ReadFile(dir + "/at")
		i, _ := strconv.Atoi(strings.TrimSpace(string(at)))
		t.Fatalf("bash hangs on %q", texts[i])
	}
	must(t, r.SetReadDeadline(time.Now().Add(10*time.Second)))
	_, _ = io.Copy(io.Discard, r)
	r.Close()
	out := make([][][]string, len(texts))
	for i := range texts {
		b, err := os.ReadFile(fmt.Sprintf("%s/out.%d", dir, i))
		if err != nil {
			continue
		}
		for _, call := range bytes.Split(bytes.TrimSuffix(b, []byte{2}), []byte{2}) {
			out[i] = append(out[i], strings.Split(strings.TrimSuffix(string(call), "\x01"), "\x01"))
		}
	}
	must(t, os.RemoveAll(dir))
	return out
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
		"x=pwn; $x", "x=p y=wn; $x$y", "IFS=,", "x=pwn,a", "x='pwn;a'", "set -f", "y=x", "${!y}", "declare -n z=x", "declare -i y", "x='a[$(pwn)]'", "((x))", "[[ $x -eq 1 ]]", "y=${x:-pwn}", "mapfile x <<<pwn", "${x:0:3}", "${x^^}",
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
	s := []byte(b.String())
	if r.IntN(2) == 0 {
		return string(s)
	}
	for range r.IntN(3) { // damage
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

func fuzzCount() int {
	if n, err := strconv.Atoi(os.Getenv("AGENTKIT_FUZZ_N")); err == nil {
		return n
	}
	return 2000
}

// harmful texts that the generator may come upon are left out: nothing may
// leave the directory, wait for ever, or fork without end.
func tame(s string) bool {
	return !strings.ContainsAny(s, "/\x00") && !strings.Contains(s, "until") && !strings.Contains(s, "while :") && !strings.Contains(s, "while true") && !strings.Contains(s, "..") && len(s) < 400 &&
		strings.Count(s, "while") == strings.Count(s, "while pwn; do break; done") && !strings.Contains(s, "kill") && !strings.Contains(s, "ulimit") && !strings.Contains(s, "suspend") && !strings.Contains(s, "select")
}

func TestDifferentialFuzz(t *testing.T) {
	differ(t, newTruth(t), "bash", fuzzCount())
}

// The same with the sh of the machine where that is dash, and with zsh.
func TestDifferentialFuzzOtherShells(t *testing.T) {
	for shell, name := range map[string]string{"dash": "sh", "zsh": "zsh"} {
		t.Run(shell, func(t *testing.T) {
			p, err := exec.LookPath(shell)
			if err != nil {
				t.Skipf("no %s on this machine", shell)
			}
			tr := newTruth(t)
			tr.shell = p
			differ(t, tr, name, fuzzCount()/4)
		})
	}
}

func differ(t *testing.T, tr *truth, shell string, total int) {
	seed := uint64(1)
	if n, err := strconv.ParseUint(os.Getenv("AGENTKIT_FUZZ_SEED"), 10, 64); err == nil {
		seed = n
	}
	r := rand.New(rand.NewPCG(seed, 7))
	frags := fragments()
	ran, opaque, misses, clear := 0, 0, 0, 0
	for done := 0; done < total; {
		var texts []string
		for len(texts) < min(250, total-done) {
			if s := grow(r, frags); tame(s) {
				texts = append(texts, s)
			}
		}
		done += len(texts)
		world := tr.world(t.TempDir())
		for i, calls := range tr.run(t, texts) {
			a := Analyze(context.Background(), texts[i], shell, world)
			if len(a.Opaque) > 0 {
				opaque++
			}
			for _, words := range calls {
				ran++
				if len(a.Opaque) == 0 {
					clear++
				}
				if why := missed(a, words); why != "" {
					misses++
					t.Errorf("%s ran %q: %s\n%q\n%s", shell, words, why, texts[i], dump(a))
					break
				}
			}
			if misses > 20 {
				t.Fatal("too many misses")
			}
		}
	}
	t.Logf("%d texts, canary ran %d times (%d in clear texts), %d texts opaque, %d misses", total, ran, clear, opaque, misses)
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
	}
	for i, calls := range tr.run(t, texts) {
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
