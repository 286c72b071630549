#!/bin/sh
# Compares walks with rg --files, and finding files by name with fd, on the
# same trees, turn by turn.
#
#   testdata/bench/walk.sh [DIR ...]
#
# Without a DIR it takes Go's source. RG_TEST names ripgreps to compare with,
# separated by colons, beside the one on PATH; RUNS how many turns (9).
. "$(dirname "$0")/beside.sh"
compare 'Walk|GlobProcess'
