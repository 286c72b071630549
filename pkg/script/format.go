package script

import (
	"fmt"
	"math"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// format is Lua's string.format. The library's own hands the text to Go's, which says
// something else of what is wrong, and that within the result: a number without a verb, or
// a verb without a value, would go on unseen. Widths are bounded as in Lua.
func format(l *lua.LState) int {
	text := l.CheckString(1)
	var b strings.Builder
	for arg := 2; ; {
		before, rest, ok := strings.Cut(text, "%")
		if b.WriteString(before); !ok {
			break
		}
		if strings.HasPrefix(rest, "%") {
			b.WriteByte('%')
			text = rest[1:]
			continue
		}
		spec, verb, rest := directive(rest)
		if verb == 0 || !strings.ContainsRune("cdiouxXeEfgGqs", rune(verb)) {
			l.RaiseError("string.format: %%%s is no directive that Lua has", spec+strings.TrimRight(string(verb), "\x00"))
		}
		if text = rest; l.GetTop() < arg {
			l.RaiseError("bad argument #%d to format (no value)", arg)
		}
		b.WriteString(formatted(l, arg, spec, verb))
		arg++
		if b.Len() > maxStep {
			l.RaiseError("string.format: the result is larger than %d MiB", maxStep>>20)
		}
	}
	l.Push(lua.LString(b.String()))
	return 1
}

// directive cuts text behind a percent sign into flags, width and precision, the verb, and
// the rest. Verb is 0 where there is none, or where a number has more than two digits.
func directive(text string) (spec string, verb byte, rest string) {
	i := 0
	span := func(chars string, most int) {
		for n := 0; n < most && i < len(text) && strings.IndexByte(chars, text[i]) >= 0; n++ {
			i++
		}
	}
	span("-+ #0", 5)
	span("0123456789", 2)
	if i < len(text) && text[i] == '.' {
		i++
		span("0123456789", 2)
	}
	if i >= len(text) {
		return text, 0, ""
	}
	return text[:i], text[i], text[i+1:]
}

// formatted is one value by its directive.
func formatted(l *lua.LState, arg int, spec string, verb byte) string {
	switch verb {
	case 's':
		return fmt.Sprintf("%"+spec+"s", l.ToStringMeta(l.CheckAny(arg)).String())
	case 'q':
		return quoted(l.CheckString(arg))
	case 'c':
		return string([]byte{byte(int(l.CheckNumber(arg)))}) //nolint:gosec // as C does
	case 'e', 'E', 'f', 'g', 'G':
		return fmt.Sprintf("%"+spec+string(verb), float64(l.CheckNumber(arg)))
	}
	n := float64(l.CheckNumber(arg))
	if math.IsNaN(n) || math.IsInf(n, 0) {
		l.RaiseError("bad argument #%d to format (number has no integer representation)", arg)
	}
	if verb == 'i' || verb == 'u' {
		verb = 'd'
	}
	return fmt.Sprintf("%"+spec+string(verb), int64(n))
}

// quoted is text as Lua reads it again.
func quoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", "\\\n", "\r", `\r`, "\x00", `\000`).Replace(text) + `"`
}
