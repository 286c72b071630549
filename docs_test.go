package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestDocs runs what stands behind a $ in the console blocks of the README, the
// pages in docs and the examples of the tools' pages, and compares what is printed with
// what stands below it. Each page has its own copy of testdata/examples/project, in which
// its commands run one after the other. In a line … stands for anything, alone on a line
// for any lines; a command says at its end "# exit status N" where that is not 0. With
// -update what differs is written anew.
func TestDocs(t *testing.T) {
	if !*update { // else the pages of the tools are made from these afterwards
		t.Parallel()
	}
	var pages []string
	for _, pattern := range []string{"README.md", "docs/*.md", "testdata/examples/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatal(pattern, err)
		}
		pages = append(pages, found...)
	}
	commands := 0
	for _, page := range pages {
		raw, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(raw, []byte("\n```console\n")) {
			continue
		}
		t.Run(page, func(t *testing.T) {
			p := newPlace(t)
			text := p.page(t, string(raw))
			commands += p.run
			if text == string(raw) {
				return
			}
			if *update {
				if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			t.Error("go test -run TestDocs . -update writes down what is printed, to be looked at")
		})
	}
	if run := flag.Lookup("test.run").Value.String(); commands < 60 && !strings.Contains(run, "/") {
		t.Errorf("only %d commands were run", commands)
	}
}

// A place is where the commands of one page run.
type place struct {
	root  string
	env   []string
	names []string // of ids: what was printed, and what the page calls it, in turn
	run   int
}

func newPlace(t *testing.T) *place {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &place{root: filepath.Join(top, "me", "stats")}
	if err := os.MkdirAll(filepath.Dir(p.root), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(p.root, os.DirFS("testdata/examples/project")); err != nil {
		t.Fatal(err)
	}
	long := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for i, name := range []string{"README.md", "go.mod", "count.lua", "server.sh", "stats_test.go", "stats.go"} { // the newest last
		if err := os.Chtimes(filepath.Join(p.root, name), long, long.Add(time.Duration(i)*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	home := filepath.Dir(p.root)
	p.env = []string{
		"PATH=" + filepath.Dir(build(t)) + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + home, "LC_ALL=C.UTF-8", "TZ=UTC",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=me", "GIT_AUTHOR_EMAIL=me@example.org", "GIT_COMMITTER_NAME=me", "GIT_COMMITTER_EMAIL=me@example.org",
		// As on a terminal, and whatever this machine can hold.
		"AGENTKIT_OUTPUT=text", "AGENTKIT_SANDBOX=off", "AGENTKIT_ALLOW=bash(sh *)",
	}
	p.shell(t, "git init -q && git add -A && git commit -qm 'stats begins'")
	t.Cleanup(func() { p.shell(t, "agentkit kill all") })
	return p
}

// shell runs a command, and returns what it prints and its status.
func (p *place) shell(t *testing.T, command string) (string, int) {
	t.Helper()
	cmd := exec.Command("bash", "-c", command)
	cmd.Dir, cmd.Env = p.root, p.env
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

var (
	consoleBlock = regexp.MustCompile("(?s)\n```console\n(.*?)```\n")
	promised     = regexp.MustCompile(` +# exit status (\d+)$`)
	printedID    = regexp.MustCompile(`\b(?:j[0-9a-z]{16}|1[0-9a-z]{20})\b`)
	newLine      = regexp.MustCompile(`(?m)^\$ `)
)

// page runs the commands of a page, and returns it with what they print.
func (p *place) page(t *testing.T, text string) string {
	return consoleBlock.ReplaceAllStringFunc(text, func(block string) string {
		body := consoleBlock.FindStringSubmatch(block)[1]
		starts := newLine.FindAllStringIndex(body, -1)
		if len(starts) == 0 || starts[0][0] != 0 {
			t.Fatalf("a console block begins with no command:\n%s", body)
		}
		var b strings.Builder
		for i, at := range starts {
			end := len(body)
			if i+1 < len(starts) {
				end = starts[i+1][0]
			}
			b.WriteString(p.example(t, body[at[0]:end]))
		}
		return "\n```console\n" + b.String() + "```\n"
	})
}

// example runs one command, and returns it with what it prints: as the page has it
// where that is the same.
func (p *place) example(t *testing.T, text string) string {
	lines := strings.SplitAfter(text, "\n")
	n := 1
	for n < len(lines) && strings.HasPrefix(lines[n], "> ") { // the command goes on
		n++
	}
	command, want := strings.Join(lines[:n], ""), strings.Join(lines[n:], "")
	typed := strings.ReplaceAll(strings.TrimPrefix(strings.TrimSuffix(command, "\n"), "$ "), "\n> ", "\n")
	status := "0"
	if m := promised.FindStringSubmatch(typed); m != nil {
		status = m[1]
	}
	for i := 0; i < len(p.names); i += 2 {
		typed = regexp.MustCompile(`\b`+p.names[i+1]+`\b`).ReplaceAllString(typed, p.names[i])
	}
	p.run++
	got, code := p.shell(t, typed)
	got = strings.NewReplacer(filepath.Dir(p.root), "/home/me", build(t), "/usr/local/bin/agentkit").Replace(p.named(got))
	if got != "" && !strings.HasSuffix(got, "\n") {
		got += "\n"
	}
	if fmt.Sprint(code) != status {
		t.Errorf("$ %s\nexit status %d, not %s\n%s", typed, code, status, got)
	}
	if likeness(want).MatchString(got) {
		return text
	}
	t.Logf("$ %s\nprints:\n%s\nnot:\n%s", typed, got, want)
	return command + got
}

// named gives the ids of jobs and changes the names that a page can tell beforehand.
func (p *place) named(text string) string {
	return printedID.ReplaceAllStringFunc(text, func(id string) string {
		for i := 0; i < len(p.names); i += 2 {
			if p.names[i] == id {
				return p.names[i+1] + "…"
			}
		}
		names := map[byte][]string{'j': {"j7k2", "j9x4", "jm3p", "jw8d"}, '1': {"1k0w", "1m4t", "1p7z", "1r2c", "1t6x"}}[id[0]]
		used := 0
		for i := 0; i < len(p.names); i += 2 {
			if p.names[i][0] == id[0] {
				used++
			}
		}
		p.names = append(p.names, id, names[used])
		return names[used] + "…"
	})
}

// likeness is the regular expression of what a page says is printed.
func likeness(want string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString(`\A`)
	for line := range strings.Lines(want) {
		if line == "…\n" {
			b.WriteString(`(?:[^\n]*\n)*?`)
			continue
		}
		b.WriteString(strings.ReplaceAll(regexp.QuoteMeta(line), "…", `[^\n]*`))
	}
	return regexp.MustCompile(b.String() + `\z`)
}
