package main

import (
	"debug/buildinfo"
	"math"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// TestNotices checks that packages come with the licence of every module that the program
// is linked from, and that one without a licence is no release.
func TestNotices(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 on this machine")
	}
	script := func(code string) (string, error) {
		c := exec.Command(python, "-B", "-c", "import sys; sys.path.insert(0, 'testdata/release'); import package\n"+code)
		var errs strings.Builder
		c.Stderr = &errs
		out, err := c.Output()
		return string(out) + errs.String(), err
	}
	// Modules for other platforms only may not have been downloaded; releases ask for them.
	text, err := script("package.PLATFORMS = ['" + runtime.GOOS + "-" + runtime.GOARCH + "']\nprint(package.notices())")
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	info, err := buildinfo.ReadFile(build(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range info.Deps {
		if m.Path == "github.com/smacker/go-tree-sitter" {
			continue // only with cgo, which releases are built without
		}
		head := m.Path + " " + m.Version + "\n\n"
		if _, licence, ok := strings.Cut(text, "\n"+head); !ok || len(licence) < 200 {
			t.Errorf("there is no licence of %s", m.Path)
		}
	}
	if !strings.Contains(text, "Go's standard library and runtime go1.") || strings.Count(text, "Copyright") < len(info.Deps)/2 {
		t.Errorf("the notices are\n%s", text)
	}
	dir := strings.ReplaceAll(t.TempDir(), `\`, "/")
	text, err = script("package.packages = lambda: {'example.org/x/y': ['" + dir + "', 'example.org/x', 'v1.0.0', '" + dir + "']}\npackage.notices()")
	if err == nil || !strings.Contains(text, "no licence is found for: example.org/x") {
		t.Errorf("without a licence: %v\n%s", err, text)
	}
}

// TestSize: the README says how large the program is, to a twentieth.
func TestSize(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" || !withCgo {
		t.Skip("the README's size is that of linux/amd64 with cgo")
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	said := regexp.MustCompile("`go install .` \\((\\d+) MB;").FindSubmatch(readme)
	if said == nil {
		t.Fatal("the README does not say how large the program is")
	}
	want, _ := strconv.ParseFloat(string(said[1]), 64)
	info, err := os.Stat(build(t))
	if err != nil {
		t.Fatal(err)
	}
	if got := float64(info.Size()) / 1e6; math.Abs(got/want-1) > 0.05 {
		t.Errorf("it has %.1f MB, and the README says %.0f", got, want)
	}
}
