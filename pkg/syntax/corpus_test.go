package syntax

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestFalseAlarms counts, in trees of correct code, the files in which a
// grammar finds mistakes. AGENTKIT_CORPORA names a file with lines of an
// ending and a directory; the numbers decide which languages are reliable.
func TestFalseAlarms(t *testing.T) {
	list, err := os.ReadFile(os.Getenv("AGENTKIT_CORPORA"))
	if err != nil {
		t.Skip("AGENTKIT_CORPORA names no list of source trees")
	}
	for line := range strings.Lines(string(list)) {
		words := strings.Fields(line)
		if len(words) != 2 {
			continue
		}
		measure(t, words[0], words[1], 1500)
	}
}

func measure(t *testing.T, ending, root string, limit int) (files, alarms int) {
	var size, symbols int
	var spent, outlining time.Duration
	var first []string
	_ = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || files >= limit {
			return nil
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), "lib2to3") || d.Name() == "testdata" || d.Name() == "test") {
			return fs.SkipDir
		}
		if !d.Type().IsRegular() || !strings.HasSuffix(name, "."+ending) {
			return nil
		}
		data, err := os.ReadFile(name)
		if err != nil || len(data) > maxSize {
			return nil
		}
		files++
		size += len(data)
		lang := *languageOf(name, data)
		start := time.Now()
		var found []Problem
		if lang.check != nil {
			found = lang.check(data)
		} else {
			found, _ = checkTree(t.Context(), &lang, data)
		}
		spent += time.Since(start)
		start = time.Now()
		list, _ := Outline(name, data)
		outlining += time.Since(start)
		symbols += len(list)
		if len(found) > 0 {
			if alarms++; len(first) < 6 {
				first = append(first, name+": "+found[0].Message)
			}
		}
		return nil
	})
	if files > 0 {
		t.Logf("%-5s %-45s %5d files %6.1f MB: %4d with mistakes (%.2f %%); check %.1f MB/s, outline %.1f MB/s, %d symbols\n   %s", ending, root, files, float64(size)/1e6, alarms,
			100*float64(alarms)/float64(files), float64(size)/1e6/spent.Seconds(), float64(size)/1e6/outlining.Seconds(), symbols, strings.Join(first, "\n   "))
	}
	return files, alarms
}
