# Prints the lines of the benchmarks that compare with a peer: ours, the peer's,
# and the medians of the ratios; below 1 is faster than the peer.
/^Benchmark[A-Za-z]*\// {
	sub(/^Benchmark[A-Za-z]*\//, "", $1)
	sub(/-[0-9]+$/, "", $1)
	for (i = 3; i < NF; i += 2) value[$(i + 1)] = $i
	printf "%-44s %9.1f ms  peer %9.1f ms  ratio %5.2f  of processor time %5.2f\n", $1, value["ms"], value["peer-ms"], value["ratio"], value["cpu-ratio"]
	fflush()
	next
}
/FAIL|panic|not the same/ { bad = 1 }
/FAIL|SKIP|panic|not the same|is not installed|too old/ { print }
END { exit bad }
