package dialect

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/tool"
)

// aider is the edit blocks that models print which were told to by Aider: a path,
// then the text that stands there and the text that is to, between marks.
func aider() *Dialect {
	return &Dialect{
		Name: "aider", Of: "Aider's edit blocks",
		Tools: []Tool{{
			Name: "edit_blocks", Also: "blocks", To: "edit", Told: "Changes files by edit blocks: a path on a line of its own, <<<<<<< SEARCH, the lines that stand there, =======, the lines to put in their place, >>>>>>> REPLACE.",
			Params: []Param{{Name: "text", Usage: "the answer of a model, with the blocks in it", Must: true}},
			Map:    editBlocks,
			Show:   editedBlocks,
			Differs: "all blocks are done, or none; a block without lines to search for makes a new file, and adds nothing to one that is there; marks in the text of a block need another length than the block's own; " +
				"a unified diff and a patch between *** Begin Patch and *** End Patch are done, too; whole files are not taken",
		}},
	}
}

// An editBlock is a text to replace in a file.
type editBlock struct {
	path, old, new string
	line           int // where it begins in the text, from 1
}

// editBlocks makes one edit of all blocks in a text.
func editBlocks(c *Call) error {
	text := strings.ReplaceAll(c.text("text"), "\r\n", "\n")
	list, rest, err := blocks(text)
	if err != nil {
		return err
	}
	patch := isPatch(rest)
	switch {
	case patch && len(list) > 0:
		return tool.Errorf(tool.BadInput, "a patch stands beside edit blocks").WithHint("nothing was done: send all changes as blocks, or all as a patch")
	case patch:
		c.To, c.Out = "patch", Args{"patch": rest}
		return nil
	case len(list) == 0:
		return noBlock(rest)
	}
	if c.places, err = intoNew(list); err != nil {
		return err
	}
	var edits []Args
	for _, b := range c.places {
		edits = append(edits, Args{"path": b.path, "old_string": b.old, "new_string": b.new})
	}
	c.Out = Args{"path": list[0].path, "edits": edits}
	if b := c.places[0]; len(edits) == 1 && b.old == "" && b.new == "" {
		c.To, c.Out = "write", Args{"path": b.path, "content": b.new, "create_only": true}
	}
	return nil
}

// intoNew is list without the blocks that change what an earlier one puts into a new file:
// that holds what they make of it.
func intoNew(list []editBlock) (out []editBlock, err error) {
	for _, b := range list {
		at := slices.IndexFunc(out, func(o editBlock) bool { return o.path == b.path && o.old == "" })
		if at < 0 {
			out = append(out, b)
			continue
		}
		made := &out[at]
		switch n := strings.Count(made.new, b.old); {
		case b.old == "":
			return nil, tool.Errorf(tool.BadInput, "the blocks in lines %d and %d both make %s", made.line, b.line, b.path).WithHint("nothing was done: put its whole content into one of them")
		case n != 1:
			return nil, tool.Errorf(tool.BadInput, "the block in line %d: its text to search for stands %d times in %s, which the block in line %d makes", b.line, n, b.path, made.line).
				WithHint("nothing was done: put the whole content into the block that makes the file")
		}
		made.new = strings.Replace(made.new, b.old, b.new, 1)
	}
	return out, nil
}

const blockForm = "a block has the lines <<<<<<< SEARCH, ======= and >>>>>>> REPLACE, and a path before it"

// noBlock says what is missing in a text without edit blocks.
func noBlock(text string) error {
	e := tool.Errorf(tool.BadInput, "there is no edit block").WithHint(blockForm)
	if strings.Contains(text, "```") || strings.Contains(text, "~~~") {
		_ = e.WithHint("a whole file is not taken: %s; a new file is a block with no lines before =======", blockForm)
	}
	return e
}

// isPatch reports whether a text holds a patch of its own kind, or a unified diff.
func isPatch(text string) bool {
	return regexp.MustCompile(`(?m)^[ \t]*\*\*\* Begin Patch[ \t]*$|^--- \S.*\n\+\+\+ \S|^diff --git `).MatchString(text)
}

// A mark is a line that begins, divides or ends a block.
type mark struct {
	sign rune // < or = or >
	n    int  // how many of them
	rest string
}

// marked is the mark that a line is; ok is false for another line.
func marked(line string) (m mark, ok bool) {
	line = strings.TrimSpace(line)
	if line == "" {
		return m, false
	}
	m.sign = rune(line[0])
	rest := strings.TrimLeft(line, line[:1])
	m.n = len(line) - len(rest)
	if m.n < 5 || m.n > 9 {
		return m, false
	}
	rest = strings.TrimSpace(rest)
	word, after, _ := strings.Cut(rest, " ")
	word = strings.Trim(word, ":>`")
	switch m.sign {
	case '=':
		return m, rest == ""
	case '<', '-': // dashes and plus signs are Cline's
		m.sign, m.rest = '<', strings.TrimSpace(after)
		return m, word == "SEARCH" || line[0] == '<' && word == "ORIGINAL"
	case '>', '+':
		m.sign = '>'
		return m, after == "" && (word == "REPLACE" || line[0] == '>' && word == "UPDATED")
	}
	return m, false
}

// blocks finds the edit blocks in a text, and what stands beside them.
func blocks(text string) (list []editBlock, rest string, err error) {
	lines := strings.SplitAfter(text, "\n")
	var beside strings.Builder
	last, from := "", 0 // the file of the block before, and the line behind it
	for i := 0; i < len(lines); i++ {
		open, ok := marked(lines[i])
		if !ok || open.sign != '<' {
			beside.WriteString(lines[i])
			continue
		}
		middle, end, err := bounds(lines, i, open.n)
		if err != nil {
			return nil, "", err
		}
		name, err := blockFile(open.rest, lines[from:i], last)
		if err != nil {
			return nil, "", tool.Errorf(tool.BadInput, "the block in line %d %w", i+1, err).WithHint("nothing was done: put the file's path alone on the line before it, in `backticks` where it holds blanks")
		}
		pad := lines[i][:len(lines[i])-len(strings.TrimLeft(lines[i], " \t"))]
		b := editBlock{name, side(lines[i+1:middle], pad), side(lines[middle+1:end], pad), i + 1}
		if strings.TrimSpace(b.old) == "" {
			b.old = ""
		}
		list = append(list, b)
		last, i, from = name, end, end+1
	}
	return list, beside.String(), nil
}

// side is the text of one side of a block whose marks are indented by pad: without that
// where each line has it.
func side(lines []string, pad string) string {
	if pad != "" && !slices.ContainsFunc(lines, func(l string) bool { return strings.TrimSpace(l) != "" && !strings.HasPrefix(l, pad) }) {
		lines = slices.Clone(lines)
		for i, l := range lines {
			lines[i] = strings.TrimPrefix(l, pad)
		}
	}
	return strings.Join(lines, "")
}

// bounds are the lines that divide and end the block that begins in a line by a mark of n
// signs. Marks of the same length are taken before those of another one, which may be
// part of the text.
func bounds(lines []string, at, n int) (middle, end int, err error) {
	stop := len(lines) // where the next block begins
	for i := at + 1; i < len(lines); i++ {
		if m, ok := marked(lines[i]); ok && m.sign == '<' && m.n == n {
			stop = i
			break
		}
	}
	find := func(sign rune, from, to int) (found []int) {
		var others []int
		for i := from; i < to; i++ {
			switch m, ok := marked(lines[i]); {
			case !ok || m.sign != sign:
			case m.n == n:
				found = append(found, i)
			default:
				others = append(others, i)
			}
		}
		if found == nil {
			return others
		}
		return found
	}
	unclosed := func(sign string) error {
		e := tool.Errorf(tool.BadInput, "the block in line %d has no line %s", at+1, sign)
		if stop < len(lines) {
			e = tool.Errorf(tool.BadInput, "the block in line %d has no line %s before the next one begins in line %d", at+1, sign, stop+1)
		}
		return e.WithHint("nothing was done: " + blockForm)
	}
	ends := find('>', at+1, stop)
	if len(ends) == 0 {
		return 0, 0, unclosed(">>>>>>> REPLACE")
	}
	middles := find('=', at+1, ends[0])
	switch {
	case len(middles) == 0:
		return 0, 0, unclosed("=======")
	case len(middles) > 1 && middles[0] > at+1: // one that comes at once leaves nothing to search for
		return 0, 0, tool.Errorf(tool.BadInput, "the block in line %d has the line ======= twice, in lines %d and %d", at+1, middles[0]+1, middles[1]+1).
			WithHint("nothing was done: where the file itself has such a line, give all three marks of the block another length, of five to nine signs")
	}
	return middles[0], ends[0], nil
}

// blockFile is the file of a block: it stands on the mark's line, or before it, where a
// fence may lie between, or is that of the block before.
func blockFile(beside string, before []string, last string) (string, error) {
	if name, sure := fileName(beside); sure && looksLikeFile(name) {
		return name, nil
	}
	for _, line := range slices.Backward(before) {
		line = strings.TrimSpace(line)
		if fence, info := fenced(line); fence {
			if name := infoFile(info); name != "" {
				return name, nil
			}
			continue
		}
		if line == "" || line == "..." {
			continue
		}
		name, sure := fileName(line)
		switch {
		case sure:
			return name, nil
		case name == "" || name == last: // other text
		case last == "":
			return "", fmt.Errorf("names no file, unless %q is meant", name)
		default:
			return "", fmt.Errorf("is for %q or for %q, which is not certain", last, name)
		}
		break
	}
	if last == "" {
		return "", errors.New("names no file")
	}
	return last, nil
}

// fenced reports whether a line begins or ends a block of code, and what stands behind
// the fence.
func fenced(line string) (bool, string) {
	for _, sign := range [...]string{"`", "~"} {
		if rest := strings.TrimLeft(line, sign); len(line)-len(rest) >= 3 && !strings.Contains(rest, "`") {
			return true, strings.TrimSpace(rest)
		}
	}
	return slices.Contains([]string{"<source>", "<code>", "<pre>", "<codename>", "<sourcecode>"}, line), ""
}

// infoFile is the file that is named behind a fence, beside a language or alone; "" for none.
func infoFile(info string) string {
	name := info
	if at := strings.IndexAny(info, " :"); at > 0 && !strings.ContainsAny(info[:at], "./\\=") {
		name = strings.TrimSpace(info[at+1:])
	}
	for _, key := range [...]string{"title=", "file=", "filename=", "path="} {
		name = strings.TrimPrefix(name, key)
	}
	if name = strings.Trim(name, `"'`); looksLikeFile(name) {
		return name
	}
	return ""
}

// fileName is the file that a line of text names, without what decorates it. It is sure
// where the line is nothing else; otherwise it may be part of a sentence. "" is none.
func fileName(line string) (name string, sure bool) {
	line = strings.TrimSpace(line)
	for _, c := range [...]string{"//", "<!--", "/*", "--", "%", ";"} { // comments, in a fence
		if rest, ok := strings.CutPrefix(line, c+" "); ok {
			line = strings.TrimSpace(strings.TrimSuffix(strings.TrimSuffix(rest, "-->"), "*/"))
			break
		}
	}
	line = strings.TrimLeft(line, "#> ")
	for _, list := range [...]string{"- ", "* ", "+ "} {
		line = strings.TrimPrefix(line, list)
	}
	colon := strings.HasSuffix(line, ":") || strings.HasSuffix(line, ":**")
	plain := strings.Trim(line, "*:_ ")
	for _, key := range [...]string{"File", "file", "FILE", "Filename", "filename", "File name", "Path", "path", "File path", "Filepath"} {
		if rest, ok := strings.CutPrefix(plain, key); ok && strings.HasPrefix(strings.TrimLeft(rest, "*"), ":") {
			plain, colon = strings.Trim(rest, "*: "), false
			break
		}
	}
	if strings.HasPrefix(line, "__") { // which are part of a name such as __init__.py
		plain = strings.Trim(line, "*: ")
	}
	quoted := len(plain) > 2 && strings.HasPrefix(plain, "`") && strings.HasSuffix(plain, "`") && strings.Count(plain, "`") == 2
	if plain = strings.Trim(plain, "`"); plain == "" || plain == "..." {
		return "", false
	}
	words := strings.Fields(plain)
	switch {
	case quoted, len(words) == 1 && looksLikeFile(plain):
		return plain, true
	case len(words) == 1:
		return plain, !colon && !strings.HasSuffix(plain, ".") || slices.Contains(bareNames(), plain)
	case strings.ContainsAny(words[0], `/\`) && looksLikeFile(plain):
		return plain, true
	}
	for _, word := range slices.Backward(words) {
		if word = strings.Trim(word, "*`:,.;!?()[]'\""); looksLikeFile(word) {
			return word, false
		}
	}
	return "", false
}

// bareNames are files without an extension that are known by their name.
func bareNames() []string {
	return []string{"Makefile", "Dockerfile", "Containerfile", "LICENSE", "README", "Gemfile", "Rakefile", "Procfile", "Justfile", "justfile", "Vagrantfile", "Jenkinsfile", "CODEOWNERS", "BUILD", "WORKSPACE"}
}

// looksLikeFile reports whether a word has the form of a file's path: directories, or an
// extension with a letter.
func looksLikeFile(word string) bool {
	base := path.Base(strings.ReplaceAll(word, `\`, "/"))
	ext := strings.TrimPrefix(path.Ext(base), ".")
	switch {
	case word == "" || strings.Contains(word, "://") || strings.HasPrefix(word, "<") || strings.HasSuffix(word, "."):
		return false
	case ext != "":
		return strings.ContainsFunc(ext, func(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }) && !slices.Contains([]string{"e.g", "i.e"}, word)
	}
	return strings.ContainsAny(word, `/\`) && word != "/" && word != "and/or"
}

// editedBlocks is the result of blocks, in which what failed is the block in its line.
func editedBlocks(v *View) string {
	if v.Error == nil {
		return v.Output
	}
	before, after, ok := strings.Cut(v.Error.Message, "edits[")
	number, rest, closed := strings.Cut(after, "]")
	n, err := strconv.Atoi(number)
	if !ok || !closed || err != nil {
		n, rest = 0, v.Error.Message
		if before, after, ok = strings.Cut(rest, ": "); ok && len(v.places) == 1 && before == v.places[0].path {
			before, rest = before+": ", ": "+after
		} else {
			before = ""
		}
	}
	if n < len(v.places) && v.To != "patch" {
		b := v.places[n]
		if before != "" {
			v.Error.Message = fmt.Sprintf("%sthe block in line %d%s", before, b.line, rest)
		}
		if b.old == "" && (strings.HasSuffix(rest, "the old text is empty") || strings.HasSuffix(rest, "exists already")) {
			v.Error.Message = fmt.Sprintf("the block in line %d has no lines to search for, and %s is there already", b.line, b.path)
			_ = v.Error.WithHint("nothing was done: put the lines before ======= that are to be replaced, or name a file that is new")
		}
	}
	return v.Error.Words()
}
