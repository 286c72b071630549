package policy

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestStamp: a file that comes, changes or goes shows, in a directory that is not there
// yet, too.
func TestStamp(t *testing.T) {
	dir := t.TempDir()
	s := Sources{Machine: filepath.Join(dir, "machine"), User: filepath.Join(dir, "user"), Project: filepath.Join(dir, "project")}
	long := time.Now().Add(-time.Hour)
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, long, long); err != nil {
			t.Fatal(err)
		}
	}
	before := s.Stamp()
	for _, step := range []struct {
		what string
		do   func()
		same bool
	}{
		{"nothing", func() {}, true},
		{"an empty directory", func() { _ = os.Mkdir(filepath.Join(dir, "user"), 0o700) }, false},
		{"nothing again", func() {}, true},
		{"a file", func() { write("user/policy.toml", "a = 1") }, false},
		{"a file in a new directory", func() { write("project/policy.yaml", "a: 1") }, false},
		{"another length", func() { write("project/policy.yaml", "a: 10") }, false},
		{"another file", func() { write("machine/policy.json", "{}") }, false},
		{"none any more", func() { _ = os.RemoveAll(filepath.Join(dir, "project")) }, false},
	} {
		step.do()
		now := s.Stamp()
		if before.Same(now) != step.same {
			t.Errorf("%s: the same: %v", step.what, !step.same)
		}
		before = now
	}
}
