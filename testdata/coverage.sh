#!/usr/bin/env bash
# Prints which share of the product's statements the tests run, by package and in
# all: those that the tests call and those that the program runs when a test starts
# it. What only other systems compile does not count. Twice as long as the tests.
#
#   testdata/coverage.sh [FILE]     FILE gets the profile, for go tool cover -html=FILE
set -euo pipefail
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/data"
export COVERAGE=$dir/data GOFLAGS="${GOFLAGS:-} -cover -coverpkg=./..."
go test -count=1 -timeout 90m ./... -args -test.gocoverdir="$dir/data" >"$dir/log" 2>&1 || { grep -E '^(---|FAIL|panic)' "$dir/log"; echo "not all tests passed: some look at machine code or at times, which counting changes"; }
profile=${1:-$dir/profile}
go tool covdata textfmt -i "$dir/data" -o "$profile"
awk 'NR > 1 {
	split($1, at, ":"); statements[$1] = $2; if ($3 > 0) ran[$1] = 1
	sub("^[^/]*/[^/]*/[^/]*/", "", at[1]); sub("/[^/]*$", "", at[1]); place[$1] = at[1]
}
END {
	for (k in statements) {
		n[place[k]] += statements[k]; all += statements[k]
		if (k in ran) { r[place[k]] += statements[k]; done += statements[k] }
	}
	for (p in n) printf "%5.1f %% of %5d  %s\n", 100 * r[p] / n[p], n[p], p | "sort -n"
	close("sort -n")
	printf "%5.1f %% of %5d  in all\n", 100 * done / all, all
}' "$profile"
