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
	roots, expression := findParts(c.Words[1:])
	for _, r := range roots {
		if r.MayBeOption() {
			c.opaque("a word that is not known may be an option")
		}
	}
	for _, r := range roots {
		c.file(ReadTree, r)
	}
	c.Args = roots
	c.findExpression(expression, roots)
}

// findParts takes the words of find apart: its start points, the current directory if it
// names none, and its expression.
func findParts(words []Word) (roots, expression []Word) {
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
	for ; i < len(words); i++ {
		t := words[i].Text
		if !words[i].Dynamic && (strings.HasPrefix(t, "-") || t == "(" || t == "!" || t == ",") {
			break
		}
		roots = append(roots, words[i])
	}
	if len(roots) == 0 {
		roots = []Word{{Text: "."}}
	}
	return roots, words[min(i, len(words)):]
}

// here is the directory in which the call runs; "" where that is not known.
func (c *Call) here() string {
	if dirs, lost := c.Shell.Dirs(); lost == "" && len(dirs) == 1 {
		return dirs[0]
	}
	return ""
}

// Found tells what a find prints that others read: names below its start points, which names,
// as in Word, and whether a zero byte ends each. It is not ok where the output may hold something else, or is not known.
func Found(words []Word) (under []string, names string, nul, ok bool) {
	lines := false
	for _, x := range words {
		nul, lines = nul || x.Text == "-print0", lines || x.Text == "-print"
		if x.Dynamic || x.Pattern != "" || Has(findRuns+" -printf -ls -fprint -fprint0 -fprintf -fls", x.Text) {
			return nil, "", false, false
		}
	}
	roots, expression := findParts(words)
	if f := readExpression(words, roots, expression); !f.bad {
		names = f.shown.text()
	}
	for _, r := range roots {
		under = append(under, r.Text)
	}
	return under, names, nul, !nul || !lines
}

func (c *Call) findExpression(words, roots []Word) {
	found := readExpression(c.Words[1:], roots, words)
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
		case t == "-delete" && !found.bad && onlyDirs(words[:i]): // it removes directories that hold nothing
			for _, r := range roots {
				c.does(Write, r)
			}
		case t == "-delete":
			c.lower(Known)
			c.danger(losesMatches)
			for _, r := range roots {
				if !r.Dynamic {
					r = Word{Text: r.Text, Dynamic: true, Multi: true, Under: r.Text, Lead: r.Text, Names: found.passes(i).removed(), Dir: c.here()}
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
		case Has(findRuns, t):
			end := findEnd(words, i)
			for _, y := range words[i+1 : end] {
				if y.Spreads() || y.Dynamic && y.MayBeOption() {
					c.opaque("a word that may end what find runs")
				}
			}
			c.findExec(words[i+1:end], roots, found.passes(i).text(), strings.HasSuffix(t, "dir"))
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

// onlyDirs reports whether what these tests let through are directories.
func onlyDirs(words []Word) bool {
	is := false
	for i, x := range words {
		switch {
		case Has("-o -or , ( )", x.Text):
			return false
		case x.Text == "-type" && i+1 < len(words) && words[i+1].Text == "d":
			is = is || i == 0 || !Has("! -not", words[i-1].Text) && !Has(findTests1, words[i-1].Text)
		}
	}
	return is
}

// findExec judges what find runs: {} is some path below the start points.
func (c *Call) findExec(words, roots []Word, names string, there bool) {
	if len(words) == 0 {
		return
	}
	out, elsewhere := make([]Word, 0, len(words)+len(roots)), false
	for i, x := range words {
		if !strings.Contains(x.Text, "{}") || x.Dynamic {
			out = append(out, x)
			elsewhere = elsewhere || i > 0 && !strings.HasPrefix(x.Text, "-") || i == 0 && strings.Contains(x.Text, "/") && x.Text[0] != '/'
			continue
		}
		for _, r := range roots {
			found := Word{Under: r.Text, Names: names, Dir: c.here()}
			if r.Dynamic {
				found.Under = ""
			}
			more := stands(x, "{}", &found)
			if out = append(out, more...); more[0].Under == "" {
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
		if elsewhere {
			c.Shell.Lost("find runs it in the directory of what it has found")
		}
	}
	c.start(out)
}
