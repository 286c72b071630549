package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestScorecards checks that each test that docs/scorecards.md names is there, that no row
// that counts names none, and that the sums are right.
func TestScorecards(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("docs/scorecards.md")
	if err != nil {
		t.Fatal(err)
	}
	tests := testNames(t)
	points, criteria, verdicts := 0, 0, map[string]int{}
	for _, row := range regexp.MustCompile(`(?m)^\| .* \|$`).FindAllString(string(raw), -1) {
		cells := strings.Split(strings.Trim(row, "| "), " | ")
		shown := ""
		verdict := regexp.MustCompile(`^\| [CFO]-\d{3} \| .* \| (yes|part|no|–) \| `).FindStringSubmatch(row)
		switch {
		case verdict != nil:
			verdicts[verdict[1]]++
			shown = row[strings.LastIndex(row[:len(row)-2], " | "):]
			if verdict[1] == "no" || verdict[1] == "–" {
				shown += "``" // nothing has to show it
			}
		case len(cells) == 4 && cells[1] != "points" && cells[1] != "---":
			n, err := strconv.Atoi(cells[1])
			if err != nil || n > 2 {
				t.Errorf("%s: %v", row, err)
			}
			points, criteria, shown = points+n, criteria+1, cells[3]
		default:
			continue
		}
		if !strings.Contains(shown, "`") {
			t.Errorf("nothing shows it: %s", row)
		}
		for _, m := range regexp.MustCompile("`((?:pkg/[a-z]+ )?(?:Test|Fuzz)[A-Za-z0-9]+)`").FindAllStringSubmatch(shown, -1) {
			if !tests[m[1]] {
				t.Errorf("there is no %s: %s", m[1], row)
			}
		}
		for _, m := range regexp.MustCompile("`(testdata/[^`]+)`").FindAllStringSubmatch(shown, -1) {
			if _, err := os.Stat(m[1]); err != nil {
				t.Error(err)
			}
		}
	}
	sums := []string{
		fmt.Sprintf("## The agent-native rubric: %d of 28\n", points),
		fmt.Sprintf("## The CLI Agent Spec: %d yes, %d in part, %d no, %d do not apply\n", verdicts["yes"], verdicts["part"], verdicts["no"], verdicts["–"]),
	}
	for _, sum := range sums {
		if !strings.Contains(string(raw), sum) {
			t.Errorf("the rows say %s", sum)
		}
	}
	if all := verdicts["yes"] + verdicts["part"] + verdicts["no"] + verdicts["–"]; criteria != 14 || points < 26 || all != 158 {
		t.Errorf("%d criteria, %d points, %d requirements", criteria, points, all)
	}
}

// testNames are the test functions of the repository, alone and behind their directory.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	err := filepath.WalkDir(".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		raw, err := os.ReadFile(name)
		for _, m := range regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`).FindAllStringSubmatch(string(raw), -1) {
			names[m[1]], names[filepath.ToSlash(filepath.Dir(name))+" "+m[1]] = true, true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
