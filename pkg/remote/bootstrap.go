package remote

import (
	"fmt"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/tool"
)

// bootstrap is what the shell at the far end is told. It finds agentkit, or takes it from
// the pipe, and becomes it. The rules:
//
//   - All of it is one compound command: a shell that has read its end reads nothing
//     more by itself, so what follows on the pipe belongs to whom it is meant for.
//   - Each line that it prints for us begins with a word that nobody knows beforehand;
//     what a start-up file prints does not.
//   - It sends nothing and waits for nothing but what it was told of.
//   - What came only in part goes, also where the connection is lost meanwhile.
//   - What is carried lies in the state directory, where no command that agentkit runs
//     there may write: the next connection starts it.
//
// %[1]s is that word, %[2]s the name of our program, %[3]s the version that
// an installed one must have, or "" where none can be known to be the same.
const bootstrap = `{
n=%[1]s name=%[2]s v=%[3]s
say() { printf '%%s %%s\n' "$n" "$*"; }
fail() { say fails "$@"; exit 1; }
old() { find "$d" -name "$1" -type f -mtime "+$2" -exec rm -f {} \; >/dev/null 2>&1 </dev/null; }
u=$(umask)
umask 077
d=${AGENTKIT_STATE:-}
case $d,${XDG_STATE_HOME:-} in
,/*) d=$XDG_STATE_HOME/agentkit;;
,*) d=${HOME:+$HOME/.local/state/agentkit};;
esac
d=${d:+$d/far}
f=$d/agentkit-$name
echo
if [ -x "$f" ] && [ -O "$f" ]; then :
elif [ -n "$v" ] && f=$(command -v agentkit) && case $("$f" version 2>/dev/null) in "agentkit $v "*) true;; *) false;; esac; then :
else
	f=$d/agentkit-$name
	{ [ -n "$d" ] && mkdir -p "$d" 2>/dev/null && [ -O "$d" ] && [ -w "$d" ]; } || fail "nowhere to keep a program: no state can be kept there"
	t=$d/.new-$$
	trap 'rm -f "$t"' EXIT
	trap 'exit 1' HUP INT TERM PIPE
	say needs "$(uname -s)" "$(uname -m)"
	read -r hash size || exit 1
	head -c "$size" >"$t" || fail "the program cannot be kept in $d"
	s=$(sha256sum <"$t" 2>/dev/null) || s=$(shasum -a 256 <"$t" 2>/dev/null) || s=$(openssl dgst -sha256 <"$t" 2>/dev/null) || fail "there is no sha256sum, shasum or openssl to check the program with"
	case $s in *"$hash"*) ;; *) fail "what came is not what was sent";; esac
	chmod 700 "$t" && "$t" version >/dev/null 2>&1 || fail "the program does not run there, or not from $d"
	mv -f "$t" "$f" || fail "the program cannot be kept in $d"
	trap - EXIT HUP INT TERM PIPE
	old 'agentkit-*' 30
	old '.new-*' 0
fi
umask "$u"
say ready
exec "$f" serve --stdio --carried
}
`

// systems is what uname calls systems and processors, in Go's words.
func systems(system, processor string) string {
	names := map[string]string{
		"Linux": "linux", "Darwin": "darwin", "FreeBSD": "freebsd",
		"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64", "i686": "386", "i386": "386", "armv7l": "arm", "riscv64": "riscv64",
	}
	known := func(s string) string {
		if name, ok := names[s]; ok {
			return name
		}
		return strings.ToLower(s)
	}
	return known(system) + "/" + known(processor)
}

// script is bootstrap for a program.
func script(word string, p *program) string {
	return fmt.Sprintf(bootstrap, word, p.name, tool.QuoteWord(p.version))
}
