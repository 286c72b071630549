package pdftext

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// glyphText is the text that a glyph of a font stands for, by the name it has
// there; "" where the name says nothing.
func glyphText(glyph string) string {
	glyph, _, _ = strings.Cut(glyph, ".") // a.sc is a small capital
	switch {
	case utf8.RuneCountInString(glyph) == 1:
		return glyph
	case glyph == "space", glyph == "nbspace", glyph == "nonbreakingspace":
		return " "
	case glyph == "" || glyph == "notdef":
		return ""
	}
	if at := strings.Index(glyphNames, " "+glyph+"="); at >= 0 {
		rest := glyphNames[at+len(glyph)+2:]
		return rest[:strings.IndexByte(rest, ' ')]
	}
	if hex, ok := strings.CutPrefix(glyph, "uni"); ok && len(hex) >= 4 {
		return hexText(hex[:4])
	}
	if hex, ok := strings.CutPrefix(glyph, "u"); ok && len(hex) >= 4 && len(hex) <= 6 {
		return hexText(hex)
	}
	if parts := strings.Split(glyph, "_"); len(parts) > 1 && len(parts) < 9 {
		var all strings.Builder
		for _, p := range parts {
			if strings.Contains(p, "_") {
				return ""
			}
			all.WriteString(glyphText(p))
		}
		return all.String()
	}
	return ""
}

func hexText(hex string) string {
	v, err := strconv.ParseUint(hex, 16, 32)
	if err != nil || v > utf8.MaxRune || !utf8.ValidRune(rune(v)) || v < ' ' {
		return ""
	}
	return string(rune(v))
}

// The characters of the encodings from code 32 on; zero bytes stand for codes
// without a meaning.
const (
	ascii = " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~\x00"

	winAnsi = ascii +
		"€•‚ƒ„…†‡ˆ‰Š‹Œ•Ž••‘’“”•–—˜™š›œ•žŸ" +
		" ¡¢£¤¥¦§¨©ª«¬-®¯°±²³´µ¶·¸¹º»¼½¾¿" +
		"ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖ×ØÙÚÛÜÝÞßàáâãäåæçèéêëìíîïðñòóôõö÷øùúûüýþÿ"

	macRoman = ascii +
		"ÄÅÇÉÑÖÜáàâäãåçéèêëíìîïñóòôöõúùûü†°¢£§•¶ß®©™´¨≠ÆØ∞±≤≥¥µ∂∑∏π∫ªºΩæø" +
		"¿¡¬√ƒ≈∆«»… ÀÃÕŒœ–—“”‘’÷◊ÿŸ⁄¤‹›ﬁﬂ‡·‚„‰ÂÊÁËÈÍÎÏÌÓÔ\x00ÒÚÛÙıˆ˜¯˘˙˚¸˝˛ˇ"

	standardEncoding = " !\"#$%&’()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_‘abcdefghijklmnopqrstuvwxyz{|}~\x00" +
		none16 + none16 +
		"\x00¡¢£⁄¥ƒ§¤'“«‹›ﬁﬂ" + "\x00–†‡·\x00¶•‚„”»…‰\x00¿" +
		"\x00`´ˆ˜¯˘˙¨\x00˚¸\x00˝˛ˇ" + "—\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" +
		"\x00Æ\x00ª\x00\x00\x00\x00ŁØŒº\x00\x00\x00\x00" + "\x00æ\x00\x00\x00ı\x00\x00łøœß\x00\x00\x00\x00"

	none16 = "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
)

// helvetica is how wide the characters from code 32 on are, about: each stands
// for a hundredth of the size, '!' for 19.
const helvetica = "**2FFgQ!//5H*/**FFFFFFFFFF**HHHFtQQVVQK\\V*@QFaV\\Q\\VQKVQlQQK***=F/FF@FF*FF$$@$aFFFF/@*F@V@@@/(/H"

// glyphNames are names of glyphs and what they stand for, for the scripts of
// Europe and for mathematics; uniXXXX and the like need no table.
const glyphNames = " " +
	"9=nonbreakingspace AE=Æ Aacute=Á Abreve=Ă Acaron=Ǎ Acircumflex=Â Adieresis=Ä Adotaccent=Ȧ Agrave=À Alpha=Α " +
	"Amacron=Ā Aogonek=Ą Aring=Å Atilde=Ã Bdotaccent=Ḃ Beta=Β Cacute=Ć Ccaron=Č Ccedilla=Ç Ccircumflex=Ĉ " +
	"Cdotaccent=Ċ Chi=Χ Dcaron=Ď Dcedilla=Ḑ Dcroat=Đ Ddotaccent=Ḋ Delta=Δ Eacute=É Ebreve=Ĕ Ecaron=Ě Ecedilla=Ȩ " +
	"Ecircumflex=Ê Edieresis=Ë Edotaccent=Ė Egrave=È Emacron=Ē Eng=Ŋ Eogonek=Ę Epsilon=Ε Eta=Η Eth=Ð Etilde=Ẽ " +
	"Euro=€ Fdotaccent=Ḟ Gacute=Ǵ Gamma=Γ Gbreve=Ğ Gcaron=Ǧ Gcedilla=Ģ Gcircumflex=Ĝ Gcommaaccent=Ģ Gdotaccent=Ġ " +
	"Gmacron=Ḡ H18533=● H22073=□ Hbar=Ħ Hcaron=Ȟ Hcedilla=Ḩ Hcircumflex=Ĥ Hdieresis=Ḧ Hdotaccent=Ḣ IJ=Ĳ Iacute=Í " +
	"Ibreve=Ĭ Icaron=Ǐ Icircumflex=Î Idieresis=Ï Idotaccent=İ Ifraktur=ℑ Igrave=Ì Imacron=Ī Iogonek=Į Iota=Ι " +
	"Itilde=Ĩ Jcircumflex=Ĵ Kacute=Ḱ Kappa=Κ Kcaron=Ǩ Kcedilla=Ķ Kcommaaccent=Ķ Lacute=Ĺ Lambda=Λ Lcaron=Ľ " +
	"Lcedilla=Ļ Lcommaaccent=Ļ Ldot=Ŀ Lslash=Ł Macute=Ḿ Mdotaccent=Ṁ Mu=Μ Nacute=Ń Ncaron=Ň Ncedilla=Ņ " +
	"Ncommaaccent=Ņ Ndotaccent=Ṅ Ngrave=Ǹ Ntilde=Ñ Nu=Ν OE=Œ Oacute=Ó Obreve=Ŏ Ocaron=Ǒ Ocircumflex=Ô Odieresis=Ö " +
	"Odotaccent=Ȯ Ograve=Ò Ohungarumlaut=Ő Omacron=Ō Omega=Ω Omicron=Ο Oogonek=Ǫ Oslash=Ø Otilde=Õ Pacute=Ṕ " +
	"Pdotaccent=Ṗ Phi=Φ Pi=Π Psi=Ψ Racute=Ŕ Rcaron=Ř Rcedilla=Ŗ Rcommaaccent=Ŗ Rdotaccent=Ṙ Rfraktur=ℜ Rho=Ρ " +
	"Sacute=Ś Scaron=Š Scedilla=Ş Scircumflex=Ŝ Scommaaccent=Ș Sdotaccent=Ṡ Sigma=Σ Tau=Τ Tbar=Ŧ Tcaron=Ť " +
	"Tcedilla=Ţ Tcommaaccent=Ț Tdotaccent=Ṫ Theta=Θ Thorn=Þ Uacute=Ú Ubreve=Ŭ Ucaron=Ǔ Ucircumflex=Û Udieresis=Ü " +
	"Ugrave=Ù Uhungarumlaut=Ű Umacron=Ū Uogonek=Ų Upsilon=Υ Upsilon1=ϒ Uring=Ů Utilde=Ũ Vtilde=Ṽ Wacute=Ẃ " +
	"Wcircumflex=Ŵ Wdieresis=Ẅ Wdotaccent=Ẇ Wgrave=Ẁ Xdieresis=Ẍ Xdotaccent=Ẋ Xi=Ξ Yacute=Ý Ycircumflex=Ŷ " +
	"Ydieresis=Ÿ Ydotaccent=Ẏ Ygrave=Ỳ Ymacron=Ȳ Ytilde=Ỹ Zacute=Ź Zcaron=Ž Zcircumflex=Ẑ Zdotaccent=Ż Zeta=Ζ " +
	"aacute=á abreve=ă acaron=ǎ acircumflex=â acute=´ adieresis=ä adotaccent=ȧ ae=æ afii00208=― afii10017=А " +
	"afii10018=Б afii10019=В afii10020=Г afii10021=Д afii10022=Е afii10023=Ё afii10024=Ж afii10025=З afii10026=И " +
	"afii10027=Й afii10028=К afii10029=Л afii10030=М afii10031=Н afii10032=О afii10033=П afii10034=Р afii10035=С " +
	"afii10036=Т afii10037=У afii10038=Ф afii10039=Х afii10040=Ц afii10041=Ч afii10042=Ш afii10043=Щ afii10044=Ъ " +
	"afii10045=Ы afii10046=Ь afii10047=Э afii10048=Ю afii10049=Я afii10065=а afii10066=б afii10067=в afii10068=г " +
	"afii10069=д afii10070=е afii10071=ё afii10072=ж afii10073=з afii10074=и afii10075=й afii10076=к afii10077=л " +
	"afii10078=м afii10079=н afii10080=о afii10081=п afii10082=р afii10083=с afii10084=т afii10085=у afii10086=ф " +
	"afii10087=х afii10088=ц afii10089=ч afii10090=ш afii10091=щ afii10092=ъ afii10093=ы afii10094=ь afii10095=э " +
	"afii10096=ю afii10097=я agrave=à aleph=ℵ alpha=α amacron=ā ampersand=& angle=∠ angleleft=⟨ angleright=⟩ " +
	"aogonek=ą approxequal=≈ aring=å arrowboth=↔ arrowdblboth=⇔ arrowdbldown=⇓ arrowdblleft=⇐ arrowdblright=⇒ " +
	"arrowdblup=⇑ arrowdown=↓ arrowhookleft=↩ arrowhookright=↪ arrowleft=← arrownortheast=↗ arrownorthwest=↖ " +
	"arrowright=→ arrowsoutheast=↘ arrowsouthwest=↙ arrowup=↑ arrowupdn=↕ asciicircum=^ asciitilde=~ asterisk=* " +
	"asteriskcentered=∗ asteriskmath=∗ at=@ atilde=ã backslash=\\ backslashbig=\\ bar=| bardbl=‖ bdotaccent=ḃ beta=β " +
	"blacksquare=■ braceleft={ braceright=} bracketleft=[ bracketright=] breve=˘ brokenbar=¦ bullet=• cacute=ć " +
	"caron=ˇ ccaron=č ccedilla=ç ccircumflex=ĉ cdotaccent=ċ cedilla=¸ ceilingleft=⌈ ceilingright=⌉ cent=¢ check=✓ " +
	"checkmark=✓ chi=χ circle=○ circlecopyrt=© circlemultiply=⊗ circleplus=⊕ circumflex=ˆ club=♣ colon=: comma=, " +
	"congruent=≅ copyright=© currency=¤ dagger=† daggerdbl=‡ dcaron=ď dcedilla=ḑ dcroat=đ ddotaccent=ḋ degree=° " +
	"delta=δ diamond=♦ diamondmath=⋄ dieresis=¨ divide=÷ dollar=$ dotaccent=˙ dotlessi=ı dotlessj=ȷ dotmath=⋅ " +
	"eacute=é ebreve=ĕ ecaron=ě ecedilla=ȩ ecircumflex=ê edieresis=ë edotaccent=ė egrave=è eight=8 element=∈ " +
	"ellipsis=… emacron=ē emdash=— emptyset=∅ endash=– eng=ŋ eogonek=ę epsilon=ε epsilon1=ϵ equal== equivalence=≡ " +
	"estimated=℮ eta=η eth=ð etilde=ẽ euro=€ exclam=! exclamdbl=‼ exclamdown=¡ existential=∃ f_f=ff f_f_i=ffi " +
	"f_f_l=ffl f_i=fi f_l=fl fdotaccent=ḟ ff=ff ffi=ffi ffl=ffl fi=fi figuredash=‒ filledbox=■ five=5 fl=fl " +
	"floorleft=⌊ floorright=⌋ florin=ƒ follows=≻ four=4 fraction=⁄ franc=₣ gacute=ǵ gamma=γ gbreve=ğ gcaron=ǧ " +
	"gcedilla=ģ gcircumflex=ĝ gcommaaccent=ģ gdotaccent=ġ germandbls=ß gmacron=ḡ gradient=∇ grave=` greater=> " +
	"greaterequal=≥ greatermuch=≫ guillemotleft=« guillemotright=» guilsinglleft=‹ guilsinglright=› hbar=ħ " +
	"hcaron=ȟ hcedilla=ḩ hcircumflex=ĥ hdieresis=ḧ hdotaccent=ḣ heart=♥ horizontalbar=― hungarumlaut=˝ hyphen=- " +
	"iacute=í ibreve=ĭ icaron=ǐ icircumflex=î idieresis=ï igrave=ì ij=ĳ imacron=ī increment=∆ infinity=∞ " +
	"integral=∫ intersection=∩ iogonek=į iota=ι itilde=ĩ jcaron=ǰ jcircumflex=ĵ kacute=ḱ kappa=κ kcaron=ǩ " +
	"kcedilla=ķ kcommaaccent=ķ kgreenlandic=ĸ lacute=ĺ lambda=λ latticetop=⊤ lcaron=ľ lcedilla=ļ lcommaaccent=ļ " +
	"ldot=ŀ less=< lessequal=≤ lessmuch=≪ lira=₤ logicaland=∧ logicalnot=¬ logicalor=∨ longs=ſ lozenge=◊ lscript=ℓ " +
	"lslash=ł macron=¯ macute=ḿ mapsto=↦ mdotaccent=ṁ middot=· minus=− minusplus=∓ minute=′ mu=µ multiply=× " +
	"musicalnote=♪ nabla=∇ nacute=ń napostrophe=ŉ nbspace=ncaron notelement=∉ notequal=≠ notsubset=⊄ ntilde=ñ nu=ν " +
	"numbersign=# oacute=ó obreve=ŏ ocaron=ǒ ocircumflex=ô odieresis=ö odotaccent=ȯ oe=œ ogonek=˛ ograve=ò ohm=Ω " +
	"ohungarumlaut=ő omacron=ō omega=ω omega1=ϖ omicron=ο one=1 onehalf=½ onequarter=¼ onesuperior=¹ oogonek=ǫ " +
	"openbullet=◦ ordfeminine=ª ordmasculine=º oslash=ø otilde=õ pacute=ṕ paragraph=¶ parenleft=( parenright=) " +
	"partialdiff=∂ pdotaccent=ṗ percent=% period=. periodcentered=· perpendicular=⊥ perthousand=‰ peseta=₧ phi=φ " +
	"phi1=ϕ pi=π plus=+ plusminus=± precedes=≺ prime=′ product=∏ propersubset=⊂ propersuperset=⊃ proportional=∝ " +
	"psi=ψ question=? questiondown=¿ quotedbl=\" quotedblbase=„ quotedblleft=“ quotedblright=” quoteleft=‘ " +
	"quotereversed=‛ quoteright=’ quotesinglbase=‚ quotesingle=' racute=ŕ radical=√ rcaron=ř rcedilla=ŗ " +
	"rcommaaccent=ŗ rdotaccent=ṙ reflexsubset=⊆ reflexsuperset=⊇ registered=® rho=ρ rho1=ϱ ring=˚ sacute=ś " +
	"scaron=š scedilla=ş scircumflex=ŝ scommaaccent=ș sdotaccent=ṡ second=″ section=§ semicolon=; seven=7 " +
	"sfthyphen=- sigma=σ sigma1=ς similar=∼ six=6 slash=/ spade=♠ square=□ star=⋆ sterling=£ suchthat=∋ " +
	"summation=∑ tau=τ tbar=ŧ tcaron=ť tcedilla=ţ tcommaaccent=ț tdieresis=ẗ tdotaccent=ṫ therefore=∴ theta=θ " +
	"theta1=ϑ thorn=þ three=3 threequarters=¾ threesuperior=³ tilde=˜ trademark=™ triagdn=▼ triaglf=◄ triagrt=► " +
	"triagup=▲ triangle=△ turnstileleft=⊢ turnstileright=⊣ two=2 twosuperior=² uacute=ú ubreve=ŭ ucaron=ǔ " +
	"ucircumflex=û udieresis=ü ugrave=ù uhungarumlaut=ű umacron=ū underscore=_ underscoredbl=‗ union=∪ universal=∀ " +
	"uogonek=ų upsilon=υ uring=ů utilde=ũ visiblespace=␣ vtilde=ṽ wacute=ẃ wcircumflex=ŵ wdieresis=ẅ wdotaccent=ẇ " +
	"weierstrass=℘ wgrave=ẁ wring=ẘ xdieresis=ẍ xdotaccent=ẋ xi=ξ yacute=ý ycircumflex=ŷ ydieresis=ÿ ydotaccent=ẏ " +
	"yen=¥ ygrave=ỳ ymacron=ȳ yring=ẙ ytilde=ỹ zacute=ź zcaron=ž zcircumflex=ẑ zdotaccent=ż zero=0 zeta=ζ " +
	"ņ=ndotaccent ň=ncedilla ǹ=nine ṅ=ngrave "
