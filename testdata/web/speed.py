#!/usr/bin/env python3
"""Measures what pages cost: ours beside html-to-markdown v2 and turndown, and hostile ones.

    testdata/web/speed.py [--hostile] [--work DIR] [--rounds N]

Processor time, in one process for each, in turns: the pages are the documentation that
score.py downloads (and Readability's own where READABILITY_CHECKOUT names a checkout),
without the time to start. html-to-markdown converts the whole page with its plugins for
tables, we choose the main part first. The hostile pages are of up to 5 MB, each in a process
of its own. None may take twice what 5 MB of plain paragraphs take on the same machine (the
least of three runs each, where one is not enough), nor 200 MB. What cannot be had is named
and left out.
"""

import argparse, json, os, shutil, subprocess, sys

sys.dont_write_bytecode = True  # beside the scripts, in a clone
import score

V2 = """package main

import (
	"encoding/json"
	"os"
	"syscall"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
)

func cpu() float64 {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e6
}

func main() {
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	c := converter.NewConverter(converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(), table.NewTablePlugin()))
	for {
		var q struct{ File, URL string }
		if in.Decode(&q) != nil {
			return
		}
		body, _ := os.ReadFile(q.File)
		before := cpu()
		text, _ := c.ConvertString(string(body), converter.WithDomain(q.URL))
		out.Encode(map[string]any{"text": text, "cpu_ms": cpu() - before})
	}
}
"""


def hostile():
    r = lambda s, n: s * n
    yield "escapes", r("*_[", 5 << 20)[: 5 << 20]
    yield "emphasis, links, tags", r("<p>*a _b [c](d) `e` <b> ", 200_000)
    yield "a million tags", r("<p>x", 1 << 20)
    yield "unclosed bold", r("<b>", 1 << 20)
    yield "unclosed everything", r("<a href=x><b><i><ul><li><table><tr><td>", 100_000)
    yield "nesting", r("<div>", 1 << 20)
    yield "bold around blocks", r("<b><div>", 1 << 19)
    yield "a huge attribute", "<p title='" + r("a", 5 << 20) + "'>x"
    yield "a million attributes", "<p " + "".join(f"a{i}=b " for i in range(1 << 19)) + ">x"
    yield "spans", "<table><tr><td colspan=100000 rowspan=60000>x</table>"
    yield "spans in every row", "<table><tr>" + r("<th colspan=1000 rowspan=65534>xyz", 1 << 12) + r("<tr><td>x", 1 << 18)
    yield "rows", "<table>" + r("<tr><td>x", 1 << 18)
    yield "tables in tables", r("<table><tr><td>", 1 << 18)
    yield "text beside tables", r("<table>x", 1 << 18)
    yield "lists in lists", r("<ul><li>x", 250) + r("y ", 1 << 20)
    yield "lists, paragraphs, breaks", r("<ul><li>x<div>", 160) + r("<p>y<br>z", 1 << 18)
    yield "quotes in quotes", r("<blockquote>", 400) + r("x<br>", 1 << 19)
    yield "headings in headings", r("<h1><div>", 200) + r("x<br>", 1 << 19)
    yield "long addresses", "<base href='http://h/" + r("b", 4000) + "/'>" + "".join(f"<a href=x{i}>y</a> " for i in range(1 << 18))
    yield "code", r("<code>`</code>", 1 << 18)
    yield "backticks", "<pre>" + r("`", 5 << 20)
    yield "fractions", "<math>" + r("<mfrac><mi>x</mi><mi>y</mi></mfrac>", 1 << 17)
    yield "pagers", r("<div class=header>", 400) + r("x next ", 1 << 19)
    yield "paragraphs to choose from", r("<div><p>This is, a paragraph, with commas, and text that is long enough.</p>", 60_000)
    yield "inline elements opened again", "<p>" + "".join(f"<b a{i}>" for i in range(250)) + r("<p>x", 1 << 19)
    yield "attributes opened again", "<p><b " + "".join(f"a{i} " for i in range(2000)) + ">" + r("<p>x", 1 << 19)
    yield "ends in the wrong order", r("<p><b><i><u>x</p></b>", 1 << 18)
    yield "in a title that is none", "<svg><title><p>" + "".join(f"<b a{i}>" for i in range(250)) + "</title></svg>" + r("<p>x", 1 << 19)
    yield "in a choice", "<select><title></select><p>" + "".join(f"<b a{i}>" for i in range(250)) + r("<p>x", 1 << 19)
    yield "cells without rows", r("<table><td>x", 1 << 18)
    yield "inline elements in cells", "<table>" + r("<td><font a><font b><font c>x", 1 << 17)
    yield "spans that close", r("<p><span><b><i>x</span>y", 1 << 17)
    yield "links in links", r("<a href=x><div><p>y", 1 << 18)
    yield "endings", r("</p>", 1 << 20)
    yield "nothing but <", r("<", 5 << 20)


def once(path, body, convert):
    """Seconds of processor time and MB at the most, or what went wrong."""
    with open(path, "w") as f:
        f.write(body)
    got = subprocess.run(convert, input=json.dumps({"file": path, "url": "http://h/"}), capture_output=True, text=True, timeout=60)
    if got.returncode:
        return None, got.stderr[-300:]
    return json.loads(got.stdout)["cpu_ms"] / 1000, int(got.stderr.split("HWM")[1]) / 1024


def measure_hostile(work, convert):
    failed = []
    path = os.path.join(work, "hostile.html")
    plain = ("<p>A paragraph, with commas, and <a href=x>a link</a> that is long enough.</p>\n" * 80_000)[: 5 << 20]
    runs = [once(path, plain, convert) for _ in range(3)]
    if None in (s for s, _ in runs):
        return [f"plain paragraphs: {runs}"]
    usual = min(s for s, _ in runs)
    most = 2 * usual
    worst = {"s": (0, ""), "MB": (0, "")}
    for name, body in hostile():
        seconds, mb = once(path, body, convert)
        if seconds is None:
            failed.append(f"{name}: {mb}")
            continue
        for _ in range(2):
            if seconds > most:
                again, _ = once(path, body, convert)
                seconds = min(seconds, again or seconds)
        worst["s"], worst["MB"] = max(worst["s"], (seconds, name)), max(worst["MB"], (mb, name))
        if seconds > most or mb > 200:
            failed.append(f"{name}: {seconds:.1f} s, {mb:.0f} MB; at most {most:.1f} s, 200 MB")
    os.remove(path)
    print(f"hostile pages, at worst: {worst['s'][0] / usual:.2f} of plain paragraphs' {usual:.2f} s ({worst['s'][1]}), {worst['MB'][0]:.0f} MB ({worst['MB'][1]})")
    return failed


def reference(work):
    """html-to-markdown v2, built in a module of its own."""
    dir_ = os.path.join(work, "v2")
    binary = os.path.join(dir_, "v2")
    if not os.path.exists(binary):
        os.makedirs(dir_, exist_ok=True)
        open(os.path.join(dir_, "main.go"), "w").write(V2)
        open(os.path.join(dir_, "go.mod"), "w").write("module v2\n\ngo 1.26\n")
        for command in (["go", "get", "github.com/JohannesKaufmann/html-to-markdown/v2@v2.5.2"], ["go", "build", "-o", "v2", "."]):
            if subprocess.run(command, cwd=dir_, capture_output=True).returncode:
                print("SKIPPED: html-to-markdown cannot be built here", file=sys.stderr)
                return None
    return [binary]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", default=score.CACHE)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--hostile", action="store_true", help="measure hostile pages only")
    a = parser.parse_args()
    os.makedirs(a.work, exist_ok=True)
    systems = {k: v for k, v in score.programs(a.work, a.hostile).items() if k != "readability"}
    failed = measure_hostile(a.work, systems["agentkit"][0])
    if a.hostile:
        pass
    elif not shutil.which("apt-get") or not shutil.which("dpkg-deb"):
        print("SKIPPED: no apt-get and dpkg-deb, so no pages to measure")
    else:
        pages = [{"file": f, "url": u} for _, f, u, _ in score.cases(a.work)]
        v2 = reference(a.work)
        if v2:
            systems["html-to-markdown"] = (v2, {})
        times = {name: [] for name in systems}
        for _ in range(a.rounds):
            for name, (command, env) in systems.items():
                out = score.run(command, pages * (1 if name == "turndown" else 3), env)
                times[name].append(sum(o["cpu_ms"] for o in out) / len(out))
        best = {name: sorted(t)[len(t) // 2] for name, t in times.items()}
        print(f"{len(pages)} pages, ms of processor time a page: " + ", ".join(f"{n} {t:.2f}" for n, t in best.items()))
        for peer, most in (("html-to-markdown", 1.3), ("turndown", 1 / 6)):
            if peer in best:
                ratio = best["agentkit"] / best[peer]
                print(f"of {peer}: {ratio:.2f} (goal {most:.2f})")
                if ratio > most * 1.5:
                    failed.append(f"{ratio:.2f} of {peer}, at most {most:.2f}")
    for f in failed:
        print("FAILED", f)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
