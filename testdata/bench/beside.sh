# Builds agentkit for the scripts that compare it with a peer, and runs their
# benchmarks. It is read by them with their arguments.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
roots=
for dir in "$@"; do
	roots="$roots${roots:+:}$(cd "$dir" && pwd)"
done
cd "$top"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o "$work/agentkit" .

# compare runs the benchmarks whose names begin with what $1 says.
compare() {
	go test -c -o "$work/rg.test" ./pkg/rg
	(cd pkg/rg && BENCH_ROOTS=$roots AGENTKIT_BIN=$work/agentkit "$work/rg.test" -test.run '^$' \
		-test.bench "^Benchmark($1)" -test.benchtime "${RUNS:-9}x" -test.timeout 2h) |
		awk -f testdata/bench/beside.awk
}
