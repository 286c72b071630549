package policy

import (
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/programs"
)

// canonical gives a call in its usual words, for rules to compare; nil where
// it has them already.
func canonical(argv []string, dynamic []bool) ([]string, []bool) {
	if len(argv) == 0 || len(dynamic) > 0 && dynamic[0] {
		return nil, nil
	}
	name := programName(argv[0])
	first, rest, dyn := programSynonym(name, argv[1:], cut(dynamic, 1))
	words, dyn, changed := wordSynonyms(first[0], append(slices.Clone(first[1:]), rest...), pad(dyn, len(first)-1, dynamic != nil))
	if !changed && len(first) == 1 && first[0] == name && len(rest) == len(argv)-1 {
		return nil, nil
	}
	return slices.Concat(first[:1], words), pad(dyn, 1, dynamic != nil)
}

// pad puts n known words in front.
func pad(dynamic []bool, n int, some bool) []bool {
	if !some {
		return nil
	}
	return append(make([]bool, n), dynamic...)
}

// programSynonym gives the usual name of a program, perhaps with a subcommand,
// and the words after it.
func programSynonym(name string, argv []string, dynamic []bool) (first, rest []string, dyn []bool) {
	switch base := strings.TrimRight(name, ".0123456789"); {
	case strings.HasPrefix(name, "git-") && len(name) > len("git-"): // git's own names for its subcommands
		return []string{"git", name[len("git-"):]}, argv, dynamic
	case name == "python" || base == "python" && strings.HasPrefix(name, "python3"):
		if len(argv) > 1 && argv[0] == "-m" && !isOption(argv[1]) && !anyTrue(dynamic, 2) {
			return programSynonym(programName(argv[1]), argv[2:], cut(dynamic, 2))
		}
		return []string{"python3"}, argv, dynamic
	case base == "pip":
		return []string{"pip"}, argv, dynamic
	case name == "cargo" && len(argv) > 0 && strings.HasPrefix(argv[0], "+") && !anyTrue(dynamic, 1):
		return []string{"cargo"}, argv[1:], cut(dynamic, 1)
	case name == "kill":
		if n, signal := killSignal(argv); n > 0 && !anyTrue(dynamic, n) {
			return []string{"kill", signal}, argv[n:], cut(dynamic, n)
		}
	}
	if usual := record(name).Usual; usual != "" {
		return strings.Fields(usual), argv, dynamic
	}
	return []string{name}, argv, dynamic
}

func anyTrue(dynamic []bool, n int) bool {
	return slices.Contains(dynamic[:min(n, len(dynamic))], true)
}

// signalNumber is how people send a signal by number; "" for the others.
func signalNumber(name string) string {
	switch name {
	case "HUP":
		return "1"
	case "INT":
		return "2"
	case "QUIT":
		return "3"
	case "KILL":
		return "9"
	case "TERM":
		return "15"
	case "STOP":
		return "19"
	}
	return ""
}

// killSignal reads the signal of kill: how many words it takes, and the option
// that says it as a number where that is known.
func killSignal(argv []string) (n int, option string) {
	if len(argv) == 0 || !isOption(argv[0]) {
		return 0, ""
	}
	s := argv[0]
	switch {
	case (s == "-s" || s == "-n" || s == "--signal") && len(argv) > 1:
		n, s = 2, argv[1]
	case strings.HasPrefix(s, "--signal="):
		n, s = 1, s[len("--signal="):]
	case strings.HasPrefix(s, "-s") && len(s) > 2, strings.HasPrefix(s, "-n") && len(s) > 2:
		n, s = 1, s[2:]
	default:
		n, s = 1, s[1:]
	}
	s = strings.TrimPrefix(strings.ToUpper(s), "SIG")
	if number := signalNumber(s); number != "" {
		s = number
	}
	return n, "-" + s
}

// wordSynonyms replaces the subcommand by its usual words.
func wordSynonyms(program string, argv []string, dynamic []bool) (words []string, dyn []bool, changed bool) {
	r := record(program)
	if len(r.Synonyms) == 0 {
		return argv, dynamic, false
	}
	i := afterOptions(argv, r.Valued)
	if i >= len(argv) || anyTrue(cut(dynamic, i), 1) {
		return argv, dynamic, false
	}
	replace := func(n int, means string) ([]string, []bool, bool) {
		with := strings.Fields(means)
		if dynamic != nil {
			dynamic = slices.Concat(dynamic[:min(i, len(dynamic))], make([]bool, len(with)), cut(dynamic, i+n))
		}
		return slices.Concat(argv[:i], with, argv[i+n:]), dynamic, true
	}
	second := ""
	if i+1 < len(argv) && !anyTrue(cut(dynamic, i+1), 1) {
		second = argv[i+1]
	}
	for _, s := range r.Synonyms {
		for w := range strings.SplitSeq(s.Words, "|") {
			switch {
			case w == argv[i] && (s.Before == "" || programs.Has(s.Before, second)):
				return replace(1, s.Means)
			case w == argv[i]+" "+second:
				return replace(2, s.Means)
			}
		}
	}
	if full := inFull(r.Shortened, argv[i]); full != "" {
		return replace(1, full)
	}
	return argv, dynamic, false
}

// inFull gives the one command that a word is the beginning of.
func inFull(commands, s string) (full string) {
	if len(s) < 3 || programs.Has(commands, s) {
		return ""
	}
	for name := range strings.FieldsSeq(commands) {
		if strings.HasPrefix(name, s) {
			if full != "" {
				return ""
			}
			full = name
		}
	}
	return full
}

// usual gives a pattern with its literal beginning in the usual words; nil
// where it has them already.
func (m *matcher) usual() *matcher {
	var argv []string
	for i := range m.words {
		if m.words[i].kind != literalWord {
			break
		}
		argv = append(argv, m.words[i].text)
	}
	words, _ := canonical(argv, nil)
	if words == nil || m.prog != "" {
		return nil
	}
	next := *m
	next.words = make([]word, 0, len(words)+len(m.words)-len(argv))
	for _, s := range words {
		next.words = append(next.words, word{text: s})
	}
	next.words = append(next.words, m.words[len(argv):]...)
	next.options = optionWords(next.words)
	next.valued = record(next.words[0].text).Valued
	return &next
}
