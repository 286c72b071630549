package policy

import (
	"errors"
	"strings"
)

// maxWords bounds a pattern: the matcher keeps its states in one uint64.
const maxWords = 60

type wordKind uint8

const (
	literalWord wordKind = iota
	globWord             // text with * inside
	oneWord              // a lone ?
	anyWords             // a lone *
)

// A word is one word of a bash pattern.
type word struct {
	kind  wordKind
	text  string   // a literal's text; a glob's source
	parts []string // a glob's literal pieces: "a*b" is {"a", "b"}
}

// A tri is the answer of a match where some words are not known yet.
type tri uint8

const (
	no tri = iota
	maybe
	yes
)

var (
	errQuote     = errors.New("a quote is not closed")
	errBackslash = errors.New("a backslash ends the pattern")
	errControl   = errors.New("a pattern is one line without control characters")
	errEmpty     = errors.New("the pattern is empty")
	errLong      = errors.New("the pattern has too many words")
	errStars     = errors.New("** is for paths; a lone * stands for any number of words")
)

// parseWords splits a bash pattern. Quotes and backslashes make blanks, * and
// ? literal, as they do in a shell.
func parseWords(s string) ([]word, error) {
	var out []word
	for i := 0; ; {
		for i < len(s) && (s[i] == ' ' || s[i] == '\t') {
			i++
		}
		if i == len(s) {
			break
		}
		w, next, err := parseWord(s, i)
		if err != nil {
			return nil, err
		}
		out, i = append(out, w), next
	}
	switch {
	case len(out) == 0:
		return nil, errEmpty
	case len(out) > maxWords:
		return nil, errLong
	}
	return out, nil
}

// parseWord reads the word of s that starts at i.
func parseWord(s string, i int) (w word, next int, err error) {
	start := i
	var b strings.Builder
	var parts []string
	quote := byte(0)
	for ; i < len(s); i++ {
		c := s[i]
		switch {
		case c < ' ' && c != '\t' || c == 0x7f:
			return w, i, errControl
		case quote == 0 && (c == ' ' || c == '\t'):
			return newWord(s[start:i], b.String(), parts), i, checkStars(s[start:i])
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case c == quote:
			quote = 0
		case c == '\\' && quote != '\'':
			if i++; i == len(s) {
				return w, i, errBackslash
			}
			b.WriteByte(s[i])
		case c == '*' && quote == 0:
			parts = append(parts, b.String())
			b.Reset()
		default:
			b.WriteByte(c)
		}
	}
	if quote != 0 {
		return w, i, errQuote
	}
	return newWord(s[start:], b.String(), parts), i, checkStars(s[start:])
}

func checkStars(source string) error {
	if len(source) > 1 && strings.Trim(source, "*") == "" {
		return errStars
	}
	return nil
}

func newWord(source, text string, parts []string) word {
	switch {
	case source == "*":
		return word{kind: anyWords, text: "*"}
	case source == "?":
		return word{kind: oneWord, text: "?"}
	case parts != nil:
		return word{kind: globWord, text: source, parts: append(parts, text)}
	}
	return word{text: text}
}

// match reports whether the word stands for s.
func (w *word) match(s string) bool {
	switch w.kind {
	case literalWord:
		return w.text == s
	case globWord:
		return matchParts(w.parts, s)
	}
	return true
}

// matchParts reports whether s is parts joined by anything.
func matchParts(parts []string, s string) bool {
	last := len(parts) - 1
	if !strings.HasPrefix(s, parts[0]) {
		return false
	}
	s = s[len(parts[0]):]
	for _, part := range parts[1:last] {
		i := strings.Index(s, part)
		if i < 0 {
			return false
		}
		s = s[i+len(part):]
	}
	return strings.HasSuffix(s, parts[last])
}

// matchWords matches argument words against a pattern. In a certain match a
// dynamic word is only ever covered by a lone * or ?; otherwise it may be any
// number of any words, as far as known does not say otherwise. start is the set of
// pattern positions to begin with.
func matchWords(pattern []word, argv []string, dynamic []bool, known Parts, start uint64, certain bool) bool {
	states := closeStates(pattern, start)
	for i, s := range argv {
		dyn := i < len(dynamic) && dynamic[i]
		if dyn && !certain {
			if states = anyOf(pattern, states, known[s]); states == 0 {
				return false
			}
			continue
		}
		next := uint64(0)
		for j := range pattern {
			if states&(1<<j) == 0 {
				continue
			}
			w := &pattern[j]
			switch {
			case w.kind == anyWords:
				next |= 1 << j
			case w.kind == oneWord, !dyn && w.match(s):
				next |= 1 << (j + 1)
			}
		}
		if next == 0 {
			return false
		}
		states = closeStates(pattern, next)
	}
	return states&(1<<len(pattern)) != 0
}

// matchAround is matchWords for a call with options between its words: an
// option is passed over, and so may be the word after it, which may be its
// value.
func matchAround(pattern []word, argv []string, dynamic []bool, known Parts, start uint64) bool {
	states := closeStates(pattern, start)
	value := false // the word may be the value of the option before it
	for i, s := range argv {
		option := isOption(s)
		next := uint64(0)
		if option || value {
			next = states
		}
		dyn := i < len(dynamic) && dynamic[i]
		for j := range pattern {
			if states&(1<<j) == 0 {
				continue
			}
			if pattern[j].kind == anyWords {
				next |= 1 << j
			} else if dyn && pattern[j].mayBe(known[s]) || !dyn && pattern[j].match(s) {
				next |= 1 << (j + 1)
			}
		}
		if next == 0 {
			return false
		}
		states, value = closeStates(pattern, next), option && !strings.Contains(s, "=")
	}
	return states&(1<<len(pattern)) != 0
}

// anyOf gives the positions of a pattern that a word which is not known may lead to.
func anyOf(pattern []word, states uint64, p Part) uint64 {
	one := func(states uint64) (next uint64) {
		for j := range pattern {
			switch w := &pattern[j]; {
			case states&(1<<j) == 0:
			case w.kind == anyWords:
				next |= 1 << j
			case w.mayBe(p):
				next |= 1 << (j + 1)
			}
		}
		return closeStates(pattern, next)
	}
	switch {
	case p.One:
		return one(states)
	case p.Every:
		for before := uint64(0); before != states; {
			before, states = states, states|one(states)
		}
		return states
	case p.Lead != "":
		if states = one(states); states == 0 {
			return 0
		}
	}
	return ^(states&-states - 1) & (1<<(len(pattern)+1) - 1) // everything from the first state on
}

// mayBe reports whether the word may stand for one of which a part is known.
func (w *word) mayBe(p Part) bool {
	switch w.kind {
	case literalWord:
		return strings.HasPrefix(w.text, p.Lead) && !(p.NoOption && isOption(w.text))
	case globWord:
		first := w.parts[0]
		return (strings.HasPrefix(first, p.Lead) || strings.HasPrefix(p.Lead, first)) && !(p.NoOption && isOption(first))
	}
	return true
}

// closeStates adds the positions that are reached without a word.
func closeStates(pattern []word, states uint64) uint64 {
	for j := range pattern {
		if states&(1<<j) != 0 && pattern[j].kind == anyWords {
			states |= 1 << (j + 1)
		}
	}
	return states
}

// literalWords reports whether every word is spelled out.
func literalWords(pattern []word) bool {
	for i := range pattern {
		if pattern[i].kind != literalWord {
			return false
		}
	}
	return true
}

// quoteWords prints words so that parseWords, and a shell, reads them back;
// control and invisible characters are escaped.
func quoteWords(argv []string) string {
	var b strings.Builder
	for i, s := range argv {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(quoteWord(s))
	}
	return b.String()
}

func quoteWord(s string) string {
	if s != "" && !strings.ContainsAny(s, " \t\n\r\"'`\\*?()[]{}<>|&;$#~!") {
		return visible(s)
	}
	return "'" + strings.ReplaceAll(visible(s), "'", `'\''`) + "'"
}
