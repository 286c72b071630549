#!/usr/bin/env bash
# Compares calls over one process: read over agentkit serve --stdio, and read_text_file of the
# file server of the Model Context Protocol for Node, one call after the other, in turns.
# Prints the medians and the processor time of a call, their ratios, and what 10,000 calls leave of memory.
#
#   testdata/bench/serve.sh [CALLS]
#
# npm installs the server into $TMPDIR; without npm, agentkit is measured alone.
set -euo pipefail
calls=${1:-10000}
. "$(dirname "$0")/fileserver.bash"
python3 testdata/bench/serve.py "$calls" "$work" "$server"
