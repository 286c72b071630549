#!/usr/bin/env bash
# languageservers.sh asks real language servers by way of agentkit: gopls, where it is on
# PATH or in GOPATH, typescript-language-server from npm, and with --all pyright, too, which
# is a large package. Each is started once and confined as this machine can.
#
# Usage: languageservers.sh [--all] [AGENTKIT]
set -euo pipefail
cd "$(dirname "$0")/.."
packages=(typescript@5.9.3 typescript-language-server@5.3.0)
[ "${1:-}" != --all ] || { shift && packages+=(pyright@1.1.414); }
work=$(mktemp -d)
work=$(cd "$work" && pwd -P)
mkdir -p "$work"/{root,home,tmp,npm}
agentkit=${1:-$work/agentkit}
[ $# -gt 0 ] || GOFLAGS=-buildvcs=false go build -o "$agentkit" .
gopath=$(go env GOPATH) cache=$(go env GOCACHE)
export PATH=$gopath/bin:$work/npm/node_modules/.bin:$PATH
[ -d "$HOME/.npm" ] && export npm_config_cache=$HOME/.npm
export HOME=$work/home TMPDIR=$work/tmp XDG_STATE_HOME=$work/state XDG_CONFIG_HOME=$work/config GOPATH=$gopath GOCACHE=$cache GOFLAGS=-mod=mod
trap 'cd "$work/root" && "$agentkit" kill all >/dev/null 2>&1 || true; chmod -R u+w "$work"; rm -rf "$work"' EXIT

# Where commands cannot be confined, a server needs a rule.
printf 'version: 1\nallow: ["bash(*)"]\n' >"$work/policy.yaml"

run() { cd "$work/root" && "$agentkit" --policy "$work/policy.yaml" -o text "$@" 2>&1; }

# tells WORDS... -- ARGUMENTS... reports whether the output of agentkit has each of the words.
tells() {
	local words=() word
	while [ "$1" != -- ]; do words+=("$1") && shift; done
	shift
	out=$(run "$@") || true
	for word in "${words[@]}"; do
		case $out in *"$word"*) ;; *) missing="agentkit $*"$'\nprints:\n'"$out"$'\nnot: '"$word" && return 1 ;; esac
	done
}

# says is tells, and it is a failure if not.
says() { tells "$@" || { echo "$missing" && exit 1; }; }

# changed is says of a call that changes a file, and waits five seconds at most for what the
# server says: on a busy machine it may take a second try.
changed() {
	local n
	for n in 1 2 3 4; do
		! tells "$@" || return 0
		echo "try $n: $missing"
		(run undo) >/dev/null
	done
	says "$@"
}

if command -v gopls >/dev/null; then
	printf 'module example.org/p\n\ngo 1.26\n' >"$work/root/go.mod"
	printf 'package p\n\n// Greet greets.\nfunc Greet(name string) string { return name }\n' >"$work/root/a.go"
	printf 'package p\n\nfunc Use() int { return Greet("ä") }\n' >"$work/root/b.go"
	mkdir "$work/root/sub"
	printf 'package sub\n\nimport "example.org/p"\n\nfunc F() string { return p.Greet("c") }\n' >"$work/root/sub/c.go"
	says 'b.go:3:25: error: cannot use Greet' -- diagnostics b.go --source lsp
	changed 'finds nothing wrong' -- write b.go $'package p\n\nfunc Use() string { return Greet("ä") + Greet("b") }\n' --diagnostics
	changed 'sub/c.go:5:26: error: cannot use p.Greet' 'b.go:3:28: error' -- edit a.go 'string { return name }' 'int { return 1 }' --diagnostics
	changed 'finds nothing wrong' -- edit a.go 'int { return 1 }' 'string { return name }' --diagnostics
	says 'a.go:4:6' -- lsp definition b.go --symbol Greet
	says 'b.go:3:28' 'b.go:3:42' 'sub/c.go:5:28' -- lsp references a.go --symbol Greet
	says 'Greet greets.' -- lsp hover sub/c.go --symbol Greet
	says 'a.go:4:6: Greet' -- lsp symbols a.go --symbol Greet
	says 'sub/c.go:5:6: F' -- lsp incoming_calls a.go --symbol Greet
	says 'Greet' -- lsp completion sub/c.go:5:30
	says 'Renamed 5 places in 3 files' -- lsp rename a.go --symbol Greet --new-name Hail
	grep -q 'p.Hail("c")' "$work/root/sub/c.go"
	says 'replace sub/c.go' -- undo
	says 'nothing is wrong' -- diagnostics a.go sub/c.go --source lsp
else
	echo "SKIPPED: gopls is not installed: go install golang.org/x/tools/gopls@v0.23.0"
fi

if ! command -v npm >/dev/null; then
	echo "SKIPPED: there is no npm for typescript-language-server"
	exit 0
fi
if ! npm install --prefix "$work/npm" --omit=optional --no-audit --no-fund --no-package-lock --loglevel=error "${packages[@]}" >"$work/npm.log" 2>&1; then
	tail -5 "$work/npm.log"
	grep -qE 'ENOTFOUND|ETIMEDOUT|ECONNREFUSED|EAI_AGAIN' "$work/npm.log" || exit 1
	echo "SKIPPED: npm's registry is not to be reached"
	exit 0
fi
printf 'export function f(a: number): string { return String(a) }\n' >"$work/root/x.ts"
printf 'import { f } from "./x"\nconst z: number = f(1)\n' >"$work/root/y.ts"
says "y.ts:2:7: error: Type 'string' is not assignable" -- diagnostics y.ts --source lsp
changed 'error: Expected 2 arguments' -- edit x.ts 'a: number' 'a: number, b: number' --diagnostics
says 'x.ts:1:17' -- lsp definition y.ts --symbol f --line 2
says 'f(a: number, b: number): string' -- lsp hover y.ts --symbol f --line 2
says 'Renamed' -- lsp rename x.ts --symbol f --new-name format
if [ ${#packages[@]} -gt 2 ]; then
	printf 'def f(a: int) -> str:\n    return str(a)\n' >"$work/root/x.py"
	printf 'from x import f\nf("1")\nmissing()\n' >"$work/root/y.py"
	says 'y.py:2:3: error: Argument of type' 'y.py:3:1: error: "missing" is not defined' -- diagnostics y.py --source lsp
	says 'x.py:1:5' -- lsp definition y.py --symbol f --line 2
	says 'Renamed 3 places in 2 files' -- lsp rename x.py --symbol f --new-name text
fi
echo "ok"
