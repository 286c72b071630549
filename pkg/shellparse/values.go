package shellparse

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agentkit-go/agentkit/pkg/programs"

	"mvdan.cc/sh/v3/syntax"
)

// step carries out an expression that stands alone, as in ((i++)) and let i+=2, which sets a variable
// once. Where one stands among others, as in $((i++)), it may be walked more than once, and nothing is known then.
func (w *walker) step(e syntax.ArithmExpr) {
	name, by, ok := stepOf(e)
	if !ok {
		w.arithmetic(e)
		return
	}
	n, known := w.evaluated(name)
	w.number(name, n+by, known && max(n, -n) < 1e6)
}

// stepOf reads an expression that adds a number to a variable.
func stepOf(e syntax.ArithmExpr) (name string, by int, ok bool) {
	switch x := e.(type) {
	case *syntax.UnaryArithm:
		l, isWord := x.X.(*syntax.Word)
		if by = 1; x.Op == syntax.Dec {
			by = -1
		}
		return lit(l), by, isWord && (x.Op == syntax.Inc || x.Op == syntax.Dec) && syntax.ValidName(l.Lit())
	case *syntax.BinaryArithm:
		l, left := x.X.(*syntax.Word)
		r, right := x.Y.(*syntax.Word)
		if !left || !right || x.Op != syntax.AddAssgn && x.Op != syntax.SubAssgn || !syntax.ValidName(l.Lit()) {
			return "", 0, false
		}
		if by, ok = smallInt(r.Lit()); x.Op == syntax.SubAssgn {
			by = -by
		}
		return l.Lit(), by, ok && max(by, -by) < 1e6
	}
	return "", 0, false
}

// lit is the text of a word that is one literal; "" for others.
func lit(x *syntax.Word) string {
	if x == nil {
		return ""
	}
	return x.Lit()
}

// maxCounted is how many values of a loop's counter are followed.
const maxCounted = 64

// counter gives the values of for ((i=A; i<B; i++)), whose beginning has been carried out, where these are certain and few:
// nothing in the body sets the variable, or one that the end is made of.
func (w *walker) counter(l *syntax.CStyleLoop, body []*syntax.Stmt) (name string, values []int) {
	cond, ok := l.Cond.(*syntax.BinaryArithm)
	if !ok || w.shell != "bash" || len(body) > 20 {
		return "", nil
	}
	from, ok := cond.X.(*syntax.Word)
	name, by, step := stepOf(l.Post)
	to, known := w.pure(cond.Y)
	if !ok || !step || !known || from.Lit() != name || by == 0 || !w.untouched(body, append(namesIn(cond.Y), name)) {
		return "", nil
	}
	n, ok := smallInt(w.lookup(name).first())
	for ; ok && w.lookup(name).known && len(values) <= maxCounted; n += by {
		holds := false
		switch cond.Op {
		case syntax.Lss:
			holds = n < to
		case syntax.Leq:
			holds = n <= to
		case syntax.Gtr:
			holds = n > to
		case syntax.Geq:
			holds = n >= to
		case syntax.Neq:
			holds = n != to
		}
		if !holds {
			if len(values) > 8 && len(values)*len(body) > maxCounted {
				return "", nil
			}
			return name, values
		}
		values = append(values, n)
	}
	return "", nil
}

// namesIn lists the variables that a word of an expression, or an expression of such, reads.
func namesIn(e syntax.ArithmExpr) (names []string) {
	syntax.Walk(e, func(n syntax.Node) bool {
		switch x := n.(type) {
		case *syntax.Word:
			names = append(names, x.Lit())
		case *syntax.ParamExp:
			names = append(names, x.Param.Value)
		}
		return true
	})
	return names
}

// counted are the programs, but for shells' own, that may stand in the body of a loop whose counter is followed.
const counted = "rm mv cp mkdir touch cat echo true : ln gzip gunzip curl wget sleep rmdir chmod"

// untouched reports whether commands certainly set none of these variables: they are plain ones, which expand no more than
// variables, and calculate with nothing but these and numbers.
func (w *walker) untouched(body []*syntax.Stmt, names []string) bool {
	changed, moves, plain := map[string]bool{}, false, w.st.gone == ""
	for _, s := range body {
		w.changes(s, changed, &moves, 0)
		syntax.Walk(s, func(n syntax.Node) bool {
			switch x := n.(type) {
			case *syntax.CallExpr:
				if len(x.Args) > 0 {
					name := x.Args[0].Lit()
					plain = plain && programs.Has(counted, name) && w.st.lookupFunc(name) == nil
				}
			case *syntax.Assign:
				plain = plain && x.Name != nil && x.Index == nil && x.Array == nil && !slices.Contains(w.numbers, x.Name.Value)
			case *syntax.ArithmExp:
				plain = plain && w.calculates(x.X, names)
			case *syntax.ParamExp:
				plain = plain && (x.Index == nil || w.calculates(x.Index, names)) && (x.Slice == nil || w.calculates(x.Slice.Offset, names) && (x.Slice.Length == nil || w.calculates(x.Slice.Length, names))) &&
					(x.Exp == nil || x.Exp.Op != syntax.AssignUnset && x.Exp.Op != syntax.AssignUnsetOrNull && x.Exp.Op != syntax.OtherParamOps) && !x.Excl
			case *syntax.Stmt, *syntax.Word, *syntax.Lit, *syntax.DblQuoted, *syntax.SglQuoted, *syntax.Redirect, *syntax.Comment, *syntax.Block, *syntax.BinaryCmd,
				*syntax.IfClause, *syntax.Subshell, *syntax.CmdSubst, *syntax.BinaryArithm, *syntax.UnaryArithm, *syntax.ParenArithm, nil:
			default:
				plain = false
			}
			return plain
		})
	}
	return plain && !slices.ContainsFunc(names, func(n string) bool { _, ok := changed[n]; return ok })
}

// calculates reports whether an expression is made of numbers and some variables, which are numbers, and sets nothing.
func (w *walker) calculates(e syntax.ArithmExpr, names []string) (ok bool) {
	ok = true
	syntax.Walk(e, func(n syntax.Node) bool {
		switch x := n.(type) {
		case *syntax.Word:
			_, number := smallInt(x.Lit())
			ok = ok && (number || slices.Contains(names, strings.TrimPrefix(x.Lit(), "$")) || len(x.Parts) == 1 && isParam(x.Parts[0], names))
			return false
		case *syntax.BinaryArithm:
			ok = ok && programs.Has("+ - * / % ** < > <= >= == !=", x.Op.String())
		case *syntax.UnaryArithm:
			ok = ok && (x.Op == syntax.Plus || x.Op == syntax.Minus)
		case *syntax.ParenArithm, nil:
		default:
			ok = false
		}
		return ok
	})
	return ok
}

// isParam reports whether a part of a word is one of some variables.
func isParam(p syntax.WordPart, names []string) bool {
	x, is := p.(*syntax.ParamExp)
	return is && x.Param != nil && slices.Contains(names, x.Param.Value) && x.Index == nil && x.Exp == nil && x.Repl == nil && x.Slice == nil && !x.Excl
}

// pure is the value of an expression that sets nothing: numbers and variables, added and multiplied.
func (w *walker) pure(e syntax.ArithmExpr) (int, bool) {
	switch x := e.(type) {
	case *syntax.Word:
		if len(x.Parts) != 1 {
			return 0, false
		}
		switch p := x.Parts[0].(type) {
		case *syntax.Lit:
			return w.arithmetic(x)
		case *syntax.ParamExp:
			i, _ := p.Index.(*syntax.Word)
			if p.Param != nil && p.Exp == nil && p.Repl == nil && p.Slice == nil && !p.Excl && (p.Index == nil || p.Length && i != nil && (i.Lit() == "@" || i.Lit() == "*")) {
				return w.arithmetic(x)
			}
		}
	case *syntax.ParenArithm:
		return w.pure(x.X)
	case *syntax.UnaryArithm:
		n, ok := w.pure(x.X)
		return -n, ok && x.Op == syntax.Minus
	case *syntax.BinaryArithm:
		a, ok1 := w.pure(x.X)
		b, ok2 := w.pure(x.Y)
		if !ok1 || !ok2 || max(a, b, -a, -b) > 1e4 {
			return 0, false
		}
		switch x.Op {
		case syntax.Add:
			return a + b, true
		case syntax.Sub:
			return a - b, true
		}
	}
	return 0, false
}

// element is one element of a list, by a subscript that may count from the end.
func (w *walker) element(v value, index syntax.ArithmExpr) (string, bool) {
	if !v.known || !v.array || w.shell != "bash" {
		return "", false
	}
	n, ok := w.pure(index)
	if n < 0 {
		n += len(v.list)
	}
	if !ok || n < 0 {
		return "", false
	}
	if n >= len(v.list) {
		return "", true
	}
	return v.list[n], true
}

// length is ${#x}: of a list the number of its elements, of a text that of its letters.
func (w *walker) length(items []word, v value, list bool) (int, bool) {
	switch {
	case !v.known || w.shell != "bash" && list:
		return 0, false
	case list:
		return len(items), !slices.ContainsFunc(items, func(x word) bool { return x.Multi })
	}
	return len(v.first()), w.shell != "zsh" && ascii(v.first())
}

// ascii reports whether every byte of a text is a letter by itself, whatever the locale.
func ascii(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

// sliced is ${x:from} or ${x:from:length} of a known text.
func (w *walker) sliced(s string, x *syntax.Slice) (string, bool) {
	from, to, ok := w.bounds(x, len(s), true)
	if !ok || !ascii(s) {
		return "", false
	}
	return s[from:to], true
}

// bounds are where a slice of n begins and ends; a negative length, which counts from the end, only a text may have.
func (w *walker) bounds(x *syntax.Slice, n int, isText bool) (from, to int, ok bool) {
	from, ok = w.pure(x.Offset)
	if from < 0 {
		from += n
	}
	if !ok || from < 0 || w.shell != "bash" {
		return 0, 0, false
	}
	from, to = min(from, n), n
	if x.Length != nil {
		length, known := w.pure(x.Length)
		switch {
		case !known || length < 0 && !isText:
			return 0, 0, false
		case length < 0:
			to = n + length
		default:
			to = min(n, from+length)
		}
	}
	return from, to, from <= to
}

// replaced is ${x/a/b} of a known text, where both are plain: letters that mean themselves.
func (w *walker) replaced(s string, x *syntax.Replace) (string, bool) {
	if options, ok := w.given("BASHOPTS"); !ok || strings.Contains(options, "nocasematch") || w.reread || w.shell != "bash" {
		return "", false
	}
	a, with := w.unexpanded(x.Orig), w.unexpanded(x.With)
	if a == nil || with == nil || strings.ContainsAny(*with, `&\`) {
		return "", false
	}
	from := strings.ReplaceAll(*a, `\/`, "/")
	at := byte(0)
	if from != "" && (from[0] == '#' || from[0] == '%') {
		if at, from = from[0], from[1:]; x.All {
			return "", false
		}
	}
	if from == "" || strings.ContainsAny(from, `*?[]()\!+@|`) {
		return "", false
	}
	switch {
	case at == '#' && strings.HasPrefix(s, from):
		return *with + s[len(from):], true
	case at == '%' && strings.HasSuffix(s, from):
		return s[:len(s)-len(from)] + *with, true
	case at != 0:
		return s, true
	case x.All:
		return strings.ReplaceAll(s, from, *with), len(s)*(1+len(*with)) < maxWord
	}
	return strings.Replace(s, from, *with, 1), true
}

// recased is ${x^^} and its kin of a known text.
func (w *walker) recased(op syntax.ParExpOperator, s string) (string, bool) {
	if w.shell != "bash" || !ascii(s) {
		return "", false
	}
	n := min(1, len(s))
	switch op {
	case syntax.UpperAll:
		return strings.ToUpper(s), true
	case syntax.LowerAll:
		return strings.ToLower(s), true
	case syntax.UpperFirst:
		return strings.ToUpper(s[:n]) + s[n:], true
	case syntax.LowerFirst:
		return strings.ToLower(s[:n]) + s[n:], true
	}
	return "", false
}

// formatted is what printf prints by a format of plain letters, %s, %d and %02d, with as many words as it takes, or a
// multiple of these.
func formatted(format string, words []string) (string, bool) {
	format = strings.ReplaceAll(strings.ReplaceAll(format, `\n`, "\n"), `\t`, "\t")
	if strings.Contains(format, `\`) || len(format) > 1<<10 || len(words) > maxFields {
		return "", false
	}
	var out strings.Builder
	for {
		left := len(words)
		rest := format
		for {
			i := strings.IndexByte(rest, '%')
			if i < 0 {
				break
			}
			out.WriteString(rest[:i])
			rest = rest[i+1:]
			digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
			flag := rest[:digits]
			if rest = rest[digits:]; rest == "" {
				return "", false
			}
			letter := rest[0]
			if rest = rest[1:]; letter == '%' && flag == "" {
				out.WriteByte('%')
				continue
			}
			if len(words) == 0 {
				return "", false
			}
			x := words[0]
			words = words[1:]
			n, isNumber := smallInt(x)
			switch {
			case letter == 's' && flag == "":
				out.WriteString(x)
			case letter == 'd' && isNumber && n >= 0 && (flag == "" || len(flag) == 2 && flag[0] == '0'):
				if flag != "" {
					out.WriteString(strings.Repeat("0", max(0, int(flag[1]-'0')-len(x))))
				}
				out.WriteString(x)
			default:
				return "", false
			}
		}
		out.WriteString(rest)
		if len(words) == 0 {
			return out.String(), true
		}
		if len(words) == left {
			return "", false
		}
	}
}

// reads is what read or mapfile sets of an input that is certain and that belongs to it alone: plain words in the order
// of the names, or the lines of a list.
func (w *walker) reads(c *call) {
	if _, set := w.st.find("IFS"); set || w.st.ifs || w.shell != "bash" || !w.own || !w.stdin.Known || len(c.Args) < 2 || c.external || len(w.stdin.Text) > maxWord>>3 ||
		slices.ContainsFunc(c.Args, func(x word) bool { return x.Dynamic }) {
		return
	}
	list := c.Name == "mapfile" || c.Name == "readarray"
	if option := c.Args[0].Text; option != "-r" && !list || option != "-t" && list || list && len(c.Args) != 2 {
		return
	}
	names := c.Args[1:]
	if slices.ContainsFunc(names, func(x word) bool { return !syntax.ValidName(x.Text) }) || w.stdin.Text == "" || strings.Contains(w.stdin.Text, "\x00") {
		return
	}
	if list {
		lines := strings.Split(strings.TrimSuffix(w.stdin.Text, "\n"), "\n")
		if len(lines) <= maxFields && w.spend(len(lines)) {
			w.variable(names[0].Text, value{known: true, list: lines, array: true, net: w.stdin.Net}, false)
		}
		return
	}
	line, _, _ := strings.Cut(w.stdin.Text, "\n")
	fields := []string{strings.Trim(line, " \t")}
	if len(names) > 1 {
		fields = strings.FieldsFunc(line, blank)
	}
	if len(fields) > len(names) {
		return
	}
	for i, x := range names {
		v := text("")
		if i < len(fields) {
			v = text(fields[i])
		}
		v.net = w.stdin.Net
		w.variable(x.Text, v, false)
	}
}
