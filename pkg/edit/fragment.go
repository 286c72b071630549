package edit

import "strings"

// leastTight is how many characters a part of a line must have to be found by
// them alone.
const leastTight = 6

const (
	mostTight    = 300     // longer parts are left to the search for lines
	mostFragment = 1 << 20 // bytes of lines that are searched for a part
)

// fragment changes a part of a line that is quoted with other blanks, when it
// is in one place of the file only.
func (p *planner) fragment(old, new string) ([]change, *Refusal) {
	body := strings.TrimFunc(old, isSpaceRune)
	want := tight(body)
	if strings.ContainsAny(old+new, "\n") || len(want) < leastTight || len(want) > mostTight || !isASCII(body) {
		return nil, nil
	}
	t := p.text()
	var at []span
	_, near := p.index.sharing(body, 0)
	budget := mostFragment
	for _, i := range near {
		line := t.raw(int(i))
		if budget -= len(line); budget < 0 {
			return nil, nil
		}
		for from := 0; len(at) < mostEqual; {
			a, b, ok := looseSpan(line[from:], want)
			if !ok {
				break
			}
			if !joined(line, from+a) && !joined(line, from+b) {
				at = append(at, span{t.starts[i] + from + a, t.starts[i] + from + b})
			}
			from += a + 1
		}
	}
	switch len(at) {
	case 0:
		return nil, nil
	case 1:
	default:
		return nil, p.ambiguous(at, ", blanks aside")
	}
	now := string(p.file[at[0].start:at[0].end])
	text, ok := mergeLine(body, strings.TrimFunc(new, isSpaceRune), now)
	if !ok {
		return nil, nil
	}
	if text == now {
		return nil, alreadyApplied(p.linesOf(at[0]))
	}
	if r := p.madeAround(at[0], now, text); r != nil {
		return nil, r
	}
	c := p.replace(at[0], now, text)
	c.hit.Strategy = WhitespaceNormalized
	return []change{c}, nil
}

// looseSpan is the first stretch of the line that holds the characters of want
// and else nothing but white space between them.
func looseSpan(line []byte, want string) (a, b int, ok bool) {
	for a := range line {
		k, b := 0, a
		for ; b < len(line) && k < len(want) && (line[b] == want[k] || k > 0 && isSpace(line[b])); b++ {
			if line[b] == want[k] {
				k++
			}
		}
		if k == len(want) {
			return a, b, true
		}
	}
	return 0, 0, false
}

// joined reports whether a cut at the offset parts a word.
func joined(line []byte, at int) bool {
	return at > 0 && at < len(line) && isWord(line[at-1]) && isWord(line[at])
}
