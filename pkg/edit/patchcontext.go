package edit

import (
	"strconv"
	"strings"
)

// A context diff, as diff -c writes it, shows each hunk twice: its old lines
// and its new ones. Lines that differ are marked with !, and a side without
// lines of its own is left out.

const contextHunk = "***************"

// isContextHeader reports whether a file of a context diff begins.
func isContextHeader(lines []string) bool {
	return len(lines) > 2 && strings.HasPrefix(lines[0], "*** ") && strings.HasPrefix(lines[1], "--- ") && strings.HasPrefix(lines[2], contextHunk)
}

// contextRange reads "*** 1,5 ****" or "--- 1,5 ----".
func contextRange(l string, mark byte) (line int, ok bool) {
	marks := strings.Repeat(string(mark), 3)
	s, ok := strings.CutPrefix(l, marks+" ")
	if !ok {
		return 0, false
	}
	if s, ok = strings.CutSuffix(strings.TrimRight(s, " \r"), " "+marks+string(mark)); !ok {
		return 0, false
	}
	first, _, _ := strings.Cut(s, ",")
	line, err := strconv.Atoi(first)
	return line, err == nil
}

// parseContextHunk reads one hunk of a context diff and says how many lines it
// has; none where it is broken.
func parseContextHunk(lines []string) (h Hunk, used int) {
	if len(lines) < 3 {
		return h, 1
	}
	line, ok := contextRange(lines[1], '*')
	if !ok {
		return h, 1
	}
	used = 2
	h.OldLine = line
	var sides [2][]HunkLine
	side := 0
	for ; used < len(lines); used++ {
		l := lines[used]
		if _, is := contextRange(l, '-'); is && side == 0 {
			side = 1
			continue
		}
		if strings.HasPrefix(l, `\`) {
			if n := len(sides[side]); n > 0 && side == 0 {
				h.oldNoEOL = true
			} else if n > 0 {
				h.newNoEOL = true
			}
			continue
		}
		if len(l) < 2 || l[1] != ' ' || !strings.ContainsRune(" !-+", rune(l[0])) {
			break
		}
		sides[side] = append(sides[side], HunkLine{l[0], l[2:]})
	}
	h.Lines, h.counted = joinSides(sides[0], sides[1]), true
	if len(sides[0]) == 0 && line == 0 {
		h.OldLine = 1 // an empty file
	}
	return h, used
}

// joinSides makes one list of the two sides of a hunk.
func joinSides(old, new []HunkLine) []HunkLine {
	unchanged := func(of []HunkLine) (out []HunkLine) {
		for _, l := range of {
			if l.Op == ' ' {
				out = append(out, l)
			}
		}
		return out
	}
	if len(old) == 0 {
		old = unchanged(new)
	}
	if len(new) == 0 {
		new = unchanged(old)
	}
	var out []HunkLine
	for len(old) > 0 || len(new) > 0 {
		switch {
		case len(old) > 0 && old[0].Op != ' ':
			out, old = append(out, HunkLine{'-', old[0].Text}), old[1:]
		case len(new) > 0 && new[0].Op != ' ':
			out, new = append(out, HunkLine{'+', new[0].Text}), new[1:]
		case len(old) > 0:
			out, old, new = append(out, old[0]), old[1:], new[min(1, len(new)):]
		default:
			out, new = append(out, new[0]), new[1:]
		}
	}
	return out
}
