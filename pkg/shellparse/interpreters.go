package shellparse

import (
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/programs"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// interpreter reads an interpreter: its code is not understood, but for what
// plainly deletes.
func (w *walker) interpreter(c *call) {
	c.args = c.words[1:]
	code, valued := c.prog.Code, c.prog.CodeValued
	words := c.words[1:]
	inPlace := false
	for i := 0; i < len(words); i++ {
		x := words[i]
		t := x.text
		switch {
		case x.dyn && !strings.HasPrefix(x.lead, "-"):
			w.scriptOperand(c, words[i:])
			return
		case t == "--" || t == "-":
			if t == "-" {
				w.codeInput(c)
				return
			}
			if i+1 < len(words) {
				w.scriptOperand(c, words[i+1:])
			}
			return
		case !strings.HasPrefix(t, "-"):
			if c.known == "deno" && t == "eval" && i+1 < len(words) {
				w.code(c, words[i+1])
				return
			}
			if c.known == "bun" && t == "x" && i+1 < len(words) {
				w.inner(c, words[i+1:])
				return
			}
			if c.known == "deno" || c.known == "bun" {
				w.modules(c, words[i:])
				return
			}
			w.scriptOperand(c, words[i:])
			return
		case programs.Has(code, t):
			if i+1 < len(words) {
				w.code(c, words[i+1])
				w.interpreted(c, words[i+2:], inPlace)
			}
			return
		case strings.HasPrefix(t, "--eval=") || strings.HasPrefix(t, "--print="):
			w.code(c, after(x, t[:strings.IndexByte(t, '=')+1]))
			return
		case c.known != "java" && len(t) > 2 && t[1] != '-' && codeCluster(code, t):
			if j := strings.IndexAny(t, codeLetters(code)); j+1 < len(t) && c.known != "perl" && c.known != "ruby" {
				w.code(c, word{text: t[j+1:], dyn: x.dyn})
				w.interpreted(c, words[i+1:], strings.Contains(t[:j], "i"))
			} else if i+1 < len(words) {
				w.code(c, words[i+1])
				w.interpreted(c, words[i+2:], inPlace || strings.Contains(t, "i"))
			}
			return
		case t == "-m" && strings.HasPrefix(c.known, "python"):
			w.module(c, words[i+1:])
			return
		case (c.known == "perl" || c.known == "ruby") && inPlaceCluster(t):
			inPlace = true
		case strings.HasPrefix(t, "-") && strings.Contains(t, "="):
			w.optionFile(c, t[strings.IndexByte(t, '=')+1:])
		case programs.Has(valued, t):
			if i++; i < len(words) && !words[i].dyn {
				w.optionFile(c, words[i].text)
			}
		}
	}
	if versionLike(words) {
		w.lowerTo(c, policy.ReadOnly)
		return
	}
	w.codeInput(c)
}

// modules lists what deno and bun are given to run: files, and addresses.
func (w *walker) modules(c *call, words []word) {
	for _, x := range words {
		if strings.Contains(x.text, "://") && !strings.HasPrefix(x.text, "-") {
			w.address(c, x)
		}
	}
	w.unknownFiles(c)
}

// inPlaceCluster reports whether short options of perl or ruby change files in
// place: -i may stand among others, as in -pi.bak.
func inPlaceCluster(t string) bool {
	i := strings.IndexByte(t, 'i')
	return i > 0 && !strings.HasPrefix(t, "--") && strings.Trim(t[1:i], "0123456789acflnpsStTuUvwWX") == ""
}

// optionFile lists a file that an option of an interpreter names.
func (w *walker) optionFile(c *call, s string) {
	if s != "" && len(s) < 1024 && (pathLike(s) || w.exists(s)) {
		w.maybeWritten(c, s)
	}
}

// versionLike reports whether an interpreter is asked for its version only.
func versionLike(words []word) bool {
	return len(words) == 1 && slices.Contains([]string{"-v", "-V", "--version", "-version", "--help", "-h"}, words[0].text)
}

// codeLetters are the short options that hold code.
func codeLetters(code string) string {
	s := ""
	for f := range strings.FieldsSeq(code) {
		if len(f) == 2 {
			s += f[1:]
		}
	}
	return s
}

func codeCluster(code, t string) bool {
	letters := codeLetters(code)
	if letters == "" {
		return false
	}
	j := strings.IndexAny(t, letters)
	return j > 0 && strings.Trim(t[1:j], "0123456789abcdfghijklnpqstuvwxyzABCDEGHLNOPQRSTUVW") == "" && !strings.HasPrefix(t, "-I") && !strings.HasPrefix(t, "-M")
}

// code judges a program given as a word.
func (w *walker) code(c *call, x word) {
	if !w.stdin.set {
		names := strings.ReplaceAll(strings.TrimPrefix(c.prog.Code, "-"), " -", ",")
		c.opts = append(c.opts, option{names: strings.ReplaceAll(names, ",-", ",")})
	}
	if x.net {
		c.danger(w, "runs what it fetches")
	}
	if x.dyn {
		c.opaque(w, "the code is not known before it runs")
		return
	}
	if why := destructive(x.text); why != "" {
		c.danger(w, why)
	}
}

// interpreted lists the operands of code: files it may read, or change in
// place.
func (w *walker) interpreted(c *call, words []word, inPlace bool) {
	for _, x := range words {
		if inPlace && !x.dyn && !strings.HasPrefix(x.text, "-") {
			w.role(c, programs.Write, x)
			w.lowerTo(c, policy.Unknown)
		}
	}
	d := *c
	d.words = append([]word{c.words[0]}, words...)
	w.unknownFiles(&d)
}

// scriptOperand lists the script an interpreter runs and its arguments.
func (w *walker) scriptOperand(c *call, words []word) {
	x := words[0]
	if x.net {
		c.danger(w, "runs what it fetches")
	}
	if x.dyn {
		c.opaque(w, "the script is not known before it runs")
	}
	for _, i := range w.file(fileAccess{kind: policy.Read, parent: c.index + 1, src: x.text}, x) {
		if slices.Contains(w.fetched, w.out.Accesses[i].Path) {
			c.danger(w, "runs what it fetches")
		}
	}
	d := *c
	d.words = words
	w.unknownFiles(&d)
}

// codeInput judges an interpreter that reads its program from its input.
func (w *walker) codeInput(c *call) {
	if w.stdin.net {
		c.danger(w, "runs what it fetches")
	}
	switch {
	case w.stdin.known:
		w.code(c, word{text: w.stdin.text})
	case w.stdin.set:
		c.opaque(w, "the code comes from its input")
	}
}

// module reads python -m.
func (w *walker) module(c *call, words []word) {
	if len(words) == 0 {
		return
	}
	d := *c
	d.words = words
	switch words[0].text {
	case "venv", "virtualenv":
		for _, x := range words[1:] {
			if !strings.HasPrefix(x.text, "-") {
				w.role(c, programs.Create, x)
			}
		}
		w.lowerTo(c, policy.Unknown)
		return
	case "http.server", "pip", "ensurepip":
	case "zipfile", "tarfile":
		if len(words) > 3 && (words[1].text == "-e" || words[1].text == "--extract") {
			w.role(c, programs.Write, words[3])
			w.lowerTo(c, policy.Unknown)
		}
	}
	w.unknownFiles(&d)
}
