package truncate

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// A sink takes cleaned text. The text may hold newlines; eraseLine and backspace
// act on the line that is not finished yet.
type sink interface {
	write(p []byte)
	eraseLine()
	backspace()
}

// The states of a cleaner: where in an escape sequence the last byte left it.
type escState uint8

const (
	ground       escState  = iota
	escape                 // after ESC
	intermediate           // after ESC and an intermediate byte: one final byte follows
	csi                    // ESC [ : parameters, then a final byte
	str                    // ESC ] and the other strings: until BEL or ESC \
	strEsc                 // ESC inside a string
	maxStr       = 4 << 10 // a longer string is taken as ended, so that nothing is swallowed for good
	maxParam     = 9999
)

// A cleaner turns what a program wrote to a terminal into what is to be read: no
// escape sequences, no control characters but newline and tab, lines that were
// redrawn in their last state, see text. Sequences may be split between writes. A newline
// ends any sequence, so that the numbers of the lines stay those of the raw
// output. Movements to other lines are dropped, not followed; the eight-bit
// controls U+0080 to U+009F are left alone.
type cleaner struct {
	out     sink
	state   escState
	n       int  // bytes of the present sequence
	param   int  // first parameter of a control sequence, -1 when absent
	done    bool // the first parameter is complete
	private bool // the sequence is a private one
	atStart bool // a carriage return was the last thing: what follows redraws the line
	home    bool // with atStart: a sequence went there
	first   byte // of the present line; 0 while it is empty
	shows   bool // the present line shows more than blanks
	redrawn bool // the present line was redrawn
}

// write cleans p.
func (c *cleaner) write(p []byte) {
	for len(p) > 0 {
		if c.state == ground {
			n := plainLen(p)
			if n > 0 {
				c.text(p[:n])
				p = p[n:]
				continue
			}
			c.control(p[0])
			p = p[1:]
			continue
		}
		if c.sequence(p[0]) {
			p = p[1:]
		}
	}
}

// inLine stands for a carriage return inside a line, in the way of cat -v.
var inLine = []byte("^M")

// text passes on bytes that are no controls. A carriage return inside a line is taken for what
// redraws it where the line shows nothing yet, where that begins as the line did, or happens more than once and begins with a
// character of the same kind: a progress bar. Else the line may hold parts of a file whose lines end in CR LF, of
// which nothing is to be lost.
func (c *cleaner) text(p []byte) {
	if c.atStart && p[0] != '\n' {
		if !c.shows || c.first == p[0] || c.redrawn && kind(c.first) == kind(p[0]) || c.home {
			c.eraseLine()
		} else {
			c.out.write(inLine)
		}
		c.redrawn = true
	}
	c.atStart = false
	line := p
	if i := bytes.LastIndexByte(p, '\n') + 1; i > 0 {
		line = p[i:]
		c.first, c.redrawn, c.shows = 0, false, false
	}
	if c.first == 0 && len(line) > 0 {
		c.first = line[0]
	}
	c.shows = c.shows || len(bytes.Trim(line, " \t")) > 0
	c.out.write(p)
}

// kind is that of a character with which a line begins: as a number that is filled up with blanks, as a
// word, or otherwise.
func kind(b byte) int {
	switch {
	case b == ' ' || b >= '0' && b <= '9':
		return 0
	case b|0x20 >= 'a' && b|0x20 <= 'z' || b >= 0x80:
		return 1
	}
	return 2
}

// eraseLine empties the present line.
func (c *cleaner) eraseLine() {
	c.first, c.shows = 0, false
	c.out.eraseLine()
}

// control handles a control byte outside of sequences.
func (c *cleaner) control(b byte) {
	switch b {
	case '\r':
		c.atStart, c.home = true, false
	case '\b':
		c.atStart = false
		c.out.backspace()
	case 0x1b:
		c.state = escape
	}
}

// sequence handles a byte inside a sequence; false when the byte is to be looked
// at again outside of it.
func (c *cleaner) sequence(b byte) bool {
	if b == '\n' || b == 0x18 || b == 0x1a { // CAN and SUB abort
		c.state = ground
		return b != '\n'
	}
	c.n++
	switch c.state {
	case escape:
		return c.afterEscape(b)
	case intermediate:
		if b < 0x20 || b > 0x2f {
			c.state = ground
			return b >= 0x30 && b < 0x7f
		}
	case csi:
		return c.parameter(b)
	case str:
		switch {
		case b == 0x1b:
			c.state = strEsc
		case b == 0x07 || c.n > maxStr:
			c.state = ground
		}
	case strEsc: // ESC \ ends the string; any other sequence does, too
		c.state = ground
		if b != '\\' {
			c.state = escape
			return false
		}
	}
	return true
}

// afterEscape handles the byte after ESC.
func (c *cleaner) afterEscape(b byte) bool {
	c.n = 0
	switch {
	case b == '[':
		c.state, c.param, c.done, c.private = csi, -1, false, false
	case b == ']' || b == 'P' || b == 'X' || b == '^' || b == '_':
		c.state = str
	case b >= 0x20 && b <= 0x2f:
		c.state = intermediate
	case b == 0x1b:
	default:
		c.state = ground
		return b >= 0x30 && b < 0x7f
	}
	return true
}

// parameter handles a byte of a control sequence.
func (c *cleaner) parameter(b byte) bool {
	switch {
	case b >= '0' && b <= '9':
		if !c.done {
			c.param = min(max(c.param, 0)*10+int(b-'0'), maxParam)
		}
	case b == ';' || b == ':':
		c.done = true
	case b >= '<' && b <= '?':
		c.private = true
	case b >= 0x20 && b <= 0x2f:
		c.private = true // an intermediate byte: none of those means an erasure
	case b >= 0x40 && b <= 0x7e:
		c.state = ground
		if !c.private {
			c.act(b)
		}
	default:
		c.state = ground
		return false
	}
	return true
}

// act does what a control sequence means for the line: erasing it, or going back
// to its start.
func (c *cleaner) act(final byte) {
	switch final {
	case 'K': // erase in line
		if c.param == 1 || c.param == 2 || c.atStart {
			c.eraseLine()
		}
	case 'J': // erase in display
		if c.param == 2 || c.param == 3 || c.atStart {
			c.eraseLine()
		}
	case 'G': // to a column
		if c.param <= 1 {
			c.atStart, c.home = true, true
		}
	}
}

// plainLen returns how many bytes at the start of p are neither control bytes nor
// DEL; newline and tab are plain. It looks at eight bytes at a time.
func plainLen(p []byte) int {
	const (
		ones = 0x0101010101010101
		high = 0x80 * ones
	)
	i := 0
	for ; i+8 <= len(p); i += 8 {
		x := binary.LittleEndian.Uint64(p[i:])
		// The high bit of each byte says whether it is below 0x20, or DEL.
		low := ^((x | high) - 0x20*ones | x) & high
		del := zeroBytes(x ^ 0x7f*ones)
		if low|del == 0 {
			continue
		}
		if bad := low&^(zeroBytes(x^'\n'*ones)|zeroBytes(x^'\t'*ones)) | del; bad != 0 {
			return i + bits.TrailingZeros64(bad)/8
		}
	}
	for ; i < len(p); i++ {
		if isControl(rune(p[i])) {
			return i
		}
	}
	return len(p)
}

// zeroBytes sets the high bit of every byte that is zero in x, and no other.
func zeroBytes(x uint64) uint64 {
	const low = 0x7f7f7f7f7f7f7f7f
	return ^((x&low + low) | x | low)
}

// isControl tells whether a byte is a control byte other than newline and tab.
func isControl(r rune) bool { return r < 0x20 && r != '\n' && r != '\t' || r == 0x7f }
