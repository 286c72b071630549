package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A traced call is one that changes files or puts them on the disk, with the
// paths that it names, where it ended in the order of all.
type traced struct {
	name string
	line string
}

// trace runs agentkit under strace and lists such calls.
func (w *world) trace(t *testing.T, args ...string) []traced {
	t.Helper()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("no strace here: in which order files get to the disk is NOT tested")
	}
	out := filepath.Join(t.TempDir(), "trace")
	cmd := w.command(t.Context(), args...)
	cmd.Args = append([]string{strace, "-f", "-y", "-qq", "-s", "4096", "-e", "trace=fsync,fdatasync,rename,renameat,renameat2,pwrite64,ftruncate", "-o", out, w.binary}, args...)
	cmd.Path = strace
	if text, err := cmd.CombinedOutput(); err != nil {
		if strings.Contains(string(text), "ptrace") {
			t.Skipf("nothing can be traced here: in which order files get to the disk is NOT tested: %s", text)
		}
		t.Fatalf("%v: %s", err, text)
	}
	f, err := os.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var calls []traced
	begun := map[string]string{} // by thread, what has not ended yet
	whole := regexp.MustCompile(`^(\d+) +(\w+)\((.*)\) += \d`)
	resumed := regexp.MustCompile(`^(\d+) +<\.\.\. (\w+) resumed>.* += \d`)
	unfinished := regexp.MustCompile(`^(\d+) +(\w+)\((.*) <unfinished`)
	for in := bufio.NewScanner(f); in.Scan(); {
		line := in.Text()
		switch {
		case whole.MatchString(line):
			m := whole.FindStringSubmatch(line)
			calls = append(calls, traced{m[2], m[3]})
		case unfinished.MatchString(line):
			m := unfinished.FindStringSubmatch(line)
			begun[m[1]] = m[3]
		case resumed.MatchString(line):
			m := resumed.FindStringSubmatch(line)
			calls = append(calls, traced{m[2], begun[m[1]]})
		}
	}
	return calls
}

// first is the place of the first such call, -1 when there is none.
func first(calls []traced, name, pattern string) int {
	re := regexp.MustCompile(pattern)
	for i, c := range calls {
		if strings.HasPrefix(c.name, name) && re.MatchString(c.line) {
			return i
		}
	}
	return -1
}

// TestDurable looks at the order of the system calls of a change: what undoes
// it is on the disk before the first file is touched, and a file's new content
// is before it takes the old one's place.
func TestDurable(t *testing.T) {
	t.Parallel()
	binary := build(t)
	patch := "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+ONE\n two\n*** Update File: sub/b.go\n@@\n-package b\n+package c\n*** End Patch\n"
	for name, c := range map[string]struct {
		args  []string
		hard  bool
		touch []string // the calls that change files: name, a space, pattern
		data  []string // the files that these put in place: the fsync of each comes before
	}{
		"write":    {[]string{"write", "a.txt", "new\n"}, false, []string{`rename "a\.txt"`}, []string{`/root/\.agentkit-\w+\.tmp>`}},
		"edit":     {[]string{"edit", "a.txt", "two", "2"}, false, []string{`rename "a\.txt"`}, []string{`/root/\.agentkit-\w+\.tmp>`}},
		"patch":    {[]string{"patch", patch}, false, []string{`rename "a\.txt"`, `rename "b\.go"`}, []string{`/root/\.agentkit-\w+\.tmp>`, `/root/sub/\.agentkit-\w+\.tmp>`}},
		"in place": {[]string{"--allow", "edit(a.txt)", "write", "a.txt", "new\n"}, true, []string{`pwrite64 /root/a\.txt>`}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, binary)
			if c.hard {
				if err := os.Link(filepath.Join(w.root, "a.txt"), filepath.Join(w.root, "other")); err != nil {
					t.Fatal(err)
				}
			}
			calls := w.trace(t, c.args...)
			for i, touch := range c.touch {
				name, pattern, _ := strings.Cut(touch, " ")
				at := first(calls, name, pattern)
				if at < 0 {
					t.Fatalf("no %s among %q", touch, calls)
				}
				before := []string{`/journal/pending/[^/]+>`, `/journal/objects/[^/]+>`, `/journal/pending>`, `/journal/objects>`, `/journal>`, `/state/agentkit>`}
				if c.data != nil {
					before = append(before, c.data[i])
				}
				for _, file := range before {
					if synced := first(calls, "fsync", file); synced < 0 || synced > at {
						t.Errorf("%s is number %d of the calls, the fsync of %s number %d:\n%q", touch, at, file, synced, calls)
					}
				}
			}
			if c.hard && first(calls, "fsync", `/root/a\.txt>`) < 0 {
				t.Errorf("what was overwritten in place is not on the disk: %q", calls)
			}
			if !c.hard && first(calls, "fsync", `/root>`) < first(calls, "rename", `"a\.txt"`) {
				t.Errorf("the new name is not on the disk: %q", calls)
			}
		})
	}
}
