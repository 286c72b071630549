package page

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// A block of Markdown is not cut where that can be helped.
type block struct {
	start, end int // in the text; the end is that of its last line
	kind       byte
	head       int    // where the lines end that each part of it begins with, or 0
	tail       int    // where the lines begin that each part of it ends with
	foot       string // these
}

const (
	lines     = 'l' // can be cut after each of its lines
	fenced    = 'f'
	table     = 't'
	title     = 'h'
	separator = 'b' // an empty line
)

// blocks finds the blocks of a Markdown text.
func blocks(text string) []block {
	var list []block
	for at := 0; at < len(text); {
		end := lineEnd(text, at)
		line := text[at:end]
		bare := unboxed(line)
		switch {
		case strings.TrimSpace(bare) == "":
			list = append(list, block{start: at, end: end, kind: separator})
		case fenceOf(bare) != "":
			b := fence(text, at)
			list = append(list, b)
			end = b.end
		case isRow(bare) && isRule(unboxed(text[end:lineEnd(text, end)])):
			b := block{start: at, kind: table, head: lineEnd(text, end)}
			for end = b.head; end < len(text) && isRow(unboxed(text[end:lineEnd(text, end)])); {
				end = lineEnd(text, end)
			}
			b.end, b.tail = end, end
			list = append(list, b)
		case isHeading(bare):
			list = append(list, block{start: at, end: end, kind: title})
		default:
			list = append(list, block{start: at, end: end, kind: lines})
		}
		at = end
	}
	return list
}

// lineEnd is where the line that begins at i is over, with its end of line.
func lineEnd(text string, i int) int {
	if n := strings.IndexByte(text[i:], '\n'); n >= 0 {
		return i + n + 1
	}
	return len(text)
}

// unboxed is a line without the signs of the lists and quotes that it is in.
func unboxed(line string) string {
	for {
		short := strings.TrimLeft(line, " ")
		switch {
		case strings.HasPrefix(short, "> "), strings.HasPrefix(short, "- "), strings.HasPrefix(short, "* "), strings.HasPrefix(short, "+ "):
			short = short[2:]
		case strings.HasPrefix(short, ">"):
			short = short[1:]
		default:
			n := 0
			for n < len(short) && n < 9 && short[n] >= '0' && short[n] <= '9' {
				n++
			}
			if n == 0 || n+1 >= len(short) || short[n] != '.' && short[n] != ')' || short[n+1] != ' ' {
				return short
			}
			short = short[n+2:]
		}
		line = short
	}
}

// fenceOf is the fence that a line opens, or "".
func fenceOf(bare string) string {
	if len(bare) < 3 || bare[0] != '`' && bare[0] != '~' {
		return ""
	}
	n := 0
	for n < len(bare) && bare[n] == bare[0] {
		n++
	}
	if n < 3 || bare[0] == '`' && strings.Contains(bare[n:], "`") {
		return ""
	}
	return bare[:n]
}

// fence is the block of code that begins at a line.
func fence(text string, at int) block {
	b := block{start: at, kind: fenced, head: lineEnd(text, at)}
	line := text[at:b.head]
	sign := fenceOf(unboxed(line))
	box := boxOf(line[:len(line)-len(unboxed(line))])
	b.foot = box + sign + "\n"
	for i := b.head; i < len(text); {
		end := lineEnd(text, i)
		bare := strings.TrimLeft(text[i:end], " >")
		if run := strings.TrimRight(bare, " \n"); len(run) >= len(sign) && strings.Trim(run, sign[:1]) == "" && quotes(text[i:end]) == quotes(box) {
			b.end, b.tail = end, i
			return b
		}
		i = end
	}
	b.end, b.tail = len(text), len(text)
	return b
}

// quotes counts the signs of quotes that a line begins with.
func quotes(line string) int {
	n := 0
	for _, c := range []byte(line) {
		if c == '>' {
			n++
		} else if c != ' ' {
			break
		}
	}
	return n
}

// boxOf is what the later lines of a box begin with, whose first begins with this.
func boxOf(first string) string {
	return strings.Map(func(c rune) rune {
		if c == '>' {
			return c
		}
		return ' '
	}, first)
}

// isRow reports whether a line is a row of a table.
func isRow(bare string) bool {
	return strings.HasPrefix(bare, "|") || strings.Contains(bare, " | ")
}

// isRule reports whether a line is the one below a table's head.
func isRule(bare string) bool {
	bare = strings.TrimSpace(bare)
	return strings.Contains(bare, "-") && strings.Contains(bare, "|") && strings.Trim(bare, "|-: ") == ""
}

func isHeading(bare string) bool {
	n := len(bare) - len(strings.TrimLeft(bare, "#"))
	return n > 0 && n < 7 && (len(bare) == n || bare[n] == ' ' || bare[n] == '\n')
}

// outlineOf are the headings of a Markdown text.
func outlineOf(text string) []Heading {
	var list []Heading
	for _, b := range blocks(text) {
		if b.kind != title {
			continue
		}
		bare := unboxed(text[b.start:b.end])
		n := len(bare) - len(strings.TrimLeft(bare, "#"))
		list = append(list, Heading{Level: n, Text: strings.TrimSpace(strings.TrimRight(strings.TrimSpace(bare[n:]), "#")), Offset: b.start})
	}
	return list
}

// Slice returns the text from an offset on, of about limit bytes, and the offset of
// what comes after it, 0 at the end. It cuts between blocks. Of a fence or a table
// that is larger than a page each part is whole: its first lines are repeated, and a
// fence is closed. A limit of 0 means no limit.
func (d *Document) Slice(offset, limit int) (text string, next int) {
	if offset < 0 || offset >= len(d.Text) {
		return "", 0
	}
	if d.cuts == nil {
		d.cuts = blocks(d.Text)
	}
	for offset > 0 && !utf8.RuneStart(d.Text[offset]) {
		offset--
	}
	if limit <= 0 {
		limit = len(d.Text)
	}
	var b strings.Builder
	at := offset
	heading, before := -1, 0 // where the headings begin that the page would end with
	begin := sort.Search(len(d.cuts), func(i int) bool { return d.cuts[i].end > at })
	for _, k := range d.cuts[begin:] {
		head := ""
		if at, head = d.enter(k, at); at == k.end {
			continue
		}
		size := len(head) + k.end - at
		if b.Len()+size <= limit {
			if k.kind == title && heading < 0 {
				heading, before = at, b.Len()
			} else if k.kind != title && k.kind != separator {
				heading = -1
			}
			b.WriteString(head)
			b.WriteString(d.Text[at:k.end])
			at = k.end
			continue
		}
		room := limit - b.Len()
		if b.Len() > 0 && (size <= limit || room < limit/2 || k.kind == lines) {
			break
		}
		heading = -1
		stop := d.cut(k, at, room-len(head)-len(k.foot))
		b.WriteString(head)
		b.WriteString(d.Text[at:stop])
		if stop < k.end && k.foot != "" {
			if d.Text[stop-1] != '\n' {
				b.WriteByte('\n')
			}
			b.WriteString(k.foot)
		}
		at = stop
		break
	}
	text = b.String()
	switch {
	case at >= len(d.Text):
		return text, 0
	case heading >= 0 && before > 0:
		return text[:before], heading
	}
	return text, at
}

// enter is where a page begins that begins within a block, and what it repeats of it.
func (d *Document) enter(k block, at int) (from int, head string) {
	switch {
	case at <= k.start:
		return k.start, ""
	case k.head == 0:
		return at, ""
	case at < k.head:
		return k.start, ""
	case k.kind == fenced && at >= k.tail:
		return k.end, ""
	case k.kind == table:
		at = strings.LastIndexByte(d.Text[:at], '\n') + 1 // a row is never cut
	}
	head = d.Text[k.start:k.head]
	bare := unboxed(head)
	return at, boxOf(head[:len(head)-len(bare)]) + bare
}

// cut is where a block that is too large for a page is divided: after a line of it, or
// within one that is too long itself.
func (d *Document) cut(k block, at, room int) int {
	least := max(at, k.head) // the first lines, and something more
	if k.kind == table {
		stop := at
		for stop < k.end && (stop <= least || lineEnd(d.Text, stop) <= at+room) {
			stop = lineEnd(d.Text, stop)
		}
		return stop
	}
	last := k.end
	if k.kind == fenced {
		last = k.tail
	}
	stop := max(at+room, least+1)
	inside := func(stop int) int { // within a line, and not where a fence would begin or stay open, if another place is near
		near := min(last, stop+1000)
		for stop < last && !utf8.RuneStart(d.Text[stop]) {
			stop++
		}
		for moved := true; moved; {
			moved = false
			start := at + strings.LastIndexByte(d.Text[at:stop], '\n') + 1
			if i := strings.IndexByte(d.Text[stop:near], '`'); i >= 0 && k.kind != fenced && fenceOf(unboxed(d.Text[start:stop])) != "" {
				stop, moved = stop+i+1, true // a code span, which ends there
			}
			fence := unboxed(d.Text[stop:near])
			if rest := strings.TrimLeft(strings.TrimLeft(fence, "`"), "~"); len(fence)-len(rest) >= 3 {
				stop, moved = near-len(rest), true
			}
		}
		if stop >= last {
			return k.end
		}
		return stop
	}
	switch i := strings.LastIndexByte(d.Text[least:min(stop, last)], '\n'); {
	case stop >= last:
		return k.end
	case i >= 0:
		return least + i + 1
	case k.kind == lines:
		if i := strings.LastIndexByte(d.Text[least:stop], ' '); i > 0 {
			return inside(least + i + 1)
		}
	}
	return inside(stop)
}
