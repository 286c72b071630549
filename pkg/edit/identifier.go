package edit

// findUnmatched collects the unmatched identifiers: words that the call quotes
// but the file does not have, misquoted where the file has another word in that very place, or
// names on lines that are not in the file at all. New text that uses one was
// written for another file.
func (m *merger) findUnmatched() {
	m.unmatched = make(map[string]bool)
	for _, p := range m.place.pairs {
		if p.sim >= lineCertain || !p.single() {
			continue
		}
		to, tf := m.call[p.k0].tokens(), m.text.line(p.i0).tokens()
		for _, o := range changes(to, tf) {
			if o.i1 == o.i2 || o.j1 == o.j2 {
				continue
			}
			for _, w := range to[o.i1:o.i2] {
				if len(w) > 2 && isWord(w[0]) && misquotes(w, tf[o.j1:o.j2]) && !m.index.has(w) {
					m.unmatched[w] = true
				}
			}
		}
	}
	for k, f := range m.call {
		if m.of[k] >= 0 || f.blank || f.elided {
			continue
		}
		ts := f.tokens()
		for x, w := range ts {
			called := x+1 < len(ts) && ts[x+1] == "("
			if len(w) > 3 && isName(w) && (called || isCompound(w)) && !m.index.has(w) {
				m.unmatched[w] = true
			}
		}
	}
}

// misquotes reports whether w looks like one of the words.
func misquotes(w string, words []string) bool {
	for _, f := range words {
		if isWord(f[0]) && ratio(lower(w), lower(f)) >= wordMisquote {
			return true
		}
	}
	return false
}

func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] += 'a' - 'A'
		}
	}
	return string(b)
}

// isName reports whether w is an identifier.
func isName(w string) bool {
	for i := range len(w) {
		if c := w[i]; !isWord(c) || c >= 0x80 || i == 0 && c >= '0' && c <= '9' {
			return false
		}
	}
	return true
}

// isCompound reports whether w is made of several words: camelCase or
// snake_case.
func isCompound(w string) bool {
	for i := 1; i < len(w); i++ {
		a, b := w[i-1], w[i]
		if a == '_' && i > 1 || a >= 'a' && a <= 'z' && b >= 'A' && b <= 'Z' {
			return true
		}
	}
	return false
}

// repeatsUnmatched reports whether a new line uses an unmatched identifier and is not just a new
// version of the line that misquotes it.
func (m *merger) repeatsUnmatched(n *form, o op) bool {
	if !usesAny(n, m.unmatched) {
		return false
	}
	for k := o.i1; k < o.i2; k++ {
		if m.of[k] >= 0 && usesAny(m.call[k], m.unmatched) && similar(m.call[k], n) >= versionSim {
			return false
		}
	}
	return true
}

func usesAny(f *form, words map[string]bool) bool {
	for _, t := range f.tokens() {
		if words[t] {
			return true
		}
	}
	return false
}
