// Package policy decides whether a call may touch what it needs to touch:
// allow, ask or deny, by which rule, in which file and line, and why.
package policy

import (
	"reflect"

	"github.com/agentkit-go/agentkit/pkg/programs"
)

// A Kind says what an Access does.
type Kind string

// The kinds of access.
const (
	Exec  Kind = "exec"  // run a program
	Read  Kind = "read"  // read a file or list a directory
	Write Kind = "write" // create, change or delete a file, or change its metadata
	Net   Kind = "net"   // reach a host
	Env   Kind = "env"   // set a variable that changes how later programs behave
	Tool  Kind = "tool"  // use a tool as such, when it touches nothing else
)

// An Op refines what a write does to its file.
type Op string

// The operations of a write.
const (
	Create   Op = "create"
	Change   Op = "change"
	Delete   Op = "delete"
	Metadata Op = "metadata" // mode, owner, times, attributes
	Settings Op = "settings" // change a setting of git's that makes nothing run
)

// A FileType is what a path holds at the time the call is decided.
type FileType string

// The file types.
const (
	Missing FileType = "missing"
	Regular FileType = "file"
	Dir     FileType = "directory"
	Device  FileType = "device" // character or block device
	FIFO    FileType = "fifo"
	Socket  FileType = "socket"
)

// A Class is what is known of a program with these very arguments.
type Class = programs.Class

// The classes of a command.
const (
	Unknown  = programs.Unknown
	ReadOnly = programs.ReadOnly
	Known    = programs.Known
)

// An Access is one thing a call does to the world outside it. A call's needs
// are a list of these; each is decided by itself and the strictest wins.
type Access struct {
	Kind Kind
	Tool string // the tool whose call this is, such as "bash"

	// A file, for read and write.
	Path    string   // absolute; every symbolic link resolved, also where the file does not exist yet
	Named   string   // absolute and cleaned as the caller named it; "" when it is Path
	Op      Op       // what a write does; "" for reads
	File    FileType // what is there now; "" when not looked at
	Globbed bool     // of a read: it is one of all files of a directory, for which a pattern of the shell's stands
	Fresh   bool     // it lies in what was made right in a temporary directory since the session began, or is made now
	Own     bool     // of a read in the root: nothing is there yet, and the call itself writes it, of what it may read
	Links   uint64   // number of hard links of a regular file; 0 when not looked at
	Tree    bool     // the access reaches everything below Path too (rm -r, grep)
	Below   bool     // with Tree: only what is below, never Path itself (find -delete)
	Names   string   // with Tree: only what has a name that matches one of these patterns, parted by blanks, and does not lie in places behind !, see programs.Word; "" for all
	Split   bool     // with Names: names that hold blanks or quotes are taken for several
	Made    bool     // with Split: the command itself may have made such a name
	Files   []string // with Tree: only these, relative to Path or absolute; nil for all
	Bare    bool     // with Tree: its names stand without a place before them, so that one may be taken for an option
	By      int      // with Tree: 1 + the index, in the call's list, of the exec access of the program that lists what is read; 0 for none
	Each    bool     // with Tree: every file of it for which something else is decided is an access of its own

	// A program, for exec.
	Argv    []string // the words as the program gets them; Argv[0] as written
	Dynamic []bool   // beside Argv: the word is not known before it runs, Argv has its source; nil when all are known
	Parts   Parts    // what is known of the words that Dynamic tells of
	Options []Option // those that are known of, in the order given; deny and ask rules match any spelling of them
	Program string   // absolute resolved path of the program; "" for a built-in, or when not found
	Builtin bool     // a built-in or function of the shell itself
	Class   Class    // what is known of the program with these arguments
	Danger  string   // why it belongs to the dangerous class; "" when it does not
	Drops   bool     // of git: it takes away files, or a name of what its repository holds; undo brings back what could be kept
	Top     string   // of git: the work tree that it is for, where that is certain; "" where it is not
	Loses   bool     // Danger is that files are lost, or what they held: nothing may be lost after all

	// A host, for net; an assignment, for env.
	Scheme, Host string
	Port         int
	URL          string // the whole address where there is one
	User         bool   // the address names a user, and perhaps a password, which URL does not show
	Addr         string // what Host leads to, where it has been looked up
	Publishes    bool   // it stands beside the access to the host, for what changes something there: a push, a release, data that is sent; Argv and Program are the command's, as they are where its settings say which host it is
	Name, Value  string // the variable; for tool accesses Name is what the tool acts on, such as a job id

	// Opaque says why this cannot be known before it runs: a dynamic path, a
	// flag that runs something else, text that no parser understands. No
	// allow rule for a program or path covers an opaque access; deny and ask
	// rules still match what is known of it.
	Opaque string
	// Guess is set for what nothing says will happen. A write: a program of
	// which nothing is known is given the path; it stands beside a read of the
	// path, and Opaque says as much. A read: such a program runs, and nothing
	// keeps it from the file.
	Guess bool

	// Unseen is set for a read of a place outside the root that is open to commands, and has more in it
	// than can be looked through for what they may not read: a program of which nothing is known runs.
	Unseen bool
	// Loose says that what is decided about this holds for the text of a command alone.
	Loose bool

	Source string // the piece of the command it comes from, for explanations
	// Scripted says that the piece stands in a file of commands that the command has a shell read: such a
	// file is looked into for what is certain.
	Scripted bool
	Parent   int // 1 + the index, in the call's list, of the exec access that causes it; 0 for none
}

// A Part is what is known of a word that is not known before it runs.
type Part struct {
	Lead     string // it certainly begins with this; where it is several words, the first does
	One      bool   // it is one word, neither several nor none
	Every    bool   // where it is several words, what is said of it holds for each
	NoOption bool   // it is no option, such as the value of one
}

// Parts are what is known of words, by what stands for them in Argv.
type Parts map[string]Part

// Append adds accesses to a list. Where they name one another, by Parent and By, they count from the first
// of themselves before it, and of the list after it.
func Append(list []Access, more ...Access) []Access {
	base := len(list)
	for _, a := range more {
		if a.Parent > 0 {
			a.Parent += base
		}
		if a.By > 0 {
			a.By += base
		}
		list = append(list, a)
	}
	return list
}

// Same reports whether b is the access a, looked at another time: a file may have come or
// gone meanwhile.
func (a *Access) Same(b *Access) bool {
	bare := func(a Access) Access {
		a.File, a.Fresh, a.Own, a.Loose, a.Parent, a.By = "", false, false, false, 0, 0
		if a.Links == 1 {
			a.Links = 0
		}
		return a
	}
	return reflect.DeepEqual(bare(*a), bare(*b))
}
