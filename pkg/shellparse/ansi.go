package shellparse

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// ansi decodes the text of $'…'; ok is false for what shells read differently.
func ansi(s string) (string, bool) {
	if strings.IndexByte(s, '\\') < 0 {
		return s, true
	}
	var b []byte
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 >= len(s) {
			b = append(b, s[i])
			continue
		}
		i++
		if k := strings.IndexByte(`abeEfnrtv\'"?`, s[i]); k >= 0 {
			b = append(b, "\a\b\x1b\x1b\f\n\r\t\v\\'\"?"[k])
			continue
		}
		digits, base, most := s[i:], 8, 3
		switch s[i] {
		case 'x':
			digits, base, most = s[i+1:], 16, 2
		case 'u':
			digits, base, most = s[i+1:], 16, 4
		case 'U':
			digits, base, most = s[i+1:], 16, 8
		case '0', '1', '2', '3', '4', '5', '6', '7':
		default:
			return "", false
		}
		n := 0
		for n < len(digits) && n < most && isDigit(digits[n], base) {
			n++
		}
		v, err := strconv.ParseUint(digits[:n], base, 32)
		if err != nil || v == 0 { // no digits, or a NUL, which ends the string
			return "", false
		}
		if s[i] == 'u' || s[i] == 'U' {
			b = utf8.AppendRune(b, rune(v))
		} else {
			b = append(b, byte(v))
		}
		if base == 16 {
			i += n
		} else {
			i += n - 1
		}
	}
	return string(b), true
}

func isDigit(c byte, base int) bool {
	if base == 8 {
		return c >= '0' && c <= '7'
	}
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// smallInt reads a plain decimal number of at most nine digits.
func smallInt(s string) (int, bool) {
	digits := strings.TrimPrefix(s, "-")
	if digits == "" || len(digits) > 9 || len(digits) > 1 && digits[0] == '0' {
		return 0, false
	}
	for i := 0; i < len(digits); i++ {
		if digits[i] < '0' || digits[i] > '9' {
			return 0, false
		}
	}
	n, err := strconv.Atoi(s)
	return n, err == nil
}

func itoa(n int) string { return strconv.Itoa(n) }
