#!/bin/sh
# Compares searches with ripgrep on the same trees, turn by turn: the engine of
# pkg/rg where every matching line is printed, newest first too, beside a
# wrapper of rg --json, and the whole program beside rg --json on the trees, and
# beside rg -n in a repository of 40 files.
#
#   testdata/bench/grep.sh [DIR ...]
#
# Without a DIR it takes Go's source. RG_TEST names ripgreps to compare with,
# separated by colons, beside the one on PATH; RUNS how many turns (9). A tree
# of sources needs a .git directory, or ripgrep reads no .gitignore there.
. "$(dirname "$0")/beside.sh"
compare 'Grep'
