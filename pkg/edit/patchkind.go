package edit

import "strings"

// What comes to Patch without being a patch that it can apply, and what to do
// instead: other forms of diffs, and changes of what is no regular file.

// kind is how a text is told that is no patch: what one of its lines begins with or is.
type kind struct {
	is            func(line string) bool
	message, hint string
}

// kinds are the texts that are sent in the place of a patch.
func kinds() []kind {
	prefix := func(prefixes ...string) func(string) bool {
		return func(l string) bool {
			for _, p := range prefixes {
				if strings.HasPrefix(l, p) {
					return true
				}
			}
			return false
		}
	}
	const unified = "make it with diff -u or git diff, which name the file"
	return []kind{
		{prefix("diff --cc ", "diff --combined "), isCombined, fromOneParent},
		{prefix("Binary files "), "the change is binary, and the diff does not hold the bytes", copyBytes},
		{prefix("<<<<<<< SEARCH"), "the text is SEARCH/REPLACE blocks, which are no patch", "send an *** Update File: PATH for each file, the lines that go behind - and those that come behind +"},
		{prefix("@@ "), "the patch begins with a hunk and does not say of which file", "put --- a/PATH and +++ b/PATH before it, or *** Update File: PATH"},
		{isContextRange, "the text is a context diff without its headers, and does not say of which file", "put *** PATH, --- PATH and *************** before it, or " + unified},
		{isNormalRange, "the text is a diff in the default form of diff, which does not say of which file", unified},
		{isEdCommand, "the text is an ed script, as diff -e writes it, which does not say of which file", unified},
		{isRCSCommand, "the text is a diff in the form of RCS, as diff -n writes it, which does not say of which file", unified},
		{isStat, "the text is the summary of a diff, without the changes", "leave out --stat, or add --patch"},
	}
}

// otherKind is the refusal of a text in which no patch was found.
func otherKind(lines []string) *Refusal {
	if strings.TrimSpace(strings.Join(lines, "")) == "" {
		return badPatch("the patch is empty")
	}
	if plain, coloured := withoutColours(lines); coloured {
		if at, _ := startOfPatch(plain); at >= 0 {
			return &Refusal{Code: BadInput, Message: "the diff is coloured: it has a terminal's escape sequences in it", Hint: "make it with --color=never"}
		}
	}
	for _, k := range kinds() {
		for _, l := range lines {
			if k.is(strings.TrimRight(l, "\r")) {
				return &Refusal{Code: BadInput, Message: k.message, Hint: k.hint}
			}
		}
	}
	return badPatch("the text is not a patch: it has neither *** Begin Patch nor the headers of a unified diff")
}

// withoutColours takes the escape sequences of colours (ESC [ … m) out.
func withoutColours(lines []string) (plain []string, coloured bool) {
	for _, l := range lines {
		var b strings.Builder
		for {
			before, behind, found := strings.Cut(l, "\x1b[")
			b.WriteString(before)
			if !found {
				break
			}
			coloured = true
			l = strings.TrimPrefix(strings.TrimLeft(behind, "0123456789;"), "m")
		}
		plain = append(plain, b.String())
	}
	return plain, coloured
}

// isContextRange reports whether a line is like "*** 1,3 ****".
func isContextRange(l string) bool {
	s, ok := strings.CutPrefix(l, "*** ")
	s, behind := strings.CutSuffix(s, " ***")
	if !behind {
		s, behind = strings.CutSuffix(s, " ****")
	}
	return ok && behind && s != "" && cutRange(s) == ""
}

// cutRange takes "1" or "1,3" off; the text itself where there is none.
func cutRange(s string) string {
	const digits = "0123456789"
	rest := strings.TrimLeft(s, digits)
	if rest == s {
		return s
	}
	if end, ok := strings.CutPrefix(rest, ","); ok {
		if more := strings.TrimLeft(end, digits); more != end {
			return more
		}
	}
	return rest
}

// isNormalRange reports whether a line is like "2,3c2".
func isNormalRange(l string) bool {
	rest := cutRange(l)
	return rest != l && rest != "" && strings.ContainsRune("acd", rune(rest[0])) && rest[1:] != "" && cutRange(rest[1:]) == ""
}

// isEdCommand reports whether a line is like "2,3c".
func isEdCommand(l string) bool {
	rest := cutRange(l)
	return rest != l && len(rest) == 1 && strings.Contains("acd", rest)
}

// isRCSCommand reports whether a line is like "d2 1".
func isRCSCommand(l string) bool {
	if l == "" || l[0] != 'a' && l[0] != 'd' {
		return false
	}
	line, count, ok := strings.Cut(l[1:], " ")
	return ok && line != "" && count != "" && strings.Trim(line+count, "0123456789") == ""
}

// isStat reports whether a line is like " 1 file changed, 1 insertion(+)".
func isStat(l string) bool {
	number, rest, ok := strings.Cut(strings.TrimLeft(l, " "), " ")
	return ok && number != "" && strings.Trim(number, "0123456789") == "" &&
		(strings.HasPrefix(rest, "file changed, ") || strings.HasPrefix(rest, "files changed, "))
}

const (
	isCombined    = "the diff is a combined one, of a merge beside all its parents, which cannot be applied"
	fromOneParent = "make the diff from one parent instead, with git diff PARENT MERGE, or git diff HEAD before the merge is committed"
	copyBytes     = "copy or write the file; or make the diff with git diff --binary, leave this file out here, and have git apply it"
)

// combined is the refusal of a combined diff.
func (f *unifiedFile) combined() *Refusal {
	r := &Refusal{Code: BadInput, Message: isCombined, Hint: fromOneParent}
	if f != nil {
		_, r.Path = stripGit(f.old, f.new)
	}
	return r
}

// inWords reports whether the hunks are those of git diff --word-diff, which mark
// words and not lines.
func (f *unifiedFile) inWords() bool {
	marked := false
	for _, h := range f.hunks {
		for _, l := range h.Lines {
			if l.Op != ' ' {
				return false
			}
			marked = marked || between(l.Text, "[-", "-]") || between(l.Text, "{+", "+}")
		}
	}
	return marked
}

func between(s, before, behind string) bool {
	_, rest, ok := strings.Cut(s, before)
	return ok && strings.Contains(rest, behind)
}

// unsuited is the refusal of a change that no section of a patch can make; nil
// where there is none. The path is that of the file.
func (f *unifiedFile) unsuited(path string) *Refusal {
	r := &Refusal{Code: BadInput, Path: path}
	switch {
	case f.special == aLink && !f.deleted:
		r.Message, r.Hint = f.linkChange(path)
	case f.special == aSubmodule:
		r.Message, r.Hint = f.submoduleChange(path)
	case f.binary && f.bytes:
		r.Message = "the change of " + path + " is binary, which is not read here"
		r.Hint = "leave this file out of the patch, and have git apply it, or write the file"
	case f.binary:
		r.Message, r.Hint = "the change of "+path+" is binary, and the diff does not hold the bytes", copyBytes
	case f.inWords():
		r.Message = "the diff of " + path + " marks words, as git diff --word-diff does, and no lines"
		r.Hint = "make it without --word-diff"
	default:
		return nil
	}
	return r
}

// What git says of a file that is no regular one.
const (
	aLink      = "a symbolic link"
	aSubmodule = "a submodule"
)

// linkChange says what a diff would do to a symbolic link, and what does it.
func (f *unifiedFile) linkChange(path string) (message, hint string) {
	message = path + " is a symbolic link, and the patch changes where it leads; of links a patch can only delete and rename them"
	option := "-sfn"
	if f.becomes {
		message = path + " is to be made a symbolic link; of links a patch can only delete and rename them"
		option = "-s"
	}
	hint = "leave it out of the patch, and make the link with ln " + option
	if to := strings.TrimSuffix(newContent(f.hunks), "\n"); isPlain(to) && isPlain(path) {
		hint += " " + to + " " + path
	}
	return message, hint
}

// submoduleChange is the same for a submodule, whose content is its commit.
func (f *unifiedFile) submoduleChange(path string) (message, hint string) {
	commit := strings.TrimSpace(strings.TrimPrefix(newContent(f.hunks), "Subproject commit "))
	switch {
	case f.deleted:
		return path + " is a submodule, which a patch cannot delete", "leave it out of the patch, and remove it with git rm"
	case f.becomes:
		return path + " is to be made a submodule, which a patch cannot do", "leave it out of the patch, and add it with git submodule add"
	}
	hint = "leave it out of the patch, and check the commit out there with git checkout"
	if isPlain(path) && isPlain(commit) {
		hint = "leave it out of the patch, and check the commit out with git -C " + path + " checkout " + commit
	}
	return path + " is a submodule, and the patch changes its commit, which no file holds", hint
}

// isPlain reports whether a shell takes a word as it stands.
func isPlain(s string) bool {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./:,@%"
	return s != "" && s[0] != '-' && len(s) < 200 && strings.Trim(s, plain) == ""
}
