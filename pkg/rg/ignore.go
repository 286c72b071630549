package rg

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// The files of ignore rules, the strongest first.
const (
	fileRgIgnore = iota
	fileIgnore
	fileGitIgnore
	fileExclude // .git/info/exclude
	ignoreFiles
)

// A level is what one directory adds to the rules of those above it.
type level struct {
	parent *level
	sets   [ignoreFiles]*ruleSet
	repo   bool     // the directory is the top of a repository
	inRepo bool     // … or below one
	global *ruleSet // the user's own rules, where inRepo
}

// match decides about an entry. A stronger file wins over a weaker one, within
// the same kind the nearest directory wins, within a file the last rule.
func (l *level) match(dir string, name []byte, isDir bool) outcome {
	if l == nil {
		return unmatched
	}
	var out [ignoreFiles]outcome
	var path pathBuf
	git := l.inRepo
	for at := l; at != nil; at = at.parent {
		for kind, set := range at.sets {
			if set == nil || out[kind] != unmatched || kind >= fileGitIgnore && !git {
				continue
			}
			out[kind] = set.match(dir, name, isDir, &path)
			if kind == fileRgIgnore && out[kind] != unmatched {
				return out[kind]
			}
		}
		git = git && !at.repo
	}
	for _, o := range out {
		if o != unmatched {
			return o
		}
	}
	if l.global != nil {
		return l.global.match(dir, name, isDir, &path)
	}
	return unmatched
}

// ignoreKind gives the kind of ignore file with this name; -1 for others.
func ignoreKind(name []byte) int {
	switch string(name) {
	case ".rgignore":
		return fileRgIgnore
	case ".ignore":
		return fileIgnore
	case ".gitignore":
		return fileGitIgnore
	}
	return -1
}

// isRepoMark says whether a directory that holds name is the top of a
// repository.
func isRepoMark(name []byte) bool {
	return string(name) == ".git" || string(name) == ".jj"
}

// maxIgnoreFile bounds how much of an ignore file is read.
const maxIgnoreFile = 4 << 20

// readRules reads an ignore file beside d.
func (d dirHandle) readRules(buf *nameBuf, name string) *ruleSet {
	f, err := d.openFile(buf, name, true)
	if err != nil {
		return nil
	}
	defer f.close()
	if st, err := f.stat(); err != nil || st.kind != kindFile {
		return nil
	}
	text := make([]byte, 0, 4096)
	for len(text) < maxIgnoreFile {
		if len(text) == cap(text) {
			text = append(text, 0)[:len(text)]
		}
		n, err := f.read(text[len(text):cap(text)])
		if n == 0 || err != nil {
			break
		}
		text = text[:len(text)+n]
	}
	return parseRules(text)
}

// readRulesFile reads an ignore file by its path.
func readRulesFile(path string) *ruleSet {
	text, err := safefile.ReadRegular(path, maxIgnoreFile)
	if err != nil {
		return nil
	}
	return parseRules(text)
}

// excludeRules reads info/exclude of the repository whose top is dir.
func excludeRules(dir string) *ruleSet {
	git := filepath.Join(dir, ".git")
	st, err := os.Stat(git)
	if err != nil {
		return nil
	}
	if !st.IsDir() { // a work tree or submodule: the file names the directory
		text, err := safefile.ReadRegular(git, maxIgnoreFile)
		if err != nil {
			return nil
		}
		to, ok := safefile.GitDir(text)
		if !ok {
			return nil
		}
		git = resolveFrom(dir, to)
		if common, err := safefile.ReadRegular(filepath.Join(git, "commondir"), maxIgnoreFile); err == nil {
			git = resolveFrom(git, strings.TrimSpace(string(common)))
		}
	}
	return readRulesFile(filepath.Join(git, "info", "exclude"))
}

func resolveFrom(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// parentLevels reads the rules of the directories above root, an absolute
// path, that reach into it.
func parentLevels(root, globalIgnore string) *level {
	var dirs []string
	for dir := filepath.Dir(root); ; dir = filepath.Dir(dir) {
		dirs = append(dirs, dir)
		if dir == filepath.Dir(dir) {
			break
		}
	}
	var l *level
	for _, dir := range slices.Backward(dirs) {
		l = parentLevel(l, dir, root, globalIgnore)
	}
	return l
}

func parentLevel(up *level, dir, root, globalIgnore string) *level {
	below, err := filepath.Rel(dir, root)
	if err != nil {
		return up
	}
	return dirLevel(up, dir, "", filepath.ToSlash(below)+"/", globalIgnore)
}

// dirLevel reads the rules of one directory by its path; the level is up where
// it has none.
func dirLevel(up *level, dir, base, prefix, globalIgnore string) *level {
	l := newLevel(up)
	any := false
	for _, name := range [...]string{".rgignore", ".ignore", ".gitignore"} {
		if set := readRulesFile(filepath.Join(dir, name)); set != nil {
			set.place(base, prefix)
			l.sets[ignoreKind([]byte(name))] = set
			any = true
		}
	}
	for _, mark := range [...]string{".git", ".jj"} {
		if _, err := os.Lstat(filepath.Join(dir, mark)); err == nil {
			l.enterRepo(dir, base, prefix, globalIgnore)
			any = true
			break
		}
	}
	if !any {
		return up
	}
	return l
}

func newLevel(up *level) *level {
	l := &level{parent: up}
	if up != nil {
		l.inRepo, l.global = up.inRepo, up.global
	}
	return l
}

// enterRepo makes l the top of a repository.
func (l *level) enterRepo(dir, base, prefix, globalIgnore string) {
	l.repo, l.inRepo = true, true
	if set := excludeRules(dir); set != nil {
		set.place(base, prefix)
		l.sets[fileExclude] = set
	}
	if globalIgnore == "" {
		return
	}
	if set := readRulesFile(globalIgnore); set != nil {
		set.place(base, prefix)
		l.global = set
	}
}

// GlobalIgnoreFile gives the path of the user's own ignore rules for git: what
// core.excludesFile names in the user's configuration, else git's default. It
// is "" when there is no such file. Lookup gives an environment variable.
func GlobalIgnoreFile(lookup func(key string) string) string {
	home := lookup("HOME")
	xdg := lookup("XDG_CONFIG_HOME")
	if xdg == "" && home != "" {
		xdg = filepath.Join(home, ".config")
	}
	path := ""
	if xdg != "" {
		path = filepath.Join(xdg, "git", "ignore")
		path = configuredExcludes(filepath.Join(xdg, "git", "config"), home, path)
	}
	if home != "" {
		path = configuredExcludes(filepath.Join(home, ".gitconfig"), home, path)
	}
	if st, err := os.Stat(path); path == "" || err != nil || !st.Mode().IsRegular() {
		return ""
	}
	return path
}

// configuredExcludes reads core.excludesFile from a git configuration.
func configuredExcludes(config, home, otherwise string) string {
	text, err := safefile.ReadRegular(config, maxIgnoreFile)
	if err != nil {
		return otherwise
	}
	inCore := false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			inCore = strings.EqualFold(line, "[core]")
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !inCore || !ok || !strings.EqualFold(strings.TrimSpace(key), "excludesfile") {
			continue
		}
		otherwise = strings.Trim(strings.TrimSpace(value), `"`)
		if rest, ok := strings.CutPrefix(otherwise, "~/"); ok {
			otherwise = filepath.Join(home, rest)
		}
	}
	return otherwise
}
