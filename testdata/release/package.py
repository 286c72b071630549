#!/usr/bin/env python3
"""Makes what a release carries beside the binaries, the same bytes at every run.

  package.py notices                      the licences of all that the binaries contain, as text
  package.py stage DIR                    what archives and Debian's and Red Hat's packages contain, below DIR
  package.py npm OUT VERSION OS-ARCH=BINARY...
  package.py wheel OUT VERSION OS-ARCH=BINARY...

VERSION is what "agentkit version" says, OS and ARCH are Go's names. Nothing but
Python and Go is needed.
"""
import base64, gzip, hashlib, io, json, os, pathlib, re, shutil, subprocess, sys, tarfile, tempfile, zipfile

PLATFORMS = ["linux-amd64", "linux-arm64", "darwin-amd64", "darwin-arm64", "windows-amd64"]
HOME = "https://github.com/agentkit-go/agentkit"
SUMMARY = "Tools for coding agents: commands, files, search, and a policy for each call"
LICENCE = re.compile(r"(licen[cs]e|copying|notice|patents)([-._].*)?$", re.IGNORECASE)
TOP = pathlib.Path(__file__).resolve().parents[2]


def go(*words, **env):
    return subprocess.run(["go", *words], cwd=TOP, check=True, stdout=subprocess.PIPE, text=True, env=os.environ | env).stdout


def packages():
    """The packages of other modules that the binaries are linked from, on any platform."""
    found = {}
    for platform in PLATFORMS:
        goos, goarch = platform.split("-")
        form = "{{with .Module}}{{if not .Main}}{{$.ImportPath}}\t{{$.Dir}}\t{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}"
        for line in go("list", "-deps", "-f", form, ".", GOOS=goos, GOARCH=goarch, CGO_ENABLED="0").splitlines():
            name, *rest = line.split("\t")
            found[name] = rest
    return found


def licences(place, top):
    """The licence files of a directory and of those above it, up to its module's."""
    found = []
    while True:
        found += sorted(f for f in place.iterdir() if LICENCE.match(f.name) and f.is_file() and f.suffix != ".go")
        if place == top:
            return found
        place = place.parent


def notices():
    modules = {}
    for place, path, version, top in packages().values():
        modules.setdefault((path, version), set()).update(licences(pathlib.Path(place), pathlib.Path(top)))
    missing = [path for (path, _), files in modules.items() if not files]
    if missing:
        sys.exit("no licence is found for: " + " ".join(missing))
    goroot = pathlib.Path(go("env", "GOROOT").strip())
    out = ["agentkit is made with the software below, whose authors ask that these texts come with it.\n"]
    out += part("Go's standard library and runtime", go("env", "GOVERSION").strip(), [goroot / "LICENSE", goroot / "PATENTS"])
    for (path, version), files in sorted(modules.items()):
        out += part(path, version, sorted(files))
    return "".join(out)


def part(name, version, files):
    texts = list(dict.fromkeys(f.read_text(encoding="utf-8").replace("\r\n", "\n").strip() for f in files))
    return [f"\n{'=' * 78}\n{name} {version}\n\n", "\n\n".join(texts), "\n"]


def stage(out):
    """archive is what archives have beside the binary, share what belongs into /usr/share, deb and rpm what only these have there."""
    shutil.rmtree(out, ignore_errors=True)
    texts = {"NOTICE": notices().encode(), "README.md": (TOP / "README.md").read_bytes(), "CHANGELOG.md": (TOP / "CHANGELOG.md").read_bytes()}
    for name, text in texts.items():
        put(text, out / "archive" / name, out / "share/doc/agentkit" / name)
    places = {
        "bash": ["share/bash-completion/completions/agentkit"],
        "zsh": ["deb/zsh/vendor-completions/_agentkit", "rpm/zsh/site-functions/_agentkit"],
        "fish": ["share/fish/vendor_completions.d/agentkit.fish"],
        "powershell": [],
    }
    for shell, names in places.items():
        file = f"agentkit.{shell}"
        put((TOP / "completions" / file).read_bytes(), out / "archive/completions" / file, *(out / name for name in names))
    with tempfile.TemporaryDirectory() as man:
        go("test", "-count=1", "-run", "^TestManual$", ".", "-man", man)
        for page in sorted(pathlib.Path(man).glob("man*/*")):
            name = pathlib.Path("man", page.parent.name, page.name)
            put(page.read_bytes(), out / "archive" / name)
            put(gzip.compress(page.read_bytes(), mtime=0), out / "share" / (str(name) + ".gz"))


def put(data, *names):
    for name in names:
        name.parent.mkdir(parents=True, exist_ok=True)
        name.write_bytes(data)


def binaries(words):
    for word in words:
        platform, _, name = word.partition("=")
        if platform not in PLATFORMS:
            sys.exit(f"{word}: want OS-ARCH=BINARY with one of {' '.join(PLATFORMS)}")
        goos, goarch = platform.split("-")
        yield goos, goarch, pathlib.Path(name).read_bytes()


def npm(out, version, words):
    """One package for each platform, and one that depends on all of them, of which npm installs what fits."""
    version = version.removeprefix("v")
    common = {"version": version, "description": SUMMARY, "homepage": HOME, "repository": {"type": "git", "url": f"git+{HOME}.git"}}
    texts = {"README.md": (TOP / "README.md").read_bytes(), "NOTICE": notices().encode()}
    parts = {}
    for goos, goarch, binary in binaries(words):
        system, cpu = {"windows": "win32"}.get(goos, goos), {"amd64": "x64"}.get(goarch, goarch)
        name = f"@agentkit-go/{system}-{cpu}"
        parts[name] = version
        file = "bin/agentkit.exe" if goos == "windows" else "bin/agentkit"
        tarball(out, {"name": name, **common, "os": [system], "cpu": [cpu], "files": ["bin", "NOTICE"]}, texts | {file: binary})
    launcher = (TOP / "testdata/release/npm/agentkit.js").read_bytes()
    manifest = {"name": "agentkit", **common, "bin": {"agentkit": "bin/agentkit.js"}, "files": ["bin", "NOTICE"], "engines": {"node": ">=18"}, "optionalDependencies": parts}
    tarball(out, manifest, texts | {"bin/agentkit.js": launcher})


def tarball(out, manifest, files):
    name = manifest["name"].removeprefix("@").replace("/", "-") + f"-{manifest['version']}.tgz"
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for path, data in [("package.json", (json.dumps(manifest, indent=2) + "\n").encode()), *sorted(files.items())]:
            info = tarfile.TarInfo("package/" + path)
            info.size, info.mode, info.mtime = len(data), 0o755 if path.startswith("bin/") else 0o644, 499162500  # 1985, as npm has it
            tar.addfile(info, io.BytesIO(data))
    (out / name).write_bytes(gzip.compress(raw.getvalue(), 6, mtime=0))


# The oldest systems that Go's programs run on.
TAGS = {
    "linux-amd64": "manylinux_2_17_x86_64.musllinux_1_1_x86_64",
    "linux-arm64": "manylinux_2_17_aarch64.musllinux_1_1_aarch64",
    "darwin-amd64": "macosx_12_0_x86_64",
    "darwin-arm64": "macosx_12_0_arm64",
    "windows-amd64": "win_amd64",
}


def pep440(version):
    """v1.2.3 and v1.2.3-rc.1 as Python has them; a version that Go made of a commit is one of development."""
    base, _, pre = version.removeprefix("v").partition("+")[0].partition("-")
    if made := re.search(r"(\d{14})-[0-9a-f]{12}$", pre):
        return f"{base}.dev{made[1]}"
    if m := re.fullmatch(r"(alpha|beta|rc)\.?(\d+)", pre):
        return base + {"alpha": "a", "beta": "b", "rc": "rc"}[m[1]] + m[2]
    if pre:
        sys.exit(f"{version}: want v1.2.3 or v1.2.3-rc.1")
    return base


def wheel(out, version, words):
    """One wheel for each platform: its installer puts the binary itself among the programs."""
    version = pep440(version)
    info = f"agentkit-{version}.dist-info"
    notice, readme = notices(), (TOP / "README.md").read_text(encoding="utf-8")
    for goos, goarch, binary in binaries(words):
        tags = TAGS[f"{goos}-{goarch}"]
        files = {
            f"agentkit-{version}.data/scripts/agentkit" + (".exe" if goos == "windows" else ""): binary,
            f"{info}/licenses/NOTICE": notice.encode(),
            f"{info}/METADATA": (
                f"Metadata-Version: 2.4\nName: agentkit\nVersion: {version}\nSummary: {SUMMARY}\nProject-URL: Homepage, {HOME}\n"
                f"License-File: NOTICE\nRequires-Python: >=3.8\nDescription-Content-Type: text/markdown\n\n{readme}"
            ).encode(),
            f"{info}/WHEEL": "\n".join(["Wheel-Version: 1.0", "Generator: agentkit", "Root-Is-Purelib: false", *(f"Tag: py3-none-{t}" for t in tags.split(".")), ""]).encode(),
        }
        record = "".join(f"{n},sha256={base64.urlsafe_b64encode(hashlib.sha256(d).digest()).rstrip(b'=').decode()},{len(d)}\n" for n, d in files.items())
        files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
        with zipfile.ZipFile(out / f"agentkit-{version}-py3-none-{tags}.whl", "w", zipfile.ZIP_DEFLATED) as z:
            for name, data in files.items():
                entry = zipfile.ZipInfo(name)
                entry.external_attr = (0o100755 if "/scripts/" in name else 0o100644) << 16
                entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3
                z.writestr(entry, data)


def main(words):
    match words:
        case ["notices"]:
            print(notices(), end="")
        case ["stage", out]:
            stage(pathlib.Path(out))
        case [("npm" | "wheel") as kind, out, version, *rest] if rest:
            place = pathlib.Path(out)
            place.mkdir(parents=True, exist_ok=True)
            {"npm": npm, "wheel": wheel}[kind](place, version, rest)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
