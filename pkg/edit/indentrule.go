package edit

import (
	"slices"
	"strings"
)

// indentRule turns every indentation of the call into the file's in one way:
// takes cut off, puts add before, and counts units of another size.
type indentRule struct {
	cut, add           string
	callUnit, fileUnit string // "" where the units are the same
	shift              int    // levels that the file is deeper, with units
}

// apply is the indentation x in the file; false where the rule has no answer.
func (r indentRule) apply(x string) (string, bool) {
	if r.callUnit == "" {
		x, ok := strings.CutPrefix(x, r.cut)
		return r.add + x, ok
	}
	n := 0
	for strings.HasPrefix(x, r.callUnit) {
		x, n = x[len(r.callUnit):], n+1
	}
	if strings.Contains(x, "\t") || n+r.shift < 0 {
		return "", false
	}
	return strings.Repeat(r.fileUnit, n+r.shift) + x, true
}

// shifts is apply for a plain shift whose rest is indented as the file is.
func (r indentRule) shifts(x, fileUnit string) (string, bool) {
	rest, ok := strings.CutPrefix(x, r.cut)
	if !ok || r.callUnit == "" && strings.Trim(rest, fileUnit[:1]) != "" {
		return "", false
	}
	return r.apply(x)
}

func (r indentRule) fits(l level) bool {
	f, ok := r.apply(l.call)
	return ok && f == l.file
}

// majority is how much of the evidence a rule needs that does not fit all.
const majority = 0.6

// learnRule finds the one way in which all lines were indented anew, when it
// is a plain shift, or in which most were, when the others are stray: blanks
// lost or added line by line.
func learnRule(met []level, fileUnit string) (indentRule, bool) {
	var best indentRule
	score := 0.0
	for _, r := range possibleRules(met, fileUnit) {
		n := 0.0
		for _, l := range met {
			if r.fits(l) {
				n += l.trust(len(met))
			}
		}
		if n > score+1e-9 {
			best, score = r, n
		}
	}
	total := 0.0
	var stray []level
	for _, l := range met {
		total += l.trust(len(met))
		if !best.fits(l) {
			stray = append(stray, l)
		}
	}
	if len(stray) == 0 {
		return best, len(met) > 0 && best.callUnit == ""
	}
	if len(met)-len(stray) < 2 || score < majority*total {
		return indentRule{}, false
	}
	return best, !agree(stray)
}

// trust is how much a line says about indentation: the first line of a call
// often lost its own alone.
func (l level) trust(of int) float64 {
	if l.line == 0 && of > 1 && l.call == "" {
		return 0.4
	}
	return 1
}

// agree reports whether two lines that follow each other have strayed in the
// same way, so that they are no accident.
func agree(stray []level) bool {
	for i := 1; i < len(stray); i++ {
		a, b := stray[i-1], stray[i]
		if b.line-a.line <= 2 && a.line > 0 && a.call != "" && len(a.file)-len(a.call) == len(b.file)-len(b.call) {
			return true
		}
	}
	return false
}

// possibleRules are the rules that fit at least one line, the plainest first.
func possibleRules(met []level, fileUnit string) []indentRule {
	rules := []indentRule{{}}
	add := func(r indentRule) {
		if !slices.Contains(rules, r) {
			rules = append(rules, r)
		}
	}
	for _, l := range met {
		if p, ok := strings.CutSuffix(l.file, l.call); ok {
			add(indentRule{add: p})
		}
		if p, ok := strings.CutSuffix(l.call, l.file); ok {
			add(indentRule{cut: p})
		}
	}
	for _, unit := range [...]string{"    ", "  ", "\t", "   ", "        "} {
		for _, l := range met {
			n := strings.Count(l.call, unit)
			m := len(l.file) / len(fileUnit)
			r := indentRule{callUnit: unit, fileUnit: fileUnit, shift: m - n}
			if unit != fileUnit && r.fits(l) {
				add(r)
			}
		}
	}
	return rules[:min(len(rules), 200)]
}
