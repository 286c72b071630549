package rg

import (
	"errors"
	"fmt"
	"strings"
)

// A PatternError says why a pattern cannot be searched for.
type PatternError struct {
	Pattern   string
	Offset    int    // byte offset in the pattern
	Message   string // what is wrong there
	PCRE      bool   // the pattern is meant for a backtracking engine such as PCRE2
	Multiline bool   // it can match in a multiline search
}

// Error gives the pattern, or what of it is around the place, the place and the
// reason in one line.
func (e *PatternError) Error() string {
	return fmt.Sprintf("parsing pattern %q at byte %d: %s", around(e.Pattern, e.Offset), e.Offset, e.Message)
}

// around is what stands around a place of a text, where all would be long.
func around(text string, at int) string {
	const most, before = 200, 80
	if len(text) <= most {
		return text
	}
	from := max(0, min(at-before, len(text)-most))
	return strings.ToValidUTF8(text[from:from+most], "")
}

// Is makes a PatternError match ErrPattern, and ErrNeedsPCRE where that is so.
func (e *PatternError) Is(target error) bool {
	return target == ErrPattern || target == ErrNeedsPCRE && e.PCRE
}

// ErrPattern is matched by every error about the syntax of a pattern.
var ErrPattern = errors.New("bad pattern")

// ErrNeedsPCRE is matched by the error about a pattern that no automaton can
// run: look-around, backreferences, atomic groups, recursion, very large repeats.
var ErrNeedsPCRE = errors.New("pattern needs PCRE2")

func needsPCRE(err error) bool { return errors.Is(err, ErrNeedsPCRE) }
