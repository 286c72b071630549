//go:build unix

package rg

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The benchmarks of this file run in turn what agentkit and a peer need for the
// same answer, and report the median of the ratios of all turns: of the wall
// time, and of the processor time, which other work on the machine disturbs
// less. Before that they check that both give as many lines. Scripts in
// testdata/bench run them and print the ratios.

// Each of them but nomatch has matches in Go's source and in Linux.
var benchPatterns = []struct{ name, pattern, args string }{
	{"literal", "ENOTCONN", ""},
	{"common", "return", ""},
	{"icase", "mutex_lock", "-i"},
	{"alternation", "PM_SUSPEND|PM_RESUME|dev_pm_ops|ErrUnexpectedEOF", ""},
	{"class", "[A-Z]+_SUSPEND", ""},
	{"word", "ENOTCONN", "-w"},
	{"nomatch", "zqxjk_never_there", ""},
	{"icasealt", "todo|fixme|xxx", "-i"},
	{"nonascii", "é", ""},
	{"files", "mutex_lock", "-l"},
	{"multiline", `struct \w+ \{\n\s+int`, "-U"},
	{"noliteral", `[0-9]+\.[0-9]+\.[0-9]+`, ""},
	{"wordclass", `\w{5}\s+\w{5}\s+\w{5}`, ""},
}

// benchRoots are the trees to measure on: BENCH_ROOTS names them, else Go's
// source.
func benchRoots(b *testing.B) []string {
	if named := os.Getenv("BENCH_ROOTS"); named != "" {
		return filepath.SplitList(named)
	}
	return []string{goSource(b)}
}

// smallRepository makes a repository of 40 files.
func smallRepository(b *testing.B) string {
	small := b.TempDir()
	for i := range 40 {
		put(b, small, fmt.Sprintf("d%d/f%d.go", i%5, i), strings.Repeat("package main // some text\n", 40))
	}
	put(b, small, ".git/HEAD", "", ".gitignore", "*.o\n")
	return small
}

// agentkit names the binary to measure, and a place for its state.
func agentkit(b *testing.B) (program string, env []string) {
	program = os.Getenv("AGENTKIT_BIN")
	if program == "" {
		b.Skip("AGENTKIT_BIN names no agentkit to measure; testdata/bench/*.sh build one")
	}
	home := b.TempDir()
	return program, []string{"HOME=" + home, "XDG_STATE_HOME=" + home, "XDG_CONFIG_HOME=" + home, "PATH=" + os.Getenv("PATH")}
}

func needPeer(b *testing.B, names ...string) string {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	b.Skipf("%s is not installed, so there is nothing to compare with", names[0])
	return ""
}

// A contender does the work once, and gives how many lines it found where that
// is asked for, and the processor time.
type contender func(count bool) (lines int, cpu time.Duration)

// inProcess measures f, which prints its lines to w.
func inProcess(b *testing.B, f func(w io.Writer) error) contender {
	return func(bool) (int, time.Duration) {
		var lines lineCounter
		before := usage(b)
		err := f(&lines)
		cpu := usage(b) - before
		if err != nil {
			b.Fatal(err)
		}
		return int(lines), cpu
	}
}

func usage(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

type lineCounter int

func (c *lineCounter) Write(p []byte) (int, error) {
	*c += lineCounter(bytes.Count(p, lineBreak[:]))
	return len(p), nil
}

// process measures a program whose output is thrown away, unless it is counted.
func process(b *testing.B, dir string, env []string, argv ...string) contender {
	return func(count bool) (int, time.Duration) {
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir, cmd.Env = dir, env
		var lines lineCounter
		if count {
			cmd.Stdout = &lines
		}
		if err := cmd.Run(); err != nil && cmd.ProcessState.ExitCode() != 1 { // 1: nothing found
			b.Fatalf("%q: %v", argv, err)
		}
		return int(lines), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
}

// beside reports the ratios of ours to theirs. Extra is how many lines more
// ours prints by its nature; negative where the two cannot be compared.
func beside(b *testing.B, ours, theirs contender, extra int) {
	b.Helper()
	n, _ := ours(true)
	m, _ := theirs(true)
	if extra >= 0 && n != m+extra {
		b.Fatalf("not the same answer: %d lines, the peer has %d", n, m)
	}
	var wall, cpu, native, peer []float64
	run := func(c contender) (wall, cpu float64) {
		began := time.Now()
		_, used := c(false)
		return time.Since(began).Seconds() * 1000, used.Seconds() * 1000
	}
	for b.Loop() {
		w1, c1 := run(ours)
		w2, c2 := run(theirs)
		native, peer = append(native, w1), append(peer, w2)
		wall, cpu = append(wall, w1/w2), append(cpu, c1/max(c2, 0.01))
	}
	b.ReportMetric(median(native), "ms")
	b.ReportMetric(median(peer), "peer-ms")
	b.ReportMetric(median(wall), "ratio")
	b.ReportMetric(median(cpu), "cpu-ratio")
	b.ReportMetric(0, "ns/op")
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

// printing searches and prints as rg -n does.
func printing(b *testing.B, q Query) contender {
	q.Timeout = -1
	return inProcess(b, func(w io.Writer) error {
		out := bufio.NewWriterSize(w, 64<<10)
		defer func() { _ = out.Flush() }()
		visit := func(f FileResult) error { return printFile(out, &q, &f) }
		if q.Sort != ByModified {
			_, err := Stream(b.Context(), q, visit)
			return err
		}
		q.Limit = -1
		r, err := Search(b.Context(), q)
		if err != nil {
			return err
		}
		for i := range r.Files {
			if err := visit(r.Files[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

func printFile(out *bufio.Writer, q *Query, f *FileResult) error {
	if q.Mode == Files {
		_, _ = out.WriteString(f.Path)
		return out.WriteByte('\n')
	}
	var line []byte
	for i := range f.Lines {
		if l := &f.Lines[i]; l.Match {
			line = append(append(line[:0], f.Path...), ':')
			line = append(strconv.AppendInt(line, int64(l.Number), 10), ':')
			line = append(append(line, l.Text...), '\n')
			if _, err := out.Write(line); err != nil {
				return err
			}
		}
	}
	return nil
}

// BenchmarkGrep compares searches that print every matching line.
func BenchmarkGrep(b *testing.B) {
	for _, rg := range findTestRipgreps(b) {
		version := strings.Fields(runRipgrep(b, rg, "/", "--version"))[1]
		for _, root := range benchRoots(b) {
			name := func(what string) string { return "rg" + version + "/" + filepath.Base(root) + "/" + what }
			peer := func(args ...string) contender {
				return process(b, root, []string{}, append([]string{rg, "--no-config", "--no-messages"}, args...)...)
			}
			for _, p := range benchPatterns {
				q := Query{Root: root, Pattern: p.pattern, MaxLineShown: -1}
				if p.args == "-l" {
					q.Mode = Files
				} else {
					applyArgs(&q, p.args)
				}
				b.Run(name(p.name), func(b *testing.B) {
					beside(b, printing(b, q), peer(append(strings.Fields(p.args), "-n", "-e", p.pattern, "--", "./")...), 0)
				})
			}
			newest := Query{Root: root, Pattern: "PM_RESUME|ErrUnexpectedEOF", Sort: ByModified, MaxLineShown: -1}
			b.Run(name("newest-first"), func(b *testing.B) {
				beside(b, printing(b, newest), peer("--sortr=modified", "-n", "-e", newest.Pattern, "--", "./"), 0)
			})
			program, err := FindRipgrep(b.Context(), func(string) string { return rg }, func(string) bool { return true })
			if err != nil {
				b.Logf("%s is too old to be wrapped", rg)
				continue
			}
			for _, p := range benchPatterns[:2] {
				q := Query{Root: root, Pattern: p.pattern}
				wrapped := q
				wrapped.Engine, wrapped.Ripgrep = Ripgrep, program
				b.Run(name("wrapped-"+p.name), func(b *testing.B) { besideChild(b, q, wrapped) })
			}
		}
	}
}

// besideChild compares with this package's own way of running rg --json, whose
// processor time counts too.
func besideChild(b *testing.B, ours, theirs Query) {
	beside(b, printing(b, ours), func(count bool) (int, time.Duration) {
		children := func() time.Duration {
			var u syscall.Rusage
			_ = syscall.Getrusage(syscall.RUSAGE_CHILDREN, &u)
			return time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
		before := children()
		lines, cpu := printing(b, theirs)(count)
		return lines, cpu + children() - before
	}, 0)
}

// BenchmarkGrepProcess compares whole processes, on a tree with rg --json, and in a repository
// of 40 files with rg -n. Ours shows the 100 matches of the newest files, and counts all.
func BenchmarkGrepProcess(b *testing.B) {
	program, env := agentkit(b)
	small := smallRepository(b)
	for _, rg := range findTestRipgreps(b) {
		version := strings.Fields(runRipgrep(b, rg, "/", "--version"))[1]
		for _, root := range benchRoots(b) {
			for _, p := range benchPatterns {
				if p.args == "-l" {
					continue
				}
				args := strings.Fields(p.args)
				b.Run("rg"+version+"/"+filepath.Base(root)+"/process-"+p.name, func(b *testing.B) {
					beside(b, process(b, root, env, slices.Concat([]string{program, "grep", "-e", p.pattern}, args)...),
						process(b, root, []string{}, slices.Concat([]string{rg, "--no-config", "--json", "-e", p.pattern}, args, []string{"./"})...), -1)
				})
			}
		}
		for _, pattern := range []string{"nowhere", "some", `[A-Z]+_\w+`} {
			b.Run("rg"+version+"/40 files/"+pattern, func(b *testing.B) {
				beside(b, process(b, small, env, program, "grep", pattern), process(b, small, []string{}, rg, "--no-config", "-n", "-e", pattern, "./"), -1)
			})
		}
	}
}

// BenchmarkWalk compares walks that list every file.
func BenchmarkWalk(b *testing.B) {
	for _, root := range benchRoots(b) {
		ours := func(o WalkOptions) contender {
			o.Root = root
			return inProcess(b, func(w io.Writer) error {
				out := bufio.NewWriterSize(w, 64<<10)
				defer func() { _ = out.Flush() }()
				_, err := Walk(b.Context(), nil, o, func(e Entry) error {
					_, _ = out.WriteString(e.Path)
					return out.WriteByte('\n')
				})
				return err
			})
		}
		for _, rg := range findTestRipgreps(b) {
			version := strings.Fields(runRipgrep(b, rg, "/", "--version"))[1]
			name := "rg" + version + "/" + filepath.Base(root)
			b.Run(name+"/files", func(b *testing.B) {
				beside(b, ours(WalkOptions{}), process(b, root, []string{}, rg, "--no-config", "--files", "./"), 0)
			})
			b.Run(name+"/all", func(b *testing.B) {
				beside(b, ours(WalkOptions{Hidden: true, NoIgnore: true}), process(b, root, []string{}, rg, "--no-config", "--files", "-uu", "./"), 0)
			})
		}
	}
}

// BenchmarkGlobProcess compares whole processes that find files by name. Ours
// sorts them; fd does not.
func BenchmarkGlobProcess(b *testing.B) {
	program, env := agentkit(b)
	fd := needPeer(b, "fdfind", "fd")
	for _, root := range benchRoots(b) {
		for _, sort := range []string{"path", "modified"} {
			b.Run("fd/"+filepath.Base(root)+"/"+sort, func(b *testing.B) {
				beside(b, process(b, root, env, program, "glob", "**/*.{c,go}", "--sort", sort), process(b, root, []string{}, fd, "-e", "c", "-e", "go"), -1)
			})
		}
	}
}

// BenchmarkListProcess compares listings of a directory of 100,000 files.
func BenchmarkListProcess(b *testing.B) {
	const files = 100_000
	program, env := agentkit(b)
	ls := needPeer(b, "ls")
	dir := b.TempDir()
	for i := range files {
		f, err := os.Create(filepath.Join(dir, fmt.Sprintf("file%06d-%d.txt", i*7919%files, i)))
		if err != nil {
			b.Fatal(err)
		}
		_ = f.Close()
	}
	peer := func(args ...string) contender {
		return process(b, dir, []string{"LC_ALL=C"}, append([]string{ls}, args...)...)
	}
	b.Run("ls/sorted", func(b *testing.B) { beside(b, process(b, dir, env, program, "ls"), peer(), -1) })
	b.Run("ls/long", func(b *testing.B) { beside(b, process(b, dir, env, program, "ls", "--long"), peer("-l"), -1) })
	b.Run("ls/unsorted names", func(b *testing.B) {
		beside(b, inProcess(b, func(w io.Writer) error {
			out := bufio.NewWriterSize(w, 64<<10)
			defer func() { _ = out.Flush() }()
			_, err := Walk(b.Context(), nil, WalkOptions{Root: dir, NoIgnore: true}, func(e Entry) error {
				_, _ = out.WriteString(e.Path)
				return out.WriteByte('\n')
			})
			return err
		}), peer("-U"), 0)
	})
}
