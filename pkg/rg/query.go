package rg

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

// A Mode says what a search reports.
type Mode string

// The modes.
const (
	Content Mode = "content" // matching lines and their context
	Files   Mode = "files"   // files with a match; each is searched up to its first
	Count   Mode = "count"   // files with a match and how many lines match in each
)

// An Order is how results are sorted.
type Order string

// The orders.
const (
	ByPath     Order = "path"     // by path, directory for directory
	ByModified Order = "modified" // the newest file first, then by path
	Unordered  Order = "none"     // no order is promised
)

// An Engine does the searching.
type Engine string

// The engines.
const (
	Auto    Engine = ""        // Native wherever it can run the pattern
	Native  Engine = "native"  // this package's own
	Ripgrep Engine = "ripgrep" // the program Query.Ripgrep names
)

// The defaults and limits of a Query.
const (
	DefaultLimit        = 100
	DefaultMaxLineShown = 2000
	DefaultTimeout      = 30 * time.Second
	MaxContext          = 1000
)

// Errors that callers tell apart. A missing path is an error that matches
// fs.ErrNotExist.
var (
	ErrEmptyPattern = errors.New("the pattern is empty")
	ErrUnknownType  = errors.New("unknown file type")
	ErrGlob         = errors.New("bad glob")
	ErrCursor       = errors.New("bad cursor")
	ErrNotDirectory = errors.New("not a directory")
	ErrNoRipgrep    = errors.New("ripgrep was not found")
)

// A Query says what to search for, where, and how much of it to return.
type Query struct {
	Root    string   // absolute directory; other paths and globs are relative to it
	Paths   []string // files and directories to search; none means Root
	Pattern string   // a regular expression, or text where Literal is set

	// Resolved says that no symbolic link stands in Root and Paths. One that
	// was put there since then is not followed: the search fails with
	// workspace.ErrMoved. With Ripgrep that is checked only as it starts.
	Resolved bool

	Literal    bool // the pattern is text, not a regular expression
	IgnoreCase bool
	SmartCase  bool // ignore case unless the pattern has an upper-case letter
	Word       bool // a match has no word character before or after it
	Line       bool // a match is a whole line, or with Multiline whole lines
	Invert     bool // find the lines without a match; not with Multiline
	Multiline  bool // a match may span lines
	DotAll     bool // in a multiline search, a dot matches line breaks
	CRLF       bool // $ matches before a line's \r\n too, as if the \r were not there

	Include  []string // globs of which a file must match one; {a,b} is understood, and hidden names are found where a glob spells out their dot
	Exclude  []string // globs of files and directories to leave out
	Globs    []string // as ripgrep's -g: ! leaves out; the others override ignore rules and hiding
	Types    []string // names from FileTypes; a file must have one
	TypesNot []string // … must not have any

	Hidden        bool   // search hidden files too, except .git
	NoIgnore      bool   // do not read ignore files; with Hidden, search .git too
	GlobalIgnore  string // the user's ignore file, see GlobalIgnoreFile; "" for none
	Follow        bool   // follow symbolic links
	OneFileSystem bool   // stay on the file system of each path
	Binary        bool   // search binary files as if they were text

	Mode          Mode  // default Content
	Without       bool  // with Mode Files: the files without a match; not where the pattern needs Ripgrep
	MaxCount      int   // matching lines of one file, behind which the rest of it is not searched; 0 is no limit
	Sort          Order // default ByPath
	Before, After int   // lines of context, at most MaxContext each
	Limit         int   // lines (Content) or files shown; 0 is DefaultLimit, negative no limit
	Cursor        string
	MaxFileSize   int64         // larger files are skipped; 0 is no limit
	MaxLineShown  int           // bytes of a line shown; 0 is DefaultMaxLineShown, negative no limit
	MaxEntries    int           // directory entries looked at; 0 is no limit
	Timeout       time.Duration // then partial results; 0 is DefaultTimeout, negative no limit
	Workers       int           // goroutines; 0 picks

	// Allow says whether a file, by its absolute path, may be searched; nil
	// allows all. Refused files are named as skipped whether or not they
	// would match. It is called on several goroutines.
	Allow func(path string) bool

	// AllowDir says the same of entering a directory below one of Paths. One
	// that is refused is named as skipped, and so is nothing in it.
	AllowDir func(path string) bool

	Engine  Engine
	Ripgrep *RipgrepProgram // where ripgrep is; nil for nowhere
}

// withDefaults checks q and fills in defaults.
func (q Query) withDefaults() (Query, error) {
	if !filepath.IsAbs(q.Root) {
		return q, fmt.Errorf("searching: root %q is not an absolute path", q.Root)
	}
	if q.Pattern == "" {
		return q, ErrEmptyPattern
	}
	setDefault(&q.Mode, Content)
	setDefault(&q.Sort, ByPath)
	setDefault(&q.Limit, DefaultLimit)
	setDefault(&q.MaxLineShown, DefaultMaxLineShown)
	setDefault(&q.Timeout, DefaultTimeout)
	switch q.Mode {
	case Content, Files, Count:
	default:
		return q, fmt.Errorf("searching: unknown mode %q", q.Mode)
	}
	if q.Without && q.Mode != Files {
		return q, errors.New("searching: files without a match are found with the mode files only")
	}
	if err := checkOrder(q.Sort); err != nil {
		return q, err
	}
	q.Before = min(max(q.Before, 0), MaxContext)
	q.After = min(max(q.After, 0), MaxContext)
	if len(q.Paths) == 0 {
		q.Paths = []string{"."}
	}
	return q, nil
}

func checkOrder(o Order) error {
	switch o {
	case ByPath, ByModified, Unordered:
		return nil
	}
	return fmt.Errorf("searching: unknown order %q", o)
}

func setDefault[T comparable](v *T, to T) {
	var zero T
	if *v == zero {
		*v = to
	}
}

func (q *Query) walkOptions() *WalkOptions {
	o := &WalkOptions{
		Root: q.Root, Resolved: q.Resolved, Include: q.Include, Exclude: q.Exclude, Globs: q.Globs, Types: q.Types, TypesNot: q.TypesNot,
		Hidden: q.Hidden, NoIgnore: q.NoIgnore, GlobalIgnore: q.GlobalIgnore, Follow: q.Follow,
		OneFileSystem: q.OneFileSystem, MaxEntries: q.MaxEntries, Workers: q.Workers,
	}
	if q.Allow != nil || q.AllowDir != nil {
		o.Skip = func(path string, isDir bool) bool {
			allow := q.Allow
			if isDir {
				allow = q.AllowDir
			}
			return allow != nil && !allow(path)
		}
	}
	return o
}

// Results are what a search found.
type Results struct {
	Files      []FileResult
	Matches    int64    // lines on which a match begins, in all files; with Mode Files, the files
	FileCount  int      // files with a match
	Searched   int      // files searched
	Truncated  bool     // there is more than Files shows
	Cursor     string   // goes on after Files, where Truncated
	Changed    bool     // the tree gives other results than when the query's cursor was made
	Moved      []string // files with a match that changed since and stand before this page, or where it begins
	MovedCount int      // may be larger than the length of Moved
	Partial    string   // why the search ended early, such as PartialTimeout; then totals are lower bounds
	Skipped    []Skipped
	SkipCount  int // may be larger than the length of Skipped
	Engine     Engine
	page       page
	Elapsed    time.Duration
}

// The reasons for partial results.
const (
	PartialTimeout  = "timeout"
	PartialEntries  = "entries" // the budget of directory entries is spent
	PartialCanceled = "canceled"
)

// A FileResult is a file with a match.
type FileResult struct {
	Path     string    // relative to the root with slashes; absolute outside the root
	Matches  int       // lines on which a match begins, shown or not; 1 with Mode Files
	Lines    []Line    // with Mode Content
	Modified time.Time // zero unless sorted by it
	Encoding string    // what Lines were decoded from, such as "utf-16le" or "iso-8859-1"; "" for UTF-8
}

// A Line is a matching line or one of its context.
type Line struct {
	Number    int // from 1
	Match     bool
	Continues bool   // the match began on a line before (Multiline)
	Offset    int64  // bytes before the line in the file; in the decoded text for UTF-16
	Length    int    // bytes of the whole line, its end not included
	Column    int    // byte, from 1, at which the first match begins; 0 without match
	Char      int    // the same in characters
	Text      string // the line, or a part of it around the match; no line break; valid UTF-8
	Cut       int    // bytes left out in front of Text
	Lossy     bool   // Text has U+FFFD where the line is neither UTF-8 nor decoded
	Spans     []Span // the matches within Text, at most MaxSpans
	Partial   bool   // Text is not the whole line
}

// MaxSpans bounds the matches marked in one line.
const MaxSpans = 256

// A Span is the bytes Start to End, not included, of Line.Text.
type Span struct{ Start, End int }

// Skipped is a path that was not searched, or not wholly.
type Skipped struct {
	Path   string
	Reason string
}

// Reasons for skipping. Others are messages of the system.
const (
	ReasonBinary          = "binary"
	ReasonPolicy          = "not allowed"
	ReasonTooLarge        = "too large"
	ReasonNotRegular      = "not a regular file"
	ReasonLoop            = "a symbolic link to a directory above"
	ReasonLeavesRoot      = "a symbolic link that leads out of the directory"
	ReasonOtherFileSystem = "another file system"
	ReasonLongLine        = "a line of more than 256 MiB: it and what follows were not searched"
)
