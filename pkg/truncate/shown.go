package truncate

import "unicode/utf8"

// appendValid appends b with U+FFFD for every invalid byte, and counts those.
func appendValid(dst, b []byte) ([]byte, int64) {
	if utf8.Valid(b) {
		return append(dst, b...), 0
	}
	var replaced int64
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 {
			replaced++
		}
		dst = utf8.AppendRune(dst, r)
		b = b[n:]
	}
	return dst, replaced
}

// appendLine appends a stored line as it is shown, with a mark where its middle is
// missing, in at most room bytes. When it does not fit it is shortened if it must
// be shown, else ok is false.
func appendLine(dst, line []byte, c cut, chars, room int, must bool) (text []byte, missing, replaced int64, ok bool) {
	base := len(dst)
	if len(line) <= room {
		out, bad := appendValid(dst, line[:c.split])
		if c.bytes > 0 {
			out = append(out, mark(c.bytes, min(chars, fullMark))...)
		}
		out, bad2 := appendValid(out, line[c.split:])
		if len(out)-base <= room {
			return out, c.bytes, bad + bad2, true
		}
		dst = out[:base]
	}
	if !must || room < len("…") {
		return nil, 0, 0, false
	}
	kind := min(chars, room)
	textRoom := room - markChars(kind) - 4 // "…" takes more bytes than characters
	if kind < shortMark {
		textRoom = room - len("…")
	}
	maxChars := max(chars-markChars(kind), 0)
	if chars == noLimit {
		maxChars = noLimit
	}
	start, used := shownPrefix(line[:c.split], maxChars-maxChars/3, textRoom-textRoom/3)
	rest := line[start:]
	if c.bytes > 0 {
		rest = line[c.split:]
	}
	stop := shownSuffix(rest, maxChars/3, textRoom-used)
	end := rest[len(rest)-stop:]
	missing = int64(len(line)-start-stop) + c.bytes
	out, bad := appendValid(dst, line[:start])
	if missing > 0 {
		out = append(out, mark(missing, kind)...)
	}
	out, bad2 := appendValid(out, end)
	return out, missing, bad + bad2, true
}

// shownPrefix returns the length of the longest prefix of b that is shown in at
// most chars characters and size bytes, and the bytes it takes.
func shownPrefix(b []byte, chars, size int) (n, used int) {
	for ; chars > 0 && n < len(b); chars-- {
		r, k := utf8.DecodeRune(b[n:])
		w := utf8.RuneLen(r)
		if used+w > size {
			break
		}
		used += w
		n += k
	}
	return n, used
}

// shownSuffix returns the length of the longest suffix likewise.
func shownSuffix(b []byte, chars, size int) (n int) {
	for used := 0; chars > 0 && n < len(b); chars-- {
		r, k := utf8.DecodeLastRune(b[:len(b)-n])
		if used += utf8.RuneLen(r); used > size {
			break
		}
		n += k
	}
	return n
}
