package pdftext

import (
	"bytes"
	"maps"
	"regexp"
	"slices"
	"strconv"
)

func (d *Document) lexer(at int) *lexer {
	return &lexer{data: d.data, pos: min(max(at, 0), len(d.data)), refs: true, work: d.work}
}

// readTables reads the cross-reference tables from the last one back. What
// stands in a newer one counts.
func (d *Document) readTables() bool {
	at := bytes.LastIndex(d.data, []byte("startxref"))
	if at < 0 {
		return false
	}
	start, ok := d.lexer(at + len("startxref")).next()
	offset, is := start.(int)
	if !ok || !is {
		return false
	}
	seen := map[int]bool{}
	next := []int{offset}
	for len(next) > 0 {
		offset, next = next[0], next[1:]
		if seen[offset] || offset < 0 || offset >= len(d.data) {
			continue
		}
		seen[offset] = true
		t, ok := d.readTable(offset)
		if !ok {
			return false
		}
		for k, v := range t {
			if _, have := d.trailer[k]; !have {
				d.trailer[k] = v
			}
		}
		for _, key := range []name{"XRefStm", "Prev"} {
			if n, ok := t[key].(int); ok {
				next = append(next, n)
			}
		}
	}
	return len(seen) > 0
}

func (d *Document) readTable(offset int) (dict, bool) {
	l := d.lexer(offset)
	first, ok := l.next()
	if !ok {
		return nil, false
	}
	if first != operator("xref") {
		return d.readTableStream(offset)
	}
	for {
		v, ok := l.next()
		if v == operator("trailer") {
			t, ok := l.next()
			trailer, is := t.(dict)
			return trailer, ok && is
		}
		start, is := v.(int)
		n, ok2 := l.next()
		count, is2 := n.(int)
		if !ok || !ok2 || !is || !is2 {
			return nil, false
		}
		for i := range count {
			at, _ := l.next()
			_, _ = l.next()
			kind, ok := l.next()
			if !ok {
				return nil, false
			}
			offset, is := at.(int)
			if kind == operator("n") && is {
				d.put(start+i, place{offset: offset})
			}
		}
	}
}

func (d *Document) put(num int, p place) {
	if _, have := d.places[num]; !have && num >= 0 && len(d.places) < maxPlaces {
		d.places[num] = p
	}
}

// readTableStream reads a table that is a stream of fixed-size records.
func (d *Document) readTableStream(offset int) (dict, bool) {
	_, v, ok := d.objectAt(offset, false)
	s, is := v.(*stream)
	if !ok || !is {
		return nil, false
	}
	data, err := d.unpack(s)
	if err != nil {
		return nil, false
	}
	widths := d.list(s.dict["W"])
	if len(widths) < 3 {
		return nil, false
	}
	var w [3]int
	size := 0
	for i := range w {
		w[i] = min(max(d.number(widths[i], 0), 0), 8)
		size += w[i]
	}
	index := d.list(s.dict["Index"])
	if len(index) < 2 {
		index = array{0, d.number(s.dict["Size"], 0)}
	}
	for i := 0; i+1 < len(index) && size > 0; i += 2 {
		start := d.number(index[i], 0)
		for j := range d.number(index[i+1], 0) {
			if len(data) < size {
				break
			}
			var f [3]int
			at := 0
			for k := range f {
				for range w[k] {
					f[k] = f[k]<<8 | int(data[at])
					at++
				}
			}
			if w[0] == 0 {
				f[0] = 1
			}
			data = data[size:]
			switch f[0] {
			case 1:
				d.put(start+j, place{offset: f[1]})
			case 2:
				d.put(start+j, place{offset: -1, pack: f[1], index: f[2]})
			}
		}
	}
	return s.dict, true
}

// rebuild finds the objects of a file whose tables are of no use.
func (d *Document) rebuild() {
	d.rebuilt = true
	d.places, d.objects, d.packs = map[int]place{}, map[int]any{}, map[int]*pack{}
	headers := regexp.MustCompile(`(\d{1,9})[ \t\r\n]+\d{1,5}[ \t\r\n]+obj\b`)
	var packs []int
	for _, m := range headers.FindAllSubmatchIndex(d.data, maxPlaces) {
		num, err := strconv.Atoi(string(d.data[m[2]:m[3]]))
		if err != nil {
			continue
		}
		d.places[num] = place{offset: m[0]} // the last one counts
		if head := d.data[m[1]:min(len(d.data), m[1]+300)]; bytes.Contains(head, []byte("/ObjStm")) {
			packs = append(packs, num)
		} else if bytes.Contains(head, []byte("/XRef")) {
			if _, v, _ := d.objectAt(m[0], false); v != nil {
				if s, ok := v.(*stream); ok {
					d.adopt(s.dict)
				}
			}
		}
	}
	for rest, at := d.data, 0; ; {
		i := bytes.Index(rest[at:], []byte("trailer"))
		if i < 0 {
			break
		}
		at += i + len("trailer")
		if v, ok := d.lexer(at).next(); ok {
			if t, ok := v.(dict); ok {
				d.adopt(t)
			}
		}
	}
	_ = d.unlock() // Open asks again
	for _, num := range packs {
		if p := d.readPack(num); p != nil {
			for i, n := range p.numbers {
				d.put(n, place{offset: -1, pack: num, index: i})
			}
		}
	}
	if d.root() == nil {
		d.seekRoot()
	}
}

// adopt takes over what a trailer says, the later one instead of the earlier.
func (d *Document) adopt(t dict) {
	maps.Copy(d.trailer, t)
}

// seekRoot looks for the catalogue among all objects.
func (d *Document) seekRoot() {
	for _, num := range d.numbers() {
		if o, ok := d.resolve(ref{num, 0}).(dict); ok && o["Type"] == name("Catalog") {
			d.trailer["Root"] = ref{num, 0}
		}
	}
}

func (d *Document) numbers() []int {
	var list []int
	for num := range d.places {
		list = append(list, num)
	}
	slices.Sort(list)
	return list
}

// resolve follows references; what leads nowhere is nil.
func (d *Document) resolve(v any) any {
	for range maxDepth {
		r, ok := v.(ref)
		if !ok {
			return v
		}
		v = d.load(r.num)
	}
	return nil
}

func (d *Document) load(num int) any {
	if v, ok := d.objects[num]; ok {
		return v
	}
	p, ok := d.places[num]
	if !ok || d.loading[num] || len(d.loading) > maxDepth {
		return nil
	}
	d.loading[num] = true
	defer delete(d.loading, num)
	var v any
	if p.offset < 0 {
		v = d.unpackObject(p)
	} else {
		var have int
		if have, v, ok = d.objectAt(p.offset, true); !ok || have != num {
			if d.rebuilt {
				return nil
			}
			d.rebuild()
			if p, ok = d.places[num]; !ok || p.offset < 0 {
				return nil
			}
			_, v, _ = d.objectAt(p.offset, true)
		}
	}
	d.objects[num] = v
	return v
}

// objectAt reads "7 0 obj …" and returns the object and its number.
func (d *Document) objectAt(offset int, decrypt bool) (num int, v any, ok bool) {
	if offset >= len(d.data) {
		return 0, nil, false
	}
	l := d.lexer(offset)
	l.refs = false
	n, _ := l.next()
	g, _ := l.next()
	obj, ok := l.next()
	num, is := n.(int)
	gen, is2 := g.(int)
	if !ok || !is || !is2 || obj != operator("obj") {
		return 0, nil, false
	}
	l.refs = true
	if v, ok = l.next(); !ok {
		return 0, nil, false
	}
	content, is := v.(dict)
	if is {
		after := l.pos
		if op, _ := l.next(); op == operator("stream") {
			s := &stream{content, d.extent(l, content)}
			if decrypt && d.crypt != nil {
				s.raw = d.crypt.stream(s, num, gen)
				d.crypt.strings(content, num, gen, 0)
			}
			return num, s, true
		}
		l.pos = after
	}
	if decrypt && d.crypt != nil {
		v = d.crypt.strings(v, num, gen, 0)
	}
	return num, v, true
}

// extent is the bytes of a stream, from the word "stream" on.
func (d *Document) extent(l *lexer, content dict) []byte {
	at := l.pos
	if at < len(d.data) && d.data[at] == '\r' {
		at++
	}
	if at < len(d.data) && d.data[at] == '\n' {
		at++
	}
	rest := d.data[at:]
	if n, ok := d.resolve(content["Length"]).(int); ok && n >= 0 && n <= len(rest) {
		if bytes.HasPrefix(bytes.TrimLeft(rest[n:min(n+20, len(rest))], "\r\n\t \x00"), []byte("endstream")) {
			return rest[:n]
		}
	}
	end := bytes.Index(rest, []byte("endstream"))
	if end < 0 {
		d.work.spend(len(rest) / 64) // what looks for it again and again must end
		return rest
	}
	d.work.spend(end / 64)
	return bytes.TrimSuffix(bytes.TrimSuffix(rest[:end], []byte("\n")), []byte("\r"))
}

func (d *Document) readPack(num int) *pack {
	if p, ok := d.packs[num]; ok {
		return p
	}
	d.packs[num] = nil
	s, ok := d.load(num).(*stream)
	if !ok {
		return nil
	}
	data, err := d.unpack(s)
	if err != nil {
		return nil
	}
	p := &pack{data: data}
	first := d.number(s.dict["First"], 0)
	l := &lexer{data: data, work: d.work}
	for range d.number(s.dict["N"], 0) {
		a, _ := l.next()
		b, ok := l.next()
		n, is := a.(int)
		at, is2 := b.(int)
		if !ok || !is || !is2 {
			break
		}
		p.numbers = append(p.numbers, n)
		p.offsets = append(p.offsets, first+at)
	}
	d.packs[num] = p
	return p
}

func (d *Document) unpackObject(at place) any {
	p := d.readPack(at.pack)
	if p == nil || at.index >= len(p.offsets) || p.offsets[at.index] < 0 || p.offsets[at.index] > len(p.data) {
		return nil
	}
	l := &lexer{data: p.data, pos: p.offsets[at.index], refs: true, work: d.work}
	v, _ := l.next()
	return v
}
