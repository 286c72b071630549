package killtree

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"
)

// TestEndAsksAgain: a process that could not hear that it is to end hears it later; what one starts
// that has heard it goes on.
func TestEndAsksAgain(t *testing.T) {
	for _, m := range slices.Compact([]string{Probe(Options{Self: self(t)}), Subreaper}) {
		// Perl heeds a signal between two steps: one that comes right before it sleeps waits until then.
		for script, want := range map[string]string{
			`$SIG{TERM} = "IGNORE"; print "ready\n"; sleep 1; $SIG{TERM} = "DEFAULT"; sleep 1000`:                                            "",
			`$SIG{TERM} = sub { $n++; system("sleep 0.5; echo cleaned"); print "asked $n times\n"; exit }; print "ready\n"; sleep 1 while 1`: "cleaned\nasked 1 times\n",
		} {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			c := exec.Command("perl", "-e", "$| = 1; "+script)
			c.Stdout = w
			tree, err := (Options{Self: self(t), Method: m}).Start(c)
			_ = w.Close()
			if err != nil {
				t.Skip("SKIPPED: there is no perl, or no ", m, ": ", err)
			}
			out := bufio.NewReader(r)
			if line, err := out.ReadString('\n'); line != "ready\n" {
				t.Fatal(line, err)
			}
			begin := time.Now()
			tree.End(5 * time.Minute)
			rest, _ := io.ReadAll(out)
			if s := tree.State(); s == nil || s.Signal == syscall.SIGKILL || string(rest) != want || time.Since(begin) > 2*time.Minute {
				t.Errorf("%s: %s\n\tended with %+v after %v, and %q", m, script, s, time.Since(begin), rest)
			}
			_ = r.Close()
		}
	}
}

// TestEndedBy: a signal that is blocked, ignored or caught ends nobody.
func TestEndedBy(t *testing.T) {
	const none = "0000000000000000"
	for status, want := range map[string]bool{
		"Name:\tx\nSigBlk:\t" + none + "\nSigIgn:\t" + none + "\nSigCgt:\t" + none + "\n":     true,
		"Name:\tx\nSigBlk:\t" + none + "\nSigIgn:\t" + none + "\nSigCgt:\t0000000000000001\n": true,
		"Name:\tx\nSigBlk:\t" + none + "\nSigIgn:\t" + none + "\nSigCgt:\t0000000180004000\n": false,
		"Name:\tx\nSigBlk:\t0000000000004000\nSigIgn:\t" + none + "\nSigCgt:\t" + none + "\n": false,
		"Name:\tx\nSigBlk:\t" + none + "\nSigIgn:\t0000000000004000\nSigCgt:\t" + none + "\n": false,
		"Name:\tx\nSigBlk:\t" + none + "\n":                                                   false,
		"":                                                                                    false,
	} {
		if got := endedBy([]byte(status), 15); got != want {
			t.Errorf("%q: %v", status, got)
		}
	}
}
