package shellparse

import (
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"testing"
)

// TestFoundByFuzzing keeps the texts on which the comparison with bash once
// found that it ran the canary unseen. Each stands for its kind.
func TestFoundByFuzzing(t *testing.T) {
	tr := newTruth(t)
	texts := []string{
		// a quote behind a nested expansion
		"eco \"${x=$(echo pwn)x:-eli${x:-pwn}f ' $((pwn) )}\"; pwn; echo \"'}\"",
		"xclet ho \"${esace:-echo \"${x:-o `pw!n`}\"'`pwn`'}\"",
		// the word of an expansion is split where it has blanks
		"${x:-\tpwn}", "${x:- pwn}\ny=&1 ", "${x:-pwn a;b}", "y=1; ${y:+pwn  a }b",
		// a number sign right after a list starts no comment
		"\n x=(pwn a)#; xargs pwn p*; ", "x=()#; pwn",
		// an assignment after coproc
		"coproc y=${x:-pwn} env pwn --; ", "coproc y=1 pwn",
		// a comment ends with its line
		"b c # ; \\\n builtin eval pwn | [;<&0", "#\\\npwn", "ls # a\\\npwn b",
		// braces are expanded before names
		"$yp{w,x}n $'\\x70wn' a", "${x}{$x,$x}n pwn", "x{$,$}y pwn; {$,$}'pwn'",
		"echo return$(echo  =~ {}a,$(pwn)})", "echo {a..$(pwn)} {}a,`pwn`}",
		// and tildes after braces
		"\"$@\"; timeout 5 pwn {~,pwn}", "pwn {~,x}/.ssh a{~,b} {a,~}{/x,b}", "pwn x={~,b} {x=~,c}",
		// a dollar that means itself keeps a word from being split
		"p{w,x}n ${x:-pwn a}$ ", "y='1 2'; pwn $y$ $y${y}q $y", "pwn ${x:-a $ b}c",
		// what the shell itself sets
		"x=pwn; $x find . -maxdepth 0 $-exec pwn{} \\; ", "pwn a$-",
		// what follows a function is no part of it
		"f() { pwn; } && x=pwn; $x\n${y:+pwn\tb }case | ${x[@]} \\; ", "f() { :; } | pwn a",
		"${$+pwn\tb } && printf pwn", "${?+pwn a}", "${#:+pwn}", "${-+pwn}",
		// a local variable outside a function is refused
		"$1local x=pwn; ${x:-pwn a} \\; | true in", "builtin local x=pwn; ${x:-pwn a}",
		"local \"${a[@]}\"x=pwn\n${x:-pwn a} | :", "local 'x=pwn'; ${x:-pwn a}", "local \"\"x=pwn; ${x:-pwn a}",
		// and one that is declared by a quoted word stays in its function
		"f() { local 'x=pwn'; }; f; ${x:-pwn a}", "f() { declare \"x=pwn\"; }; f; ${x:-pwn a}", "x=ls; f() { typeset \"\"x=pwn; }; f; ${x:-pwn a} b",
		"f() { declare -g \"x=pwn\"; }; f; $x a", "f() { export 'x=pwn'; }; f; $x a",
		// what a here-string gives ends in a line feed, before which a backslash does not stand for itself
		"bash -s a <<<'pwn $1\\'", "bash -s a <<<'pwn $1'\\", "bash <<<pwn\\\\", "bash <<<\"pwn a\\\\\"", "bash -s <<<'pwn a \\'",
		// a list in quotes, with other things that are empty, is no word
		"time pwn [IFS=, \"$@$y\" } ", "pwn \"$y$@\"", "a=(); pwn \"${a[@]}${y}\" b", "\"$@$y\" pwn a", "pwn \"$@\"$y \"$@\"\"$y\" b", "x=1; pwn \"$@$x\"",
		// a built-in sets the variable that was assigned for it alone
		"x='pwn;a'} export x=pwn && $y${x:=pwn a} ", "x=ls eval x=pwn; $x a", "x=ls declare x=pwn; ${x:-pwn b}",
		// a redirection is expanded after the words
		">>  ${x:=pwn} ${x:-pwn a}bash -c wn;o{pwn,a} ", ">$((y=1)) ${y:-pwn}", "${x:-pwn} <<E\n${x:=ls}\nE\n",
	}
	accounted(t, tr, "bash", texts)
}

// accounted holds the analyses of texts against what a shell starts.
func accounted(t *testing.T, tr *truth, shell string, texts []string) {
	t.Helper()
	ran, _ := tr.run(t, texts)
	starts := 0
	for i, calls := range ran {
		a := Analyze(context.Background(), texts[i], shell, tr.world(t.TempDir()))
		for _, words := range calls {
			starts++
			if why := missed(a, words); why != "" {
				t.Errorf("%s ran %q: %s\n%q\n%s", shell, words, why, texts[i], dump(a))
				break
			}
		}
	}
	if starts < len(texts)/3 {
		t.Errorf("%s started the canary %d times only", shell, starts)
	}
}

// TestState compares with the shells what depends on their state: options,
// attributes of variables, and what they set or evaluate by themselves.
func TestState(t *testing.T) {
	for _, s := range []struct{ shell, program, file string }{{"bash", "", "state_bash.txt"}, {"zsh", "zsh", "state_zsh.txt"}, {"zsh", "zsh", "state_bash.txt"}, {"sh", "dash", "state_bash.txt"}} {
		if s.file == "state_bash.txt" && s.shell != "bash" && os.Getenv("CASES") != "all" {
			continue // CI looks at the same in the other shells, too
		}
		t.Run(s.shell+"/"+s.file, func(t *testing.T) {
			tr := newTruth(t)
			if s.program != "" {
				p, err := exec.LookPath(s.program)
				if err != nil {
					t.Skipf("no %s on this machine", s.program)
				}
				tr.shell = p
			}
			texts := hostile(t, s.file)
			if os.Getenv("CASES") != "all" { // half of them, others each time
				texts = slices.DeleteFunc(texts, func(string) bool { return rand.IntN(2) == 0 })
			}
			accounted(t, tr, s.shell, texts)
		})
	}
}
