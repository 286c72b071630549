// Package programs is the one home for what is known about programs: what they
// read, write, run and reach with given words, which calls of them destroy or
// publish something, how many words name an operation, and what their exit
// statuses mean.
//
// A program is one [Record] in one of the tables (readers.go, writers.go,
// runners.go, wrappers.go, others.go). docs/design.md shows how to add one.
package programs

import (
	"cmp"
	"slices"
	"strings"
)

//go:generate go test -run ^(TestIndex|TestCases)$ . -update

// A Class is what is known of a program with these very arguments.
type Class string

// The classes of a call.
const (
	Unknown  Class = ""         // nothing is known of it
	ReadOnly Class = "readonly" // it changes nothing, whatever files it is given
	Known    Class = "known"    // all it touches stands in accesses of its own
)

// A Record is what is known of a program. One that has no Class, Options,
// Operands, Style and Read says nothing about words: the program may do
// anything with them.
type Record struct {
	Names string // the names it goes by, separated by blanks; a * at the end stands for any rest

	// What a call does, by its words.
	Class    Class  // when no option says otherwise
	Style    Style  // how it reads its options
	Operands string // what its operands are; see [Record.Operands] in docs/design.md
	Options  string // what its options are; see [Options]
	Read     Reader // reads the words, where Operands and Options are not enough
	Literal  bool   // it takes even --help for an operand
	Lead     int    // of a wrapper: how many operands stand before the program it starts
	Starts   string // subcommands whose operands are a program
	Lists    string // subcommands and options with which it only lists
	Chosen   string // files of a project that say what really runs, also for --version; with :TEXT, where they hold it
	Manual   string // where the facts about a wrapper stand
	Bare     Bare   // what a wrapper starts that is given no program

	// What else is in its words.
	Code       string // of an interpreter: the options whose value is code
	CodeValued string // of an interpreter: the other options whose value is the next word
	Checks     string // of an interpreter: options that have it look at the syntax of a file alone
	Version    string // of a shell or an interpreter: words of which each, alone, has it say what it is and end
	Escapes    string // what begins a line of its input that a shell runs; | separates several
	SQL        bool   // it sends statements to a database
	Fetches    bool   // it prints what it gets from the network

	// Ways to call it.
	Danger  string    // why every call of it is dangerous: it destroys, publishes, or gives rights away
	Dangers []Way     // the calls that are dangerous
	Opaque  []Way     // the calls that run something else, or change what later commands do
	Implies []Implied // options that say others too

	// What rules about it need.
	Role      Role
	Arity     int       // how many words name an operation: 2 for git push; 0 when that is not known
	Deeper    string    // subcommands of which one more word does: git remote add
	Runs      string    // subcommands that run whatever they are given: no lasting rule is suggested for them
	Valued    string    // options before the subcommand whose value is the next word
	Usual     string    // the name that rules know it by, perhaps with a subcommand
	Synonyms  []Synonym // other ways to say a subcommand
	Shortened string    // subcommands that may be cut short where no other begins so

	Exits []Exit // statuses that are an answer
}

// A Bare is the shell that a wrapper starts where it is given no program. It reads its commands from its input.
type Bare string

// What a wrapper starts without a program.
const (
	BareSh    Bare = "/bin/sh"
	BareShell Bare = "SHELL" // what this variable says, or /bin/sh
)

// A Way is a way to call a program: all of its parts must hold, an empty one
// always does. Alternatives are separated by blanks.
type Way struct {
	Sub     string // the first operand; a * at the end stands for any rest
	Option  string // an option, without dashes: a letter stands in clusters too
	Without string // of git: none of these options
	Arg     string // one of the words; a * at the end stands for any rest, ??? for octal digits
	Why     string // what the call does
}

// Implied says what else a call has said with an option, so that rules about
// the one also see the other.
type Implied struct {
	Sub   string // with these subcommands only; "" for any
	Given string // one of these names, and
	With  string // this one too; "" for none
	Means string // options, each by its names joined by commas
}

// A Synonym is another way to say a subcommand. Deny and ask rules hold for
// both; allow rules mean their own words.
type Synonym struct {
	Words  string // one word or two; | separates alternatives
	Means  string // what they are replaced by
	Before string // where one of these follows; "" for anything
}

// An Exit is what an exit status says where others would suspect a failure.
type Exit struct {
	Status int
	Means  string
	Sub    string // with this first operand only; "" for any
}

// A Role says why a program is never the subject of a lasting rule.
type Role uint8

// The roles. Other programs have none.
const (
	NoRole Role = iota
	ShellRole
	InterpreterRole
	WrapperRole
)

// Lookup finds the record of a program by its name without a directory, and
// the name that the record has for it: python for python3.12. It is nil when
// nothing is known of the program.
func Lookup(name string) (r *Record, known string) {
	if r := find(name); r != nil {
		return r, name
	}
	if i := strings.IndexByte(name, '.'); i > 0 {
		for _, versioned := range [...]string{"python", "perl", "ruby", "lua", "tclsh", "wish"} {
			if strings.HasPrefix(name, versioned) {
				known = strings.TrimRight(name[:i], "0123456789")
				return find(known), known
			}
		}
	}
	return nil, ""
}

// IsShell reports whether a program reads the language of sh, as bash does.
func IsShell(name string) bool {
	r := find(name)
	return r != nil && r == find("sh")
}

// StartsOthers reports whether a program does nothing itself with the words of another one, which it starts here:
// what those do is known when it starts them.
func StartsOthers(name string) bool {
	return Has("chrt env find ionice nice nohup setsid stdbuf taskset time timeout xargs", name)
}

func find(name string) *Record {
	if i, ok := slices.BinarySearchFunc(names[:], name, func(n named, name string) int { return cmp.Compare(n.name, name) }); ok {
		return names[i].record
	}
	for _, n := range &families {
		if strings.HasPrefix(name, n.name) {
			return n.record
		}
	}
	return nil
}

// named is a name and what is known of it.
type named struct {
	name   string
	record *Record
}

// Has reports whether word is one of the words in list, which blanks separate.
func Has(list, word string) bool {
	for at := 0; len(list)-at >= len(word); {
		i := strings.Index(list[at:], word)
		if i < 0 || word == "" {
			return false
		}
		i += at
		end := i + len(word)
		if (i == 0 || list[i-1] == ' ') && (end == len(list) || list[end] == ' ') {
			return true
		}
		at = i + 1
	}
	return false
}

// Described reports whether r says what a call does with its words.
func (r *Record) Described() bool {
	return r.Class != Unknown || r.Style != 0 || r.Operands != "" || r.Options != "" || r.Read != nil
}

// ExitMeaning says what a status means for a call of a program, and for which
// of its operations; "" when it is not known to be an answer. sub is the first
// word that is no option.
func ExitMeaning(name, sub string, status int) (operation, means string) {
	if r, _ := Lookup(name); r != nil {
		for _, e := range r.Exits {
			if e.Status == status && (e.Sub == "" || e.Sub == sub) {
				return strings.TrimSpace(name + " " + e.Sub), e.Means
			}
		}
	}
	return "", ""
}
