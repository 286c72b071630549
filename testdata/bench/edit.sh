#!/bin/sh
# Prints what edits and patches cost: the engine alone, in milliseconds of
# processor time, and whole processes beside GNU patch, codex apply_patch and
# OpenCode's edit, run for run, as medians and the median of the ratios: below 1
# is faster than the peer. OpenCode's own start is taken off.
#
#   testdata/bench/edit.sh
#
# CODEX and OPENCODE name those programs where they are not on PATH; RUNS how
# often each task runs (5). A peer that is missing is said to be.
set -eu
cd "$(dirname "$0")/../.."
echo "the engine (processor time):"
go test -run '^$' -bench 'Plan/(100000x200|longline|equal|100MB)|Patch' -benchtime 20x ./pkg/edit |
	awk '/^Benchmark/ { for (i = 3; i < NF; i += 2) value[$(i + 1)] = $i; printf "%-40s %9.2f ms\n", $1, value["cpu-ms/op"] } /FAIL|panic/ { print; bad = 1 } END { exit bad }'
echo "whole processes (processor time):"
go test -run '^$' -bench BesidePeers -benchtime "${RUNS:-5}x" -timeout 60m -v . |
	awk '/^BenchmarkBesidePeers\/.*ratio/ {
		sub("BenchmarkBesidePeers/", "", $1)
		for (i = 3; i < NF; i += 2) value[$(i + 1)] = $i
		printf "%-55s ours %9.1f ms   peer %9.1f ms   ratio %6.3f\n", $1, value["ours-ms"], value["peer-ms"], value["ratio"]
		next
	}
	/NOT compared/ { print }
	/FAIL|panic/ { print; bad = 1 }
	END { exit bad }'
