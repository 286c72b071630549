package policy

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/programs"
)

// otherSyntax says what is wrong with a rule that is written as in a shell, or as in
// another agent's settings, and what to write instead; "" where nothing is. Such a rule is
// no error, for a program may get any word; but none gets these by accident.
func (m *matcher) otherSyntax(text string) string {
	if m.tool != commandTool || len(m.words) == 0 || m.assignment() {
		return ""
	}
	_, pattern, _, _ := splitRule(text)
	raw := rawWords(pattern)
	if what := colonStar(raw); what != "" {
		return what
	}
	line := shellLine{program: programName(m.words[0].text)}
	for i := 0; i < len(raw); i++ {
		i += line.add(raw[i], raw[i+1:])
	}
	if line.operator == "" {
		return ""
	}
	line.end()
	instead, rules := "", append(line.rules, line.files...)
	switch len(rules) {
	case 0:
	case 1:
		instead = "; write " + rules[0]
	default:
		instead = "; write a rule for each part that is meant: " + strings.Join(rules, ", ")
	}
	return "a rule is about one command and its words, and " + line.operator + " is only a word there" + instead
}

// rawWords cuts a pattern into its words as they are written, with their quotes.
func rawWords(pattern string) (raw []string) {
	for i := 0; i < len(pattern); {
		if pattern[i] == ' ' || pattern[i] == '\t' {
			i++
			continue
		}
		_, next, err := parseWord(pattern, i)
		if err != nil {
			return nil
		}
		raw, i = append(raw, pattern[i:next]), next
	}
	return raw
}

// colonStar finds npm:* and git push:*, in which other agents have :* mean any further
// words. Further words, such as npm run test:*, may be names that begin so.
func colonStar(raw []string) string {
	n := len(raw)
	if n == 0 || n > 2 {
		return ""
	}
	name, found := strings.CutSuffix(raw[n-1], ":*")
	if !found || len(name) < 2 || strings.ContainsAny(name, `:*/\'"`) || n == 2 && !plainSubcommands(raw[0]) {
		return ""
	}
	what := "no program"
	if n == 2 {
		what = "no subcommand of " + raw[0]
	}
	return what + " has a name with a colon; a lone * stands for any further words: write bash(" + strings.Join(append(slices.Clone(raw[:n-1]), name), " ") + " *)"
}

// plainSubcommands reports whether no subcommand of a program has a colon in its name, as
// the goals, tasks and scripts of others do.
func plainSubcommands(program string) bool {
	return programs.Has("npm git go cargo docker podman kubectl helm terraform gh glab pip pip3 uv brew apt apt-get systemctl", program)
}

// A shellLine is a pattern read as a shell would read it.
type shellLine struct {
	program  string
	operator string   // the first one
	words    []string // of the command that is being read
	rules    []string // one for each command
	files    []string // one for each file
}

// add reads a word, and says how many of the next ones belong to it.
func (l *shellLine) add(word string, next []string) int {
	if l.separates(word) {
		l.found(word)
		l.end()
		return 0
	}
	if command, ended := strings.CutSuffix(word, ";"); ended && command != "" && !strings.ContainsAny(word, `\'"`) {
		l.found(";")
		l.words = append(l.words, command)
		l.end()
		return 0
	}
	operator, target := redirection(word)
	if operator == "" || l.compares() {
		l.words = append(l.words, word)
		return 0
	}
	l.found(operator)
	used := 0
	if target == "" && len(next) > 0 {
		target, used = next[0], 1
	}
	if tool := redirects(operator); tool != "" && target != "" && target[0] != '&' && target != "/dev/null" {
		l.files = append(l.files, tool+"("+target+")")
	}
	return used
}

// separates reports whether a word parts commands. What find and tmux get as ; is their own.
func (l *shellLine) separates(word string) bool {
	switch word {
	case ";":
		return !programs.Has("find fd fdfind tmux", l.program)
	case "|", "&":
		return !l.compares()
	case "||", "&&", "|&":
		return true
	}
	return false
}

// compares reports whether the program takes operators for its words.
func (l *shellLine) compares() bool { return programs.Has("expr test [ [[", l.program) }

func (l *shellLine) found(operator string) {
	if l.operator == "" {
		l.operator = operator
	}
}

// end makes a rule of the command that was read.
func (l *shellLine) end() {
	text := commandTool + "(" + strings.Join(l.words, " ") + ")"
	if len(l.words) > 0 && !slices.Contains(l.rules, text) {
		l.rules = append(l.rules, text)
	}
	l.words = nil
}

// redirection cuts a word such as 2>&1 or >file; "" where it is none.
func redirection(word string) (operator, target string) {
	start := len(word) - len(strings.TrimLeft(word, "0123456789"))
	if start == 0 && strings.HasPrefix(word, "&>") {
		start = 1
	}
	rest := strings.TrimLeft(word[start:], "<>|")
	operator = word[:len(word)-len(rest)]
	switch strings.TrimLeft(operator, "0123456789&") {
	case ">", ">>", ">|", "<", "<<", "<<<", "<>":
		if strings.HasSuffix(rest, ">") { // <name>, where a name is to be put
			return "", ""
		}
		return operator, rest
	}
	return "", ""
}

// redirects is the tool of the rules about the file of a redirection; "" where it has none.
func redirects(operator string) string {
	switch {
	case strings.HasSuffix(operator, "<<"), strings.HasSuffix(operator, "<<<"):
		return ""
	case strings.Contains(operator, ">"):
		return "edit"
	}
	return "read"
}

// otherRoot says that a pattern begins at the machine's root where the workspace's is
// meant; "" where it may be meant so. The policies of a machine and a user are for many
// roots, so that these say it only where the name is in this one.
func (l *linter) otherRoot(r *rule) string {
	_, pattern, _, _ := splitRule(r.text)
	if r.path == nil || pattern[0] != '/' || !strings.HasPrefix(l.p.root, "/") {
		return ""
	}
	name, _, _ := strings.Cut(strings.TrimLeft(pattern, "/"), "/")
	if name == "" || strings.ContainsAny(name, `*?[{\`) || !missing("/"+name) {
		return ""
	}
	if r.layer < Project && missing(l.p.root+"/"+name) {
		return ""
	}
	return "/ is the machine's root, where there is no " + name + ": " + r.tool + "(" + strings.TrimLeft(pattern, "/") + ") is what lies in the workspace"
}

func missing(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}
