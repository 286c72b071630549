package text

import "strings"

// labels are the names that pages use for encodings, as browsers understand them (the
// WHATWG's Encoding Standard), without dashes, underscores, a year, and x- in front.
var labels = [...]struct{ name, words string }{
	{"utf-8", "utf8 unicode11utf8 unicode20utf8"},
	{"windows-1252", "windows1252 cp1252 ascii usascii ansix3.41968 cp819 ibm819 csisolatin1 isoir100 iso88591 l1 latin1"},
	{"iso-8859-2", "iso88592 csisolatin2 isoir101 l2 latin2"},
	{"iso-8859-3", "iso88593 csisolatin3 isoir109 l3 latin3"},
	{"iso-8859-4", "iso88594 csisolatin4 isoir110 l4 latin4"},
	{"iso-8859-5", "iso88595 csisolatincyrillic isoir144 cyrillic"},
	{"iso-8859-6", "iso88596 iso88596e iso88596i csiso88596e csiso88596i csisolatinarabic isoir127 ecma114 asmo708 arabic"},
	{"iso-8859-7", "iso88597 csisolatingreek isoir126 ecma118 elot928 greek greek8 suneugreek"},
	{"iso-8859-8", "iso88598 iso88598e iso88598i csiso88598e csiso88598i csisolatinhebrew isoir138 hebrew visual logical"},
	{"windows-1254", "windows1254 cp1254 iso88599 csisolatin5 isoir148 l5 latin5"},
	{"iso-8859-10", "iso885910 csisolatin6 isoir157 l6 latin6"},
	{"iso-8859-13", "iso885913"},
	{"iso-8859-14", "iso885914"},
	{"iso-8859-15", "iso885915 csisolatin9 l9"},
	{"iso-8859-16", "iso885916"},
	{"windows-874", "windows874 dos874 iso885911 tis620"},
	{"windows-1250", "windows1250 cp1250"},
	{"windows-1251", "windows1251 cp1251"},
	{"windows-1253", "windows1253 cp1253"},
	{"windows-1255", "windows1255 cp1255"},
	{"windows-1256", "windows1256 cp1256"},
	{"windows-1257", "windows1257 cp1257"},
	{"windows-1258", "windows1258 cp1258"},
	{"ibm866", "ibm866 866 cp866 csibm866"},
	{"koi8-r", "koi8r koi koi8 cskoi8r"},
	{"koi8-u", "koi8u koi8ru"},
	{"macintosh", "macintosh mac macroman csmacintosh"},
	{"x-mac-cyrillic", "maccyrillic macukrainian"},
	{"gbk", "gbk gb2312 gb231280 chinese csgb2312 csiso58gb231280 isoir58"},
	{"gb18030", "gb18030"},
	{"big5", "big5 big5hkscs cnbig5 csbig5 xbig5"},
	{"euc-jp", "eucjp cseucpkdfmtjapanese"},
	{"iso-2022-jp", "iso2022jp csiso2022jp"},
	{"shift_jis", "shiftjis sjis csshiftjis ms932 mskanji windows31j"},
	{"euc-kr", "euckr cseuckr csksc56011987 isoir149 korean ksc56011987 ksc56011989 ksc5601 windows949"},
	{"utf-16be", "utf16be unicodefffe"},
	{"utf-16le", "utf16le utf16 csunicode iso10646ucs2 ucs2 unicode unicodefeff"},
}

// Label returns the Encoding that a page means by a name.
func Label(name string) (Encoding, bool) {
	name, _, _ = strings.Cut(strings.ToLower(strings.TrimSpace(name)), ":")
	name = strings.NewReplacer("-", "", "_", "").Replace(strings.TrimPrefix(name, "x-"))
	for _, l := range labels {
		for word := range strings.FieldsSeq(l.words) {
			if word == name {
				return Encoding{Name: l.name, Confidence: 1}, true
			}
		}
	}
	return Encoding{}, false
}
