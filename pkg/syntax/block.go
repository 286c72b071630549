package syntax

import "strings"

// BlockOptions narrow [Block]. The zero value climbs to the outermost block.
type BlockOptions struct {
	MaxLevels       int  // how many blocks around the anchor to climb; 0 for all
	IncludeSiblings bool // everything beside the outermost block, too
	IncludeHeader   bool // the comments and decorators directly above it, too
	MaxLines        int  // at most so many lines around the anchor; 0 for all
}

// Block finds, by indentation alone, the block of code around a line. Lines
// count from 1; an anchor outside the text is moved to its nearest line, and
// first and last are 0 when there is no text.
//
// A level is one real step of nesting, whatever the indent is made of. A block
// begins with its head, which stands further to the left than what it holds,
// and ends with its last deeper line or with the closing line at the head's
// indent; branches such as else, except and case belong to their statement,
// while the next statement never does, with or without braces.
func Block(lines []string, anchor int, o BlockOptions) (first, last int) {
	if len(lines) == 0 {
		return 0, 0
	}
	anchor = min(max(anchor, 1), len(lines))
	b := newBlocks(lines)
	at := b.base(anchor - 1)
	if at < 0 {
		return anchor, anchor
	}
	head := b.opening(at)
	end := b.end(head)
	for level := 0; o.MaxLevels == 0 || level < o.MaxLevels; level++ {
		above := b.head(head)
		if above < 0 {
			break
		}
		head, end = above, max(end, b.end(above))
	}
	start := head
	if o.IncludeSiblings {
		start, end = b.run(head)
	}
	if o.IncludeHeader {
		start = headerStart(lines, start, headers{hash: b.hash, decorators: true})
	}
	start, end = min(start, anchor-1), max(end, anchor-1)
	if o.MaxLines > 0 {
		start, end = window(start, end, anchor-1, o.MaxLines)
	}
	return start + 1, end + 1
}

// window takes lines around the anchor in turns, upwards first.
func window(start, end, anchor, limit int) (first, last int) {
	first, last = anchor, anchor
	for last-first+1 < limit && (first > start || last < end) {
		if first > start {
			first--
		}
		if last < end && last-first+1 < limit {
			last++
		}
	}
	return first, last
}

// blocks is a text with the indents of its lines.
type blocks struct {
	lines  []string
	indent []int // of code; -1 for what says nothing about nesting
	curly  bool  // braces and semicolons
	hash   bool  // '#' begins a comment
}

func newBlocks(lines []string) *blocks {
	b := &blocks{lines: lines, indent: make([]int, len(lines))}
	for _, l := range lines {
		t := strings.TrimSpace(l)
		b.curly = b.curly || strings.HasSuffix(t, "{") || strings.HasSuffix(t, ";")
	}
	b.hash = true
	for _, l := range lines {
		if strings.HasPrefix(l, "#include") || strings.HasPrefix(l, "#define") || strings.HasPrefix(l, "#if") {
			b.hash = false
		}
	}
	comment := false
	for i, l := range lines {
		n, rest := leading(l)
		b.indent[i] = n
		t := strings.TrimSpace(rest)
		switch {
		case comment:
			b.indent[i] = -1
			comment = !strings.Contains(t, "*/")
		case strings.HasPrefix(t, "/*") && !strings.Contains(t, "*/"):
			b.indent[i], comment = -1, true
		case t == "" || isComment(t) || b.curly && strings.HasPrefix(t, "#") && !strings.HasPrefix(t, "#["):
			b.indent[i] = -1
		}
	}
	b.indentTexts()
	b.dropLabels()
	return b
}

// dropLabels ignores the targets of goto and "public:" between lines that
// stand deeper.
func (b *blocks) dropLabels() {
	if !b.curly {
		return
	}
	for i, n := range b.indent {
		t := strings.TrimSpace(b.lines[i])
		word, ok := strings.CutSuffix(t, ":")
		if n < 0 || !ok || word == "" || word == "default" || strings.ContainsFunc(word, notWord) {
			continue
		}
		up, down := b.before(i), b.after(i)
		access := word == "public" || word == "private" || word == "protected"
		if access || up >= 0 && down >= 0 && b.indent[up] > n && b.indent[down] > n {
			b.indent[i] = -1
		}
	}
}

func notWord(r rune) bool {
	return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
}

func (b *blocks) before(i int) int {
	i--
	for i >= 0 && b.indent[i] < 0 {
		i--
	}
	return i
}

func (b *blocks) after(i int) int {
	i++
	for i < len(b.lines) && b.indent[i] < 0 {
		i++
	}
	if i == len(b.lines) {
		return -1
	}
	return i
}

// base is the line of code that an anchor means: below a comment or a
// decorator what it introduces, on a blank line the code above.
func (b *blocks) base(i int) int {
	t := strings.TrimSpace(b.lines[i])
	for t != "" && i+1 < len(b.lines) && (b.indent[i] < 0 || isHeader(b.lines[i], headers{hash: b.hash, decorators: true})) && strings.TrimSpace(b.lines[i+1]) != "" {
		i++
	}
	if b.indent[i] >= 0 {
		return i
	}
	if up := b.before(i); up >= 0 {
		return up
	}
	return b.after(i)
}

// opening is where the statement begins of which a line is a later part:
// a closing line, a branch, a brace on a line of its own.
func (b *blocks) opening(i int) int {
	for b.continues(i) {
		up := b.before(i)
		for up >= 0 && b.indent[up] > b.indent[i] {
			up = b.before(up)
		}
		if up < 0 || b.indent[up] < b.indent[i] {
			return i
		}
		i = up
	}
	return i
}

// head is the line that opens the block around a line; -1 at the outermost.
func (b *blocks) head(i int) int {
	label := isLabel(b.lines[i])
	for up := b.before(i); up >= 0; up = b.before(up) {
		if b.indent[up] < b.indent[i] {
			return b.opening(up)
		}
		if label && b.indent[up] == b.indent[i] && !isLabel(b.lines[up]) {
			if opens(b.lines[up]) || firstWord(b.lines[up]) == "case" {
				return b.opening(up)
			}
			label = b.continues(up)
		}
	}
	return -1
}

// end is the last line of the block that a line opens.
func (b *blocks) end(head int) int {
	last, n := head, b.indent[head]
	label := isLabel(b.lines[head])
	inner := !label && (opens(b.lines[head]) || firstWord(b.lines[head]) == "case")
	braced := 0 // labels with a brace, each with a closing line of its own
	for i := b.after(head); i >= 0; i = b.after(i) {
		switch {
		case b.indent[i] > n:
			last = i
		case b.indent[i] < n, label && !strings.HasSuffix(strings.TrimSpace(b.lines[head]), "{"):
			return last
		case inner && isLabel(b.lines[i]):
			if last = i; strings.HasSuffix(strings.TrimSpace(b.lines[i]), "{") {
				braced++
			}
		case b.continues(i):
			last = i
			if !closes(b.lines[i]) || opens(b.lines[i]) {
				inner = opens(b.lines[i])
				continue
			}
			if braced > 0 {
				braced--
				continue
			}
			if next := b.after(i); next < 0 || b.indent[next] != n || !isBranch(b.lines[next]) {
				return last
			}
		default:
			return last
		}
	}
	return last
}

// run is the stretch of lines that stand at least as deep as a line.
func (b *blocks) run(i int) (first, last int) {
	first, last = i, i
	for up := i - 1; up >= 0 && (b.indent[up] < 0 || b.indent[up] >= b.indent[i]); up-- {
		if n, rest := leading(b.lines[up]); strings.TrimSpace(rest) != "" && (b.indent[up] >= 0 || n >= b.indent[i]) {
			first = up
		}
	}
	for down := i + 1; down < len(b.lines) && (b.indent[down] < 0 || b.indent[down] >= b.indent[i]); down++ {
		if n, rest := leading(b.lines[down]); strings.TrimSpace(rest) != "" && (b.indent[down] >= 0 || n >= b.indent[i]) {
			last = down
		}
	}
	return first, last
}

// continues says that a line goes on with the statement above at its indent.
func (b *blocks) continues(i int) bool {
	t := strings.TrimSpace(b.lines[i])
	if t == "{" {
		return b.headed(i)
	}
	return t == "begin" || closes(t) || isBranch(t)
}

// headed says that a brace on a line of its own has a head above it: it is no
// entry of a table, and no block of its own.
func (b *blocks) headed(i int) bool {
	up := b.before(i)
	if up < 0 || b.indent[up] != b.indent[i] {
		return true
	}
	t := strings.TrimSpace(b.lines[up])
	return !strings.HasSuffix(t, ",") && !strings.HasSuffix(t, ";") && !strings.HasPrefix(t, "}")
}

// isBranch says that a line begins another branch of the statement above.
func isBranch(line string) bool {
	word := firstWord(line)
	return hasWord("else elif elsif elseif except finally catch rescue ensure", word) ||
		word == "while" && strings.HasSuffix(strings.TrimSpace(line), ";")
}

// closes says that a line ends a block, and maybe begins its next branch.
func closes(line string) bool {
	t := strings.TrimSpace(line)
	if t == "" {
		return false
	}
	return strings.IndexByte("})]", t[0]) >= 0 || strings.HasPrefix(t, "</") || hasWord("end fi done esac endif endfunction endwhile endfor until", firstWord(t))
}

// opens says that a line is followed by what it holds.
func opens(line string) bool {
	t := strings.TrimSpace(line)
	if t == "" || isLabel(t) {
		return false
	}
	return strings.IndexByte("{([:", t[len(t)-1]) >= 0 || hasWord("do then else begin in", t[strings.LastIndexByte(t, ' ')+1:]) || strings.HasSuffix(t, "=>") || strings.HasSuffix(t, "|")
}

// isLabel knows the branches that stand at the indent of their statement.
func isLabel(line string) bool {
	t := strings.TrimSpace(line)
	switch firstWord(t) {
	case "case":
		return strings.HasSuffix(t, ":") || strings.Contains(t, ": ")
	case "when":
		return !strings.HasSuffix(t, "{")
	case "default", "public", "private", "protected":
		return strings.HasSuffix(t, ":") || strings.HasPrefix(t, "default:")
	}
	return false
}

func firstWord(line string) string {
	t := strings.TrimSpace(line)
	if i := strings.IndexFunc(t, notWord); i >= 0 {
		return t[:i]
	}
	return t
}

// leading measures an indent in columns; a tab goes to the next multiple of
// eight, as in files that mix both.
func leading(line string) (columns int, rest string) {
	for i := range len(line) {
		switch line[i] {
		case ' ':
			columns++
		case '\t':
			columns += 8 - columns%8
		default:
			return columns, line[i:]
		}
	}
	return columns, ""
}

// isComment looks at a trimmed line.
func isComment(t string) bool {
	for _, mark := range [...]string{"//", "/*", "# ", "#!", "##", "--", "<!--", `"""`, ";;"} {
		if strings.HasPrefix(t, mark) {
			return true
		}
	}
	return t == "#"
}

// headers is what may stand above a declaration and belong to it.
type headers struct {
	hash       bool // '#' begins a comment
	decorators bool // "@x", "#[x]", "[x]" and "template <…>" do, too
}

// isHeader says that a line directly above a declaration belongs to it: a
// comment, a decorator, an attribute or the parameters of a template.
func isHeader(line string, h headers) bool {
	t := strings.TrimSpace(line)
	switch {
	case t == "":
		return false
	case strings.HasPrefix(t, "//"), strings.HasPrefix(t, "/*"), strings.HasPrefix(t, "--"):
		return true
	case strings.HasPrefix(t, "#["), strings.HasPrefix(t, "template <"), strings.HasPrefix(t, "template<"):
		return h.decorators
	case t[0] == '@':
		return h.decorators && len(t) > 1 && (t[1] == '_' || !notWord(rune(t[1])))
	case t[0] == '[':
		return h.decorators && strings.HasSuffix(t, "]")
	case t[0] == '#':
		return h.hash && !strings.HasPrefix(t, "#!")
	}
	return false
}

// mayHead is a quick look at the line above a declaration.
func mayHead(line string, h headers) bool {
	t := strings.TrimSpace(line)
	return isHeader(t, h) || strings.HasSuffix(t, "*/") || h.decorators && endsDecorator(t)
}

// endsDecorator knows the last line of "@Component({ … })" and "#[cfg( … )]".
func endsDecorator(t string) bool {
	return t == ")" || t == ")]" || t == "]" || strings.HasPrefix(t, "})")
}

// headerStart moves up from a line, counted from 0, over its comments and
// decorators, those of several lines included.
func headerStart(lines []string, line int, h headers) int {
	indent, _ := leading(lines[line])
	for line > 0 {
		up := line - 1
		t := strings.TrimSpace(lines[up])
		n, _ := leading(lines[up])
		switch {
		case strings.HasSuffix(t, "*/"):
			for up > 0 && !strings.Contains(lines[up], "/*") {
				up--
			}
			if !strings.HasPrefix(strings.TrimSpace(lines[up]), "/*") {
				return line
			}
		case n == indent && h.decorators && endsDecorator(t):
			for up--; up >= 0; up-- {
				if k, rest := leading(lines[up]); strings.TrimSpace(rest) == "" || k <= indent {
					break
				}
			}
			if up < 0 || !strings.HasPrefix(strings.TrimSpace(lines[up]), "@") && !strings.HasPrefix(strings.TrimSpace(lines[up]), "#[") {
				return line
			}
		case n != indent || !isHeader(t, h):
			return line
		}
		if n, _ = leading(lines[up]); n != indent {
			return line
		}
		line = up
	}
	return line
}
