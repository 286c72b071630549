package programs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/gitindex"
)

// A lister has the options with which a program prints names of files, besides those that
// make it do so, and those of these that take a value.
type lister struct{ makes, options, valued, long string }

func listerOf(name string) lister {
	switch name {
	case "rg":
		return lister{"l --files --files-with-matches", "iwFSnNPUsx0", "gte", " --no-messages --null --fixed-strings --ignore-case --word-regexp --smart-case --sort=path "}
	case "grep":
		return lister{"l --files-with-matches", "rRiwFEGPnxsIZ", "e", " --null --recursive --ignore-case --fixed-strings --extended-regexp --word-regexp "}
	}
	return lister{}
}

// Lists tells what a search prints that names files: names below these places; bare where they
// stand without one before them. It is not ok where the output may hold something else.
func Lists(name string, words []Word) (under []string, bare, ok bool) {
	l := listerOf(name)
	lists, pattern, recursive := false, false, name == "rg"
	var operands []string
	for i := 0; i < len(words); i++ {
		x := words[i]
		t := x.Text
		long, _, glued := strings.Cut(t, "=")
		switch {
		case x.Dynamic || x.Spreads() || x.Pattern != "" && x.MayBeOption():
			return nil, false, false
		case t == "--" && i+1 < len(words):
			for _, y := range words[i+1:] {
				if y.Dynamic || y.Spreads() {
					return nil, false, false
				}
				operands = append(operands, y.Text)
			}
			i = len(words)
		case !strings.HasPrefix(t, "-") || t == "-":
			operands = append(operands, t)
		case strings.HasPrefix(t, "--"):
			switch {
			case Has(l.makes, t):
				lists, pattern = true, pattern || t == "--files"
			case Has(l.long, t):
				recursive = recursive || t == "--recursive"
			case glued && name == "rg" && Has("--glob --type --type-not", long), glued && name == "grep" && Has("--include --exclude --exclude-dir", long):
			default:
				return nil, false, false
			}
		default:
			for j := 1; j < len(t); j++ {
				switch {
				case t[j] == 'l':
					lists = true
				case strings.IndexByte(l.valued, t[j]) >= 0:
					pattern = pattern || t[j] == 'e'
					if j+1 == len(t) {
						if i++; i >= len(words) || words[i].Dynamic || words[i].Pattern != "" {
							return nil, false, false
						}
					}
					j = len(t)
				case strings.IndexByte(l.options, t[j]) >= 0:
					recursive = recursive || t[j] == 'r' || t[j] == 'R'
				default:
					return nil, false, false
				}
			}
		}
	}
	if !pattern && len(operands) > 0 {
		operands = operands[1:]
	}
	if bare = len(operands) == 0 && recursive; bare {
		operands = []string{"."}
	}
	for _, o := range operands {
		if o == "-" || o == "" || strings.HasPrefix(o, "-") {
			return nil, false, false
		}
	}
	return operands, bare, lists && len(operands) > 0
}

// maxListed is how many names of an index are looked at.
const maxListed = 50_000

// gitLists tells the names that a subcommand prints of what the index holds, where all of them
// are in it and none may be taken for an option.
func (c *Call) gitLists(g *gitCommand, args []Word, cfg repository, plain bool) {
	dirs, lost := c.Shell.Dirs()
	if !plain || lost != "" || len(dirs) != 1 || cfg.index == "" || c.Shell.Dirty() {
		return
	}
	options, specs := "", c.Args
	if i := slices.IndexFunc(args, func(x Word) bool { return x.Text == "--" && !x.Dynamic }); i >= 0 && len(specs) != len(args)-1-i && g.name != "grep" {
		return
	} else if i < 0 && g.name == "diff" && len(specs) > 0 {
		return
	}
	switch g.name {
	case "ls-files":
		options = "z c,cached m,modified d,deleted deduplicate"
	case "diff":
		if !c.has("name-only") || dirs[0] != cfg.top {
			return
		}
		options = "name-only z diff-filter"
	case "grep":
		if !c.has("l", "files-with-matches", "name-only") || dirs[0] != cfg.top { // grep.fullName names others below it
			return
		}
		options = "l,files-with-matches name-only i,ignore-case I w,word-regexp E,extended-regexp F,fixed-strings P,perl-regexp n,line-number z,null e"
		if !c.has("e") {
			if len(specs) == 0 {
				return
			}
			specs = specs[1:]
		}
	default:
		return
	}
	for _, o := range c.Given {
		if !slices.ContainsFunc(strings.Fields(options), func(n string) bool { return n == o.Names || hasName(o.Names, strings.Split(n, ",")[0]) }) {
			return
		}
	}
	var keep []string
	for _, x := range specs {
		switch s := strings.TrimPrefix(x.Text, "./"); {
		case x.Dynamic || strings.HasPrefix(s, "/") || strings.Contains(s, "..") || s == "":
			return
		case strings.HasPrefix(s, ":!") || strings.HasPrefix(s, ":^"):
		case strings.HasPrefix(s, ":"):
			return
		case g.name == "grep" && !strings.ContainsAny(s, "*?[") && !c.Shell.Exists(s): // a revision
			return
		case strings.ContainsAny(s, `\[`), s == ".":
			keep = append(keep, "*")
		default:
			keep = append(keep, strings.ToLower(strings.TrimSuffix(s, "/")))
		}
	}
	data, err := c.Shell.ReadFile(cfg.index)
	if err != nil {
		return
	}
	place := strings.TrimPrefix(dirs[0]+"/", cfg.top+"/")
	files := []string{}
	safe := true
	whole := readIndex(data, func(tracked string, _ gitindex.Entry) bool {
		name, below := strings.CutPrefix(tracked, place)
		low := strings.ToLower(name)
		if !below || len(keep) > 0 && !slices.ContainsFunc(keep, func(s string) bool { return low == s || strings.HasPrefix(low, s+"/") || wildcard(s, low, 64) }) {
			return c.Shell.Spend(1)
		}
		more, ok := AsWords(name)
		files = append(files, more...)
		safe = safe && ok && len(files) <= maxListed
		return safe && c.Shell.Spend(1)
	})
	if whole && safe {
		c.Shell.Prints(files)
	}
}

// AsWords are the words that a name may become which a program such as git prints, and the name. It is not ok
// where one of them may be taken for an option, or for more than a file.
func AsWords(name string) (words []string, ok bool) {
	high := false
	for i := 0; i < len(name); i++ {
		switch b := name[i]; {
		case b < ' ' || b == 0x7f || strings.IndexByte(`'"\*?[`+"`", b) >= 0:
			return nil, false
		case b >= 0x80:
			high = true
		}
	}
	parts := strings.Fields(name)
	if words = append(words, name); len(parts) != 1 || parts[0] != name {
		words = append(words, parts...)
	}
	if high { // which git quotes
		if len(parts) != 1 {
			return nil, false
		}
		var b strings.Builder
		for _, c := range []byte(name) {
			if c < 0x80 {
				b.WriteByte(c)
			} else {
				fmt.Fprintf(&b, `\%03o`, c)
			}
		}
		quoted := b.String()
		words = append(words, quoted, `"`+quoted+`"`)
	}
	return words, len(parts) > 0 && !slices.ContainsFunc(words, Odd)
}

// Odd reports whether a name that stands as a word may be taken for something else by programs:
// for an option, an assignment, a place at a host, an operator, a file of further words.
func Odd(name string) bool {
	c := name[0]
	plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '"' || c == '\\' || c >= 0x80
	return !plain || strings.ContainsAny(name, "=:")
}
