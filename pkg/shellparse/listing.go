package shellparse

import (
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/programs"
	"mvdan.cc/sh/v3/syntax"
)

// A listing is the names that a call prints, as its reader tells.
type listing struct {
	call  int // the index of its access
	files []string
}

// listed says which names a program prints that lists some in the tree or in git's index.
func (w *walker) listed(out *stream, name string, c *syntax.CallExpr, from int) {
	if w.dirty || len(c.Assigns) > 0 || w.st.lost != "" || len(w.st.dirs) != 1 || w.st.env != "" {
		return
	}
	by := slices.IndexFunc(w.out.Accesses[from:], func(a policy.Access) bool { return a.Kind == policy.Exec }) + from
	if by < from {
		return
	}
	if a := &w.out.Accesses[by]; a.Builtin || a.Class != policy.ReadOnly || len(a.Argv) == 0 || a.Argv[0] != name {
		return
	}
	if name == "git" {
		if w.lists.files != nil && w.lists.call == by {
			out.Under, out.Safe, out.Listed = []string{"."}, true, &programs.Listing{Dir: w.st.dirs[0], By: by + 1, Bare: true, Files: w.lists.files}
		}
		return
	}
	if name == "ls" {
		if files := w.shown(w.quietWords(c.Args[1:])); files != nil {
			out.Under, out.Safe, out.Listed = []string{"."}, true, &programs.Listing{Dir: w.st.dirs[0], By: by + 1, Bare: true, Files: files}
		}
		return
	}
	under, bare, ok := programs.Lists(name, w.quietWords(c.Args[1:]))
	if ok && len(under) <= 8 {
		out.Under, out.Safe, out.Listed = under, true, &programs.Listing{Dir: w.st.dirs[0], By: by + 1, Bare: bare}
	}
}

// shown are the names that ls prints of the files it is given, or of the directory where it is;
// nil where it may print others.
func (w *walker) shown(words []word) []string {
	var names []string
	for _, x := range words {
		switch at := w.resolve(x.Text); {
		case x.Dynamic || x.Spreads():
			return nil
		case strings.HasPrefix(x.Text, "-"):
			if strings.Trim(x.Text[1:], "1trSX") != "" {
				return nil
			}
		case len(at) != 1 || at[0].access.File != policy.Regular:
			return nil
		default:
			names = append(names, x.Text)
		}
	}
	if names == nil {
		var ok bool
		if w.world.Glob == nil {
			return nil
		}
		if names, ok = w.world.Glob(w.st.dirs[0], "*"); !ok || len(names) > maxFields {
			return nil
		}
	}
	files := []string{}
	for _, name := range names {
		more, ok := programs.AsWords(name)
		if !ok {
			return nil
		}
		files = append(files, more...)
	}
	return files
}

// lastPrinted is what is known of the names that a list of commands prints, which were walked
// just now.
func (w *walker) lastPrinted(stmts []*syntax.Stmt, from int) stream {
	if len(stmts) != 1 || stmts[0].Negated || stmts[0].Background || stmts[0].Coprocess {
		return stream{}
	}
	switch x := stmts[0].Cmd.(type) {
	case *syntax.CallExpr:
		return w.printed(stmts[0], from)
	case *syntax.BinaryCmd:
		if x.Op == syntax.Pipe && len(stmts[0].Redirs) == 0 {
			return w.piped
		}
	}
	return stream{}
}

// foundNames are the words that names become, where the shell takes them apart and expands
// them; none where it cannot be told. Nul says what it takes for their ends.
func (w *walker) foundNames(s stream, nul bool) (out []word) {
	if !s.Safe || s.Listed == nil && s.Nul != nul || w.shell != "bash" || w.st.ifs || w.dirty {
		return nil
	}
	for _, u := range s.Under {
		x := word{Text: u, Dynamic: true, Multi: true, Under: u, Lead: u, Names: s.Names, Dir: s.Dir, Split: true, Made: s.Made, Listed: s.Listed}
		w.file(fileAccess{kind: policy.Read, tree: true, src: programs.NamesExpanded}, x)
		out = append(out, x)
	}
	return out
}

// readsName notes that read has set a variable to a name that a program lists.
func (w *walker) readsName(c *call) {
	name, nul := "", false
	for i, x := range c.Args {
		switch {
		case x.Dynamic:
			return
		case x.Text == "-d" && i+1 < len(c.Args) && c.Args[i+1].Text == "":
			nul = true
		case x.Text == "-r", x.Text == "-d" && i+1 < len(c.Args) && c.Args[i+1].Text == "", x.Text == "" && i > 0 && c.Args[i-1].Text == "-d":
		case syntax.ValidName(x.Text) && name == "" && ordinary(x.Text):
			name = x.Text
		default:
			return
		}
	}
	if ifs, set := w.st.find("IFS"); c.Name != "read" || name == "" || set && !(ifs.known && ifs.first() == "") {
		return
	}
	st := w.st.ifs
	w.st.ifs = false
	if found := w.foundNames(w.stdin, nul); found != nil {
		for i := range found {
			found[i].Multi = false
		}
		w.put(name, value{net: w.stdin.Net, found: found})
	}
	w.st.ifs = st
}

// ordinary reports whether a variable means nothing to the shell or to programs.
func ordinary(name string) bool {
	kind := kindOfVariable(name, value{})
	return kind == programs.OtherVariable || kind == programs.HarmlessVariable
}
