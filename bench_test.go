package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// build returns the path of the real binary, linked once for all tests.
func build(tb testing.TB) string {
	tb.Helper()
	name, err := built()
	if err != nil {
		tb.Fatal(err)
	}
	return name
}

// Linking takes two seconds, so that all tests share one program. It is made when
// the first of them asks, in a directory that TestMain removes.
var (
	builtDir = filepath.Join(os.TempDir(), "agentkit-test"+strconv.Itoa(os.Getpid()))
	built    = sync.OnceValues(func() (string, error) {
		if err := os.Mkdir(builtDir, 0o755); err != nil {
			return "", err
		}
		name := filepath.Join(builtDir, "agentkit")
		if runtime.GOOS == "windows" {
			name += ".exe"
		}
		if out, err := exec.Command("go", "build", "-o", name, ".").CombinedOutput(); err != nil {
			return "", fmt.Errorf("building: %w\n%s", err, out)
		}
		return name, nil
	})
)

// install copies the program to a place of the test's own, which other users may reach.
func install(tb testing.TB, to string) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		tb.Fatal(err)
	}
	// By a program: one that this process had open for writing cannot be started while
	// a fork of another test still has the descriptor.
	if out, err := exec.Command("cp", build(tb), to).CombinedOutput(); err != nil {
		tb.Fatalf("%v\n%s", err, out)
	}
}

// BenchmarkStartup runs whole processes in turn and prints the median wall
// time of each, in milliseconds, beside that of /bin/true. The goals are a small
// read within 3 ms of it, and a grep of 40 files within 1.2 times ripgrep's.
func BenchmarkStartup(b *testing.B) {
	dir := b.TempDir()
	file := filepath.Join(dir, "a.txt")
	if err := os.WriteFile(file, []byte("one\ntwo\n"), 0o644); err != nil {
		b.Fatal(err)
	}
	for i := range 40 {
		text := strings.Repeat("some line of text that is not looked for\n", 40) + "needle\n"
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("file%d.txt", i)), []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	agentkit := build(b)
	commands := []struct {
		name string
		argv []string
	}{
		{"true", []string{"/bin/true"}},
		{"bash-c-true", []string{"bash", "-c", "true"}},
		{"rg--version", []string{"rg", "--version"}},
		{"read", []string{agentkit, "--root", dir, "read", "a.txt"}},
		{"bash-true", []string{agentkit, "--root", dir, "bash", "true"}},
		{"grep", []string{agentkit, "--root", dir, "grep", "needle"}},
		{"rg", []string{"rg", "needle", dir}},
	}
	times := map[string][]time.Duration{}
	env := append(os.Environ(), "XDG_STATE_HOME="+b.TempDir(), "XDG_CONFIG_HOME="+b.TempDir())
	for b.Loop() {
		for _, c := range commands {
			if _, err := exec.LookPath(c.argv[0]); err != nil {
				continue
			}
			cmd := exec.Command(c.argv[0], c.argv[1:]...)
			cmd.Env = env
			begin := time.Now()
			if err := cmd.Run(); err != nil {
				b.Fatalf("%v: %v", c.argv, err)
			}
			times[c.name] = append(times[c.name], time.Since(begin))
		}
	}
	median := func(name string) float64 {
		list := slices.Sorted(slices.Values(times[name]))
		return float64(list[len(list)/2].Microseconds()) / 1000
	}
	for name := range times {
		b.ReportMetric(median(name), name+"-ms")
	}
	b.ReportMetric(median("read")-median("true"), "read-over-true-ms")
	if len(times["rg"]) > 0 {
		b.ReportMetric(median("grep")/median("rg"), "grep/rg")
	}
}
