package programs

import (
	"slices"
	"strings"
)

// findTests are find's expressions by how many words they take; nothing of
// them runs or writes.
const (
	findTests0 = " -a -and -o -or -not -depth -d -daystart -empty -executable -false -follow -help -ignore_readdir_race -ls -mount -nogroup -noignore_readdir_race -noleaf -nouser -nowarn -print -print0 -prune -quit -readable -true -version -warn -writable -x -xdev -X -E -s "
	findTests1 = " -amin -anewer -atime -cmin -cnewer -ctime -context -fstype -gid -group -ilname -iname -inum -ipath -iregex -iwholename -links -lname -maxdepth -mindepth -mmin -mtime -name -newer -newermt -newerat -newerct -neweram -newermm -newercm -newermc -path -perm -printf -regex -regextype -samefile -size -type -uid -used -user -wholename -xtype -Bmin -Btime -flags "
)

// findCommand reads find: start points, then an expression.
func (c *Call) findCommand() {
	words := c.Words[1:]
	i := 0
	for ; i < len(words); i++ {
		t := words[i].Text
		if words[i].Dynamic || !slices.Contains([]string{"-H", "-L", "-P", "-D", "-X", "-E", "-d", "-s", "-x"}, t) && !strings.HasPrefix(t, "-O") {
			break
		}
		if t == "-D" {
			i++
		}
	}
	var roots []Word
	for ; i < len(words); i++ {
		t := words[i].Text
		if !words[i].Dynamic && (strings.HasPrefix(t, "-") || t == "(" || t == "!" || t == ",") {
			break
		}
		if words[i].MayBeOption() {
			c.opaque("a word that is not known may be an option")
		}
		roots = append(roots, words[i])
	}
	if len(roots) == 0 {
		roots = []Word{{Text: "."}}
	}
	for _, r := range roots {
		c.file(ReadTree, r)
	}
	c.Args = roots
	c.findExpression(words[min(i, len(words)):], roots)
}

// FoundNames gives the patterns of names, parted by blanks, one of which whatever
// an expression of find finds certainly matches; "" for any. Of the parts that -o
// joins each has to name one.
func FoundNames(words []Word) string {
	var all []string
	part, no := "", false
	for i, x := range words {
		switch t := x.Text; {
		case x.Dynamic || x.Spreads() || t == "," || t == "-L" || t == "-follow": // of a link to a directory, what lies there has other names
			return ""
		case t == "!" || t == "-not":
			if no = true; i+1 < len(words) && (words[i+1].Text == "(" || words[i+1].Text == "!") {
				return ""
			}
			continue
		case t == "-o" || t == "-or":
			if all = append(all, part); part == "" {
				return ""
			}
			part = ""
		case (t == "-name" || t == "-iname") && i+1 < len(words):
			if name := words[i+1]; !no && !name.Dynamic && name.Pattern == "" && t == "-name" && !strings.ContainsAny(name.Text, " \t\\") {
				part = name.Text
			}
		}
		no = false
	}
	if all = append(all, part); part == "" {
		return ""
	}
	return strings.Join(all, " ")
}

func (c *Call) findExpression(words, roots []Word) {
	names := FoundNames(c.Words[1:])
	for i := 0; i < len(words); i++ {
		x := words[i]
		t := x.Text
		switch {
		case x.Dynamic:
			c.opaque("a word that is not known may be an option")
		case x.Pattern != "" && x.MayBeOption():
			c.opaque("a pattern that may become an option")
		case t == "(" || t == ")" || t == "!" || t == "," || Has(findTests0, t):
		case Has(findTests1, t) || strings.HasPrefix(t, "-newer") && len(t) == 8:
			if i++; i < len(words) && words[i].Spreads() {
				c.opaque("a word that may become several")
			}
		case t == "-delete":
			c.lower(Known)
			c.danger(losesMatches)
			for _, r := range roots {
				if !r.Dynamic {
					r = Word{Text: r.Text, Dynamic: true, Multi: true, Under: r.Text, Lead: r.Text, Names: names}
				}
				c.Shell.File(File{Effect: DeleteTree, Word: r, Source: t})
			}
		case t == "-fprint" || t == "-fprint0" || t == "-fls" || t == "-fprintf":
			c.lower(Known)
			if i+1 < len(words) {
				c.file(Write, words[i+1])
			}
			if i++; t == "-fprintf" {
				i++
			}
		case t == "-exec" || t == "-execdir" || t == "-ok" || t == "-okdir":
			end := i + 1
			for end < len(words) && words[end].Text != ";" && !(words[end].Text == "+" && words[end-1].Text == "{}") {
				end++
			}
			for _, y := range words[i+1 : end] {
				if y.Spreads() || y.Dynamic && y.MayBeOption() {
					c.opaque("a word that may end what find runs")
				}
			}
			c.findExec(words[i+1:end], roots, names, strings.HasSuffix(t, "dir"))
			i = end
		case t == "-files0-from":
			c.opaque("the places to search are in a file")
			if i++; i < len(words) {
				c.file(Read, words[i])
			}
		default:
			c.opaque("an option that is not known: " + Cut(t))
		}
	}
}

// findExec judges what find runs: {} is some path below the start points.
func (c *Call) findExec(words, roots []Word, names string, there bool) {
	if len(words) == 0 {
		return
	}
	out := make([]Word, 0, len(words)+len(roots))
	for _, x := range words {
		before, _, ok := strings.Cut(x.Text, "{}")
		if !ok || x.Dynamic {
			out = append(out, x)
			continue
		}
		for _, r := range roots {
			y := Word{Text: x.Text, Dynamic: true, Lead: before}
			if before == "" && !r.Dynamic {
				y.Under, y.Lead, y.Names = r.Text, r.Text, names
			}
			out = append(out, y)
			if before != "" {
				break
			}
		}
	}
	if there {
		for i := range out {
			if out[i].Under != "" { // a bare name in a directory below
				out[i].Lead = "./"
			}
		}
	}
	c.start(out)
}
