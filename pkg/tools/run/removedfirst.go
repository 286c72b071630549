package run

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/shellparse"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// removedFirst are the directories that the command removes with all in them before
// anything else of it begins: its first program is rm -r, all else waits for its success,
// and nothing that has to be there for the start lies in them. So it makes no difference
// to the command whether rm finds them full or empty.
func (b *bashCall) removedFirst(env *tool.Env) []string {
	p := b.prepared
	if len(p.takes.Doomed) == 0 || !b.ends() {
		return nil
	}
	words := b.Argv
	if len(words) == 0 {
		var ok bool
		if words, ok = shellparse.LeadingArgv(b.Command); !ok || b.Login || p.shell.kind != "bash" && p.shell.kind != "sh" {
			return nil
		}
	}
	if !p.startsRM(words) {
		return nil
	}
	var dirs []string
	for _, word := range operands(words[1:]) {
		if slices.Contains(strings.Split(word, "/"), "..") {
			return nil
		}
		if !filepath.IsAbs(word) {
			word = filepath.Join(p.dir.Real, word)
		}
		above, err := filepath.EvalSymlinks(filepath.Dir(filepath.Clean(word)))
		if err != nil {
			continue // rm says so
		}
		dir := filepath.Join(above, filepath.Base(word))
		if slices.ContainsFunc(dirs, func(d string) bool { return safefile.Below(d, dir) || safefile.Below(dir, d) }) {
			return nil
		}
		dirs = append(dirs, dir)
	}
	return slices.DeleteFunc(dirs, func(dir string) bool {
		_, known := p.takes.Doomed[dir]
		return !known || p.needed(env, dir)
	})
}

// startsRM reports whether these words start the system's rm to remove whole directories
// without a word.
func (p *preparedCommand) startsRM(words []string) bool {
	if len(words) < 3 || filepath.Base(words[0]) != "rm" {
		return false
	}
	recursive := false
	for _, word := range words[1:] {
		if word == "--" {
			break
		}
		switch {
		case word == "-", len(word) == 0, word[0] != '-', word == "--force":
		case word == "--recursive":
			recursive = true
		case strings.Trim(word, "-rRf") == "" && word[1] != '-':
			recursive = recursive || strings.ContainsAny(word, "rR")
		default:
			return false
		}
	}
	program := slices.IndexFunc(p.needs, func(a policy.Access) bool { return a.Kind == policy.Exec && slices.Equal(a.Argv, words) })
	if !recursive || program < 0 {
		return false
	}
	from := filepath.Dir(p.needs[program].Program)
	return (from == "/bin" || from == "/usr/bin") && !slices.ContainsFunc(p.env.list, func(v string) bool {
		return strings.HasPrefix(v, "LD_") || strings.HasPrefix(v, "BASH_FUNC_rm")
	})
}

// operands are the words that rm takes for names.
func operands(words []string) (names []string) {
	for i, word := range words {
		if word == "--" {
			return append(names, words[i+1:]...)
		}
		if word == "" || word == "-" || word[0] != '-' {
			names = append(names, word)
		}
	}
	return names
}

// needed reports whether something in a directory is needed for the start of the
// command, or kept from it so that rm might not remove it.
func (p *preparedCommand) needed(env *tool.Env, dir string) bool {
	in := func(path string) bool { return safefile.Below(dir, path) }
	if in(p.dir.Real) || in(env.Self()) || in(p.argv[0]) {
		return true
	}
	if p.ahead != nil {
		wall := p.ahead.Wall()
		if slices.ContainsFunc(slices.Concat(wall.Hidden, wall.Fixed, wall.Watched, wall.Pinned), in) {
			return true
		}
	}
	return slices.ContainsFunc(p.needs, func(a policy.Access) bool {
		return a.Path != dir && in(a.Path) && env.Policy.Decide(&a).Verdict != policy.Allow
	})
}
