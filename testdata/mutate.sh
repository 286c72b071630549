#!/usr/bin/env bash
# Breaks the product in the ways that testdata/mutate/mutations.txt lists and
# runs the test that has to notice; says which none notices.
#
#   testdata/mutate.sh [-list] [-tested] [-for TIME] [PART OF A FILE'S NAME]...
set -euo pipefail
cd "$(dirname "$0")/.."
exec go run ./testdata/mutate "$@"
