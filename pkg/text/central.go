package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// central are the letters of Polish, Czech, Slovak, Hungarian, Croatian and
	// their neighbours that no western language has.
	central = "ąćęłńśźżčďěňřšťůžőűľĺŕđğăţş"

	// sharedCentral are those that western languages write, too.
	sharedCentral = "áäéëíóöôúüýç"

	// minCentral is how many characters must speak against a western encoding.
	minCentral = 2
)

// detectCentral tells windows-1250 and iso-8859-2 from their western siblings,
// whose letters stand for the same bytes: read as western text, Polish has
// signs such as ³ and ¿ within words, Czech has ø beside è and ì, Hungarian õ
// and û beside ö. It is "" for everything else.
func detectCentral(b []byte) string {
	best, most := "", 0.6
	for _, name := range [...]string{"windows-1250", "iso-8859-2"} {
		if name == "iso-8859-2" && hasC1(b) {
			continue
		}
		text, err := coderFor(name).NewDecoder().Bytes(b)
		if err != nil {
			continue
		}
		if score, against := scoreCentral(string(text), b); score > most && against >= minCentral {
			best, most = name, score
		}
	}
	return best
}

// scoreCentral tells how well a text reads, from 0 to 1, and how many of its
// bytes make no sense as western text.
func scoreCentral(text string, raw []byte) (score float64, against int) {
	sum, n, letters := 0.0, 0, 0
	prev := ' '
	seen := map[rune]int{}
	for i, r := range text {
		if r >= utf8.RuneSelf {
			next, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(r):])
			lower := unicode.ToLower(r)
			seen[lower]++
			n++
			inWord := unicode.IsLetter(prev) || unicode.IsLetter(next)
			switch {
			case unicode.IsUpper(r) && unicode.IsLower(prev): // no word has a capital inside
			case strings.ContainsRune(central, lower) && inWord:
				sum++
			case strings.ContainsRune(sharedCentral, lower):
				sum += 0.7
			case !unicode.IsLetter(r) && !inWord:
				sum += 0.5
			}
		}
		if prev = r; unicode.IsLetter(r) {
			letters++
		}
	}
	if n == 0 || 2*n > letters {
		return 0, 0 // Greek and Hebrew have hardly a letter of ASCII
	}
	if seen['ř'] > 0 && seen['ě']+seen['č'] > 0 && seen['ĺ']+seen['ć'] == 0 { // ø, ì and è, but no å and æ
		against += minCentral
	}
	if seen['ő'] > 0 && seen['ö']+seen['ü'] > 0 {
		against += min(seen['ő'], 1) + min(seen['ű']+seen['ö']+seen['ü'], 1)
	}
	return sum / float64(n), against + signsInWords(raw)
}

// signsInWords counts bytes that are signs in western encodings and stand
// between letters, or begin a word.
func signsInWords(b []byte) int {
	n := 0
	for i, c := range b {
		if strings.IndexByte("\xb1\xb3\xb9\xbf\xbc\xb6\xa3\xa6\xaf\x9c\x9f\xbe\xb5\xbb\xa5", c) < 0 || i+1 == len(b) {
			continue
		}
		letter := func(c byte) bool { return isASCIILetter(c) || isLatinLetter(c) }
		before := i > 0 && letter(b[i-1])
		if after := letter(b[i+1]) && b[i+1] >= 'a'; before && after || before && c != 0xb9 && c != 0xb3 && c != 0xbb && c != 0xb5 && b[i-1] >= 'a' || after && (c == 0xbf || c == 0xb3 || c == 0xb6) && i > 0 && b[i-1] == ' ' {
			if c == 0x9c || c == 0x9f || c == 0xbb || c == 0xbf && !before || c == 0xa5 || c == 0xb5 {
				continue // œ, Ÿ, », ¿, ¥ and µ stand in western texts
			}
			n++
		}
	}
	return n
}
