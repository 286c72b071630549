package audit

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// A Redactor takes secrets out of text: the values it was given, and whatever
// looks like a secret by its shape or by the name before it. Each is replaced
// by a marker such as [redacted:GITHUB_TOKEN]. Redacting twice changes nothing
// more. It may be used concurrently once it is made; nil knows shapes and
// names only.
type Redactor struct {
	values []secretValue // the longest first, as one may contain another
}

type secretValue struct{ text, mark string }

// minValue is the length from which a value is taken for a secret: a shorter
// one would be found by chance.
const minValue = 8

// NewRedactor returns a Redactor for the variables of environ, "NAME=value"
// each, whose names look secret, and for passwords in URLs of any of them.
func NewRedactor(environ []string) *Redactor {
	r := &Redactor{}
	for _, variable := range environ {
		name, value, ok := strings.Cut(variable, "=")
		if !ok {
			continue
		}
		if SecretName(name) {
			r.add(name, value)
		}
		if u, err := url.Parse(value); err == nil && u.User != nil {
			password, _ := u.User.Password()
			r.add(name, password)
		}
	}
	r.sort()
	return r
}

// With returns a Redactor that knows one more secret, by whatever name. Values
// under 8 characters, plain numbers and words such as "disabled" are ignored.
func (r *Redactor) With(name, value string) *Redactor {
	more := &Redactor{}
	if r != nil {
		more.values = slices.Clone(r.values)
	}
	more.add(name, value)
	more.sort()
	return more
}

// add takes in a value as it is and as it is often written.
func (r *Redactor) add(name, value string) {
	value = strings.TrimSpace(value)
	if len(value) < minValue || strings.Trim(value, "0123456789.") == "" || slices.Contains(harmless[:], strings.ToLower(value)) {
		return
	}
	mark := marker(name)
	quoted, _ := json.Marshal(value) // a string cannot fail
	forms := []string{
		value,
		url.QueryEscape(value),
		url.PathEscape(value),
		string(quoted[1 : len(quoted)-1]),
		base64.StdEncoding.EncodeToString([]byte(value)),
	}
	slices.Sort(forms)
	for _, form := range slices.Compact(forms) {
		r.values = append(r.values, secretValue{form, mark})
	}
}

func (r *Redactor) sort() {
	slices.SortFunc(r.values, func(a, b secretValue) int {
		return cmp.Or(len(b.text)-len(a.text), cmp.Compare(a.text, b.text), cmp.Compare(a.mark, b.mark))
	})
}

// harmless are long words that stand in variables with secret names.
var harmless = [...]string{"disabled", "required", "optional", "anonymous", "password", "redacted"}

func marker(label string) string { return markPrefix + label + "]" }

const markPrefix = "[redacted:"

// maxRounds is how often a text is looked through that still shows secrets.
const maxRounds = 8

// Redact returns s without its secrets.
func (r *Redactor) Redact(s string) string {
	if len(s) < 2 {
		return s
	}
	if r != nil {
		for _, v := range r.values {
			if strings.Contains(s, v.text) {
				s = strings.ReplaceAll(s, v.text, v.mark)
			}
		}
	}
	// What was replaced may have hidden the next one: a ; in a password ends a command no longer.
	for range maxRounds {
		found := redactRandom(redactShapes(s))
		if found == s {
			break
		}
		s = found
	}
	return s
}

// SecretName reports whether a variable of that name holds a secret, going by
// its words: KEY, TOKEN, SECRET, PASSWORD, CREDENTIAL and the like. Names that
// say they are a file, directory or socket do not.
func SecretName(name string) bool {
	name = strings.ToUpper(name)
	words := strings.FieldsFunc(name, func(r rune) bool { return r == '_' || r == '-' || r == '.' })
	if len(words) == 0 || slices.Contains(places[:], words[len(words)-1]) || strings.Contains(name, "TOKENIZER") {
		return false
	}
	for _, part := range secretParts {
		if strings.Contains(name, part) {
			return true
		}
	}
	if name == "PWD" || name == "OLDPWD" {
		return false
	}
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(secretWords[:], w) })
}

// SecretValue reports whether the value of a variable is a secret by its shape:
// a token with a known prefix, a JSON web token, a private key, an address with
// a password in it. A proxy's address is none: without it nothing is reached.
func SecretValue(name, value string) bool {
	if strings.HasSuffix(strings.ToLower(name), "_proxy") {
		return false
	}
	return len(value) >= minValue && redactShapes(value) != value
}

// secretParts betray a name wherever they stand in it, secretWords as a word.
var (
	secretParts = [...]string{"TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "APIKEY", "ACCESSKEY", "PRIVATEKEY"}
	secretWords = [...]string{"KEY", "KEYS", "PASS", "PWD", "AUTH", "PAT", "COOKIE", "COOKIES"}
	places      = [...]string{"FILE", "PATH", "DIR", "SOCK", "SOCKET", "HOME"}
)

// secretsRule begins the name of the built-in rules for files that may hold secrets:
// behind it stands a file's name.
const secretsRule = "secrets: "

// maxString is what an entry keeps of one string.
const maxString = 16 << 10

// redacted returns the entry with every string redacted and bounded.
func (e Entry) redacted(r *Redactor) Entry {
	clean := func(fields ...*string) {
		for _, s := range fields {
			*s = bound(r.Redact(bound(*s, 4*maxString)), maxString)
		}
	}
	clean(&e.ID, &e.Session, &e.Tool, &e.Decision, &e.Level, &e.Policy, &e.Code, &e.Note, &e.File, &e.Caller, &e.Message, &e.Agent, &e.Parent, &e.Typed, &e.Title, &e.Change, &e.Job)
	e.Accesses = slices.Clone(e.Accesses)
	for i := range e.Accesses {
		a := &e.Accesses[i]
		rule, own := strings.CutPrefix(a.Rule, secretsRule)
		clean(&a.Kind, &a.Subject, &a.Decision, &rule, &a.File, &a.Why)
		if a.Rule = rule; own {
			a.Rule = secretsRule + rule
		}
	}
	return e
}

// bound keeps the head and says how much is left out.
func bound(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…[" + strconv.Itoa(len(s)-most) + " bytes more]"
}
