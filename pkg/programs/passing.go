package programs

import "strings"

// passing are the options with which a program prints some lines of its input as they are;
// not ok where it does not.
func passing(name string) (options string, ok bool) {
	switch name {
	case "sort":
		return "rnufVzbdgiM", true
	case "head", "tail":
		return "qz0123456789n", true
	case "uniq":
		return "diuz", true
	case "grep":
		return "EFGPivwxzsqe", true
	case "cat":
		return "", true
	}
	return "", false
}

// Passes reports whether a program with such words prints lines of its input, each whole
// and unchanged, and of nothing else.
func Passes(name string, words []Word) bool {
	options, ok := passing(name)
	if !ok {
		return false
	}
	operands, patterns := 0, 0
	for i := 0; i < len(words); i++ {
		x := words[i]
		switch t := x.Text; {
		case x.Dynamic || x.Spreads() || strings.HasPrefix(t, "--"):
			return false
		case t == "-n" && (name == "head" || name == "tail"), t == "-e" && name == "grep":
			patterns++
			i++
		case len(t) > 1 && t[0] == '-':
			if strings.Trim(t[1:], options) != "" || name == "grep" && strings.Contains(t, "e") {
				return false
			}
		default:
			operands++
		}
	}
	if name == "grep" {
		return operands+patterns >= 1 && (operands == 0 || patterns == 0 && operands == 1)
	}
	return operands == 0
}
