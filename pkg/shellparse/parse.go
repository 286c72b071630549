package shellparse

import (
	"errors"
	"runtime"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxFrames is how many function calls deep the parser may be. Some twenty go
// for each level of what nests in a text, so that a thousand levels are read.
// Go ends a process, and no recover stops that, whose stack takes a gigabyte,
// which a million brackets are enough for.
const maxFrames = 20_000

// maxParsed is the length in bytes of the longest text whose commands are parsed
// to be judged: what walks their tree is as deep as a chain of && is long, and takes a
// kilobyte of stack for each. Of a longer one the first words of what look like commands count.
const maxParsed = 256 << 10

// errDeep is the error of a text that nests deeper than the parser can follow.
var errDeep = errors.New("nested too deeply")

// parse reads a whole text as one of lang. The error of what nests too deeply
// is errDeep.
func parse(lang syntax.LangVariant, src string) (*syntax.File, error) {
	return syntax.NewParser(syntax.Variant(lang)).Parse(shallow(src), "")
}

// shallow is a reader of src that fails with errDeep as soon as the parser that
// reads from it is too deep in its own calls, whatever it is that nests.
func shallow(src string) *shallowReader { return &shallowReader{rest: strings.NewReader(src)} }

type shallowReader struct{ rest *strings.Reader }

// Read gives at most a kilobyte at once, in which a parser cannot get much
// deeper than it was seen to be.
func (r *shallowReader) Read(p []byte) (int, error) {
	var pc [1]uintptr
	if runtime.Callers(maxFrames, pc[:]) > 0 {
		return 0, errDeep
	}
	return r.rest.Read(p[:min(len(p), 1<<10)])
}
