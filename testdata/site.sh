#!/usr/bin/env bash
# Makes the site of the documentation and opens every page of it in Chromium, offline, at
# two widths and in light and dark: nothing is wider than the window, text and ground
# differ enough, nothing is asked of any server. Takes some fifteen seconds; without
# Chromium or Node 20 it says so.
#
#   testdata/site.sh [DIRECTORY FOR PICTURES]
set -euo pipefail
pictures=$(realpath -m "${1:-/nonexistent}")
cd "$(dirname "$0")/.."
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || { echo "SKIPPED: there is no Chromium on PATH"; exit 0; }
node --experimental-websocket -e 'process.exit(typeof WebSocket == "function" ? 0 : 1)' 2>/dev/null || { echo "SKIPPED: there is no node 20 or later on PATH"; exit 0; }
work=$(mktemp -d)
trap 'kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null; rm -rf "$work"' EXIT
pid=
: >"$work/log"
go test -count=1 -run '^TestSite$' . -site "$work/site" >"$work/made" || { cat "$work/made"; exit 1; }
"$browser" --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$work/profile" \
	--host-resolver-rules='MAP * ~NOTFOUND' --remote-debugging-port=0 about:blank 2>"$work/log" &
pid=$!
for _ in $(seq 300); do
	address=$(sed -n 's/^DevTools listening on //p' "$work/log")
	[ -z "$address" ] || break
	sleep 0.1
done
[ -n "$address" ] || { cat "$work/log"; echo "Chromium has not begun"; exit 1; }
timeout 120 node --experimental-websocket testdata/site/look.mjs "$address" "$work/site" "$pictures"
