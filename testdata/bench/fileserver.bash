# Sourced by mcp.sh and serve.sh, which measure agentkit beside the file server of the Model
# Context Protocol for Node. It sets work, a directory with agentkit and root/small.txt in it,
# and server, the Node program, which is empty where npm cannot install it.
cd "$(dirname "$0")/../.."
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
