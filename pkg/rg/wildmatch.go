package rg

import "strings"

// wildmatch matches a gitignore pattern against a slash-separated path: * and
// ? do not match a slash, ** between slashes matches any number of
// directories, \ quotes. A malformed pattern matches nothing.
//
// It takes time linear in the pattern for each position of the name: only the
// last star of a path component and the last ** can still take more.
func wildmatch(pattern, name string) bool {
	p, n := 0, 0
	star, starName := -1, 0 // the pattern after the last *, and the name where it ends
	deep, deepName := -1, 0 // the same of the last **/
	for {
		if p < len(pattern) && pattern[p] == '*' {
			stars := 1
			for p+stars < len(pattern) && pattern[p+stars] == '*' {
				stars++
			}
			component := stars >= 2 && (p == 0 || pattern[p-1] == '/')
			p += stars
			switch {
			case component && p == len(pattern):
				return true
			case component && pattern[p] == '/':
				p++
				deep, deepName, star = p, n, -1
			default:
				star, starName = p, n
			}
			continue
		}
		if p == len(pattern) && n == len(name) {
			return true
		}
		if p < len(pattern) && n < len(name) {
			if size := wildone(pattern[p:], name[n]); size > 0 {
				if name[n] == '/' {
					star = -1
				}
				p += size
				n++
				continue
			}
		}
		switch {
		case star >= 0 && starName < len(name) && name[starName] != '/':
			starName++
			p, n = star, starName
		case deep >= 0:
			slash := strings.IndexByte(name[deepName:], '/')
			if slash < 0 {
				return false
			}
			deepName += slash + 1
			p, n, star = deep, deepName, -1
		default:
			return false
		}
	}
}

// wildone matches c against what the pattern begins with and gives the length
// of that; 0 when it does not match.
func wildone(pattern string, c byte) int {
	switch pattern[0] {
	case '?':
		if c == '/' {
			return 0
		}
		return 1
	case '[':
		rest, ok := wildclass(pattern, c)
		if !ok || c == '/' {
			return 0
		}
		return len(pattern) - len(rest)
	case '\\':
		if len(pattern) < 2 || pattern[1] != c {
			return 0
		}
		return 2
	}
	if pattern[0] != c {
		return 0
	}
	return 1
}

// wildclass matches c against the class that pattern begins with and gives
// what follows the class.
func wildclass(pattern string, c byte) (rest string, ok bool) {
	i := 1
	negated := false
	if i < len(pattern) && (pattern[i] == '!' || pattern[i] == '^') {
		negated = true
		i++
	}
	in := false
	for first := true; ; first = false {
		if i >= len(pattern) {
			return "", false
		}
		if pattern[i] == ']' && !first {
			return pattern[i+1:], in != negated
		}
		if strings.HasPrefix(pattern[i:], "[:") {
			if end := strings.Index(pattern[i:], ":]"); end > 0 {
				set, known := posixSet(pattern[i+2 : i+end])
				if !known {
					return "", false
				}
				in = in || set.has(rune(c))
				i += end + 2
				continue
			}
		}
		lo, n, valid := wildbyte(pattern[i:])
		if !valid {
			return "", false
		}
		i += n
		hi := lo
		if i+1 < len(pattern) && pattern[i] == '-' && pattern[i+1] != ']' {
			hi, n, valid = wildbyte(pattern[i+1:])
			if !valid {
				return "", false
			}
			i += 1 + n
		}
		in = in || lo <= c && c <= hi
	}
}

func wildbyte(s string) (c byte, size int, ok bool) {
	if s[0] != '\\' {
		return s[0], 1, true
	}
	if len(s) < 2 {
		return 0, 0, false
	}
	return s[1], 2, true
}
