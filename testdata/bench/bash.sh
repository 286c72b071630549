#!/usr/bin/env bash
# Prints what running a command through agentkit costs, beside bash alone:
# medians of whole processes run in turn, in milliseconds, without a sandbox and
# with one, beside bwrap and codex's sandbox where they are on PATH; the same where
# no namespaces are to be had, which is level 2 of the sandbox; the time of
# a long output beside a plain pipe and beside tee, which keeps it too; and the
# memory that agentkit needs for it. Root gives the processes real-time priority,
# so that other work on the machine counts for less.
#
#   testdata/bench/bash.sh [ROUNDS [MEGABYTES]]
set -euo pipefail
cd "$(dirname "$0")/../.."
rounds=${1:-40} megabytes=${2:-5000}
work=$(mktemp -d "${HOME:-/root}/agentkit-bench.XXXXXX") # commands may write in /tmp: our state is better elsewhere
trap 'rm -rf "$work"' EXIT
go build -o "$work/agentkit" .
mkdir "$work/root" "$work/files"
for d in {1..250}; do
	mkdir -p "$work/files/$((d % 20))/$d"
	(cd "$work/files/$((d % 20))/$d" && touch {1..20}.go)
done
export XDG_STATE_HOME=$work/state XDG_CONFIG_HOME=$work/config AGENTKIT="$work/agentkit"
cd "$work/root"
cat >"$work/calls.py" <<'PY'
import json, os, statistics, subprocess, sys, time
rounds = int(sys.argv[1])
agentkit = os.environ["AGENTKIT"]
level = json.loads(subprocess.run([agentkit, "bash", "true"], capture_output=True).stdout)["metadata"]["sandbox"]
rows = [("/bin/true", ["/bin/true"]), ("bash -c true", ["bash", "-c", "true"]),
        ("agentkit, no sandbox", [agentkit, "bash", "true", "--sandbox", "off"]),
        ("agentkit, sandbox " + level, [agentkit, "bash", "true"])]
if level == "L3" and subprocess.run(["sh", "-c", "command -v bwrap"], stdout=subprocess.DEVNULL).returncode == 0:
    rows.append(("bwrap", ["bwrap", "--ro-bind", "/", "/", "--unshare-all", "bash", "-c", "true"]))
if level == "L3" and subprocess.run(["sh", "-c", "command -v codex"], stdout=subprocess.DEVNULL).returncode == 0:
    rows.append(("codex sandbox", ["codex", "sandbox", "--", "bash", "-c", "true"]))
inside = {name: "." for name, _ in rows}
for name, argv in rows[3:]: # a sandbox may look at what it is in
    rows.append((name + ", 5,000 files", argv))
    inside[rows[-1][0]] = "../files"
try:
    os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(10))
except PermissionError:
    pass
jobs = [("agentkit, a job", [agentkit, "bash", "true", "--background", "--sandbox", "off"])]
took = {name: [] for name, _ in rows + jobs}
for some in rows, jobs: # jobs last: they go on beside what comes after them
    for _ in range(rounds):
        for name, argv in some:
            begin = time.perf_counter()
            subprocess.run(argv, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, cwd=inside.get(name))
            took[name].append((time.perf_counter() - begin) * 1e3)
rows += jobs
base = statistics.median(took["bash -c true"])
for name, _ in rows:
    m = statistics.median(took[name])
    print(f"{name:36} {m:8.2f} ms  least {min(took[name]):6.2f}  over bash -c true {m - base:+7.2f}")
subprocess.run([agentkit, "kill", "all"], stdout=subprocess.DEVNULL)
PY
python3 "$work/calls.py" "$rounds"
echo
first=()
chrt -r 10 true 2>/dev/null && first=(chrt -r 10) # in there it cannot be asked for
# shellcheck disable=SC2016 # the inner shell's
"${first[@]}" unshare -Ur sh -c 'echo 0 >/proc/sys/user/max_user_namespaces && exec setpriv --bounding-set=-all --inh-caps=-all --no-new-privs "$@"' \
	sh python3 "$work/calls.py" "$rounds" || echo "no place without namespaces can be made here"
echo
python3 - "$megabytes" <<'PY'
import os, resource, statistics, subprocess, sys, time
mb = int(sys.argv[1])
agentkit = os.environ["AGENTKIT"]
def run(argv):
    begin = time.perf_counter()
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    p = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    _, _, usage = os.wait4(p.pid, 0)
    return time.perf_counter() - begin, usage.ru_maxrss
line = "x" * 99
script = f"yes {line} | head -c {mb}000000"
kept = "tee-output"
pipes, tees, whole, short = [], [], [], []
for _ in range(5):
    pipes.append(run(["sh", "-c", f"({script}) | cat >/dev/null"])[0])
    tees.append(run(["sh", "-c", f"({script}) | tee {kept} >/dev/null"])[0])
    os.remove(kept)
    t, kb = run([agentkit, "bash", script, "--timeout-ms", "600000", "--profile", "open"])
    whole.append(t)
    subprocess.run("rm -rf $XDG_STATE_HOME/agentkit/*/*/spill", shell=True)
m = statistics.median
print(f"{mb} MB of output, up to the limit kept in a file: {m(whole) / m(pipes):.2f} x a pipe to cat, {m(whole) / m(tees):.2f} x tee; {kb / 1024:.1f} MB of memory")
PY
