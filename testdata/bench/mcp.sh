#!/usr/bin/env bash
# Compares agentkit mcp with the file server of the Model Context Protocol for Node, in
# turns: the time from the start to the answer of initialize, and of a call that reads a small
# file. Prints the medians, the processor time of a call, and the ratios.
#
#   testdata/bench/mcp.sh [CALLS]
#
# npm installs the server into $TMPDIR; without npm, agentkit is measured alone.
set -euo pipefail
cd "$(dirname "$0")/../.."
calls=${1:-5000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
CGO_ENABLED=${CGO_ENABLED:-1} go build -o "$work/agentkit" .
mkdir "$work/root"
for _ in {1..40}; do echo 'a line of text'; done >"$work/root/small.txt"
server=
if command -v npm >/dev/null && npm install --silent --prefix "$work/npm" @modelcontextprotocol/server-filesystem >/dev/null 2>&1; then
	server=$work/npm/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js
fi
export XDG_STATE_HOME=$work/state XDG_CONFIG_HOME=$work/config
python3 testdata/bench/mcp.py "$calls" "$work" "$server"
