package text

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"
)

// samples are texts as they stand in files, with the encodings they are tried in.
func samples() []struct {
	name, text string
	encodings  []string
} {
	unicode := []string{"utf-8", "utf-8-bom", "utf-16le", "utf-16be", "utf-16le-bom", "utf-16be-bom", "utf-32le", "utf-32be", "utf-32le-bom", "utf-32be-bom"}
	with := func(names ...string) []string { return append(append([]string{}, unicode...), names...) }
	return []struct {
		name, text string
		encodings  []string
	}{
		{"english", "# Settings\nname = \"server\"\nport = 8080\n", unicode},
		{"german", "Größe ändern: Bitte wählen Sie eine Datei aus.\nDie Übertragung wurde für später gemerkt.\n", with("iso-8859-1")},
		{"french", "/* Déjà vérifié : à côté de l'élève, où est le fichier ? */\nint été = 0;\n", with("iso-8859-1")},
		{"spanish", "El niño comió una piña.\n¿Qué pasó mañana? ¡Acción, señor!\n", with("iso-8859-1")},
		{"typographic", "“Smart quotes” – and a dash… it’s 5 € for café\n", with("windows-1252")},
		{"one accent", "// Author: José\nfunc main() {}\n", with("iso-8859-1")},
		{"japanese prose", "これは日本語のテキストです。ファイルを開いて、内容を確認してください。\n", with("shift_jis", "euc-jp")},
		{"japanese code", "int main() { /* メイン関数: 設定を読み込む */\n  return 0; // 正常終了\n}\n", with("shift_jis", "euc-jp")},
		{"japanese message", "エラー: 指定されたファイルが見つかりません\n", with("shift_jis", "euc-jp")},
		{"chinese prose", "这是一个中文文本文件。我们可以用它来测试编码的检测结果。\n", with("gbk")},
		{"chinese code", "# 读取配置文件\ndef load(path):\n    # 如果文件不存在，返回默认值\n    return None\n", with("gbk")},
		{"chinese message", "错误：无法打开文件，请检查路径和权限。\n", with("gbk")},
		{"taiwanese prose", "這是一個繁體中文的文字檔案。我們可以用來測試編碼。\n", with("big5")},
		{"taiwanese code", "# 讀取設定檔\ndef load(path):\n    # 如果檔案不存在，就使用預設值\n    return None\n", with("big5")},
		{"korean prose", "이것은 한국어 텍스트 파일입니다. 내용을 확인하고 저장하세요.\n", with("euc-kr")},
		{"korean code", "// 설정 파일을 읽는 함수\nint main() { return 0; } // 종료\n", with("euc-kr")},
		{"russian prose", "Съешь ещё этих мягких французских булок, да выпей чаю.\nЭто обычный русский текст для проверки кодировки.\n", with("windows-1251", "koi8-r", "ibm866")},
		{"russian code", "// Функция читает файл настроек\nint main() { return 0; } // конец\n", with("windows-1251", "koi8-r", "ibm866")},
		{"russian message", "ОШИБКА: файл не найден\n", with("windows-1251", "koi8-r")},
		{"ukrainian", "Це звичайний український текст для перевірки кодування файлів.\n", with("windows-1251")},
		{"emoji", "done ✅ 🎉 全部完成 👩‍💻\n", unicode},
		{"greek", "Αυτό είναι ένα ελληνικό κείμενο.\n", unicode},
		{"arabic", "هذا نص عربي قصير.\n", unicode},
	}
}

func TestDetectAndRoundTrip(t *testing.T) {
	for _, s := range samples() {
		for _, name := range s.encodings {
			want, ok := Lookup(name)
			if !ok {
				t.Fatalf("no encoding %s", name)
			}
			data, err := want.Encode([]byte(s.text))
			if err != nil {
				t.Fatalf("%s in %s: %v", s.name, name, err)
			}
			got := Detect(data, true)
			if got.Name != name || got.Confidence <= 0 || got.Confidence > 1 {
				t.Errorf("%s in %s: detected %+v", s.name, name, got)
			}
			if bin, why := Binary(data); bin {
				t.Errorf("%s in %s: binary, %s", s.name, name, why)
			}
			text, exact := got.Decode(data)
			if got.Name == name && (string(text) != s.text || !exact) {
				t.Errorf("%s in %s: decoded %q, exact %t", s.name, name, text, exact)
			}
			read, err := io.ReadAll(iotest.OneByteReader(want.Reader(bytes.NewReader(data))))
			if err != nil || string(read) != s.text {
				t.Errorf("%s in %s: read %q, %v", s.name, name, read, err)
			}
		}
	}
}

func TestDetectCutSample(t *testing.T) {
	for _, s := range samples() {
		for _, name := range s.encodings {
			e, _ := Lookup(name)
			long := strings.Repeat(s.text, 20)
			data, err := e.Encode([]byte(long))
			if err != nil {
				t.Fatal(err)
			}
			for cut := len(data) / 2; cut < len(data)/2+8; cut++ {
				if got := Detect(data[:cut], false); got.Name != name {
					t.Errorf("%s in %s, cut at %d: %+v", s.name, name, cut, got)
					break
				}
			}
		}
	}
}

func TestDetectTiny(t *testing.T) {
	for in, want := range map[string]string{
		"": "utf-8", "a": "utf-8", "\n": "utf-8", "\xe9": "iso-8859-1", "\x80": "windows-1252", "\x81\x80": "iso-8859-1",
		"caf\xe9": "iso-8859-1", "Universit\xe4t": "iso-8859-1", "\xc4\xe3": "iso-8859-1",
		"\xef\xbb\xbf": "utf-8-bom", "\xff\xfe": "utf-16le-bom", "\xfe\xff": "utf-16be-bom",
		"h\x00i\x00": "utf-16le", "\x00h\x00i": "utf-16be", "\x00": "binary", "a\x00b": "binary",
		"good \xc3\xa9\xc3\xa8\xc3\xa0\xc3\xa9\xc3\xa8\xc3\xa0\xc3\xa9\xc3\xa8\xc3\xa0 bad \xe9 end": "utf-8",
	} {
		got := Detect([]byte(in), true)
		if got.Name != want {
			t.Errorf("%q: %+v, want %s", in, got, want)
		}
		if got.Name == "iso-8859-1" && got.Confidence > 0.8 {
			t.Errorf("%q: too sure, %+v", in, got)
		}
	}
	if got := Detect([]byte("caf\xc3"), false); got.Name != "utf-8" {
		t.Errorf("a character cut at the end of a sample: %+v", got)
	}
}

func TestDetectCentral(t *testing.T) {
	for text, want := range map[string]string{
		"Zażółć gęślą jaźń. Proszę wybrać plik, który został usunięty.\n": "central",
		"// wczytuje dane użytkownika i zapisuje błędy\n":                 "central",
		"Příliš žluťoučký kůň úpěl ďábelské ódy, což je věta.\n":          "central",
		"Árvíztűrő tükörfúrógép, és még több szöveg következik.\n":        "central",
		"L'été où les élèves naïfs ont reçu le même gâteau à Noël.\n":     "",
		"Größe, Übermaß und Ärger; schöne Grüße aus Köln.\n":              "",
		"El niño pidió ¿qué? y comió más piña. ¡Sí! 25 m² o 3³.\n":        "",
		"Não há ações nem opções à mão; são três irmãos.\n":               "",
		"Blåbærgrød på øen, smørrebrød è già così più perché.\n":          "",
		"10 ±3 %, 5 µm, £20, ¼ cup, 90°\n":                                "",
	} {
		for _, name := range []string{"windows-1250", "iso-8859-2", "windows-1252", "iso-8859-1"} {
			e, _ := Lookup(name)
			data, err := e.Encode([]byte(text))
			if err != nil || (want == "") == (name == "windows-1250" || name == "iso-8859-2") {
				continue
			}
			got := Detect(data, true)
			if back, _ := got.Decode(data); want != "" && string(back) != text || want == "" && got.Name != "iso-8859-1" && got.Name != "windows-1252" {
				t.Errorf("%s of %q: %+v", name, text, got)
			}
		}
	}
	e, _ := Lookup("gb18030")
	data, _ := e.Encode([]byte("读取文件的时候发生错误，请检查设置。㐀𠀀 用户可以重新选择文件。\n"))
	if got := Detect(data, true); got.Name != "gb18030" {
		t.Errorf("gb18030: %+v", got)
	}
}

func TestDetectDoesNotGuessWhatItDoesNotKnow(t *testing.T) {
	for name, text := range map[string]string{
		"windows-1253": "Αυτό είναι ένα ελληνικό κείμενο.\n",
		"windows-1255": "זהו טקסט בעברית לבדיקת קידוד\n", "ibm437": "╔════╗\n║ hi ║\n╚════╝\n",
	} {
		e, _ := Lookup(name)
		data, err := e.Encode([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		got := Detect(data, true)
		if got.Name != "iso-8859-1" && got.Name != "windows-1252" || got.Confidence > 0.6 {
			t.Errorf("%s: %+v", name, got)
		}
		if _, exact := got.Decode(data); !exact {
			t.Errorf("%s as %s does not come back", name, got.Name)
		}
	}
}

func TestInvalidBytesSurvive(t *testing.T) {
	for name, data := range map[string]string{
		"utf-8": "a\xff\xc3b", "utf-8-bom": "\xef\xbb\xbfa\xffb", "utf-16le": "a\x00\x00\xd8b\x00\x00\xdc", "utf-16be-bom": "\xfe\xff\xdc\x00\x00a",
		"windows-1252": "\x80\xff", "iso-8859-1": "\x80\x81\x8d\x8f\x90\x9d\xff", "binary": "\x00\x01\xff",
	} {
		e, _ := Lookup(name)
		text, exact := e.Decode([]byte(data))
		back, err := e.Encode(text)
		if !exact || err != nil || string(back) != data {
			t.Errorf("%s: %q came back as %q, exact %t, %v", name, data, back, exact, err)
		}
	}
	for name, data := range map[string]string{"utf-16le": "abc", "shift_jis": "a\x81", "utf-8-bom": "no mark", "utf-32le": "\xff\xff\xff\xff", "windows-1252": "\x81"} {
		e, _ := Lookup(name)
		if _, exact := e.Decode([]byte(data)); exact {
			t.Errorf("%s: %q is said to come back", name, data)
		}
	}
}

func TestReaderShowsDamage(t *testing.T) {
	for name, c := range map[string][2]string{
		"utf-16le": {"a\x00\x00\xd8b\x00=\xd8\x00\xde", "a\ufffdb😀"}, "utf-16be": {"\x00a\xd8", "a\ufffd"}, "utf-32le": {"a\x00\x00\x00\xff\xff\xff\xff", "a\ufffd"},
		"utf-16le-bom": {"\xff\xfea\x00", "a"}, "utf-8-bom": {"no mark", "no mark"},
	} {
		e, _ := Lookup(name)
		for _, r := range []io.Reader{strings.NewReader(c[0]), iotest.OneByteReader(strings.NewReader(c[0])), iotest.DataErrReader(strings.NewReader(c[0]))} {
			if got, err := io.ReadAll(e.Reader(r)); err != nil || string(got) != c[1] {
				t.Errorf("%s: %q, %v, want %q", name, got, err, c[1])
			}
		}
	}
}

func TestEncodeNamesTheFirstMissingCharacter(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		r    rune
		at   int
	}{
		"iso-8859-1": {"aé€b漢", '€', 3}, "windows-1252": {"€ 漢字", '漢', 4}, "shift_jis": {"日本 é", 'é', 7},
		"koi8-r": {"да漢", '漢', 4}, "big5": {"這 ы🙂", '🙂', 6}, "utf-16le": {"a\xff", utf8.RuneError, 1}, "gbk": {"好\xff", utf8.RuneError, 3},
	} {
		e, _ := Lookup(name)
		_, err := e.Encode([]byte(c.text))
		bad, ok := errors.AsType[*EncodeError](err)
		if !ok || bad.Rune != c.r || bad.Offset != c.at || bad.Encoding != name {
			t.Errorf("%s: %v, want %q at %d", name, err, c.r, c.at)
		}
	}
}

func TestLookup(t *testing.T) {
	for in, want := range map[string]string{"Latin1": "iso-8859-1", "UTF8": "utf-8", "CP1252": "windows-1252", "GB2312": "gbk", "UTF-16LE-BOM": "utf-16le-bom"} {
		if e, ok := Lookup(in); !ok || e.Name != want {
			t.Errorf("%s: %+v, %t", in, e, ok)
		}
	}
	if e, ok := Lookup("klingon"); ok {
		t.Errorf("found %+v", e)
	}
}

func TestDecodeEncodeIsIdentity(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	all := samples()
	for range 3000 {
		s := all[r.IntN(len(all))]
		e, _ := Lookup(s.encodings[r.IntN(len(s.encodings))])
		runes := []rune(s.text)
		for i := range runes {
			j := r.IntN(len(runes))
			runes[i], runes[j] = runes[j], runes[i]
		}
		text := string(runes[:r.IntN(len(runes)+1)])
		data, err := e.Encode([]byte(text))
		if err != nil {
			t.Fatalf("%s in %s: %v", text, e.Name, err)
		}
		got := Detect(data, true)
		decoded, exact := got.Decode(data)
		back, err := got.Encode(decoded)
		if !exact || err != nil || !bytes.Equal(back, data) {
			t.Fatalf("%q in %s, detected %s: comes back as %q, %v", text, e.Name, got.Name, back, err)
		}
	}
}

func FuzzDetect(f *testing.F) {
	for _, s := range samples() {
		e, _ := Lookup(s.encodings[len(s.encodings)-1])
		data, _ := e.Encode([]byte(s.text))
		f.Add(data)
	}
	f.Add([]byte("\xff\xfea\x00\x00\xd8"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, whole := range []bool{true, false} {
			e := Detect(data, whole)
			if _, ok := Lookup(e.Name); !ok || e.Confidence <= 0 || e.Confidence > 1 {
				t.Fatalf("%+v", e)
			}
			text, exact := e.Decode(data)
			back, err := e.Encode(text)
			if exact != (err == nil && bytes.Equal(back, data)) {
				t.Fatalf("%s: exact %t, %q comes back as %q, %v", e.Name, exact, data, back, err)
			}
		}
		Binary(data)
		Newline(data)
		MIME("x.go", data)
		var all []byte
		for l, err := range Lines(iotest.HalfReader(bytes.NewReader(data)), LineOptions{}) {
			if err != nil || l.Offset != int64(len(all)) || l.Length != int64(len(l.Text)) {
				t.Fatalf("%+v, %v", l, err)
			}
			all = append(append(all, l.Text...), l.End...)
		}
		if !bytes.Equal(all, data) {
			t.Fatalf("lines of %q add up to %q", data, all)
		}
	})
}

func BenchmarkDetectUTF8(b *testing.B) {
	data := []byte(strings.Repeat("func größe() int { return 1 }\n", 2000))
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		Detect(data, true)
	}
}

func BenchmarkDetectLegacy(b *testing.B) {
	e, _ := Lookup("shift_jis")
	data, _ := e.Encode([]byte(strings.Repeat("これは日本語のテキストです。\n", 2000)))
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		Detect(data, true)
	}
}

// A short text with one bad or cut character is no western text, and western text is no
// damaged UTF-8.
func TestDetectDamaged(t *testing.T) {
	for text, want := range map[string]string{
		"größe line two \xe6\x97": "utf-8",
		"größe\xff":               "utf-8",
		"naïve caf\xc3":           "utf-8",
		"é \xf0\x9f\x98 x":        "utf-8",
		"日本\xe6":                  "utf-8",
		"“quoted” \x80":           "utf-8",
		"caf\xe9 na\xefve":        "iso-8859-1",
		"Stra\xdfe":               "iso-8859-1",
		"100 \x80":                "windows-1252",
		"\x93quoted\x94 \x96 5 \x80, \xc9\xbb d\xe9j\xe0": "windows-1252",
		"\xc0 l'h\xf4tel \xab\xa0\xc9t\xe9\xa0\xbb":       "iso-8859-1",
	} {
		if got := Detect([]byte(text), true); got.Name != want {
			t.Errorf("%q: %s, want %s", text, got.Name, want)
		}
	}
}
