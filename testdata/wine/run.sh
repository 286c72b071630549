#!/usr/bin/env bash
# Runs the Windows build under wine: the tools by hand, and the tests that only
# Windows has. Without wine it says so and passes. wine 8 knows no symbolic
# links and no Unix sockets, and its PowerShell does nothing: these are not
# tried here.
set -euo pipefail
cd "$(dirname "$0")/../.."

if ! command -v wine >/dev/null || ! command -v wineserver >/dev/null; then
	echo "SKIPPED: no wine here, so nothing of the Windows build was run (apt-get install wine wine64)"
	exit 0
fi

work=$(mktemp -d)
export WINEPREFIX=$work/prefix WINEDEBUG=-all WINEARCH=win64 WINEDLLOVERRIDES="winemenubuilder.exe=d;mscoree=d;mshtml=d"
unset DISPLAY WAYLAND_DISPLAY
finish() {
	[ ! -d "$WINEPREFIX" ] || { wineserver -k || true; timeout 10 wineserver -w || true; }
	rm -rf "$work"
}
trap finish EXIT

# in_wine SECONDS PROGRAM ARGS runs a Windows program; what it leaves on its
# console is not ours.
in_wine() {
	local limit=$1
	shift
	HOME=$work timeout -k 2 "$limit" wine "$@" </dev/null
}

echo "== a Windows of its own"
in_wine 60 wineboot -i >/dev/null 2>&1
root=$WINEPREFIX/drive_c/proj
rm -rf "$WINEPREFIX"/drive_c/windows/system32/[Ww]indows[Pp]ower[Ss]hell # it would take commands, and do nothing
mkdir -p "$root/.git" "$root/Src" "$root/confidential-data"

# overlay changes in Go's own library what a wine before 8.13 lacks: the
# library that random bytes come from, and the newer of two ways to remove
# a file, which Go falls back from, but not on wine's answer.
overlay() {
	local src entries=""
	src=$(go env GOROOT)/src
	swap() { # FILE, then pairs of what stands there and what is to
		local file=$1 copy=$work/${1//\//_}
		shift
		cp "$src/$file" "$copy"
		while [ $# -gt 0 ]; do
			grep -qF -- "$1" "$copy" || { echo "$file has changed: it lacks $1"; exit 1; }
			FROM=$1 TO=$2 perl -pi -e 's/\Q$ENV{FROM}\E/$ENV{TO}/g' "$copy"
			shift 2
		done
		entries+="${entries:+,}\"$src/$file\":\"$copy\""
	}
	swap runtime/os_windows.go \
		"{'b', 'c', 'r', 'y', 'p', 't', 'p', 'r', 'i', 'm', 'i', 't', 'i', 'v', 'e', 's'," "{'a', 'd', 'v', 'a', 'p', 'i', '3', '2'," \
		'ProcessPrng\000' 'SystemFunction036\000'
	swap internal/syscall/windows/zsyscall_windows.go \
		'sysdll.Add("bcryptprimitives.dll")' 'sysdll.Add("advapi32.dll")' 'NewProc("ProcessPrng")' 'NewProc("SystemFunction036")'
	swap internal/syscall/windows/at_windows.go 'case STATUS_INVALID_INFO_CLASS,' 'case NTStatus(0xC0000002), STATUS_INVALID_INFO_CLASS,'
	echo "{\"Replace\":{$entries}}" >"$work/overlay.json"
	flags=(-overlay "$work/overlay.json")
}

echo "== build"
flags=()
if [ ! -e "$WINEPREFIX/drive_c/windows/system32/bcryptprimitives.dll" ]; then
	echo "this wine is older than Go's programs want: Go's library is changed for it"
	overlay
fi
exe=$work/agentkit.exe
CGO_ENABLED=0 GOOS=windows go build "${flags[@]}" -o "$exe" .
packages=(pkg/killtree pkg/workspace pkg/policy pkg/session cmd)
for p in pkg/job pkg/change; do
	if [ -n "$(find "$p" -name '*_windows_test.go')" ]; then packages+=("$p"); fi
done
for p in "${packages[@]}"; do
	CGO_ENABLED=0 GOOS=windows go test -c "${flags[@]}" -o "$work/${p##*/}.test.exe" "./$p"
done

began=$SECONDS
failed=0
last=""
out=""

# want STATUS TEXT ARGS: agentkit with ARGS, in the root, ends with STATUS and
# says TEXT. Nothing may take long, all together neither.
want() {
	local status=$1 text=$2 got=0
	shift 2
	last="agentkit $*"
	[ $((SECONDS - began)) -lt 80 ] || { echo "it takes too long: ended before $last"; exit 1; }
	# Into a file: under wine a job would hold a pipe of ours open.
	(cd "$root" && in_wine 20 "$exe" "$@") >"$work/out" 2>&1 || got=$?
	out=$(tr -d '\r' <"$work/out")
	if [ $got -eq 124 ] && [ "$status" -ne 124 ] || [ $got -eq 137 ]; then
		echo "it hangs: $last"
		exit 1
	fi
	[ $got -eq "$status" ] || wrong "status $got, want $status"
	[[ $out == *"$text"* ]] || wrong "want $text"
}
wrong() {
	echo "FAIL: $last: $1"
	printf '%s\n' "$out" | cut -c1-600
	failed=1
}
holds() { # FILE TEXT: exactly that, with the escapes of printf
	printf '%b' "$2" | cmp -s - "$root/$1" || { out=$(od -c "$root/$1" | head -5) && wrong "$1 should hold $2"; }
}
has_not() { [[ $out != *"$1"* ]] || wrong "it should not say $1"; }

printf '@echo {"decision":"allow"}\r\n' >"$WINEPREFIX/drive_c/yes.cmd"
printf '@echo one=%%1\r\n@echo two=%%2\r\n@exit /b 7\r\n' >"$root/args.cmd"
printf 'one\r\ntwo\r\nthree\r\n' >"$root/crlf.txt"
printf 'package main\n\nfunc main() {}\n' >"$root/Src/main.go"
printf '[core]\n' >"$root/.git/config"
printf 'KEY=1\n' >"$root/.env"
printf 's\n' >"$root/confidential-data/secret-numbers.txt"
cat >"$WINEPREFIX/drive_c/policy.yaml" <<'YAML'
version: 1
allow: ['bash(where *)']
deny: ['read(Confidential-Data/**)', 'edit(src/gen/**)']
tests:
  - {read: "CONFIDENTIAL-data/x", want: deny}
  - {read: "src/main.go", want: allow}
YAML
cmd=(bash --profile open '--ask=cmd:C:\yes.cmd' -o text)
policy=(--policy 'C:\policy.yaml' -o text)

echo "== about itself"
want 0 "windows/amd64" version
want 0 'C:\\windows\\system32\\cmd.exe' doctor
has_not owershell.exe
want 0 '"name": "outline"' tools --format json

echo "== files"
want 0 '"newline":"crlf"' read 'crlf.txt'
want 0 "func main" read -o text 'C:\proj\SRC\MAIN.GO'
want 0 "func main" read -o text '.\src/main.go'
want 0 "Edited" edit -o text CRLF.txt two $'2\n2b'
holds crlf.txt 'one\r\n2\r\n2b\r\nthree\r\n'
want 0 "Undone" undo -o text
holds crlf.txt 'one\r\ntwo\r\nthree\r\n'
want 0 "Updated" write -o text crlf.txt new
holds crlf.txt 'new'
want 0 "Created" write -o text 'deep\er\a.txt' a
want 0 "M Src/main.go" patch -o text $'*** Begin Patch\n*** Update File: src\\main.go\n@@\n-func main() {}\n+func main() { run() }\n*** Delete File: deep\\er\\a.txt\n*** End Patch'
want 0 "Undone: patch of 2 files" undo -o text
holds Src/main.go 'package main\n\nfunc main() {}\n'
holds deep/er/a.txt 'a'
want 0 "Src/main.go" glob -o text '**\*.go'
want 0 "3:func main" grep -o text func
want 0 "main.go" ls -o text Src
want 0 "func main" outline -o text 'Src\main.go'
want 0 "x (high)" todo -o text --json '{"todos":[{"id":"1","content":"x","status":"pending","priority":"high"}]}'
name=$(printf 'abcdefghij%.0s' {1..10})
want 0 "Created" write -o text "$name\\$name\\$name\\x.txt" long
want 0 "long" read -o text "$name/$name/$name/x.txt"

echo "== names that are not what they seem"
for name in NUL 'Src\aux.txt' 'CONIN$' 'new.txt:stream' 'a:stream' 'crlf.txt::$DATA' 'new.txt.' 'Src.\x' '.git::$INDEX_ALLOCATION\config' '\new.txt' 'C:new.txt' '\\.\C:\x' '\\?\C:\proj\x' '\\nowhere.invalid\share\x'; do
	want 2 "not a usable path" write -o text "$name" x
done
for name in '.GIT\config' 'Src\..\.git\CONFIG' 'C:\PROJ\.git\config' 'GIT~1\config'; do
	want 126 "protected: .git/config" write -o text "$name" x
done
want 126 "may hold secrets" read -o text 'c:\proj\.ENV'
want 126 "read(Confidential-Data/**)" read 'confidential-data\secret-numbers.txt' "${policy[@]}"
want 126 "edit(src/gen/**)" write 'SRC\Gen\x' x "${policy[@]}"
want 0 "~" "${cmd[@]}" --shell cmd 'dir /x /a'
dir=$(awk '$NF=="confidential-data" {print $(NF-1)}' <<<"$out")
git=$(awk '$NF==".git" {print $(NF-1)}' <<<"$out")
want 126 "read(Confidential-Data/**)" read "$dir\\secret-numbers.txt" "${policy[@]}"
want 126 "protected: .git/config" write -o text "$git\\config" x
holds .git/config '[core]\n'

echo "== policy"
want 0 "C:\\proj\\.env" policy explain -o text read .env
want 0 "nothing found" policy lint "${policy[@]}"
want 0 "" policy test 'C:\policy.yaml'

echo "== commands"
want 126 "nothing was run" bash -o text 'echo x>ran'
[ ! -e "$root/ran" ] || wrong "it ran"
want 125 "powershell" bash -o text --shell powershell 'x'
want 3 '"a & b" c' "${cmd[@]}" 'echo "a & b" c& exit 3'
want 0 "C:\\proj\\Src" "${cmd[@]}" --workdir SRC cd
want 0 "[bar]" "${cmd[@]}" --env FOO=bar 'echo [%FOO%]'
want 0 "from stdin" "${cmd[@]}" --stdin $'from stdin\n' more
GITHUB_TOKEN=ghp_0123456789abcdefghijklmnopqrstuvwxyz want 0 "[%GITHUB_TOKEN%]" bash '--ask=cmd:C:\yes.cmd' -o text 'echo [%GITHUB_TOKEN%]'
want 125 "first line" "${cmd[@]}" $'echo a\necho b'
want 7 $'one="a&echo"\ntwo="b c"' "${cmd[@]}" --json '{"argv":["./args.cmd","a&echo","b c"]}'
want 125 "a batch file cannot be given" "${cmd[@]}" --json '{"argv":["./args.cmd","\"&echo"]}'
want 125 "cannot be found" "${cmd[@]}" --json '{"argv":["nosuch.exe"]}'
want 0 "" bash --json '{"argv":["where","cmd"]}' "${policy[@]}"
want 0 '"argv":["C:\\windows\\system32\\cmd.exe","/d","/s","/c","echo x>ran"]' bash --dry-run 'echo x>ran'
[ ! -e "$root/ran" ] || wrong "it ran"
want 124 "before" "${cmd[@]}" --timeout-ms 1000 --grace-ms 100 'echo before& ping -n 60 127.0.0.1 >nul'
want 0 "left something running, which was ended" "${cmd[@]}" 'start /b ping -n 60 127.0.0.1 >nul& echo started'

echo "== killed"
# All that a command started ends with agentkit, however that ends.
n=$((2000 + $$ % 1000))
(cd "$root" && in_wine 20 "$exe" "${cmd[@]}" "ping -n $n 127.0.0.1 >nul") >"$work/out" 2>&1 &
last="agentkit, killed while it ran ping -n $n"
# there STATUS waits, ten seconds at most, until ping runs, or runs no more.
there() {
	for _ in {1..50}; do
		local got=0
		pgrep -f "^ping -n $n 127" >/dev/null || got=$?
		[ $got -ne "$1" ] || return 0
		sleep 0.2
	done
	out=$(cat "$work/out") && wrong "ping should $([ "$1" -eq 0 ] || echo not) run"
}
there 0
kill -KILL "$(pgrep -f "^$exe .*ping -n $n")" || wrong "it is not there"
there 1
wait || true

echo "== jobs"
if [ -e pkg/job/socket_windows.go ]; then
	want 0 '"job":"' bash --profile open '--ask=cmd:C:\yes.cmd' --background 'echo ready& ping -n 60 127.0.0.1 >nul'
	job=$(grep -o '"job":"[^"]*' <<<"$out" | cut -d'"' -f4)
	want 0 "$job  running" jobs -o text
	want 0 "ready" output -o text "$job" --wait=false
	want 0 "has ended: aborted" kill -o text "$job" --grace-ms 100
	want 0 '"job":"' bash --profile open '--ask=cmd:C:\yes.cmd' --background 'set /p A=& set A'
	job=$(grep -o '"job":"[^"]*' <<<"$out" | cut -d'"' -f4)
	want 0 "A=typed" input -o text "$job" --text $'typed\n' --yield-ms 5000
else
	echo "SKIPPED: jobs need Unix sockets, which wine does not have"
fi

echo "== the tests that only Windows has"
# tests PACKAGE PATTERN runs tests where their package lies.
tests() {
	[[ " ${packages[*]} " == *" $1 "* ]] || return 0
	last="the tests of $1"
	local got=0
	(cd "$1" && in_wine 40 "$work/${1##*/}.test.exe" -test.timeout 30s -test.v -test.run "^($2)\$") >"$work/out" 2>&1 || got=$?
	out=$(tail -40 "$work/out" | tr -d '\r')
	[ $got -eq 0 ] || wrong "they fail"
	[[ $out == *"--- PASS"* ]] || wrong "nothing was tested"
}
tests pkg/killtree 'TestCommandOf|TestBatchOf|TestCmdReadsTheCommand|TestBatchFileGetsNoCommand|TestEndReachesWhatWasStarted'
tests pkg/workspace 'TestOneNameForOneFile|TestNamesOfTheSystem|TestSharesOfOurs|TestReplaceWhatWasRead|TestLockDiesWithItsHolder|TestKilledWriting|TestWriteOptions|TestWriteHardLink|TestReading'
tests pkg/policy 'TestProgramsInAnotherCase|TestLongPaths'
tests pkg/session 'TestUpdate|TestSessionsAreIsolated|TestLockWaitsForContext|TestSpillTotalHoldsAmongWriters'
tests pkg/job 'TestPipe'
tests pkg/change 'TestKeptModes'
tests cmd 'TestFindShellOfWindows|TestProgramsByOneName|TestVariablesInAnyCase'

[ $failed -eq 0 ] || exit 1
echo "the Windows build works under $(wine --version): $((SECONDS - began)) s after the build"
