#!/usr/bin/env bash
# Prints what it costs that commands which take something away can be taken back: beside
# bash alone, agentkit that keeps nothing (undo.commands: off) and agentkit as it is, and
# then undo, in milliseconds: medians of whole processes run in turn, and of their
# processor time, which another load on the machine changes less. It ends after SECONDS:
# of what is not reached by then it says so, and of the rest it takes fewer rounds.
#
#   testdata/bench/transact.sh [ROUNDS [FILES [SECONDS [ROOTS]]]]
#
# ROOTS are the numbers of files in the roots: "100 5000 78000".
set -euo pipefail
cd "$(dirname "$0")/../.."
rounds=${1:-7} files=${2:-30000} seconds=${3:-600} roots=${4:-100 5000 78000}
work=$(mktemp -d "${HOME:-/root}/agentkit-bench.XXXXXX") # the state lies on the same file system as the roots
trap 'rm -rf "$work"' EXIT
go build -o "$work/agentkit" .
export XDG_CONFIG_HOME=$work/config AGENTKIT="$work/agentkit" GIT_OPTIONAL_LOCKS=0
echo 'undo: {commands: off}' >"$work/off.yaml"
cat >"$work/costs.py" <<'PY'
import os, shutil, statistics, subprocess, sys, time
work, rounds, many, seconds, *roots = sys.argv[1], *map(int, sys.argv[2:])
agentkit, begun = os.environ["AGENTKIT"], time.monotonic()

def fill(top, n):
    for i in range(0, n, 100):
        os.makedirs(f"{top}/{i // 1000}/{i}", exist_ok=True)
        for f in range(i, min(i + 100, n)):
            with open(f"{top}/{i // 1000}/{i}/{f}.txt", "w") as out:
                out.write(f"file {f}\n")

def write(name, text):
    os.makedirs(os.path.dirname(name), exist_ok=True)
    with open(name, "w") as out:
        out.write(text)

def took(argv, cwd):
    """milliseconds of wall and of processor time"""
    # What is remembered of a root is so for one policy: each way has a state of its own.
    env = dict(os.environ, XDG_STATE_HOME=work + ("/state-off" if work + "/off.yaml" in argv else "/state"))
    begin = time.perf_counter()
    p = subprocess.Popen(argv, cwd=cwd, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    said = p.stderr.read().decode()
    _, status, used = os.wait4(p.pid, 0)
    p.returncode = os.waitstatus_to_exitcode(status)
    if p.returncode != 0:
        sys.exit(f"{argv}: {p.returncode}: {said}")
    return (time.perf_counter() - begin) * 1e3, (used.ru_utime + used.ru_stime) * 1e3

def cell(times):
    wall, cpu = zip(*times)
    return f"{statistics.median(wall):11.1f} {statistics.median(cpu):9.1f}"

ways = [
    ("bash", ["bash", "-c"]),
    ("nothing kept", [agentkit, "--policy", work + "/off.yaml", *(w for r in ("rm *", "git checkout *", "go build *", "npm install *") for w in ("--allow", f"bash({r})")), "bash"]),
    ("kept", [agentkit, "--allow", "bash(go build *)", "--allow", "bash(npm install *)", "bash"]),
]
print(f"{'root':>7} {'command':26}" + "".join(f"{name + ': wall, cpu':>22}" for name, _ in ways) + f"{'undo: wall, cpu':>22}{'rounds':>7}")
for nth, n in enumerate(roots, 1):
    end = begun + seconds * nth / len(roots) # each root has its share
    if time.monotonic() > end:
        print(f"{n:7} not reached in {seconds} s")
        continue
    root = f"{work}/root{n}"
    fill(root + "/src", n)
    write(root + "/.gitignore", "/dist\n/node_modules\n/app/app\n")
    write(root + "/app/go.mod", "module example.org/app\n\ngo 1.21\n")
    write(root + "/app/main.go", 'package main\n\nimport "fmt"\n\nfunc main() { fmt.Println("app") }\n')
    write(root + "/part/package.json", '{"name": "part", "version": "1.0.0"}\n')
    write(root + "/package.json", '{"name": "app", "version": "1.0.0", "dependencies": {"part": "file:./part"}}\n')
    subprocess.run("git init -q && git add -A && git -c user.name=a -c user.email=a commit -qm one", shell=True, cwd=root, check=True, stdout=subprocess.DEVNULL)
    dist = lambda files: lambda: (shutil.rmtree(root + "/dist", ignore_errors=True), fill(root + "/dist", files))
    cases = [("true", None, False), ("git status", None, False), (f"rm -rf dist, 100 files", dist(100), True), (f"rm -rf dist, {many} files", dist(many), True)]
    cases.append(("git checkout -- .", lambda: write(root + "/src/0/0/0.txt", f"more {time.time()}\n"), True))
    if shutil.which("go"):
        cases.append(("go build -C app -o app .", None, False))
    if shutil.which("npm"):
        cases.append(("npm install --offline --no-audit --no-fund", lambda: shutil.rmtree(root + "/node_modules", ignore_errors=True), False))
    for shown, prepare, comes_back in cases:
        command = shown.split(",")[0]
        times, back, done = {name: [] for name, _ in ways}, [], 0
        for _ in range(rounds):
            if time.monotonic() > end:
                break
            for name, argv in ways:
                if prepare:
                    prepare()
                times[name].append(took(argv + [command], root))
                if name == "kept" and comes_back:
                    back.append(took([agentkit, "undo"], root))
                    if "dist" in command and not os.path.exists(root + "/dist/0/0/99.txt"):
                        sys.exit(f"{command}: undo brought nothing back")
            done += 1
        if not done:
            print(f"{n:7} {shown[:26]:26} not reached in {seconds} s")
            continue
        print(f"{n:7} {shown[:26]:26}" + "".join(cell(t) + " " for t in times.values()) + (cell(back) if back else " " * 21) + f"{done:7}", flush=True)
    shutil.rmtree(root)
PY
python3 "$work/costs.py" "$work" "$rounds" "$files" "$seconds" $roots
