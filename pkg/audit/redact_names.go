package audit

import (
	"slices"
	"strings"
)

// flag finds the value of "--password value", and in "-u name:value" the password.
func flag(s string, i int) (start, end int, label string) {
	name := span(s[i:], "-_.")
	v := i + name
	if v == len(s) {
		return 0, 0, ""
	}
	f := s[i : i+name]
	switch login := f == "-u" || f == "--user" || f == "--proxy-user"; {
	case login && s[v] == ' ', login && s[v] == '=' && f != "-u":
		return credentials(s, v+1)
	case (strings.HasPrefix(f, "-u") || strings.HasPrefix(f, "-U")) && startedBy(s[max(0, i-maxBefore):i], " curl ", ""):
		if v = i + 2; s[v] == ' ' {
			v++
		}
		return credentials(s, v)
	}
	word := strings.TrimLeft(f, "-")
	if s[v] != ' ' || !strings.HasPrefix(f, "--") || !nameInText(word) || v+1 < len(s) && s[v+1] == '-' {
		return 0, 0, ""
	}
	a, b := value(s, v+1)
	return secret(s, a, b, word)
}

// credentials finds the password in the "name:password" at i. A name with nothing behind
// its colon is a token.
func credentials(s string, i int) (start, end int, label string) {
	a, b := value(s, i)
	colon := strings.IndexByte(s[a:b], ':')
	switch {
	case colon < 0, strings.HasPrefix(s[a:b], "http"), strings.HasPrefix(s[a:b], markPrefix):
		return 0, 0, ""
	case a+colon+1 == b:
		return secret(s, a, a+colon, "user")
	}
	return secret(s, a+colon+1, b, "password")
}

// setting finds the value that a program is told to keep under a secret name, as in
// "npm config set NAME VALUE" and "aws configure set NAME VALUE".
func setting(s string, i int) (start, end int, label string) {
	word, set := i+span(s[i:], ""), false
	switch s[i:word] {
	case "config", "configure":
	case "set":
		set = true
		if !slices.Contains(setters[:], lastWord(s[max(0, i-maxBefore):i])) {
			return 0, 0, ""
		}
	default:
		return 0, 0, ""
	}
	name := ""
	for v := word; v < len(s) && s[v] == ' '; {
		for v < len(s) && s[v] == ' ' {
			v++
		}
		a, b := value(s, v)
		switch given := s[a:b]; {
		case name != "" && strings.HasPrefix(given, "-"):
			return 0, 0, ""
		case name != "":
			return secret(s, a, b, name)
		case given == "set":
			set = true
		case strings.HasPrefix(given, "-"):
		case !set && !strings.ContainsAny(given, ".:/-_"): // a word of a sentence
			return 0, 0, ""
		case strings.HasPrefix(given, "credential."): // says where git keeps them
			return 0, 0, ""
		default:
			name = given[strings.LastIndexAny(given, ":/")+1:]
			if !nameInText(name) && name != "_auth" {
				return 0, 0, ""
			}
		}
		if v = b; v+1 < len(s) && s[v] == '\\' && isQuote(s[v+1]) {
			v++
		}
		if v < len(s) && isQuote(s[v]) {
			v++
		}
	}
	return 0, 0, ""
}

// setters are the words before a "set" that keeps a value; those with config are found by it.
var setters = [...]string{"npm", "pnpm", "c", "user-secrets"}

// lastWord returns the last word of s.
func lastWord(s string) string {
	s = strings.TrimRight(s, " ")
	return s[strings.LastIndexAny(s, " \t\n/\"'`;|&(")+1:]
}

// named finds the value behind a secret name and the separator at i:
// NAME=value, --name=value, "name": "value", Header: value.
func named(s string, i, from int) (start, end int, label string) {
	if i+1 < len(s) && (s[i+1] == '=' || s[i] == ':' && s[i+1] == ':') {
		return 0, 0, ""
	}
	name, spaced := nameBefore(s, i, from)
	v := i + 1
	for v < len(s) && (s[v] == ' ' || s[v] == '\t') {
		v++
	}
	if name == "" || v == len(s) || strings.HasPrefix(s[v:], "${") || strings.HasPrefix(s[v:], "$(") {
		return 0, 0, ""
	}
	if s[i] == ':' {
		if glued, ok := strings.CutPrefix(name, "H"); ok && header(glued) { // -HCookie: as it is quoted
			name = glued
		}
		if header(name) {
			return headerValue(s, v, name)
		}
	}
	if !nameInText(name) || name+": " == secretsRule && i > from+len(name) && s[i-len(name)-1] == '(' && strings.ContainsRune("*.~/", rune(s[v])) { // the pattern of a rule's
		return 0, 0, ""
	}
	a, b := value(s, v)
	spaced = spaced || v > i+1
	if s[i] == '=' && spaced && a == v && !password(name) {
		return 0, 0, "" // an assignment of a program, of something that is no literal
	}
	return secret(s, a, b, name)
}

// nameBefore returns the word before the separator at i, quoted or not.
func nameBefore(s string, i, from int) (name string, spaced bool) {
	end := i
	for end > from && s[end-1] == ' ' {
		end--
	}
	spaced = end < i
	if end > from && isQuote(s[end-1]) {
		end--
		if end > from && s[end-1] == '\\' {
			end--
		}
	}
	start := end
	for start > from && (isWord(s[start-1]) || s[start-1] == '-' || s[start-1] == '.') && end-start < 64 {
		start--
	}
	return strings.TrimLeft(s[start:end], "-."), spaced
}

// nameInText is SecretName without the words that mean other things in text.
func nameInText(name string) bool {
	if !SecretName(name) {
		return false
	}
	upper := strings.ToUpper(name)
	for _, part := range secretParts {
		if strings.Contains(upper, part) {
			return true
		}
	}
	if upper == "PASS" {
		return true
	}
	cut := strings.LastIndexAny(upper, "_-.")
	if cut < 0 {
		return false
	}
	switch upper[cut+1:] {
	case "PASS", "PWD", "PAT":
		return true
	case "KEY", "AUTH":
		for _, before := range keyWords {
			if strings.HasSuffix(upper[:cut], before) {
				return true
			}
		}
	}
	return false
}

// keyWords before KEY make it a secret one.
var keyWords = [...]string{"API", "ACCESS", "SECRET", "PRIVATE", "SIGNING", "ENCRYPTION", "MASTER", "DEPLOY", "SERVICE", "AUTH", "ACCOUNT", "SHARED", "APP"}

// password reports whether even a short value behind the name is a secret.
func password(name string) bool {
	upper := strings.ToUpper(name)
	return strings.Contains(upper, "PASS") || strings.Contains(upper, "SECRET") || strings.HasSuffix(upper, "PWD")
}

// secret returns the value when it is one: not a reference to a variable, and
// long enough for its name.
func secret(s string, start, end int, name string) (int, int, string) {
	v := s[start:end]
	if v == "" || reference(v) {
		return 0, 0, ""
	}
	if !password(name) && (len(v) < minValue || strings.Trim(v, "0123456789.") == "") {
		return 0, 0, ""
	}
	return keep(s, start, end, name)
}

// reference reports whether v is $NAME, ${NAME…} or $(command).
func reference(v string) bool {
	if len(v) < 2 || v[0] != '$' {
		return false
	}
	if v[1] == '{' || v[1] == '(' {
		return true
	}
	return span(v[1:], "_") == len(v)-1
}

// header reports whether the value of an HTTP header is a secret as a whole.
func header(name string) bool {
	for _, h := range headers {
		if strings.EqualFold(h, name) {
			return true
		}
	}
	return false
}

var headers = [...]string{"Authorization", "Proxy-Authorization", "X-Api-Key", "Api-Key", "X-Auth-Token", "Cookie", "Set-Cookie"}

// headerValue finds what follows a header's name: up to the closing quote or,
// without one, a scheme and a word, or all of a line of cookies.
func headerValue(s string, v int, name string) (start, end int, label string) {
	end = v
	if isQuote(s[v]) || s[v] == '\\' {
		v, end = value(s, v)
	} else {
		most := len(s)
		if !strings.Contains(strings.ToLower(name), "cookie") {
			most = min(most, v+8192) // only words of it are needed
		}
		for end < most && s[end] != '\n' && s[end] != '\r' && !isQuote(s[end]) {
			end++
		}
	}
	if word, rest, ok := strings.Cut(s[v:end], " "); ok && !strings.Contains(strings.ToLower(name), "cookie") {
		scheme := v + len(word) + 1
		switch strings.ToLower(word) {
		case "bearer", "basic", "token":
			v = scheme
			if next := strings.IndexByte(rest, ' '); next >= 0 {
				end = v + next
			}
		case "digest", "aws4-hmac-sha256", "negotiate":
			v = scheme
			if line := strings.IndexAny(s[v:], "\r\n"); line >= 0 {
				end = max(end, v+line)
			}
		default:
			end = v + len(word)
		}
	}
	if v >= end || reference(s[v:end]) {
		return 0, 0, ""
	}
	return keep(s, v, end, name)
}

// value returns the bounds of the value that starts at i: what its quotes
// hold, or a word as a shell would take it.
func value(s string, i int) (start, end int) {
	if i < len(s) && s[i] == '\\' && i+1 < len(s) && isQuote(s[i+1]) { // quoted within a quoted string
		if n := strings.Index(s[i+2:], s[i:i+2]); n >= 0 {
			return i + 2, i + 2 + n
		}
	}
	if i < len(s) && isQuote(s[i]) {
		for end = i + 1; end < len(s) && s[end] != s[i]; end++ {
			if s[end] == '\\' && end+1 < len(s) {
				end++
			}
		}
		return i + 1, min(end, len(s))
	}
	for end = i; end < len(s) && !isBlank(s[end]) && !strings.ContainsRune("&;|<>", rune(s[end])); end++ {
		switch {
		case s[end] == '\\' && end+1 < len(s):
			end++
		case isQuote(s[end]):
			n := strings.IndexAny(s[end+1:], " \t\r\n"+s[end:end+1])
			if n < 0 || s[end+1+n] != s[end] {
				return i, end // it closes a quote that opened before the value
			}
			end += 1 + n
		}
	}
	return i, min(end, len(s))
}
