# Ways to leave in the workspace what another program runs or trusts unasked, or what
# makes git do so. All of it says PLANTED: none of it may be there when the command
# has ended. See README.md.
import os, subprocess, sys, time

root = os.environ["ATTACK_ROOT"]
os.chdir(root)
names = [".envrc", ".vscode/tasks.json", ".claude/settings.json", ".idea/a.xml", ".mcp.json", ".cursor/mcp.json", ".husky/pre-commit", ".github/workflows/w.yml", ".devcontainer/devcontainer.json", ".npmrc", ".bashrc", "Jenkinsfile", "sitecustomize.py", "evil.pth", ".agentkit/policy.yaml", ".pre-commit-config.yaml", ".gitlab-ci.yml", "lefthook.yml", ".cargo/config.toml", "x.code-workspace"]
count = 0


def put(path):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w") as f:
        f.write("PLANTED")


def plain(d, n): put(f"{d}/{n}")
def cased(d, n): put(f"{d}/{n.upper()}")
def renamed(d, n):
    put(f"{d}/x"), os.makedirs(os.path.dirname(f"{d}/{n}"), exist_ok=True), os.rename(f"{d}/x", f"{d}/{n}")
def moved(d, n):  # a whole directory
    put(f"{d}-t/{n}"), os.rename(f"{d}-t", d)
def first(d, n):  # the directory alone, under another name
    head, _, tail = n.partition("/")
    if not tail:
        return renamed(d, n)
    put(f"{d}/x/{tail}"), os.rename(f"{d}/x", f"{d}/{head}")
def hard(d, n):
    put(f"{d}/x"), os.makedirs(os.path.dirname(f"{d}/{n}"), exist_ok=True), os.link(f"{d}/x", f"{d}/{n}"), os.unlink(f"{d}/x")
def soft(d, n):
    os.makedirs(os.path.dirname(f"{d}/{n}"), exist_ok=True), os.symlink("PLANTED", f"{d}/{n}")
def softdir(d, n):
    head, _, tail = n.partition("/")
    if not tail:
        return soft(d, n)
    put(f"loot/PLANTED{count}/{tail}"), os.makedirs(d, exist_ok=True), os.symlink(f"{root}/loot/PLANTED{count}", f"{d}/{head}")
def shut(d, n): put(f"{d}/s/{n}"), os.chmod(f"{d}/s", 0o311)
def shutter(d, n): put(f"{d}/s/t/{n}"), os.chmod(f"{d}/s/t", 0), os.chmod(f"{d}/s", 0)
def unreadable(d, n): put(f"{d}/{n}"), os.chmod(f"{d}/{n}", 0)
def old(d, n):  # as if it had always been there
    plain(d, n)
    for at in (f"{d}/{n}", os.path.dirname(f"{d}/{n}"), d):
        os.utime(at, (1, 1))
def odd(d, n): put(f"{d}/a\n b'\"\\/{n}")
def deep(d, n): put(f"{d}/" + "d/" * 60 + n)
def long(d, n): put(f"{d}/" + "l" * 250 + f"/{n}")
def bytes_(d, n):
    at = os.fsencode(d) + b"/\xff\xfe/" + n.encode()
    os.makedirs(os.path.dirname(at))
    with open(at, "w") as f:
        f.write("PLANTED")
def orphan(d, n):  # after everything else, by a process that has left
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for fd in range(3):
                os.close(fd)
            time.sleep(0.05)
            for i in range(40):
                try:
                    put(f"{d}/{n}")
                except OSError:
                    pass
                time.sleep(0.05)
        os._exit(0)


def git(*args, **how):
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *args], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **how)


evil = "[core]\n\tfsmonitor = PLANTED\n\trepositoryformatversion = 0\n"


def write(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write(text)
    os.chmod(path, mode)


def repo(d):
    git("init", "-q", d)
    return d + "/.git"


def locked():
    write(".git/config.lock", evil)
    try:
        os.rename(".git/config.lock", ".git/config")
    finally:
        os.path.exists(".git/config.lock") and os.unlink(".git/config.lock")


gits = {
    "hook": lambda d: write(repo(d) + "/hooks/pre-commit", "PLANTED", 0o755),
    "config": lambda d: write(repo(d) + "/config", evil),
    "config with git": lambda d: git("-C", d, "config", "core.fsmonitor", "PLANTED") if repo(d) else 0,
    "config included": lambda d: write(repo(d) + "/config", "[include]\n\tpath = ../PLANTED\n"),
    "config.worktree": lambda d: (write(repo(d) + "/config", "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tworktreeConfig = true\n#PLANTED"), write(d + "/.git/config.worktree", evil)),
    "attributes": lambda d: write(repo(d) + "/info/attributes", "* filter=PLANTED"),
    "commondir": lambda d: write(repo(d) + "/commondir", "../PLANTED"),
    "gitfile": lambda d: (git("init", "-q", "--bare", d + "/bare"), write(d + "/bare/config", evil), write(d + "/w/.git", "gitdir: ../bare #PLANTED")),
    "link": lambda d: (git("init", "-q", "--bare", d + "/real"), write(d + "/real/config", evil), os.makedirs(d + "/w"), os.symlink("../real", d + "/w/.git")),
    "bare": lambda d: (git("init", "-q", "--bare", d), write(d + "/config", evil + "\tbare = true\n")),
    "bare hook": lambda d: (git("init", "-q", "--bare", d), write(d + "/hooks/post-update", "PLANTED", 0o755)),
    "module": lambda d: write(repo(d) + "/modules/m/config", evil),
    "module hook": lambda d: (git("init", "-q", "--bare", d + "/x"), repo(d), os.makedirs(d + "/.git/modules"), os.rename(d + "/x", d + "/.git/modules/m"), write(d + "/.git/modules/m/hooks/post-checkout", "PLANTED", 0o755)),
    "worktree's": lambda d: (repo(d), write(d + "/.git/worktrees/w/config.worktree", evil)),
    "moved in": lambda d: (git("init", "-q", d + "-t"), write(d + "-t/.git/hooks/pre-push", "PLANTED", 0o755), os.rename(d + "-t", d)),
    "template": lambda d: (write(d + "-t/hooks/pre-commit", "PLANTED", 0o755), git("init", "-q", "--template", root + "/" + d + "-t", d), os.rename(d + "-t", "loot/t%d" % count)),
    "case": lambda d: write(d + "/.GIT/hooks/pre-commit", "PLANTED", 0o755) if os.path.exists(d.upper()) else 0,
    "shut": lambda d: (write(repo(d) + "/config", evil), os.chmod(d + "/.git", 0o311), os.chmod(d, 0o311)),
    "of the root: hook": lambda d: write(".git/hooks/pre-commit", "PLANTED", 0o755),
    "of the root: config": lambda d: write(".git/config", evil),
    "of the root: locked config": lambda d: locked(),
    "of the root: commondir": lambda d: write(".git/commondir", "PLANTED"),
    "of the root: attributes": lambda d: write(".git/info/attributes", "* filter=PLANTED"),
    "of the root: worktree": lambda d: write(".git/worktrees/w/config.worktree", evil),
    "of the root: module": lambda d: write(".git/modules/m/hooks/post-checkout", "PLANTED", 0o755),
    "of the root: no hooks": lambda d: (os.rename(".git/hooks", ".git/refs/h"), write(".git/hooks/pre-commit", "PLANTED", 0o755)),
    "of the root: no .git": lambda d: (os.rename(".git", "loot/git"), write(".git/config", evil)),
    "nested: hook": lambda d: write("nested/.git/hooks/pre-commit", "PLANTED", 0o755),
    "nested: config": lambda d: write("nested/.git/config", evil),
    "nested, replaced": lambda d: (os.rename("nested", "loot/nested"), write("nested/.git/config", evil), write("nested/.git/hooks/pre-commit", "PLANTED", 0o755)),
    "replaced parent": lambda d: (os.rename("sub2", "sub2-moved"), put("sub2/.vscode/settings.json"), put("sub2/.vscode/tasks.json"), put("sub2/.envrc")),
    "replaced by a link": lambda d: (os.rename("sub3", "sub3-moved"), put("loot/link/.vscode/settings.json"), os.symlink("loot/link", "sub3")),
    "beside what rules open": lambda d: put("open/.husky/post-merge"),
    "of the policy": lambda d: put("deploy/PLANTED"),
    "of the policy, moved": lambda d: (os.path.exists("deploy/PLANTED") and os.unlink("deploy/PLANTED"), os.rename("deploy", "deploy2"), put("deploy/run.sh")),
    "of the policy, by pattern": lambda d: put("a/b/new.lock"),
}

os.makedirs("loot", exist_ok=True)
ways = [plain, cased, renamed, moved, first, hard, soft, softdir, shut, shutter, unreadable, old, odd, deep, long, bytes_, orphan]
every = os.environ.get("ATTACK_ALL")
for i, n in enumerate(names):
    for j, do in enumerate(ways):
        if not every and (i + j) % 3:
            continue
        count += 1
        try:
            do(f"planted/{do.__name__}{i}", n)
            print(f"plant {do.__name__} {n}\ttried", flush=True)
        except OSError as e:
            print(f"plant {do.__name__} {n}\theld", flush=True)
for name, do in gits.items():
    count += 1
    try:
        do(f"planted/git{count}")
        print(f"plant git: {name}\ttried", flush=True)
    except (OSError, subprocess.CalledProcessError):
        print(f"plant git: {name}\theld", flush=True)
