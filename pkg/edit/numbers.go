package edit

import (
	"strconv"
	"strings"
)

// numberStyle is a way in which tools put line numbers before lines.
type numberStyle struct {
	before string // before the number
	after  string // between number and text; H is a hash of lower-case letters and digits, I one of two capitals
	pad    bool   // blanks may stand before the number
	gap    bool   // one blank may follow
}

// numberStyles are the styles of editors, cat -n, grep -n and other agents'
// read tools.
func numberStyles() []numberStyle {
	return []numberStyle{
		{after: "\t", pad: true},
		{after: "\u2192", pad: true},
		{after: "|", pad: true, gap: true},
		{after: " |", pad: true, gap: true},
		{before: "L", after: ":", gap: true},
		{after: ":", pad: true, gap: true},
		{after: ":H|", pad: true, gap: true},
		{after: ":I|", pad: true, gap: true},
		{after: "#I:", pad: true, gap: true},
		{after: "#I|", pad: true, gap: true},
		{after: ":I:", pad: true, gap: true},
	}
}

// cut splits a line into its number and its text; gap tells that a blank that
// may belong to the prefix stands first in the text.
func (st numberStyle) cut(l string) (n int, body string, gap, ok bool) {
	if st.pad {
		l = strings.TrimLeft(l, " \t")
	}
	l, ok = strings.CutPrefix(l, st.before)
	if !ok {
		return 0, "", false, false
	}
	d := 0
	for d < len(l) && d < 9 && l[d] >= '0' && l[d] <= '9' {
		d++
	}
	n, err := strconv.Atoi(l[:d])
	if err != nil {
		return 0, "", false, false
	}
	body, ok = st.separator(l[d:])
	return n, body, st.gap && strings.HasPrefix(body, " "), ok
}

func (st numberStyle) separator(l string) (string, bool) {
	for i := range len(st.after) {
		n := 1
		switch c := st.after[i]; c {
		case 'H':
			for n = 0; n < len(l) && n < 3 && (l[n] >= '0' && l[n] <= '9' || l[n] >= 'a' && l[n] <= 'z'); {
				n++
			}
			if n < 2 {
				return "", false
			}
		case 'I':
			for n = 0; n < len(l) && n < 2 && (l[n] >= '0' && l[n] <= '9' || l[n] >= 'A' && l[n] <= 'Z'); {
				n++
			}
			if n < 2 {
				return "", false
			}
		default:
			if l == "" || l[0] != c {
				return "", false
			}
		}
		l = l[n:]
	}
	return l, true
}

// numbered is a text whose line numbers are taken off.
type numbered struct {
	style int
	blank bool // the blank behind the separator counts as prefix
	first int
	body  string
}

// grepped takes off what grep and the like put before every line besides its
// number, the path, and makes one separator of those for matches and context:
// "pkg/a.go:12:text" and "pkg/a.go-13-text" become "12:text" and "13:text".
func grepped(s string) string {
	lines := strings.Split(s, "\n")
	for at := 0; at < min(len(lines[0]), mostLineText); at++ {
		if c := lines[0][at]; at > 0 && c != ':' && c != '-' {
			continue
		}
		if out, ok := withoutPath(lines, lines[0][:at]); ok {
			return strings.Join(out, "\n")
		}
	}
	return s
}

func withoutPath(lines []string, path string) (out []string, ok bool) {
	matches := 0
	for _, l := range lines {
		rest, ok := strings.CutPrefix(l, path)
		if ok && path != "" && rest != "" && strings.IndexByte(":-", rest[0]) >= 0 {
			rest = rest[1:]
		}
		text := strings.TrimLeft(rest, "0123456789")
		n := len(rest) - len(text)
		if !ok || n == 0 || text == "" || strings.IndexByte(":-", text[0]) < 0 {
			return nil, false
		}
		if text[0] == ':' {
			matches++
		}
		out = append(out, rest[:n]+":"+text[1:])
	}
	return out, matches > 0 && !strings.ContainsAny(path, " \t\"'()=")
}

// unnumber takes line numbers off where every line has one and each is one
// more than the one before. The blank behind the separator is read both ways.
func unnumber(s string) []numbered {
	lines := strings.Split(s, "\n")
	for len(lines) > 0 && blank(lines[len(lines)-1]) {
		lines = lines[:len(lines)-1]
	}
	if len(lines) == 0 {
		return nil
	}
	var out []numbered
	for k, st := range numberStyles() {
		first, _, _, ok := st.cut(lines[0])
		gaps := st.gap
		bodies := make([]string, len(lines))
		for i := 0; ok && i < len(lines); i++ {
			n, body, gap, is := st.cut(lines[i])
			ok = is && n == first+i
			gaps = gaps && (gap || body == "")
			bodies[i] = body
		}
		if !ok {
			continue
		}
		if gaps {
			short := make([]string, len(bodies))
			for i, b := range bodies {
				short[i] = strings.TrimPrefix(b, " ")
			}
			out = append(out, numbered{k, true, first, strings.Join(short, "\n")})
		}
		out = append(out, numbered{k, false, first, strings.Join(bodies, "\n")})
	}
	return out
}

// hasNumber reports whether a line begins as if it had a line number.
func hasNumber(l string) bool {
	for _, st := range numberStyles() {
		if _, _, _, ok := st.cut(l); ok {
			return true
		}
	}
	return false
}
