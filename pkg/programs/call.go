package programs

import (
	"slices"
	"strings"
)

// A Word is one argument as the program gets it, or what is known of it.
type Word struct {
	Text    string   // decoded; the source when dynamic
	Dynamic bool     // not known before it runs
	Lead    string   // of a dynamic word: the bytes it certainly starts with
	Multi   bool     // it may become several words, or none
	Pattern string   // the pattern it comes from, or may expand by
	Under   string   // a path below which it certainly lies, such as what find prints
	Names   string   // patterns of names, parted by blanks, one of which its last part certainly matches, and behind ! places where it does not lie: !NAME/ in a directory of that name, !/PATH/ in that below Under; ! alone says that it is no link; "" for any
	Split   bool     // with Names: the names were text that was taken apart at blanks and quotes
	Made    bool     // with Split: one that was made just now may be among them
	Dir     string   // with places in Names: the directory in which it was found; "" where that is not known
	Listed  *Listing // with Under: how its name came to stand there; nil for what find prints
	Loop    bool     // with Under: a variable holds it, one name after the other
	Number  bool     // it is a number or a status: no option, no path
	Counted string   // the pattern of its whole name, where numbers are all that is not known and its last part begins with a letter
	Digits  bool     // what stands behind Lead is a number, or nothing
	Net     bool     // it holds what a command fetched
	Proc    bool     // it is the path of a process substitution
	Piped   bool     // behind Lead it is a process substitution, and nothing else
	Script  string   // what the process substitution prints, where known
}

// MayBeOption reports whether the word may be taken as an option.
func (x Word) MayBeOption() bool {
	if !x.Dynamic {
		return strings.HasPrefix(x.Text, "-") && x.Text != "-" || x.Pattern != "" && Loosely(x.Pattern)
	}
	if x.Under != "" || x.Number || x.Proc {
		return false
	}
	return x.Lead == "" || x.Lead[0] == '-'
}

// Spreads reports whether the word may become several of any form, or none.
func (x Word) Spreads() bool {
	return x.Dynamic && x.Multi && !x.Number && x.Under == "" && (x.Pattern == "" || Loosely(x.Pattern))
}

// Loosely reports whether a pattern says nothing at all of the names it matches:
// the spelling in which a planted name becomes an option unseen.
func Loosely(pattern string) bool { return strings.Trim(pattern, "*?") == "" }

// A Call is one program with its words.
type Call struct {
	Name   string  // its base name
	Words  []Word  // Words[0] is the program
	Record *Record // what is known of it; nil for nothing
	Known  string  // its name in Record: python for python3.12
	Source string  // where it stands
	Given  []Given // its options, once they are read
	Args   []Word  // its operands, once they are read
	Quiet  bool    // its dynamic words need not be judged as options
	Shell  Shell   // what it stands in
	Memo   *Memo   // shared by the calls of one analysis

	scheme    string // of the hosts that its words name
	port      *Word  // of the hosts, where an option names one
	publishes bool   // it changes something at the hosts that it reaches
}

// A Memo keeps what readers need more than once in an analysis.
type Memo struct {
	tables map[string][]Option // option tables that were read
	repos  []repository
	added  []string // trees that git add was given
	clones []clone  // what git clone was given before
}

// A clone is a directory that git clone makes of another one.
type clone struct{ dir, of string }

// A Reader reads the words of a call, where a table of options and operands is
// not enough, and tells the call's Shell what they do.
type Reader func(*Call)

// A Shell is the command line that one call stands in. A reader tells it what
// the call does, and asks it what is known of the machine.
type Shell interface {
	File(f File) (paths []string)              // the call uses a file, which may be one of these
	WorksIn(dir Word)                          // it works in a directory, and may change what lies there
	Net(n Net)                                 // it reaches a host
	Run(words []Word, quiet bool)              // it starts a program; quiet says how the words are judged
	Prints(files []string)                     // what it prints are the names of such files, relative to where it is
	Judge(words []Word)                        // it starts a program that is judged by its dangers alone
	Text(x Word)                               // it gives text to a shell
	ReadShell()                                // it is a shell, whose own words are read
	Class() Class                              // what is known of the call so far
	SetClass(class Class)                      // what is known of it now
	Opaque(why string)                         // what it does cannot be known; the first reason stays
	Danger(why string)                         // it is dangerous; the first reason stays
	WorkTree(top string)                       // it is git, and for the repository of this work tree
	Drops()                                    // it is git, and takes away files, or a name of what its repository holds
	Whole(why string)                          // the whole text cannot be known
	Move(dir Word)                             // what the call does next, it does in this directory
	Lost(why string)                           // the same, but nobody knows in which directory
	Setenv(name string, val Word, unsure bool) // it sets a variable for what it starts
	Hush(why string)                           // it changes the environment of what it starts
	Unsettle(why string)                       // later programs may do something else than their names say
	Changed()                                  // files that were read before may be others now
	Fetched(file Word)                         // the file comes from the network
	Link(to, name string, symbolic bool)       // name is now a link; to is "" where that is not known
	Relink(from, to string)                    // what was a link is now another name

	Dirs() (dirs []string, lost string) // where it may be, and why that is not known
	Resolve(name string) []Path         // what a name may stand for in each of these
	ResolveIn(dir, name string) Path    // what it stands for in a directory
	Exists(name string) bool            // whether there is such a file
	// Peek is ReadFile for what is looked for in a file and never shown, also one that a command may not read.
	Peek(path string) ([]byte, error)
	ReadFile(path string) ([]byte, error)
	Sees() bool                        // whether names can be resolved and files be read at all
	Dirty() bool                       // whether files may be others by then
	Writes(name string) bool           // whether the text before writes a file of this name
	Makes(path string) bool            // whether the text before makes what may be a directory at a path
	IsFetched(path string) bool        // whether the file came from the network
	Root() string                      // the workspace root; "" when there is none
	Home() string                      // the home directory of the user
	HomeVariable() string              // what HOME holds; "" when that is not known
	Getenv(name string) (string, bool) // a variable of the environment it starts in
	Sets(name string) bool             // whether the text sets a variable that changes how programs run
	Writable(path string) bool         // whether anything may have written there
	Guarded(top, name string) bool     // whether a policy may not let a file of the tree at top be read
	Secret(name string) bool           // whether files of such a name usually hold secrets
	Dangers() []string                 // why writes of this call are dangerous
	Stdin() Stream                     // what it reads, when piped
	TakeStdin() Stream                 // the same; what the call starts gets none of it
	Depth() int                        // how deeply calls are nested
	Spend(n int) bool                  // takes n steps of work; false when there are none left
}

// A File is a file that a call uses.
type File struct {
	Effect Effect
	Word   Word
	Source string // the piece of the command it comes from; "" for the word
	Why    string // why it cannot be known
}

// A Net is a host that a call reaches.
type Net struct {
	Source, Opaque, URL, Scheme, Host string
	Port                              int
	Publishes                         bool // it changes something there
	Configured                        bool // the program's settings say which host it is
}

// A Path is a file as the machine has it.
type Path struct {
	Path  string // with every link resolved
	Named string // as it was named, when that is another
	Type  FileType
}

// A FileType is what a path holds.
type FileType string

// The file types that readers tell apart. "" is one that was not looked at.
const (
	Missing FileType = "missing"
	Regular FileType = "file"
	Dir     FileType = "directory"
)

// A Stream is what is known of a program's input.
type Stream struct {
	Set    bool     // it is a pipe, a file or text of the command line
	Known  bool     // its content is text
	Text   string   // the content, when known
	Net    bool     // it comes from the network
	Under  []string // its lines are paths below these
	Names  string   // as in Word
	Made   bool     // as in Word
	Dir    string   // as in Word
	Nul    bool     // a zero byte ends each of these, and no line end
	Listed *Listing // as in Word
	Safe   bool     // its items hold no blank and start with no dash
}

// A Listing says how a program lists names that others read.
type Listing struct {
	Dir   string   // where it does so
	By    int      // 1 + the index of the access of that program
	Bare  bool     // they stand without the place before them, below which they lie
	Files []string // all of them, and what they may be taken for; nil for what that program comes upon in the tree
}

// opaque says why what c does cannot be known; the first reason stays.
func (c *Call) opaque(why string) { c.Shell.Opaque(why) }

func (c *Call) danger(why string) { c.Shell.Danger(why) }

// lower takes the class down: read-only, then known, then unknown.
func (c *Call) lower(class Class) {
	if class == Unknown || c.Shell.Class() == ReadOnly {
		c.Shell.SetClass(class)
	}
}

// file says that c uses the file that a word names.
func (c *Call) file(effect Effect, x Word) { c.Shell.File(File{Effect: effect, Word: x}) }

func (c *Call) start(words []Word) { c.Shell.Run(words, c.Quiet) }

// commandText judges a program named in one word that is split at blanks.
func (c *Call) commandText(x Word) {
	if x.Dynamic {
		c.opaque("the program is not known before it runs")
		return
	}
	if words, _ := splitWords(x.Text); len(words) > 0 {
		c.start(words)
	}
}

// paths lists what a word may name, resolved.
func (c *Call) paths(x Word) (out []string) {
	if !x.Dynamic {
		for _, p := range c.Shell.Resolve(x.Text) {
			out = append(out, p.Path)
		}
	}
	return out
}

// UnknownFiles lists the files that the words of a program, of which nothing
// is known, may name: inside the root it reads them, and may change those
// whose names start with a dot; outside it may change them too.
func (c *Call) UnknownFiles() { c.unknownFiles(c.Words[1:]) }

func (c *Call) unknownFiles(words []Word) {
	for _, x := range words {
		if x.Dynamic {
			if x.Under != "" || strings.Contains(x.Lead, "/") {
				c.file(Read, x)
			}
			continue
		}
		s := x.Text
		if strings.HasPrefix(s, "-") {
			if i := strings.IndexAny(s, "=/"); i > 1 {
				s = strings.TrimPrefix(s[i:], "=")
			} else {
				continue
			}
		} else if name, val, ok := strings.Cut(s, "="); ok && !strings.Contains(name, "/") {
			s = val
		}
		s = strings.TrimPrefix(strings.TrimPrefix(s, "file://"), "file:")
		if len(s) > 1024 || s == "" || !pathLike(s) && !c.Shell.Exists(s) {
			continue
		}
		list := []string{s}
		if s[0] == '/' && strings.Contains(s, ":/") && !c.Shell.Exists(s) { // several, as in --ignore-dir=/usr:/opt
			list = strings.Split(s, ":")
		}
		for _, s := range list {
			if s != "" {
				c.file(May, Word{Text: s})
			}
		}
	}
}

// pathLike reports whether a word looks like the name of a file.
func pathLike(s string) bool {
	return strings.Contains(s, "/") && !strings.Contains(s, "://") || s == "." || s == ".."
}

// Device reports whether a path is a disk, or memory.
func Device(path string) bool {
	rest, ok := strings.CutPrefix(path, "/dev/")
	if !ok {
		return path == "/proc/sysrq-trigger" || path == "/proc/kcore"
	}
	return slices.ContainsFunc([]string{"sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "mapper/", "md", "dm-", "loop", "mem", "kmem", "port", "sr", "fd0", "block/", "nbd", "zd"}, func(d string) bool {
		return strings.HasPrefix(rest, d)
	})
}

// Cut shortens a piece of source for explanations, on a character border.
func Cut(s string) string {
	const limit = 200
	if len(s) <= limit {
		return s
	}
	n := limit
	for n > 0 && s[n]&0xc0 == 0x80 {
		n--
	}
	return s[:n] + "…"
}

// Plain reports whether s is not empty and a shell takes every byte of it for
// itself.
func Plain(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.' || c == '/' || c == '+' || c == ',' || c == ':' || c == '%' || c == '@' {
			continue
		}
		return false
	}
	return s != ""
}

func integer(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
