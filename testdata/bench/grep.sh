#!/bin/sh
# Compares the search engine of pkg/rg with ripgrep on the same trees, run for
# run, and prints medians and the median of the ratios: below 1 is faster than
# ripgrep.
#
#   testdata/bench/grep.sh [DIR ...]
#
# Without a DIR it takes Go's source and a repository of 40 files. RG_TEST
# names the ripgrep to compare with, else it is rg on PATH; RUNS how often each
# search runs (9). A tree of sources needs a .git directory, or ripgrep reads
# no .gitignore there.
set -eu
cd "$(dirname "$0")/../.."
roots=
for dir in "$@"; do
	roots="$roots${roots:+:}$(cd "$dir" && pwd)"
done
BENCH_ROOTS=$roots go test -run '^$' -bench BesideRipgrep -benchtime "${RUNS:-9}x" -timeout 60m ./pkg/rg |
	awk '/^BenchmarkBesideRipgrep/ {
		sub("BenchmarkBesideRipgrep/", "", $1)
		for (i = 3; i < NF; i += 2) value[$(i + 1)] = $i
		printf "%-40s native %9.1f ms   rg %9.1f ms   ratio %5.2f\n", $1, value["native-ms"], value["rg-ms"], value["ratio"]
		next
	}
	/FAIL|SKIP|panic/ { print; bad = 1 }
	END { exit bad }'
