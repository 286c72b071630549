//go:build unix

package committed

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestPipes: what git would wait for in a repository is not waited for with it: a HEAD that is a pipe makes
// none of it, and after two calls that have lasted too long git is not asked again for a while.
func TestPipes(t *testing.T) {
	asked := filepath.Join(t.TempDir(), "asked")
	slow := filepath.Join(t.TempDir(), "git")
	if err := os.WriteFile(slow, []byte("#!/bin/sh\necho $* >>"+asked+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	count := func() int {
		data, _ := os.ReadFile(asked)
		return len(data)
	}
	f := &Files{Git: func() string { return slow }, State: t.TempDir()}
	top := repo(t, "sha1")
	write(t, top, ".env", "x")
	head := filepath.Join(top, ".git/HEAD")
	text, err := os.ReadFile(head)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(head); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(head, 0o600); err != nil {
		t.Fatal(err)
	}
	check(t, f, top, ".env", false)
	if count() > 0 {
		t.Error("git was asked about a repository whose HEAD is a pipe")
	}

	if err := os.Remove(head); err != nil {
		t.Fatal(err)
	}
	write(t, top, ".git/HEAD", string(text))
	r := &repository{top: top, git: filepath.Join(top, ".git"), late: &f.late}
	for i, test := range []struct {
		add  []time.Duration // ago
		asks bool
	}{
		{nil, true}, {[]time.Duration{0}, true}, {[]time.Duration{10 * time.Second, 0}, false}, {[]time.Duration{2 * time.Minute, 0}, true},
	} {
		f.late.times = nil
		for _, ago := range test.add {
			f.late.times = append(f.late.times, time.Now().Add(-ago))
		}
		before := count()
		_, err := r.run(slow, []string{"x"})
		if asks := count() > before; asks != test.asks || (err == nil) != test.asks {
			t.Errorf("%d: asked %v, %v", i, asks, err)
		}
	}
}
