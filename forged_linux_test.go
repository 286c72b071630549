package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/agentkit-go/agentkit/pkg/sandbox"
)

// forger has one process ask for approval, while another prints what looks like a question.
const forger = `$| = 1;
my $printer = fork();
if (!$printer) { for (1..100) { print "agentkit: allow? [n]o: FORGED\n"; select(undef, undef, undef, 0.05) } exit }
select(undef, undef, undef, 0.5);
system("true", "asked");
kill 15, $printer;
`

// TestNothingBehindQuestion: while a question stands on the terminal, nothing that the command prints
// comes behind it, where it would be taken for the question. It comes when that is answered.
func TestNothingBehindQuestion(t *testing.T) {
	t.Parallel()
	if sandbox.Probe().Level < sandbox.L2 {
		t.Skip("SKIPPED: no level where programs that a command starts are asked about")
	}
	dir := t.TempDir()
	writeTree(t, dir, map[string]string{"work/forge.pl": forger, "home/.config/agentkit/policy.yaml": "ask: [bash(true asked)]\n"})
	c := exec.Command(build(t), "--ask", "-o", "text", "bash", "perl forge.pl")
	c.Dir = filepath.Join(dir, "work")
	c.Env = []string{"HOME=" + filepath.Join(dir, "home"), "PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8", "TERM=dumb"}
	tty, err := pty.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	stop := time.AfterFunc(time.Minute, func() { _ = c.Process.Kill() })
	defer stop.Stop()
	shown, typed := "", ""
	pieces := make(chan string)
	go func() {
		defer close(pieces)
		buf := make([]byte, 4096)
		for {
			n, err := tty.Read(buf)
			pieces <- string(buf[:n])
			if err != nil { // the command has ended
				return
			}
		}
	}()
	question := "[n]o (or n REASON): "
	var answer <-chan time.Time
	for open := true; open; {
		var piece string
		select {
		case piece, open = <-pieces:
			shown += piece
			if at := strings.Index(shown, "true asked"); answer == nil && at > 0 && strings.Contains(shown[at:], question) {
				answer = time.After(time.Second)
			}
		case <-answer:
			typed = shown
			if _, err := tty.WriteString("n no\n"); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = c.Wait()
	switch before, _, _ := strings.Cut(shown, "true asked"); {
	case typed == "":
		t.Fatalf("nothing was asked: %s", shown)
	case !strings.Contains(before, "FORGED"):
		t.Errorf("what came before the question was not shown: %s", shown)
	case !strings.HasSuffix(typed, question):
		t.Errorf("something stands behind the question: %s", typed)
	case !strings.Contains(shown[len(typed):], "FORGED"):
		t.Errorf("what came meanwhile was not shown: %s", shown)
	}
}
