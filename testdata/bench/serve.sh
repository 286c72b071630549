#!/usr/bin/env bash
# Compares calls over one process: read over agentkit serve --stdio, and read_text_file of the
# file server of the Model Context Protocol for Node, one call after the other, in turns.
# Prints the medians and the processor time of a call, their ratios, and what 10,000 calls leave of memory.
#
#   testdata/bench/serve.sh [CALLS]
#
# npm installs the server into $TMPDIR; without npm, agentkit is measured alone.
set -euo pipefail
cd "$(dirname "$0")/../.."
calls=${1:-10000}
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
python3 testdata/bench/serve.py "$calls" "$work" "$server"
