package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/session"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func openTest(t testing.TB, dir string, o Options) *Audit {
	t.Helper()
	a, err := Open(dir, o)
	must(t, err)
	t.Cleanup(func() { _ = a.Close() })
	return a
}

// private is a directory nobody else can look into.
func private(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "s1")
	must(t, os.Mkdir(dir, 0o700))
	return dir
}

func entry(i int) Entry {
	return Entry{
		ID: fmt.Sprint("call", i), Tool: "bash", Event: Decision, Decision: "allow", Level: "L2", Policy: "abc",
		Accesses: []Access{{Kind: "exec", Subject: "git status <&>", Decision: "allow", Rule: "bash(git status)", File: "policy.yaml", Line: 3, Why: "listed"}},
	}
}

func appendN(t testing.TB, a *Audit, from, to int) {
	t.Helper()
	for i := from; i <= to; i++ {
		must(t, a.Append(context.Background(), entry(i)))
	}
}

func verify(t testing.TB, path string, lines int) Report {
	t.Helper()
	r, err := Verify(context.Background(), path)
	if err != nil || r.Lines != lines {
		t.Fatalf("Verify: %d lines, %v; want %d\n%+v", r.Lines, err, lines, r)
	}
	return r
}

// broken wants the chain broken at a line for a reason that has why in it.
func broken(t testing.TB, path string, line int, why string) {
	t.Helper()
	_, err := Verify(context.Background(), path)
	b, ok := errors.AsType[*BrokenError](err)
	if !ok || b.Line != line || !strings.Contains(b.Why, why) {
		t.Errorf("Verify: %v; want line %d, %q", err, line, why)
	}
}

func TestAppendAndRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "s1")
	now := time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)
	a := openTest(t, dir, Options{Session: "s1", Now: func() time.Time { now = now.Add(time.Second); return now }})
	if _, err := os.Lstat(filepath.Dir(dir)); !errors.Is(err, fs.ErrNotExist) {
		t.Error("Open created something")
	}
	for range a.Read(t.Context(), Filter{}) { //nolint:errcheck // how many there are is what counts
		t.Error("a record of an audit that is not there")
	}
	appendN(t, a, 1, 3)
	exit := 3
	must(t, a.Append(t.Context(), Entry{ID: "call3", Tool: "bash", Event: Result, Exit: &exit}))
	must(t, a.Append(t.Context(), Entry{ID: "call4", Tool: "read", Event: Ask, Session: "other"}))
	r := verify(t, a.Path(), 5)
	if !r.Anchored || r.First != 1 || r.Last != 5 || len(r.Hash) != 64 || r.Torn != 0 {
		t.Errorf("report %+v", r)
	}
	for _, name := range []string{FileName, lockName} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	for _, c := range []struct {
		name string
		f    Filter
		want string
	}{
		{"all", Filter{}, "1 2 3 4 5"},
		{"id", Filter{ID: "call3"}, "3 4"},
		{"tool", Filter{Tool: "read"}, "5"},
		{"event", Filter{Event: Result}, "4"},
		{"session", Filter{Session: "s1"}, "1 2 3 4"},
		{"decision", Filter{Decision: "deny"}, ""},
		{"time", Filter{Since: time.Date(2026, 5, 6, 7, 8, 11, 0, time.UTC), Until: time.Date(2026, 5, 6, 7, 8, 13, 0, time.UTC)}, "2 3"},
		{"after", Filter{AfterSeq: 4}, "5"},
	} {
		var got []string
		for r, err := range a.Read(t.Context(), c.f) {
			must(t, err)
			got = append(got, fmt.Sprint(r.Seq))
			if r.Seq == 1 && (r.V != 1 || r.Accesses[0] != entry(1).Accesses[0] || r.Session != "s1" || r.Level != "L2") {
				t.Errorf("record 1 is %+v", r)
			}
			if r.Seq == 4 && (r.Exit == nil || *r.Exit != 3) {
				t.Errorf("record 4 is %+v", r)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	for range a.Read(t.Context(), Filter{}) { //nolint:errcheck // how many there are is what counts
		break
	}
}

func TestAppendRefuses(t *testing.T) {
	a := openTest(t, private(t), Options{})
	for _, event := range []Event{"", "other", Rotate, Repair} {
		if err := a.Append(t.Context(), Entry{Event: event}); !errors.Is(err, ErrEvent) {
			t.Errorf("Append of %q: %v", event, err)
		}
	}
	if _, err := Open("relative", Options{}); err == nil {
		t.Error("Open takes a relative path")
	}
}

// A change of any one byte of any line is found, at that line.
func TestEveryFlippedByteIsFound(t *testing.T) {
	dir := private(t)
	a := openTest(t, dir, Options{})
	appendN(t, a, 1, 4)
	whole, err := os.ReadFile(a.Path())
	must(t, err)
	lines := bytes.SplitAfter(whole, []byte("\n"))
	f, err := os.OpenFile(a.Path(), os.O_WRONLY, 0)
	must(t, err)
	defer f.Close()
	flips := []byte{0x01, 0x20, 0x80}
	at := 0
	for n, line := range lines[:4] {
		for i := range line {
			_, err := f.WriteAt([]byte{line[i] ^ flips[i%3]}, int64(at))
			must(t, err)
			_, err = Verify(context.Background(), a.Path())
			if b, ok := errors.AsType[*BrokenError](err); !ok || b.Line != n+1 {
				t.Fatalf("line %d, byte %d: %v", n+1, i, err)
			}
			_, err = f.WriteAt(line[i:i+1], int64(at))
			must(t, err)
			at++
		}
	}
	verify(t, a.Path(), 4)
}

func TestTampering(t *testing.T) {
	join := func(lines ...[]byte) []byte { return bytes.Join(lines, nil) }
	for _, c := range []struct {
		name  string
		spoil func(l [][]byte) []byte // of four lines
		line  int
		why   string
	}{
		{"removed", func(l [][]byte) []byte { return join(l[0], l[2], l[3]) }, 2, "entries 2 to 2 before it are missing"},
		{"first removed", func(l [][]byte) []byte { return join(l[1], l[2], l[3]) }, 1, "entries 1 to 1 before it are missing"},
		{"swapped", func(l [][]byte) []byte { return join(l[0], l[2], l[1], l[3]) }, 2, "before it are missing"},
		{"doubled", func(l [][]byte) []byte { return join(l[0], l[1], l[1], l[2], l[3]) }, 3, "out of order"},
		{"end removed", func(l [][]byte) []byte { return join(l[0], l[1]) }, 3, "entries 3 to 4 are missing from the end"},
		{"last line cut", func(l [][]byte) []byte { return join(l[0], l[1], l[2], l[3][:20]) }, 4, "entries 4 to 4 are missing from the end"},
		{"emptied", func([][]byte) []byte { return nil }, 1, "entries 1 to 4 are missing"},
		{"no JSON", func(l [][]byte) []byte { return join(l[0], []byte("hello\n"), l[1], l[2], l[3]) }, 2, "not a line of the audit"},
		{"empty line", func(l [][]byte) []byte { return join(l[0], []byte("\n"), l[1], l[2], l[3]) }, 2, "not a line of the audit"},
		{"forged content", func(l [][]byte) []byte {
			return join(l[0], bytes.Replace(l[1], []byte(`"allow"`), []byte(`"deny!"`), 1), l[2], l[3])
		}, 2, "changed"},
		{"forged last line with a right hash", func(l [][]byte) []byte {
			r, _ := parse(bytes.TrimSpace(l[2]))
			forged, _, _ := build(link{r.Seq, r.Hash}, entry(99))
			return join(l[0], l[1], l[2], forged)
		}, 4, "entry 4 is not the one that was written"},
		{"forged middle line with a right hash", func(l [][]byte) []byte {
			r, _ := parse(bytes.TrimSpace(l[0]))
			forged, _, _ := build(link{r.Seq, r.Hash}, entry(99))
			return join(l[0], forged, l[2], l[3])
		}, 3, "does not follow the line before"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := openTest(t, private(t), Options{})
			appendN(t, a, 1, 4)
			whole, err := os.ReadFile(a.Path())
			must(t, err)
			must(t, os.WriteFile(a.Path(), c.spoil(bytes.SplitAfter(whole, []byte("\n"))), 0o600))
			broken(t, a.Path(), c.line, c.why)

			// Writing goes on, and does not mend what was broken.
			must(t, a.Append(t.Context(), entry(5)))
			_, err = Verify(context.Background(), a.Path())
			if b, ok := errors.AsType[*BrokenError](err); !ok || b.Line > c.line+1 {
				t.Errorf("after another append: %v", err)
			}
		})
	}
}

func TestRemovedFileIsMissed(t *testing.T) {
	a := openTest(t, private(t), Options{})
	appendN(t, a, 1, 4)
	must(t, os.Remove(a.Path()))
	if _, err := Verify(context.Background(), a.Path()); err == nil || !strings.Contains(err.Error(), "the file is gone, and entries 1 to 4 with it") {
		t.Errorf("Verify: %v", err)
	}
	must(t, a.Append(t.Context(), entry(5)))
	broken(t, a.Path(), 1, "entries 1 to 4 before it are missing")
}

func TestTornLineIsRepaired(t *testing.T) {
	dir := private(t)
	a := openTest(t, dir, Options{})
	appendN(t, a, 1, 2)
	f, err := os.OpenFile(a.Path(), os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteString(`{"v":1,"seq":3,"ti`)
	must(t, errors.Join(err, f.Close()))
	if r := verify(t, a.Path(), 2); r.Torn != 18 {
		t.Errorf("report %+v", r)
	}
	b := openTest(t, dir, Options{})
	must(t, b.Append(t.Context(), entry(3)))
	if r := verify(t, a.Path(), 4); r.Torn != 0 || r.Repairs != 1 || r.Last != 4 {
		t.Errorf("report %+v", r)
	}
	for r, err := range a.Read(t.Context(), Filter{Event: Repair}) {
		if err != nil || r.Note != "dropped a torn line of 18 bytes" || r.Time.IsZero() {
			t.Errorf("%+v, %v", r, err)
		}
	}
	appendN(t, a, 5, 6)
	verify(t, a.Path(), 6)
}

// A process killed between the line and the anchor leaves the anchor behind.
func TestAnchorMayLagBehind(t *testing.T) {
	dir := private(t)
	a := openTest(t, dir, Options{})
	appendN(t, a, 1, 2)
	old, err := os.ReadFile(filepath.Join(dir, lockName))
	must(t, err)
	appendN(t, a, 3, 3)
	must(t, os.WriteFile(filepath.Join(dir, lockName), old, 0o600))
	verify(t, a.Path(), 3)
	appendN(t, a, 4, 4)
	verify(t, a.Path(), 4)
	// Without the lock file the chain alone is verified.
	must(t, os.Remove(filepath.Join(dir, lockName)))
	if r := verify(t, a.Path(), 4); r.Anchored {
		t.Error("anchored without an anchor")
	}
	appendN(t, a, 5, 5)
	if r := verify(t, a.Path(), 5); !r.Anchored || r.Repairs != 0 {
		t.Errorf("%+v", r)
	}
}

func TestRotation(t *testing.T) {
	dir := private(t)
	a := openTest(t, dir, Options{MaxBytes: 2000})
	b := openTest(t, dir, Options{MaxBytes: 2000})
	for i := range 30 {
		appendN(t, []*Audit{a, b}[i%2], i+1, i+1)
	}
	r := verify(t, a.Path(), 30+len(rotated(t, dir)))
	if len(r.Files) != len(rotated(t, dir))+1 || len(r.Files) < 5 || r.First != 1 || r.Missing != "" {
		t.Errorf("%+v", r)
	}
	for _, path := range r.Files {
		if info, err := os.Stat(path); err != nil || info.Size() > 2000 {
			t.Errorf("%s: %d bytes, %v", path, info.Size(), err)
		}
	}
	n := 0
	var last uint64
	for r, err := range a.Read(t.Context(), Filter{}) {
		must(t, err)
		if r.Seq != last+1 {
			t.Errorf("record %d after %d", r.Seq, last)
		}
		last = r.Seq
		if r.Event == Decision {
			n++
		}
	}
	if n != 30 {
		t.Errorf("%d records, want 30", n)
	}

	// A change in an old file is found from the new one.
	data, err := os.ReadFile(r.Files[1])
	must(t, err)
	data[len(data)/2] ^= 1
	must(t, os.WriteFile(r.Files[1], data, 0o600))
	_, err = Verify(context.Background(), a.Path())
	if b, ok := errors.AsType[*BrokenError](err); !ok || b.File != r.Files[1] {
		t.Errorf("Verify: %v", err)
	}
	// An old file that gc took away is said to be missing.
	must(t, os.Remove(r.Files[1]))
	rest, err := Verify(context.Background(), a.Path())
	if err != nil || rest.Missing != filepath.Base(r.Files[1]) || rest.First < 2 {
		t.Errorf("Verify: %+v, %v", rest, err)
	}
}

func rotated(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "audit.*.jsonl"))
	must(t, err)
	return names
}

func TestKilledWhileRotating(t *testing.T) {
	for _, c := range []struct {
		name  string
		empty bool // the new file is there already
	}{{"before the new file", false}, {"before its first line", true}} {
		t.Run(c.name, func(t *testing.T) {
			dir := private(t)
			a := openTest(t, dir, Options{})
			appendN(t, a, 1, 3)
			must(t, os.Rename(a.Path(), filepath.Join(dir, rotatedName(3))))
			if c.empty {
				must(t, os.WriteFile(a.Path(), nil, 0o600))
				verify(t, a.Path(), 0)
			}
			appendN(t, a, 4, 4)
			if r := verify(t, a.Path(), 5); r.Repairs != 0 || len(r.Files) != 2 {
				t.Errorf("%+v", r)
			}
		})
	}
}

func TestSecretsAreNotWritten(t *testing.T) {
	secret := "hunter2hunter2"
	r := NewRedactor([]string{"DB_PASSWORD=" + secret})
	a := openTest(t, private(t), Options{Redactor: r})
	e := entry(1)
	e.Note, e.Tool, e.ID = "note "+secret, secret, secret
	e.Accesses[0].Subject = "psql postgres://u:" + secret + "@h/db"
	e.Accesses[0].Why = `say "` + secret + `"`
	must(t, a.Append(t.Context(), e))
	data, err := os.ReadFile(a.Path())
	must(t, err)
	if bytes.Contains(data, []byte(secret)) || bytes.Count(data, []byte("[redacted:DB_PASSWORD]")) != 5 {
		t.Errorf("written: %s", data)
	}
	if e.Accesses[0].Why != `say "`+secret+`"` {
		t.Error("Append changed the caller's entry")
	}
}

func TestLongAndOddStrings(t *testing.T) {
	a := openTest(t, private(t), Options{})
	e := entry(1)
	e.Accesses[0].Subject = strings.Repeat("é", 1<<20)
	e.Note = "a\nb\x00\xff\u2028<>&"
	must(t, a.Append(t.Context(), e))
	e.Accesses = make([]Access, 5000)
	for i := range e.Accesses {
		e.Accesses[i].Subject = strings.Repeat("x", 100)
	}
	must(t, a.Append(t.Context(), e)) // a line longer than any buffer
	appendN(t, a, 3, 3)
	verify(t, a.Path(), 3)
	for r, err := range a.Read(t.Context(), Filter{}) {
		must(t, err)
		if r.Seq == 1 && (len(r.Accesses[0].Subject) > maxString+50 || !strings.HasSuffix(r.Accesses[0].Subject, "bytes more]")) {
			t.Errorf("subject of %d bytes", len(r.Accesses[0].Subject))
		}
		if r.Seq == 2 && len(r.Accesses) != 5000 {
			t.Errorf("%d accesses", len(r.Accesses))
		}
	}
}

func TestUnsafeAuditIsRefused(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(t *testing.T, dir, victim string)
	}{
		{"audit is a link", func(t *testing.T, dir, victim string) {
			must(t, os.Symlink(victim, filepath.Join(dir, FileName)))
		}},
		{"audit is a hard link", func(t *testing.T, dir, victim string) {
			must(t, os.Link(victim, filepath.Join(dir, FileName)))
		}},
		{"audit is a directory", func(t *testing.T, dir, _ string) {
			must(t, os.Mkdir(filepath.Join(dir, FileName), 0o700))
		}},
		{"lock is a link", func(t *testing.T, dir, victim string) {
			must(t, os.Symlink(victim, filepath.Join(dir, lockName)))
		}},
		{"directory is a link", func(t *testing.T, dir, victim string) {
			must(t, os.Remove(dir))
			must(t, os.Symlink(filepath.Dir(victim), dir))
		}},
		{"directory is open to others", func(t *testing.T, dir, _ string) {
			must(t, os.Chmod(dir, 0o755))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := private(t)
			victim := filepath.Join(t.TempDir(), "victim")
			must(t, os.WriteFile(victim, []byte("good"), 0o600))
			c.spoil(t, dir, victim)
			a, err := Open(dir, Options{})
			if err == nil {
				err = a.Append(t.Context(), entry(1))
			}
			if !errors.Is(err, safefile.ErrUnsafe) {
				t.Errorf("%v, want ErrUnsafe", err)
			}
			if data, _ := os.ReadFile(victim); string(data) != "good" {
				t.Errorf("the victim holds %q", data)
			}
		})
	}
}

// The audit of a real session survives gc taking the session away between two
// appends: the next one starts anew.
func TestDirectoryReplaced(t *testing.T) {
	state := t.TempDir()
	s, err := session.Open(session.Options{State: state, Root: state, ID: "s1"})
	must(t, err)
	must(t, s.Use(t.Context()))
	a := openTest(t, s.Dir(), Options{})
	appendN(t, a, 1, 2)
	must(t, s.Close())
	r, err := session.Collect(t.Context(), session.CollectOptions{State: state, Now: time.Now().Add(10_000 * time.Hour)})
	must(t, err)
	if len(r.Removed) != 1 {
		t.Fatalf("%+v", r)
	}
	appendN(t, a, 1, 1)
	verify(t, a.Path(), 1)
}

func BenchmarkAppend(b *testing.B) {
	for _, sync := range []bool{false, true} {
		b.Run(fmt.Sprintf("sync=%v", sync), func(b *testing.B) {
			a := openTest(b, private(b), Options{Sync: sync, MaxBytes: 1 << 40, Redactor: NewRedactor([]string{"A_TOKEN=0123456789abcdef", "B_SECRET=fedcba9876543210"})})
			b.ReportAllocs()
			for b.Loop() {
				must(b, a.Append(b.Context(), entry(1)))
			}
		})
	}
}

func BenchmarkOpenAppend(b *testing.B) {
	dir := private(b)
	for b.Loop() {
		a, err := Open(dir, Options{})
		must(b, err)
		must(b, a.Append(b.Context(), entry(1)))
		must(b, a.Close())
	}
}

func BenchmarkVerify(b *testing.B) {
	a := openTest(b, private(b), Options{})
	appendN(b, a, 1, 1000)
	for b.Loop() {
		verify(b, a.Path(), 1000)
	}
}
