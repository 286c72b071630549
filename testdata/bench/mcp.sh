#!/usr/bin/env bash
# Compares agentkit mcp with the file server of the Model Context Protocol for Node, in
# turns: the time from the start to the answer of initialize, and of a call that reads a small
# file. Prints the medians, the processor time of a call, and the ratios.
#
#   testdata/bench/mcp.sh [CALLS]
#
# npm installs the server into $TMPDIR; without npm, agentkit is measured alone.
set -euo pipefail
calls=${1:-5000}
. "$(dirname "$0")/fileserver.bash"
python3 testdata/bench/mcp.py "$calls" "$work" "$server"
