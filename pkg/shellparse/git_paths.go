package shellparse

import (
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/programs"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// gitShows are the subcommands that print what files hold, in the tree, the
// index or a commit: naming a file to them is reading it.
const gitShows = " annotate archive blame cat-file diff diff-files diff-index diff-tree format-patch grep log show stash whatchanged "

// gitReads lists the files whose content a subcommand is asked for by name.
func (w *walker) gitReads(c *call, g *gitCommand, args []word, top string) {
	if !strings.Contains(gitShows, " "+g.name+" ") {
		return
	}
	dashes := slices.IndexFunc(args, func(x word) bool { return x.text == "--" && !x.dyn })
	for i, x := range args {
		switch {
		case i == 0 || x.dyn:
		case dashes >= 0 && i > dashes:
			w.gitPathspec(c, x, top)
		case strings.HasPrefix(x.text, "-L"), i > 1 && args[i-1].text == "-L":
			if j := strings.LastIndexByte(x.text, ':'); j >= 0 {
				w.gitPathspec(c, word{text: x.text[j+1:]}, top)
			}
		case strings.HasPrefix(x.text, "-"):
		case strings.HasPrefix(x.text, ":(") || strings.HasPrefix(x.text, ":/") || strings.HasPrefix(x.text, ":!") || strings.HasPrefix(x.text, ":^"):
			w.gitPathspec(c, x, top)
		case strings.Contains(x.text, ":"):
			_, name, _ := strings.Cut(x.text, ":")
			if len(name) > 1 && name[1] == ':' && name[0] >= '0' && name[0] <= '3' { // :N:path
				name = name[2:]
			}
			w.gitFile(c, name, top)
		default:
			w.gitPathspec(c, x, top)
		}
	}
	if c.given("batch", "batch-command") {
		c.opaque(w, "what to print stands in its input")
	}
}

// gitPathspec lists the file of a pathspec: magic in front is taken off, and a
// pattern counts when it could mean a secret (gitglossary(7), "pathspec").
func (w *walker) gitPathspec(c *call, x word, top string) {
	name := x.text
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
		if w.exists(name) || strings.HasPrefix(base, ".") || secretName(base) {
			w.role(c, programs.Read, word{text: name})
		}
		return
	}
	for _, secret := range secretNames {
		if strings.Trim(base, "*") != "" && wildcard(base, secret, 64) {
			w.role(c, programs.Read, word{text: name[:len(name)-len(base)] + secret})
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
func (w *walker) gitFile(c *call, name, top string) {
	if name == "" {
		return
	}
	if !strings.HasPrefix(name, "./") && !strings.HasPrefix(name, "../") {
		name = fromTop(name, top)
	}
	w.role(c, programs.Read, word{text: name})
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
func (w *walker) gitPatch(c *call, top string) {
	if c.given("stat", "numstat", "summary", "check") {
		return
	}
	unknown := func() {
		w.file(fileAccess{kind: policy.Write, op: policy.Change, parent: c.index + 1, src: c.src, why: "the patch decides what is written"}, word{text: "."})
	}
	if len(c.args) == 0 && !c.given("abort", "continue", "skip", "quit") {
		if !w.stdin.known {
			unknown()
			return
		}
		w.patchTargets(c, w.stdin.text, top)
	}
	for _, x := range c.args {
		paths := w.paths(x)
		if len(paths) == 0 || w.world.ReadFile == nil {
			unknown()
			continue
		}
		for _, p := range paths {
			b, err := w.world.ReadFile(p)
			switch {
			case err == nil && !w.dirty:
				w.patchTargets(c, string(b), top)
			case err != nil && !w.dirty && w.resolveIn("/", p).access.File == policy.Missing:
			default:
				unknown()
			}
		}
	}
}

// patchTargets lists the files that a patch names as its new or old ones.
func (w *walker) patchTargets(c *call, text, top string) {
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
				c.opaque(w, "a patch with quoted names")
				continue
			}
			if mark[0] == '+' || mark[0] == '-' {
				if _, rest, ok := strings.Cut(name, "/"); ok {
					name = rest
				}
			}
			if top != "" {
				name = top + "/" + name
			}
			w.role(c, programs.Write, word{text: name})
		}
	}
}
