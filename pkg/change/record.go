package change

import (
	"encoding/base64"
	"encoding/json"
	"io/fs"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/agentkit-go/agentkit/pkg/workspace"
)

// A Kind is what a name stands for.
type Kind string

// The kinds.
const (
	Missing Kind = ""
	Regular Kind = "file"
	Link    Kind = "link"
	Dir     Kind = "dir"
)

// A State is what a name stood for at a time.
type State struct {
	Kind    Kind        `json:"kind,omitempty"`
	Hash    string      `json:"hash,omitempty"`     // SHA-256 of a file's content in hexadecimal; "" when not known
	Size    int64       `json:"size,omitempty"`     //
	Mode    fs.FileMode `json:"mode,omitempty"`     // permission bits, with setuid, setgid and sticky
	AnyMode bool        `json:"any_mode,omitempty"` // Mode is what the system gave, and not known
	Target  string      `json:"target,omitempty"`   // the text of a link
	Kept    bool        `json:"kept,omitempty"`     // the content is in the journal

	// Of a File with a Stash, and of what another was before the change:
	Ino   uint64 `json:"ino,omitempty"`   // which file or directory it is
	MTime int64  `json:"mtime,omitempty"` // when it was last written, in nanoseconds
	// Of a File with a Stash:
	CTime int64 `json:"ctime,omitempty"` // when a directory was moved with all in it
	Names int64 `json:"names,omitempty"` // how many names are in a directory that goes as a whole
	Links int64 `json:"-"`               // how many names a file has
}

// Version returns the content's version as package workspace has it; "" when
// there is none or it is not known.
func (s State) Version() string {
	if s.Hash == "" {
		return ""
	}
	return "sha256:" + s.Hash[:16]
}

// sameContent compares what two states hold, not their modes.
func (s State) sameContent(t State) bool {
	if s.Kind != t.Kind {
		return false
	}
	switch s.Kind {
	case Regular:
		return s.Hash == t.Hash && s.Hash != ""
	case Link:
		return s.Target == t.Target
	}
	return true
}

// sameMode reports whether the modes agree, where both are known and matter.
func (s State) sameMode(t State) bool {
	return s.AnyMode || t.AnyMode || kept(s.Mode) == kept(t.Mode) || s.Kind == Link || s.Kind == Missing
}

// is reports whether s is t. What a directory holds and which mode it has is
// not its own state: undoing a file must not depend on it.
func (s State) is(t State) bool {
	return s.sameContent(t) && (s.Kind == Dir || s.sameMode(t))
}

// A File is one name that a change touched.
type File struct {
	Path    string            `json:"path"`               // real path
	From    string            `json:"from,omitempty"`     // real path it was moved from, which is a File of its own
	InPlace bool              `json:"in_place,omitempty"` // overwritten where it is, not replaced
	Stash   string            `json:"stash,omitempty"`    // the entry of the record's Stash with which it changes places
	Before  State             `json:"before"`
	After   State             `json:"after"`
	Result  workspace.Written `json:"-"` // what the workspace says about the write; only from Commit and Undo
}

// Action says in a word what happened to the name.
func (f File) Action() string {
	switch {
	case f.From != "":
		return "move"
	case f.Before.Kind == Missing && f.After.Kind == Dir:
		return "mkdir"
	case f.Before.Kind == Missing:
		return "create"
	case f.After.Kind == Missing && f.Before.Kind == Dir:
		return "rmdir"
	case f.After.Kind == Missing:
		return "delete"
	case f.Before.sameContent(f.After):
		return "mode"
	}
	return "replace"
}

// MarshalJSON implements json.Marshaler. Paths need not be UTF-8, JSON must be.
func (f File) MarshalJSON() ([]byte, error) {
	type plain File
	for _, s := range f.names() {
		*s = encodeName(*s)
	}
	return json.Marshal(plain(f))
}

// UnmarshalJSON implements json.Unmarshaler.
func (f *File) UnmarshalJSON(data []byte) error {
	type plain File
	if err := json.Unmarshal(data, (*plain)(f)); err != nil {
		return err
	}
	for _, s := range f.names() {
		*s = decodeName(*s)
	}
	return nil
}

func (f *File) names() []*string {
	return []*string{&f.Path, &f.From, &f.Before.Target, &f.After.Target}
}

const bytesPrefix = "base64:"

func encodeName(s string) string {
	if utf8.ValidString(s) && !strings.HasPrefix(s, bytesPrefix) {
		return s
	}
	return bytesPrefix + base64.StdEncoding.EncodeToString([]byte(s))
}

func decodeName(s string) string {
	text, ok := strings.CutPrefix(s, bytesPrefix)
	data, err := base64.StdEncoding.DecodeString(text)
	if !ok || err != nil {
		return s
	}
	return string(data)
}

// A Gap is something of a record that cannot be undone.
type Gap struct {
	Path string `json:"path,omitempty" doc:"real path; \"\" for the whole"`
	Why  string `json:"why" doc:"the reason"`
}

// A Record is one change that was made.
type Record struct {
	ID     string    `json:"id"` // sorts by time; "" when nothing was changed
	Time   time.Time `json:"time"`
	Tool   string    `json:"tool,omitempty"`
	Title  string    `json:"title,omitempty"`
	Undoes string    `json:"undoes,omitempty"` // the change that this one took back
	Part   string    `json:"part,omitempty"`   // only what it did to this name, as File.MarshalJSON writes it, and in it
	Files  []File    `json:"files"`
	Gaps   []Gap     `json:"gaps,omitempty"` // what cannot be undone of it

	Lacks []string `json:"lacks,omitempty"` // what a command has taken away that was not kept, and why

	Shelf   []Slot   `json:"shelf,omitempty"`    // of what a command destroyed: for each of Files, what is kept of it
	ShelfOf string   `json:"shelf_of,omitempty"` // of an undo: the change on whose shelf its new contents were
	Parents []Parent `json:"parents,omitempty"`  // directories that are there before or after it only

	// Stash names the directory of the journal that the files changed places with; ""
	// where contents were kept and written. Bytes is how much lies there.
	Stash string `json:"stash,omitempty"`
	Bytes int64  `json:"bytes,omitempty"`

	// Apart are names of which nobody else may have the file that is kept, as File.MarshalJSON
	// writes them: it is a copy, also of what takes the change back.
	Apart []string `json:"apart,omitempty"`

	Command bool `json:"command,omitempty"` // a command made it, within what commands may change; also of what takes that back

	Damaged  error    `json:"-"` // ErrUnreadable, and why: then nothing but ID is known; only from List
	UndoneBy string   `json:"-"` // the change that took this one back and holds; only from List, Newest, LastOf and Get
	Dropped  []string `json:"-"` // older changes that can no longer be undone, to keep the limits; only from Commit, Undo and Finish

	undone []File // what was taken back of it, file by file; as UndoneBy
	added  int64  // bytes of contents that were new
}
