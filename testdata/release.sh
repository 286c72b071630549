#!/usr/bin/env bash
# release.sh makes a release of the commit that is checked out, twice and in two
# directories, compares them byte for byte, installs what comes out, and runs it.
# What was made stays in DIR, when one is named.
#
# Usage: release.sh [DIR]          everything that .goreleaser.yaml says; needs goreleaser
#        release.sh --short [DIR]  the binary of this platform, its npm package and its wheel
set -euo pipefail
cd "$(dirname "$0")/.."
top=$PWD short=
[ "${1:-}" != --short ] || { short=1 && shift; }
export GOFLAGS= CGO_ENABLED=0
work=$(mktemp -d) registry=
trap 'status=$?; [ -z "$registry" ] || kill "$registry"; rm -rf "$work"; exit $status' EXIT
platform=$(go env GOOS)-$(go env GOARCH)
fail() { echo "FAILED: $*"; exit 1; }
for place in "$work/one" "$work/another/directory"; do
	git clone -q "$top" "$place" # with the tags, without what is not committed
done

# What is made the second time is made in another time zone, with other rights for new
# files and, for root, on a machine of another name.
elsewhere=(env TZ=Asia/Tokyo)
! unshare --uts hostname elsewhere 2>/dev/null || elsewhere=(unshare --uts sh -c 'hostname elsewhere && exec "$@"' - "${elsewhere[@]}")
under=(env) # what programs are started with

# build DIR is what .goreleaser.yaml does for this platform.
build() {
	(cd "$1" && mkdir -p dist && "${under[@]}" go build -trimpath -buildvcs=true -ldflags '-s -w' -o dist/agentkit .)
}

# sums DIR are the hashes of what was made there.
sums() { (cd "$1" && find . -type f ! -name '*.json' ! -name '*.yaml' -print0 | sort -z | xargs -0 sha256sum); }

# packages DIR BINARY... makes the packages of npm and Python of OS-ARCH=BINARY.
packages() {
	local place=$1
	shift
	for kind in npm wheel; do
		"${under[@]}" python3 testdata/release/package.py "$kind" "$place/packages" "$version" "$@"
	done
}

if [ -n "$short" ]; then
	build "$work/one"
	agentkit=$work/one/dist/agentkit
	version=$("$agentkit" version | cut -d' ' -f2)
	packages "$work/one/dist" "$platform=$agentkit"
	other=$work/another/directory
	(umask 077 && under=("${elsewhere[@]}") && build "$other" && packages "$other/dist" "$platform=$other/dist/agentkit")
	diff <(sums "$work/one/dist") <(sums "$other/dist") || fail "two builds made different files"
	echo "$(sums "$work/one/dist" | wc -l) files are the same from two places"
else
	goreleaser=$(PATH=$PATH:$(go env GOPATH)/bin command -v goreleaser) ||
		fail "there is no goreleaser: go install github.com/goreleaser/goreleaser/v2@v2.16.0"
	# The second time also without a build cache, or it would copy what the first has compiled.
	make=("$goreleaser" release --snapshot --clean)
	echo "making everything"
	(cd "$work/one" && "${make[@]}" >"$work/log" 2>&1) || { tail -40 "$work/log"; exit 1; }
	echo "making everything elsewhere"
	(cd "$work/another/directory" && umask 077 && "${elsewhere[@]}" env "GOCACHE=$work/cache" "${make[@]}" >"$work/log" 2>&1) || { tail -40 "$work/log"; exit 1; }
	rm -rf "$work/cache"
	# A binary lies in dist/agentkit_OS_ARCH_VARIANT; the short form must make the same one.
	agentkit=$(echo "$work"/one/dist/agentkit_"${platform/-/_}"_*/agentkit)
	version=$("$agentkit" version | cut -d' ' -f2)
	build "$work/one"
	cmp "$work/one/dist/agentkit" "$agentkit" && rm "$work/one/dist/agentkit" || fail "go build makes another binary than goreleaser"
	for place in "$work/one/dist" "$work/another/directory/dist"; do
		binaries=()
		for binary in "$place"/agentkit_*_*_*/agentkit*; do
			name=$(basename "$(dirname "$binary")")
			IFS=_ read -r _ os arch _ <<<"$name"
			binaries+=("$os-$arch=$binary")
		done
		[ ${#binaries[@]} = 5 ] || fail "want binaries for five platforms: ${binaries[*]}"
		packages "$place" "${binaries[@]}"
	done
	diff <(sums "$work/one/dist") <(sums "$work/another/directory/dist") || fail "two runs made different files"
	echo "$(sums "$work/one/dist" | wc -l) files are the same in both directories"
fi
[ $# = 0 ] || cp -R "$work/one/dist" "$1"
echo "made: $version"

# runs COMMAND... checks that an installed agentkit is this one, and passes on standard input and status.
runs() {
	[ "$("$@" version)" = "$("$agentkit" version)" ] || fail "$*: another version"
	[ "$(cd "$work/home" && echo '{"path":"a.txt"}' | "$@" call read | python3 -c 'import json,sys; print(json.load(sys.stdin)["output"])')" = $'1\tone' ] || fail "$*: call read"
	local status=0
	(cd "$work/home" && "$@" bash --sandbox off --profile open 'exit 7') >"$work/log" || status=$?
	[ $status = 7 ] || fail "$*: exit status $status, not 7: $(cat "$work/log")"
	echo "runs: ${*/#$work\//}"
}
mkdir "$work/home"
echo one >"$work/home/a.txt"
export HOME=$work/home XDG_CONFIG_HOME=$work/home/.config XDG_STATE_HOME=$work/home/.state

if [ -z "$short" ] && command -v dpkg >/dev/null; then
	installed=$work/installed
	mkdir -p "$installed"/var/lib/dpkg/{info,updates,triggers}
	touch "$installed/var/lib/dpkg/status"
	dpkg --root="$installed" --force-not-root --log=/dev/null -i "$work"/one/dist/agentkit_*_"$(dpkg --print-architecture)".deb >"$work/log" 2>&1 || fail "dpkg: $(cat "$work/log")"
	runs "$installed/usr/bin/agentkit"
	for file in doc/agentkit/NOTICE man/man1/agentkit.1.gz bash-completion/completions/agentkit zsh/vendor-completions/_agentkit; do
		[ -s "$installed/usr/share/$file" ] || fail "the Debian package has no $file"
	done
fi
packages=$work/one/dist/packages
if command -v npm >/dev/null && command -v npx >/dev/null; then
	python3 testdata/release/registry.py "$packages" >"$work/address" &
	registry=$!
	for _ in $(seq 100); do [ -s "$work/address" ] || sleep 0.1; done
	address=$(cat "$work/address")
	export npm_config_registry=$address npm_config_cache=$work/npm npm_config_update_notifier=false
	runs npx --yes agentkit
	# The binary gets the signal that its launcher gets, and the launcher ends as it does.
	mkdir "$work/project"
	npm install --prefix "$work/project" --ignore-scripts --no-audit --no-fund --loglevel=error agentkit >/dev/null
	launcher=$work/project/node_modules/.bin/agentkit
	"$launcher" --root "$work/home" bash --sandbox off --profile open 'sleep 60' >"$work/log" &
	launched=$!
	for _ in $(seq 100); do pgrep -P "$launched" >/dev/null || sleep 0.1; done
	binary=$(pgrep -P "$launched")
	kill -TERM "$launched"
	status=0
	wait "$launched" || status=$?
	[ $status = 143 ] || fail "the launcher ends with $status, not 143"
	! kill -0 "$binary" 2>/dev/null || fail "the binary goes on without its launcher"
	# Without the platform's package it says so.
	rm -rf "$work/project/node_modules/@agentkit-go"
	status=0
	"$launcher" version 2>"$work/log" || status=$?
	[ $status = 125 ] && grep -q 'is not installed' "$work/log" || fail "without a binary: $status $(cat "$work/log")"
else
	echo "SKIPPED: there is no npm"
fi
if python3 -m venv "$work/venv" >"$work/log" 2>&1; then
	"$work/venv/bin/pip" install -q --disable-pip-version-check --no-index --find-links "$packages" agentkit
	runs "$work/venv/bin/agentkit"
else
	echo "SKIPPED: python3 makes no virtual environment: $(tail -1 "$work/log")"
fi
