package page

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// language is that of a block of code, as its generator names it, or "".
func language(n *html.Node) string {
	if l := languageOf(n); l != "" {
		return known(l)
	}
	seen := 0
	for c := range n.Descendants() { // pre in pre, too
		if seen++; seen > 12 {
			break
		}
		if isElement(c, atom.Pre, atom.Code, atom.Div) {
			if l := languageOf(c); l != "" {
				return known(l)
			}
		}
	}
	for p, i := n.Parent, 0; p != nil && i < 7; p, i = p.Parent, i+1 {
		if isElement(p, atom.Body, atom.Article, atom.Main, atom.Section, atom.Li, atom.Dd, atom.Blockquote) {
			break
		}
		if l := languageOf(p); l != "" {
			return known(l)
		}
		if p.DataAtom == atom.Div && i > 0 && hasManyPre(p) {
			break
		}
	}
	return ""
}

func hasManyPre(n *html.Node) bool {
	count := 0
	for c := range n.Descendants() {
		if c.DataAtom == atom.Pre {
			if count++; count > 1 {
				return true
			}
		}
	}
	return false
}

// languageOf is the language that an element's own attributes name.
func languageOf(n *html.Node) string {
	for i := range n.Attr {
		a := &n.Attr[i]
		switch a.Key {
		case "data-lang", "data-language", "data-enlighter-language", "data-programming-language", "data-code-lang":
			if a.Val != "" {
				return a.Val
			}
		case "lang":
			if hasClass(n, "code", "highlight", "wp-block-code") && n.DataAtom != atom.Html {
				return a.Val
			}
		case "data-syntaxhighlighter-params":
			if l := brush(a.Val); l != "" {
				return l
			}
		}
	}
	class := attr(n, "class")
	if class == "" {
		return ""
	}
	if l := brush(class); l != "" {
		return l
	}
	if isElement(n, atom.Pre, atom.Code) && isLanguage(class) { // RDoc's and Qt's
		return class
	}
	mixed := n.DataAtom == atom.Div && first(n, func(c *html.Node) bool { return c.DataAtom == atom.P }) != nil
	return languageOfClass(class, mixed)
}

// isLanguage reports whether a word that is the whole class of a block of code, or stands behind
// "source-", is the name of a language. Other words are names of styles.
func isLanguage(word string) bool {
	switch word {
	case "ada", "asm", "awk", "bash", "c", "cmake", "cpp", "crystal", "csharp", "d", "dart", "diff", "elixir", "fortran", "fsharp", "go", "groovy", "haskell", "html", "ini", "java", "json", "julia", "kotlin", "latex", "lisp",
		"lua", "make", "nim", "objc", "ocaml", "pascal", "perl", "php", "powershell", "python", "qml", "r", "ruby", "scala", "scheme", "sh", "sql", "swift", "tcl", "toml", "typescript", "xml", "yaml", "zig":
		return true
	}
	return false
}

// languageOfClass is the language that a class names. Of an element that is mixed, with
// text beside the code, the class says less.
func languageOfClass(class string, mixed bool) string {
	prev := ""
	for word := range strings.FieldsSeq(class) {
		for _, prefix := range []string{"mw-highlight-lang-", "language-", "lang-", "highlight-source-", "highlight-text-", "highlight-", "src-", "sourceCode-", "crayon-lang-"} {
			if prefix == "highlight-" && mixed {
				continue
			}
			if l, ok := strings.CutPrefix(word, prefix); ok && l != "" && !isStyle(l) {
				return l
			}
		}
		if l, ok := strings.CutPrefix(word, "source-"); ok && isLanguage(l) { // GeSHi's, in older wikis
			return l
		}
		switch prev {
		case "sourceCode", "src", "hljs", "makeup", "prettyprint", "codehilite", "code":
			if !isStyle(word) && !strings.Contains(word, "-") {
				return word
			}
		}
		prev = word
	}
	fields := strings.Fields(class)
	for i, word := range fields {
		switch word {
		case "rust", "makeup", "erlang", "shell", "console", "javascript", "js", "css", "brush":
			if len(fields) == 1 && word != "makeup" && word != "brush" && word != "console" && word != "shell" || word == "rust" {
				return word
			}
		case "hljs":
			if i > 0 && !isStyle(fields[i-1]) {
				return fields[i-1]
			}
		case "programlisting":
			if i+1 < len(fields) && !isStyle(fields[i+1]) {
				return fields[i+1]
			}
		}
	}
	return ""
}

// isStyle reports whether a word of a class says how code looks, not what it is.
func isStyle(word string) bool {
	switch word {
	case "highlight", "notranslate", "hljs", "literal-block", "line-numbers", "linenums", "copy", "lines", "source", "rouge", "highlighter-rouge", "highlighter", "chroma", "prettyprinted", "wrapper", "container", "block", "code", "snippet", "numberSource", "numberLines", "toolbar", "js-syntax-highlight", "text-white", "right", "left", "default", "doctestblock", "plain", "mono", "border":
		return word != "default"
	}
	return false
}

// brush is the language in the parameters of a highlighter, as in "brush: java; gutter: false".
func brush(s string) string {
	_, rest, ok := strings.Cut(s, "brush:")
	if !ok {
		return ""
	}
	l, _, _ := strings.Cut(strings.TrimLeft(rest, " "), ";")
	l, _, _ = strings.Cut(strings.TrimSpace(l), " ")
	return l
}

// known is a language as a fence names it, or "" for what is none.
func known(l string) string {
	l = strings.ToLower(strings.TrimSpace(l))
	l, _, _ = strings.Cut(l, ",")
	l, _, _ = strings.Cut(l, " ")
	switch l {
	case "none", "text", "plain", "plaintext", "txt", "nohighlight", "no-highlight", "default", "auto", "raw", "unknown", "en", "en-us", "literal":
		return ""
	case "python3", "py3", "py":
		return "python"
	case "pycon3":
		return "pycon"
	case "c++", "cxx":
		return "cpp"
	case "golang":
		return "go"
	case "html-basic", "html-erb":
		return "html"
	}
	for _, c := range l {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && !strings.ContainsRune("+#._-", c) {
			return ""
		}
	}
	if len(l) > 24 {
		return ""
	}
	return l
}
