#!/usr/bin/env bash
# Opens the page of agentkit log --html in a real browser: its script runs under its own
# policy, a link opens a call, and nothing is asked of any server. Takes some five seconds;
# without Chromium it says so.
set -euo pipefail
cd "$(dirname "$0")/.."
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || { echo "SKIPPED: there is no Chromium on PATH"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o "$work/agentkit" .
export HOME=$work/home XDG_STATE_HOME=$work/state XDG_CONFIG_HOME=$work/config AGENTKIT_SANDBOX=off
mkdir -p "$HOME" "$work/root"
cd "$work/root"
"$work/agentkit" write a.txt '<b id=planted>one</b>' >/dev/null
"$work/agentkit" edit a.txt --old-string one --new-string '<script>document.title="planted"</script>' >/dev/null
"$work/agentkit" read none.txt >/dev/null || true
"$work/agentkit" log --html page.html >/dev/null
id=$("$work/agentkit" log --tool edit -o json | sed -n 's/.*"calls":\[{"id":"\([a-z0-9]*\)".*/\1/p')

look() { timeout 60 "$browser" --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$work/profile" --host-resolver-rules='MAP * ~NOTFOUND' --enable-logging=stderr "$@" 2>"$work/log"; }
look --dump-dom "file://$PWD/page.html#$id" >dom.html

wrong=0
want() { grep -qE "$2" dom.html || { echo "$1: no $2"; wrong=1; }; }
want "the script has opened the call of the link" "<details id=\"$id\"[^>]* open"
want "the difference is there" 'class="add">\+&lt;b id=planted&gt;&lt;script&gt;'
want "the call that failed is marked" 'class="call failed" data-tool="read"'
if grep -qE '<(b|script) id="?planted|<title>planted' dom.html; then echo "what a call held has become a part of the page"; wrong=1; fi
if grep -iE 'CONSOLE.*(error|refused|violat|uncaught)' "$work/log"; then echo "the browser complains"; wrong=1; fi
look --window-size=1200,900 --screenshot="$work/page.png" "file://$PWD/page.html" >/dev/null
[ "$(wc -c <"$work/page.png")" -gt 20000 ] || { echo "the page shows next to nothing"; wrong=1; }
[ $wrong = 0 ] && echo "the page works in $("$browser" --version 2>/dev/null | head -1)"
exit $wrong
