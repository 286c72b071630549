package shellparse

import (
	"slices"
	"strconv"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/programs"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"mvdan.cc/sh/v3/syntax"
)

// redirects walks the redirections of a command and gives the indexes of the
// files they write.
func (w *walker) redirects(list []*syntax.Redirect) []int {
	var written []int
	for _, r := range list {
		if !w.spend(1) {
			break
		}
		src := programs.Cut(w.source(r))
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			w.heredoc(r)
		case syntax.WordHdoc:
			x := w.single(r.Word, false)
			w.stdin = stream{Set: true, Known: !x.Dynamic, Text: x.Text + "\n", Net: x.Net}
		case syntax.DplIn, syntax.DplOut:
			x := w.target(r.Word, false)
			if r.Op == syntax.DplIn { // what it is a copy of is not known
				w.stdin = stream{Set: true}
			}
			if l := r.Word.Lit(); descriptor(l) {
				break
			}
			// bash expands the word after >& once more.
			w.whole("a word after >& or <& that is not a number")
			if !x.Dynamic && !descriptor(x.Text) {
				written = append(written, w.redirect(policy.Write, x, src)...)
			}
		case syntax.RdrIn:
			x := w.target(r.Word, true)
			w.stdin = stream{Set: true, Net: x.Net, Known: x.Script != "", Text: x.Script}
			w.redirect(policy.Read, x, src)
		case syntax.RdrInOut:
			x := w.target(r.Word, false)
			w.stdin = stream{Set: true, Net: x.Net}
			w.redirect(policy.Read, x, src)
			written = append(written, w.redirect(policy.Write, x, ">"+src)...) // it overwrites from the beginning
		default:
			x := w.target(r.Word, false)
			if r.Op == syntax.AppOut || r.Op == syntax.AppAll || r.Op == syntax.AppClob || r.Op == syntax.AppAllClob {
				src = ">>" + src
			}
			written = append(written, w.redirect(policy.Write, x, src)...)
		}
		if r.N != nil && strings.HasPrefix(r.N.Value, "{") {
			name := strings.Trim(r.N.Value, "{}")
			if !syntax.ValidName(name) {
				w.whole("a subscript that is evaluated")
			}
			w.variable(name, value{}, true)
		}
	}
	return written
}

// setsInRedirect reports whether expanding a redirection sets a variable, as
// >${x:=y} does. A simple command expands its words first.
func setsInRedirect(list []*syntax.Redirect) bool {
	for _, r := range list {
		if r.Word != nil && sets(r.Word) || r.Hdoc != nil && sets(r.Hdoc) {
			return true
		}
	}
	return false
}

// setsInside reports whether expanding the value of an assignment sets a
// variable, as x=${y:=z} does.
func setsInside(list []*syntax.Assign) bool {
	return slices.ContainsFunc(list, func(a *syntax.Assign) bool { return sets(a) })
}

// sets reports whether expanding a word sets a variable.
func sets(n syntax.Node) (sets bool) {
	look := func(n syntax.Node) bool {
		switch x := n.(type) {
		case *syntax.ParamExp:
			sets = sets || x.Exp != nil && (x.Exp.Op == syntax.AssignUnset || x.Exp.Op == syntax.AssignUnsetOrNull)
		case *syntax.BinaryArithm:
			sets = sets || assigns(x.Op)
		case *syntax.UnaryArithm:
			sets = sets || x.Op == syntax.Inc || x.Op == syntax.Dec
		case *syntax.CmdSubst, *syntax.ProcSubst:
			return false
		}
		return !sets
	}
	syntax.Walk(n, look)
	return sets
}

// mayFail reports whether one of these redirections may fail, so that what it
// belongs to does not run.
func (w *walker) mayFail(list []*syntax.Redirect) bool {
	for _, r := range list {
		l := r.Word.Lit()
		if strings.HasSuffix(l, "-") {
			w.closed = true
		}
		switch {
		case r.Op == syntax.RdrIn && r.N == nil && len(r.Word.Parts) == 1 && isProcess(r.Word.Parts[0]) && !w.closed && !w.limited():
		case r.Op == syntax.Hdoc || r.Op == syntax.DashHdoc || r.Op == syntax.WordHdoc || l == "/dev/null":
		case (r.Op == syntax.DplIn || r.Op == syntax.DplOut) && len(l) == 1 && l <= "2" && !w.closed:
		default:
			return true
		}
	}
	return false
}

// isProcess reports whether a part of a word is a process substitution, which is there to be read.
func isProcess(p syntax.WordPart) bool {
	_, ok := p.(*syntax.ProcSubst)
	return ok
}

// limited reports whether the shell may have been given fewer descriptors.
func (w *walker) limited() bool {
	_, ok := w.names["ulimit"]
	return ok
}

// descriptor reports whether the word after >& is a plain descriptor.
func descriptor(s string) bool {
	return s != "" && strings.Trim(strings.TrimSuffix(s, "-"), "0123456789") == ""
}

// heredoc walks the text that a command is given; it is live unless a part of
// its end marker is quoted.
func (w *walker) heredoc(r *syntax.Redirect) {
	w.inside(r.Word)
	if r.Hdoc == nil {
		w.stdin = stream{Set: true, Known: true}
		return
	}
	quoted := strings.ContainsAny(w.source(r.Word), `'"\`)
	b := builder{w: w, src: "here-document"}
	for _, p := range r.Hdoc.Parts {
		if l, ok := p.(*syntax.Lit); ok && quoted {
			b.add(l.Value, true)
			continue
		} else if ok {
			b.add(hereText(l.Value), true)
			continue
		}
		b.part(p, true)
	}
	t := string(b.b)
	if r.Op == syntax.DashHdoc {
		lines := strings.Split(t, "\n")
		for i := range lines {
			lines[i] = strings.TrimLeft(lines[i], "\t")
		}
		t = strings.Join(lines, "\n")
	}
	w.stdin = stream{Set: true, Known: !b.dyn, Text: t, Net: b.net}
}

// hereText takes the backslashes out of a live here-document.
func hereText(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\\\n", s[i+1]) >= 0 {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// redirect lists the access of one redirection. bash opens connections for
// names below /dev/tcp and /dev/udp.
func (w *walker) redirect(kind policy.Kind, x word, src string) []int {
	if w.socket(kind, x, src) {
		return nil
	}
	return w.file(fileAccess{kind: kind, op: policy.Change, parent: w.parent, src: src}, x)
}

// socket lists the host of /dev/tcp/host/port.
func (w *walker) socket(kind policy.Kind, x word, src string) bool {
	s := x.Text
	if x.Dynamic {
		s = x.Lead
	}
	rest, tcp := strings.CutPrefix(s, "/dev/tcp/")
	if !tcp {
		var udp bool
		if rest, udp = strings.CutPrefix(s, "/dev/udp/"); !udp {
			return false
		}
	}
	a := policy.Access{Kind: policy.Net, Scheme: "tcp", Source: src, Parent: w.parent}
	if !tcp {
		a.Scheme = "udp"
	}
	host, port, _ := strings.Cut(rest, "/")
	a.Host = host
	a.Port, _ = strconv.Atoi(port)
	if x.Dynamic {
		a.Opaque = "the host is not known before it runs"
	}
	w.emit(a)
	if kind == policy.Write && (x.Dynamic || strings.Contains(host, ".") && !strings.HasPrefix(host, "127.")) { // what is written there is sent
		a.Publishes, a.Opaque = true, ""
		w.emit(a)
	}
	return true
}
