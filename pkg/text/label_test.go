package text

import (
	"strings"
	"testing"

	"golang.org/x/net/html/charset"
)

// TestLabel agrees with what browsers take a label for.
func TestLabel(t *testing.T) {
	for label := range strings.FieldsSeq(`utf-8 UTF8 unicode-1-1-utf-8 866 cp866 csibm866 ibm866 csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2
		iso-8859-3 latin3 iso_8859-4 l4 iso-8859-5 cyrillic iso-8859-6 arabic asmo-708 ecma-114 iso-8859-6-e iso-8859-7 greek elot_928 sun_eu_greek iso-8859-8 hebrew visual
		iso-8859-10 latin6 iso-8859-13 iso885914 iso-8859-15 csisolatin9 l9 iso-8859-16 koi8-r koi koi8_r koi8-u koi8-ru macintosh mac x-mac-roman windows-874 tis-620 dos-874 iso-8859-11
		windows-1250 x-cp1250 cp1251 windows-1252 ansi_x3.4-1968 ascii us-ascii iso-8859-1 iso8859-1 iso_8859-1:1987 latin1 l1 cp819 windows-1253 windows-1254 latin5 iso-8859-9 windows-1255 windows-1256 windows-1257 windows-1258
		x-mac-cyrillic x-mac-ukrainian gbk gb2312 gb_2312-80 chinese x-gbk iso-ir-58 gb18030 big5 big5-hkscs cn-big5 x-x-big5 euc-jp x-euc-jp cseucpkdfmtjapanese iso-2022-jp shift_jis shift-jis sjis x-sjis ms_kanji windows-31j ms932
		euc-kr ks_c_5601-1987 ksc5601 ksc_5601 windows-949 korean cseuckr utf-16be unicodefffe utf-16 utf-16le ucs-2 unicode csunicode iso-10646-ucs-2`) {
		coding, want := charset.Lookup(label)
		e, ok := Label(label)
		if want == "" || !ok || e.Name != want {
			t.Errorf("%s is %q, %t; want %q", label, e.Name, ok, want)
			continue
		}
		text, err := coding.NewEncoder().String("plain")
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := e.Decode([]byte(text)); string(got) != "plain" {
			t.Errorf("%s: %q", label, got)
		}
	}
	for label := range strings.FieldsSeq("x-none hz-gb-2312 iso-2022-kr 1252 utf-32 utf") {
		if e, ok := Label(label); ok {
			t.Errorf("%s is %q", label, e.Name)
		}
	}
	if _, ok := Label(""); ok {
		t.Error("no label is one")
	}
}
