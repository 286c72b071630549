package policy

import (
	"slices"
	"strings"
)

// A synonym is another way to say the beginning of a command. Deny and ask
// rules hold for both; allow rules mean their own words.
type synonym struct {
	program string // after its own name was replaced; see programSynonym
	words   string // its first words that are no options: "container run"; | separates alternatives
	means   string // what they are replaced by
}

// synonyms by the programs' manuals: npm-install(1) "Aliases", cargo's built-in
// aliases, docker's management commands, kubectl's short forms.
var synonyms = [...]synonym{
	{"cargo", "b", "build"},
	{"cargo", "c", "check"},
	{"cargo", "d", "doc"},
	{"cargo", "r", "run"},
	{"cargo", "rm", "remove"},
	{"cargo", "t", "test"},
	{"docker", "builder prune", "buildx prune"},
	{"docker", "container ls|container list|container ps", "ps"},
	{"docker", "container remove|container rm", "rm"},
	{"docker", "image build|buildx build|builder build", "build"},
	{"docker", "image ls|image list", "images"},
	{"docker", "image remove|image rm", "rmi"},
	{"docker", "volume remove", "volume rm"},
	{"docker", "network remove", "network rm"},
	{"helm", "del|delete|un", "uninstall"},
	{"helm", "upgrade-install", "upgrade"},
	{"npm", "add|i|in|ins|inst|insta|instal|isnt|isnta|isntal|isntall", "install"},
	{"npm", "c", "config"},
	{"npm", "clean-install|ic|install-clean|isntall-clean", "ci"},
	{"npm", "it", "install-test"},
	{"npm", "r|remove|rm|un|unlink", "uninstall"},
	{"npm", "rum|run-script|urn", "run"},
	{"npm", "t|tst", "test"},
	{"npm", "u|udpate|up|upgrade", "update"},
	{"npm", "x", "exec"},
	{"pnpm", "i", "install"},
	{"pnpm", "remove|rm|un", "uninstall"},
	{"pnpm", "run-script", "run"},
	{"pnpm", "t|tst", "test"},
	{"terraform", "apply -destroy", "destroy"},
	{"yarn", "run", ""},
}

// containerWords are the commands of docker that "docker container" has too.
const containerWords = " attach commit cp create diff exec export inspect kill logs pause port rename restart rm run start stats stop top unpause update wait "

// imageWords are those that "docker image" has too.
const imageWords = " history import load pull push save tag "

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
	case name == "docker-compose":
		return []string{"docker", "compose"}, argv, dynamic
	case name == "python" || base == "python" && strings.HasPrefix(name, "python3"):
		if len(argv) > 1 && argv[0] == "-m" && !isOption(argv[1]) && !anyTrue(dynamic, 2) {
			return programSynonym(programName(argv[1]), argv[2:], cut(dynamic, 2))
		}
		return []string{"python3"}, argv, dynamic
	case base == "pip":
		return []string{"pip"}, argv, dynamic
	case name == "nodejs":
		return []string{"node"}, argv, dynamic
	case name == "gmake":
		return []string{"make"}, argv, dynamic
	case name == "gtar" || name == "gsed" || name == "gawk":
		return []string{name[1:]}, argv, dynamic
	case name == "apt":
		return []string{"apt-get"}, argv, dynamic
	case name == "cargo" && len(argv) > 0 && strings.HasPrefix(argv[0], "+") && !anyTrue(dynamic, 1):
		return []string{"cargo"}, argv[1:], cut(dynamic, 1)
	case name == "kill":
		if n, signal := killSignal(argv); n > 0 && !anyTrue(dynamic, n) {
			return []string{"kill", signal}, argv[n:], cut(dynamic, n)
		}
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
	if !hasSynonyms(program) {
		return argv, dynamic, false
	}
	i := afterOptions(argv, valuedOptions(program))
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
	if program == "docker" && second != "" && (argv[i] == "container" && strings.Contains(containerWords, " "+second+" ") || argv[i] == "image" && strings.Contains(imageWords, " "+second+" ")) {
		return replace(2, second)
	}
	for j := range synonyms {
		s := &synonyms[j]
		if s.program != program {
			continue
		}
		for w := range strings.SplitSeq(s.words, "|") {
			if w == argv[i] {
				return replace(1, s.means)
			}
			if w == argv[i]+" "+second {
				return replace(2, s.means)
			}
		}
	}
	if full := npmCommand(program, argv[i]); full != "" {
		return replace(1, full)
	}
	return argv, dynamic, false
}

// npmCommands are those that npm also takes cut short, where no other begins
// so.
const npmCommands = " access adduser audit bugs cache ci completion config dedupe deprecate diff dist-tag docs doctor edit exec explain explore find-dupes fund get help hook init install install-ci-test install-test link ll login logout ls org outdated owner pack ping pkg prefix profile prune publish query rebuild repo restart root run sbom search set shrinkwrap star stars start stop team test token uninstall unpublish unstar update version view whoami "

// npmCommand gives the one command that a word is the beginning of.
func npmCommand(program, s string) (full string) {
	if program != "npm" || len(s) < 3 || strings.Contains(npmCommands, " "+s+" ") {
		return ""
	}
	for name := range strings.FieldsSeq(npmCommands) {
		if strings.HasPrefix(name, s) {
			if full != "" {
				return ""
			}
			full = name
		}
	}
	return full
}

func hasSynonyms(program string) bool {
	for i := range synonyms {
		if synonyms[i].program == program {
			return true
		}
	}
	return false
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
	return &next
}
