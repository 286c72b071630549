#!/bin/sh
# A server in the background, a look at its page, a change, and a look at the change.
set -eu
cd "$(dirname "$0")"
port=${PORT:-3000}
work=$(mktemp -d)
cp index.html "$work"
say() { printf '\n$ agentkit %s\n' "$*" >&2; agentkit --root "$work" --policy "$PWD/policy.yaml" -o text "$@"; }
trap 'say kill all; rm -rf "$work"' EXIT

say bash --until 'Serving HTTP' "python3 -m http.server $port --bind 127.0.0.1" --env PYTHONUNBUFFERED=1
say bash "curl -sS localhost:$port | grep h1"
say edit index.html "It runs" "It changed"
say bash "curl -sS localhost:$port | grep h1"
