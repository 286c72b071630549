package edit

import (
	"bytes"
	"fmt"
)

// MostGrowth is by how many bytes the edits of a call may make a file larger, beside the
// texts that they bring: 64 MiB, the size from which a file is not held in memory.
const MostGrowth = 64 << 20

// mostUnit is how many blanks one level of indentation has at most.
const mostUnit = 64

// A growth counts what edits add to a file, so that a call that has few bytes cannot make
// gigabytes: by replacing what it has written itself over and over, or by taking over an
// indentation for each of its lines.
type growth struct {
	room int // what may still be added
	most int // of all that may be
}

// newGrowth is the growth that the edits of a call have in a file.
func newGrowth(edits []Edit, o Options) *growth {
	room := MostGrowth
	if o.Grown > 0 {
		room = max(room-o.Grown, 0)
	}
	for _, e := range edits {
		room += len(e.New)
	}
	return &growth{room: room, most: room}
}

// add is the refusal where n places whose old text has so many bytes are not to get the new one.
func (g *growth) add(n, old, new int) *Refusal {
	if g == nil { // nothing is replaced more than once
		return nil
	}
	if more := int64(n) * int64(new-old); more > int64(g.room) {
		return tooLarge(fmt.Sprintf("by it the call would make its files more than %d MiB larger", MostGrowth>>20))
	} else if more > 0 {
		g.room -= int(more)
	}
	return nil
}

// indents is the refusal where so many new lines could not all take an indentation of the file.
func (g *growth) indents(file []byte, lines int) *Refusal {
	if g == nil || lines < 2 || int64(lines)*int64(len(file)) <= int64(g.most) {
		return nil // whatever stands there
	}
	if n := deepest(file); int64(lines)*int64(n) > int64(g.most) {
		return tooLarge(fmt.Sprintf("the file has a line that is indented by %d blanks, too many for %d lines to take them over", n, lines))
	}
	return nil
}

// behind is the growth of edits that build on what others have made of the file.
func (g *growth) behind(file, made []byte) *growth {
	return &growth{room: g.room - max(len(made)-len(file), 0), most: g.most}
}

func tooLarge(message string) *Refusal {
	return &Refusal{Code: TooLarge, Message: message, Hint: "make fewer or smaller changes in one call, or use a program such as sed"}
}

// deepest is how many blanks the line of the file has that is indented most.
func deepest(file []byte) int {
	most := 0
	for len(file) > 0 {
		most = max(most, len(file)-len(bytes.TrimLeft(file, " \t")))
		_, file, _ = bytes.Cut(file, []byte{'\n'})
	}
	return most
}
