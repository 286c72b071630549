package policy

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/programs"
	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// suggestProgram returns rules for a program: its very words, its subcommand, the
// program whatever its words.
func (p *Policy) suggestProgram(a *Access) (list []candidate) {
	if len(a.Argv) == 0 || slices.Contains(a.Dynamic, true) {
		return nil
	}
	var f facts
	p.programFacts(a, &f)
	argv, keep := slices.Clone(a.Argv), f.trusted && a.Danger == "" && !isRunner(a.Argv)
	if !f.trusted && f.slash && f.path != "" && safefile.Below(p.root, f.path) {
		argv[0] = "." + strings.TrimPrefix(f.path, p.root) // as rules name it, from wherever it is called
	}
	role := programs.NoRole
	for _, name := range [...]string{a.Argv[0], a.Program} {
		if name != "" && roleOf(name) != programs.NoRole {
			role, keep = roleOf(name), false
		}
	}
	list = []candidate{{exactly, "bash(" + quoteWords(argv) + ")", keep}}
	if a.Danger != "" {
		if n := loses(a); n > 0 {
			list = append(list, candidate{subcommand, "bash(" + quoteWords(argv[:n]) + " *)", false})
		}
		return list
	}
	wider := widerWords(argv, role)
	if strings.HasPrefix(argv[0], "./") && role == programs.NoRole {
		wider = []int{1} // a program of one's own
	}
	for _, n := range wider {
		width := subcommand
		if n == 1 {
			width = program
		}
		list = append(list, candidate{width, "bash(" + quoteWords(argv[:n]) + " *)", keep && record(argv[0]).Arity > 0})
	}
	return list
}

// loses returns how many words, the program's and its options, say of a command that
// files are lost by it; what it does to which file is asked about besides.
func loses(a *Access) int {
	if !a.Loses || record(a.Argv[0]).Arity > 1 {
		return 0
	}
	n := 1
	for n < len(a.Argv) && isOption(a.Argv[n]) && a.Argv[n] != "--" {
		n++
	}
	return n
}

// widerWords returns how many words of a command its wider rules keep, narrowest
// first.
func widerWords(argv []string, role programs.Role) []int {
	plain := func(i int) bool {
		return i < len(argv) && plainWord(strings.ReplaceAll(argv[i], "@", ""))
	}
	n, known := commandWords(argv)
	switch {
	case role == programs.WrapperRole && programName(argv[0]) != "npx":
		return nil
	case role == programs.InterpreterRole && len(argv) > 1 && argv[1] == "-m" && plain(2), isRunner(argv) && plain(2) && roleOf(argv[2]) == programs.NoRole && !runsImages(argv):
		return []int{3}
	case isRunner(argv):
		return nil
	case role == programs.WrapperRole && len(argv) > 1 && roleOf(argv[1]) == programs.InterpreterRole && plain(2):
		return []int{3}
	case role != programs.NoRole:
		if plain(1) && roleOf(argv[1]) == programs.NoRole {
			return []int{2} // a script, whatever it is given
		}
		return nil
	case known && n <= len(argv) && !slices.ContainsFunc(argv[1:n], isOption):
		return []int{n}
	case known:
		return nil
	case plain(1) && !strings.ContainsAny(argv[1], "./:"):
		return []int{2, 1}
	}
	return []int{1}
}

// runsImages reports whether the words after a subcommand say which of the machine's
// files and devices it is given.
func runsImages(argv []string) bool {
	return slices.Contains([]string{"docker", "podman", "kubectl"}, programName(argv[0]))
}

// suggestFile returns rules for a file: itself, its directory, and for reading the
// repository that it lies in.
func (p *Policy) suggestFile(a *Access, tool string) (list []candidate) {
	rule := func(text string) string { return tool + "(" + text + ")" }
	whole := a.Tree || a.File == Dir && a.Kind == Read
	list = []candidate{{exactly, rule(p.shortPath(a)), true}}
	at := slashed(a.Path)
	if whole {
		list[0].width, list[0].keep = directory, !p.wide(at)
	}
	if at == "" || a.Op == Delete && a.Tree {
		return list
	}
	add := func(width, dir string) {
		if p.wide(dir) {
			return
		}
		text := rule(p.shortPath(&Access{Kind: a.Kind, Path: dir, Tree: true}))
		if !slices.ContainsFunc(list, func(c candidate) bool { return c.text == text }) {
			list = append(list, candidate{width, text, true})
		}
	}
	if !whole {
		add(directory, path.Dir(at))
	}
	if a.Kind == Read && !safefile.Below(p.root, at) {
		add(project, repositoryAbove(at))
	}
	return list
}

// wide reports whether a directory is nothing that a yes about what is in it may
// speak of: the root, a home, what lies right below the top, or what holds one
// of them.
func (p *Policy) wide(dir string) bool {
	holdsOurs := safefile.Below(dir, p.root) || p.home != "" && safefile.Below(dir, p.home)
	return dir == "" || strings.Count(dir, "/") < 2 || holdsOurs || slices.Contains(p.temp, dir)
}

// repositoryAbove is the work tree that a path lies in; "" when there is none.
func repositoryAbove(at string) string {
	for dir := at; strings.Count(dir, "/") >= 2; dir = path.Dir(dir) {
		if _, err := os.Lstat(filepath.FromSlash(path.Join(dir, ".git"))); err == nil {
			return dir
		}
	}
	return ""
}
