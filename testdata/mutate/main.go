// Mutate checks the tests: it breaks the product in each of the ways that
// mutations.txt lists, one at a time, and runs the test that has to notice.
//
//	go run ./testdata/mutate [-list] [-tested] [-for TIME] [PART OF A FILE'S NAME]...
//
// Nothing in the checkout changes; the broken file is laid over the real one
// by the go command. Where the test stands in another package only the broken
// one is compiled, and linked with the others as they are: see relink.go. A
// mutation is dead when its test fails. It is an error
// when the test passes, when it is skipped, when it fails without the
// mutation too, when what is broken does not build, and when the text to
// replace does not stand in the file exactly once.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A mutation is one paragraph of the list.
type mutation struct {
	line     int
	why      string // what the changed line is for
	file     string
	old, now string
	pkg, run string // the test
	needs    string // root, or nothing
	limit    string // how long the test may take; for a mutation that makes it wait for ever
}

const list = "testdata/mutate/mutations.txt"

func main() {
	only := flag.Bool("list", false, "print the mutations, run nothing, and say which do not build")
	workers := flag.Int("j", 2, "how many run at once")
	tested := flag.Bool("tested", false, "all tests have just passed as the product is: do not run them first")
	most := flag.Duration("for", 0, "begin no mutation after this time, and take those of files and tests that changed lately first, the others in an order of chance; 0 is no limit")
	flag.Parse()
	quick()
	if err := run(flag.Args(), *only, *tested, *workers, *most); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

// quick has everything built as a release is: Go's own linker takes half of what one that
// has to link C takes, which is most of what a mutation costs, and where a release was
// built or vetted, all but what is broken is there. CGO_ENABLED of the caller's goes before.
func quick() {
	if os.Getenv("CGO_ENABLED") == "" {
		_ = os.Setenv("CGO_ENABLED", "0")
	}
	_ = os.Setenv("GOFLAGS", strings.TrimSpace(os.Getenv("GOFLAGS")+" -trimpath"))
	// With -trimpath a program does not know where Go is, and some tests read its sources: they would
	// fail for that, whatever is broken.
	if root, err := exec.Command("go", "env", "GOROOT").Output(); err == nil {
		_ = os.Setenv("GOROOT", strings.TrimSpace(string(root)))
	}
}

func run(names []string, only, tested bool, workers int, most time.Duration) error {
	begun := time.Now()
	raw, err := os.ReadFile(list)
	if err != nil {
		return fmt.Errorf("run this from the root of the repository: %w", err)
	}
	all, err := parse(string(raw))
	if err != nil {
		return err
	}
	wanted := func(m mutation) bool {
		return len(names) == 0 || slices.ContainsFunc(names, func(n string) bool { return strings.Contains(m.file, n) })
	}
	all = slices.DeleteFunc(all, func(m mutation) bool { return !wanted(m) })
	if err := stale(all); err != nil {
		return err
	}
	if only {
		for _, m := range all {
			fmt.Printf("%-36s %s\n", m.file, m.why)
		}
		return builds(all)
	}
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	left := slices.DeleteFunc(slices.Clone(all), func(m mutation) bool { return m.needs == "root" && os.Geteuid() != 0 })
	if n := len(all) - len(left); n > 0 {
		fmt.Printf("%d mutations need root and are NOT TRIED\n", n)
	}
	var faults []string
	if !tested {
		faults = alive(left, workers)
	}
	if most > 0 {
		rand.Shuffle(len(left), func(i, j int) { left[i], left[j] = left[j], left[i] })
		first, err := lately()
		if err != nil {
			return err
		}
		touched := func(m mutation) int {
			if first[m.file] || first[filepath.Clean(m.pkg)+"/_test.go"] {
				return 0
			}
			return 1
		}
		slices.SortStableFunc(left, func(a, b mutation) int { return touched(a) - touched(b) })
	}
	links := &linker{}
	defer links.close()
	var tried atomic.Int64
	faults = append(faults, each(left, workers, func(i int) string {
		if most > 0 && time.Since(begun) > most {
			return ""
		}
		tried.Add(1)
		return try(left[i], filepath.Join(dir, fmt.Sprint(i)), links)
	})...)
	if n := len(left) - int(tried.Load()); n > 0 {
		fmt.Printf("%d mutations are NOT TRIED: there is no time left\n", n)
	}
	fmt.Printf("%d mutations, %d without a test that notices\n", tried.Load(), len(faults))
	if len(faults) > 0 {
		return fmt.Errorf("not as it should be:\n%s", strings.Join(faults, "\n"))
	}
	return nil
}

// lately is what the last commits have changed: files, and DIR/_test.go for any test in a directory.
func lately() (map[string]bool, error) {
	out, err := exec.Command("git", "log", "-15", "--name-only", "--format=").Output()
	if err != nil {
		return nil, fmt.Errorf("what changed lately: git log: %w", err)
	}
	files := map[string]bool{}
	for name := range strings.Lines(string(out)) {
		name = strings.TrimSpace(name)
		files[name] = true
		if strings.HasSuffix(name, "_test.go") {
			files[filepath.Dir(name)+"/_test.go"] = true
		}
	}
	return files, nil
}

// parse reads the list: paragraphs of "word: text" lines, then the old lines
// behind - and the new ones behind +.
func parse(text string) (all []mutation, err error) {
	n := 0
	for part := range strings.SplitSeq(text, "\n\n") {
		m := mutation{line: n + 1, limit: "90s"}
		for l := range strings.SplitSeq(part, "\n") {
			n++
			word, rest, _ := strings.Cut(l, ": ")
			switch {
			case l == "" || l[0] == '#':
			case l[0] == '-':
				m.old += l[1:] + "\n"
			case l[0] == '+':
				m.now += l[1:] + "\n"
			case word == "why":
				m.why = rest
			case word == "file":
				m.file = rest
			case word == "test":
				m.pkg, m.run, _ = strings.Cut(rest, " ")
			case word == "needs" && rest == "root":
				m.needs = rest
			case word == "limit":
				m.limit = rest
			default:
				return nil, fmt.Errorf("%s:%d: cannot be read: %s", list, n, l)
			}
		}
		n++
		if m.file == "" && m.old == "" {
			continue
		}
		if m.why == "" || m.file == "" || m.old == "" || m.run == "" {
			return nil, fmt.Errorf("%s:%d: a mutation needs why, file, test and the lines to replace", list, m.line)
		}
		all = append(all, m)
	}
	return all, nil
}

// stale says, before anything runs, which texts do not stand in their files exactly once.
func stale(all []mutation) error {
	var errs []error
	for _, m := range all {
		source, err := os.ReadFile(m.file)
		if n := bytes.Count(source, []byte(m.old)); err == nil && n != 1 {
			err = fmt.Errorf("the text to replace stands %d times in %s:\n%s", n, m.file, m.old)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s:%d: %s: %w", list, m.line, m.why, err))
		}
	}
	return errors.Join(errs...)
}

// each runs f for every index, so many at once, and returns what it said.
func each(all []mutation, workers int, f func(i int) string) (said []string) {
	out := make([]string, len(all))
	var wait sync.WaitGroup
	slots := make(chan struct{}, workers)
	for i := range all {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			if s := f(i); s != "" {
				out[i] = fmt.Sprintf("%s:%d: %s: %s", list, all[i].line, all[i].why, s)
			}
		})
	}
	wait.Wait()
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}

// alive runs every test as the product is: only a test that passes can notice.
func alive(all []mutation, workers int) (faults []string) {
	tests := map[string][]string{}
	for _, m := range all {
		tests[m.pkg] = append(tests[m.pkg], m.run)
	}
	pkgs := slices.Sorted(maps.Keys(tests))
	reports := make([]string, len(pkgs))
	var wait sync.WaitGroup
	slots := make(chan struct{}, workers)
	for i, pkg := range pkgs {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			reports[i] = goTest("", "5m", pkg, strings.Join(tests[pkg], "|"))
		})
	}
	wait.Wait()
	for i, pkg := range pkgs {
		if !strings.Contains(reports[i], "\nok ") && !strings.HasPrefix(reports[i], "ok ") {
			faults = append(faults, fmt.Sprintf("%s fails without any mutation:\n%s", pkg, reports[i]))
		}
	}
	for _, m := range all {
		if report := reports[slices.Index(pkgs, m.pkg)]; !ran(report, m.run) {
			faults = append(faults, fmt.Sprintf("%s:%d: %s: the test %s did not run", list, m.line, m.why, m.run))
		}
	}
	return faults
}

// ran reports whether one of the tests that a pattern names passed.
func ran(report, pattern string) bool {
	top, _, _ := strings.Cut(pattern, "/")
	re := regexp.MustCompile(`(?m)^--- PASS: (\S+) `)
	for _, m := range re.FindAllStringSubmatch(report, -1) {
		if ok, _ := regexp.MatchString(top, m[1]); ok {
			return true
		}
	}
	return false
}

// try applies one mutation and says what is wrong with its test; "" when the
// test noticed.
func try(m mutation, dir string, links *linker) string {
	begun := time.Now()
	source, err := os.ReadFile(m.file)
	if err != nil {
		return err.Error()
	}
	overlay, err := lay(m, bytes.Replace(source, []byte(m.old), []byte(m.now+m.padding()), 1), dir)
	if err != nil {
		return err.Error()
	}
	report, relinked := links.test(m, overlay, dir)
	if !relinked {
		report = goTest(overlay, m.limit, m.pkg, m.run)
	}
	verdict := "dead"
	switch {
	case strings.Contains(report, "[build failed]") || strings.Contains(report, "[setup failed]"):
		return "does not build:\n" + report
	case strings.HasPrefix(report, "ok ") || strings.Contains(report, "\nok "):
		verdict = "SURVIVES"
	case !strings.Contains(report, "--- FAIL: ") && !strings.Contains(report, "\npanic: ") && !strings.Contains(report, "\nfatal error: "):
		return "fails, but no test of it does:\n" + report
	}
	by := ""
	if failed := regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`).FindStringSubmatch(report); failed != nil {
		by = " (" + failed[1] + ")"
	}
	fmt.Printf("%-8s %5.1fs  %s: %s%s\n", verdict, time.Since(begun).Seconds(), m.file, m.why, by)
	if verdict != "dead" {
		return "survives " + m.pkg + " " + m.run
	}
	return ""
}

// lay writes the changed file and the overlay that puts it in its place.
func lay(m mutation, changed []byte, dir string) (string, error) {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	abs, err := filepath.Abs(m.file)
	if err != nil {
		return "", err
	}
	file, overlay := filepath.Join(dir, "changed.go"), filepath.Join(dir, "overlay.json")
	raw, err := json.Marshal(map[string]map[string]string{"Replace": {abs: file}})
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(file, changed, 0o644); err != nil {
		return "", err
	}
	return overlay, os.WriteFile(overlay, raw, 0o644)
}

// goTest runs tests and returns what the go command printed. The overlay is a setting of
// the environment, so that it also holds for the program that a test builds. The tested
// package runs once, so it is compiled without optimizing, which takes a third less.
func goTest(overlay, limit, pkg, run string) string {
	cmd := exec.Command("go", "test", "-v", "-vet=off", "-gcflags=-N -l", "-count=1", "-failfast", "-timeout="+limit, "-run", run, pkg)
	cmd.Env = laid(cmd, overlay)
	out, _ := cmd.CombinedOutput()
	return string(out)
}

// laid is the environment in which the go command sees what an overlay, "" for none, lays over the checkout.
func laid(cmd *exec.Cmd, overlay string) []string {
	if overlay == "" {
		return cmd.Environ()
	}
	return append(cmd.Environ(), "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -overlay="+overlay))
}
