package syntax

// A lexeme is a word or a mark of C, C++ or C# outside comments, strings and
// directives.
type lexeme struct {
	start, end int
	word       bool // letters, digits and underscores
	first      bool // of its line
	last       bool // of its line
}

// A directive is a line of the preprocessor, with those that continue it.
type directive struct {
	start, end int    // end is behind its last line feed
	name       string // if, ifdef, else, define …
	args       string
	before     int // how many tokens stand above it
}

// scanC splits the text of a C-like file into tokens and directives. It is no
// compiler: what it cannot read it takes for marks.
func scanC(src []byte) (tokens []lexeme, directives []directive) {
	fresh := true // nothing but space on the line so far
	endLine := func() {
		if n := len(tokens); n > 0 {
			tokens[n-1].last = true
		}
		fresh = true
	}
	for i := 0; i < len(src); {
		c := src[i]
		switch {
		case c == '\n':
			endLine()
			i++
		case c == ' ' || c == '\t' || c == '\r' || c == '\f':
			i++
		case c == '#' && fresh:
			end := directiveEnd(src, i)
			directives = append(directives, readDirective(src, i, end, len(tokens)))
			endLine()
			i = end
		case c == '/' && i+1 < len(src) && src[i+1] == '/':
			i = lineEnd(src, i)
		case c == '/' && i+1 < len(src) && src[i+1] == '*':
			i = commentEnd(src, i)
		default:
			end := tokenEnd(src, i)
			tokens = append(tokens, lexeme{start: i, end: end, word: isWordByte(c), first: fresh})
			fresh, i = false, end
		}
	}
	endLine()
	return tokens, directives
}

func tokenEnd(src []byte, i int) int {
	switch c := src[i]; {
	case isWordByte(c):
		end := i
		for end < len(src) && isWordByte(src[end]) {
			end++
		}
		if end < len(src) && src[end] == '"' && isRawPrefix(src[i:end]) {
			return rawEnd(src, end)
		}
		if c >= '0' && c <= '9' {
			for end < len(src) && (isWordByte(src[end]) || src[end] == '\'' && end+1 < len(src) && isWordByte(src[end+1])) {
				end++
			}
		}
		return end
	case c == '@' && i+1 < len(src) && src[i+1] == '"':
		return verbatimEnd(src, i+1)
	case c == '@' && i+2 < len(src) && src[i+1] == '$' && src[i+2] == '"', c == '$' && i+2 < len(src) && src[i+1] == '@' && src[i+2] == '"':
		return verbatimEnd(src, i+2)
	case c == '"' && i+2 < len(src) && src[i+1] == '"' && src[i+2] == '"':
		return fencedEnd(src, i)
	case c == '"' || c == '\'':
		return quotedEnd(src, i)
	case c == ':' && i+1 < len(src) && src[i+1] == ':', c == '-' && i+1 < len(src) && src[i+1] == '>':
		return i + 2
	}
	return i + 1
}

func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= 0x80
}

func isRawPrefix(word []byte) bool {
	switch string(word) {
	case "R", "LR", "u8R", "uR", "UR":
		return true
	}
	return false
}

// rawEnd is behind R"tag(…)tag", whose first quote is at i.
func rawEnd(src []byte, i int) int {
	open := i + 1
	for open < len(src) && open < i+18 && src[open] != '(' {
		open++
	}
	end := ")" + string(src[i+1:min(open, len(src))]) + `"`
	for j := open; j+len(end) <= len(src); j++ {
		if string(src[j:j+len(end)]) == end {
			return j + len(end)
		}
	}
	return i + 1
}

// verbatimEnd is behind C#'s @"…", in which two quotes stand for one.
func verbatimEnd(src []byte, i int) int {
	for j := i + 1; j < len(src); j++ {
		if src[j] != '"' {
			continue
		}
		if j+1 < len(src) && src[j+1] == '"' {
			j++
			continue
		}
		return j + 1
	}
	return i + 1
}

// fencedEnd is behind C#'s """…""".
func fencedEnd(src []byte, i int) int {
	n := i
	for n < len(src) && src[n] == '"' {
		n++
	}
	fence := src[i:n]
	for j := n; j+len(fence) <= len(src); j++ {
		if string(src[j:j+len(fence)]) == string(fence) {
			return j + len(fence)
		}
	}
	return n
}

// quotedEnd is behind a string or character, which ends with its line.
func quotedEnd(src []byte, i int) int {
	for j := i + 1; j < len(src) && src[j] != '\n'; j++ {
		switch src[j] {
		case '\\':
			if j++; j < len(src) && src[j] == '\r' {
				j++
			}
		case src[i]:
			return j + 1
		}
	}
	return i + 1
}

func lineEnd(src []byte, i int) int {
	for i < len(src) && src[i] != '\n' {
		i++
	}
	return i
}

func commentEnd(src []byte, i int) int {
	for j := i + 2; j+1 < len(src); j++ {
		if src[j] == '*' && src[j+1] == '/' {
			return j + 2
		}
	}
	return len(src)
}

// directiveEnd is behind the line feed of a directive, whose lines may go on
// with a backslash or within a comment.
func directiveEnd(src []byte, i int) int {
	for i < len(src) {
		switch {
		case src[i] == '\n':
			return i + 1
		case src[i] == '\\' && i+1 < len(src) && src[i+1] == '\n':
			i += 2
		case src[i] == '\\' && i+2 < len(src) && src[i+1] == '\r' && src[i+2] == '\n':
			i += 3
		case src[i] == '/' && i+1 < len(src) && src[i+1] == '*':
			i = commentEnd(src, i)
		default:
			i++
		}
	}
	return i
}

func readDirective(src []byte, start, end, before int) directive {
	i := start + 1
	for i < end && (src[i] == ' ' || src[i] == '\t') {
		i++
	}
	j := i
	for j < end && isWordByte(src[j]) {
		j++
	}
	return directive{start: start, end: end, name: string(src[i:j]), args: string(src[j:end]), before: before}
}
