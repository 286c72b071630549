package text

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The most common characters of some written languages. That a byte sequence shows
// many of them in an encoding is evidence for it; it need not be a full list.
const (
	commonHans = "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子说产种面而方后多定行学法所民得经十三之进着等部度家电力里如水化高自二理起小物现实加量都两体制机当使点从业本去把性好应开它合还因由其些然前外天政四日那社义事平形相全表间样与关各重新线内数正心反你明看原又么利比或但质气第向道命此变条只没结解问意建月公无系军很情者最立代想已通并提直题党程展五果料象员革位入常文总次品式活设及管特件长求老头基资边流路级少图山统接知较将组见计别她手角期根论运农指几九区强放决西被干做必战先回则任取据处队南给色光门即保治北造百规热领七海口东导器压志世金增争济阶油思术极交受联什认六共权收证改清己美再采转更单风切打白教速花带安场身车例真务具万每目至达走积示议声报斗完类八离华名确才科张信马节话米整空元况今集温传土许步群广石记需段研界拉林律叫且究观越织装影算低持音众书布复容儿须际商非验连断深难近矿千周委素技备半办青省列习响约支般史感劳便团往历市克何除消构府称太准精值号率族维划选标写存候毛亲快效斯院查江型眼王按格养易置派层片始却专状育厂京识适属圆包火住调满县局照参红细引听该铁价严您请网页码输错误文件读取参数返回函数务户据启默认版本安装配置"

	commonHant = "的一是在不了有和人這中大為上個國我以要他時來用們生到作地於出就分對成會可主發年動同工也能下過子說產種面而方後多定行學法所民得經十三之進著等部度家電力裡如水化高自二理起小物現實加量都兩體制機當使點從業本去把性好應開它合還因由其些然前外天政四日那社義事平形相全表間樣與關各重新線內數正心反你明看原又麼利比或但質氣第向道命此變條只沒結解問意建月公無系軍很情者最立代想已通並提直題黨程展五果料象員革位入常文總次品式活設及管特件長求老頭基資邊流路級少圖山統接知較將組見計別她手角期根論運農指幾九區強放決西被幹做必戰先回則任取據處隊南給色光門即保治北造百規熱領七海口東導器壓志世金增爭濟階油思術極交受聯什認六共權收證改清己美再採轉更單風切打白教速花帶安場身車例真務具萬每目至達走積示議聲報完類八離華名確才科張信馬節話整空元今集傳土許步群廣石記需段研界書布復容須際商非連斷深難近技備半辦省列習響約支史感便團往歷市何除構府稱準值號率族維劃選標寫存候親快效院查型眼格易置派層片始卻專狀識適屬包火住調滿局照參紅細引聽該價嚴您請網頁碼輸錯誤檔案讀取參數返函式戶預設版安裝配臺灣語言"

	commonJapanese = "日一国人年大十二本中長出三時行見月後前生五間上東四今金九入学高円子外八六下来気小七山話女北午百書先名川千水半男西電校語土木聞食車何南万毎白天母火右読友左休父雨会同事自社発者地業方新場員立開手力問代明動京目通言理体田主題意不作用度強公持野以思家世多正安院心界教文元重近考画海売知道集別物使品計死特私始朝運終台広住無真有口少町料工建空急止送切転研足究楽起着店病質待試族銀早映親験英医仕去味写字答夜音注帰古歌買悪図週室歩風紙黒花春赤青館屋色走秋夏習駅洋旅服夕借曜飲肉貸堂鳥飯勉冬昼茶弟牛魚兄犬妹姉漢設定変更表示処理関数値引戻必要情報確認実行結果対応可能性現在次前追加削除選択入力保存変換"

	commonHangul = "이다는의에을가고하지로도은사기아리나어한를그대자시서인해게수보정들전일부만제주원스라있으것과적안장구상신여성면공무국용경관비우조모내마생오동세연방소문분할었습니요파되중입력출오류설치실행데터음회때말같함니까말글름람없않했년월물학교당았려며던든당거유양거보호저열결과및변화읽쓰값등통미계선간단위개발드래트크프레"

	// cyrillic lists the Russian letters by frequency, then those of neighbours.
	cyrillic      = "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъёіїєґў"
	cyrillicSigns = "«»—–№…“”„’°\u00a0"
	cjkSigns      = "、。，．・：；？！（）「」『』《》〈〉【】“”‘’…—～￥％０１２３４５６７８９　"
)

// cyrillicShare is the share of the letters of cyrillic, in per mille.
var cyrillicShare = [...]float64{109, 84, 80, 73, 67, 63, 55, 47, 45, 44, 35, 32, 30, 28, 26, 20, 19, 17, 17, 16, 16, 14, 12, 10, 9, 7, 6, 5, 4, 3, 3, 1, 1, 20, 5, 5, 1, 5}

// weighMax bounds how many characters are weighed in each encoding.
const weighMax = 1000

// A multibyte is an encoding of characters of two bytes and more, with what tells
// how well a text in it reads.
type multibyte struct {
	name   string
	weight func(r rune) float64 // of a character, from 0 to 1
}

// multibytes lists those that Detect knows.
func multibytes() []multibyte {
	chinese := func(list string) func(rune) float64 {
		return func(r rune) float64 {
			if strings.ContainsRune(list, r) {
				return 1
			}
			return 0
		}
	}
	return []multibyte{
		{"gbk", chinese(commonHans)},
		{"gb18030", chinese(commonHans)}, // what gbk cannot read: it has characters of four bytes
		{"big5", chinese(commonHant)},
		{"shift_jis", weighJapanese},
		{"euc-jp", weighJapanese},
		{"euc-kr", weighKorean},
	}
}

// weighJapanese weighs a character of a Japanese text.
func weighJapanese(r rune) float64 {
	switch {
	case r >= 0x3041 && r <= 0x30fc:
		return 1
	case r >= 0xff61 && r <= 0xff9f: // half-width kana: rare, and any byte may be one
		return 0.1
	case strings.ContainsRune(commonJapanese, r):
		return 1
	case unicode.Is(unicode.Han, r) && (strings.ContainsRune(commonHant, r) || strings.ContainsRune(commonHans, r)):
		return 0.6
	case unicode.Is(unicode.Han, r):
		return 0.15
	}
	return 0
}

// weighKorean weighs a character of a Korean text.
func weighKorean(r rune) float64 {
	switch {
	case strings.ContainsRune(commonHangul, r):
		return 1
	case r >= 0xac00 && r <= 0xd7a3:
		return 0.3
	}
	return 0
}

// score tells how well b reads, from 0 to 1, and by how many characters. One
// character alone, or anything invalid, scores nothing.
func (m multibyte) score(b []byte, whole bool) (float64, int) {
	text, ok := m.decode(b, whole)
	if !ok {
		return 0, 0
	}
	sum, n := 0.0, 0
	prev := ' '
	for _, r := range string(text) {
		switch {
		case r < utf8.RuneSelf:
		case strings.ContainsRune(cjkSigns, r):
			sum += 0.35
			n++
		default:
			w := m.weight(r)
			if w < 1 && prev < utf8.RuneSelf && isASCIILetter(byte(prev)) {
				w = 0 // as an accented letter in a word looks
			}
			sum += w
			n++
		}
		if prev = r; n == weighMax {
			break
		}
	}
	if n < 2 {
		return 0, n
	}
	return sum / float64(n), n
}

// decode decodes b; a character cut off at its end is left out unless b is whole.
func (m multibyte) decode(b []byte, whole bool) ([]byte, bool) {
	coder := coderFor(m.name)
	for cut := 0; cut < 3 && cut <= len(b); cut++ {
		text, err := coder.NewDecoder().Bytes(b[:len(b)-cut])
		if err == nil && !bytes.Contains(text, []byte("\ufffd")) {
			return text, true
		}
		if whole || err != nil || !bytes.HasSuffix(text, []byte("\ufffd")) {
			return nil, false
		}
	}
	return nil, false
}

// scoreCyrillic tells how well b reads in a Cyrillic encoding, from 0 to 1, and by
// how many letters: common letters, in words of their own, capitals where they
// belong.
func scoreCyrillic(name string, b []byte) (float64, int) {
	text, err := coderFor(name).NewDecoder().Bytes(b)
	if err != nil || bytes.Contains(text, []byte("\ufffd")) {
		return 0, 0
	}
	sum, n, letters := 0.0, 0, 0
	prev := ' '
	rest := text
	for len(rest) > 0 && n < weighMax {
		r, size := utf8.DecodeRune(rest)
		rest = rest[size:]
		if r >= utf8.RuneSelf {
			next, _ := utf8.DecodeRune(rest)
			n++
			w, letter := weighCyrillic(prev, r, next)
			sum += w
			if letter {
				letters++
			}
		}
		prev = r
	}
	if letters < 3 {
		return 0, letters
	}
	return max(sum/float64(n), 0), letters
}

// weighCyrillic weighs a character between its neighbours, and tells whether it is
// a letter.
func weighCyrillic(prev, r, next rune) (weight float64, letter bool) {
	i := strings.IndexRune(cyrillic, unicode.ToLower(r)) / 2 // all letters take two bytes
	if !strings.ContainsRune(cyrillic, unicode.ToLower(r)) {
		if strings.ContainsRune(cyrillicSigns, r) {
			return 0.5, false
		}
		return -0.2, false
	}
	latin := func(r rune) bool { return r < utf8.RuneSelf && isASCIILetter(byte(r)) }
	if latin(prev) || latin(next) {
		return 0, true
	}
	weight = 0.25 + min(cyrillicShare[i]/90, 1)*0.75
	switch {
	case unicode.IsUpper(r) && unicode.IsLower(prev):
		return -0.5, true
	case unicode.IsUpper(r) && unicode.IsUpper(prev):
		return weight * 0.75, true
	}
	return weight, true
}
