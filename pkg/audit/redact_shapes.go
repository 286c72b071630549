package audit

import "strings"

// A shape is a kind of token that is known by how it starts.
type shape struct {
	prefix string
	min    int    // characters behind the prefix
	max    int    // as many at most; 0 for no limit
	extra  string // characters beside letters and digits
	digit  bool   // one of them has to be a digit: words joined by hyphens are no token
	label  string
}

// shapes is sorted by nothing: the first that fits wins, so longer prefixes
// stand before shorter ones.
var shapes = [...]shape{
	{"github_pat_", 20, 0, "_", false, "github-token"},
	{"ghp_", 30, 0, "", false, "github-token"},
	{"gho_", 30, 0, "", false, "github-token"},
	{"ghu_", 30, 0, "", false, "github-token"},
	{"ghs_", 30, 0, "", false, "github-token"},
	{"ghr_", 30, 0, "", false, "github-token"},
	{"glpat-", 20, 0, "_-.", false, "gitlab-token"},
	{"sk_live_", 16, 0, "", false, "stripe-key"},
	{"sk_test_", 16, 0, "", false, "stripe-key"},
	{"rk_live_", 16, 0, "", false, "stripe-key"},
	{"sk-", 20, 0, "_-", true, "api-key"},
	{"xoxa-", 10, 0, "-", false, "slack-token"},
	{"xoxb-", 10, 0, "-", false, "slack-token"},
	{"xoxe-", 10, 0, "-", false, "slack-token"},
	{"xoxe.", 10, 0, "-.", false, "slack-token"},
	{"xoxo-", 10, 0, "-", false, "slack-token"},
	{"xoxp-", 10, 0, "-", false, "slack-token"},
	{"xoxr-", 10, 0, "-", false, "slack-token"},
	{"xoxs-", 10, 0, "-", false, "slack-token"},
	{"xapp-", 10, 0, "-", false, "slack-token"},
	{"AKIA", 16, 16, "", false, "aws-key-id"},
	{"ASIA", 16, 16, "", false, "aws-key-id"},
	{"AIza", 35, 35, "_-", false, "google-key"},
	{"ya29.", 20, 0, "_-.", false, "google-token"},
	{"npm_", 30, 0, "", false, "npm-token"},
	{"pypi-", 50, 0, "_-", true, "pypi-token"},
	{"hf_", 30, 0, "", false, "huggingface-token"},
	{"dop_v1_", 40, 0, "", false, "digitalocean-token"},
	{"SG.", 40, 0, "_-.", false, "sendgrid-key"},
}

// trigger marks the bytes worth a look: sign wherever it stands, and start, a
// first letter of shapes, of a JWT, of "bearer" and of "config", where a word begins.
var trigger = [256]byte{
	'=': sign, ':': sign, '-': sign,
	'g': start, 's': start, 'r': start, 'x': start, 'A': start, 'y': start, 'n': start, 'p': start,
	'h': start, 'd': start, 'S': start, 'e': start, 'B': start, 'b': start, 'c': start,
}

const (
	sign  = 1
	start = 2
)

// redactShapes replaces what looks like a secret. It looks at each byte once,
// and further only where one of the few triggers stands.
func redactShapes(s string) string {
	return replaceSecrets(s, func(done int) (from, to int, label string) {
		for i := done; i < len(s); i++ {
			if kind := trigger[s[i]]; kind == 0 || kind == start && i > 0 && isWord(s[i-1]) {
				continue
			}
			if from, to, label = secretAt(s, i, done); to > from {
				return from, to, label
			}
		}
		return 0, 0, ""
	})
}

// replaceSecrets replaces each secret by its label. next finds the first from a place
// on; an empty one is none.
func replaceSecrets(s string, next func(done int) (from, to int, label string)) string {
	var out strings.Builder
	done := 0
	for {
		from, to, label := next(done)
		if to <= from {
			break
		}
		out.WriteString(s[done:from])
		out.WriteString(marker(label))
		done = to
	}
	if done == 0 {
		return s
	}
	out.WriteString(s[done:])
	return out.String()
}

// secretAt returns the secret that a trigger at i betrays; it may lie further
// on. Nothing before from is looked at: it is replaced already.
func secretAt(s string, i, from int) (start, end int, label string) {
	switch s[i] {
	case '=', ':':
		if strings.HasPrefix(s[i:], "://") {
			return userinfo(s, i+3)
		}
		return named(s, i, from)
	case '-':
		if strings.HasPrefix(s[i:], "-----BEGIN ") {
			return pemBlock(s, i)
		}
		if i == 0 || isBlank(s[i-1]) || isQuote(s[i-1]) {
			if start, end, label = programOption(s, i); end > start {
				return start, end, label
			}
			return flag(s, i)
		}
	case 'c':
		return setting(s, i)
	default:
		if start, end, label = token(s, i); end <= start && s[i] == 's' {
			return setting(s, i)
		}
		return start, end, label
	}
	return 0, 0, ""
}

// token finds what is known by its own form.
func token(s string, i int) (start, end int, label string) {
	rest := s[i:]
	// Behind a hyphen it is part of a longer word, which was looked at before:
	// looking again at each of its parts would take quadratic time.
	hyphenated := i > 0 && s[i-1] == '-'
	for k := range shapes {
		sh := &shapes[k]
		if sh.prefix[0] != rest[0] || !strings.HasPrefix(rest, sh.prefix) || hyphenated && strings.Contains(sh.extra, "-") {
			continue
		}
		n := span(rest[len(sh.prefix):], sh.extra)
		body := rest[len(sh.prefix) : len(sh.prefix)+n]
		if n < sh.min || sh.max > 0 && n > sh.max || sh.digit && !strings.ContainsAny(body, "0123456789") {
			continue
		}
		return i, i + len(sh.prefix) + n, sh.label
	}
	if !hyphenated && strings.HasPrefix(rest, "eyJ") {
		if n := jwt(rest); n > 0 {
			return i, i + n, "jwt"
		}
	}
	if len(rest) > 7 && strings.EqualFold(rest[:6], "bearer") && rest[6] == ' ' {
		if n := span(rest[7:], "-._~+/="); n >= 16 {
			return i + 7, i + 7 + n, "bearer"
		}
	}
	return 0, 0, ""
}

// jwt returns the length of the three parts of a token, the last of which may
// be empty.
func jwt(s string) int {
	header := span(s, "_-")
	if header < 10 || header == len(s) || s[header] != '.' {
		return 0
	}
	payload := span(s[header+1:], "_-")
	dot := header + 1 + payload
	if payload < 10 || dot == len(s) || s[dot] != '.' {
		return 0
	}
	return dot + 1 + span(s[dot+1:], "_-")
}

// userinfo finds the password, or a name that is a token, before the host of a URL.
func userinfo(s string, i int) (start, end int, label string) {
	host := i
	for host < len(s) && !isBlank(s[host]) && !isQuote(s[host]) && !strings.ContainsRune("/?#<>|", rune(s[host])) {
		host++
	}
	at := strings.LastIndexByte(s[i:host], '@')
	if at < 0 {
		return 0, 0, ""
	}
	user := s[i : i+at]
	if strings.HasPrefix(user, markPrefix) {
		return 0, 0, ""
	}
	name, password, both := strings.Cut(user, ":")
	if both && password != "" && password != "x-oauth-basic" {
		return keep(s, i+len(name)+1, i+at, "url-password")
	}
	before := strings.ToLower(s[max(0, i-len("https://")):i])
	web := strings.HasSuffix(before, "http://") || before == "https://"
	if len(name) >= 16 || both && len(name) >= minValue || web && tokenLike(name) {
		return keep(s, i, i+len(name), "url-user")
	}
	return 0, 0, ""
}

// tokenLike reports whether a name before a host that nothing but a name is given to is
// hardly one of a person's: it has a digit, or letters of both kinds.
func tokenLike(name string) bool {
	mixed := strings.ToLower(name) != name && strings.ToUpper(name) != name
	return len(name) >= minValue && (mixed || strings.ContainsAny(name, "0123456789"))
}

// pemBlock finds a private key, up to the end of the text where it has none.
func pemBlock(s string, i int) (start, end int, label string) {
	line := s[i:min(i+80, len(s))]
	if !strings.Contains(line, "PRIVATE KEY-----") {
		return 0, 0, ""
	}
	const mark = "PRIVATE KEY-----"
	_, after, ok := strings.Cut(s[i+strings.Index(s[i:], mark)+len(mark):], "-----END ")
	if !ok {
		return i, len(s), "private-key"
	}
	_, rest, _ := strings.Cut(after, mark)
	return i, len(s) - len(rest), "private-key"
}

// keep leaves a value alone that is a marker already.
func keep(s string, start, end int, label string) (int, int, string) {
	if strings.HasPrefix(s[start:end], markPrefix) {
		return 0, 0, ""
	}
	return start, end, label
}

// span counts the leading letters, digits and characters of extra.
func span(s, extra string) int {
	for i := range len(s) {
		if c := s[i]; !isAlnum(c) && strings.IndexByte(extra, c) < 0 {
			return i
		}
	}
	return len(s)
}

func isAlnum(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

func isWord(c byte) bool { return isAlnum(c) || c == '_' }

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }
