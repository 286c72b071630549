package shellparse

import (
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"mvdan.cc/sh/v3/syntax"
)

// findTests are find's expressions by how many words they take; nothing of
// them runs or writes.
const (
	findTests0 = " -a -and -o -or -not -depth -d -daystart -empty -executable -false -follow -help -ignore_readdir_race -ls -mount -nogroup -noignore_readdir_race -noleaf -nouser -nowarn -print -print0 -prune -quit -readable -true -version -warn -writable -x -xdev -X -E -s "
	findTests1 = " -amin -anewer -atime -cmin -cnewer -ctime -context -fstype -gid -group -ilname -iname -inum -ipath -iregex -iwholename -links -lname -maxdepth -mindepth -mmin -mtime -name -newer -newermt -newerat -newerct -neweram -newermm -newercm -newermc -path -perm -printf -regex -regextype -samefile -size -type -uid -used -user -wholename -xtype -Bmin -Btime -flags "
)

// findCommand reads find: start points, then an expression.
func (w *walker) findCommand(c *call) {
	words := c.words[1:]
	i := 0
	for ; i < len(words); i++ {
		t := words[i].text
		if words[i].dyn || !slices.Contains([]string{"-H", "-L", "-P", "-D", "-X", "-E", "-d", "-s", "-x"}, t) && !strings.HasPrefix(t, "-O") {
			break
		}
		if t == "-D" {
			i++
		}
	}
	var roots []word
	for ; i < len(words); i++ {
		t := words[i].text
		if !words[i].dyn && (strings.HasPrefix(t, "-") || t == "(" || t == "!" || t == ",") {
			break
		}
		if words[i].option() {
			c.opaque(w, "a word that is not known may be an option")
		}
		roots = append(roots, words[i])
	}
	if len(roots) == 0 {
		roots = []word{{text: "."}}
	}
	for _, r := range roots {
		w.file(fileAccess{kind: policy.Read, tree: true, parent: c.index + 1, src: r.text}, r)
	}
	c.args = roots
	w.findExpression(c, words[min(i, len(words)):], roots)
}

func (w *walker) findExpression(c *call, words, roots []word) {
	for i := 0; i < len(words); i++ {
		x := words[i]
		t := x.text
		switch {
		case x.dyn:
			c.opaque(w, "a word that is not known may be an option")
		case x.glob != "" && x.option():
			c.opaque(w, "a pattern that may become an option")
		case t == "(" || t == ")" || t == "!" || t == "," || strings.Contains(findTests0, " "+t+" "):
		case strings.Contains(findTests1, " "+t+" ") || strings.HasPrefix(t, "-newer") && len(t) == 8:
			if i++; i < len(words) && words[i].spreads() {
				c.opaque(w, "a word that may become several")
			}
		case t == "-delete":
			c.lower(w, policy.Known)
			c.danger(w, "deletes every match")
			for _, r := range roots {
				w.file(fileAccess{kind: policy.Write, op: policy.Delete, tree: true, parent: c.index + 1, src: t}, r)
			}
		case t == "-fprint" || t == "-fprint0" || t == "-fls" || t == "-fprintf":
			c.lower(w, policy.Known)
			if i+1 < len(words) {
				w.file(fileAccess{kind: policy.Write, op: policy.Change, parent: c.index + 1, src: words[i+1].text}, words[i+1])
			}
			if i++; t == "-fprintf" {
				i++
			}
		case t == "-exec" || t == "-execdir" || t == "-ok" || t == "-okdir":
			end := i + 1
			for end < len(words) && words[end].text != ";" && !(words[end].text == "+" && words[end-1].text == "{}") {
				end++
			}
			for _, y := range words[i+1 : end] {
				if y.spreads() || y.dyn && y.option() {
					c.opaque(w, "a word that may end what find runs")
				}
			}
			w.findExec(c, words[i+1:end], roots, strings.HasSuffix(t, "dir"))
			i = end
		case t == "-files0-from":
			c.opaque(w, "the places to search are in a file")
			if i++; i < len(words) {
				w.file(fileAccess{kind: policy.Read, parent: c.index + 1, src: words[i].text}, words[i])
			}
		default:
			c.opaque(w, "an option that is not known: "+cut(t))
		}
	}
}

// findExec judges what find runs: {} is some path below the start points.
func (w *walker) findExec(c *call, words, roots []word, there bool) {
	if len(words) == 0 {
		return
	}
	out := make([]word, 0, len(words)+len(roots))
	for _, x := range words {
		before, _, ok := strings.Cut(x.text, "{}")
		if !ok || x.dyn {
			out = append(out, x)
			continue
		}
		for _, r := range roots {
			y := word{text: x.text, dyn: true, lead: before}
			if before == "" && !r.dyn {
				y.under, y.lead = r.text, r.text
			}
			out = append(out, y)
			if before != "" {
				break
			}
		}
	}
	dirs, lost := w.st.dirs, w.st.lost
	if there {
		for i := range out {
			if out[i].under != "" { // a bare name in a directory below
				out[i].lead = "./"
			}
		}
	}
	w.inner(c, out)
	w.st.dirs, w.st.lost = dirs, lost
}

// findRoots gives the start points of a find whose output others read, and
// whether its items can be told apart.
func (w *walker) findRoots(args []*syntax.Word) (under []string, safe bool) {
	expression := false
	for _, x := range w.quietWords(args) {
		if x.dyn || x.glob != "" {
			return nil, false
		}
		if strings.HasPrefix(x.text, "-") || x.text == "(" || x.text == "!" {
			expression = true
		}
		switch {
		case x.text == "-printf" || x.text == "-exec" || x.text == "-execdir" || x.text == "-ls":
			return nil, false
		case !expression:
			under = append(under, x.text)
		}
	}
	if len(under) == 0 {
		under = []string{"."}
	}
	return under, len(under) <= 8
}

// quietWords gives the words of a command that are plain.
func (w *walker) quietWords(args []*syntax.Word) []word {
	var out []word
	for _, a := range args {
		for _, p := range a.Parts {
			if !inert(p) {
				return []word{{dyn: true}}
			}
		}
		out = append(out, w.fields(a)...)
	}
	return out
}
