package edit

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The reasons for which an edit or a patch is refused.
const (
	NoMatch        = "no_match"        // the old text is not in the file
	Ambiguous      = "ambiguous"       // several places are alike
	Conflict       = "conflict"        // the file differs where the change is to be made
	AlreadyApplied = "already_applied" // the file has the new text already
	BadInput       = "bad_input"       // the call makes no sense
	TooLarge       = "too_large"       // the file would become too large
)

// Refusal is the error of Plan and Patch.Apply: nothing was changed, and why.
type Refusal struct {
	Code    string // one of the reasons above
	Message string
	Hint    string  // what to do next
	Edit    int     // the edit or hunk that was refused, from 0
	Other   *int    // the edit that it gets in the way of, from 0; nil for none
	Path    string  // the file, for a patch
	made    bool    // of a hunk of git's that is made: the others need not be
	final   bool    // no part of the old text is to be looked for
	Places  []Place // what comes nearest, best first, at most 3; all equal places, at most 10, when Ambiguous
}

// Place is a part of the file that comes near the old text.
type Place struct {
	Lines           [2]int  // first and last line, from 1
	Text            string  // what the file says there, at most 12 lines
	Similarity      float64 // 1 − d/max(len), white space aside
	FirstDifference string  // the first line that differs, blanks made visible; "" where none does
}

// Error is the message, with the path where there is one.
func (r *Refusal) Error() string {
	if r.Path != "" {
		return r.Path + ": " + r.Message
	}
	return r.Message
}

const (
	mostPlaces    = 3
	mostEqual     = 10
	mostPlaceText = 12
	mostLineText  = 200
)

func itoa(n int) string { return strconv.Itoa(n) }

// lineRange is "line 3" or "lines 3-5".
func lineRange(l [2]int) string {
	if l[0] >= l[1] {
		return "line " + itoa(l[0])
	}
	return "lines " + itoa(l[0]) + "-" + itoa(l[1])
}

// clip cuts a long line in its middle of nowhere, on a character border.
func clip(s string) string {
	if len(s) <= mostLineText {
		return s
	}
	return strings.ToValidUTF8(s[:mostLineText], "") + "…"
}

// excerpt is lines a to b of the file, not all when they are many.
func (t *text) excerpt(a, b int) string {
	var out strings.Builder
	for i := a; i < b; i++ {
		if i-a == mostPlaceText {
			fmt.Fprintf(&out, "… %d more lines\n", b-i)
			break
		}
		out.WriteString(clip(string(t.raw(i))) + "\n")
	}
	return out.String()
}

// visible shows the blanks at both ends of a line: → for a tab, · for a space.
func visible(s string) string {
	body := strings.TrimSpace(s)
	at := strings.Index(s, body)
	show := strings.NewReplacer("\t", "→", " ", "·", "\r", "␍")
	return clip(show.Replace(s[:at]) + body + show.Replace(s[at+len(body):]))
}

// firstDifference describes the first line that is not the same on both sides.
func firstDifference(t *text, call []*form, p place) string {
	k := 0
	for _, q := range p.pairs {
		if q.k0 > k {
			break
		}
		o, f := call[q.k0], t.line(q.i0)
		if o.text != f.text && (!o.blank || !f.blank) {
			return fmt.Sprintf("line %d of the old text is %q, line %d of the file is %q%s", q.k0+1, visible(o.text), q.i0+1, visible(f.text), lookAlike(o, f))
		}
		k = q.k1
	}
	for ; k < len(call); k++ {
		if !call[k].blank {
			return fmt.Sprintf("line %d of the old text, %q, is not there", k+1, visible(call[k].text))
		}
	}
	return ""
}

// lookAlike names the first character that differs, where the lines of the call
// and of the file are equally long and it may look the same in both, such as a
// Cyrillic letter and a Latin one; "" where it does not.
func lookAlike(call, file *form) string {
	a, b := []rune(call.body()), []rune(file.body())
	if len(a) != len(b) {
		return ""
	}
	for i := range a {
		if a[i] == b[i] {
			continue
		}
		if a[i] < utf8.RuneSelf && b[i] < utf8.RuneSelf || unicode.Is(unicode.Latin, a[i]) && unicode.Is(unicode.Latin, b[i]) {
			return ""
		}
		return fmt.Sprintf(": column %d of the file is %U, not %U", utf8.RuneCountInString(file.lead)+i+1, b[i], a[i])
	}
	return ""
}

// describe makes Places of places.
func (l *locator) describe(ps []place) []Place {
	var out []Place
	for _, p := range ps[:min(len(ps), mostPlaces)] {
		out = append(out, Place{
			Lines:           [2]int{p.start + 1, p.end},
			Text:            l.text.excerpt(p.start, p.end),
			Similarity:      l.similarity(p),
			FirstDifference: firstDifference(l.text, l.call, p),
		})
	}
	return out
}
