package policy

import (
	"strings"

	"github.com/agentkit-go/agentkit/pkg/programs"
)

// An Option is an option that a program is given, as the program reads it.
type Option = programs.Spelling

// spells reports whether a pattern's word is a spelling of the option: one of its
// names with one dash or two, alone or with the value glued to it.
func spells(o *Option, w *word) bool {
	for name := range strings.SplitSeq(o.Names, ",") {
		dash := "--"
		if len(name) == 1 {
			dash = "-"
		}
		switch {
		case w.match(dash + name), len(name) > 1 && w.match("-"+name):
			return true
		case o.Value == "":
		case w.match(dash + name + "=" + o.Value), len(name) == 1 && w.match(dash+name+o.Value), len(name) > 1 && w.match("-"+name+"="+o.Value):
			return true
		}
	}
	return false
}

// coversOptions matches a pattern that spells options out with a call that
// gives the same ones another way: short for long, cut short, in a cluster, in
// another order. What is no option must match as it stands.
func (m *matcher) coversOptions(a *Access, argv []string, dynamic []bool, start uint64) tri {
	if len(a.Options) == 0 || m.options == 0 {
		return no
	}
	rest := make([]word, 0, len(m.words))
	for i := range m.words {
		w := &m.words[i]
		if m.options&(1<<i) == 0 {
			rest = append(rest, *w)
			continue
		}
		if !a.gives(w) && !a.givesEach(w) {
			return no
		}
	}
	first := argv
	if m.valued != "" { // as in git -C dir push
		i := afterOptions(argv, m.valued)
		first, dynamic = argv[min(i, len(argv)):], cut(dynamic, i)
	}
	operands, unknown := operandsOf(first, dynamic)
	switch {
	case matchWords(rest, operands, unknown, nil, start, true):
		return yes
	case unknown != nil && matchWords(rest, operands, unknown, a.Parts, start, false):
		return maybe
	}
	return no
}

func (a *Access) gives(w *word) bool {
	for i := range a.Options {
		if spells(&a.Options[i], w) {
			return true
		}
	}
	return false
}

// givesEach reads a pattern's word as several letters in one: -rf.
func (a *Access) givesEach(w *word) bool {
	if w.kind != literalWord || len(w.text) < 3 || w.text[1] == '-' || strings.Contains(w.text, "=") {
		return false
	}
	for i := 1; i < len(w.text); i++ {
		if !a.gives(&word{text: "-" + w.text[i:i+1]}) {
			return false
		}
	}
	return true
}

// operandsOf takes the options out of a call's words.
func operandsOf(argv []string, dynamic []bool) (operands []string, unknown []bool) {
	operands = make([]string, 0, len(argv))
	for i, s := range argv {
		dyn := i < len(dynamic) && dynamic[i]
		if s == "--" && !dyn {
			operands = append(operands, argv[i+1:]...)
			if dynamic != nil {
				unknown = append(unknown, dynamic[min(i+1, len(dynamic)):]...)
			}
			break
		}
		if isOption(s) && !dyn {
			continue
		}
		operands = append(operands, s)
		if dynamic != nil {
			unknown = append(unknown, dyn)
		}
	}
	return operands, unknown
}

// optionWords gives the set of a pattern's words that spell options.
func optionWords(words []word) (set uint64) {
	for i := 1; i < len(words); i++ {
		if w := &words[i]; (w.kind == literalWord || w.kind == globWord) && isOption(w.text) && w.text != "--" {
			set |= 1 << i
		}
	}
	return set
}
