package param

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// encoded is the fix for text that is none.
const encoded = "send the object in UTF-8, and characters above U+FFFF as themselves or as two escapes; bytes that are no text can be written with bash, as printf '\\377' >FILE"

// Flaw finds the first place of a JSON text that stands for no character: bytes
// that are not UTF-8, or half of a surrogate pair. encoding/json puts U+FFFD
// there, which nobody has sent. The offset is -1 where there is none.
func Flaw(raw []byte) (offset int, what string) {
	offset = -1
	if !utf8.Valid(raw) {
		offset = invalid(raw)
		what = fmt.Sprintf("%#02x, which is not UTF-8", raw[offset])
	}
	if at := lonely(raw); at >= 0 && (offset < 0 || at < offset) {
		return at, string(raw[at:at+6]) + ", half of a surrogate pair"
	}
	return offset, what
}

func invalid(raw []byte) int {
	for i := 0; i < len(raw); {
		r, size := utf8.DecodeRune(raw[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(raw)
}

// lonely is the offset of an escape that is half of a surrogate pair, or -1.
func lonely(raw []byte) int {
	if !bytes.Contains(raw, []byte(`\ud`)) && !bytes.Contains(raw, []byte(`\uD`)) {
		return -1
	}
	for i := 0; i < len(raw); i += 2 {
		next := bytes.IndexByte(raw[i:], '\\')
		if next < 0 {
			return -1
		}
		i += next
		switch r := escape(raw[i:]); {
		case !utf16.IsSurrogate(r):
		case utf16.DecodeRune(r, escape(raw[i+6:])) == utf8.RuneError:
			return i
		default:
			i += 10
		}
	}
	return -1
}

// escape is what a \uXXXX at the beginning of raw stands for; 0 for none.
func escape(raw []byte) rune {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return 0
	}
	n, err := strconv.ParseUint(string(raw[2:6]), 16, 16)
	if err != nil {
		return 0
	}
	return rune(n)
}

// readable reports a value, given as JSON text inside of something else, that
// holds what stands for no character.
func readable(raw json.RawMessage) error {
	if at, what := Flaw(raw); at >= 0 {
		return &Error{Want: fmt.Sprintf("byte %d is %s", at+1, what), Fix: encoded}
	}
	return nil
}
