package audit

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// The test binary is its own second process: with AUDIT_TEST set it appends
// to the audit in AUDIT_DIR, 200 times or until it is killed.
func TestMain(m *testing.M) {
	what := os.Getenv("AUDIT_TEST")
	if what == "" {
		os.Exit(m.Run())
	}
	if what == "limited" {
		if err := limitFiles(10_000); err != nil {
			panic(err)
		}
	}
	most := map[string]int{"200": 200, "synced": 3}[what]
	a, err := Open(os.Getenv("AUDIT_DIR"), Options{MaxBytes: 200_000, Sync: what == "synced"})
	for n := 0; err == nil && (most == 0 || n < most); n++ {
		e := entry(n)
		e.Session = fmt.Sprint(os.Getpid())
		e.Note = strings.Repeat("long ", n*7%1500)
		err = a.Append(context.Background(), e)
		if n == 0 {
			fmt.Println("ready")
		}
	}
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}

func spawn(t *testing.T, what, dir string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "AUDIT_TEST="+what, "AUDIT_DIR="+dir)
	return cmd
}

func TestProcessesLoseNothing(t *testing.T) {
	dir := private(t)
	var cmds []*exec.Cmd
	for range 8 {
		cmd := spawn(t, "200", dir)
		must(t, cmd.Start())
		cmds = append(cmds, cmd)
	}
	for _, cmd := range cmds {
		must(t, cmd.Wait())
	}
	a := openTest(t, dir, Options{})
	if r := verify(t, a.Path(), 1600+len(rotated(t, dir))); r.Repairs != 0 || len(r.Files) < 2 {
		t.Errorf("%+v", r)
	}
	seen := map[string]int{}
	for r, err := range a.Read(t.Context(), Filter{Event: Decision}) {
		must(t, err)
		seen[r.Session+r.ID]++
	}
	if len(seen) != 1600 {
		t.Errorf("%d different records, want 1600", len(seen))
	}
}

func TestKilledWritersLeaveAValidChain(t *testing.T) {
	dir := private(t)
	a := openTest(t, dir, Options{MaxBytes: 200_000})
	last := uint64(0)
	for round := range 25 {
		cmd := spawn(t, "forever", dir)
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		_, err = bufio.NewReader(out).ReadString('\n')
		must(t, err)
		time.Sleep(time.Duration(round*997%3000) * time.Microsecond) // some instant
		must(t, cmd.Process.Kill())
		_ = cmd.Wait()
		if _, err := os.Lstat(a.Path()); err == nil {
			if _, err := Verify(context.Background(), a.Path()); err != nil {
				t.Fatalf("round %d: %v", round, err)
			}
		}
		appendN(t, a, round, round)
		r, err := Verify(context.Background(), a.Path())
		if err != nil || r.Last <= last || r.Torn != 0 || !r.Anchored {
			t.Fatalf("round %d: %+v, %v", round, r, err)
		}
		last = r.Last
	}
}

// A full disk: Append fails, and what was there before stays whole.
func TestFullDisk(t *testing.T) {
	dir := private(t)
	out, err := spawn(t, "limited", dir).CombinedOutput()
	if strings.Contains(string(out), "unsupported") {
		t.Skip("no limit on file sizes here")
	}
	if err == nil || !strings.Contains(string(out), "appending to the audit: ") {
		t.Fatalf("child: %v, %s", err, out)
	}
	a := openTest(t, dir, Options{})
	r, err := Verify(context.Background(), a.Path())
	if err != nil || r.Torn != 0 || r.Lines < 2 {
		t.Fatalf("%+v, %v", r, err)
	}
	appendN(t, a, 1, 1)
	if again := verify(t, a.Path(), r.Lines+1); again.Repairs != 0 {
		t.Errorf("%+v", again)
	}
}
