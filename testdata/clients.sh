#!/usr/bin/env bash
# clients.sh lets a scripted model do the task of testdata/clients/task.json through
# the TypeScript clients of examples/, with the packages that they are written for. The
# other clients need no packages: TestClients runs them.
#
# Usage: clients.sh [AGENTKIT]
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for program in node npm python3; do
	command -v "$program" >/dev/null || { echo "SKIPPED: there is no $program"; exit 0; }
done
mkdir -p "$work/testdata" "$work/examples"
cp -R testdata/clients "$work/testdata/"
cp -R examples/typescript examples/fix-a-bug "$work/examples/"
cp testdata/clients/package.json testdata/clients/tsconfig.json "$work/"
agentkit=${1:-$work/agentkit}
[ $# -gt 0 ] || GOFLAGS=-buildvcs=false go build -o "$agentkit" .
cd "$work"
if ! npm install --omit=optional --no-audit --no-fund --no-package-lock --loglevel=error >npm.log 2>&1; then
	tail -5 npm.log
	grep -qE 'ENOTFOUND|ETIMEDOUT|ECONNREFUSED|EAI_AGAIN' npm.log || exit 1
	echo "SKIPPED: npm's registry is not to be reached"
	exit 0
fi
node_modules/.bin/tsc -p . --outDir out
node out/testdata/clients/drive.js "$agentkit" "$work/testdata/clients"
