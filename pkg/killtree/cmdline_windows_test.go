package killtree

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestCommandOf(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{`C:\a b\cmd.exe`, "/d", "/s", "/c", `echo "a b" & c`}, `"C:\a b\cmd.exe" /d /s /c "echo "a b" & c"`},
		{[]string{"cmd", "/S", "/C", "echo a\r\n"}, `cmd /S /C "echo a"`},
		{[]string{"cmd", "/c", "echo a"}, ""},
		{[]string{"cmd", "/s", "/c", "echo", "a"}, ""},
		{[]string{"cmd"}, ""},
	} {
		if got, err := commandOf(c.args); got != c.want || err != nil {
			t.Errorf("%q: %s %v, want %s", c.args, got, err, c.want)
		}
	}
	if _, err := commandOf([]string{"cmd", "/d", "/s", "/c", "echo a\necho b"}); !errors.Is(err, errLines) {
		t.Errorf("two lines: %v", err)
	}
}

func TestBatchOf(t *testing.T) {
	got, err := batchOf("C:/a b/x.cmd", []string{"x", "plain", "", "a&b", `c\`, `d e\`})
	if want := `cmd.exe /e:on /v:off /d /s /c ""C:\a b\x.cmd" plain "" "a&b" "c\\" "d e\\""`; got != want || err != nil {
		t.Errorf("%s %v, want %s", got, err, want)
	}
	for _, arg := range []string{`"&calc`, "%PATH%", "a\nb", "a\rb"} {
		if got, err := batchOf("x.cmd", []string{"x", arg}); err == nil {
			t.Errorf("%q was taken: %s", arg, got)
		}
	}
}

// TestCmdReadsTheCommand: quotes reach the command as they were written, and
// its status comes back.
func TestCmdReadsTheCommand(t *testing.T) {
	tree, out := run(t, "cmd.exe", "/d", "/s", "/c", `echo "a & b"& exit 3`)
	text, err := io.ReadAll(out)
	if got := strings.TrimSpace(string(text)); got != `"a & b"` || err != nil {
		t.Errorf("printed %q %v", got, err)
	}
	<-tree.Exited()
	if s := tree.State(); s == nil || s.ExitCode != 3 {
		t.Errorf("state is %+v", s)
	}
}

// TestBatchFileGetsNoCommand: an argument is one, whatever cmd would make of it.
func TestBatchFileGetsNoCommand(t *testing.T) {
	script := filepath.Join(t.TempDir(), "args.cmd")
	if err := os.WriteFile(script, []byte("@echo one=%1\r\n@echo two=%2\r\n@exit /b 7\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tree, out := run(t, script, "a&echo", "b c")
	text, err := io.ReadAll(out)
	if got, want := strings.ReplaceAll(string(text), "\r", ""), "one=\"a&echo\"\ntwo=\"b c\"\n"; got != want || err != nil {
		t.Errorf("printed %q %v, want %q", got, err, want)
	}
	<-tree.Exited()
	if s := tree.State(); s == nil || s.ExitCode != 7 {
		t.Errorf("state is %+v", s)
	}
}

// TestEndReachesWhatWasStarted: what a command left running is in its job, and
// ends with it.
func TestEndReachesWhatWasStarted(t *testing.T) {
	tree, _ := run(t, "cmd.exe", "/d", "/s", "/c", "start /b ping -n 60 127.0.0.1 >nul & exit 0")
	select {
	case <-tree.Exited():
	case <-time.After(30 * time.Second):
		t.Fatal("cmd waits for what it started")
	}
	if !tree.Alive() {
		t.Fatal("nothing was left running")
	}
	if !tree.End(0) || tree.Alive() {
		t.Error("what was left running is still there")
	}
}
