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
	root  string // the only start point; "" where there are several
	i     int
	at    map[int]passed // what holds where an action stands
	shown passed         // what holds for what is printed, where an action does that
	shows bool
	deep  bool // what lies in a directory is looked at first, or some levels are not tested: nothing is pruned for sure
	bad   bool // the expression is not understood: any name counts everywhere
}

// passed is what certainly holds for all that tests let through.
type passed struct {
	names []string // one of these patterns matches its name; nil for any name
	files bool     // it is a file
	links bool     // it is a link
	empty bool     // nothing is in it
	here  bool     // it lies right in the directory
	not   []string // it does not lie there: see Word.Names
}

// What Word.Names says in the form of a place, at which nothing lies, of what is found by other tests than these.
const (
	OnlyFiles = "//file"
	OnlyLinks = "//link"
	OnlyEmpty = "//empty"
	OnlyHere  = "//here"
)

// text is passed in the form of Word.Names. A directory may be acted on with all below it, also
// with what it does not lie in.
func (p passed) text() string {
	list := slices.Clone(p.names)
	if p.files && len(p.not) > 0 {
		list = append(append(list, p.not...), "!")
	}
	return strings.Join(list, " ")
}

// removed is text for what find itself removes, which is just what the tests let through: a program may go on from there.
func (p passed) removed() string {
	list := strings.Fields(p.text())
	if p.links {
		list = append(list, "!"+OnlyLinks)
	}
	if p.files && p.empty {
		list = append(list, "!"+OnlyEmpty)
	}
	if p.files && (p.here || p.empty) {
		list = append(list, "!"+OnlyFiles)
	}
	if p.here && (p.files || p.links) {
		list = append(list, "!"+OnlyHere)
	}
	return strings.Join(list, " ")
}

// and adds what holds, too.
func (p *passed) and(q passed) {
	if p.names == nil {
		p.names = q.names
	}
	p.files, p.links, p.empty, p.here = p.files || q.files, p.links || q.links, p.empty || q.empty, p.here || q.here
	for _, n := range q.not {
		if !slices.Contains(p.not, n) {
			p.not = append(slices.Clip(p.not), n)
		}
	}
}

// or leaves what holds for either.
func (p *passed) or(q passed) {
	if p.names == nil || q.names == nil {
		p.names = nil
	} else {
		p.names = append(slices.Clip(p.names), q.names...)
	}
	p.files, p.links, p.empty, p.here = p.files && q.files, p.links && q.links, p.empty && q.empty, p.here && q.here
	p.not = slices.DeleteFunc(slices.Clone(p.not), func(n string) bool { return !slices.Contains(q.not, n) })
}

// readExpression reads the expression of a find that starts at roots. all holds all its
// words.
func readExpression(all, roots, words []Word) *finding {
	f := &finding{words: words, at: map[int]passed{}}
	if len(roots) == 1 && !roots[0].Dynamic && roots[0].Pattern == "" {
		f.root = roots[0].Text
	}
	for _, x := range all {
		if x.Dynamic || x.Spreads() || x.Text == "-L" || x.Text == "-follow" { // of a link to a directory, what lies there has other names
			f.bad = true
		}
		f.deep = f.deep || Has("-delete -depth -d -mindepth", x.Text)
	}
	whole := f.either(passed{here: oneLevel(words)})
	if f.i < len(words) {
		f.bad = true
	}
	if !f.shows {
		f.shown = whole
	}
	for i, p := range f.at {
		p.names = besides(p.names, roots)
		f.at[i] = p
	}
	f.shown.names = besides(f.shown.names, roots)
	return f
}

// oneLevel reports whether an expression says first of all that it looks no further than right into its start points.
func oneLevel(words []Word) bool {
	return len(words) > 1 && words[0].Text == "-maxdepth" && words[1].Text == "1" &&
		!slices.ContainsFunc(words[2:], func(x Word) bool { return x.Text == "-maxdepth" })
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

// passes is what holds for the action at i; nothing, where the expression is not understood.
func (f *finding) passes(i int) passed {
	if f.bad {
		return passed{}
	}
	return f.at[i]
}

func (f *finding) text() string {
	if f.i < len(f.words) {
		return f.words[f.i].Text
	}
	return ""
}

// either reads parts that -o joins: one of them holds. What the first ones prune is not looked
// into, and what they match is none of the others'.
func (f *finding) either(guard passed) passed {
	all, pruned := f.both(guard)
	for f.text() == "-o" || f.text() == "-or" {
		f.i++
		guard.and(passed{not: pruned})
		more, also := f.both(guard)
		more.and(passed{not: pruned})
		pruned = append(pruned, also...)
		all.or(more)
	}
	return all
}

// both reads tests and actions that follow each other: all of them hold. Pruned is what nothing is
// found in that the part does not match, where it does nothing but prune by name.
func (f *finding) both(guard passed) (got passed, pruned []string) {
	prunes, plain, only := false, true, f.i
	for f.i < len(f.words) && !f.bad {
		switch t := f.text(); t {
		case "-o", "-or", ")", ",":
			if prunes && plain {
				pruned = f.prunedBy(f.words[only:f.i])
			}
			return got, pruned
		case "-a", "-and":
			f.i++
			continue
		case "-prune":
			prunes = true
		case "-name", "-path", "-type", "(":
			plain = plain && !prunes
		default:
			plain = false
		}
		here := got
		here.and(guard)
		got.and(f.one(here))
	}
	return got, nil
}

// prunedBy are the places in which nothing is found because of the words of a part that
// prunes, in the form of Word.Names. The part is -name X or -path X, or several of these in
// parentheses of which one holds, with or without -type d, and -prune behind it.
func (f *finding) prunedBy(words []Word) (not []string) {
	open, closed, or := false, false, false
	if f.deep {
		return nil
	}
	for i := 0; i < len(words); i++ {
		t := words[i].Text
		switch t {
		case "-type":
			if i++; i == len(words) || words[i].Text != "d" || open && !closed {
				return nil
			}
		case "-name", "-path":
			place := ""
			if i++; i < len(words) {
				place = f.place(t, words[i])
			}
			if place == "" || closed || len(not) > 0 && !or {
				return nil
			}
			not, or = append(not, place), false
		case "-o", "-or":
			if or = open && !closed; !or {
				return nil
			}
		case "(":
			if open || len(not) > 0 {
				return nil
			}
			open = true
		case ")":
			closed = true
		case "-a", "-and", "-prune":
		default:
			return nil
		}
	}
	return not
}

// place is the place, in the form of Word.Names, that certainly is or lies in all directories
// which a test matches; "" for none. A * of find's matches slashes, too, and what it says here does not.
func (f *finding) place(test string, x Word) string {
	t := strings.ReplaceAll(x.Text, `\.`, ".")
	if x.Dynamic || x.Pattern != "" || strings.ContainsAny(t, " \t\n\v\f\r\\[?!") || strings.HasSuffix(t, "/") {
		return ""
	}
	rest, below := strings.CutPrefix(t, strings.TrimSuffix(f.root, "/")+"/")
	switch any, deep := strings.CutPrefix(t, "*/"); {
	case !strings.Contains(t, "/") && (test == "-name" || strings.HasPrefix(t, "*")): // a name, or how it ends
		return "!" + t + "/"
	case test == "-name":
	case deep && !strings.Contains(any, "/"):
		return "!" + any + "/"
	case f.root != "" && below && !deep:
		return "!/" + rest + "/"
	}
	return ""
}

// without is the place in which nothing lies that a test for a path does not match; "" for none.
func (f *finding) without(x Word) string {
	t, ok := strings.CutSuffix(x.Text, "*") // what goes on in any way is matched, too
	if !ok {
		return ""
	}
	if dir, ok := strings.CutSuffix(t, "/"); ok {
		x.Text = dir
	}
	return f.place("-path", x)
}

// one reads one test or action, or several in parentheses.
func (f *finding) one(guard passed) (got passed) {
	t, at := f.text(), f.i
	f.i++
	switch {
	case t == "!" || t == "-not":
		if Has("-path -wholename", f.text()) && f.i+1 < len(f.words) {
			if place := f.without(f.words[f.i+1]); place != "" {
				got.not = []string{place}
			}
		}
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
	case t == "-empty":
		got.empty = true
	case Has(findTests0, t):
	case (t == "-name" || t == "-iname") && f.i < len(f.words):
		got.names = plainPattern(f.words[f.i], t == "-iname")
		f.i++
	case t == "-type" && f.i < len(f.words):
		got.files = f.is("f") // a link may lead to a directory
		got.links = f.is("l")
		f.i++
	case t == "-xtype" && f.i < len(f.words): // of a link, what it leads to: a link is one that leads nowhere
		got.links = f.is("l")
		f.i++
	case t == "-size" && f.i < len(f.words):
		got.empty = f.is("0 0c 0b 0k")
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

// is reports whether the word that comes is certainly one of these.
func (f *finding) is(words string) bool {
	return !f.words[f.i].Dynamic && Has(words, f.words[f.i].Text)
}

func (f *finding) prints(guard passed) {
	if !f.shows {
		f.shown = guard
	} else {
		f.shown.or(guard)
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
	if x.Dynamic || x.Pattern != "" || x.Text == "" || x.Text[0] == '!' || strings.ContainsAny(x.Text, " \t\n\v\f\r\\[") {
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

// NamesOf leaves the patterns of names in Word.Names, without the places.
func NamesOf(names string) string {
	return strings.Join(slices.DeleteFunc(strings.Fields(names), func(n string) bool { return n[0] == '!' }), " ")
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
	y.Under, y.Lead, y.Names, y.Dir, y.Split, y.Listed = found.Under, found.Under, found.Names, found.Dir, found.Split, found.Listed
	dir, name := path.Split(after)
	if after != "" { // something else by another name
		y.Names = NamesOf(y.Names)
	}
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
