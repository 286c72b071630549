package truncate

import (
	"bytes"
	"slices"
)

// choose picks what is shown: the start, the end, and error lines between them.
func (v *view) choose(room, lines int) []piece {
	share, n := 0, min(len(v.suspects), suspectKeep, (min(lines, noLimit-2)+2)/8)
	for _, x := range v.suspects {
		share += min(len(x.text)+1, suspectRoom) + markerRoom
	}
	share = min(share, room/4)
	if share < markerRoom+20 {
		share, n = 0, 0
	}
	head, tail := v.ends(room-share, lines-2*n)
	var found []piece
	if n > 0 {
		found = v.between(head, tail, share, n)
		used := 0
		for _, p := range found {
			used += len(p.text) + markerRoom
		}
		// The ends get what the error lines did not need, and may now show some of them.
		head, tail = v.ends(room-used, lines-2*len(found))
		found = slices.DeleteFunc(found, func(p piece) bool {
			return p.at < head.end || tail.lineEnd > tail.line && p.end > tail.at
		})
	}
	var pieces []piece
	if head.lineEnd > head.line {
		pieces = append(pieces, head)
	}
	pieces = append(pieces, found...)
	if tail.lineEnd > tail.line {
		pieces = append(pieces, tail)
	}
	return pieces
}

// ends picks the start and the end. What one does not use the other gets.
func (v *view) ends(room, lines int) (head, tail piece) {
	room, lines = max(room-markerRoom, room/3), max(lines-1, 0)
	part := v.o.Shape.part(lines)
	if v.o.Shape == Head && part == 0 {
		part = min(lines, 1)
	}
	head = v.takeHead(v.o.Shape.part(room), part, v.store.bytes+int64(len(v.back.buf))+1)
	tail = v.takeTail(room-len(head.text), lines-int(head.lineEnd), head.end)
	if tail.at > head.end || tail.lineEnd == tail.line || head.shortened > 0 {
		limit := tail.at
		if tail.lineEnd == tail.line {
			limit = noLimit
		}
		head = v.takeHead(room-len(tail.text), lines-int(tail.lineEnd-tail.line), limit)
	}
	return head, tail
}

// takeHead takes lines from the start that fit, none that reaches beyond limit. A
// first line that is too long is shortened.
func (v *view) takeHead(room, lines int, limit int64) piece {
	var p piece
	s := &v.front
	for pos := 0; pos < len(s.buf) && int(p.lineEnd) < lines; {
		n := bytes.IndexByte(s.buf[pos:], '\n') + 1
		if s.at+int64(pos+n) > limit {
			break
		}
		if !v.add(&p, s, pos, n, room-len(p.text), p.lineEnd == 0) {
			break
		}
		pos += n
	}
	return p
}

// takeTail takes lines from the end that fit, none that starts before limit. A
// last line that is too long is shortened.
func (v *view) takeTail(room, lines int, limit int64) piece {
	s := &v.back
	line, input := v.res.TotalLines, v.totalInput()
	start, used := len(s.buf), 0
	var taken []piece
	for start > 0 && len(taken) < lines {
		from := bytes.LastIndexByte(s.buf[:start-1], '\n') + 1
		if s.at+int64(from) < limit {
			break
		}
		var p piece
		if !v.add(&p, s, from, start-from, room-used, len(taken) == 0) {
			break
		}
		line, input = line-1, input-p.inputEnd
		p.line, p.lineEnd, p.firstShort = line, line+1, line
		p.input, p.inputEnd = input, input+p.inputEnd
		used += len(p.text)
		start = from
		taken = append(taken, p)
	}
	return join(taken)
}

// join puts pieces of one line each, the last first, together.
func join(taken []piece) piece {
	if len(taken) == 0 {
		return piece{}
	}
	slices.Reverse(taken)
	all := taken[0]
	for _, p := range taken[1:] {
		all.text = append(all.text, p.text...)
		if p.shortened > 0 && all.shortened == 0 {
			all.firstShort = p.firstShort
		}
		all.shortened += p.shortened
		all.missing += p.missing
		all.replaced += p.replaced
		all.end, all.lineEnd, all.inputEnd = p.end, p.lineEnd, p.inputEnd
	}
	return all
}

// add appends the stored line s.buf[pos:pos+n] to p if it fits into room bytes,
// shortened when it must be shown.
func (v *view) add(p *piece, s *stretch, pos, n, room int, must bool) bool {
	line := s.buf[pos : pos+n-1]
	at := s.at + int64(pos)
	c := cut{at: at, split: len(line)}
	if i, ok := slices.BinarySearchFunc(s.cuts, at, func(c cut, at int64) int { return int(min(max(c.at-at, -1), 1)) }); ok {
		c = s.cuts[i]
	}
	before := len(p.text)
	// Next to others, only a line that would fill the Text alone is worth shortening.
	must = must || len(line) > v.store.lim.Bytes/4 && room > shortMark
	text, missing, replaced, ok := appendLine(p.text, line, c, v.store.lim.LineChars, room-1, must)
	if !ok {
		return false
	}
	text = append(text, '\n')
	if before == 0 {
		p.at = at
	}
	if missing > 0 {
		if p.shortened == 0 {
			p.firstShort = p.lineEnd
		}
		p.shortened++
	}
	p.text = text
	p.end = at + int64(n)
	p.lineEnd++
	p.inputEnd += int64(n) + c.bytes
	if s.open && pos+n == len(s.buf) {
		p.inputEnd--
	}
	p.missing += missing
	p.replaced += replaced
	return true
}

// between picks error lines from between the head and the tail: when there are
// more than n, the first and the last ones.
func (v *view) between(head, tail piece, room, n int) []piece {
	end := int64(noLimit)
	if tail.lineEnd > tail.line {
		end = tail.at
	}
	var in []suspect
	for _, x := range v.suspects {
		if x.at >= head.end && x.end <= end {
			in = append(in, x)
		}
	}
	if len(in) > n {
		in = slices.Concat(in[:(n+1)/2], in[len(in)-n/2:])
	}
	need := 0
	for _, x := range in {
		need += min(len(x.text)+1, suspectRoom) + markerRoom
	}
	var found []piece
	for i, x := range in {
		size := suspectRoom
		if need > room { // an equal share of what is left, so that the last are heard too
			size = min(room/(len(in)-i)-markerRoom, suspectRoom)
		}
		if size < 20 {
			break
		}
		c := cut{split: len(x.text), bytes: x.size - 1 - int64(len(x.text))}
		text, missing, replaced, ok := appendLine(nil, x.text, c, v.store.lim.LineChars, size, true)
		if !ok {
			break
		}
		room -= len(text) + 1 + markerRoom
		need -= min(len(x.text)+1, suspectRoom) + markerRoom
		p := piece{
			text: append(text, '\n'), at: x.at, end: x.end, line: x.line, lineEnd: x.line + 1,
			input: x.input, inputEnd: x.input + x.size, missing: missing, replaced: replaced,
		}
		if missing > 0 {
			p.shortened, p.firstShort = 1, x.line
		}
		found = append(found, p)
	}
	return found
}
