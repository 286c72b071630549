#!/usr/bin/env bash
# Prints what it costs that commands which take something away can be taken back: beside
# bash alone, agentkit that keeps nothing (undo.commands: off) and agentkit as it is, and
# then undo, in milliseconds: medians of whole processes run in turn, and the least.
#
#   testdata/bench/transact.sh [ROUNDS [FILES]]
set -euo pipefail
cd "$(dirname "$0")/../.."
rounds=${1:-7} files=${2:-30000}
work=$(mktemp -d "${HOME:-/root}/agentkit-bench.XXXXXX") # the state lies on the same file system as the roots
trap 'rm -rf "$work"' EXIT
go build -o "$work/agentkit" .
export XDG_STATE_HOME=$work/state XDG_CONFIG_HOME=$work/config AGENTKIT="$work/agentkit" GIT_OPTIONAL_LOCKS=0
echo 'undo: {commands: off}' >"$work/off.yaml"
cat >"$work/costs.py" <<'PY'
import json, os, shutil, statistics, subprocess, sys, time
work, rounds, many = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
agentkit = os.environ["AGENTKIT"]
quiet = dict(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)

def fill(top, n):
    for i in range(0, n, 100):
        os.makedirs(f"{top}/{i // 1000}/{i}", exist_ok=True)
        for f in range(i, min(i + 100, n)):
            with open(f"{top}/{i // 1000}/{i}/{f}.txt", "w") as out:
                out.write(f"file {f}\n")

def took(argv, cwd):
    begin = time.perf_counter()
    p = subprocess.run(argv, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    return (time.perf_counter() - begin) * 1e3, p

ways = [("bash", ["bash", "-c"]), ("nothing kept", [agentkit, "--policy", work + "/off.yaml", "--allow", "bash(rm *)", "--allow", "bash(git checkout *)", "bash"]), ("kept", [agentkit, "bash"])]
print(f"{'root':>7} {'command':24}" + "".join(f"{name:>22}" for name, _ in ways) + f"{'undo':>18}")
for n in 100, 5000, 78000:
    root = f"{work}/root{n}"
    fill(root + "/src", n)
    with open(root + "/.gitignore", "w") as out:
        out.write("/dist\n")
    subprocess.run("git init -q && git add -A && git -c user.name=a -c user.email=a commit -qm one", shell=True, cwd=root, check=True, **quiet)
    cases = [("true", None), ("git status", None), ("rm -rf dist", 100), ("git checkout -- .", 0)]
    if n == 100:
        cases.append(("rm -rf dist", many))
    for command, dist in cases:
        times = {name: [] for name, _ in ways}
        back = []
        for _ in range(rounds if n < 78000 else max(rounds // 3, 1)):
            for name, argv in ways:
                if dist:
                    shutil.rmtree(root + "/dist", ignore_errors=True)
                    fill(root + "/dist", dist)
                if dist == 0:
                    with open(root + "/src/0/0/0.txt", "a") as out:
                        out.write("more\n")
                ms, p = took(argv + [command], root)
                if p.returncode != 0:
                    sys.exit(f"{command}: {p.stdout.decode()}")
                times[name].append(ms)
                if name == "kept" and dist is not None:
                    ms, p = took([agentkit, "undo"], root)
                    if p.returncode != 0 or dist and not os.path.exists(root + "/dist"):
                        sys.exit(f"undo of {command}: {p.stdout.decode()}")
                    back.append(ms)
        shown = command + (f", {dist} files" if dist else "")
        cells = "".join(f"{statistics.median(t):12.1f} ({min(t):7.1f})" for t in times.values())
        print(f"{n:7} {shown:24}{cells}" + (f"{statistics.median(back):9.1f} ({min(back):6.1f})" if back else ""))
PY
python3 "$work/costs.py" "$work" "$rounds" "$files"
