#!/usr/bin/env bash
# Compares read with sed, tail and head on one file of 1 GB, run for run as
# whole processes, and prints medians, ratios and the peak memory of each:
# below 1 is faster than the other. What read takes beyond a start shows beside
# a run that does nothing.
#
#   testdata/bench/read.sh [RUNS]
#
# The file is made in $TMPDIR, which needs 1.1 GB of room.
set -euo pipefail
cd "$(dirname "$0")/../.."
runs=${1:-9}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
CGO_ENABLED=${CGO_ENABLED:-1} go build -o "$work/agentkit" .
# 41.4 million lines of 5 to 47 bytes, as a log has them.
awk 'BEGIN { while (n < 1070000000) { i++; s = substr("the quick brown fox jumps over the lazy dog", 1, 4 + (i * 7919) % 43); n += length(s) + 1; print s } }' >"$work/big.txt"
lines=$(wc -l <"$work/big.txt")
cat "$work/big.txt" >/dev/null
export XDG_STATE_HOME=$work/state XDG_CONFIG_HOME=$work/config
printf '%d lines, %d bytes, %d runs\n' "$lines" "$(stat -c %s "$work/big.txt")" "$runs"

# took COMMAND prints the seconds that a command line took, and those of
# processor time: on a busy machine only these can be compared.
took() {
	local TIMEFORMAT='%R %U %S'
	{ time eval "$1" >/dev/null 2>&1; } 2>&1
}

# compare NAME A B: the medians of the command lines A and B, run in turn.
compare() {
	for ((i = 0; i < runs; i++)); do
		echo "$(took "$2") $(took "$3")"
	done | awk -v name="$1" '
		{ a[NR] = $1; b[NR] = $4; c[NR] = $2 + $3; d[NR] = $5 + $6 }
		function median(list,  i, j, t) {
			for (i = 2; i <= NR; i++) for (j = i; j > 1 && list[j - 1] > list[j]; j--) { t = list[j]; list[j] = list[j - 1]; list[j - 1] = t }
			return list[int((NR + 1) / 2)] * 1000
		}
		function ratio(x, y) { return y > 0 ? sprintf("%.2f", x / y) : "-" }
		END {
			x = median(a); y = median(b); u = median(c); v = median(d)
			printf "%-40s wall %5d / %5d ms = %s   processor %5d / %5d ms = %s\n", name, x, y, ratio(x, y), u, v, ratio(u, v)
		}'
}

read="$work/agentkit --root $work read big.txt"
nothing="$work/agentkit version"
compare "first 10 lines / start" "$read --limit 10" "$nothing"
compare "last 10 lines / start" "$read --tail 10" "$nothing"
compare "first 10 lines / head" "$read --limit 10" "head -n 10 $work/big.txt"
compare "last 10 lines / tail" "$read --tail 10" "tail -n 10 $work/big.txt"
compare "50 lines at 1,000,000 / sed -n" "$read --offset 1000000 --limit 51" "sed -n 1000000,1000050p $work/big.txt"
compare "2000 lines at 30,000,000 / sed -n" "$read --offset 30000000 --limit 2000" "sed -n 30000000,30001999p $work/big.txt"
compare "2000 lines at 30,000,000 / tail | head" "$read --offset 30000000 --limit 2000" "{ tail -n +30000000 $work/big.txt || true; } 2>&1 | head -n 2000"
# Most of a process's memory are the pages of the program itself: what counts
# is how much more than a start it takes.
if [ -x /usr/bin/time ]; then
	peak() { /usr/bin/time -f %M "$@" 2>&1 >/dev/null | tail -1; }
	start=$(peak "$work/agentkit" version)
	for args in "--limit 10" "--tail 10" "--offset 30000000 --limit 2000"; do
		all=$(peak $read $args)
		echo "peak memory of read $args: $all KB, $((all - start)) KB more than of version"
	done
fi
