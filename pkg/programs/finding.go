package programs

import (
	"path"
	"slices"
	"strings"
)

// A finding is what an expression of find says of the names it is about. An action, such
// as -exec, is come to by what the tests before it let through, and by nothing that
// stands behind it.
type finding struct {
	words []Word
	i     int
	at    map[int][]string // the patterns that hold where an action stands; nil for any name
	shown []string         // those of what is printed, where an action does that
	shows bool
	bad   bool // the expression is not understood: any name counts everywhere
}

// readExpression reads the expression of a find that starts at roots. all holds all its
// words.
func readExpression(all, roots, words []Word) *finding {
	f := &finding{words: words, at: map[int][]string{}}
	for _, x := range all {
		if x.Dynamic || x.Spreads() || x.Text == "-L" || x.Text == "-follow" { // of a link to a directory, what lies there has other names
			f.bad = true
		}
	}
	whole := f.either(nil)
	if f.i < len(words) {
		f.bad = true
	}
	if !f.shows {
		f.shown = whole
	}
	for i, names := range f.at {
		f.at[i] = besides(names, roots)
	}
	f.shown = besides(f.shown, roots)
	return f
}

// besides are patterns, or nil where one of them matches the name of a start point: what
// lies below that has any name.
func besides(names []string, roots []Word) []string {
	for _, r := range roots {
		for _, name := range names {
			if ok, err := path.Match(name, path.Base(r.Text)); ok || err != nil || r.Dynamic || r.Pattern != "" {
				return nil
			}
		}
	}
	return names
}

// names are the patterns that hold for the action at i, parted by blanks; "" for any name.
func (f *finding) names(i int) string {
	if f.bad {
		return ""
	}
	return strings.Join(f.at[i], " ")
}

func (f *finding) text() string {
	if f.i < len(f.words) {
		return f.words[f.i].Text
	}
	return ""
}

// either reads parts that -o joins: one of them holds.
func (f *finding) either(guard []string) []string {
	all := f.both(guard)
	for f.text() == "-o" || f.text() == "-or" {
		f.i++
		if more := f.both(guard); all == nil || more == nil {
			all = nil
		} else {
			all = append(slices.Clip(all), more...)
		}
	}
	return all
}

// both reads tests and actions that follow each other: all of them hold.
func (f *finding) both(guard []string) (got []string) {
	for f.i < len(f.words) && !f.bad {
		switch f.text() {
		case "-o", "-or", ")", ",":
			return got
		case "-a", "-and":
			f.i++
			continue
		}
		here := got
		if here == nil {
			here = guard
		}
		if n := f.one(here); got == nil {
			got = n
		}
	}
	return got
}

// one reads one test or action, or several in parentheses.
func (f *finding) one(guard []string) (got []string) {
	t, at := f.text(), f.i
	f.i++
	switch {
	case t == "!" || t == "-not":
		if f.i < len(f.words) {
			f.one(guard)
		}
	case t == "(":
		got = f.either(guard)
		if f.text() != ")" {
			f.bad = true
		}
		f.i++
	case t == "-print" || t == "-print0":
		f.prints(guard)
	case Has(findTests0, t):
	case (t == "-name" || t == "-iname") && f.i < len(f.words):
		got = plainPattern(f.words[f.i], t == "-iname")
		f.i++
	case Has(findTests1, t) || strings.HasPrefix(t, "-newer") && len(t) == 8:
		f.i++
	case t == "-delete":
		f.at[at] = guard
	case Has(findRuns, t):
		f.at[at] = guard
		f.i = findEnd(f.words, at) + 1
	case t == "-fprint" || t == "-fprint0" || t == "-fls":
		f.i++
	case t == "-fprintf":
		f.i += 2
	default:
		f.bad = true
	}
	return got
}

func (f *finding) prints(guard []string) {
	switch {
	case !f.shows:
		f.shown = guard
	case f.shown == nil || guard == nil:
		f.shown = nil
	default:
		f.shown = append(slices.Clip(f.shown), guard...)
	}
	f.shows = true
}

// findRuns are the actions that run a program.
const findRuns = "-exec -execdir -ok -okdir"

// findEnd is where the words of the program end that the action at i runs.
func findEnd(words []Word, i int) int {
	end := i + 1
	for end < len(words) && words[end].Text != ";" && !(words[end].Text == "+" && words[end-1].Text == "{}") {
		end++
	}
	return end
}

// plainPattern is a pattern of names in the words of [path.Match], if it means the same
// there; nil for others.
func plainPattern(x Word, fold bool) []string {
	if x.Dynamic || x.Pattern != "" || x.Text == "" || strings.ContainsAny(x.Text, " \t\n\v\f\r\\[") {
		return nil
	}
	if !fold {
		return []string{x.Text}
	}
	var out strings.Builder
	for _, c := range []byte(x.Text) {
		switch lower := c | 0x20; {
		case c >= 0x80:
			return nil
		case lower >= 'a' && lower <= 'z':
			out.WriteString("[" + string(rune(lower)) + string(rune(lower-0x20)) + "]")
		default:
			out.WriteByte(c)
		}
	}
	return []string{out.String()}
}

// stands are the words for one in which mark stands for something found. What has an ending
// lies beside that; what lies in it may be elsewhere, too, where it is a link to a directory.
func stands(x Word, mark string, found *Word) []Word {
	before, after, _ := strings.Cut(x.Text, mark)
	unknown := Word{Text: x.Text, Dynamic: true, Lead: before}
	if before != "" || found.Under == "" || strings.Contains(after, "..") || strings.Contains(after, mark) || after != "" && strings.Trim(after, ".") == "" {
		return []Word{unknown}
	}
	if after != "" && found.Listed != nil {
		return []Word{unknown}
	}
	y := unknown
	y.Under, y.Lead, y.Names, y.Split, y.Listed = found.Under, found.Under, found.Names, found.Split, found.Listed
	dir, name := path.Split(after)
	switch {
	case strings.ContainsAny(name, " \t\n\v\f\r\\[*?") || dir != "" && (name == "" || name == "."):
		y.Names = ""
	case dir != "":
		y.Names = name
	case y.Names != "":
		y.Names = strings.Join(strings.Fields(y.Names), name+" ") + name
	}
	if dir != "" {
		return []Word{y, unknown}
	}
	return []Word{y}
}
