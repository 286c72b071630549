package pdftext

import (
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

var variant = flag.String("write", "", "write the example document to this file, to make variants of it")

// build writes a document with a classic table from the bodies of its objects,
// of which the first is the catalogue.
func build(bodies ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n")
	var offsets []int
	for i, body := range bodies {
		offsets = append(offsets, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, body)
	}
	table := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(bodies)+1)
	for _, o := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(&b, "trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(bodies)+1, table)
	return b.Bytes()
}

func streamOf(dict, data string) string {
	return fmt.Sprintf("<<%s/Length %d>>\nstream\n%s\nendstream", dict, len(data), data)
}

func flated(dict, data string) string {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write([]byte(data))
	_ = w.Close()
	return streamOf(dict+"/Filter/FlateDecode", b.String())
}

// page is a document of one page with some content and resources, and more
// objects from number 5 on.
func page(content, resources string, more ...string) []byte {
	return build(append([]string{
		"<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<<" + resources + ">>>>",
		flated("", content),
	}, more...)...)
}

const helv = "/Font<</F 5 0 R>>"

func all(t testing.TB, data []byte) string {
	t.Helper()
	d, err := Open(data)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for n := 1; n <= d.Pages(); n++ {
		p, err := d.Page(context.Background(), n)
		if err != nil {
			t.Fatal(err)
		}
		if n > 1 {
			b.WriteString("--\n")
		}
		b.WriteString(p.Text)
	}
	return b.String()
}

func TestText(t *testing.T) {
	winAnsi := "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>"
	tests := []struct {
		name string
		data []byte
		want string
	}{
		{"a line", page("BT /F 12 Tf 50 700 Td (Hello, world) Tj ET", helv, winAnsi), "Hello, world\n"},
		{"escapes in a string", page(`BT /F 12 Tf 50 700 Td (a\(b\)\\ \101\40) Tj (x(y)z) Tj ET`, helv, winAnsi), "a(b)\\ A x(y)z\n"},
		{"a string in hex", page("BT /F 12 Tf 50 700 Td <48 65 6C6C 6f2e 3> Tj ET", helv, winAnsi), "Hello.0\n"},
		{"accents", page("BT /F 12 Tf 50 700 Td (caf\xe9 \x93q\x94 \x80) Tj ET", helv, winAnsi), "café “q” €\n"},
		{
			"lines by Td, TD, T*, ' and \"",
			page("BT /F 12 Tf 14 TL 50 700 Td (a) Tj 0 -14 Td (b) Tj 0 -14 TD (c) Tj T* (d) Tj (e) ' 0 0 (f) \" ET", helv, winAnsi),
			"a\nb\nc\nd\ne\nf\n",
		},
		{"kerning is no space", page("BT /F 10 Tf 50 700 Td [(W) 80 (orld) -20 (s)] TJ ET", helv, winAnsi), "Worlds\n"},
		{"a move within a line is one", page("BT /F 10 Tf 50 700 Td [(two) -400 (words)] TJ ET", helv, winAnsi), "two words\n"},
		{"a table keeps its columns apart", page("BT /F 10 Tf 50 700 Td (name) Tj 100 0 Td (size) Tj -100 -12 Td (x) Tj 100 0 Td (1) Tj ET", helv, winAnsi), "name            size\nx               1\n"},
		{"paragraphs", page("BT /F 10 Tf 50 700 Td (a) Tj 0 -12 Td (b) Tj 0 -30 Td (c) Tj ET", helv, winAnsi), "a\nb\n\nc\n"},
		{
			"two columns drawn one after the other",
			page("BT /F 10 Tf 50 700 Td (left 1) Tj 0 -12 Td (left 2) Tj ET BT /F 10 Tf 300 700 Td (right 1) Tj 0 -12 Td (right 2) Tj ET", helv, winAnsi),
			"left 1\nleft 2\n\nright 1\nright 2\n",
		},
		{
			"lines drawn in no order are sorted",
			page("BT /F 10 Tf 1 0 0 1 50 640 Tm (6) Tj 1 0 0 1 50 700 Tm (1) Tj 1 0 0 1 50 664 Tm (4) Tj 1 0 0 1 50 688 Tm (2) Tj 1 0 0 1 50 652 Tm (5) Tj 1 0 0 1 50 676 Tm (3) Tj 1 0 0 1 50 616 Tm (8) Tj 1 0 0 1 50 628 Tm (7) Tj 1 0 0 1 50 592 Tm (10) Tj 1 0 0 1 50 604 Tm (9) Tj ET", helv, winAnsi),
			"1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n",
		},
		{"a raised figure stays on its line", page("BT /F 10 Tf 50 700 Td (x) Tj 4 Ts /F 6 Tf (2) Tj 0 Ts /F 10 Tf ( y) Tj ET", helv, winAnsi), "x2 y\n"},
		{"text turned aside comes last", page("BT /F 10 Tf 0 1 -1 0 20 100 Tm (side) Tj 1 0 0 1 50 700 Tm (top) Tj ET", helv, winAnsi), "top\nside\n"},
		{"the matrix counts", page("q 0.5 0 0 0.5 0 0 cm BT /F 20 Tf 50 700 Td (a) Tj 0 -24 Td (b) Tj ET Q", helv, winAnsi), "a\nb\n"},
		{"a picture in the stream", page("BI /W 2 /H 1 /BPC 8 /CS /G ID \x00( EI BT /F 10 Tf (a) Tj ET", helv, winAnsi), "a\n"},
		{
			"what it is to be read as",
			page("BT /F 10 Tf 50 700 Td /Span <</ActualText <FEFF0066006C>>> BDC (?) Tj EMC (ow) Tj ET", helv, winAnsi), "flow\n",
		},
		{"names of glyphs", page("BT /F 12 Tf 50 700 Td (\x01\x02\x03\x04A) Tj ET", helv, "<</Type/Font/Subtype/Type1/BaseFont/X/FirstChar 1/Widths[600 600 600 600]/Encoding<</Differences[1/ffi/alpha/uni00E9/A.sc]>>>>"), "ffiαéAA\n"},
		{
			"ToUnicode", page("BT /F 12 Tf 50 700 Td <000100020010001100200021> Tj ET", helv,
				"<</Type/Font/Subtype/Type0/BaseFont/X/Encoding/Identity-H/DescendantFonts[6 0 R]/ToUnicode 7 0 R>>",
				"<</Type/Font/Subtype/CIDFontType2/DW 600/W[1[500 500] 16 17 700]>>",
				flated("", "1 begincodespacerange <0000> <ffff> endcodespacerange 2 beginbfchar <0001> <0047> <0002> <00660066> endbfchar 2 beginbfrange <0010> <0011> <0061> <0020> <0021> [<D83DDE00> /eacute] endbfrange"),
			), "Gffab😀é\n",
		},
		{
			"codes of the font's own program", page("BT /F 12 Tf 50 700 Td (\x01\x02) Tj ET", helv,
				"<</Type/Font/Subtype/Type1/BaseFont/X/FirstChar 1/Widths[600 600]/FontDescriptor<</Flags 4/FontFile 6 0 R>>>>",
				flated("", "%!PS\n/Encoding 256 array\n0 1 255 {1 index exch /.notdef put} for\ndup 1 /Gamma put\ndup 2/one put\nreadonly def\ncurrentfile eexec\x00\x01"),
			), "Γ1\n",
		},
		{
			"a form, in its own place", page("BT /F 10 Tf 50 700 Td (a) Tj ET /X Do BT /F 10 Tf 50 676 Td (c) Tj ET", helv+"/XObject<</X 6 0 R>>", winAnsi,
				streamOf("/Type/XObject/Subtype/Form/Matrix[1 0 0 1 50 688]", "BT /F 10 Tf (b) Tj ET")), "a\nb\nc\n",
		},
		{"Latin ligatures as letters", page("BT /F 12 Tf 50 700 Td (\x01le) Tj ET", helv, "<</Type/Font/Subtype/Type1/BaseFont/X/Encoding<</Differences[1/uniFB01]>>>>"), "file\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := all(t, test.data); got != test.want {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

// example is a document of two pages whose variants lie in testdata: qpdf made
// them with the options that their names say.
func example() []byte {
	return build(
		"<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R 4 0 R]/Count 2/Resources<</Font<</F 5 0 R>>>>>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents[6 0 R 7 0 R]>>", "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 8 0 R>>",
		"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
		streamOf("", "BT /F 12 Tf 50 700 Td (The first) Tj"), streamOf("", "( page.) Tj ET"), flated("", "BT /F 12 Tf 50 700 Td (The second page.) Tj ET"),
	)
}

const exampleText = "The first page.\n--\nThe second page.\n"

// TestTables wants to see which cells of a table are empty.
func TestTables(t *testing.T) {
	at := func(x, y int, s string) string { return fmt.Sprintf("BT /F 10 Tf %d %d Td (%s) Tj ET\n", x, y, s) }
	font := "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
	for _, c := range []struct{ name, content, want string }{
		{
			"cells are missing", at(50, 740, "A table of prices as it was printed by the shop in the year before") +
				at(50, 700, "Name") + at(200, 700, "Price") + at(300, 700, "Note") +
				at(50, 685, "apple") + at(200, 685, "1.20") + at(300, 685, "red") +
				at(50, 670, "pear") + at(300, 670, "green") +
				at(200, 655, "0.50") + at(300, 655, "no name") +
				at(50, 640, "plum from the south") + at(200, 640, "3") +
				at(50, 600, "What follows is text again, and it is as wide as the page"),
			"A table of prices as it was printed by the shop in the year before\n\n" +
				"Name                 Price  Note\n" +
				"apple                1.20   red\n" +
				"pear                        green\n" +
				"                     0.50   no name\n" +
				"plum from the south  3\n\n" +
				"What follows is text again, and it is as wide as the page\n",
		},
		{
			"numbers stand at the right", at(50, 700, "Name") + at(230, 700, "Sum") + at(290, 700, "Tax") +
				at(50, 685, "a") + at(221, 685, "10000") + at(300, 685, "1") +
				at(50, 670, "b") + at(295, 670, "22") +
				at(50, 655, "c") + at(242, 655, "5") + at(300, 655, "3"),
			"Name  Sum    Tax\na     10000  1\nb            22\nc     5      3\n",
		},
		{
			"a cell of two lines", at(50, 700, "k") + at(200, 700, "first line") + at(400, 700, "x") +
				at(200, 688, "second line") + at(50, 670, "l") + at(200, 670, "one") + at(400, 670, "y"),
			"k  first line   x\n   second line\nl  one          y\n",
		},
	} {
		if got := all(t, page(c.content, helv, font)); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

func TestVariants(t *testing.T) {
	if *variant != "" {
		if err := os.WriteFile(*variant, example(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	names, err := filepath.Glob("testdata/*.pdf")
	if err != nil || len(names) < 8 {
		t.Fatalf("%d variants, %v", len(names), err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "-secret.pdf") {
			if _, err := Open(data); !errors.Is(err, ErrEncrypted) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if got := all(t, data); got != exampleText {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

// TestDamaged checks that a file whose tables are wrong or gone is read all the
// same.
func TestDamaged(t *testing.T) {
	whole := page("BT /F 12 Tf 50 700 Td (Hello) Tj ET", helv, "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>")
	for name, data := range map[string][]byte{
		"shifted":        append([]byte("%PDF-1.7\n% more\n"), whole[len("%PDF-1.7\n"):]...),
		"mail before it": append([]byte("From: a\n\n"), whole...),
		"cut short":      whole[:bytes.Index(whole, []byte("xref"))],
		"no startxref":   bytes.ReplaceAll(whole, []byte("startxref"), []byte("startyref")),
		"wrong length":   bytes.Replace(whole, []byte("/Length "), []byte("/Length 9"), 1),
	} {
		if got := all(t, data); got != "Hello\n" {
			t.Errorf("%s: got %q", name, got)
		}
	}
	for _, data := range [][]byte{nil, []byte("%PDF-1.4\n%\xe2\xe3"), []byte("no PDF"), build("<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[]>>")} {
		if _, err := Open(data); !errors.Is(err, ErrFormat) {
			t.Errorf("%q: %v", data, err)
		}
	}
}

// TestHostile checks that files made to be endless end soon.
func TestHostile(t *testing.T) {
	forms := []string{"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"}
	for i := range 30 {
		forms = append(forms, streamOf(fmt.Sprintf("/Subtype/Form/Resources<</XObject<</X %d 0 R>>>>", 7+i), strings.Repeat("/X Do ", 1000)))
	}
	zeros := strings.Repeat("\x00", 100<<20)
	var pages []string
	for i := range 50 {
		pages = append(pages, fmt.Sprintf("<</Type/Pages/Kids[%s]>>", strings.Repeat(fmt.Sprintf("%d 0 R ", 3+i), 100)))
	}
	tests := map[string][]byte{
		"forms in forms":             page("/X Do", "/XObject<</X 6 0 R>>", forms...),
		"a form in itself":           page("/X Do", "/XObject<</X 5 0 R>>", streamOf("/Subtype/Form/Resources<</XObject<</X 5 0 R>>>>", "/X Do /X Do")),
		"a stream that bursts":       page(zeros+"BT", ""),
		"streams in each other":      build("<</Type/Catalog/Pages 2 0 R>>", "<</Kids[3 0 R]>>", "<</Type/Page/Contents["+strings.Repeat("4 0 R ", 10_000)+"]>>", flated("", zeros[:10<<20])),
		"pages in pages":             build(append([]string{"<</Type/Catalog/Pages 2 0 R>>"}, pages...)...),
		"a length that needs itself": build("<</Type/Catalog/Pages 2 0 R>>", "<</Kids[3 0 R]>>", "<</Type/Page/Contents 4 0 R>>", "<</Length 4 0 R>>\nstream\nBT ET\nendstream"),
		"deep nesting":               page(strings.Repeat("[", 1_000_000)+strings.Repeat("<<", 1_000_000), ""),
		"a reference to itself":      build("<</Type/Catalog/Pages 2 0 R>>", "2 0 R"),
		"codes without number": page("BT /F 12 Tf (a) Tj ET", helv, "<</Subtype/Type0/Encoding/Identity-H/DescendantFonts[6 0 R]/ToUnicode 7 0 R>>",
			"<</W[0 2000000000 500]>>", flated("", strings.Repeat("1 beginbfrange <0000> <ffffffff> <0041> endbfrange ", 100_000))),
	}
	for name, data := range tests {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			d, err := Open(data)
			if err == nil {
				d.work.objects /= 20 // which is only a matter of time
				_, err = d.Page(context.Background(), 1)
			}
			t.Logf("%v in %v", err, time.Since(start).Round(time.Millisecond))
			if took := time.Since(start); took > 2*time.Minute {
				t.Errorf("%v", took)
			}
		})
	}
}

func TestInterrupt(t *testing.T) {
	d, err := Open(page(strings.Repeat("BT (a) Tj ET ", 100_000), ""))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := d.Page(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestFilters(t *testing.T) {
	d := &Document{work: &work{objects: 1000, bytes: 1 << 20}}
	tests := []struct{ filter, param, in, want string }{
		{"ASCIIHexDecode", "", "48 65 6C6c6F>", "Hello"},
		{"ASCII85Decode", "", "87cURD]i,\"Ebo80~>", "Hello World!"},
		{"ASCII85Decode", "", "zz~>", "\x00\x00\x00\x00\x00\x00\x00\x00"},
		{"RunLengthDecode", "", "\x02abc\xfed\x80", "abcddd"},
		{"LZWDecode", "", "\x80\x0b\x60\x50\x22\x0c\x0c\x85\x01", "-----A---B"},
		{"FlateDecode", "/Predictor 12/Columns 3", deflated("\x02abc\x02\x01\x01\x01\x01\x05\x01\x01"), "abcbcd\x05\x06\x07"},
		{"FlateDecode", "/Predictor 2/Columns 3", deflated("a\x01\x01b\x01\x01"), "abcbcd"},
	}
	for _, test := range tests {
		l := &lexer{data: []byte("<<" + test.param + ">>"), work: d.work}
		param, _ := l.next()
		got, err := d.unpack(&stream{dict{"Filter": name(test.filter), "DecodeParms": param}, []byte(test.in)})
		if string(got) != test.want || err != nil {
			t.Errorf("%s %s: got %q, %v; want %q", test.filter, test.param, got, err, test.want)
		}
	}
}

func deflated(s string) string {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write([]byte(s))
	_ = w.Close()
	return b.String()
}

// FuzzOpen checks that no file makes reading it panic, or endless.
func FuzzOpen(f *testing.F) {
	f.Add(example())
	f.Add(page("BT /F 12 Tf [(a) -300 (b)] TJ ET q Q BI ID EI /X Do", helv, "<</Subtype/Type0/ToUnicode 6 0 R/DescendantFonts[7 0 R]>>", streamOf("", "1 beginbfchar <00> <0041> endbfchar"), "<</W[1 2 3]>>"))
	names, _ := filepath.Glob("testdata/*.pdf")
	for _, name := range names {
		if data, err := os.ReadFile(name); err == nil {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := Open(data)
		if err != nil {
			return
		}
		d.work.objects = min(d.work.objects, 200_000)
		d.work.bytes = min(d.work.bytes, 4<<20)
		for n := 1; n <= min(d.Pages(), 3); n++ {
			p, _ := d.Page(context.Background(), n)
			if strings.ContainsAny(p.Text, "\x00\x1b\x07") {
				t.Fatalf("control characters in %q", p.Text)
			}
		}
	})
}

// fontsBomb is fonts that each give all codes a width, in a few bytes.
func fontsBomb() []byte {
	var use, names strings.Builder
	more := []string{"<</W[0 199999 500]>>"}
	for i := range 80 {
		fmt.Fprintf(&use, "/F%d 1 Tf (a) Tj ", i)
		fmt.Fprintf(&names, "/F%d %d 0 R", i, 6+i)
		more = append(more, "<</Subtype/Type0/Encoding/Identity-H/DescendantFonts[5 0 R]>>")
	}
	return page("BT "+use.String(), "/Font<<"+names.String()+">>", more...)
}

// placesBomb is a table that names an object with each of its bytes.
func placesBomb() []byte {
	table := flated("/Type/XRef/W[1 0 0]/Root 1 0 R/Index[0 99999999]", strings.Repeat("\x01", 15<<20))
	return []byte("%PDF-1.7\n1 0 obj\n" + table + "\nendobj\nstartxref\n9\n%%EOF\n")
}

// TestBombs reads small files that unpack to much, within bounded memory.
func TestBombs(t *testing.T) {
	const helvetica = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
	bombs := map[string][]byte{
		"long meanings": page("BT /F 1 Tf <"+strings.Repeat("01", 50_000)+"> Tj ET", helv, "<</Type/Font/Subtype/Type1/ToUnicode 6 0 R>>",
			flated("", "1 beginbfrange <00> <ff> <"+strings.Repeat("0041", 10_000)+"> endbfrange")),
		"long words instead": page("BT /F 1 Tf "+strings.Repeat("/Span /P BDC (a) Tj EMC ", 50_000), helv+"/Properties<</P<</ActualText("+strings.Repeat("a", 10_000)+")>>>>", helvetica),
		"one long word":      page("BT /F 1 Tf ("+strings.Repeat("a", 15<<20)+") Tj ET", helv, helvetica),
		"a table of places":  placesBomb(),
		"wide fonts":         fontsBomb(),
	}
	for name, part := range map[string]string{
		"arrays": "[", "dictionaries": "<</a 1>> ", "numbers": "1 ",
		"letters": "BT /F 1 Tf (aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa) Tj ", "moves": "BT /F 1 Tf 1 1 Td (a) Tj ",
	} {
		bombs[name] = page(strings.Repeat(part, 50<<20/len(part)), helv, helvetica)
	}
	for name, data := range bombs {
		runtime.GC()
		var most uint64
		done := make(chan struct{})
		watched := make(chan struct{})
		go func() {
			defer close(watched)
			for {
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapAlloc)
				select {
				case <-done:
					return
				case <-time.After(5 * time.Millisecond):
				}
			}
		}()
		if d, err := Open(data); err == nil {
			_, _ = d.Page(t.Context(), 1)
		}
		close(done)
		<-watched
		if most > 180<<20 {
			t.Errorf("%s: %d MB for a file of %d kB", name, most>>20, len(data)>>10)
		}
	}
}

// TestWideRows: a row of very many cells is none of a table, whose columns are looked through
// for each cell.
func TestWideRows(t *testing.T) {
	wide := func(cells int) *row {
		r := &row{size: 1}
		for i := range cells {
			r.cells = append(r.cells, cell{at: i, x: float64(10 * i), right: float64(10*i + 1)})
			r.b.WriteByte('x')
		}
		return r
	}
	for _, c := range []struct {
		cells int
		rows  int
		want  int
	}{{maxColumns, 4, maxColumns}, {maxColumns + 1, 0, 0}} {
		rows := []*row{wide(c.cells), wide(c.cells), wide(c.cells - 1), wide(c.cells)}
		for i, r := range rows {
			r.y = float64(-i)
		}
		if n, columns := table(rows); n != c.rows || len(columns) != c.want {
			t.Errorf("%d cells: a table of %d rows with %d columns, want %d with %d", c.cells, n, len(columns), c.rows, c.want)
		}
	}
	// Cells that are elsewhere in each row make columns, too.
	shifted := []*row{wide(maxColumns), wide(maxColumns), wide(maxColumns)}
	for i, r := range shifted {
		r.y = float64(-i)
		for k := range r.cells {
			r.cells[k].x += float64(3 * i)
			r.cells[k].right += float64(3 * i)
		}
	}
	if n, _ := table(shifted); n != 1 {
		t.Errorf("%d rows have more than %d columns together", n, maxColumns)
	}
}
