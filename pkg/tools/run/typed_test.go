package run

import (
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/job"
)

// TestCommandReader: a shell reads commands from its input unless it is given some, or a script.
func TestCommandReader(t *testing.T) {
	for words, want := range map[string]string{
		"bash": "bash", "-bash": "bash", "bash --norc -i": "bash", "/bin/dash": "sh", "ksh -o vi": "sh", "zsh -f": "zsh", "bash -s a b": "bash",
		"bash /dev/stdin": "bash", "busybox sh": "sh", "rbash": "bash", "fish": "fish", "bash --rcfile x": "bash",
		"bash -c ls": "", "sh x.sh": "", "bash -ec ls": "", "python3": "", "cat": "", "busybox cat": "", "": "",
	} {
		if got := commandReader(strings.Fields(words)); got != want {
			t.Errorf("%q is taken for %q, not %q", words, got, want)
		}
	}
}

// TestTakesAll: what a program certainly takes leaves nothing for the shell behind it.
func TestTakesAll(t *testing.T) {
	for _, c := range []struct {
		program string
		takes   int
		tty     bool
		lines   bool
		text    string
		keys    string
		want    bool
	}{
		{"head -n 1", 1024, true, true, "x\n", "", true},
		{"head -n 1", 1024, true, true, "x", "\r", true},
		{"head -n 1", 1024, true, true, "x\nrm y\n", "", false},
		{"head -n 1", 1024, true, true, "x\n", "\r", false},
		{"head -n 1", 1024, true, false, "x\n", "", false}, // the terminal gives out single bytes
		{"head -n 1", 1024, true, true, "\x04rm y\n", "", false},
		{"head -n 1", 1024, false, false, "x\nrm y\n", "", true}, // a pipe gives out all there is
		{"head -n 1", 4, false, false, "x\nrm y\n", "", false},
		{"head -n 1", 1024, false, false, "x\nrm y\n", "\x03", false},
		{"dd", 1, true, true, "xrm y\n", "", false},
		{"dd", 1, true, true, "x", "", true},
		{"dd", 0, true, true, "xrm y\n", "", false},
		{"python3.12", 1, true, false, "print(1)\n", "", true},
		{"python3", 1, true, false, "exit()\nrm y\n", "", false},
		{"python3", 1, true, false, "\x04rm y\n", "", false},
		{"vim x", 100, true, false, ":wq\n", "", true},
		{"vim x", 100, true, false, ":q\nrm y\n", "", false},
		{"vim x", 100, true, false, "ZZrm y\n", "", false},
		{"less x", 1, true, false, "q", "", true},
		{"less x", 1, true, false, "qrm y\n", "", false},
		{"less x", 1, true, false, "/queue\n", "", true},
		{"nano x", 1, true, false, "one\ntwo\n", "", true},
		{"nano x", 1, true, false, "\x18nrm y\n", "", false},
	} {
		l := &line{info: job.Info{TTY: c.tty, Lines: c.lines}, text: c.text}
		if c.keys != "" {
			l.keys = []string{c.keys}
		}
		r := job.Reader{Argv: strings.Fields(c.program), Waits: true, Takes: c.takes}
		if got := l.takesAll(r); got != c.want {
			t.Errorf("%s, which takes %d, is sent %q and %q: it takes all: %v, not %v", c.program, c.takes, c.text, c.keys, got, c.want)
		}
		if r.Waits = false; l.takesAll(r) {
			t.Errorf("%s does not wait for %q, and takes all", c.program, c.text)
		}
	}
}

// TestReader: who runs what is typed, and whether that is certain.
func TestReader(t *testing.T) {
	shell := job.Reader{Pid: 1, Argv: []string{"bash", "--norc"}, Dir: "/x"}
	head := job.Reader{Pid: 2, Argv: []string{"head", "-n", "1"}, Waits: true, Takes: 1024}
	cat := job.Reader{Pid: 2, Argv: []string{"cat"}, Waits: true, Takes: 1 << 17}
	fed := job.Reader{Pid: 3, Argv: []string{"bash"}, Dir: "/x", Fed: true}
	itself := job.Reader{Pid: 4, Argv: []string{"bash", "-c", ". /dev/stdin"}, Dir: "/x", Waits: true, Takes: 1 << 17}
	waits := func(r job.Reader) *job.Waiting { return &job.Waiting{Pid: r.Pid, Program: r.Argv[0], Argv: r.Argv} }
	for name, c := range map[string]struct {
		command string
		readers []job.Reader
		waiting *job.Waiting
		text    string
		kind    string
		certain bool
	}{
		"a shell":                      {"bash", []job.Reader{shell}, waits(shell), "ls\n", "bash", true},
		"a program alone":              {"head -n 1", []job.Reader{head}, waits(head), "x\nrm y\n", "", true},
		"a program before a shell":     {"bash", []job.Reader{shell, head}, waits(head), "x\nrm y\n", "bash", false},
		"one line for it":              {"bash", []job.Reader{shell, head}, waits(head), "x\n", "", true},
		"a program that feeds a shell": {"cat | bash", []job.Reader{cat, fed}, waits(cat), "x\n", "bash", false},
		"one before both":              {"bash", []job.Reader{shell, cat, fed}, waits(cat), "x\n", "bash", false},
		"a shell that sources it":      {". /dev/stdin", []job.Reader{itself}, waits(itself), "x\n", "bash", false},
		"a shell that is to come":      {"head -n 1; bash", []job.Reader{head}, waits(head), "x\nrm y\n", "bash", false},
		"a script that is to come":     {"head -n 1; bash x.sh", []job.Reader{head}, waits(head), "x\nrm y\n", "", true},
		"a shell that works":           {"make", []job.Reader{shell}, nil, "ls\n", "bash", false},
		"nobody yet, and then a shell": {"sleep 1; bash", nil, nil, "ls\n", "bash", false},
		"nobody, and then another":     {"ssh host", nil, nil, "ls\n", "", false},
		"nobody":                       {"sleep 1", nil, nil, "ls\n", "", true},
	} {
		l := &line{info: job.Info{TTY: true, Lines: true, Argv: []string{"bash", "-c", c.command}, Readers: c.readers, Waiting: c.waiting}, text: c.text}
		if kind, _, why := l.reader(); kind != c.kind || (why == "") != c.certain {
			t.Errorf("%s: taken for %q, %q", name, kind, why)
		}
	}
}

// TestPlainText: keys and control characters are no part of what is run.
func TestPlainText(t *testing.T) {
	if got, want := plainText("rm\tx\x1b[A\x1bOPy\x01\x1b[1;5Cz\r"), "rm xyz\n"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
}
