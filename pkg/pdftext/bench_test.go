package pdftext

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"
)

// BenchmarkBesidePdftotext reads the PDF files that PDF_FILES names, in turn
// with pdftotext, and reports the ratio of the times and how many of its groups
// of four words ours has, too, and the other way round.
func BenchmarkBesidePdftotext(b *testing.B) {
	names := filepath.SplitList(os.Getenv("PDF_FILES"))
	program, err := exec.LookPath("pdftotext")
	if len(names) == 0 || err != nil {
		b.Skip("PDF_FILES names no files, or there is no pdftotext")
	}
	for _, file := range names {
		b.Run(filepath.Base(file), func(b *testing.B) {
			var ours, theirs time.Duration
			var found, all, mine float64
			for b.Loop() {
				start := time.Now()
				out, err := exec.Command(program, file, "-").Output()
				if err != nil {
					b.Fatal(err)
				}
				theirs += time.Since(start)
				start = time.Now()
				data, err := os.ReadFile(file)
				if err != nil {
					b.Fatal(err)
				}
				d, err := Open(data)
				if err != nil {
					b.Fatal(err)
				}
				var text strings.Builder
				for n := 1; n <= d.Pages(); n++ {
					p, err := d.Page(context.Background(), n)
					if err != nil {
						b.Fatal(err)
					}
					text.WriteString(p.Text)
				}
				ours += time.Since(start)
				found, all, mine = compare(string(out), text.String())
			}
			b.ReportMetric(float64(ours)/float64(theirs), "ratio")
			b.ReportMetric(found/all, "recall")
			b.ReportMetric(found/mine, "precision")
		})
	}
}

// compare counts the groups of four words that both texts have, and those of
// each.
func compare(want, got string) (both, wanted, gotten float64) {
	count := map[string]int{}
	groups(want, func(g string) { count[g]++; wanted++ })
	groups(got, func(g string) {
		gotten++
		if count[g] > 0 {
			count[g]--
			both++
		}
	})
	return both, wanted, gotten
}

func groups(text string, yield func(string)) {
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' })
	for i := 0; i+4 <= len(words); i++ {
		yield(strings.Join(words[i:i+4], " "))
	}
}
