#!/bin/sh
# Compares listings of a directory of 100,000 files with ls, turn by turn. RUNS
# says how many turns (9).
. "$(dirname "$0")/beside.sh"
compare 'ListProcess'
