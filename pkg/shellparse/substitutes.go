package shellparse

import (
	"path"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/programs"
	"github.com/agentkit-go/agentkit/pkg/safefile"

	"mvdan.cc/sh/v3/syntax"
)

// prints is what a program that is surely the one of that name prints.
func (w *walker) prints(name string, words []word) (string, bool) {
	path := w.st.path
	if name == "mktemp" && slight(path) { // no environment has its own, and one that had could do the same without it
		w.st.path = ""
	}
	where, trusted, why := w.locate(name)
	if w.st.path = path; where == "" || !trusted || why != "" || runtime.GOOS == "windows" {
		return "", false
	}
	if _, aliased := w.st.lookupAlias(name); aliased {
		return "", false
	}
	switch name {
	case "mktemp":
		return w.mktemp(words)
	case "date":
		if _, set := w.st.find("TZ"); set {
			return "", false
		}
		return today(words, time.Now())
	}
	return pathPart(name, words)
}

// counts reports whether what a list of commands prints is a number at most: the lines
// that wc counts in its input, those that grep finds, the seconds of date.
func (w *walker) counts(stmts []*syntax.Stmt) bool {
	if len(stmts) != 1 || w.shell == "zsh" {
		return false
	}
	s := stmts[0]
	if b, ok := s.Cmd.(*syntax.BinaryCmd); ok && len(s.Redirs) == 0 {
		switch b.Op {
		case syntax.Pipe:
			return w.counts([]*syntax.Stmt{b.Y}) || w.counts([]*syntax.Stmt{b.X}) && w.alone(b.Y, keepsNumbers)
		case syntax.OrStmt: // grep -c x || true
			return w.counts([]*syntax.Stmt{b.X}) && w.alone(b.Y, printsNumber)
		}
		return false
	}
	return w.alone(s, programs.Counts)
}

// alone reports whether a command is a single program, surely the one of that name, and
// its words are such. It may read a file by redirection, and print its errors nowhere.
func (w *walker) alone(s *syntax.Stmt, such func(name string, words []word) bool) bool {
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(c.Args) == 0 || len(c.Assigns) > 0 || s.Background || s.Coprocess || s.Disown {
		return false
	}
	for _, r := range s.Redirs {
		if r.Op != syntax.RdrIn && !(r.Op == syntax.RdrOut && r.N != nil && r.N.Value == "2" && r.Word.Lit() == "/dev/null") {
			return false
		}
	}
	name := c.Args[0].Lit()
	if _, aliased := w.st.lookupAlias(name); name == "" || aliased || w.st.env != "" || w.st.lookupFunc(name) != nil {
		return false
	}
	if findBuiltin(name) == nil {
		if where, trusted, why := w.locate(name); where == "" || !trusted || why != "" {
			return false
		}
	}
	return such(name, w.quietWords(c.Args[1:]))
}

// keepsNumbers reports whether a program makes a number of what begins with one.
func keepsNumbers(name string, words []word) bool {
	line := name
	if len(words) == 2 && !words[0].Dynamic && !words[1].Dynamic {
		line = name + " " + words[0].Text + " " + words[1].Text
	} else if len(words) > 0 {
		return false
	}
	return line == "tr -d  " || line == "tr -d [:space:]" || line == `tr -d \n` || line == "xargs"
}

// printsNumber reports whether a command prints a number, or nothing.
func printsNumber(name string, words []word) bool {
	return (name == "true" || name == ":") && len(words) == 0 || name == "echo" && len(words) == 1 && (words[0].Number || !words[0].Dynamic && integer(words[0].Text))
}

// counted reports whether every item of a loop is a number: what seq prints between numbers.
func (w *walker) counted(items []*syntax.Word) bool {
	for _, x := range items {
		var stmts []*syntax.Stmt
		if len(x.Parts) == 1 {
			if sub, ok := x.Parts[0].(*syntax.CmdSubst); ok {
				stmts = sub.Stmts
			}
		}
		if !integer(x.Lit()) && !(len(stmts) == 1 && (w.alone(stmts[0], countsUp) || w.counts(stmts))) {
			return false
		}
	}
	return len(items) > 0 && !w.st.ifs && w.shell != "zsh"
}

// countsUp reports whether a program is seq and prints what is not negative.
func countsUp(name string, words []word) bool {
	for i, x := range words {
		if !x.Number && (x.Dynamic || !integer(strings.TrimPrefix(x.Text, "-")) || x.Text[0] == '-' && !(i == 1 && len(words) == 3)) {
			return false
		}
	}
	return name == "seq" && len(words) > 0 && len(words) <= 3
}

// workTree is what git rev-parse --show-toplevel prints, also with another command behind || that is not run then.
// The command's accesses begin at from. Where git might print nothing, the words behind it would begin at /.
func (w *walker) workTree(stmts []*syntax.Stmt, from int) (string, bool) {
	if len(stmts) != 1 || w.dirty || w.world.Owns == nil {
		return "", false
	}
	s := stmts[0]
	if b, ok := s.Cmd.(*syntax.BinaryCmd); ok && b.Op == syntax.OrStmt && len(s.Redirs) == 0 && !s.Negated {
		s = b.X
	}
	for _, name := range [...]string{"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_CEILING_DIRECTORIES", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS"} {
		if value, ok := w.given(name); !ok || value != "" {
			return "", false
		}
	}
	if s.Negated || !w.alone(s, func(name string, words []word) bool {
		return name == "git" && len(words) == 2 && words[0].Text == "rev-parse" && words[1].Text == "--show-toplevel" && !words[0].Dynamic && !words[1].Dynamic
	}) {
		return "", false
	}
	for i := range w.out.Accesses[from:] {
		a := &w.out.Accesses[from+i]
		if a.Kind != policy.Exec || a.Top == "" {
			continue
		}
		return a.Top, a.Opaque == "" && len(a.Argv) == 3 && a.Argv[0] == "git" && w.world.Owns(a.Top) && w.world.Owns(path.Join(a.Top, ".git")) && w.hasWorkTree(a.Top)
	}
	return "", false
}

// hasWorkTree reports whether what is at .git in a directory is a repository that has a HEAD as git wants it, else
// git looks for another one above, and is not said to be bare, as a repository that has worktrees alone may be.
func (w *walker) hasWorkTree(top string) bool {
	git := path.Join(top, ".git")
	settings, _ := w.world.ReadFile(path.Join(git, "config")) // none where .git is a file
	for line := range strings.Lines(strings.ToLower(string(settings))) {
		if strings.Contains(line, "bare") && strings.TrimSpace(line) != "bare = false" {
			return false
		}
	}
	if b, err := w.world.ReadFile(git); err == nil { // a file, of a worktree or a submodule
		dir, ok := safefile.GitDir(b)
		if git = dir; !ok {
			return false
		}
		if !path.IsAbs(git) {
			git = path.Join(top, git)
		}
	}
	head, err := w.world.ReadFile(path.Join(git, "HEAD"))
	return err == nil && safefile.GitHead(head)
}

// mktemp is a stand-in for the name that mktemp prints: a file of its own, which is
// not there yet, in a directory of which it is certain. Only the last element is not
// what it will be, so nothing that exists is meant by it.
func (w *walker) mktemp(words []word) (string, bool) {
	dir, operand, suffix, in := w.tempDir(), "", "", false
	for i := 0; i < len(words); i++ {
		x := words[i]
		t := x.Text
		switch name, val, given := strings.Cut(t, "="); {
		case x.Dynamic || x.Pattern != "":
			return "", false
		case t == "-d" || t == "--directory" || t == "-q" || t == "--quiet" || t == "-dq" || t == "-qd":
		case t == "-t" || t == "-dt" || t == "-td" || t == "--tmpdir":
			in = true
		case t == "-p" && i+1 < len(words):
			i++
			dir, in = words[i].Text, true
			if words[i].Dynamic {
				return "", false
			}
		case name == "--tmpdir" && given:
			dir, in = val, true
		case name == "--suffix" && given && !strings.Contains(val, "/"):
			suffix = val
		case strings.HasPrefix(t, "-") || operand != "":
			return "", false
		default:
			operand = t
		}
	}
	switch base := path.Base(operand); {
	case operand == "":
		operand = "tmp.XXXXXXXXXX"
	case !strings.Contains(base, "XXX") && runtime.GOOS != "darwin":
		return "", false
	case in && strings.Contains(operand, "/"):
		return "", false
	case !in:
		dir, operand = path.Dir(operand), base
	}
	if !slices.Contains(w.world.Temp, dir) && !slices.Contains(w.world.SharedTemp, dir) || w.world.Resolve == nil {
		return w.newBelow(dir, operand+suffix, slices.ContainsFunc(words, func(x word) bool { return x.Text == "-t" || x.Text == "-dt" || x.Text == "-td" }))
	}
	a, err := w.world.Resolve(w.world.Dir, dir)
	return path.Join(dir, operand+suffix), err == nil && a.File == policy.Dir
}

// newBelow is a stand-in for a name that mktemp makes in a directory of the root, where what is taken away is kept: nothing
// has that name, so what lies below it the command has made or brought. With -t the environment may name another directory.
func (w *walker) newBelow(dir, name string, elsewhere bool) (string, bool) {
	if !w.world.Keeps || elsewhere || dir == "" || path.IsAbs(dir) || w.st.lost != "" || len(w.st.dirs) != 1 || len(w.links) > 0 || w.astray != "" {
		return "", false
	}
	in, err := w.world.Resolve(w.st.dirs[0], dir)
	if err != nil || in.File != policy.Dir || !safefile.Below(w.world.Root, in.Path) || safefile.InGit(in.Path+"/x") {
		return "", false
	}
	name = strings.TrimSuffix(dir, "/") + "/" + name
	a, err := w.world.Resolve(w.st.dirs[0], name)
	return name, err == nil && a.File == policy.Missing && path.Dir(a.Path) == in.Path
}

// unique adds a stand-in for the number of a process or of seconds, or one that is drawn, where that ends a name right in a directory for
// temporary files: as of a name that mktemp makes, nobody means by it what others have there.
func (b *builder) unique() bool {
	text := string(b.b)
	if b.dyn || b.meta || b.w.st.ifs || !slices.ContainsFunc(slices.Concat(b.w.world.Temp, b.w.world.SharedTemp), func(dir string) bool {
		return strings.HasPrefix(text, dir+"/") && !strings.Contains(text[len(dir)+1:], "/")
	}) {
		return false
	}
	b.add("XXXXXXXXXX", true)
	return true
}

// clock reports whether commands print the seconds of the clock, or a part of them, alone.
func (w *walker) clock(stmts []*syntax.Stmt) bool {
	return len(stmts) == 1 && w.alone(stmts[0], func(name string, words []word) bool {
		return name == "date" && len(words) == 1 && !words[0].Dynamic && (words[0].Text == "+%s" || words[0].Text == "+%s%N" || words[0].Text == "+%N")
	})
}

// tempDir is where programs make temporary files; "" when that is not known.
func (w *walker) tempDir() string {
	dir, ok := w.given("TMPDIR")
	if !ok {
		return ""
	}
	return cmpOr(dir, "/tmp")
}

// today is what date prints of a day, which stays the same while a command runs, but
// at midnight: then it is a name that nobody could have prepared in time.
func today(words []word, now time.Time) (string, bool) {
	if len(words) != 1 || words[0].Dynamic || !strings.HasPrefix(words[0].Text, "+") {
		return "", false
	}
	var out strings.Builder
	format := words[0].Text[1:]
	for i := 0; i < len(format); i++ {
		switch c := format[i]; {
		case strings.IndexByte("-_.", c) >= 0:
			out.WriteByte(c)
		case c == '%' && i+1 < len(format):
			layout, ok := map[byte]string{'Y': "2006", 'm': "01", 'd': "02", 'F': "2006-01-02", 'y': "06", 'j': "002"}[format[i+1]]
			if !ok {
				return "", false
			}
			out.WriteString(now.Format(layout))
			i++
		default:
			return "", false
		}
	}
	return out.String(), out.Len() > 0
}

// pathPart is what basename or dirname prints.
func pathPart(name string, words []word) (string, bool) {
	for _, x := range words {
		if x.Dynamic || x.Pattern != "" && x.Text == "" || x.Text == "" || x.Text[0] == '-' || strings.HasSuffix(x.Text, "/") || strings.Contains(x.Text, "\n") {
			return "", false
		}
	}
	switch {
	case name == "dirname" && len(words) == 1 && !strings.Contains(words[0].Text, "//"):
		i := strings.LastIndexByte(words[0].Text, '/')
		if i < 0 {
			return ".", true
		}
		return cmpOr(words[0].Text[:i], "/"), true
	case name == "basename" && len(words) == 1:
		return path.Base(words[0].Text), true
	case name == "basename" && len(words) == 2:
		base := path.Base(words[0].Text)
		if cut := strings.TrimSuffix(base, words[1].Text); cut != "" {
			return cut, true
		}
		return base, true
	}
	return "", false
}

// removed is ${x#p}, ${x##p}, ${x%p} or ${x%%p} of a known value, for patterns of
// plain letters and stars.
func removed(op syntax.ParExpOperator, value, pattern string) (string, bool) {
	if strings.ContainsAny(pattern, `?[]()\!+@`) || strings.Count(pattern, "*") > 1 {
		return "", false
	}
	before, after, star := strings.Cut(pattern, "*")
	if !star {
		after = before
	}
	switch op {
	case syntax.RemSmallPrefix, syntax.RemLargePrefix:
		rest, ok := strings.CutPrefix(value, before)
		if !ok || !star {
			return rest, true
		}
		i := strings.Index(rest, after)
		if op == syntax.RemLargePrefix {
			i = strings.LastIndex(rest, after)
		}
		if i < 0 {
			return value, true
		}
		return rest[i+len(after):], true
	case syntax.RemSmallSuffix, syntax.RemLargeSuffix:
		rest, ok := strings.CutSuffix(value, after)
		if !ok || !star {
			return rest, true
		}
		i := strings.LastIndex(rest, before)
		if op == syntax.RemLargeSuffix {
			i = strings.Index(rest, before)
		}
		if i < 0 {
			return value, true
		}
		return rest[:i], true
	}
	return "", false
}
