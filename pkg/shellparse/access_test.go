package shellparse

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/programs"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// short writes accesses down in one line each, without what is usual.
func short(b *bench, a *Analysis) string {
	var out []string
	for _, x := range a.Accesses {
		s := string(x.Kind)
		switch x.Kind {
		case policy.Exec:
			s += fmt.Sprintf(" %q", x.Argv)
			if x.Class != "" {
				s += " " + string(x.Class)
			}
		case policy.Read, policy.Write:
			if x.Op != "" {
				s += " " + string(x.Op)
			}
			s += " " + x.Path
			if x.Tree {
				s += " tree"
			}
		case policy.Net:
			s += fmt.Sprintf(" %s %s %d", x.Scheme, x.Host, x.Port)
		case policy.Env:
			s += " " + x.Name + "=" + x.Value
		}
		if x.Parent > 0 {
			s += fmt.Sprintf(" <%d", x.Parent)
		}
		if x.Opaque != "" {
			s += " opaque"
		}
		if x.Guess {
			s += " guess"
		}
		out = append(out, strings.NewReplacer(b.root, "@W@", b.out, "@O@", b.home, "@H@").Replace(s))
	}
	return strings.Join(out, "\n")
}

func TestAccesses(t *testing.T) {
	b := newBench(t)
	for _, c := range []struct{ text, want string }{
		{"mytool @O@/x src", "exec [\"mytool\" \"@O@/x\" \"src\"]\nread @O@/x <1\nwrite create @O@/x <1 opaque guess\nread @W@/src <1"},
		{"mytool /dev/sda9x", "exec [\"mytool\" \"/dev/sda9x\"]\nread /dev/sda9x <1\nwrite create /dev/sda9x <1 opaque"},
		{"ls src", "exec [\"ls\" \"src\"] readonly\nread @W@/src <1"},
		{"cat f > g", "write create @W@/g\nexec [\"cat\" \"f\"] known\nread @W@/f <2"},
		{"cp f src", "exec [\"cp\" \"f\" \"src\"] known\nread @W@/f <1\nwrite create @W@/src/f <1"},
		{"cp f g", "exec [\"cp\" \"f\" \"g\"] known\nread @W@/f <1\nwrite create @W@/g <1"},
		{"rm -r src", "exec [\"rm\" \"-r\" \"src\"] known\nwrite delete @W@/src tree <1"},
		{"chmod 644 f", "exec [\"chmod\" \"644\" \"f\"] known\nwrite metadata @W@/f <1"},
		{"cd src && touch x", "exec [\"cd\" \"src\"] readonly\nexec [\"touch\" \"x\"] known\nwrite create @W@/src/x <2"},
		{"cd src; cd ..; touch x", "exec [\"cd\" \"src\"] readonly\nexec [\"cd\" \"..\"] readonly\nexec [\"touch\" \"x\"] known\nwrite create @W@/x <3"},
		{"rm -r src; cd src; touch x", "exec [\"rm\" \"-r\" \"src\"] known\nwrite delete @W@/src tree <1\nexec [\"cd\" \"src\"] readonly\nexec [\"touch\" \"x\"] known\nwrite create @W@/src/x <4\nwrite create @W@/x <4"},
		{"cd nosuch; touch x", "exec [\"cd\" \"nosuch\"] readonly\nexec [\"touch\" \"x\"] known\nwrite create @W@/nosuch/x <2\nwrite create @W@/x <2"},
		{"(cd src); touch x", "exec [\"cd\" \"src\"] readonly\nexec [\"touch\" \"x\"] known\nwrite create @W@/x <2"},
		{"touch link/x", "exec [\"touch\" \"link/x\"] known\nwrite create @O@/x <1"},
		{"env A=1 nice -n 5 ls", "exec [\"env\" \"A=1\" \"nice\" \"-n\" \"5\" \"ls\"] readonly\nexec [\"nice\" \"-n\" \"5\" \"ls\"] <1\nexec [\"ls\"] <2\nread @W@ <3"},
		{"timeout 5 cat f", "exec [\"timeout\" \"5\" \"cat\" \"f\"] readonly\nexec [\"cat\" \"f\"] readonly <1\nread @W@/f <2"},
		{"ls f", "exec [\"ls\" \"f\"] readonly"}, // no more than stat says
		{"echo x > /dev/null 2>&1", "exec [\"echo\" \"x\"] readonly"},
		{"echo > /dev/tcp/h.example/80", "net tcp h.example 80\nnet tcp h.example 80\nexec [\"echo\"] readonly"},
		{"curl -s https://a.example:8443/x", "exec [\"curl\" \"-s\" \"https://a.example:8443/x\"] known\nnet https a.example 8443 <1"},
		{"ssh -p 2222 me@h.example", "exec [\"ssh\" \"-p\" \"2222\" \"me@h.example\"]\nnet ssh h.example 2222 <1\nnet ssh h.example 2222 <1"},
		{"ssh -p 2222 -p 2223 h.example", "exec [\"ssh\" \"-p\" \"2222\" \"-p\" \"2223\" \"h.example\"]\nnet ssh h.example 0 <1 opaque\nnet ssh h.example 0 <1"},
		{"ssh -oPort=2222 h.example", "exec [\"ssh\" \"-oPort=2222\" \"h.example\"] opaque\nnet ssh h.example 2222 <1\nnet ssh h.example 2222 <1"},
		{"ssh ssh://h.example:2222", "exec [\"ssh\" \"ssh://h.example:2222\"]\nnet ssh h.example 2222 <1\nnet ssh h.example 2222 <1"},
		{"ssh -p 22 ssh://h.example:2222", "exec [\"ssh\" \"-p\" \"22\" \"ssh://h.example:2222\"]\nnet ssh h.example 2222 <1 opaque\nnet ssh h.example 2222 <1"},
		{"scp -P 2222 f h.example:g", "exec [\"scp\" \"-P\" \"2222\" \"f\" \"h.example:g\"]\nread @W@/f tree <1\nnet ssh h.example 2222 <1\nnet ssh h.example 2222 <1"},
		{"sftp -P 2222 h.example:g", "exec [\"sftp\" \"-P\" \"2222\" \"h.example:g\"]\nnet ssh h.example 2222 <1\nnet ssh h.example 2222 <1"},
		{"scp -P 2222 f scp://h.example/g", "exec [\"scp\" \"-P\" \"2222\" \"f\" \"scp://h.example/g\"]\nread @W@/f tree <1\nnet ssh h.example 2222 <1\nnet ssh h.example 2222 <1"},
		{"scp -p f h.example:g", "exec [\"scp\" \"-p\" \"f\" \"h.example:g\"]\nread @W@/f tree <1\nnet ssh h.example 0 <1\nnet ssh h.example 0 <1"},
		{"git clone git@h.example:a/b.git c", "exec [\"git\" \"clone\" \"git@h.example:a/b.git\" \"c\"]\nnet ssh h.example 0 <1\nwrite create @W@/c <1"},
		{"PATH=/x ls", "env PATH=/x\nexec [\"ls\"] readonly opaque\nread @W@ <2"},
		{"x=5; echo $x", "exec [\"echo\" \"5\"] readonly"},
		{"find src -name '*.ts' | xargs wc -l", "exec [\"find\" \"src\" \"-name\" \"*.ts\"] readonly\nread @W@/src tree <1\nexec [\"xargs\" \"wc\" \"-l\"] readonly\nread @W@/src tree <3\nexec [\"wc\" \"-l\" \"src\"] readonly <3\nread @W@/src tree <5"},
		{"grep -rn x src f", "exec [\"grep\" \"-rn\" \"x\" \"src\" \"f\"] readonly\nread @W@/src tree <1\nread @W@/f tree <1"},
		{"sort -o g f", "exec [\"sort\" \"-o\" \"g\" \"f\"] known\nwrite create @W@/g <1\nread @W@/f <1"},
		{"tar -xf a.tar", "exec [\"tar\" \"-xf\" \"a.tar\"] known\nread @W@/a.tar <1\nwrite create @W@ <1 opaque"},
		{"bash -c 'rm f'", "exec [\"bash\" \"-c\" \"rm f\"] readonly\nexec [\"rm\" \"f\"] known <1\nwrite delete @W@/f <2"},
		{"ln -s @O@ l && touch l/x", "exec [\"ln\" \"-s\" \"@O@\" \"l\"] known\nwrite create @W@/l <1\nexec [\"touch\" \"l/x\"] known\nwrite create @O@/x <3"},
	} {
		if got := short(b, analyze(b, b.fill(c.text))); got != c.want {
			t.Errorf("%s\ngot:\n%s\nwant:\n%s", c.text, got, c.want)
		}
	}
}

// What is not known of the machine makes opaque what depends on it.
func TestNothingKnown(t *testing.T) {
	for _, text := range []string{"ls", "cat f", "git status", "cd x; touch f", "echo $x > f", "./x"} {
		if a := Analyze(context.Background(), text, "bash", nil); len(a.Opaque) == 0 {
			t.Errorf("%s is not opaque:\n%s", text, dump(a))
		}
	}
}

// Each text is one that parsers are known to read otherwise than the shell.
func TestHygiene(t *testing.T) {
	b := newBench(t)
	for _, text := range []string{
		"ls\rpwn", "ls\x00", "ls \u200bx", "ls \u202ex", "ls \ufeffx", "ls\u00a0x", "ls \xff", "echo \"${x:-'$(pwn)'}\"", "l\\\ns", "echo `echo \\`pwn\\``", "echo `echo 'a'`", "cat <<'E'#x\nE\n", "cat <<E$x\nE\n", "echo x >&'$(pwn)'", "echo <&$x",
		"echo ${x/a/$<<<(pwn)}", "a['$(pwn)']=1", "x=1; echo ${!x}", "echo ${x@P}", "echo " + strings.Repeat("x", MaxText), strings.Repeat("(", 200), "echo $((x))\n)", "", "  \n", "# x", "read x; echo $((x))", "x=1; y=$((x))'+a[$(pwn)]'; ((y))", "x=1; while :; do ((x)); x='a[$(pwn)]'; done", "cat $?/../../x", "let 'a[$(pwn)]'", "[[ -v 'a[$(pwn)]' ]]", "unset 'a[$(pwn)]'", "printf -v 'a[$(pwn)]' x",
		"declare -n x=PATH", "enable -n echo", "hash -p x ls", "bind -x '\"a\":pwn'", "complete -C pwn x", "compgen -C pwn", "history -c; fc -e pwn", "mapfile -C pwn x", "shopt -s extglob; ls @($(pwn))",
	} {
		if a := analyze(b, text); len(a.Opaque) == 0 {
			t.Errorf("%q is not opaque:\n%s", programs.Cut(text), dump(a))
		}
	}
}

// sh and zsh are judged in their own right.
func TestOtherShells(t *testing.T) {
	b := newBench(t)
	for _, c := range []struct {
		shell, text string
		opaque      bool
	}{
		{"sh", "ls | head; cd src && grep -rn x .", false},
		{"sh", "echo $'a\\'; pwn; echo \\''", true},
		{"sh", "ls &> f", true},
		{"sh", "rm {a,b}", true},
		{"sh", "diff <(ls) <(ls)", true},
		{"zsh", "ls src | head; git status", false},
		{"zsh", "echo *(e:'pwn':)", true},
		{"zsh", "=pwn", true},
		{"zsh", "repeat 3 pwn", true},
		{"zsh", "cat =(pwn)", true},
		{"zsh", "echo ${(e)x}", true},
		{"zsh", "<f", true},
		{"zsh", "alias -g x=pwn", true},
		{"fish", "ls", true},
	} {
		if a := Analyze(context.Background(), c.text, c.shell, b.world()); (len(a.Opaque) > 0) != c.opaque {
			t.Errorf("%s: %q: opaque %q, want %v\n%s", c.shell, c.text, a.Opaque, c.opaque, dump(a))
		}
	}
}

// A program without a shell gets its words as they are.
func TestArgv(t *testing.T) {
	b := newBench(t)
	a := Argv([]string{"ls", "$(pwn)", "*", ";", "rm"}, b.world())
	if len(a.Opaque) > 0 || len(a.Commands) != 1 || a.Accesses[0].Class != policy.ReadOnly {
		t.Errorf("got:\n%s", dump(a))
	}
	if a := Argv([]string{"sh", "-c", "pwn"}, b.world()); len(a.Commands) != 2 {
		t.Errorf("got:\n%s", dump(a))
	}
	if a := Argv(nil, b.world()); len(a.Opaque) == 0 {
		t.Error("no command is not opaque")
	}
}

// An analysis that is cancelled must not pass for a whole one.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if a := Analyze(ctx, long(40<<10), "bash", newBench(t).world()); len(a.Opaque) == 0 {
		t.Error("not opaque")
	}
}
