#!/usr/bin/env python3
"""Scores what pages become, beside turndown and Mozilla's Readability.

    testdata/web/score.py [-v] [--pages N] [--work DIR] [--readability CHECKOUT]

The pages are those of Debian documentation packages, by many generators, and, where
a checkout of mozilla/readability is given or found, its test pages. Without apt-get,
dpkg-deb, node or npm it says what is missing and measures nothing.

What is true is found without the converter, and with another parser (Python's): for
each generator below stands in which element it puts the content, what in there is no
content (links to the heading itself, navigation), and how it names the language of code.
Of that element the text, the blocks of code byte for byte, the cells of tables and
the links are compared with what a reader of the Markdown gets.

  words   F1 of groups of four words, mean of the pages
  code    blocks of code that are there exactly
  lang    of these, and where the page names one, those with the right language
  cells   cells of tables that are in a row of a Markdown table with their neighbours
  links   links to other pages, absolute
  escapes backslashes in 10 kB outside code (told, not judged)
"""

import argparse, collections, glob, html.parser, json, os, re, shutil, subprocess, sys, time, urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "agentkit-web")
FLOORS = {"words": 0.98, "code": 0.995, "lang": 0.98, "cells": 0.99, "links": 0.98}
ARTICLES = 0.95
DOC = "usr/share/doc/"
PRE_LANG = "language-([a-z0-9+#-]+)"

# package, files, the element with the content, what in it is none, where the language stands
GENERATORS = {
    "sphinx-pallets": ("python-flask-doc", DOC + "python-flask-doc/html/**/*.html", ".body", ".headerlink .viewcode-link .contents", "highlight-([a-z0-9+-]+)"),
    "sphinx-django": ("python-django-doc", DOC + "python-django-doc/html/**/*.html", "#bd .yui-b", ".headerlink .viewcode-link .viewcode-back .contents .nav", "highlight-([a-z0-9+-]+)"),
    "sphinx-cmake": ("cmake-doc", DOC + "cmake-data/html/**/*.html", ".body", ".headerlink .contents", "highlight-([a-z0-9+-]+)"),
    "sphinx-policy": ("debian-policy", DOC + "debian-policy/policy.html/*.html", ".body", ".headerlink .contents", "highlight-([a-z0-9+-]+)"),
    "sphinx-fish": ("fish-common", DOC + "fish/**/*.html", ".body", ".headerlink .contents", "highlight-([a-z0-9+-]+)"),
    "rustdoc": ("rust-doc", DOC + "rust-doc/html/std/*/*.html", "#main-content", ".out-of-band .rightside .srclink .anchor .hideme .notable-traits .test-arrow button", "^(rust)$"),
    "mdbook": ("rust-doc", DOC + "rust-doc/html/book/*.html", "main", "button", PRE_LANG),
    "docbook-postgresql": ("postgresql-doc-15", DOC + "postgresql-doc-15/html/*.html", "body", ".navheader .navfooter", "^$"),
    "asciidoc-git": ("git-doc", DOC + "git-doc/*.html", "body", "#footer", "^$"),
    "javadoc": ("libcommons-io-java-doc", DOC + "libcommons-io-java/api/org/**/*.html", "main", "nav button .sub-nav .subNav .top-nav .skip-nav", "^$"),
    "doxygen": ("doxygen-doc", DOC + "doxygen/html/*.html", ".headertitle+.contents", ".lineno .footer .permalink", "^$"),
    "gtk-doc": ("libglib2.0-doc", "usr/share/gtk-doc/html/glib/*.html", "body", ".navigation .footer .toc .listing_lines", "^(c|programlisting)$"),
    "texinfo": ("bash-doc", DOC + "bash/bashref.html", "body", ".header .nav-panel", "^$"),
    "mkdocs": ("mkdocs-doc", DOC + "mkdocs/html/**/*.html", ".col-md-9", ".headerlink .footer", PRE_LANG),
    "nodejs": ("nodejs-doc", DOC + "nodejs/api/*.html", "#apicontent", ".mark .anchor .copy-button .stability-link", PRE_LANG),
    "swi-prolog": ("swi-prolog-doc", "usr/share/swi-prolog/doc/Manual/*.html", "body", ".navigate .nav", "^$"),
}
# Others, which nothing was tuned on before they were measured for the first time: --more
MORE = {
    "qdoc": ("qtbase5-doc-html", "usr/share/qt5/doc/qt*/q*.html", ".mainContent", ".sidebar", "^(cpp|qml)$"),
    "rdoc": ("asciidoctor-doc", DOC + "asciidoctor-doc/html/Asciidoctor/**/*.html", "main", ".method-click-advice .search-section .breadcrumb", "^(ruby)$"),
    "mediawiki": ("cppreference-doc-en-html", "usr/share/cppreference/doc/html/en/cpp/**/*.html", "#mw-content-text", ".t-navbar .editsection .toc .noprint", "source-([a-z]+)"),
    "odoc": ("libocamlgraph-ocaml-doc", DOC + "libocamlgraph-ocaml-doc/html/ocamlgraph/**/*.html", ".content", "nav .anchor", "^$"),
    "docutils": ("libvirt-doc", DOC + "libvirt-doc/html/**/*.html", "main", ".headerlink #contents .contents", "^$"),
    "docbook-mutt": ("mutt", DOC + "mutt/html/*.html", "body", ".navheader .navfooter", "^$"),
    "asciidoctor": ("newsboat", DOC + "newsboat/*.html", "#content", ".anchor", "^$"),
    "asciidoc-i3": ("i3-wm", DOC + "i3-wm/*.html", "#content", "#toc", "^$"),
    "texi2any": ("r-doc-html", "usr/share/R/doc/manual/*.html", "body", ".header .nav-panel .contents .contents-heading .copiable-link .copiable-anchor", "^$"),
    "texi2any-zsh": ("zsh-doc", DOC + "zsh-common/html/*.html", "body", ".header", "^$"),
    "doxygen-glfw": ("libglfw3-doc", DOC + "libglfw3-dev/html/*.html", ".headertitle+.contents", ".lineno .footer .permalink .summary .toc .ttc", "^$"),
    "apache": ("apache2-doc", DOC + "apache2-doc/manual/en/**/*.html", "#page-content", ".toc #quickview #topics .seealso .top .permalink .metalink", "^config$"),
    "sphinx-borg": ("borgbackup-doc", DOC + "borgbackup/html/**/*.html", ".body", ".headerlink .contents .viewcode-link", "highlight-([a-z0-9+-]+)"),
    "linuxdoc": ("bird-doc", DOC + "bird-doc/*.html", "body", "", "^$"),
}
VOID = set("area base br col embed hr img input link meta source track wbr".split())
BLOCK = set("address article aside blockquote body dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr html li main nav ol p pre section summary table tbody td tfoot th thead tr ul br caption".split())
SKIP = set("script style template noscript svg head button select textarea".split())


class Node:
    def __init__(self, tag, attrs=(), parent=None):
        self.tag, self.attrs, self.parent, self.kids = tag, dict((k, v or "") for k, v in attrs), parent, []

    def classes(self):
        return self.attrs.get("class", "").split()

    def walk(self):
        yield self
        for k in self.kids:
            if isinstance(k, Node):
                yield from k.walk()

    def text(self, gap=" "):
        out = []
        for k in self.kids:
            if isinstance(k, str):
                out.append(k)
            elif k.tag not in SKIP:
                block = k.tag in BLOCK
                out.append((gap if block else "") + k.text(gap) + (gap if block else ""))
        return "".join(out)

    def raw(self):
        return "".join(k if isinstance(k, str) else "\n" if k.tag == "br" else k.raw() for k in self.kids)


class Tree(html.parser.HTMLParser):
    """A tree of well-formed pages, with the ends that HTML lets out."""

    CLOSES = {"li": ("li",), "dt": ("dt", "dd"), "dd": ("dt", "dd"), "tr": ("tr", "td", "th"), "td": ("td", "th"), "th": ("td", "th"), "option": ("option",), "tbody": ("tr", "td", "th", "thead", "tbody"), "thead": ()}

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.root = self.at = Node("#")
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        if self.at.tag == "p" and tag in BLOCK and tag != "br":
            self.at = self.at.parent
        while self.at.tag in self.CLOSES.get(tag, ()):
            self.at = self.at.parent
        n = Node(tag, attrs, self.at)
        self.at.kids.append(n)
        if tag not in VOID:
            self.at = n

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID and self.at.tag == tag and self.at.parent.tag in ("svg", "g", "path"):
            self.at = self.at.parent

    def handle_endtag(self, tag):
        n = self.at
        while n is not self.root and n.tag != tag:
            if n.tag in ("table", "td", "th") and tag in ("p", "a", "span", "div", "li"):
                return
            n = n.parent
        if n is not self.root:
            self.at = n.parent

    def handle_data(self, data):
        if self.at.tag == "pre" and not self.at.kids and data.startswith("\n"):
            data = data[1:]
        self.at.kids.append(data)


def matches(node, word):
    if word[0] == ".":
        return word[1:] in node.classes()
    if word[0] == "#":
        return node.attrs.get("id") == word[1:]
    return node.tag == word


def find(root, selector):
    """The first element for each part of a+b, a part being words from outside in."""
    found = Node("#")
    for part in selector.split("+"):
        at = root
        for word in part.split():
            at = next((n for n in at.walk() if n is not at and n.tag != "#" and matches(n, word)), None)
            if at is None:
                return None
        found.kids.append(at)
    return found


def prune(node, words):
    for i, k in enumerate(node.kids[1:]):
        if isinstance(k, str) and k.startswith(" ") and isinstance(node.kids[i], Node) and "lineno" in node.kids[i].classes() and ".lineno" in words:
            node.kids[i + 1] = k[1:]
    node.kids = [k for k in node.kids if isinstance(k, str) or k.tag not in SKIP and "display: none" not in k.attrs.get("style", "").replace(":none", ": none") and not any(matches(k, w) for w in words)]
    for k in node.kids:
        if isinstance(k, Node):
            prune(k, words)


WORD = re.compile(r"[^\W_]+")


def words(text):
    """Words without markup between their letters: the plural of `File` is Files."""
    return [w.lower() for w in WORD.findall(re.sub(r"[`*~\[\]\u200b\u00ad]", "", text))]


def clean_code(text):
    lines = text.replace("\u00a0", " ").replace("\u200b", "").replace("\r", "").split("\n")
    while lines and not lines[0].strip():
        lines.pop(0)
    while lines and not lines[-1].strip():
        lines.pop()
    return "\n".join(lines)


def up(node, stop):
    while node is not None and node.tag not in stop:
        yield node
        node = node.parent


NOLANG = {"default", "none", "text", "plaintext", "txt", "notranslate", ""}
SAME = {"python3": "python", "py": "python", "programlisting": "", "pycon3": "pycon"}


def language(pre, pattern):
    for n in [k for k in pre.walk() if k.tag in ("pre", "code")] + list(up(pre.parent, ("body", "li", "dd", "section", "main")))[:4]:
        for c in n.classes():
            m = re.search(pattern, c)
            if m:
                lang = m.group(1) if m.groups() else ""
                return "" if lang in NOLANG else SAME.get(lang, lang)
    return ""


def truth(text, url, spec):
    tree = Tree(text).root
    root = find(tree, spec[2])
    if root is None:
        return None
    prune(root, spec[3].split())
    t = {"words": words(root.text()), "code": [], "links": [], "rows": []}
    base = next((urllib.parse.urljoin(url, n.attrs["href"]) for n in tree.walk() if n.tag == "base" and "href" in n.attrs), url)
    for n in root.walk():
        above = [a.tag for a in up(n.parent, ("#",))]
        if (n.tag == "pre" or "fragment" in n.classes()) and "pre" not in above and "td" not in above and "th" not in above:
            code = clean_code(n.raw() if n.tag == "pre" else "\n".join(l.raw() for l in n.walk() if "line" in l.classes()))
            if code.strip():
                t["code"].append((code, language(n, spec[4])))
        if n.tag == "a" and n.attrs.get("href") and not {"pre", "code", "tt", "dt", "samp"} & set(above) and words(n.text()) and not any("fragment" in a.classes() for a in up(n.parent, ("#",))):
            target = urllib.parse.urljoin(base, n.attrs["href"])
            if target.split("#")[0] != url and target.startswith(("http", "mailto")):
                t["links"].append(urllib.parse.unquote(target))
        if n.tag == "table" and n.attrs.get("role") != "presentation" and "table" not in above and not any(k.tag in ("table", "pre") for k in n.walk() if k is not n) and any(k.tag == "th" for k in n.walk()):
            for tr in (k for k in n.walk() if k.tag == "tr"):
                cells = [k for k in tr.kids if isinstance(k, Node) and k.tag in ("td", "th")]
                spans = any(k.attrs.get(s, "1") != "1" for k in cells for s in ("rowspan", "colspan"))
                t["rows"].append(([" ".join(words(k.text())) for k in cells], spans))
    return t


FENCE = re.compile(r"^((?:[ >]|[-*+] |\d+[.)] )*)(`{3,}|~{3,})([^`\n]*)$")
IMAGE = re.compile(r"(?<!\\)!\[[^\]]*\]\([^)]*\)")
LINK = re.compile(r"\]\(<?((?:[^()\s<>]|\([^()\s]*\))*)>?(?:\s+\"[^\"]*\")?\)")


def markdown(text):
    """What a reader of Markdown gets, in the same terms."""
    m = {"code": [], "rows": []}
    prose, lines, i = [], text.split("\n"), 0
    while i < len(lines):
        f = FENCE.match(lines[i])
        if not f:
            prose.append(lines[i])
            i += 1
            continue
        width, body = len(f.group(1)), []
        i += 1
        while i < len(lines) and not (lines[i].strip(" >").startswith(f.group(2)) and not lines[i].strip(" >").strip(f.group(2)[0])):
            line = lines[i]
            cut = 0
            while cut < width and cut < len(line) and line[cut] in " >":
                cut += 1
            body.append(line[cut:])
            i += 1
        i += 1
        m["code"].append((clean_code("\n".join(body)), SAME.get(f.group(3).strip().lower(), f.group(3).strip().lower())))
    plain = "\n".join(prose)
    m["escapes"], m["chars"] = len(re.findall(r"\\[!-/:-@\[-`{-~]", plain)), max(1, len(text))
    m["links"] = [urllib.parse.unquote(html.unescape(l).replace("\\", "")) for l in LINK.findall(plain)]
    bare = LINK.sub("", IMAGE.sub(" ", plain))
    for line in bare.split("\n"):
        if line.strip(" >-").startswith("|"):
            cells = re.split(r"(?<!\\)\|", line.strip(" >-").strip())[1:-1]
            m["rows"].append([" ".join(words(html.unescape(c.replace("<br>", " ").replace("<br/>", " ")))) for c in cells])
    everything = LINK.sub("", IMAGE.sub(" ", text))
    everything = re.sub(r"(?m)^((?:[ >]|[-*+] |\d+[.)] )*)(`{3,}|~{3,})([^`\n]*)$", " ", everything)
    everything = re.sub(r"(?m)^([ >]*)\d+[.)] ", r"\1", everything)
    m["words"] = words(re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", html.unescape(everything.replace("<br>", " "))))
    return m


def f1(want, got):
    grams = lambda w: collections.Counter(zip(w, w[1:], w[2:], w[3:])) if len(w) > 3 else collections.Counter([tuple(w)])
    a, b = grams(want), grams(got)
    common = sum((a & b).values())
    p, r = common / max(1, sum(b.values())), common / max(1, sum(a.values()))
    return (2 * p * r / (p + r) if p + r else 0.0), p, r


def score(t, m):
    """(right, of) for each column, and the F1 of words."""
    s = {"words": f1(t["words"], m["words"])[0]}
    left = collections.Counter(c for c, _ in m["code"])
    lang = collections.defaultdict(list)
    for c, l in m["code"]:
        lang[c].append(l)
    right = langs = named = 0
    for code, want in t["code"]:
        if left[code] > 0:
            left[code] -= 1
            right += 1
            got = lang[code].pop(0)
            if want:
                named += 1
                langs += got == want
        elif want:
            named += 1
    s["code"], s["lang"] = (right, len(t["code"])), (langs, named)
    rows = collections.Counter(tuple(r) for r in m["rows"])
    cells = collections.Counter(c for r in m["rows"] for c in r)
    right = of = 0
    for want, spans in t["rows"]:
        full = [c for c in want if c]
        of += len(full)
        trimmed = [r for r in (tuple(want),) if rows[r]]
        if trimmed:
            right += len(full)
        elif spans or any(len(r) > len(want) for r in rows):
            right += sum(1 for c in full if cells[c])
    s["cells"] = (right, of)
    have = collections.Counter(m["links"])
    right = 0
    for l in t["links"]:
        if have[l] > 0:
            have[l] -= 1
            right += 1
    s["links"] = (right, len(t["links"]))
    return s


def packages(work):
    """The files of the packages, downloaded once and not installed."""
    out = os.path.join(work, "files")
    missing = [p for p in sorted({g[0] for g in GENERATORS.values()}) if not os.path.exists(os.path.join(work, "have", p))]
    if missing:
        os.makedirs(os.path.join(work, "have"), exist_ok=True)
        got = subprocess.run(["apt-get", "download", "-qq", *missing], cwd=work, capture_output=True, text=True)
        if got.returncode:
            subprocess.run(["apt-get", "update", "-qq"], capture_output=True)
            got = subprocess.run(["apt-get", "download", "-qq", *missing], cwd=work, capture_output=True, text=True)
        for deb in glob.glob(os.path.join(work, "*.deb")):
            unpack(deb, out)
            open(os.path.join(work, "have", os.path.basename(deb).split("_")[0]), "w").close()
            os.remove(deb)
    return out


def unpack(deb, out):
    """Only the pages that are measured, of a package of thousands."""
    name = os.path.basename(deb).split("_")[0]
    os.makedirs(out, exist_ok=True)
    wanted = []
    for package, files, *_ in GENERATORS.values():
        if package == name:
            wanted.append("./" + files.split("**")[0].split("*")[0] + "*")
    tar = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", deb], stdout=subprocess.PIPE)
    subprocess.run(["tar", "x", "-C", out, "--wildcards", *wanted], stdin=tar.stdout, stderr=subprocess.DEVNULL)
    tar.wait()


def sample(files, count):
    """Some pages, evenly, of a size that pages have."""
    files = sorted(f for f in files if not os.path.islink(f) and 5000 < os.path.getsize(f) < 400_000 and not re.search(r"genindex|search|index-all|py-modindex|overview-|allclasses|package-(tree|use)|bookindex|all\.html|class-use", f))
    step = max(1, len(files) // count)
    return files[step // 2 :: step][:count]


def cases(work, only="", count=7):
    root = packages(work)
    list_ = []
    for name, spec in GENERATORS.items():
        if only and only not in name:
            continue
        files = sample(glob.glob(os.path.join(root, spec[1]), recursive=True), count)
        if name == "texinfo":
            files = [os.path.realpath(f) for f in glob.glob(os.path.join(root, spec[1]))]
        for f in files:
            url = "http://docs.example/" + os.path.relpath(f, root)
            t = truth(open(f, encoding="utf-8", errors="replace").read(), url, spec)
            if t is None or len(t["words"]) < 20:
                print(f"no content by {spec[2]}: {f}", file=sys.stderr)
                continue
            list_.append((name, f, url, t))
        if not files:
            print(f"SKIPPED: no pages of {name} ({spec[0]})", file=sys.stderr)
    return list_


def run(command, requests, env=None):
    """What a program that reads and writes lines of JSON makes of the pages."""
    lines = "".join(json.dumps(r) + "\n" for r in requests)
    got = subprocess.run(command, input=lines, capture_output=True, text=True, env={**os.environ, **(env or {})})
    if got.returncode:
        sys.exit(f"{command}: {got.stderr[-2000:]}")
    return [json.loads(l) for l in got.stdout.splitlines() if l]


def programs(work, alone=False):
    list_ = {"agentkit": (["go", "build", "-o", os.path.join(work, "convert"), "."], [os.path.join(work, "convert")])}
    subprocess.run(list_["agentkit"][0], cwd=os.path.join(HERE, "convert"), check=True)
    systems = {"agentkit": (list_["agentkit"][1], {})}
    node = os.path.join(work, "node")
    if not alone and shutil.which("node") and shutil.which("npm"):
        if not os.path.exists(os.path.join(node, "node_modules", "jsdom")):
            os.makedirs(node, exist_ok=True)
            subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", node, "turndown@7", "turndown-plugin-gfm@1", "@mozilla/readability@0.6", "jsdom@26"], capture_output=True)
        if os.path.exists(os.path.join(node, "node_modules", "jsdom")):
            shutil.copy(os.path.join(HERE, "peers.js"), node)
            for peer in ("turndown", "readability"):
                systems[peer] = (["node", os.path.join(node, "peers.js"), peer], {"NODE_PATH": os.path.join(node, "node_modules")})
    if len(systems) == 1 and not alone:
        print("SKIPPED: no node, npm or npm registry: nobody to compare with", file=sys.stderr)
    return systems


def documentation(systems, list_, verbose):
    totals = {}
    for system, (command, env) in systems.items():
        out = run(command, [{"file": f, "url": u} for _, f, u, _ in list_], env)
        sums = collections.defaultdict(lambda: collections.defaultdict(lambda: [0.0, 0]))
        escapes = chars = 0
        for (name, f, _, t), o in zip(list_, out):
            m = markdown(o["text"])
            s = score(t, m)
            if name.startswith(("sphinx", "rustdoc", "mkdocs", "nodejs")):
                escapes, chars = escapes + m["escapes"], chars + m["chars"]
            for group in (name, "all"):
                for column, v in s.items():
                    right, of = (v, 1) if column == "words" else v
                    sums[group][column][0] += right
                    sums[group][column][1] += of
            if verbose and system == "agentkit" and (s["words"] < 0.985 or any(v[0] < v[1] for c, v in s.items() if c != "words")):
                print(f"  {name:20} {s['words']:.3f} p={f1(t['words'], m['words'])[1]:.3f} r={f1(t['words'], m['words'])[2]:.3f} {' '.join(f'{c} {v[0]}/{v[1]}' for c, v in s.items() if c != 'words')} {o.get('kind')} {f}")
        totals[system] = {c: v[0] / v[1] if v[1] else 1.0 for c, v in sums["all"].items()}
        totals[system]["escapes"] = escapes * 10_000 / max(1, chars)
        if verbose:
            for group, columns in sums.items():
                print(f"{system:12} {group:20} " + " ".join(f"{c} {v[0] / v[1]:.3f}/{v[1]}" if v[1] else f"{c} -" for c, v in columns.items()))
    return totals


def articles(systems, checkout, verbose):
    dirs = sorted(glob.glob(os.path.join(checkout, "test", "test-pages", "*")))
    list_, scores = [], {}
    for d in dirs:
        tree = Tree(open(os.path.join(d, "expected.html"), encoding="utf-8", errors="replace").read()).root
        list_.append((os.path.join(d, "source.html"), words(tree.text())))
    for system, (command, env) in systems.items():
        out = run(command, [{"file": f, "url": "http://fakehost/test/page.html"} for f, _ in list_], env)
        each = [f1(want, markdown(o["text"])["words"]) for (_, want), o in zip(list_, out)]
        if verbose and system == "agentkit":
            for (f, _), (score_, p, r), o in zip(list_, each, out):
                if score_ < 0.95:
                    print(f"  {score_:.3f} p={p:.3f} r={r:.3f} {o.get('kind')} {f}")
        scores[system] = sum(e[0] for e in each) / len(each)
    return scores


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-v", action="store_true")
    parser.add_argument("--work", default=CACHE)
    parser.add_argument("--readability", default=os.environ.get("READABILITY_CHECKOUT", ""))
    parser.add_argument("--only", default="", help="generators with this in their names")
    parser.add_argument("--pages", type=int, default=7, help="of each generator")
    parser.add_argument("--more", action="store_true", help="other generators instead, some 50 MB more")
    parser.add_argument("--alone", action="store_true", help="measure ours only")
    a = parser.parse_args()
    if not shutil.which("apt-get") or not shutil.which("dpkg-deb"):
        print("SKIPPED: no apt-get and dpkg-deb, so no pages to measure")
        return 0
    if a.more:
        GENERATORS.clear()
        GENERATORS.update(MORE)
    os.makedirs(a.work, exist_ok=True)
    begun = time.time()
    systems = programs(a.work, a.alone)
    list_ = cases(a.work, a.only, a.pages)
    failed = []
    if len(list_) < 30 and not a.only:
        print(f"SKIPPED: only {len(list_)} pages of the packages could be had")
    if list_:
        totals = documentation(systems, list_, a.v)
        columns = [*FLOORS, "escapes"]
        print(f"{len(list_)} pages of documentation\n{'':12} " + " ".join(f"{c:>8}" for c in columns))
        for system, t in totals.items():
            print(f"{system:12} " + " ".join(f"{t[c]:8.3f}" for c in columns))
        for c, floor in FLOORS.items():
            if totals["agentkit"][c] < floor:
                failed.append(f"{c}: {totals['agentkit'][c]:.4f}, at least {floor}")
            for peer in totals:
                if totals[peer][c] > totals["agentkit"][c]:
                    failed.append(f"{peer} is ahead in {c}")
        if totals["agentkit"]["escapes"] > 1:
            failed.append(f"escapes: {totals['agentkit']['escapes']:.2f} in 10 kB, at most 1")
    if a.readability and os.path.isdir(os.path.join(a.readability, "test", "test-pages")):
        scores = articles(systems if a.v else {"agentkit": systems["agentkit"]}, a.readability, a.v)
        print("articles (Readability's own pages, F1 of words): " + ", ".join(f"{k} {v:.3f}" for k, v in scores.items()))
        if scores["agentkit"] < ARTICLES:
            failed.append(f"articles: {scores['agentkit']:.4f}, at least {ARTICLES}")
    else:
        print("SKIPPED: articles (no checkout of mozilla/readability: --readability DIR)")
    print(f"{time.time() - begun:.0f} s")
    for f in failed:
        print("FAILED", f)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
