#!/usr/bin/env python3
"""Tries real toolchains inside the sandbox: each task runs outside and inside, in
homes of its own that are fresh and lived in, offline and with a registry that is
reached through the proxy. It has to end with the same status, or a note has to say
what was refused. What is not installed is skipped and named.

    testdata/toolchains.py [-v] [--level L2|L3] [NAME...]    AGENTKIT is the program to try
"""
import argparse, base64, gzip, hashlib, http.server, io, json, os, shutil, subprocess, sys, tarfile, tempfile, threading, zipfile

# NAME, programs that it needs, files of the project, the command, what makes the
# project ready outside. {registry} is the registry's address, also where none answers.
GO = {"go.mod": "module example.org/a\ngo 1.21\n", "a.go": "package main\n\nfunc main() { println(\"hello\") }\n", "a_test.go": "package main\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {}\n"}
GO_DEP = {"go.mod": "module example.org/a\ngo 1.21\nrequire example.org/dep v1.0.0\n", "a.go": "package main\n\nimport \"example.org/dep\"\n\nfunc main() { println(dep.X) }\n"}
NPM = {"package.json": json.dumps({"name": "a", "version": "1.0.0", "scripts": {"test": "node -e 'require(\"dep\")'"}, "dependencies": {"dep": "1.0.0"}})}
CARGO = {"Cargo.toml": "[package]\nname = \"a\"\nversion = \"1.0.0\"\nedition = \"2021\"\n", "src/main.rs": "fn main() { println!(\"hello\") }\n"}
CARGO_DEP = {**CARGO, "Cargo.toml": CARGO["Cargo.toml"] + "[dependencies]\ndep = \"1.0.0\"\n", "src/main.rs": "fn main() { dep::x() }\n",
             ".cargo/config.toml": "[source.crates-io]\nreplace-with = \"trial\"\n[source.trial]\nregistry = \"sparse+http://{registry}/cargo/\"\n"}
POM = {"pom.xml": "<project><modelVersion>4.0.0</modelVersion><groupId>a</groupId><artifactId>a</artifactId><version>1</version><packaging>pom</packaging></project>"}
GEMS = {"Gemfile": "source 'http://{registry}/gem'\ngem 'trialdep'\n", ".bundle/config": "---\nBUNDLE_PATH: \"vendor/bundle\"\n"}
COMPOSER = {"composer.json": json.dumps({"repositories": [{"packagist.org": False}, {"type": "composer", "url": "http://{registry}/composer"}], "require": {"trial/dep": "1.0.0"}, "config": {"secure-http": False}})}
TASKS = [
    ("go-build", "go", GO, "go build -o a . && ./a", None),
    ("go-test-vet", "go", GO, "go test ./... && go vet ./...", None),
    ("go-install", "go", GO, "go install .", None),
    ("go-tail", "go", GO, "go install . 2>&1 | tail -3", None),
    ("go-get", "go", GO_DEP, "go mod tidy && go build -o a . && ./a", None),
    ("npm-install", "npm", NPM, "npm install && npm test", None),
    ("npm-global", "npm", {}, "npm install -g dep", None),
    ("npx", "npx", {}, "npx -y dep", None),
    ("npx-tail", "npx", {}, "npx -y dep 2>&1 | tail -15", None),
    ("venv-pip", "/usr/bin/python3", {}, "/usr/bin/python3 -m venv v && v/bin/pip install trialdep && v/bin/python -c 'import trialdep'", None),
    ("pip-user", "/usr/bin/python3", {}, "/usr/bin/python3 -m pip install --user --break-system-packages trialdep", None),
    ("cargo-build", "cargo", CARGO, "cargo build && cargo test && cargo run", None),
    ("cargo-dep", "cargo", CARGO_DEP, "cargo build", None),
    ("cargo-install", "cargo", CARGO, "cargo install --path .", None),
    ("make", "make gcc", {"Makefile": "a: a.c\n\tcc -o a a.c\ntest: a\n\t./a\n", "a.c": "int main(void) { return 0; }\n"}, "make -j2 test", None),
    ("cmake", "cmake make", {"CMakeLists.txt": "cmake_minimum_required(VERSION 3.10)\nproject(a C)\nadd_executable(a a.c)\nenable_testing()\nadd_test(a a)\n", "a.c": "int main(void) { return 0; }\n"}, "cmake -B build && cmake --build build && ctest --test-dir build", None),
    ("maven", "mvn", POM, "mvn -q -o validate", None),
    ("gradle", "gradle", {"build.gradle": "task hello { doLast { println 'hello' } }\n"}, "gradle --offline hello", None),
    ("bundler", "bundle", GEMS, "bundle install && bundle exec ruby -e 'require \"trialdep\"'", None),
    ("composer", "composer", COMPOSER, "composer install", None),
    ("git-clone", "git", {}, "git clone http://{registry}/git/a.git && cd a && git -c user.name=a -c user.email=a@example.org commit --allow-empty -m x", None),
    ("git-config", "git", {}, "git init -q . && git config --global user.name a", None),
    ("pre-commit", "pre-commit", {".pre-commit-config.yaml": "repos:\n- repo: local\n  hooks:\n  - {id: a, name: a, entry: 'true', language: system}\n"}, "pre-commit run --all-files", "git init -q . && git add ."),
]


def tarball(files, prefix):
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as t:
        for name, text in files.items():
            i = tarfile.TarInfo(prefix + name)
            i.size, i.mode = len(text), 0o755 if name.startswith("bin") else 0o644
            t.addfile(i, io.BytesIO(text.encode()))
    return gzip.compress(raw.getvalue(), mtime=0)


def zipped(files):
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as z:
        for name, text in files.items():
            z.writestr(name, text)
    return raw.getvalue()


def registry(address, where):
    """The files of one package for each tool, by path."""
    npm = tarball({"package.json": json.dumps({"name": "dep", "version": "1.0.0", "bin": "bin.js"}), "index.js": "", "bin.js": "#!/usr/bin/env node\nconsole.log('ran')\n"}, "package/")
    dist = {"tarball": f"http://{address}/npm/dep/-/dep-1.0.0.tgz", "integrity": "sha512-" + base64.b64encode(hashlib.sha512(npm).digest()).decode()}
    wheel = zipped({"trialdep.py": "", "trialdep-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: trialdep\nVersion: 1.0\n",
                    "trialdep-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n", "trialdep-1.0.dist-info/RECORD": "trialdep.py,,\n"})
    crate = tarball({"Cargo.toml": "[package]\nname = \"dep\"\nversion = \"1.0.0\"\nedition = \"2021\"\n", "src/lib.rs": "pub fn x() {}\n"}, "dep-1.0.0/")
    gomod = "module example.org/dep\n"
    php = zipped({"composer.json": "{\"name\": \"trial/dep\"}"})
    package = {"name": "trial/dep", "version": "1.0.0", "dist": {"type": "zip", "url": f"http://{address}/composer/dep.zip", "shasum": hashlib.sha1(php).hexdigest()}}
    files = {
        "/npm/dep": json.dumps({"name": "dep", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": {"name": "dep", "version": "1.0.0", "bin": {"dep": "bin.js"}, "dist": dist}}}),
        "/npm/dep/-/dep-1.0.0.tgz": npm,
        "/pip/trialdep/": "<a href='../trialdep-1.0-py3-none-any.whl'>trialdep-1.0-py3-none-any.whl</a>", "/pip/trialdep-1.0-py3-none-any.whl": wheel,
        "/cargo/config.json": json.dumps({"dl": f"http://{address}/cargo/dl/{{crate}}"}), "/cargo/dl/dep": crate,
        "/cargo/3/d/dep": json.dumps({"name": "dep", "vers": "1.0.0", "deps": [], "cksum": hashlib.sha256(crate).hexdigest(), "features": {}, "yanked": False}),
        "/go/example.org/dep/@v/list": "v1.0.0\n", "/go/example.org/dep/@v/v1.0.0.info": "{\"Version\":\"v1.0.0\"}", "/go/example.org/dep/@v/v1.0.0.mod": gomod,
        "/go/example.org/dep/@v/v1.0.0.zip": zipped({"example.org/dep@v1.0.0/go.mod": gomod, "example.org/dep@v1.0.0/dep.go": "package dep\n\nconst X = 1\n"}),
        "/composer/packages.json": json.dumps({"packages": {"trial/dep": {"1.0.0": package}}}), "/composer/dep.zip": php,
    }
    if shutil.which("gem"):
        gem = os.path.join(where, "gem")
        os.makedirs(os.path.join(gem, "gems"))
        with open(os.path.join(gem, "trialdep.rb"), "w"):
            pass
        with open(os.path.join(gem, "a.gemspec"), "w") as f:
            f.write("Gem::Specification.new { |s| s.name='trialdep'; s.version='1.0'; s.summary='x'; s.authors=['a']; s.files=['trialdep.rb']; s.require_paths=['.'] }")
        subprocess.run("gem build -q a.gemspec -o gems/trialdep-1.0.gem && gem generate_index -q -d .", shell=True, cwd=gem, check=True, capture_output=True)
        add(files, gem, "/gem")
    repo = os.path.join(where, "git")
    subprocess.run(f"git init -q {repo}/w && cd {repo}/w && git -c user.name=a -c user.email=a@example.org commit -q --allow-empty -m one && git clone -q --bare . ../a.git && git -C ../a.git update-server-info", shell=True, check=True)
    add(files, repo, "/git")
    return files


def add(files, where, prefix):
    for d, _, names in os.walk(where):
        for n in names:
            path = os.path.join(d, n)
            if os.path.isfile(path):
                with open(path, "rb") as f:
                    files[prefix + path[len(where):]] = f.read()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = self.server.files.get(self.path.split("?")[0])
        if body is None:
            self.send_error(404)
            return
        body = body.encode() if isinstance(body, str) else body
        self.send_response(200)
        if self.path.startswith("/pip/") and self.path.endswith("/"):
            self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_HEAD = do_GET

    def log_message(self, *args):
        pass


def own_address():
    """An address of this machine that is not its loopback: commands reach it through the proxy only."""
    out = subprocess.run(["hostname", "-I"], capture_output=True, text=True).stdout.split()
    return next((a for a in out if ":" not in a), None)


LEVELS = {"L3": [], "L2": ["unshare", "-Ur", "sh", "-c", 'echo 0 >/proc/sys/user/max_user_namespaces && exec setpriv --bounding-set=-all --inh-caps=-all "$@"', "-"]}


class Trial:
    def __init__(self, agentkit, base, verbose):
        self.agentkit, self.base, self.verbose, self.failed, self.done, self.notes = agentkit, base, verbose, 0, 0, 0

    def project(self, task, label, address):
        root = os.path.join(self.base, label, "root")
        os.makedirs(root)
        for name, text in task[2].items():
            path = os.path.join(root, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as f:
                f.write(text.replace("{registry}", address))
        if task[4]:
            subprocess.run(task[4], shell=True, cwd=root, check=True)
        return root

    def environment(self, label, address):
        home = os.path.join(self.base, label, "home")
        os.makedirs(home, exist_ok=True)
        env = {k: v for k, v in os.environ.items() if k in ("PATH", "LANG", "RUSTUP_HOME", "JAVA_HOME")}
        if os.path.isdir(os.path.expanduser("~/.rustup")):
            env.setdefault("RUSTUP_HOME", os.path.expanduser("~/.rustup"))
        env.update({
            "HOME": home, "XDG_STATE_HOME": os.path.join(self.base, label, "state"), "GOPROXY": f"http://{address}/go", "GONOSUMDB": "*", "GOFLAGS": "-buildvcs=false", "GOTOOLCHAIN": "local",
            "npm_config_registry": f"http://{address}/npm", "npm_config_prefix": home + "/.npm-global", "npm_config_fetch_retries": "0", "npm_config_audit": "false",
            "PIP_INDEX_URL": f"http://{address}/pip", "PIP_TRUSTED_HOST": address.split(":")[0], "PIP_RETRIES": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "CARGO_NET_RETRY": "0", "COMPOSER_ALLOW_SUPERUSER": "1", "GRADLE_USER_HOME": home + "/.gradle", "JAVA_TOOL_OPTIONS": "-Duser.home=" + home, "GIT_TERMINAL_PROMPT": "0",
        })
        return env

    def outside(self, task, label, address):
        root = self.project(task, label, address)
        p = subprocess.run(["bash", "-c", task[3].replace("{registry}", address)], cwd=root, env=self.environment(label, address), capture_output=True, text=True, stdin=subprocess.DEVNULL)
        return p.returncode, p.stdout + p.stderr

    def inside(self, task, label, address, level, net):
        root = self.project(task, label, address)
        policy = os.path.join(self.base, label, "policy.yaml")
        with open(policy, "w") as f:
            f.write("version: 1\n" + ("network: {allow: ['%s']}\n" % address if net == "proxy" else ""))
        env = self.environment(label, address)
        argv = LEVELS[level] + [self.agentkit, "bash", "--policy", policy, "--timeout-ms", "300000", "--allow", "bash", "--allow", "edit", "--allow", "read", task[3].replace("{registry}", address)]
        p = subprocess.run(argv, cwd=root, env=env, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        try:
            r = json.loads(p.stdout)
        except ValueError:
            return p.returncode, p.stdout + p.stderr, "", ""
        if r.get("error", {}).get("code") in ("denied", "approval_required"):
            return p.returncode, r["output"], level, [{"kind": "call", "path": r["error"]["message"]}]
        meta = r.get("metadata", {})
        return p.returncode, r.get("output", "") + json.dumps(r.get("error", "")), meta.get("sandbox"), (meta.get("sandbox_detail") or {}).get("denials") or []

    def try_one(self, task, kind, net, level, server, closed):
        address = server if net == "proxy" else closed
        label = "-".join([task[0], kind, net, level])
        homes = []
        for side in ("out", "in"):
            if kind == "lived-in":
                # The registry's address is part of what some caches are found by.
                self.outside(task, f"{label}-{side}", address if net == "proxy" else server)
                shutil.rmtree(os.path.join(self.base, f"{label}-{side}", "root"))
        want, said = self.outside(task, label + "-out", address)
        got, text, reached, denials = self.inside(task, label + "-in", address, level, net)
        self.done += 1
        ok, why = reached == level, f"the level is {reached}"
        if net == "proxy" and want:
            ok, why = False, "it fails outside, too"
        elif ok and (got != want or denials):
            self.notes += bool(denials)
            ok, why = bool(denials), f"status {got}, outside {want}, no note"
        elif ok and "tail" in task[0] and want == 0 and self.refused_behind_tail(text):
            ok, why = False, "refused behind tail, without a note"
        mark = "ok  " if ok else "FAIL"
        if self.verbose or not ok:
            print(f"{mark} {label}: status {got}, outside {want}", "; ".join(f"{d['kind']} {d['path']}" for d in denials) or "", flush=True)
        if not ok:
            self.failed += 1
            print(f"     {why}\n     " + text[-1500:].replace("\n", "\n     "), flush=True)
            if self.verbose:
                print("     outside:\n     " + said[-800:].replace("\n", "\n     "), flush=True)
        for side in ("out", "in"):
            subprocess.run(["chmod", "-R", "u+w", f"{self.base}/{label}-{side}"])
            shutil.rmtree(f"{self.base}/{label}-{side}", ignore_errors=True)

    @staticmethod
    def refused_behind_tail(text):
        return any(m in text.lower() for m in ("read-only file system", "permission denied", "erofs", "eacces"))


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("-v", action="store_true")
    a.add_argument("--level", action="append")
    a.add_argument("--home", action="append")
    a.add_argument("--net", action="append")
    a.add_argument("names", nargs="*")
    o = a.parse_args()
    base = os.path.expanduser("~/.cache")  # homes in a directory for temporary files would be writable
    os.makedirs(base, exist_ok=True)
    base = tempfile.mkdtemp(prefix="agentkit-trial-", dir=base)
    agentkit = os.environ.get("AGENTKIT")
    try:
        if not agentkit:
            agentkit = os.path.join(base, "agentkit")
            subprocess.run(["go", "build", "-o", agentkit, "."], cwd=os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."), check=True)
        server = http.server.ThreadingHTTPServer((own_address() or "127.0.0.1", 0), Handler)
        address = "%s:%d" % server.server_address[:2]
        server.files = registry(address, base)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        closed = "%s:9" % server.server_address[0]  # nobody answers there
        t = Trial(agentkit, base, o.v)
        for task in TASKS:
            if o.names and task[0] not in o.names:
                continue
            missing = [p for p in task[1].split() if not shutil.which(p)]
            if missing:
                print("SKIPPED", task[0] + ": no", *missing, flush=True)
                continue
            for level in o.level or LEVELS:
                for kind in o.home or ("fresh", "lived-in"):
                    for net in o.net or ("offline", "proxy"):
                        t.try_one(task, kind, net, level, address, closed)
        print(f"{t.done} tried, {t.notes} with a note of what was refused, {t.failed} failed")
        return 1 if t.failed else 0
    finally:
        subprocess.run(["chmod", "-R", "u+w", base])
        shutil.rmtree(base, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
