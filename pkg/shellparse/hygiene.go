package shellparse

import (
	"strings"
	"unicode/utf8"

	"github.com/agentkit-go/agentkit/pkg/programs"

	sh "mvdan.cc/sh/v3/syntax"
)

// hygiene marks texts that hold what parsers are known to read otherwise than
// the shell does. The rules come from differential fuzzing of two parsers
// against bash 5.2; each stands for a root cause that no syntax tree shows.
func (w *walker) hygiene(src string) {
	for _, f := range []func(string) string{invisible, quoteInExpansion, continuationInWord, commentGoesOn} {
		if why := f(src); why != "" {
			w.whole(why)
		}
	}
}

// invisible finds control and formatting characters, which hide text from a
// reader or end a word for one program and not for another.
func invisible(s string) string {
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
				return "a control character"
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			return "text that is not UTF-8"
		case r <= 0xa0 || r == 0xad || r == 0x61c || r == 0x1680 || r == 0x180e || r >= 0x2000 && r <= 0x200f || r >= 0x2028 && r <= 0x202f,
			r >= 0x205f && r <= 0x206f, r == 0x3000 || r == 0x3164 || r == 0x115f || r == 0x1160 || r == 0xfeff || r == 0xffa0, r >= 0xfff9 && r <= 0xfffb, r >= 0xe0000 && r <= 0xe0fff:
			return "an invisible character"
		}
		i += n
	}
	return ""
}

// quoteInExpansion finds ' inside ${ }: in double quotes it does not protect.
func quoteInExpansion(s string) string {
	depth := 0
	for {
		i := strings.IndexAny(s, "$}'")
		if i < 0 {
			return ""
		}
		switch {
		case strings.HasPrefix(s[i:], "${"):
			depth++
			i++
		case s[i] == '}' && depth > 0:
			depth--
		case s[i] == '\'' && depth > 0:
			return quotedExpansion
		}
		s = s[i+1:]
	}
}

const quotedExpansion = "a quote inside an expansion"

// continuationInWord finds a backslash before a newline that is not preceded
// by a blank.
func continuationInWord(s string) string {
	for i := 1; i+1 < len(s); i++ {
		if s[i] == '\\' && s[i+1] == '\n' && s[i-1] != ' ' && s[i-1] != '\t' && s[i-1] != '\n' {
			return "a line continuation inside a word"
		}
	}
	if strings.HasPrefix(s, "\\\n") {
		return "a line continuation inside a word"
	}
	return ""
}

// commentGoesOn finds a backslash before the newline that ends a comment: the
// shell ends the comment there, and the next line counts.
func commentGoesOn(s string) string {
	for rest := s; ; {
		i := strings.Index(rest, "\\\n")
		if i < 0 {
			return ""
		}
		line := rest[strings.LastIndexByte(rest[:i], '\n')+1 : i]
		for j := range len(line) {
			if line[j] == '#' && (j == 0 || strings.IndexByte(" \t;&|()<>", line[j-1]) >= 0) {
				return "a line continuation behind a number sign"
			}
		}
		rest = rest[i+2:]
	}
}

// An inspection is where in a command a node stands.
type inspection struct {
	quoted bool // inside double quotes or a live here-document
	loose  bool // where parentheses are no commands: a test, a pattern
}

// inspect walks a tree for forms whose meaning the tree does not show.
func (w *walker) inspect(n sh.Node, in inspection) {
	sh.Walk(n, func(n sh.Node) bool {
		if n == nil || !w.spend(1) {
			return false
		}
		switch x := n.(type) {
		case *sh.Lit:
			w.inspectLiteral(x.Value, in)
		case *sh.DblQuoted:
			for _, p := range x.Parts {
				w.inspect(p, inspection{quoted: true})
			}
			return false
		case *sh.ArrayExpr: // bash goes on with the word, a parser takes a comment
			if end := int(x.Rparen.Offset()) + 1; x.Rparen.IsValid() && end < len(w.src) && strings.IndexByte(" \t\n;&|)<>`", w.src[end]) < 0 {
				w.whole("a word that goes on behind a list")
			}
		case *sh.ParamExp:
			s := w.source(x)
			if strings.Contains(s, "'") { // one that the text alone does not show
				w.whole(quotedExpansion)
			}
			if strings.Contains(s, "<(") || strings.Contains(s, ">(") {
				w.whole("a process substitution inside an expansion")
			}
		case *sh.CmdSubst:
			if x.Backquotes {
				if s := w.source(x); len(s) > 2 && strings.ContainsAny(s[1:len(s)-1], "\\'\"#`") {
					w.whole("a quote or comment inside backticks")
				}
			}
			for _, s := range x.Stmts {
				w.inspect(s, inspection{})
			}
			return false
		case *sh.TestClause:
			w.inspectTest(x.X)
			return false
		case *sh.CaseItem:
			for _, p := range x.Patterns {
				w.inspect(p, inspection{loose: true})
			}
			for _, s := range x.Stmts {
				w.inspect(s, inspection{})
			}
			return false
		case *sh.ExtGlob:
			w.suspicious(x.Pattern.Value)
		case *sh.Redirect:
			return w.inspectRedirect(x)
		case *sh.Comment:
			return false
		}
		return true
	})
}

func (w *walker) inspectTest(x sh.TestExpr) {
	w.inspect(x, inspection{loose: true})
}

// inspectLiteral marks a literal that holds the start of a command.
func (w *walker) inspectLiteral(s string, in inspection) {
	escaped := -1
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			i++
			escaped = i
		case c == '`':
			w.whole("a backtick that is read as text")
		case c == '(' && !in.quoted && !in.loose, c == '(' && i > 0 && s[i-1] == '$' && escaped != i-1:
			w.whole("a parenthesis that is read as text")
		case (c == '$' || c == '<' || c == '>') && i+1 < len(s) && s[i+1] == '(' && !in.quoted:
			w.whole("a parenthesis that is read as text")
		}
	}
}

// suspicious marks a pattern that holds a command.
func (w *walker) suspicious(s string) {
	if strings.ContainsAny(s, "`$") {
		w.whole("a command inside a pattern")
	}
}

func (w *walker) inspectRedirect(x *sh.Redirect) bool {
	if x.Op != sh.Hdoc && x.Op != sh.DashHdoc {
		return true
	}
	if d := w.source(x.Word); !delimiter(d) {
		w.whole("an odd end marker of a here-document")
	} else if end := int(x.Word.End().Offset()); end < len(w.src) && strings.IndexByte(" \t\n;|&<>)", w.src[end]) < 0 {
		w.whole("an odd end marker of a here-document")
	}
	if x.Hdoc != nil && !strings.ContainsAny(w.source(x.Word), `'"\`) {
		for _, p := range x.Hdoc.Parts {
			w.inspect(p, inspection{quoted: true})
		}
	}
	return false
}

// delimiter reports whether the end marker of a here-document is a name, bare
// or wholly quoted.
func delimiter(s string) bool {
	if len(s) > 2 && (s[0] == '\'' || s[0] == '"') && s[len(s)-1] == s[0] {
		s = s[1 : len(s)-1]
	} else {
		s = strings.TrimPrefix(s, `\`)
	}
	if s == "" {
		return false
	}
	for i := 0; i < len(s); i++ {
		if c := s[i]; !programs.Plain(s[i:i+1]) || c == '/' || c == '%' || c == '@' {
			return false
		}
	}
	return true
}
