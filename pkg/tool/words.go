package tool

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/workspace"
)

// Shown is a path as titles and messages name it: relative to the root where
// it lies inside.
func Shown(p workspace.Path) string {
	switch {
	case p.Inside:
		return p.Rel
	case p.Real != "":
		return p.Real
	}
	return p.Given
}

// A Skipped is something that a tool passed over, and why.
type Skipped struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// Reason is why something was skipped, in a few words.
func Reason(err error) string {
	e := AsError(err)
	switch e.Code {
	case Denied, ApprovalRequired:
		return "the policy says no"
	case IO:
		return "not readable"
	}
	return e.Message
}

// Count is a number of things: 1 match, 2 matches, 3 entries.
func Count(n int64, what string) string {
	switch {
	case n == 1:
		return "1 " + what
	case strings.HasSuffix(what, "ch"):
		what += "es"
	case strings.HasSuffix(what, "y"):
		what = strings.TrimSuffix(what, "y") + "ies"
	default:
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// VisibleName is a name of a file as it stands in a listing: one line, nothing
// hidden. Most hide nothing.
func VisibleName(name string) string {
	for i := range len(name) {
		if name[i] < ' ' || name[i] > '~' {
			return strings.NewReplacer("\n", `\x0a`, "\t", `\x09`).Replace(Visible(name))
		}
	}
	return name
}

// Visible is text with its control characters, and those that turn the
// reading direction or take no room, written as escapes, so that what a
// person reads is what is there. Line ends and tabs stay.
func Visible(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\n' || r == '\t':
			b.WriteRune(r)
		case r < 0x20 || r == 0x7f || r >= 0x80 && r < 0xa0:
			fmt.Fprintf(&b, `\x%02x`, r)
		case hidden(r):
			fmt.Fprintf(&b, `\u{%04x}`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// hidden reports whether r shows nothing or turns what follows it: zero-width
// characters, letters that are drawn as a blank, bidirectional controls, line
// separators, tags.
func hidden(r rune) bool {
	switch {
	case r == 0xad, r == 0x34f, r == 0x61c, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5,
		r >= 0x180b && r <= 0x180f, r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e,
		r >= 0x2060 && r <= 0x206f, r == 0x2800, r == 0x3164, r >= 0xfe00 && r <= 0xfe0f,
		r == 0xfeff, r == 0xffa0, r >= 0xfff0 && r <= 0xfffb, r == 0xfffd,
		r >= 0x1bca0 && r <= 0x1bca3, r >= 0x1d173 && r <= 0x1d17a, r >= 0xe0000 && r <= 0xe0fff:
		return true
	}
	return false
}

// QuoteFile is the name of a file as one word of a shell that no program takes
// for an option.
func QuoteFile(name string) string {
	if strings.HasPrefix(name, "-") {
		name = "./" + name
	}
	return QuoteWord(name)
}

// QuoteWord is s as one word of a shell.
func QuoteWord(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// QuoteWords is words as one line that a shell reads as exactly these.
func QuoteWords(words []string) string {
	quoted := slices.Clone(words)
	for i, w := range words {
		if !IsPlain(w) {
			quoted[i] = QuoteWord(w)
		}
	}
	return strings.Join(quoted, " ")
}

// IsPlain reports whether every shell takes word as it stands: in zsh, one that begins
// with = would be the path of a program.
func IsPlain(word string) bool {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%"
	return word != "" && word[0] != '=' && strings.Trim(word, plain) == ""
}

// CursorIsOld is the warning where a list that is gone through by cursor is not
// the one that the cursor was made for.
const CursorIsOld = "files have changed since the cursor was made: some results may be missing or come twice; leave cursor out to start over\n"

// Missing is the error for a path that does not exist: where it leads if it is a
// link, and what there is near it.
func (env *Env) Missing(p workspace.Path, hint string) error {
	what := Shown(p)
	if name := filepath.Base(p.Given); name != filepath.Base(p.Real) && name == filepath.Base(p.Named) {
		what = fmt.Sprintf("%s leads to %s, which", VisibleName(p.Given), what)
	}
	return Errorf(NotFound, "%s does not exist", what).Suggest(env.Workspace.Near(p, 5)...).Next(hint)
}
