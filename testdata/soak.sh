#!/usr/bin/env bash
# Runs the tests that chance has a part in as often as their promises need: forty
# callers of one workspace for ten minutes, a
# thousand long outputs, two hundred jobs at once, the zoo of processes with
# five hundred that fork all the time, the sandbox's recipes and attacks in full,
# twelve thousand scripts of sed, awk and jq and as many repositories, two hundred kills
# of a connection to another place.
# It takes half an hour and most of a small machine; root runs more of it.
#
#   testdata/soak.sh [PACKAGE...]
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- . ./pkg/job ./pkg/sandbox ./pkg/killtree ./pkg/shellparse
export AGENTKIT_SOAK=1 JOB_SOAK=200 KILLTREE_SOAK=20 SCRIPTS=12000 REPOSITORIES=12000 KILLS=200
for p in "$@"; do
	go test -count=1 -timeout 180m "$p"
done
case " $* " in
*" ./pkg/killtree "*)
	# Only where the kernel ends a tree at once can so many be ended; a search
	# gets its share of the processor, which is one in five hundred.
	KILLTREE_SOAK=1 KILLTREE_SOAK_RACERS=500 go test -count=1 -timeout 20m -run 'TestZoo/^(pidns|pidns.userns)$' ./pkg/killtree
	;;
esac
