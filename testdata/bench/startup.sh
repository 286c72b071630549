#!/usr/bin/env bash
# Prints what it costs to start agentkit: medians of whole processes run in
# turn, in milliseconds, and the packages whose start-up code takes longest.
# None of ours may be among them.
set -euo pipefail
cd "$(dirname "$0")/../.."
go test -run '^$' -bench Startup -benchtime 40x . | grep -E 'Startup|ms' | tr '\t' '\n' | sed 's/^ *//' | grep -v '^$'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o "$work/agentkit" .
echo "x" >"$work/a.txt"
export XDG_STATE_HOME=$work/state XDG_CONFIG_HOME=$work/config
echo "slowest package initialisers (ms):"
GODEBUG=inittrace=1 "$work/agentkit" --root "$work" read a.txt 2>&1 >/dev/null | awk '$1=="init"{print $5, $2}' | sort -rn | sed -n 1,5p # head would end before sort has written all
if GODEBUG=inittrace=1 "$work/agentkit" --root "$work" read a.txt 2>&1 >/dev/null | grep agentkit-go; then
	echo "a package of ours runs code at start-up"
	exit 1
fi
