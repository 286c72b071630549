package edit

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"unsafe"
)

// Diff is the unified diff from before to after with so many lines of context,
// "" when they are equal. git apply and patch accept it; the names stand
// behind --- and +++ as given ("/dev/null" for a file that is not there),
// quoted as git does where they need it. Bytes are passed through, whatever
// their encoding. Time is near linear: where large texts have little in
// common, the diff may be longer than the shortest.
func Diff(nameBefore, nameAfter string, before, after []byte, context int) string {
	return DiffLimit(nameBefore, nameAfter, before, after, context, math.MaxInt).Text
}

// Difference is a unified diff of which the end may be left out. What is counted
// is counted of all of it.
type Difference struct {
	Text           string
	Omitted        int // lines that Text leaves out
	Added, Removed int
}

// DiffLimit is [Diff] of which no more lines are written than limit bytes hold.
// Little more memory is taken for the others.
func DiffLimit(nameBefore, nameAfter string, before, after []byte, context, limit int) Difference {
	d := compareLines(before, after)
	if len(d.ops) == 0 {
		return Difference{}
	}
	w := diffWriter{limit: limit}
	w.head(nameBefore, nameAfter)
	d.hunks(&w, context)
	return w.difference()
}

// diffWriter writes a diff as long as its lines are within the limit.
type diffWriter struct {
	text  strings.Builder
	limit int // bytes
	full  bool
	made  Difference
}

func (w *diffWriter) head(nameBefore, nameAfter string) {
	w.line("--- ", quoteName(nameBefore), "\n")
	w.line("+++ ", quoteName(nameAfter), "\n")
}

// line writes a line, which is given in parts.
func (w *diffWriter) line(parts ...string) {
	size := w.text.Len()
	for _, s := range parts {
		size += len(s)
	}
	w.full = w.full || size > w.limit
	if w.full {
		w.made.Omitted++
		return
	}
	for _, s := range parts {
		w.text.WriteString(s)
	}
}

// lines writes lines of a file.
func (w *diffWriter) lines(mark string, lines []string) {
	for _, l := range lines {
		if strings.HasSuffix(l, "\n") {
			w.line(mark, l)
			continue
		}
		w.line(mark, l, "\n")
		w.line("\\ No newline at end of file\n")
	}
}

func (w *diffWriter) difference() Difference {
	w.made.Text = w.text.String()
	return w.made
}

// hunks writes all changes.
func (d *lineDiff) hunks(w *diffWriter, context int) {
	context = max(context, 0)
	for i := 0; i < len(d.ops); {
		j := i + 1
		for j < len(d.ops) && d.ops[j].i1-d.ops[j-1].i2 <= 2*context {
			j++
		}
		d.hunk(w, d.ops[i:j], context)
		i = j
	}
}

// Count is how many lines a diff from before to after adds and removes.
func Count(before, after []byte) (added, removed int) {
	for _, o := range compareLines(before, after).ops {
		added += o.j2 - o.j1
		removed += o.i2 - o.i1
	}
	return added, removed
}

// lineDiff is how one text becomes another, line by line. Lines keep their
// endings.
type lineDiff struct {
	a, b []string // without the lines that are equal at both ends
	skip int      // how many are equal at the start
	head []byte   // these
	tail []byte   // and those at the end
	ops  []op     // only changes; line numbers count from the start of the text

	oldBase, newBase int // lines before the texts, where they are parts of files
}

func compareLines(before, after []byte) lineDiff {
	if bytes.Equal(before, after) {
		return lineDiff{}
	}
	n := commonPrefix(before, after)
	n = bytes.LastIndexByte(before[:n], '\n') + 1
	m := 0
	for a, b := before[n:], after[n:]; m < len(a) && m < len(b) && a[len(a)-m-1] == b[len(b)-m-1]; {
		m++
	}
	// The equal end begins after a line ending of the part that differs.
	end := before[len(before)-m:]
	if k := bytes.IndexByte(end, '\n'); k < 0 {
		m = 0
	} else if !startsLine(before, len(before)-m) || !startsLine(after, len(after)-m) {
		m -= k + 1
	}
	d := lineDiff{head: before[:n], tail: before[len(before)-m:], skip: bytes.Count(before[:n], []byte{'\n'})}
	d.a, d.b = linesOf(before[n:len(before)-m]), linesOf(after[n:len(after)-m])
	for _, o := range compareFar(d.a, d.b) {
		if !o.equal {
			d.ops = append(d.ops, op{false, o.i1 + d.skip, o.i2 + d.skip, o.j1 + d.skip, o.j2 + d.skip})
		}
	}
	return d
}

const (
	farLines = 2000 // lines from which a text is compared piece by piece
	farPiece = 512  // lines of each side in a piece at first
	farEqual = 8    // equal lines behind which a piece may end
	farNear  = 8    // lines on both sides together that are left out at once, where equal ones follow
)

// compareFar is compareStrings for the lines of two long texts that differ in
// many places far apart: it takes in no more lines at once than it has to.
func compareFar(a, b []string) []op {
	if min(len(a), len(b)) < farLines {
		return compareStrings(a, b)
	}
	var ops []op
	piece := farPiece
	for i, j := 0, 0; i < len(a) || j < len(b); {
		if i < len(a) && j < len(b) && a[i] == b[j] {
			i, j = i+1, j+1
			continue
		}
		if di, dj, ok := nextEqual(a[i:], b[j:]); ok {
			ops = append(ops, op{false, i, i + di, j, j + dj})
			i, j = i+di, j+dj
			continue
		}
		part := compareStrings(a[i:min(len(a), i+piece)], b[j:min(len(b), j+piece)])
		if i+piece < len(a) || j+piece < len(b) {
			if part = sure(part, piece); part == nil {
				piece *= 8
				continue
			}
		}
		for _, o := range part {
			ops = append(ops, op{o.equal, o.i1 + i, o.i2 + i, o.j1 + j, o.j2 + j})
		}
		i, j = ops[len(ops)-1].i2, ops[len(ops)-1].j2
		piece = farPiece
	}
	return ops
}

// nextEqual is how many lines to leave out on each side, as few as can be, to come to
// enough lines that are equal on both.
func nextEqual(a, b []string) (i, j int, ok bool) {
	for d := 1; d <= farNear; d++ {
		for i := max(0, d-len(b)); i <= min(d, len(a)); i++ {
			if n := farEqual; i+n <= len(a) && d-i+n <= len(b) && slices.Equal(a[i:i+n], b[d-i:d-i+n]) {
				return i, d - i, true
			}
		}
	}
	return 0, 0, false
}

// sure is the part of ops that what follows the two pieces of so many lines will
// hardly change: up to the last of many equal lines in their first three quarters.
func sure(ops []op, piece int) []op {
	for n := len(ops); n > 0; n-- {
		if o := ops[n-1]; o.equal && o.i2-o.i1 >= farEqual && max(o.i1, o.j1)+farEqual <= piece*3/4 {
			over := max(0, max(o.i2, o.j2)-piece*3/4)
			ops[n-1].i2, ops[n-1].j2 = o.i2-over, o.j2-over
			return ops[:n]
		}
	}
	return nil
}

func startsLine(b []byte, at int) bool { return at == 0 || b[at-1] == '\n' }

func commonPrefix(a, b []byte) int {
	n := 0
	for step := 4096; step > 0; {
		if n+step <= len(a) && n+step <= len(b) && bytes.Equal(a[n:n+step], b[n:n+step]) {
			n += step
		} else {
			step /= 2
		}
	}
	return n
}

// linesOf cuts a text behind its line endings. The lines are parts of the text, which
// nobody changes: copies of two large files would be half of what an edit holds.
func linesOf(b []byte) []string {
	lines := strings.SplitAfter(unsafe.String(unsafe.SliceData(b), len(b)), "\n")
	if n := len(lines) - 1; lines[n] == "" {
		lines = lines[:n]
	}
	return lines
}

// before is lines from to to of the old text.
func (d *lineDiff) before(from, to int) []string {
	if last := d.skip + len(d.a); from >= d.skip && to <= last {
		return d.a[from-d.skip : to-d.skip]
	}
	var out []string
	if from < d.skip {
		lines := lastLines(d.head, d.skip-from)
		out = append(out, lines[:min(len(lines), to-from)]...)
		from = d.skip
	}
	for ; from < to && from-d.skip < len(d.a); from++ {
		out = append(out, d.a[from-d.skip])
	}
	if from < to {
		out = append(out, firstLines(d.tail, from-d.skip-len(d.a), to-d.skip-len(d.a))...)
	}
	return out
}

// lastLines are the last n lines of b, which ends in a line ending.
func lastLines(b []byte, n int) []string {
	at := len(b)
	for ; n > 0 && at > 0; n-- {
		at = bytes.LastIndexByte(b[:at-1], '\n') + 1
	}
	return linesOf(b[at:])
}

// firstLines are lines from to to of b.
func firstLines(b []byte, from, to int) []string {
	var out []string
	for i := 0; i < to && len(b) > 0; i++ {
		n := bytes.IndexByte(b, '\n') + 1
		if n == 0 {
			n = len(b)
		}
		if i >= from {
			out = append(out, string(b[:n]))
		}
		b = b[n:]
	}
	return out
}

// hunk writes changes that are near each other.
func (d *lineDiff) hunk(w *diffWriter, ops []op, context int) {
	first, last := ops[0], ops[len(ops)-1]
	from := max(0, first.i1-context)
	head := d.before(from, first.i1)
	foot := d.before(last.i2, last.i2+context)
	olds := last.i2 + len(foot) - from
	news := last.j2 + len(foot) - (first.j1 - len(head))
	w.line("@@ ", fmt.Sprintf("-%s +%s @@\n", hunkRange(d.oldBase+from, olds), hunkRange(d.newBase+first.j1-len(head), news)))
	at := from
	for _, o := range ops {
		w.lines(" ", d.before(at, o.i1))
		w.lines("-", d.before(o.i1, o.i2))
		w.lines("+", d.b[o.j1-d.skip:o.j2-d.skip])
		w.made.Removed += o.i2 - o.i1
		w.made.Added += o.j2 - o.j1
		at = o.i2
	}
	w.lines(" ", foot)
}

// hunkRange is a start and a count as unified diffs have them: an empty range
// starts at the line before it.
func hunkRange(from, n int) string {
	switch n {
	case 0:
		return itoa(from) + ",0"
	case 1:
		return itoa(from + 1)
	}
	return itoa(from+1) + "," + itoa(n)
}

// quoteName spells a file name as git does in a diff: in quotes when it has
// control characters, quotes or backslashes; with a tab behind it when it has
// blanks.
func quoteName(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' || r == 0x7f }) {
		if strings.Contains(s, " ") {
			return s + "\t"
		}
		return s
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteString("\\" + string(c))
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\t':
			b.WriteString(`\t`)
		case c < ' ' || c == 0x7f:
			fmt.Fprintf(&b, "\\%03o", c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String() + `"`
}
