#!/usr/bin/env bash
# Prints what running a command through agentkit costs, beside bash alone:
# medians of whole processes run in turn, in milliseconds, without a sandbox and
# with one; the time of a long output beside a plain pipe; and the memory that
# agentkit needs for it.
#
#   testdata/bench/bash.sh [ROUNDS [MEGABYTES]]
set -euo pipefail
cd "$(dirname "$0")/../.."
rounds=${1:-40} megabytes=${2:-1000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o "$work/agentkit" .
mkdir "$work/root"
export XDG_STATE_HOME=$work/state XDG_CONFIG_HOME=$work/config AGENTKIT="$work/agentkit"
cd "$work/root"
python3 - "$rounds" "$megabytes" <<'PY'
import os, resource, statistics, subprocess, sys, time
rounds, mb = int(sys.argv[1]), int(sys.argv[2])
agentkit = os.environ["AGENTKIT"]
rows = [("/bin/true", ["/bin/true"]), ("bash -c true", ["bash", "-c", "true"]),
        ("agentkit, no sandbox", [agentkit, "bash", "true", "--sandbox", "off"]),
        ("agentkit, sandbox", [agentkit, "bash", "true"]),
        ("agentkit, a job", [agentkit, "bash", "true", "--background", "--sandbox", "off"])]
if subprocess.run(["sh", "-c", "command -v bwrap"], stdout=subprocess.DEVNULL).returncode == 0:
    rows.append(("bwrap", ["bwrap", "--ro-bind", "/", "/", "--unshare-all", "bash", "-c", "true"]))
took = {name: [] for name, _ in rows}
for _ in range(rounds):
    for name, argv in rows:
        begin = time.perf_counter()
        subprocess.run(argv, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        took[name].append((time.perf_counter() - begin) * 1e3)
base = statistics.median(took["bash -c true"])
for name, _ in rows:
    m = statistics.median(took[name])
    print(f"{name:24} {m:8.2f} ms  least {min(took[name]):6.2f}  over bash -c true {m - base:+7.2f}")
subprocess.run([agentkit, "kill", "all"], stdout=subprocess.DEVNULL)

def run(argv):
    begin = time.perf_counter()
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    p = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    _, _, usage = os.wait4(p.pid, 0)
    return time.perf_counter() - begin, usage.ru_maxrss
line = "x" * 99
script = f"yes {line} | head -c {mb}000000"
ratio = []
for _ in range(3):
    pipe, _ = run(["sh", "-c", f"({script}) | cat >/dev/null"])
    ours, kb = run([agentkit, "bash", script, "--timeout-ms", "600000", "--profile", "open"])
    ratio.append(ours / pipe)
print(f"{mb} MB of output, kept in a file: {statistics.median(ratio):.2f} x a pipe to cat; {kb / 1024:.1f} MB of memory")
PY
