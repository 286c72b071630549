#!/usr/bin/env bash
# Builds with the newest Go that can be fetched, and tests, what relies most on the
# compiler and the runtime: pkg/fork, whose children run without
# either, and pkg/killtree, which starts them.
#
#   testdata/newest-go.sh
set -euo pipefail
cd "$(dirname "$0")/.."
have=$(go env GOVERSION)
platform=$(go env GOOS)-$(go env GOARCH)
newest=$(go list -m -versions golang.org/toolchain 2>/dev/null | tr ' ' '\n' |
	sed -n "s/^v0\.0\.1-\(go1[0-9.]*\)\.$platform\$/\1/p" | sort -V | tail -1) || true
if [ -z "$newest" ] || [ "$(printf '%s\n' "$have" "$newest" | sort -V | tail -1)" = "$have" ]; then
	echo "SKIPPED: no Go newer than $have can be fetched"
	exit 0
fi
export GOTOOLCHAIN=$newest
if ! go version; then
	echo "SKIPPED: $newest cannot be fetched"
	exit 0
fi
CGO_ENABLED=0 go test -count=1 ./pkg/fork ./pkg/killtree
