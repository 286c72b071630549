//go:build linux && (amd64 || arm64)

package sandbox

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A recipe is something that developers do. It prints "ok" at its end.
type recipe struct {
	name  string
	needs string // programs; without one of them it is skipped
	do    string
	slow  bool // left out unless AGENTKIT_SOAK is set
}

const gitRepo = `git init -q r && cd r && git config user.email a@example.org && git config user.name a && echo 1 >f && git add f && git commit -qm one && `

var recipes = []recipe{
	{name: "git init and commit", needs: "git", do: gitRepo + `git log --oneline | grep -q one`},
	{name: "git branch and merge", needs: "git", do: gitRepo + `git checkout -qb b && echo 2 >g && git add g && git commit -qm two && git checkout -q - && git merge -q b && test -f g`},
	{name: "git rebase", slow: true, needs: "git", do: gitRepo + `git checkout -qb b && echo 2 >g && git add g && git commit -qm two && git checkout -q - && echo 3 >h && git add h && git commit -qm three && git checkout -q b && git rebase -q -`},
	{name: "git stash", needs: "git", do: gitRepo + `echo 2 >f && git stash -q && git stash pop -q`},
	{name: "git clone", needs: "git", do: gitRepo + `cd .. && git clone -q r c && test -f c/f`},
	{name: "git clone without hard links", needs: "git", do: gitRepo + `cd .. && git clone -q file://$PWD/r c && test -f c/f`},
	{name: "git push", needs: "git", do: gitRepo + `cd .. && git init -q --bare b && cd r && git push -q ../b HEAD`},
	{name: "git fetch", needs: "git", do: gitRepo + `cd .. && git clone -q r c && cd r && git commit -q --allow-empty -m two && cd ../c && git fetch -q && git log FETCH_HEAD -1 --format=%s | grep -q two`},
	{name: "git worktree", slow: true, needs: "git", do: gitRepo + `git worktree add -q ../w -b w && test -f ../w/f`},
	{name: "git submodule", slow: true, needs: "git", do: gitRepo + `cd .. && git init -q s && cd s && git -c protocol.file.allow=always submodule add -q ../r m && test -f m/f`},
	{name: "git gc", needs: "git", do: gitRepo + `git gc -q`},
	{name: "git bisect", slow: true, needs: "git", do: gitRepo + `git commit -q --allow-empty -m 2 && git commit -q --allow-empty -m 3 && git bisect start HEAD HEAD~2 >/dev/null && git bisect run true >/dev/null`},
	{name: "git grep and blame", needs: "git", do: gitRepo + `git grep -q 1 && git blame f >/dev/null`},
	{name: "git archive", needs: "git tar", do: gitRepo + `git archive HEAD | tar t | grep -q f`},
	{name: "git apply", needs: "git", do: gitRepo + `echo 2 >f && git diff >p && git checkout -q f && git apply p && grep -q 2 f`},
	{name: "git in the workspace", needs: "git", do: `git init -q . && git -c user.email=a@example.org -c user.name=a commit -q --allow-empty -m x`},

	{name: "go build", slow: true, needs: "go", do: goModule + `go build -o x . && ./x | grep -q hello`},
	{name: "go run", slow: true, needs: "go", do: goModule + `go run . | grep -q hello`},
	{name: "go vet", slow: true, needs: "go", do: goModule + `go vet .`},
	{name: "go test with a server", slow: true, needs: "go", do: goModule + `go test . >/dev/null`},
	{name: "gofmt", needs: "gofmt", do: `printf 'package a\nfunc  f(){}\n' >a.go && gofmt -w a.go && grep -q 'func f() {}' a.go`},

	{name: "gcc", needs: "gcc", do: `printf 'int main(){return 0;}' >a.c && gcc -o a a.c && ./a`},
	{name: "gcc, static library", needs: "gcc ar", do: `printf 'int f(){return 7;}' >f.c && printf 'int f();int main(){return f();}' >m.c && gcc -c f.c && ar rcs libf.a f.o && gcc m.c -L. -lf -o m && { ./m || test $? = 7; }`},
	{name: "gcc, shared library", needs: "gcc", do: `printf 'int f(){return 7;}' >f.c && printf 'int f();int main(){return f();}' >m.c && gcc -shared -fPIC f.c -o libf.so && gcc m.c -L. -lf -o m && { LD_LIBRARY_PATH=. ./m || test $? = 7; }`},
	{name: "make in parallel", needs: "make gcc", do: `for i in 1 2 3 4; do echo "int f$i(){return 0;}" >$i.c; done; printf 'all: 1.o 2.o 3.o 4.o\n' >Makefile && make -s -j4 && test -f 4.o`},
	{name: "make with a server of jobs", needs: "make", do: `printf 'all:\n\t+$(MAKE) -s sub\nsub: a b\na b:\n\ttouch $@\n' >Makefile && make -s -j2 && test -f b`},
	{name: "make install", needs: "make install", do: `printf 'install:\n\tinstall -D -m 755 Makefile $(DESTDIR)/bin/x\n' >Makefile && make -s install DESTDIR=$PWD/d && test -x d/bin/x`},
	{name: "gdb", slow: true, needs: "gdb gcc", do: `printf 'int main(){return 3;}' >a.c && gcc -g -o a a.c && gdb -q -batch -ex 'break main' -ex run -ex 'next' ./a 2>&1 | grep -q 'main'`},
	{name: "strace", needs: "strace", do: `strace -f -o t /bin/true && grep -q exit_group t`},
	{name: "rustc", slow: true, needs: "rustc", do: `echo 'fn main(){println!("hello")}' >a.rs && rustc a.rs && ./a | grep -q hello`},
	{name: "cargo", slow: true, needs: "cargo", do: `mkdir c && cd c && cargo init -q --vcs none --name x . && cargo build -q --offline && ./target/debug/x | grep -q Hello`},
	{name: "java", slow: true, needs: "java", do: `echo 'class A{public static void main(String[] a){System.out.println("hello");}}' >A.java && java A.java | grep -q hello`},

	{name: "python", needs: "python3", do: `python3 -c 'print("x")'`},
	{name: "python -m http.server", needs: "python3 curl", do: `python3 -u -m http.server 0 >log 2>&1 & for i in $(seq 500); do grep -q port log && break; sleep 0.01; done; curl -sf http://localhost:$(sed -n 's/.*port \([0-9]*\).*/\1/p' log)/ >/dev/null && kill $!`},
	{name: "python unittest with a server", needs: "python3", do: pythonServer + `python3 -m unittest -q t 2>/dev/null`},
	{name: "python asyncio server", needs: "python3", do: `python3 -c '
import asyncio
async def main():
    async def hello(r, w):
        w.write(b"x"); await w.drain(); w.close()
    s = await asyncio.start_server(hello, "127.0.0.1", 0)
    r, w = await asyncio.open_connection(*s.sockets[0].getsockname())
    assert await r.read() == b"x"
    p = await asyncio.create_subprocess_exec("true"); await p.wait()
asyncio.run(main())'`},
	{name: "python unix socket server", needs: "python3", do: `python3 -c '
import asyncio, os
async def main():
    async def hello(r, w):
        w.write(b"x"); w.close()
    s = await asyncio.start_unix_server(hello, "s")
    r, w = await asyncio.open_unix_connection("s")
    assert await r.read() == b"x"
asyncio.run(main())'`},
	{name: "python multiprocessing", needs: "python3", do: `printf 'import multiprocessing as m\ndef f(x): return x*x\nif __name__=="__main__":\n  with m.Pool(2) as p: assert p.map(f, range(5))==[0,1,4,9,16]\n' >p.py && python3 p.py`},
	{name: "python multiprocessing manager", slow: true, needs: "python3", do: `printf 'import multiprocessing as m\nif __name__=="__main__":\n  with m.Manager() as g:\n    d=g.dict(); d[1]=2; assert dict(d)=={1:2}\n' >p.py && python3 p.py`},
	{name: "python shared memory", needs: "python3", do: `python3 -c 'from multiprocessing import shared_memory as s; m=s.SharedMemory(create=True,size=10); m.buf[0]=1; m.close(); m.unlink()'`},
	{name: "python semaphores", needs: "python3", do: `python3 -c 'import multiprocessing as m; l=m.Lock(); l.acquire(); l.release()'`},
	{name: "python venv", slow: true, needs: "python3", do: `python3 -m venv --without-pip v && v/bin/python -c 'import sys; assert "v" in sys.prefix'`},
	{name: "pip install of a directory", slow: true, needs: "pip3", do: `mkdir p && printf 'from setuptools import setup\nsetup(name="zz",version="1",py_modules=["zz"])\n' >p/setup.py && echo 'x=1' >p/zz.py && pip3 install -q --disable-pip-version-check --no-cache-dir --no-build-isolation --no-deps --no-index --target t ./p 2>/dev/null && test -f t/zz.py`},
	{name: "python sqlite", needs: "python3", do: `python3 -c 'import sqlite3; c=sqlite3.connect("a.db"); c.execute("pragma journal_mode=wal"); c.execute("create table t(a)"); c.commit()'`},
	{name: "python tempfile and shutil", needs: "python3", do: `python3 -c '
import tempfile, shutil, os
d = tempfile.mkdtemp(); open(d + "/a", "w").close(); os.chmod(d + "/a", 0o755); os.utime(d + "/a", (1, 1))
shutil.copytree(d, "c"); shutil.move("c", d + "/m"); shutil.rmtree(d)'`},
	{name: "python pty", needs: "python3", do: `python3 -c 'import pty, os; assert os.WEXITSTATUS(pty.spawn(["true"])) == 0'`},

	{name: "node", needs: "node", do: `node -e 'console.log(1)' | grep -q 1`},
	{name: "node server", needs: "node", do: `node -e '
const http = require("http"); const s = http.createServer((q, r) => r.end("x"));
s.listen(0, () => http.get({port: s.address().port, host: "localhost"}, r => { r.resume(); r.on("end", () => { s.close(); process.exit(0) }) }).on("error", e => { console.error(e); process.exit(1) }))'`},
	{name: "node worker and child", needs: "node", do: `node -e '
const {Worker} = require("worker_threads"); new Worker("process.exit(0)", {eval: true}).on("exit", () => {
const c = require("child_process").fork("c.js"); c.on("message", () => process.exit(0)) })' <<<"" & echo 'process.send(1)' >c.js; wait $!`},
	{name: "node test runner", slow: true, needs: "node", do: `printf 'const t=require("node:test");t("a",()=>{})' >a.test.js && node --test >/dev/null`},
	{name: "node watch of files", needs: "node", do: `node -e 'const fs=require("fs");const w=fs.watch(".",()=>{w.close();process.exit(0)});setTimeout(()=>fs.writeFileSync("a",""),50)'`},
	{name: "npm init and run", slow: true, needs: "npm", do: `npm init -y >/dev/null && npm pkg set scripts.x='echo hello' && npm run -s x | grep -q hello`},
	{name: "npm install of a directory", slow: true, needs: "npm", do: `mkdir d && echo '{"name":"d","version":"1.0.0"}' >d/package.json && echo '{"name":"m","version":"1.0.0"}' >package.json && npm install --offline --no-audit --no-fund -s ./d && test -e node_modules/d`},
	{name: "npm pack", slow: true, needs: "npm", do: `echo '{"name":"d","version":"1.0.0"}' >package.json && npm pack -s >/dev/null && ls *.tgz >/dev/null`},

	{name: "tar", needs: "tar", do: `mkdir d && echo 1 >d/a && chmod 751 d/a && tar cf - d | (mkdir e && cd e && tar xpf -) && test "$(stat -c %a e/d/a)" = 751`},
	{name: "zip by python", needs: "python3", do: `echo 1 >a && python3 -m zipfile -c z.zip a && rm a && python3 -m zipfile -e z.zip . && test -f a`},
	{name: "cp -a", needs: "cp", do: `mkdir d && touch -d 2001-01-01 d/a && ln -s a d/l && cp -a d e && test "$(stat -c %Y e/a)" = "$(stat -c %Y d/a)" && test -L e/l`},
	{name: "mv to the temporary directory", needs: "mv", do: `echo 1 >a && mv a "$TMPDIR/a" && mv "$TMPDIR/a" b && test -f b`},
	{name: "chmod, touch, ln", needs: "chmod", do: `touch -t 200101010000 a && chmod u+x,g-w a && test -x a && ln a b && ln -s a c && chmod 600 c && test "$(stat -c %a a)" = 600`},
	{name: "sed -i and sort -o", needs: "sed sort", do: `printf 'b\na\n' >f && sed -i s/a/c/ f && sort -o f f && test "$(cat f)" = "$(printf 'b\nc')"`},
	{name: "find and xargs", needs: "find xargs", do: `touch a.x b.x && find . -name '*.x' -print0 | xargs -0 rm && ! ls *.x 2>/dev/null`},
	{name: "flock", needs: "flock", do: `flock l true`},
	{name: "here documents and substitution", needs: "bash", do: `cat <<X >a && test "$(cat <(cat a))" = hello
hello
X`},
	{name: "mkfifo", needs: "mkfifo", do: `mkfifo p && (echo hello >p &) && grep -q hello p`},
	{name: "coprocess and traps", needs: "bash", do: `trap 'true' EXIT; coproc cat; echo hello >&${COPROC[1]}; read -r x <&${COPROC[0]}; test "$x" = hello`},
	{name: "background jobs", needs: "bash", do: `sleep 0.05 & sleep 0.05 & wait; kill -0 $$`},
	{name: "timeout", needs: "timeout", do: `timeout 0.05 sleep 5 || test $? = 124`},
	{name: "sqlite3", needs: "sqlite3", do: `sqlite3 a.db 'create table t(a); insert into t values(1); select * from t' | grep -q 1`},
	{name: "openssl", slow: true, needs: "openssl", do: `openssl req -x509 -newkey rsa:2048 -nodes -keyout k -out c -subj /CN=x 2>/dev/null && test -s c`},
	{name: "rg", needs: "rg", do: `echo hello >a && rg -q hello`},
	{name: "jq", needs: "jq", do: `echo '{"a":1}' | jq -e .a >/dev/null`},
	{name: "perl", needs: "perl", do: `perl -e 'use IO::Socket::INET; my $s=IO::Socket::INET->new(Listen=>1,LocalAddr=>"127.0.0.1") or die; my $c=IO::Socket::INET->new(PeerAddr=>"127.0.0.1",PeerPort=>$s->sockport) or die; $s->accept or die'`},
	{name: "name lookup of localhost", needs: "getent", do: `getent hosts localhost >/dev/null`},
	{name: "ps and /proc", needs: "ps", do: `ps aux >/dev/null && test -r /proc/self/status && test -d /proc/self/fd`},
	{name: "standard devices", needs: "bash", do: `head -c 8 /dev/urandom >/dev/null && echo x >/dev/null && (echo x >/dev/stdout) | grep -q x && cat </dev/null && (: 2>/dev/stderr) 2>&1 | cat`},
	{name: "id and whoami", needs: "id", do: `id >/dev/null && test -n "$(id -u)"`},
	{name: "ssh-keygen", needs: "ssh-keygen", do: `ssh-keygen -q -t ed25519 -N '' -f k && test -f k.pub`},
	{name: "a script of one's own", needs: "bash", do: `printf '#!/bin/bash\necho hello\n' >s && chmod +x s && ./s | grep -q hello`},
}

const goModule = `cat >go.mod <<X
module example.org/x
go 1.21
X
cat >a.go <<X
package main
import "fmt"
func main() { fmt.Println("hello") }
X
cat >a_test.go <<X
package main
import ("io"; "net/http"; "net/http/httptest"; "testing"; "os/exec")
func TestServer(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "x") }))
	defer s.Close()
	if _, err := http.Get(s.URL); err != nil { t.Fatal(err) }
	if err := exec.Command("true").Run(); err != nil { t.Fatal(err) }
}
X
export GOFLAGS=-p=1 GOTOOLCHAIN=local GOCACHE=$TESTCACHE; `

const pythonServer = `cat >t.py <<X
import unittest, threading, http.server, urllib.request
class T(unittest.TestCase):
    def test(self):
        s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
        threading.Thread(target=s.serve_forever, daemon=True).start()
        self.assertEqual(urllib.request.urlopen("http://127.0.0.1:%d/" % s.server_port).status, 200)
        s.shutdown()
X
`

// thorough reports whether tests are to take their time.
func thorough() bool { return os.Getenv("AGENTKIT_SOAK") != "" && !testing.Short() }

// TestRecipes does what developers do: with AGENTKIT_SOAK all of it, at each
// level and as each user, else the quick part, at L3 and as this user.
func TestRecipes(t *testing.T) {
	cache := goCache(t)
	for _, uid := range users(t) {
		for _, level := range levels() {
			if !thorough() && (uid != os.Getuid() || level != L3) {
				continue
			}
			for _, r := range recipes {
				if r.slow && !thorough() {
					continue
				}
				t.Run(fmt.Sprintf("%s as %d %s", level, uid, r.name), func(t *testing.T) {
					t.Parallel()
					try(t, r, uid, level, cache)
				})
			}
		}
	}
}

func try(t *testing.T, r recipe, uid int, level Level, cache string) {
	b := newBox(t, uid, level)
	for p := range strings.FieldsSeq(r.needs) {
		if !found(p, b.env[0]) {
			t.Skip("SKIPPED: there is no " + p)
		}
		if _, err := user.LookupId(strconv.Itoa(uid)); err != nil && p == "ssh-keygen" {
			t.Skip("SKIPPED: ssh-keygen works for nobody whom it does not know by name: ", err)
		}
	}
	if strings.Contains(r.do, "TESTCACHE") {
		b.ReadWrite, b.env = append(b.ReadWrite, cache), append(b.env, "TESTCACHE="+cache)
	}
	if home := os.Getenv("HOME"); strings.Contains(r.needs, "rustc") || strings.Contains(r.needs, "cargo") {
		if uid != os.Getuid() {
			t.Skip("SKIPPED: the toolchain is another user's")
		}
		b.env = append(b.env, "CARGO_HOME="+filepath.Join(b.dir, ".cargo"), "RUSTUP_HOME="+filepath.Join(home, ".rustup"))
	}
	_ = os.RemoveAll(filepath.Join(b.dir, ".git"))
	b.bash(t, "set -e\n(\n"+r.do+"\n)\necho ok")
	if !strings.HasSuffix(b.stdout, "ok\n") {
		t.Errorf("status %+v\n%s%s%+v", b.state, b.stdout, b.stderr, b.report.Denials)
	}
}

// found reports whether a program is on the path that a variable sets.
func found(program, variable string) bool {
	_, path, _ := strings.Cut(variable, "=")
	for _, dir := range filepath.SplitList(path) {
		if _, err := os.Stat(filepath.Join(dir, program)); err == nil {
			return true
		}
	}
	return false
}

// goCache is a cache of built packages that all users may write.
func goCache(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "cache") //nolint:usetesting // other users must reach it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	return dir
}
