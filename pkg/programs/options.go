package programs

import (
	"strings"
)

// A Style says how a program reads its words.
type Style uint8

// The styles. Without one, options may stand anywhere, long ones have two
// dashes, and an option that is not known may run something.
const (
	Posix   Style = 1 << iota // options end at the first operand
	OneDash                   // long options have one dash
	Bundle                    // the first word may be options without a dash
	Glued                     // a long option with one dash may have its value glued to it
	Pure                      // no option of it, known or not, runs or writes anything
	Loose                     // an unknown option is harmless
	Vague                     // after an unknown option nothing is known, but nothing else runs
)

// An Option is one option of a program. A record's Options lists them,
// separated by blanks: the names joined by commas, one letter for a short
// option and more for a long one; then : when it takes a value, ? when it may
// have one glued to it, ! when it takes none; then what it does, joined by +:
//
//	read      reads the file         readtree  reads the file with all below
//	write     writes the file, or into the directory
//	dir       works in the directory
//	host      reaches the host
//	shell     runs the value as text of a shell
//	program   runs the value as a program with words
//	opaque    runs or loads something, or names stand in a file
//	changes   changes files of the program's own
//	unknown   leaves nothing known of the call
//
// So "v,verbose o,output:write w!changes" is -v or --verbose, which does
// nothing of note, -o FILE, and -w, as of git hash-object.
type Option struct {
	Names string
	Value byte // ':', '?' or 0
	Does  string
}

// Options reads the options of a record.
func Options(table string) []Option {
	out := make([]Option, 0, 1+strings.Count(table, " "))
	for f := range strings.FieldsSeq(table) {
		o := Option{Names: f}
		if i := strings.IndexAny(f, ":?!"); i > 0 {
			o.Names, o.Does = f[:i], f[i+1:]
			if f[i] != '!' {
				o.Value = f[i]
			}
		}
		out = append(out, o)
	}
	return out
}

// An Effect is what a call does with an operand. A record's Operands lists one
// for each operand, separated by blanks; the one with a * stands for any
// number, and what follows a | after it is taken when there are none. So
// "skip read*|." reads all operands but the first, or the directory.
type Effect string

// The effects on an operand.
const (
	Skip       Effect = "skip"       // nothing: it names no file
	Read       Effect = "read"       // it is read
	ReadTree   Effect = "readtree"   // it is read, with all below
	Write      Effect = "write"      // it is written
	WriteTree  Effect = "writetree"  // it is written, with all below
	Create     Effect = "create"     // it is created
	Delete     Effect = "delete"     // it is deleted
	DeleteTree Effect = "deletetree" // it is deleted, with all below
	Settings   Effect = "settings"   // it gets a setting of git's that makes nothing run
	Meta       Effect = "meta"       // its mode, owner or times change
	MetaTree   Effect = "metatree"   // the same, with all below
	Host       Effect = "host"       // it names a host that is reached
	May        Effect = "may"        // it may be read or changed
)
