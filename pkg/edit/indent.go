package edit

import (
	"slices"
	"strings"
)

// indentUnit is one level of indentation of the lines, "" when none is
// indented: a tab when most lines have one, else as many blanks as lines most
// often go in by.
func indentUnit(n int, line func(int) string) string {
	tabs, indented, last, least := 0, 0, 0, 0
	var steps [17]int
	for i := range n {
		s := line(i)
		w := len(lead(s))
		if blank(s[w:]) {
			continue
		}
		if step := w - last; step > 1 && step < len(steps) {
			steps[step]++
		}
		last = w
		if w == 0 {
			continue
		}
		indented++
		if strings.Contains(s[:w], "\t") {
			tabs++
		}
		if least == 0 || w < least {
			least = w
		}
	}
	switch {
	case indented == 0:
		return ""
	case tabs*2 > indented:
		return "\t"
	}
	unit := 0
	for step, n := range steps {
		if n > steps[unit] {
			unit = step
		}
	}
	if unit == 0 && least <= mostUnit {
		unit = least
	}
	return strings.Repeat(" ", unit)
}

const mostUnitLines = 5000

// indentUnit is one level of the file's indentation, around line at where the
// file is long.
func (t *text) indentUnit(at int) string {
	if t.unit == nil {
		from := max(0, min(at, t.lines())-mostUnitLines)
		n := min(t.lines()-from, 2*mostUnitLines)
		u := indentUnit(n, func(i int) string { return string(t.raw(from + i)) })
		t.unit = &u
	}
	return *t.unit
}

// An indenter turns the call's indentation into the file's. It learns from
// the lines that are in both.
type indenter struct {
	levels   []level // what each indentation of the call became, as first met
	met      []level // every line that is in both
	identity bool    // the call indents as the file does
	fileUnit string
	callUnit string
	rule     indentRule
	ruled    bool // the rule answers for stray lines too
}

// level says that an indentation of the call is this one in the file.
type level struct {
	line       int
	call, file string
}

func newIndenter(t *text, call, news []*form, pairs []pair) *indenter {
	d := &indenter{}
	for _, p := range pairs {
		if !p.single() {
			continue
		}
		o, f := call[p.k0], t.line(p.i0)
		if !o.blank && !f.blank && p.sim >= simSure {
			d.met = append(d.met, level{p.k0, o.lead, f.lead})
		}
	}
	d.settle()
	unit := func(fs ...[]*form) string {
		all := slices.Concat(fs...)
		return indentUnit(len(all), func(i int) string { return all[i].text })
	}
	d.fileUnit = t.indentUnit(pairs[0].i0)
	if d.fileUnit == "" {
		d.fileUnit = unit(news)
	}
	if d.fileUnit == "" {
		d.fileUnit = "    "
	}
	d.rule, d.ruled = learnRule(d.met, d.fileUnit)
	d.callUnit = d.learnUnit()
	if d.callUnit == "" {
		d.callUnit = unit(call, news)
		if d.callUnit == "" || d.callUnit != "\t" && d.fileUnit != "\t" && !d.inProportion() {
			d.callUnit = d.fileUnit // no sign of another unit: a plain shift
		} else if d.rule.cut+d.rule.add != "" && d.inProportion() {
			d.ruled = false
		}
	}
	return d
}

// settle decides for each indentation of the call what most lines say.
func (d *indenter) settle() {
	count := make(map[[2]string]float64)
	same, other := 0, 0
	for _, m := range d.met {
		count[[2]string{m.call, m.file}] += m.trust(len(d.met))
		if m.call != m.file {
			other++
		} else if m.call != "" {
			same++
		}
	}
	for _, m := range d.met {
		x := slices.IndexFunc(d.levels, func(l level) bool { return l.call == m.call })
		if x < 0 {
			d.levels = append(d.levels, m)
		} else if count[[2]string{m.call, m.file}] > count[[2]string{m.call, d.levels[x].file}] {
			d.levels[x].file = m.file
		}
	}
	d.identity = same > 2*other || !slices.ContainsFunc(d.levels, func(l level) bool { return l.call != l.file })
	if d.identity {
		for x := range d.levels {
			d.levels[x].file = d.levels[x].call
		}
	}
}

// learnUnit compares two levels, or spaces with tabs, for the call's unit.
func (d *indenter) learnUnit() string {
	unit := ""
	sorted := slices.Clone(d.levels)
	slices.SortStableFunc(sorted, func(a, b level) int { return len(a.call) - len(b.call) })
	for _, a := range sorted {
		for _, b := range sorted {
			dc, df := len(b.call)-len(a.call), len(b.file)-len(a.file)
			if dc <= 0 || df <= 0 || strings.Contains(b.call, "\t") || df%len(d.fileUnit) != 0 {
				continue
			}
			if n := df / len(d.fileUnit); dc%n == 0 {
				unit = strings.Repeat(" ", dc/n)
			}
		}
	}
	for _, a := range sorted {
		if unit == "" && a.call != "" && a.file != "" && strings.Trim(a.file, "\t") == "" && !strings.Contains(a.call, "\t") && len(a.call)%len(a.file) == 0 {
			unit = strings.Repeat(" ", len(a.call)/len(a.file))
		}
	}
	return unit
}

// inProportion reports whether every indentation is as many units in the call
// as in the file.
func (d *indenter) inProportion() bool {
	ok := false
	for _, l := range d.levels {
		n := strings.Count(l.call, d.callUnit)
		if len(l.call) != n*len(d.callUnit) || l.file != strings.Repeat(d.fileUnit, n) {
			return false
		}
		ok = ok || n > 0
	}
	return ok && d.callUnit != d.fileUnit
}

// convert turns relative indentation from the call's style into the file's.
func (d *indenter) convert(s string) string {
	if s == "" || d.identity || d.callUnit == d.fileUnit {
		return s
	}
	switch {
	case strings.Trim(s, "\t") == "":
		return strings.Repeat(d.fileUnit, len(s))
	case !strings.Contains(s, "\t"):
		n := len(d.callUnit)
		return strings.Repeat(d.fileUnit, len(s)/n) + s[:len(s)%n]
	}
	return s
}

func (d *indenter) level(call string) (string, bool) {
	for _, l := range d.levels {
		if l.call == call {
			return l.file, true
		}
	}
	return "", false
}

// nowhere is the place of a line that belongs beside no line of the call.
const nowhere = -1

// line is a new line with the indentation it takes in the file. It stands
// beside line k of the call; near is the indentation of the last line before
// it that is in both.
func (d *indenter) line(s string, near *string, k int) string {
	if blank(s) {
		if d.identity {
			return s
		}
		return strings.Trim(s, " \t")
	}
	x := lead(s)
	return d.indent(x, near, k) + s[len(x):]
}

func (d *indenter) indent(x string, near *string, k int) string {
	if d.identity {
		return x
	}
	if d.ruled {
		if f, ok := d.rule.shifts(x, d.fileUnit); ok {
			return f
		}
	}
	if f, ok := d.nearest(x, k); ok {
		return f
	}
	if f, ok := d.level(x); ok {
		return f
	}
	if f, ok := d.deeper(x, near); ok {
		return f
	}
	return d.shallower(x)
}

// nearest is the indentation of the closest line of the call that is indented
// just so.
func (d *indenter) nearest(x string, k int) (string, bool) {
	best, found := 0, ""
	ok := false
	for _, m := range d.met {
		if k == nowhere || m.call != x {
			continue
		}
		far := max(m.line-k, k-m.line)
		if m.line == 0 && m.call == "" {
			far += 3
		}
		if !ok || far < best || far == best && m.file < found {
			best, found, ok = far, m.file, true
		}
	}
	return found, ok
}

// deeper adds to the deepest known level that x goes on from, or to near.
func (d *indenter) deeper(x string, near *string) (string, bool) {
	var base level
	ok := false
	for _, l := range d.levels {
		if !strings.HasPrefix(x, l.call) {
			continue
		}
		if near != nil && l.call == *near {
			base, ok = l, true
			break
		}
		if !ok || len(l.call) > len(base.call) {
			base, ok = l, true
		}
	}
	if !ok {
		return "", false
	}
	return base.file + d.convert(x[len(base.call):]), true
}

// shallower takes from the shallowest known level that goes on from x, or
// counts columns where the two have other characters.
func (d *indenter) shallower(x string) string {
	var base level
	ok := false
	for _, l := range d.levels {
		if strings.HasPrefix(l.call, x) && (!ok || len(l.call) < len(base.call)) {
			base, ok = l, true
		}
	}
	if ok {
		return dropEnd(base.file, d.convert(base.call[len(x):]))
	}
	if len(d.levels) == 0 {
		return x
	}
	base = slices.MinFunc(d.levels, func(a, b level) int {
		return max(len(a.call)-len(x), len(x)-len(a.call)) - max(len(b.call)-len(x), len(x)-len(b.call))
	})
	blanks := func(n int, like string) string {
		if strings.Contains(like, "\t") {
			return strings.Repeat("\t", n)
		}
		return strings.Repeat(" ", n)
	}
	if n := len(x) - len(base.call); n >= 0 {
		return base.file + d.convert(blanks(n, x))
	}
	return dropEnd(base.file, d.convert(blanks(len(base.call)-len(x), base.call)))
}

// dropEnd is s without as many bytes as drop has.
func dropEnd(s, drop string) string { return s[:max(0, len(s)-len(drop))] }
