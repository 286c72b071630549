#!/usr/bin/env bash
# Compares a small read at another place with what the carrier itself takes: ssh HOST cat FILE over
# a shared connection, and agentkit --on ssh://HOST read FILE over a kept one, beside agentkit read
# here. An OpenSSH server on a loopback port is started for it, with keys of its own.
# Prints the lower quartiles in milliseconds.
#
#   testdata/bench/remote.sh [ROUNDS]
set -euo pipefail
rounds=${1:-100}
cd "$(dirname "$0")/../.."
sshd=/usr/sbin/sshd
[ -x "$sshd" ] || { echo "SKIPPED: no sshd on this machine" >&2; exit 0; }
work=$(mktemp -d /tmp/ak.XXXXXX)
server=
trap 'rm -rf "$work/state"; [ -z "$server" ] || kill "$server"; ssh -F "$work/ssh_config" -O exit there 2>/dev/null || :; sleep 1.5; rm -rf "$work"' EXIT
go build -ldflags=-s -o "$work/built" .
cp "$work/built" "$work/agentkit" # what the linker has just written starts slower
mkdir "$work/root" "$work/home" "$work/state"
chmod 700 "$work/state"
echo one >"$work/root/a.txt"
for key in host own; do ssh-keygen -q -t ed25519 -N '' -f "$work/$key"; done
[ "$(id -u)" != 0 ] || mkdir -p /run/sshd
port=$((20000 + RANDOM % 20000))
cat >"$work/sshd_config" <<END
ListenAddress 127.0.0.1:$port
HostKey $work/host
AuthorizedKeysFile $work/own.pub
PidFile none
StrictModes no
UsePAM no
SetEnv HOME=$work/home
END
cat >"$work/ssh_config" <<END
Host there
  HostName 127.0.0.1
  Port $port
  User $(id -un)
  IdentityFile $work/own
  StrictHostKeyChecking accept-new
  UserKnownHostsFile $work/known
  LogLevel ERROR
  ControlMaster auto
  ControlPath $work/master
  ControlPersist 60
END
mkdir "$work/bin"
printf '#!/bin/sh\nexec %s -F %s/ssh_config "$@"\n' "$(command -v ssh)" "$work" >"$work/bin/ssh"
chmod 700 "$work/bin/ssh"
PATH=$work/bin:$PATH
"$sshd" -D -e -f "$work/sshd_config" 2>"$work/log" &
server=$!
until grep -q listening "$work/log"; do sleep 0.05; done
export AGENTKIT_STATE=$work/state
on=ssh://there$work/root
"$work/agentkit" --on "$on" read a.txt >/dev/null
for _ in $(seq 100); do compgen -G "$work/state/kept/*" | grep -qv lock && break; sleep 0.05; done
cd "$work/root"
python3 - "$rounds" "$work" "$on" <<'END'
import os, subprocess, sys, time
rounds, work, on = int(sys.argv[1]), sys.argv[2], sys.argv[3]
ak = work + "/agentkit"
ways = {
    "ssh host cat, shared connection": ["ssh", "there", "cat", work + "/root/a.txt"],
    "agentkit --on read": [ak, "--on", on, "read", "a.txt"],
    "agentkit read, here": [ak, "read", "a.txt"],
}
took = {w: [] for w in ways}
for _ in range(rounds):
    for way, argv in ways.items():
        begun = time.perf_counter()
        subprocess.run(argv, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, check=True)
        took[way].append(1000 * (time.perf_counter() - begun))
for way, list in took.items():
    list.sort()
    print(f"{way:34} {list[len(list) // 4]:6.2f} ms")
END
