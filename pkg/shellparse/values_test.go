package shellparse

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// TestValues compares the words of rm with those that bash gives it. Those of the first list have to be known, a word
// that holds a number at least as a pattern; those of the second list need not be, but where they are, they are what bash makes of them.
func TestValues(t *testing.T) {
	b := newBench(t)
	b.repo(t, "x", "y", "z", "a b", "out/1.log", "out/2.log", "src/a.c", "src/b.c")
	bin := t.TempDir()
	must(t, os.WriteFile(bin+"/rm", []byte("#!/bin/sh\n{ printf '%s\\0' rm \"$@\"; printf '\\001'; } >>\"$CALLS\"\n"), 0o755)) //nolint:gosec // a program
	for i, texts := range [][]string{knownValues(), otherValues()} {
		for _, text := range texts {
			calls := bin + "/calls"
			must(t, os.WriteFile(calls, nil, 0o600))
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			cmd := exec.CommandContext(ctx, bashPath(t), "-c", text)
			cmd.Dir, cmd.Env = b.root, []string{"PATH=" + bin + ":/usr/bin:/bin", "HOME=" + b.home, "CALLS=" + calls}
			_ = cmd.Run() // some fail, as they are meant to
			cancel()
			out, err := os.ReadFile(calls)
			must(t, err)
			var list []policy.Access
			for _, a := range analyze(b, text).Accesses {
				if a.Kind == policy.Exec && len(a.Argv) > 0 && a.Argv[0] == "rm" {
					list = append(list, a)
				}
			}
			for call := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x01"), "\x01") {
				argv := strings.Split(strings.TrimSuffix(call, "\x00"), "\x00")
				if call != "" && !slices.ContainsFunc(list, func(a policy.Access) bool { return may(&a, argv) }) {
					t.Errorf("%s: it runs %q, which is none of %s", text, argv, shownCalls(list))
				}
			}
			if i == 0 && (len(out) == 0 || slices.ContainsFunc(list, func(a policy.Access) bool { return guessed(&a) })) {
				t.Errorf("%s: it is not known: %s", text, shownCalls(list))
			}
		}
	}
}

// may reports whether an access may be a call with these words.
func may(a *policy.Access, argv []string) bool {
	if len(a.Dynamic) == 0 || !slices.Contains(a.Dynamic, true) {
		return slices.Equal(a.Argv, argv)
	}
	for i, word := range a.Argv {
		p := a.Parts[word]
		switch {
		case a.Dynamic[i] && !p.One:
			return i >= len(argv) || strings.HasPrefix(argv[i], p.Lead)
		case i >= len(argv) || !a.Dynamic[i] && argv[i] != word || a.Dynamic[i] && !strings.HasPrefix(argv[i], p.Lead):
			return false
		}
	}
	return len(argv) == len(a.Argv)
}

// guessed reports whether a word of a call is neither known nor a pattern.
func guessed(a *policy.Access) bool {
	for i, dynamic := range a.Dynamic {
		if dynamic && !a.Parts[a.Argv[i]].Every {
			return true
		}
	}
	return false
}

func shownCalls(list []policy.Access) string {
	var out []string
	for _, a := range list {
		out = append(out, strings.Join(a.Argv, " "))
	}
	return strings.Join(out, "; ")
}

// knownValues are texts in which what rm gets is certain.
func knownValues() []string {
	return []string{
		`for ((i=0;i<3;i++)); do rm -f out/$i.log; done`,
		`for ((i=1;i<=3;i++)); do rm -f "out/$i.log"; done`,
		`for ((i = 3; i > 0; i--)); do rm -f out/$i.log; done`,
		`for ((i=0;i<10;i+=5)); do rm -f out/$i.log; done`,
		`n=2; for ((i=0;i<n;i++)); do rm -f out/$i.log; done`,
		`for i in {1..3}; do rm -f out/$i.log; done`,
		`i=1; ((i++)); rm -f out/$i.log`,
		`i=1; let i++; rm -f out/$i.log`,
		`i=1; ((++i)); ((i += 2)); rm -f out/$i.log`,
		`i=5; ((i--)); ((i-=1)); rm -f out/$i.log`,
		`a=(x y); rm -f "${a[@]}"`,
		`a=(x y); a+=(z); rm -f "${a[@]}"`,
		`a=(x y); rm -f "${a[1]}" "${a[-1]}" ${a[-2]}`,
		`a=(x y z); rm -f "${a[@]:1}"`,
		`a=(x y z); rm -f "${a[@]:0:2}"`,
		`a=(x y z); rm -f ${a[@]:1:1}`,
		`a=(x y z); rm -f "${a[@]: -1}"`,
		`a=(x y); i=1; rm -f "${a[i]}" "${a[$i]}" "${a[i-1]}"`,
		`a=(x y); for ((i=0;i<${#a[@]};i++)); do rm -f "${a[$i]}"; done`,
		`a=(x y); for i in "${!a[@]}"; do rm -f "${a[$i]}"; done`,
		`a=(x y); n=${#a[@]}; rm -f out/$n.log`,
		`s=abc; rm -f out/${#s}.log`,
		`f=x.c; rm -f "${f/.c/.o}" ${f//c/o} "${f/%.c/.o}" "${f/#x/y}" "${f/c}"`,
		`f=a-b-c; rm -f "${f//-/_}" "${f/-/}"`,
		`for f in src/*.c; do rm -f "${f/.c/.o}"; done`,
		`s=hello; rm -f "${s:0:1}" "${s:1}" "${s:1:2}" "${s: -2}" "${s:0:-1}"`,
		`s=aB; rm -f "${s^^}" "${s,,}" "${s^}" "${s,}"`,
		`mapfile -t a < <(printf 'x\ny\n'); rm -f "${a[@]}"`,
		`mapfile -t a < <(printf '%s\n' x y); rm -f "${a[@]}"`,
		`readarray -t a <<< 'x'; rm -f "${a[@]}"`,
		`read -r f <<< x; rm -f "$f"`,
		`read -r f g <<< 'x y'; rm -f "$f" "$g"`,
		`printf -v f 'out/%s.log' 1; rm -f "$f"`,
		`printf -v f 'out/%d.log' 1; rm -f "$f"`,
		`f=$(printf 'out/%02d.log' 1); rm -f "$f"`,
	}
}

// otherValues are texts in which what rm gets need not be known.
func otherValues() []string {
	return []string{
		`{ read -r a >/dev/null; read -r b >/dev/null; rm "$b"; } <<< $'x\ny'`,
		`{ read -r a 2>/dev/null; read -r b; rm "$b"; } <<< $'x\ny'`,
		`for ((i=0;i<3;i++)); do printf -vi 7; rm out/$i.log; done`,
		`for ((i=0;i<3;i++)); do "printf" -v "i" 7; rm out/$i.log; done`,
		`for ((i=0;i<3;i++)); do read -r "i" <<< 7; rm out/$i.log; done`,
		`for ((i=0;i<3;i++)); do \read -r i <<< 7; rm out/$i.log; done`,
		`for ((i=0;i<3;i++)); do let "i=7"; rm out/$i.log; done`,
		`for ((i=0;i<3;i++)); do [[ i=7 -eq 7 ]]; rm out/$i.log; done`,
		`y='i=7'; for ((i=0;i<3;i++)); do : $((y)); rm out/$i.log; done`,
		`for ((i=0;i<3;i++)); do : ${a["i=7"]}; rm out/$i.log; done`,
		`for ((i=0;i<3;i++)); do test -v 'z[i=7]'; rm out/$i.log; done`,
		`for ((i=0;i<3;i++)); do getopts "6" "i" -6; rm out/$i.log; done`,
		`declare -i y; for ((i=0;i<3;i++)); do y='i=7'; rm out/$i.log; done`,
		`y='i=7'; s=abc; for ((i=0;i<3;i++)); do : ${s:y}; rm out/$i.log; done`,
		`for ((i=0;i<3;i++)); do rm out/$i.log; : ${i:=5} ${q:=i}; unset i; done`,
		`declare -i n; read -r n <<< 2+3; rm "$n"`,
		`declare -i n; n=2+3; rm "$n"`,
		`for ((i=0;i<3;i++)); do coproc i { :; }; rm out/$i.log; i=7; done`,
		`for ((i=0;i<3;i++)); do p() { i=7; }; p; rm out/$i.log; done`,
		`set -- x y; rm -f out/$#.log`,
		`while read -r f; do rm -f "$f"; done < <(printf 'x\ny\n')`,
		`printf '%s\n' x y | while read -r f; do rm -f "$f"; done`,
		`f() { local a=z; rm -f "${a[@]}" "$a"; }; a=(x y); f; rm -f "${a[@]}"`,
		`a=(x y); declare a=z; rm -f "${a[@]}"`,
		`f=q; ulimit -n 3; read -r f < <(printf x); rm -f "$f"`,
		`i=1; for f in x y; do rm -f out/$i.log; eval 'i=2'; done`,
		`a=(x y); g() { a=(q); }; for ((i=0;i<${#a[@]};i++)); do g; rm -f "${a[$i]}"; done`,
		`a=(x y z); for i in "${!a[@]}"; do unset "a[$i]"; rm -f "${a[@]}" q; done`,
		`{ read -r f; read -r g; rm -f "$f" "$g"; } <<< $'x\ny'`,
		`h() { read -r f; read -r g; rm -f "$f" "$g"; }; h <<< $'x\ny'`,
		`f=q; read -r f 3<<< x </dev/null; rm -f "$f"`,
		`f=q; read -r f 3<<< x; rm -f "$f"`,
		`a=(x y); a=z; rm -f "${a[@]}"`,
		`a=(x y); a[0]=z; rm -f "${a[@]}" "$a"`,
		`a=(x y); a+=z; rm -f "${a[@]}"`,
		`a=([1]=x y); rm -f "${a[@]}" "${a[0]}"`,
		`a=(x y); unset 'a[0]'; rm -f "${a[@]}" "${a[0]}" "${a[@]:0:1}"`,
		`a=(1 2); ((a++)); rm -f "${a[@]}"`,
		`a=("x y" z); rm -f ${a[0]} ${a[@]:0:1} "${a[*]:0:1}"`,
		`a=(x); rm -f "${a[-2]}"`,
		`declare -A a=([k]=x); rm -f "${a[k]}" "${a[@]:0:1}"`,
		`k=0; declare -A a; a[k]=x; a[0]=y; rm -f "${a[k]}"`,
		`declare -A a=([0]=q [1]=r); for i in "${!a[@]}"; do rm -f "${a[$i]}"; done`,
		`declare -A a; a=(x y); rm -f "${a[@]}" "${a[0]}" "${a[x]}"`,
		`readonly i=1; ((i++)); rm -f out/$i.log`,
		`i=08; ((i++)); rm -f out/$i.log`,
		`i=010; ((i++)); rm -f out/$i.log`,
		`i=0x10; ((i++)); rm -f out/$i.log`,
		`i=j; j=5; ((i++)); rm -f out/$i.log`,
		`i=1; (( i++ + i++ )); rm -f out/$i.log`,
		`i=1; x=$((i++)); rm -f out/$i$x.log`,
		`i=1; x{$((i++)),$((i++))} 2>/dev/null; rm -f out/$i.log`,
		`i=1; (( i++ && 0 )); rm -f out/$i.log`,
		`i=1; (( 0 && i++ )); rm -f out/$i.log`,
		`i=1; ( ((i++)) ); rm -f out/$i.log`,
		`i=1; ((i++)) | cat; rm -f out/$i.log`,
		`i=1; ((i++)) & wait; rm -f out/$i.log`,
		`i=1; true || ((i++)); rm -f out/$i.log`,
		`i=1; if [ -e x ]; then ((i++)); fi; rm -f out/$i.log`,
		`i=1; while [ $i -lt 4 ]; do ((i++)); done; rm -f out/$i.log`,
		`i=1; f() { local i=5; ((i++)); }; f; rm -f out/$i.log`,
		`i=1; f() { ((i++)); }; f; f; rm -f out/$i.log`,
		`i=9999; ((i*=9999)); ((i*=9999)); rm -f out/$i.log`,
		`i=9223372036854775807; ((i++)); rm -f out/$i.log`,
		`i=2; ((i/=2)); ((i<<=3)); rm -f out/$i.log`,
		`i=-1; ((i++)); rm -f out/$i.log`,
		`i=; ((i++)); rm -f out/$i.log`,
		`declare -i i=1; i+=1; rm -f out/$i.log`,
		`declare -i i=1; ((i++)); rm -f out/$i.log`,
		`RANDOM=5; ((RANDOM++)); rm -f "out/x$RANDOM.log"`,
		`i=0; while [ $i -lt 3 ]; do rm -f "out/x$i.log"; i=$((i+1)); done`,
		`i=0; while [ $i -lt 3 ]; do rm -f out/$i.log; i=$((i+1)); done`,
		`for ((i=0;i<3;i++)); do rm -f out/$i.log; i=5; done`,
		`for ((i=0;i<9;i++)); do ((i++)); rm -f out/$i.log; done`,
		`for ((i=0;i<9;i++)); do f() { i=8; }; f; rm -f out/$i.log; done`,
		`for ((i=0;i<2;i++)); do rm -f out/$i.log; done; rm -f "out/$i.log"`,
		`for ((i=0;i<9;i++)); do break; done; rm -f "out/$i.log"`,
		`for ((i=0;i<0;i++)); do rm -f out/$i.log; done; rm -f "out/$i.log"`,
		`n=3; for ((i=0;i<n;i++)); do n=4; rm -f out/$i.log; done`,
		`n=3; for ((i=0;i<n;i++)); do rm -f out/$i.log; [ $i = 1 ] && n=9; done`,
		`for ((i=0;i<6;i++)); do [ $i = 1 ] && continue; rm -f out/$i.log; done`,
		`for ((i=0;i<6;i+=i)); do rm -f out/$i.log; ((++i)); done`,
		`for ((i=0,j=3;i<j;i++,j--)); do rm -f out/$i$j.log; done`,
		`for ((i=0;i<300;i+=100)); do rm -f out/$i.log; done`,
		`for ((i=0;i<12;i++)); do rm -f "out/x$i.log"; done`,
		`for ((i=-1;i<2;i++)); do rm -f out/$i.log; done`,
		`readonly i; for ((i=0;i<2;i++)); do rm -f out/$i.log; done`,
		`declare -r n=2; for ((i=0;i<n;i++)); do rm -f out/$i.log; done`,
		`for ((i=0;i<3;i++)); do x=a$i; done; rm -f "out/$x.log"`,
		`for ((i=0;i<3;i++)); do eval 'i=2'; rm -f out/$i.log; done`,
		`for ((i=0;i<3;i++)); do read -r i <<< 2; rm -f out/$i.log; done`,
		`for ((i=0;i<3;i++)); do declare i=2; rm -f out/$i.log; done`,
		`for ((i=0;i<3;i++)); do printf -v i %s 2; rm -f out/$i.log; done`,
		`for ((i=0;i<3;i++)); do for i in 7; do :; done; rm -f out/$i.log; done`,
		`for ((i=0;i<3;i++)); do : ${i:=4} $((i=2)); rm -f out/$i.log; done`,
		`for ((i=0;i<3;i++)); do unset i; i=2; rm -f out/$i.log; done`,
		`for ((i=0;i<3;i++)); do . ./inc; rm -f out/$i.log; done`,
		`trap 'i=7' DEBUG; for ((i=0;i<3;i++)); do rm -f out/$i.log; done`,
		`declare -n i=q; for ((i=0;i<3;i++)); do rm -f out/$q.log; done`,
		`q=x; declare -n i=q; ((i++)); rm -f "out/$q.log"`,
		`f='x y'; rm -f ${f/x/a b} "${f/x/a b}"`,
		`f='a*c'; rm -f "${f/\*/b}" "${f/*/b}" ${f/a/q}`,
		`f=abc; rm -f "${f/b*/x}" "${f/?/x}" "${f/[a]/x}" "${f/b/&}" "${f/b/\&}"`,
		`f=abc; p=b; rm -f "${f/$p/x}" "${f/b/$p}" "${f/"b"/x}"`,
		`f=aaa; rm -f "${f/a/b}" "${f//a/b}" "${f/#a/b}" "${f/%a/b}" "${f//}" "${f/a}"`,
		`f=aaa; rm -f "${f//aa/b}" "${f/#/b}" "${f/%/b}" "${f//a}"`,
		`f=a/b; rm -f "${f/\//_}" "${f//\//_}"`,
		`f=~; rm -f "${f/~/x}"`,
		`f=x; rm -f "${f/x/~}" ${f/x/~}`,
		`f=ab; rm -f "${f/'b'/x}" "${f/a/'x'}"`,
		`f='a\b'; rm -f "${f/\\/x}"`,
		`f=; rm -f "${f/a/b}" "${f:0:1}"`,
		`rm -f "${unset_one/a/b}" x`,
		`shopt -s nocasematch; f=ABC; rm -f "${f/b/x}"`,
		`a=(x.c y.c); rm -f "${a[@]/.c/.o}" "${a[@]%.c}" "${a/x/z}"`,
		`set -- x.c y.c; rm -f "${@/.c/.o}" "${@:1}" "${@:0:1}" "${@:2}" "${*:1}"`,
		`s=héllo; rm -f "${s:0:2}" "${s:2}" out/${#s}.log "${s^^}"`,
		`s=hello; rm -f "${s:9}" "${s:1:-1}" x; rm -f "${s:0:-9}"`,
		`s=hello; n=1; rm -f "${s:n}" "${s:$n:n+1}" "${s:(-2)}"`,
		`s='a b'; rm -f ${s:0} ${s:0:3} ${s^^}`,
		`s=aba; rm -f "${s^^a}" "${s^b}" "${s,,[A]}"`,
		`s=ab; rm -f "${s@U}" "${s@Q}"`,
		`mapfile a < <(printf 'x\ny\n'); rm -f "${a[@]}"`,
		`mapfile -t a < <(printf 'x\n\ny'); rm -f "${a[@]}"`,
		`mapfile -t -n 1 a < <(printf 'x\ny\n'); rm -f "${a[@]}"`,
		`mapfile -t -s 1 a < <(printf 'x\ny\n'); rm -f "${a[@]}"`,
		`mapfile -t -O 1 a < <(printf 'x\ny\n'); rm -f "${a[0]}" "${a[@]}"`,
		`mapfile -t -d : a < <(printf 'x:y'); rm -f "${a[@]}"`,
		`mapfile -t a < x; rm -f "${a[@]}"`,
		`mapfile -t a < <(cat x); rm -f "${a[@]}"`,
		`mapfile -t a < <(printf x | tr x y); rm -f "${a[@]}"`,
		`mapfile -t < <(printf 'x\n'); rm -f "${MAPFILE[@]}"`,
		`printf 'x\n' | mapfile -t a; rm -f "${a[@]}" y`,
		`a=(q); printf 'x\n' | mapfile -t a; rm -f "${a[@]}" y`,
		`mapfile -t a <<< $'x\ny'; rm -f "${a[@]}"`,
		`mapfile -t a <<< ''; rm -f "${a[@]}"`,
		`mapfile -t a < <(printf ''); rm -f "${a[@]}" x`,
		`mapfile -t a < <(printf 'x\n') < x; rm -f "${a[@]}"`,
		`declare -A a; mapfile -t a < <(printf 'x\n'); rm -f "${a[@]}"`,
		`readonly a=(q); mapfile -t a < <(printf 'x\n'); rm -f "${a[@]}"`,
		`mapfile -t a < <(printf 'a b\n'); rm -f ${a[@]} "${a[0]}"`,
		`mapfile -t a < <(printf '%s\n' x y z | head -n 1); rm -f "${a[@]}"`,
		`read -r f <<< '  x  '; rm -f "$f"`,
		`read f <<< 'a\b'; rm -f "$f"`,
		`read -r f <<< 'x y'; rm -f "$f"`,
		`read -r f g <<< 'x y  z '; rm -f "$f" "$g"`,
		`read -r f g <<< 'x'; rm -f "$f" "$g"`,
		`IFS=: read -r f g <<< 'x:y'; rm -f "$f" "$g"`,
		`IFS= read -r f <<< ' x'; rm -f "$f"`,
		`IFS=: ; read -r f g <<< 'x:y'; rm -f "$f" "$g"`,
		`read -r -n 1 f <<< xyz; rm -f "$f"`,
		`read -r -d y f <<< xyz; rm -f "$f"`,
		`read -ra a <<< 'x y'; rm -f "${a[@]}"`,
		`read -r f < x; rm -f "$f"`,
		`read -r f <<< $'x\ny'; rm -f "$f"`,
		`read -r <<< ' x '; rm -f "$REPLY"`,
		`echo x | read -r f; rm -f "$f" y`,
		`f=q; echo x | read -r f; rm -f "$f" y`,
		`read -r f <<< x && read -r f <<< y; rm -f "$f"`,
		`readonly f=q; read -r f <<< x; rm -f "$f"`,
		`read -r f < <(printf x); rm -f "$f"`,
		`printf -v f '%s-%s' x y z; rm -f "$f"`,
		`printf -v f '%5s|%-5s|%.1s' x y zz; rm -f "$f"`,
		`printf -v f '%d' 08; rm -f "x$f"`,
		`printf -v f '%d' 0x10; rm -f "x$f"`,
		`printf -v f '%d' "'a"; rm -f "x$f"`,
		`printf -v f '%d' -3; rm -f "x$f"`,
		`printf -v f '%03d' -3; rm -f "x$f"`,
		`printf -v f '%%%s' x; rm -f "$f"`,
		`printf -v f '%s'; rm -f "x$f"`,
		`printf -v f 'a\tb\x41%s\n' x; rm -f "$f"`,
		`printf -v f '%b' 'a\tb'; rm -f "$f"`,
		`printf -v f '%q' 'a b'; rm -f "$f"`,
		`printf -v 'a[1]' '%s' x; rm -f "${a[1]}"`,
		`printf -v f -- '%s' x; rm -f "$f"`,
		`f=$(printf '%s\n' x y); rm -f "$f" $f`,
		`f=$(printf '%c' xyz); rm -f "$f"`,
		`f=$(printf '%s%%' x); rm -f "$f"`,
		`f=$(printf '%02d-%s' 7 a 8 b); rm -f "$f"`,
		`f=$(printf '%*d' 3 7); rm -f "$f"`,
		`f=$(printf '%x' 255); rm -f "$f"`,
		`f=$(printf '%s' "a\\tb"); rm -f "$f"`,
		`f=$(printf 'x\c%s' y); rm -f "$f"`,
		`printf '%s\n' 'x y' 'a\b' | while read f; do rm -f "$f"; done`,
		`printf ' x \n' | while IFS= read -r f; do rm -f "$f"; done`,
		`printf 'x\ny' | while read -r f; do rm -f "$f"; done`,
		`printf 'x y\n' | while read -r f g; do rm -f "$f" "$g"; done`,
		`printf 'x\ny\n' | while read -r f; do read -r g; rm -f "$f" "$g"; done`,
		`printf 'x\ny\n' | while read -r f; do rm -f "$f"; f=z; rm -f "$f"; done`,
		`printf 'x\ny\n' | while read -r f && read -r g; do rm -f "$f" "$g"; done`,
		`printf 'x\ny\n' | while read -r f; do cat >/dev/null; rm -f "$f"; done`,
		`printf 'x\ny\n' | while read -r f; do :; done; rm -f "$f" q`,
		`while read -r f; do :; done <<< x; rm -f "$f" q`,
		`while read -r f; do rm -f "$f"; done <<< $'x\ny'`,
		`n=3; a=(x y z); rm -f "${a[@]:n}" "${a[@]:1:n-2}" q`,
		`a=(x y z); rm -f "${a[*]:1}" "${a[@]:5}" "${a[@]:(-2):1}" q`,
		`a=(x "" z); rm -f "${a[@]:1}" ${a[@]:1}`,
		`a=(x y); b=("${a[@]}" z); rm -f "${b[@]}" "${b[2]}"`,
		`a=(); rm -f "${a[@]}" "${a[0]}" "${#a[@]}" x`,
		`a=(x); for i in "${!a[@]}"; do a[$i]=q; done; rm -f "${a[@]}"`,
		`a=(x y); for i in ${!a[@]}; do rm -f out/$i.log; done`,
		`a=x; rm -f "${!a[@]}" "${#a}" "${a[0]}" "${a[1]}" "${a[-1]}" q`,
		`a=(abc); rm -f "x${#a}" "x${#a[0]}" "x${#a[*]}"`,
		`set -- a bb; rm -f "x$#" "x${#}" "x${#@}" "x${#1}"`,
		`f() { rm -f "x$#" "x${#1}" "${@:2}"; }; f a bb ccc`,
	}
}
