#!/usr/bin/env bash
# servers.sh waits for real programs that serve and read their input: vite and nodemon from
# npm, with and without a terminal, node's and python's prompts, and create-vite's menu. A
# call returns soon after what they print, a later one waits, a prompt is told, and nothing
# else is taken for one.
#
# Usage: servers.sh [AGENTKIT]
set -euo pipefail
cd "$(dirname "$0")/.."
for program in node npm python3; do
	command -v "$program" >/dev/null || { echo "SKIPPED: there is no $program"; exit 0; }
done
work=$(mktemp -d)
work=$(cd "$work" && pwd -P)
mkdir -p "$work"/{root,home,tmp}
agentkit=${1:-$work/agentkit}
[ $# -gt 0 ] || GOFLAGS=-buildvcs=false go build -o "$agentkit" .
python=$(python3 -c 'import sys; print(sys.executable)')
[ -d "$HOME/.npm" ] && export npm_config_cache=$HOME/.npm
cd "$work/root"
trap '"$agentkit" kill all >/dev/null 2>&1 || true; chmod -R u+w "$work"; rm -rf "$work"' EXIT
if ! npm install --no-audit --no-fund --no-package-lock --loglevel=error vite@8.3.8 nodemon@3.1.14 create-vite@9.3.0 >"$work/npm.log" 2>&1; then
	tail -5 "$work/npm.log"
	grep -qE 'ENOTFOUND|ETIMEDOUT|ECONNREFUSED|EAI_AGAIN' "$work/npm.log" || exit 1
	echo "SKIPPED: npm's registry is not to be reached"
	exit 0
fi
export HOME=$work/home TMPDIR=$work/tmp XDG_STATE_HOME=$work/state XDG_CONFIG_HOME=$work/config
export AGENTKIT_PROFILE=open PATH=$work/root/node_modules/.bin:$PATH
printf '<h1>one</h1>\n<script type=module src=/main.js></script>\n' >index.html
echo 'console.log(1)' >main.js
echo 'setInterval(() => {}, 1e6); console.log("app up")' >server.js
echo 'throw new Error("boom")' >bad.js

# fails WORDS...: says what was seen, and ends.
fails() {
	printf '%s\nof agentkit %s, after %d ms:\n%s\n' "$*" "$call" "$took" "$result"
	exit 1
}

# calls ARGUMENTS...: makes a call; result, took and job are of it.
calls() {
	local begin
	call=$* begin=$(date +%s%N)
	result=$("$agentkit" "$@") || true
	took=$((($(date +%s%N) - begin) / 1000000))
	job=$(sed -nE 's/.*"job":"([a-z0-9]+)".*/\1/p' <<<"$result")
}

# has and lacks look for a text in the result.
has() { for text in "$@"; do case $result in *"$text"*) ;; *) fails "There is no '$text'" ;; esac done; }
lacks() { for text in "$@"; do case $result in *"$text"*) fails "There is '$text'" ;; esac done; }

# within FROM TO: the call took so long, in milliseconds.
within() { [ "$took" -ge "$1" ] && [ "$took" -le "$2" ] || fails "It should take $1 to $2 ms"; }

limit=90000 # of a wait; what returns in half of it has not waited it out
soon=$((limit / 2))

# server [FLAGS...] -- COMMAND TEXT...: the server runs, has said the texts, and is not
# taken to wait for input, neither now nor later.
server() {
	local flags=()
	while [ "$1" != -- ]; do flags+=("$1") && shift; done
	calls bash "${flags[@]}" --yield-ms $limit "$2"
	shift 2
	has '"status":"running"' "$@"
	lacks '"waiting"'
	within 0 $soon
	served=$job
	calls output "$served" --timeout-ms 4000
	has '"status":"running"'
	lacks '"waiting"'
	within 4000 $soon
}

for flag in --split=false --tty; do # the first says nothing new
	server $flag -- vite 'ready in' 'Local:'
	(sleep 2 && echo '<h1>two</h1>' >>index.html) &
	calls output "$served" --timeout-ms $limit
	wait $!
	has 'page reload index.html'
	within 1000 $soon
	calls output "$served" --until 'ready in' --grep 'Local|ready' --offset 0 --timeout-ms $limit
	has 'ready in' '"until":'
	lacks 'page reload'
	within 0 $soon
	calls kill "$served"

	server $flag -- 'nodemon server.js' 'starting' 'app up'
	(sleep 2 && echo '// changed' >>server.js) &
	calls output "$served" --timeout-ms $limit
	wait $!
	has 'restarting due to changes' 'app up'
	within 1000 $soon
	calls input "$served" --text rs --keys enter --yield-ms $limit
	has 'app up'
	within 0 $soon
	calls kill "$served"

	server $flag -- 'nodemon bad.js' 'Error: boom' 'app crashed'
	calls kill "$served"
done
calls bash --until 'Local: +http' --yield-ms $limit vite
has '"until":"  ➜  Local:   http'
within 0 $soon

# What asks does wait: a prompt, a question, a menu.
asks() {
	calls bash --tty --yield-ms $limit "$1"
	has '"status":"running"' "${@:2}"
	within 0 $soon
}
asks node '"waiting":{' '"last_line":">"'
asks "$python -q" '"waiting":{' '"last_line":">>>"'
asks 'npm init' 'package name:'
asks create-vite 'Project name'
asked=$job
calls input "$asked" --text there --keys enter --yield-ms $limit
has 'Select a framework'
within 0 $soon
calls bash --yield-ms $limit "$python -c 'print(input())'"
has '"waiting":{'
within 0 $soon
calls kill all
echo "ok"
