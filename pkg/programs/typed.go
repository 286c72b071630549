package programs

import (
	"slices"
	"strings"
)

// The programs that take orders by what is typed into them, and may start others by it or
// open any file. Of what is typed only what certainly does neither is understood.
const (
	typedPagers = "less more most man pg zless zmore bzless xzless"
	typedVi     = "vi vim nvim view vimdiff gvim rview rvim"
	typedEx     = "ex ed red"
	typedPlain  = "nano pico emacs"
	typedMenus  = "tig lynx w3m links elinks mc ranger nnn vifm lf mutt neomutt aerc newsboat"
	typedShells = "tmux screen zellij"
)

// typedEscapes are programs that read whole lines, and the lines that start another program.
var typedEscapes = [...]struct {
	names string
	begin []string
}{
	{"ipython ftp sftp lftp telnet dc octave", []string{"!"}},
	{"psql", []string{`\!`, `\i`, `\o`, `\g`, `\w`, `\e`, `\copy`}},
	{"mysql mariadb", []string{`\!`, "system ", `\.`, "source ", `\T`, "tee ", `\P`, "pager ", `\e`, "edit"}},
	{"sqlite3 sqlite", []string{".shell", ".system", ".read", ".once", ".output", ".excel", ".import", ".load", ".log", ".open", ".edit"}},
	{"gdb", []string{"!", "shell", "pipe", "|", "make", "source", "python", "guile"}},
	{"lldb", []string{"platform", "script", "command"}},
	{"ghci", []string{":!", ":e"}},
}

// Ordered reports whether the program takes orders by what is typed into it; see [Typed].
func Ordered(name string) bool {
	if Has(typedPagers, name) || Has(typedVi, name) || Has(typedEx, name) || Has(typedPlain, name) || Has(typedMenus, name) || Has(typedShells, name) {
		return true
	}
	for _, e := range typedEscapes {
		if Has(e.names, name) {
			return true
		}
	}
	return false
}

// Typed reports whether what is typed into a program, which is waiting for it, is no order by which
// it may start another program, or open or write a file that the command did not name.
func Typed(name, text string) bool {
	switch {
	case Has(typedPagers, name):
		return typedInPager(name, text)
	case Has(typedVi, name):
		return typedInVi(text)
	case Has(typedEx, name):
		return !slices.ContainsFunc(typedLines(text), func(line string) bool {
			return strings.Trim(line, "0123456789,$.pnqQ=hH\x04") != ""
		})
	case Has(typedPlain, name):
		return typedInPlain(name, text)
	case Has(typedMenus, name):
		return !strings.ContainsAny(text, "!:|@#$+")
	case Has(typedShells, name):
		return false
	}
	for _, e := range typedEscapes {
		if Has(e.names, name) {
			return !slices.ContainsFunc(typedLines(text), func(line string) bool {
				line = strings.TrimLeft(line, " \t")
				return slices.ContainsFunc(e.begin, func(begin string) bool { return strings.HasPrefix(line, begin) })
			})
		}
	}
	return true
}

// typedLines are the lines of what is typed.
func typedLines(text string) []string {
	return strings.FieldsFunc(text, func(c rune) bool { return c == '\n' || c == '\r' })
}

// typedKey takes a key that terminals send as several bytes off a text, such as an arrow.
func typedKey(text string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(text, "\x1b")
	if !ok || rest == "" || rest[0] != '[' && rest[0] != 'O' {
		return text, false
	}
	rest = strings.TrimLeft(rest[1:], "0123456789;")
	if rest == "" || !strings.Contains("ABCDHFPQRS~", rest[:1]) {
		return text, false
	}
	return rest[1:], true
}

// typedKeys takes each key off a text, but those that terminals send as several bytes, with what belongs to it.
// It is false where one of them takes nothing.
func typedKeys(text string, take func(c byte, behind string) (rest string, ok bool)) bool {
	for text != "" {
		rest, ok := typedKey(text)
		if !ok {
			rest, ok = take(text[0], text[1:])
		}
		if !ok {
			return false
		}
		text = rest
	}
	return true
}

// typedSearch takes a line that is searched for off a text. A key that edits the line may leave it, so
// that what follows are orders again.
func typedSearch(text string) (rest string, ok bool) {
	at := strings.IndexFunc(text, func(c rune) bool { return c < ' ' || c == 0x7f })
	switch {
	case at < 0:
		return "", true
	case text[at] != '\n' && text[at] != '\r':
		return text, false
	}
	return text[at+1:], true
}

// pagerKeys are the keys of less and more that move, show and end.
const pagerKeys = " 0123456789,;.%<>{}()[]=aqQjJkKdDufFbgGhHeyYwWzZrRnNpPl\n\r\x01\x02\x03\x04\x05\x06\x07\x08\x0b\x0c\x0e\x10\x12\x15\x19\x1c\x7f"

// typedInPager reads the keys of less, more and most: what is left out are !, |, v, s, o, E, -, + and the like.
func typedInPager(name, text string) bool {
	return typedKeys(text, func(c byte, text string) (rest string, ok bool) {
		switch {
		case c == '/' || c == '?' || c == '&':
			return typedSearch(text)
		case c == ':': // of the files that the command names
			if text == "" || !strings.Contains("npqQxdf", text[:1]) {
				return "", false
			}
			text = text[1:]
		case c == 'm' || c == '\'': // a mark
			if text != "" && !between('a', text[0]|0x20, 'z') && text[0] != '\'' {
				return "", false
			}
			text = text[min(1, len(text)):]
		case c == 0x1b: // alone, or with what moves to the side
			if text != "" && !strings.Contains("u()<>{}\x1b", text[:1]) {
				return "", false
			}
		case name == "most" && strings.IndexByte("eEcCwW", c) >= 0, strings.IndexByte(pagerKeys, c) < 0:
			return "", false
		}
		return text, true
	})
}

// viOrders are lines behind a colon that write the file or end.
var viOrders = [...]string{"q", "q!", "w", "w!", "wq", "wq!", "x", "x!", "qa", "qa!", "wa", "wqa", "wqa!", "xa", "cq", "cq!", "noh", "set nu", "set nonu", "set number", "set paste", "set nopaste", "set list", "set wrap", "set nowrap", "$", "d", "%d"}

// typedInVi reads the keys of vi, of which it is not known whether it takes them for text or for orders.
func typedInVi(text string) bool {
	return typedKeys(text, func(c byte, text string) (rest string, ok bool) {
		switch {
		case c == ':':
			at := strings.IndexAny(text, "\r\n")
			if at < 0 || !slices.Contains(viOrders[:], text[:at]) && strings.Trim(text[:at], "0123456789") != "" {
				return "", false
			}
			text = text[at:]
		case c == 'g' && text != "" && strings.Contains("fFxQ]", text[:1]):
			return "", false // the file whose name stands there
		case (c == '[' || c == ']') && text != "" && strings.Contains("iIdDfF", text[:1]):
			return "", false // what stands in files that this one includes
		case c == '!' || c == '@' || c == 'Q' || c < ' ' && strings.IndexByte("\n\r\t\x1b\x03\x02\x04\x05\x06\x0c\x15\x19\x08", c) < 0:
			return "", false
		}
		return text, true
	})
}

// typedInPlain reads the keys of nano and emacs: text, what moves, and what writes the file or ends.
func typedInPlain(name, text string) bool {
	return typedKeys(text, func(c byte, text string) (rest string, ok bool) {
		switch {
		case name == "emacs" && c == 0x18: // ctrl-x
			if text == "" || text[0] != 0x13 && text[0] != 0x03 {
				return "", false
			}
			text = text[1:]
		case name == "emacs":
			if c < ' ' && strings.IndexByte("\n\r\t\x01\x02\x04\x05\x06\x07\x08\x0b\x0c\x0e\x10\x13\x16\x19", c) < 0 {
				return "", false
			}
		case c == 0x0f || c == 0x18: // writes it under its name, or ends
			if c == 0x18 {
				text = strings.TrimLeft(text, "yYnN")
			}
			if strings.Trim(text, "\r\n") != "" {
				return "", false
			}
			text = ""
		case c == 0x17: // searches
			return typedSearch(text)
		case c < ' ' && strings.IndexByte("\n\r\t\x01\x02\x03\x04\x05\x06\x07\x08\x0b\x0c\x0e\x10\x15\x16\x19", c) < 0:
			return "", false
		}
		return text, true
	})
}

func between(low, c, high byte) bool { return low <= c && c <= high }
