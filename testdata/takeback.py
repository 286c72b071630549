#!/usr/bin/env python3
"""Runs commands of 70 kinds in copies of real repositories, once directly and once by agentkit at level L3, and compares
what they print, their status and what they leave: files, modes, links, times that the command sets, what git says. Then
undo has to bring back every byte, mode, time and link, .git included.

    testdata/takeback.py [-n 300] [-j 2] [-k KINDS] [-v] [--seed 1] [--keep destructive|all|both] [REPOSITORY...]

A repository is a directory with one, one of the module cache (example.org/name@v1.2.3), or an npm package (npm:name), of
which one with a history is made; by default it is this checkout, two modules, two packages and pyenv where it is.
It prints a line for each kind and ends with 1 where something differs. All 300 take about an hour, and the network for npm:."""
import argparse, collections, concurrent.futures, hashlib, json, os, random, re, shutil, stat, subprocess, sys, tempfile, threading, time

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FROM = "github.com/spf13/cobra@v1.10.2 github.com/spf13/pflag@v1.0.10 npm:express npm:semver".split()

# What every repository gets beside what it has: work that is staged, changed, unknown, ignored and stashed; a branch and a
# tag; what make, go generate, npm and sqlite3 work with.
WORKED_IN = r"""
printf '/build\n*.pyc\nnode_modules\n' >>.git/info/exclude
git checkout -q -B main
mkdir -p tb/deep 'tb/two words' tb/part build/in
printf '%s\n' {1..40} >tb/numbers.txt; echo a >tb/a.txt; echo b >tb/b.txt; echo w >'tb/two words/w w.txt'; echo two >tb/deep/two.txt; printf '#!/bin/sh\necho run\n' >tb/run; chmod 755 tb/run; ln -s a.txt tb/link
printf 'all:\n\tmkdir -p build/obj\n\techo obj >build/obj/o\n\tcp tb/a.txt tb/made.txt\nclean:\n\trm -rf build\n\trm -f tb/*.bak tb/made.txt\n' >tb/Makefile
printf 'module example.org/tb\n\ngo 1.21\n' >tb/go.mod; printf 'package tb\n\n//go:generate sh gen.sh\nfunc  F( ) { }\n' >tb/tb.go
printf 'rm -f made_*.go\nfor n in 1 2 3; do echo "package tb" >made_$n.go; done\nsed -i s/a/q/ a.txt\n' >tb/gen.sh
echo '{"name": "part", "version": "1.0.0", "bin": {"part": "p.js"}}' >tb/part/package.json; echo 'console.log(1)' >tb/part/p.js
echo '{"name": "app", "version": "1.0.0", "dependencies": {"part": "file:./part"}}' >tb/package.json
git add -A; git commit -qm 'tb: first'; touch -d 2001-01-01 tb/a.txt
echo second >>tb/a.txt; sed -i 's/^20$/twenty/' tb/numbers.txt; git add -A; git commit -qm 'tb: second'; git tag old HEAD~1; git branch merged HEAD~1
git checkout -qb side; echo side >>tb/numbers.txt; mkdir tb/only; echo s >tb/only/side.txt; git add -A; git commit -qm 'tb: side'
sed -i 's/^1$/one/' tb/numbers.txt; git commit -qam 'tb: side again'; git checkout -q main
echo stashed >>tb/b.txt; git stash -q
echo staged >>tb/b.txt; git add tb/b.txt; echo changed >>tb/deep/two.txt; rm 'tb/two words/w w.txt'
echo o >build/in/x.o; head -c 300000 /dev/urandom >build/large; echo p >tb/z.pyc; echo new >new.txt; mkdir -p unknown/deep empty; echo u >unknown/deep/u; ln -s nowhere dangling; ln new.txt hard.txt; echo bak >tb/old.bak
sqlite3 tb/db 'create table t (n); insert into t values (1), (2)'
"""

# CLEAN comes before what wants a clean tree.
CLEAN = "git stash -q -u && "

# The kinds of commands. {f} {g} are files that git has, {d} {e} directories of which neither is in the other, {x} an
# ending that some files have; all are drawn anew for each command. A kind has several commands, separated by lines.
KINDS = {
    "rm": "rm {f}\nrm -f {f} {g} no-such-file\nrm -v {f}\nrm {f} no-such-file\nunlink {f}",
    "rm -r": "rm -rf {d}\nrm -r {d} {f} && ls | wc -l\nrm -rf {d}/* && mkdir {d}/new && echo 1 >{d}/new/one\nrm -rf build\nrm -rf unknown {d} 'tb/two words'",
    "rm and make anew": "rm -rf {d} && mkdir -p {d} && echo new >{d}/new\nrm {f} && mkdir {f} && echo in >{f}/in\nrm -rf {d} && echo file >{d}\nrm -rf {d} && ln -s tb {d}\nrm -rf {d}; git checkout -- {d}",
    "rmdir": "rmdir empty\nrmdir empty no-such-directory\nrmdir {d}; rmdir empty",
    "mv over": "mv {f} {g}\nmv -f {f} new.txt && ls -l new.txt | wc -l\nmv tb/z.pyc {f}\nmv -b {f} {g}",
    "mv a directory": "mv {d} moved\nmv {d} {e}\nmv {d} moved && mv moved/* . ; ls | wc -l\nmv unknown tb/deep/unknown\nmv {d} a && mv {e} {d} && mv a {e}",
    "mv into": "mv {f} {d}/in-{n}\nmv {f} {g} build/\nmkdir -p n/m && mv {f} n/m\ncd {d} && mv * ../tb/",
    "cp over": "cp {f} {g}\ncp -p {f} {g}\ncp {f} tb/link\ncp --remove-destination {f} {g}\ncp -f tb/a.txt hard.txt",
    "cp -r": "cp -r {d} copy\ncp -a {d} copy\ncp -rp {d} {e}\ncp -r tb unknown/",
    "cp -r over": "cp -r {d}/. {e}/\ncp -a tb/. {d}\ncp -rT {d} unknown",
    "sed -i": "sed -i s/a/q/g {f}\nsed -i.bak s/e/E/ {f} {g}\nsed -i '1,3d' {f} && wc -l {f}\ncd {d} && find . -name '*{x}' -exec sed -i s/a/b/ {{}} +\nsed -i --follow-symlinks s/a/b/ tb/link",
    "perl -pi": "perl -pi -e s/a/q/ {f}\nperl -i.orig -ne 'print unless /e/' {f} {g}",
    "find -delete": "find {d} -name '*{x}' -delete\nfind . -name '*.pyc' -delete\nfind build unknown -type f -delete\nfind {d} -depth -delete\nfind tb -newer tb/a.txt -name '*.txt' -delete",
    "find -exec": "find {d} -type f -exec rm {{}} +\nfind {d} -type f -exec sh -c 'echo more >>\"$1\"' _ {{}} \\;\nfind {d} -name '*{x}' -exec mv {{}} {{}}.old \\;",
    "find | xargs": "find {d} -name '*{x}' | xargs -r rm -f\nfind {d} -type f -print0 | xargs -0 -r sed -i s/a/b/\ngit ls-files -z -- {d} | xargs -0 rm",
    "truncate": "truncate -s 1 {f}\ntruncate -s 0 {f} {g}\ntruncate -s +100000 {f}\ntruncate -s 5 build/large",
    "dd": "dd if=/dev/zero of={f} bs=4 count=1 status=none\ndd if=/dev/zero of={f} bs=1 seek=10 count=5 conv=notrunc status=none\ndd if=build/large of=build/x bs=1k count=3 status=none",
    ">": "echo new >{f}\n: >{f}; echo more >{g}\ncat {f} {g} >new.txt\nhead -n 3 {f} >{g} && cat {g} | wc -l\ngit diff >{f}",
    ">>": "echo more >>{f}\necho more >>hard.txt\n(for f in {f} {g}; do echo $f >>$f; done)",
    "tee": "echo x | tee {f}\nls | wc -l | tee -a {f} {g}",
    "ln": "ln -sf {f} {g}\nln {f} linked\nln -f {f} {g}\nln -sfn {d} tb/link\nln -s {d} to-{n}; ls to-{n}/ | wc -l",
    "chmod": "chmod 600 {f}\nchmod -R go-rwx {d}\nchmod 444 {f} && chmod 500 {d}\nchmod +x {f} {g}\nchmod 2750 {d}",
    "touch": "touch -d 2002-02-02 {f} {d}\ntouch {f}\ntouch made-{n}\ntouch -r tb/a.txt {f}\nfind {d} -exec touch -h -d 1999-09-09 {{}} +",
    "tar": "tar cf - {d} | (mkdir un && tar xf - -C un)\ntar czf build/{n}.tgz {d} && rm -rf {d} && tar xzf build/{n}.tgz\ntar cf t.tar {d} && echo x >{f} && tar xf t.tar\ngit archive HEAD {d} | tar xf - -C unknown",
    "install": "install -m 600 {f} {g}\ninstall -D {f} n/m/installed\ninstall -d {d}/in/deep",
    "patch": "diff -u {f} {g} | patch -s {f}; git status --short | wc -l\ngit diff HEAD~1 >p.diff; git checkout -q . && patch -sR -p1 <p.diff; rm p.diff\nprintf -- '--- tb/a.txt\\n+++ tb/a.txt\\n@@ -1 +1 @@\\n-a\\n+aa\\n' | patch -p0 -s",
    "sort, split, gzip": "sort -r -o {f} {f}\nsplit -l 5 {f} part-\ngzip -n {f}\ngzip -nf new.txt {f}; ls | wc -l\ngzip -nk {f} && gunzip -f {f}.gz",
    "sqlite3": "sqlite3 tb/db 'insert into t values (3); select count(*) from t'\nsqlite3 tb/db 'delete from t; vacuum'\nsqlite3 made.db 'pragma journal_mode=wal; create table a (b); insert into a values (1)'\nsqlite3 tb/db '.backup build/copy.db'\nsqlite3 tb/db 'drop table t'",
    "make": "make -s -f tb/Makefile\nmake -sf tb/Makefile clean\nmake -s -f tb/Makefile clean all\nmake -f tb/Makefile all clean && git status --short | wc -l",
    "go generate": "cd tb && go generate ./...\ncd tb && go generate && gofmt -l .\ngo generate -C tb",
    "go": "gofmt -w tb\ncd tb && go mod edit -go=1.22 && cat go.mod\ncd tb && go build ./... && go vet .\nrm tb/go.mod && cd tb && go mod init example.org/other 2>/dev/null; cat go.mod",
    "npm": "cd tb && npm install --offline --no-audit --no-fund --silent\ncd tb && npm install --offline --no-audit --no-fund --silent --install-links && npm uninstall --offline --no-audit --no-fund --silent part\ncd tb && npm pkg set description=x && npm version minor --no-git-tag-version\ncd tb/part && npm pack --silent",
    "python renames": "python3 -c 'import os; os.rename(\"{d}\", \"moved\")'\npython3 -c 'import os; os.rename(\"{d}\", \"unknown/in\"); os.rename(\"unknown\", \"known\")'\npython3 -c 'import os; os.replace(\"{f}\", \"{g}\")'\npython3 -c 'import os, shutil; shutil.move(\"{d}\", \"{e}\")'",
    "python renames all": "python3 -c 'import os\nfor d, _, fs in os.walk(\"{d}\", topdown=False):\n  for f in fs: os.rename(os.path.join(d, f), os.path.join(d, f + \".old\"))\n  os.rename(d, d + \"-old\")'",
    "python deletes": "python3 -c 'import shutil; shutil.rmtree(\"{d}\")'\npython3 -c 'import shutil, os; shutil.rmtree(\"{d}\"); os.mkdir(\"{d}\"); open(\"{d}/x\", \"wb\").write(bytes(range(256)) * 5000)'\npython3 -c 'import os; os.remove(\"{f}\"); os.mkdir(\"{f}\")'",
    "python writes": "python3 -c 'import os; os.chmod(\"{f}\", 0o600); os.link(\"{f}\", \"a.link\"); os.utime(\"{g}\", (1, 1)); os.truncate(\"tb/a.txt\", 0)'\npython3 -c 'open(\"new.bin\", \"wb\").write(bytes(range(256)) * 40000)'\npython3 -c 'f = open(\"{f}\", \"r+\"); f.seek(3); f.write(\"XX\"); f.close()'\npython3 -c 'import os; os.mkfifo(\"pipe\"); os.mkdir(\"closed\"); open(\"closed/in\", \"w\").write(\"i\"); os.chmod(\"closed\", 0o500)'",
    "python mmap": "python3 -c 'import mmap; f = open(\"build/large\", \"r+b\"); m = mmap.mmap(f.fileno(), 0); m[1000:1004] = b\"mmap\"; m.flush(); m.close(); f.close()'",
    "node": "node -e 'require(\"fs\").renameSync(\"{d}\", \"moved\")'\nnode -e 'require(\"fs\").rmSync(\"{d}\", {{recursive: true}})'\nnode -e 'require(\"fs\").cpSync(\"{d}\", \"copy\", {{recursive: true}})'\nnode -e 'const f = require(\"fs\"); f.writeFileSync(\"{f}\", f.readFileSync(\"{g}\"))'",
    "a script": "sh -c 'echo one >made; exit 9'\nprintf 'rm -rf {d}\\necho x >>{f}\\nexit 7\\n' >s.sh; sh s.sh\nbash -c 'cd {d} && for f in *; do mv \"$f\" \"$f.x\"; done'\n(cd {d} && rm -rf * .[a-z]*); ls -A {d} | wc -l",
    "only reads": "ls {d} | wc -l\ngrep -rc a {f}\ngit log --oneline | head -n 3 | wc -l\ngit status --short\ncat no-such-file",
    "git checkout files": "git checkout -- .\ngit checkout -q HEAD~1 -- {d} tb\ngit checkout -- {f} {d}\ngit checkout -q side -- tb/numbers.txt",
    "git checkout": "git checkout -qf side\ngit checkout -q -B main HEAD~1; git status --short\n" + CLEAN + "git checkout -q side\ngit checkout -q old; git log --oneline -1 | wc -l",
    "git switch": "git switch -q --discard-changes side\ngit switch -q -c other\n" + CLEAN + "git switch -q --detach side\ngit switch -q -C side",
    "git restore": "git restore .\ngit restore --source=HEAD~1 {d} tb\ngit restore --staged --worktree .\ngit restore -s side -W tb\ngit restore --staged .",
    "git reset --hard": "git reset --hard\ngit reset -q --hard HEAD~1\ngit reset -q --hard side && git clean -fdxq\ngit reset -q --hard old",
    "git reset": "git reset -q --soft HEAD~1\ngit reset -q HEAD~1\ngit reset -q\ngit reset -q --merge HEAD~1; git status --short | wc -l",
    "git clean": "git clean -fd\ngit clean -fdx\ngit clean -qfX\ngit clean -qfd unknown",
    "git rm": "git rm -rqf {d}\ngit rm -qf {f} {g}\ngit rm -rq --cached {d}\ngit rm {f}",
    "git mv": "git mv {d} moved\ngit mv {f} renamed && git status --short | wc -l\ngit mv -f {f} {g}\ngit mv {d} {e}/in && git commit -qm moved",
    "git stash": "git stash -q\ngit stash -q -u && git stash pop -q --index\ngit stash -q -u -m work\ngit stash -q --keep-index\n" + CLEAN + "git stash apply -q stash@{{1}}",
    "git stash drop": "git stash drop -q\ngit stash clear\ngit stash -q && git stash drop -q\ngit checkout -q . && git reset -q && git checkout -q . && git stash pop -q",
    "git commit": "git commit -qm one\ngit add -A && git commit -qm all\ngit commit -qam tracked && git log --oneline | wc -l\ngit commit -q --allow-empty -m none",
    "git commit --amend": "git commit -q --amend -m other\ngit commit -qa --amend --no-edit",
    "git branch": "git branch -D side\ngit branch -f side HEAD\ngit branch new-{n} && git branch -f new-{n} HEAD~1\ngit branch -d merged\ngit branch -q --no-track sides side",
    "git merge": CLEAN + "git merge -q side\ngit merge -q side; git status --short | wc -l\n" + CLEAN + "sed -i 's/^1$/eins/' tb/numbers.txt && git commit -qam eins && git merge -q side; git merge --abort\n" + CLEAN + "git merge -q --squash side",
    "git rebase": CLEAN + "git rebase -q side\n" + CLEAN + "sed -i 's/^1$/eins/' tb/numbers.txt && git commit -qam eins && git rebase -q side; git rebase --abort\n" + CLEAN + "git rebase -q --onto old HEAD~1",
    "git cherry-pick": CLEAN + "git cherry-pick side~1 >/dev/null\n" + CLEAN + "git cherry-pick -n side~1\n" + CLEAN + "git cherry-pick old..side >/dev/null",
    "git revert": CLEAN + "git revert --no-edit HEAD >/dev/null\n" + CLEAN + "git revert -n HEAD; git status --short",
    "git add": "git add -A\ngit add {f} new.txt\ngit add -u && git status --short\ngit add -f build",
    "git tag": "git tag new-{n}\ngit tag -d old\ngit tag -f old HEAD >/dev/null\ngit tag -a -m note noted",
    "git gc": "git gc -q\ngit repack -adq\ngit pack-refs --all\ngit reflog expire --expire=now --all && git gc -q --prune=now",
    "git apply": "git diff | git apply -R\ngit diff --cached | git apply -R --index; git status --short | wc -l\ngit diff HEAD~1 HEAD -- tb | git apply -R --cached",
    "git am": CLEAN + "git format-patch -q -1 side~1 && git am -q *.patch\n" + CLEAN + "git format-patch -q -1 side~1 && git am -3 -q 0001* && git log --oneline | wc -l",
    "git update-ref": "git update-ref -d refs/heads/side\ngit update-ref refs/heads/side HEAD\ngit symbolic-ref HEAD refs/heads/side",
    "git update-index": "git update-index --chmod=+x {f}\ngit update-index --assume-unchanged {f}\ngit update-index --index-version 4\ngit read-tree side",
    "git init within": "git init -q sub && cd sub && git commit -q --allow-empty -m one\nrm -rf .git/rebase-merge; git init -q -b main other && echo x >other/x",
    "git notes": "git notes add -m note HEAD && git notes show\ngit bisect start -q side old >/dev/null; git bisect reset -q",
    "git archive": "git archive -o build/{n}.tar HEAD {d}\ngit bundle create -q build/{n}.bundle main",
    "git and files": "git reset -q --hard && git clean -fdxq && rm -rf {d}\nrm -rf {d}; git checkout -- . ; echo x >{f}\ngit rm -rqf {d} && mkdir -p {d} && echo y >{d}/y && git add {d}\ngit stash -q -u && rm -rf {d} && git checkout -q . && git stash pop -q",
    "two things": "rm -rf {d} && sed -i s/a/b/ {f}\nmv {f} {g}; rm -f {f}; touch made\ncp {f} tb/c.txt && : >{f} && mv {g} {f}\necho 1 >{f}; echo 2 >>{f}; rm {f}; echo 3 >{f}",
}


def run(argv, cwd, env=None, check=False, timeout=600):
    p = subprocess.run(argv, cwd=cwd, env=env or ENV, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout)
    out = p.stdout.decode(errors="replace")
    if check and p.returncode:
        sys.exit(f"{argv}: {p.returncode}: {out}")
    return out.strip(), p.returncode


def made(source, to):
    """a repository of what is not one: its files come in five commits"""
    os.mkdir(to)
    if source.startswith("npm:"):
        name, _ = run(["npm", "pack", "--silent", "--pack-destination", to, source[4:]], to, os.environ, True)
        run(["tar", "xzf", name.split("\n")[-1], "--strip-components=1"], to, check=True)
        os.remove(f"{to}/" + name.split("\n")[-1])
    else:
        at, _ = run(["go", "mod", "download", "-json", source], HERE, os.environ, True)
        run(["cp", "-r", json.loads(at)["Dir"] + "/.", to], to, check=True)
        run(["chmod", "-R", "u+w", to], to, check=True)
    run(["git", "init", "-q", "-b", "main"], to, check=True)
    files = sorted(os.path.relpath(os.path.join(d, f), to) for d, _, fs in os.walk(to) for f in fs if ".git" not in d.split("/"))
    for i in range(5):
        for f in files[i::5]:
            run(["git", "add", "-f", "--", f], to, check=True)
        run(["git", "commit", "-q", "--allow-empty", "-m", f"part {i}"], to, check=True)


class Repository:
    def __init__(self, source, base):
        self.name = re.sub(r"@.*|.*[:/]", "", source.rstrip("/").removesuffix("/repo").removesuffix("/.git")) or "root"
        if ":" not in source and os.path.exists(source):
            self.name = os.path.basename(re.sub(r"/(repo|main|\.git)/*$", "", os.path.abspath(source)))
        self.model = os.path.join(base, "model-" + self.name)
        if ":" not in source and os.path.exists(source):
            run(["git", "clone", "-q", "--depth", "100", "file://" + os.path.abspath(source), self.model], base, check=True)
            run(["git", "remote", "remove", "origin"], self.model)
            run(["rm", "-rf", ".git/refs/remotes"], self.model)
        else:
            made(source, self.model)
        listed, _ = run(["git", "ls-files", "-s"], self.model, check=True)
        plain = re.compile(r"^100\d+ \S+ 0\t([A-Za-z0-9_][A-Za-z0-9_./-]*)$", re.M)
        self.files = [f for f in plain.findall(listed) if "/." not in f and 0 < os.path.getsize(f"{self.model}/{f}") < 200_000 and b"\0" not in open(f"{self.model}/{f}", "rb").read()]
        self.dirs = sorted({os.path.dirname(f) for f in self.files} - {""})
        self.dirs = self.dirs + [os.path.dirname(d) for d in self.dirs if "/" in d]
        self.exts = collections.Counter(os.path.splitext(f)[1] for f in self.files if "." in os.path.basename(f)).most_common(5)
        run(["bash", "-ec", WORKED_IN], self.model, check=True)
        self.dirs = self.dirs or ["tb/deep"]
        names = lambda *git: set(run(["git", *git], self.model, check=True)[0].split("\n"))
        self.committed = names("ls-tree", "-r", "--name-only", "HEAD") - names("diff", "--name-only", "HEAD")

    def draw(self, rnd, text, n):
        f, g = rnd.sample(self.files, 2)
        d = rnd.choice(self.dirs)
        apart = [e for e in self.dirs + ["tb/deep", "unknown"] if not (e + "/").startswith(d + "/") and not (d + "/").startswith(e + "/")]
        return text.format(f=f, g=g, d=d, e=rnd.choice(apart), x=rnd.choice(self.exts)[0] if self.exts else ".txt", n=n)


BEGUN = time.time()


HASHES = {}  # of files as they are, by inode and the time of the last change


def content(path, st):
    key = (st.st_dev, st.st_ino, st.st_ctime_ns, st.st_size)
    if key not in HASHES:
        with open(path, "rb") as f:
            HASHES[key] = hashlib.sha256(f.read()).hexdigest()[:16]
    return HASHES[key]


def tree(top):
    """of each name mode, owner, content or link, its other names, and the time"""
    all_, inodes = {}, collections.defaultdict(list)
    for d, dirs, files in os.walk(top):
        for name in dirs + files:
            path = os.path.join(d, name)
            rel, st = os.path.relpath(path, top), os.lstat(path)
            what = f"{stat.filemode(st.st_mode)} {st.st_uid}:{st.st_gid}"
            if stat.S_ISLNK(st.st_mode):
                what += " -> " + os.readlink(path)
            elif stat.S_ISREG(st.st_mode):
                what += " " + content(path, st)
                if st.st_nlink > 1:
                    inodes[st.st_ino].append(rel)
            all_[rel] = what, st.st_mtime_ns if stat.S_ISREG(st.st_mode) else 0
        dirs[:] = [x for x in dirs if not os.path.islink(os.path.join(d, x))]
    for names in inodes.values():
        for name in names if len(names) > 1 else []:  # another may lie in the journal
            all_[name] = all_[name][0] + " = " + " ".join(sorted(names)), all_[name][1]
    return all_


def whole(all_, objects):
    """with every time; git's objects only grow where not all is kept"""
    return {k: f"{v} {t}" for k, (v, t) in all_.items() if objects or not k.startswith(".git/objects/")}


def worked(all_, since):
    """without git's own files, and with the times that were set: not those of this run, which differ by chance"""
    return {k: f"{v} {t}" if t < since else v for k, (v, t) in all_.items() if k.split("/")[0] != ".git"}


def gone(before, after, committed):
    """contents that are nowhere any more, not even in git"""
    have = {v.split()[2] for v, _ in after.values() if v[0] == "-"}
    return [f"{k}: its content is nowhere" for k, (v, _) in before.items() if v[0] == "-" and not k.startswith(".git/") and k not in committed and v.split()[2] not in have]


def differ(have, want):
    return [f"{k}: have {have.get(k)}, want {want.get(k)}" for k in sorted(have.keys() | want.keys()) if have.get(k) != want.get(k)]


STATE = r"""git symbolic-ref -q HEAD; git for-each-ref; git stash list; git status --porcelain; git ls-files -s -v; git config -l --local; git reflog | cut -d' ' -f2-
git log --all --format='%T %P %s' | sort; find .git -maxdepth 1 -printf '%f %m\n' | sort; cat .git/MERGE_HEAD .git/ORIG_HEAD 2>/dev/null"""
NOTES = re.compile(r"^\[(exit status \d+|what it changed can be taken back .*|what it took away or changed can be brought back .*|\{?undo\}? cannot bring back .*|a directory that stood before could not be renamed .*)\]\n?", re.M)
CHANCE = [(re.compile(r"\b[0-9a-f]{7,40}\b"), "NAME"), (re.compile(r"\bin \d+m?s\b"), "in TIME"), (re.compile(r"/(mine|theirs)\b"), "/DIR")]
CONFIG = re.compile(r"^.*(write config file|Update of config-file|the sandbox refused write .*config).*\n?", re.M)  # what git may not change


def plain(text):
    for pattern, to in CHANCE:
        text = pattern.sub(to, text)
    return text.strip()


def trial(kind, line, repository, keep, place):
    """a row of the table: what is wrong with one command"""
    mine, theirs = place + "/mine", place + "/theirs"
    os.mkdir(place)
    for to in (mine, theirs):
        run(["cp", "-a", repository.model, to], place, check=True)
        run(["git", "update-index", "-q", "--refresh"], to)  # its inodes are new
    wrong, objects = [], keep == "all"
    before, since = tree(mine), time.time_ns() - 20_000_000  # a file's time may be a tick behind the clock
    want, status = run(["bash", "-c", line], theirs)
    out, code = run([AGENTKIT, "--policy", f"{BASE}/{keep}.yaml", "bash", "--json", json.dumps({"command": line})], mine)
    try:
        r = json.loads(out)
    except ValueError:
        return ["no result: " + out[:500]], "-"
    m, error = r.get("metadata", {}), r.get("error") or {}
    by, change = m.get("undo_by", ""), m.get("change", "")
    if error.get("code") == "approval_required" and ASKS.search(error.get("message", "")):
        return [], "asks"
    if error.get("code") and error["code"] != "command_failed":
        wrong.append(f"{error['code']}: {error.get('message')} {error.get('hint', '')}")
        return wrong, by or "-"
    text = plain(CONFIG.sub("", NOTES.sub("", r.get("output", "").removeprefix("[no output]"))))
    if text != plain(want):
        wrong.append(f"output: have {text[:600]!r}, want {plain(want)[:600]!r}")
    if code != status:
        wrong.append(f"status {code}, want {status}")
    state = [plain(run(["bash", "-c", STATE], d)[0]).split("\n") for d in (mine, theirs)] if kind != "git init within" else [[], []]
    wrong += [f"git: {'+' if l in state[0] else '-'}{l}" for l in sorted(set(state[0]) ^ set(state[1]))]
    now = tree(mine)
    left = differ(worked(now, since), worked(tree(theirs), since))
    if keep == "destructive":  # a file that got a second name for a while is one that git writes again, with what it holds
        left = [l for l in left if not AGAIN.search(l)]
    wrong += ["left " + l for l in left]
    wrong += ["fsck: " + l for l in run(["git", "fsck", "--no-dangling", "--no-progress"], mine)[0].split("\n") if l]
    if keep == "all" and now != before and by != "overlay":
        wrong.append(f"kept by {by}: {m.get('undo_why')}")
    if change:
        out, code = run([AGENTKIT, "undo", change], mine)
        if code:
            wrong.append("undo: " + out)
    after = tree(mine)
    lost = differ(whole(after, objects), whole(before, objects))
    if keep == "all":
        return wrong + ["undone " + l for l in lost], by or ("nothing" if now == before else "-")
    # What is only made, or changed in a way that the text does not tell, is not for undo to bring back.
    added = [l for l in lost if l.endswith("want None")]
    lost = [l for l in lost if l not in added]
    if not change:
        return wrong + (gone(before, now, repository.committed) if TOLD.search(line) and not OPAQUE.search(line) else []), "nothing kept"
    if lost and OPAQUE.search(line):
        return wrong, "kept in part"
    return wrong + ["undone " + l for l in lost], "kept" + (", new stays" if added else "")


AGAIN = re.compile(r": have (-\S+ \S+ [0-9a-f]{16}), want \1 \d+$")

# What asks, as docs/policy.md says: of code that deletes where not every command is a transaction, and of paths that
# nobody knows before the command runs.
ASKS = re.compile(r"its code deletes|is deleted is not known before it runs|drops or empties a table|moves a tag that others have|removes the way back")

# What the text of a command tells that it takes away, and what it does not.
TOLD = re.compile(r"[^>]>[^>]|\b(rm|mv|cp|find|truncate|dd|tee|install|git (checkout|restore|reset|clean))\b")
OPAQUE = re.compile(r"\b(patch|python3|node|make|npm|go|sh s\.sh|sh -c|bash -c|sqlite3|gzip|gofmt|chmod|touch|split|tar|-exec|git (add|tag|gc|repack|pack-refs|notes|init|archive|apply|am|update-index|commit|merge|rebase|cherry-pick|revert|mv|read-tree|symbolic-ref|reflog|bisect|stash))\b|-exec|>>")


def main():
    global AGENTKIT, BASE, ENV
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("-n", type=int, default=300)
    p.add_argument("-j", type=int, default=2)
    p.add_argument("-k", default="", help="kinds that this expression matches, all their commands")
    p.add_argument("-v", action="store_true")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--keep", default="both", choices=["destructive", "all", "both"])
    p.add_argument("--agentkit", help="this program, instead of one built here")
    p.add_argument("repository", nargs="*")
    o = p.parse_args()
    BASE = tempfile.mkdtemp(prefix="agentkit-takeback.", dir=os.environ.get("HOME", "/root"))  # the state lies on the same file system, and no temporary directory
    ENV = {"HOME": BASE, "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "XDG_STATE_HOME": BASE + "/state", "GIT_OPTIONAL_LOCKS": "0", "GOFLAGS": "-buildvcs=false", "GOCACHE": BASE + "/gocache",
           "npm_config_update_notifier": "false", **{f"GIT_{w}_{k}": v for w in ("AUTHOR", "COMMITTER") for k, v in (("NAME", "a"), ("EMAIL", "a@example.org"), ("DATE", "2001-01-01T00:00:00Z"))}}
    try:
        AGENTKIT = os.path.abspath(o.agentkit) if o.agentkit else BASE + "/agentkit"
        if not o.agentkit:
            run(["go", "build", "-o", AGENTKIT, "."], HERE, os.environ, True)
        for keep in ("destructive", "all"):
            with open(f"{BASE}/{keep}.yaml", "w") as f:
                f.write(f"undo: {{commands: {keep}}}\nallow: [" + ", ".join(f'"bash({w} *)"' for w in "git make npm go".split()) + ", edit(hard.txt), edit(new.txt), read(hard.txt), read(new.txt)]\n")
        sources = o.repository or [HERE, *FROM] + [d for d in [os.path.expanduser("~/.pyenv")] if os.path.isdir(d + "/.git")]
        repositories = [Repository(s, BASE) for s in sources]
        return compare(o, repositories)
    finally:
        subprocess.run(["chmod", "-R", "u+rwx", BASE])
        shutil.rmtree(BASE, ignore_errors=True)


def drawn(o, repositories):
    """the commands: of each kind equally many, each in another repository"""
    rnd, list_ = random.Random(o.seed), []
    kinds = [k for k in KINDS if not o.k or re.search(o.k, k)]
    for n in range(o.n):
        kind = kinds[n % len(kinds)]
        texts, round_ = (KINDS[kind].split("\n") if "\nfor " not in KINDS[kind] else [KINDS[kind]]), n // len(kinds)
        if o.k and round_ >= len(texts) * len(repositories):
            break
        repository = repositories[(round_ + n) % len(repositories)]
        list_.append((kind, repository.draw(rnd, texts[round_ % len(texts)], n), repository))
    return list_


def compare(o, repositories):
    keeps = ["destructive", "all"] if o.keep == "both" else [o.keep]
    commands, table, lock, done = drawn(o, repositories), collections.defaultdict(lambda: collections.defaultdict(collections.Counter)), threading.Lock(), 0
    print(f"{len(commands)} commands of {len({k for k, _, _ in commands})} kinds in {', '.join(f'{r.name} ({len(r.files)} files)' for r in repositories)}", flush=True)

    def one(task):
        nonlocal done
        n, keep, (kind, line, repository) = task
        place = f"{BASE}/{keep}-{n}"
        try:
            wrong, by = trial(kind, line, repository, keep, place)
        except Exception as e:  # noqa: BLE001 - one that cannot be tried is one that fails
            wrong, by = [f"{type(e).__name__}: {e}"], "-"
        subprocess.run(["chmod", "-R", "u+rwx", place])
        shutil.rmtree(place, ignore_errors=True)
        with lock:
            done += 1
            table[kind][keep]["run"] += 1
            table[kind][keep][by] += 1
            table[kind][keep]["wrong"] += bool(wrong)
            if wrong or o.v:
                print(f"[{done}] {repository.name}, {keep}, {by}: {line}" + "".join(f"\n    {w}" for w in wrong[:12]), flush=True)

    with concurrent.futures.ThreadPoolExecutor(o.j) as pool:
        list(pool.map(one, [(n, keep, c) for n, c in enumerate(commands) for keep in keeps]))
    print(f"\n{'kind':22}" + "".join(f"{k:>14}: run, wrong, how" + " " * 18 for k in keeps))
    wrong = 0
    for kind in KINDS:
        if kind in table:
            cells = []
            for keep in keeps:
                c = table[kind][keep]
                wrong += c["wrong"]
                cells.append(f"{c['run']:8} {c['wrong']:6}  " + ", ".join(f"{v} {k}" for k, v in c.items() if k not in ("run", "wrong"))[:32].ljust(32))
            print(f"{kind:22}" + "".join(cells))
    print(f"{sum(t[k]['run'] for t in table.values() for k in keeps)} runs, {wrong} of them wrong, {time.time() - BEGUN:.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
