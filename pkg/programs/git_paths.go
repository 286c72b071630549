package programs

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// gitShows are the subcommands that print what files hold, in the tree, the
// index or a commit: naming a file to them is reading it.
const gitShows = " annotate archive blame cat-file diff diff-files diff-index diff-tree format-patch grep log show stash whatchanged "

// gitReads lists the files whose content a subcommand is asked for by name.
func (c *Call) gitReads(g *gitCommand, args []Word, top string) {
	if !Has(gitShows, g.name) {
		return
	}
	dashes := slices.IndexFunc(args, func(x Word) bool { return x.Text == "--" && !x.Dynamic })
	for i, x := range args {
		switch {
		case i == 0 || x.Dynamic:
		case dashes >= 0 && i > dashes:
			c.gitPathspec(x, top)
		case strings.HasPrefix(x.Text, "-L"), i > 1 && args[i-1].Text == "-L":
			if j := strings.LastIndexByte(x.Text, ':'); j >= 0 {
				c.gitPathspec(Word{Text: x.Text[j+1:]}, top)
			}
		case strings.HasPrefix(x.Text, "-"):
		case strings.HasPrefix(x.Text, ":(") || strings.HasPrefix(x.Text, ":/") || strings.HasPrefix(x.Text, ":!") || strings.HasPrefix(x.Text, ":^"):
			c.gitPathspec(x, top)
		case strings.Contains(x.Text, ":"):
			_, name, _ := strings.Cut(x.Text, ":")
			if len(name) > 1 && name[1] == ':' && name[0] >= '0' && name[0] <= '3' { // :N:path
				name = name[2:]
			}
			c.gitFile(name, top)
		default:
			c.gitPathspec(x, top)
		}
	}
	if c.has("batch", "batch-command") {
		c.opaque("what to print stands in its input")
	}
}

// gitPathspec lists the file of a pathspec: magic in front is taken off, and a
// pattern counts when it could mean a secret (gitglossary(7), "pathspec").
func (c *Call) gitPathspec(x Word, top string) {
	name := x.Text
	if rest, ok := strings.CutPrefix(name, ":("); ok {
		magic, after, _ := strings.Cut(rest, ")")
		if strings.Contains(magic, "exclude") {
			return
		}
		if name = after; strings.Contains(magic, "top") {
			name = fromTop(after, top)
		}
	} else if strings.HasPrefix(name, ":!") || strings.HasPrefix(name, ":^") {
		return
	} else if rest, ok := strings.CutPrefix(name, ":/"); ok {
		name = fromTop(rest, top)
	}
	base := name[strings.LastIndexByte(name, '/')+1:]
	if !strings.ContainsAny(base, "*?[") {
		if c.Shell.Exists(name) || strings.HasPrefix(base, ".") || secretName(base) {
			c.does(Read, Word{Text: name})
		}
		return
	}
	for _, secret := range secretNames {
		if strings.Trim(base, "*") != "" && wildcard(base, secret, 64) {
			c.does(Read, Word{Text: name[:len(name)-len(base)] + secret})
		}
	}
}

func fromTop(name, top string) string {
	if top == "" || name == "" {
		return name
	}
	return top + "/" + name
}

// gitFile lists the file of REV:path, which counts from the top unless it
// starts with a dot.
func (c *Call) gitFile(name, top string) {
	if name == "" {
		return
	}
	if !strings.HasPrefix(name, "./") && !strings.HasPrefix(name, "../") {
		name = fromTop(name, top)
	}
	c.does(Read, Word{Text: name})
}

// secretNames stand for the names that policies guard, where a pattern may
// mean any of them.
var secretNames = [...]string{".env", ".env.local", "a.env", "id_rsa", "id_ed25519", "a.pem", "a.key", ".netrc", ".npmrc", ".pypirc"}

// secretName reports whether a name that is not there now looks like one of a
// secret, as a deleted one in the history may.
func secretName(base string) bool {
	return strings.HasPrefix(base, "id_") || strings.HasSuffix(base, ".pem") || strings.HasSuffix(base, ".key") || strings.HasSuffix(base, ".env")
}

// wildcard matches a pattern of git, in which * also stands for a leading dot;
// a bracket is taken for any character.
func wildcard(pattern, s string, steps int) bool {
	for pattern != "" {
		if steps--; steps < 0 {
			return true
		}
		switch pattern[0] {
		case '*':
			for i := 0; i <= len(s); i++ {
				if wildcard(pattern[1:], s[i:], steps/2) {
					return true
				}
			}
			return false
		case '[':
			i := strings.IndexByte(pattern, ']')
			if i < 0 || s == "" {
				return s == "" && i < 0
			}
			pattern, s = pattern[i+1:], s[1:]
		default:
			if s == "" || pattern[0] != '?' && pattern[0] != s[0] {
				return false
			}
			pattern, s = pattern[1:], s[1:]
		}
	}
	return s == ""
}

// gitPatch lists what git apply and git am write, as their patches say.
func (c *Call) gitPatch(top string) {
	if c.on("stat", "numstat", "summary", "check") && !c.has("apply", "reject") {
		return
	}
	unknown := func() {
		c.Shell.File(File{Effect: Write, Word: Word{Text: "."}, Source: c.Source, Why: "the patch decides what is written"})
	}
	strip, dir, ok := c.patchPlace(top)
	if !ok {
		unknown()
	}
	if v, given := c.optionValue("directory"); given && (path.IsAbs(v.Text) || slices.Contains(strings.Split(v.Text, "/"), "..")) {
		c.opaque("its --directory leads out of the repository")
	}
	if len(c.Args) == 0 && !c.has("abort", "continue", "skip", "quit") {
		if !c.Shell.Stdin().Known {
			unknown()
			return
		}
		c.patchTargets(c.Shell.Stdin().Text, dir, strip)
	}
	for _, x := range c.Args {
		paths := c.paths(x)
		if len(paths) == 0 || !c.Shell.Sees() {
			unknown()
			continue
		}
		for _, p := range paths {
			b, err := c.Shell.ReadFile(p)
			switch {
			case err == nil && !c.Shell.Dirty():
				c.patchTargets(string(b), dir, strip)
			case err != nil && !c.Shell.Dirty() && c.Shell.ResolveIn("/", p).Type == Missing:
			default:
				unknown()
			}
		}
	}
}

// patchPlace is how many directories git takes off the names in a patch, and the directory
// that it then puts before them. It reports false where that is not known.
func (c *Call) patchPlace(top string) (strip int, dir string, known bool) {
	strip, dir, known = 1, top, true
	if v, ok := c.optionValue("p"); ok {
		n, err := strconv.Atoi(v.Text)
		strip, known = n, err == nil && n >= 0 && !v.Dynamic
	}
	if v, ok := c.optionValue("directory"); ok {
		known = known && !v.Dynamic
		dir = path.Join(top, v.Text)
	}
	return strip, dir, known
}

// patchTargets lists the files that a patch names as its new or old ones, without the
// directories that are taken off and below dir.
func (c *Call) patchTargets(text, dir string, strip int) {
	for line := range strings.Lines(text) {
		for _, mark := range [...]string{"+++ ", "--- ", "rename to ", "copy to ", "rename from "} {
			name, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), mark)
			if !ok {
				continue
			}
			name, _, _ = strings.Cut(name, "\t")
			if name == "/dev/null" || name == "" {
				continue
			}
			if strings.HasPrefix(name, `"`) {
				c.opaque("a patch with quoted names")
				continue
			}
			off := strip
			if mark[0] != '+' && mark[0] != '-' {
				off-- // these lines have no a/ or b/
			}
			for range off {
				if _, rest, ok := strings.Cut(name, "/"); ok {
					name = rest
				}
			}
			if dir != "" {
				name = dir + "/" + name
			}
			c.does(Write, Word{Text: name})
		}
	}
}
