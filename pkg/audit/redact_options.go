package audit

import (
	"math"
	"strings"
)

// passwordOptions are the options of programs whose value is a password though
// their name does not say so. glued: it may stand in the option's own word;
// apart: it may be the next one.
var passwordOptions = [...]struct {
	programs, options string
	glued, apart      bool
	with              string // a word that stands before it; "" for any
}{
	{" mysql mysqldump mysqladmin mysqlimport mysqlshow mysqlcheck mariadb mariadb-dump mariadb-admin mycli ", " -p ", true, false, ""},
	{" 7z 7za 7zr 7zz rar unrar ", " -p -hp ", true, false, ""},
	{" sshpass ", " -p ", true, true, ""},
	{" docker podman nerdctl buildah skopeo helm oras crane az oc ", " -p ", true, true, "login"},
	{" openssl ", " -k -K -pass -passin -passout -password -passwd ", false, true, ""},
	{" redis-cli keydb-cli valkey-cli ", " -a ", true, true, ""},
	{" mongo mongosh mongodump mongorestore mongoexport mongoimport cqlsh twine rdesktop ", " -p ", true, true, ""},
	{" ldapsearch ldapadd ldapmodify ldapdelete ldappasswd ldapwhoami ", " -w -s ", true, true, ""},
	{" zip unzip zipcloak sqlcmd bcp mosquitto_pub mosquitto_sub ipmitool ", " -P ", true, true, ""},
	{" snmpget snmpwalk snmpset ", " -A -X ", true, true, ""},
	{" smbclient ", " -U ", true, true, ""},
	{" http https xh ", " -a ", true, true, ""},
	{" gpg gpg2 ", " --passphrase ", false, true, ""},
	{" doctl ", " -t ", true, true, ""},
	{" curl ", " --oauth2-bearer ", false, true, ""},
}

// maxBefore is how far before an option its program is looked for.
const maxBefore = 160

// programOption finds the password in an option of a program at i, such as
// mysql -pX and openssl enc -k X.
func programOption(s string, i int) (start, end int, label string) {
	for k := range passwordOptions {
		o := &passwordOptions[k]
		for list := o.options[1:]; list != ""; {
			option, rest, _ := strings.Cut(list, " ")
			list = rest
			v := i + len(option)
			if !strings.HasPrefix(s[i:], option) || v >= len(s) {
				continue
			}
			if apart := s[v] == ' '; apart && !o.apart || !apart && !o.glued || !startedBy(s[max(0, i-maxBefore):i], o.programs, o.with) {
				continue
			} else if apart {
				v++
			}
			if a, b := value(s, v); a < b && !reference(s[a:b]) && s[a] != '-' {
				return keep(s, a, b, "password")
			}
		}
	}
	return 0, 0, ""
}

// startedBy reports whether a command that begins as before is one of the
// programs in list, and has the word with.
func startedBy(before, list, with string) bool {
	if at := strings.LastIndexAny(before, ";|&\n(`"); at >= 0 {
		before = before[at+1:]
	}
	for list = list[1:]; list != ""; {
		name, rest, _ := strings.Cut(list, " ")
		list = rest
		if hasWord(before, name) && (with == "" || hasWord(before, with)) {
			return true
		}
	}
	return false
}

// hasWord reports whether a word stands in s, perhaps behind a directory.
func hasWord(s, word string) bool {
	for {
		i := strings.Index(s, word)
		if i < 0 {
			return false
		}
		end := i + len(word)
		if (i == 0 || s[i-1] == '/' || isBlank(s[i-1]) || isQuote(s[i-1])) && (end == len(s) || isBlank(s[end]) || isQuote(s[end])) {
			return true
		}
		s = s[end:]
	}
}

// randomFrom is the length from which a word of chance is taken for a key;
// randomBits are the bits of each of its characters, of 5.95 that there could be.
const (
	randomFrom = 32
	randomBits = 4.0
)

// redactRandom replaces long words that look like chance: letters of both
// kinds and digits, mixed. Hashes, which are hexadecimal, stay.
func redactRandom(s string) string {
	return replaceSecrets(s, func(done int) (from, to int, label string) {
		for i := done; i < len(s); {
			n := span(s[i:], "_-+=")
			if n >= randomFrom && random(s[i:i+n]) {
				return i, i + n, "random"
			}
			i += max(n, 1)
		}
		return 0, 0, ""
	})
}

// random reports whether a word looks like chance.
func random(w string) bool {
	var count [256]int
	lower, upper, digit, changes, last := 0, 0, 0, 0, 0
	for i := range len(w) {
		c, kind := w[i], 0
		count[c]++
		switch {
		case 'a' <= c && c <= 'z':
			lower, kind = lower+1, 1
		case 'A' <= c && c <= 'Z':
			upper, kind = upper+1, 2
		case '0' <= c && c <= '9':
			digit, kind = digit+1, 3
		}
		if kind != last {
			changes++
		}
		last = kind
	}
	if min(lower, upper, digit) < 3 || changes*2 < len(w) {
		return false
	}
	bits := 0.0
	for _, n := range &count {
		if n > 0 {
			p := float64(n) / float64(len(w))
			bits -= p * math.Log2(p)
		}
	}
	return bits >= randomBits
}
