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
// and unchanged, and of nothing else. Nul says that a zero byte ends each of them.
func Passes(name string, words []Word, nul bool) bool {
	options, ok := passing(name)
	if !ok {
		return false
	}
	operands, patterns, zero := 0, 0, false
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
			zero = zero || strings.Contains(t, "z")
		default:
			operands++
		}
	}
	if zero != nul && name != "cat" { // a line may begin within a name
		return false
	}
	if name == "grep" {
		return operands+patterns >= 1 && (operands == 0 || patterns == 0 && operands == 1)
	}
	return operands == 0
}

// Counts reports whether a program with such words prints a number at most, and nothing
// else: not the name of the file beside it, say.
func Counts(name string, words []Word) bool {
	line, files := name, 0
	for _, x := range words {
		if x.Spreads() || x.Dynamic {
			return false
		}
		line += " " + x.Text
	}
	switch line {
	case "wc -l", "wc -c", "wc -w", "wc -m", "nproc", "date +%s", "id -u", "id -g", "git rev-list --count HEAD":
		return true
	}
	if name != "grep" {
		return false
	}
	counts, pattern := false, false
	for i := 0; i < len(words); i++ {
		switch t := words[i].Text; {
		case words[i].Dynamic || words[i].Pattern != "":
			return false
		case t == "-e" && i+1 < len(words) && !words[i+1].Dynamic:
			pattern = true
			i++
		case len(t) > 1 && t[0] == '-':
			if strings.Trim(t[1:], "cEFGPivwxsa") != "" {
				return false
			}
			counts = counts || strings.Contains(t, "c")
		default:
			files++
		}
	}
	if !pattern {
		files--
	}
	return counts && (files == 0 || files == 1)
}
