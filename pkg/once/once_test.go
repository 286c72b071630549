package once

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/agentkit-go/agentkit/pkg/session"
)

func open(t *testing.T) *session.Session {
	t.Helper()
	s, err := session.Open(session.Options{State: filepath.Join(t.TempDir(), "state"), Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func take(t *testing.T, s *session.Session, key string) *Record {
	t.Helper()
	r, err := Take(t.Context(), s, key)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestCut: whatever a killed process has left of a record, it is either of a call that has not
// begun, of one of which nothing is known, or of one with its result.
func TestCut(t *testing.T) {
	t.Parallel()
	s := open(t)
	r := take(t, s, "k")
	must(t, r.Begin(&Begun{Call: "c", At: time.Unix(1, 0), About: []byte(`{"a":1}`)}))
	must(t, r.End([]byte(`{"r":1}`)))
	must(t, r.Close())
	name := s.Path(dir, r.name)
	text, err := os.ReadFile(name)
	must(t, err)
	first := 0
	for text[first] != '\n' {
		first++
	}
	for n := range len(text) + 1 {
		must(t, os.WriteFile(name, text[:n], 0o600))
		r := take(t, s, "k")
		if begun, ended := r.Begun != nil, r.Result != nil; begun != (n > first) || ended != (n == len(text)) {
			t.Errorf("%d of %d bytes: begun %v, ended %v", n, len(text), begun, ended)
		}
		must(t, r.Close())
		if _, err := os.Stat(name); (err == nil) != (n > first) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	// What was left of a first line does not stand before the next one.
	must(t, os.WriteFile(name, text[:first-1], 0o600))
	r = take(t, s, "k")
	must(t, r.Begin(&Begun{Call: "d"}))
	must(t, r.End([]byte(`{"r":2}`)))
	must(t, r.Close())
	if r = take(t, s, "k"); r.Begun == nil || r.Begun.Call != "d" || string(r.Result) != `{"r":2}` {
		t.Errorf("%+v", r)
	}
	must(t, r.Close())
}

// TestHeld: of two with one key the second waits, and gives up when it is told to.
func TestHeld(t *testing.T) {
	t.Parallel()
	s := open(t)
	r := take(t, s, "k")
	must(t, take(t, s, "other").Close())
	soon, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if r, err := Take(soon, s, "k"); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(r, err)
	}
	got := make(chan string)
	go func() {
		r, err := Take(t.Context(), s, "k")
		if err != nil {
			got <- err.Error()
			return
		}
		got <- string(r.Result)
		_ = r.Close()
	}()
	must(t, r.Begin(&Begun{}))
	must(t, r.End([]byte(`"done"`)))
	must(t, r.Close())
	if text := <-got; text != `"done"` {
		t.Error(text)
	}
}

// TestForget: the newest records stay, as many as there may be; what is held stays, too.
func TestForget(t *testing.T) {
	t.Parallel()
	s := open(t)
	now := time.Now()
	put := func(name string, age time.Duration, size int64) {
		name = s.Path(dir, name)
		must(t, os.WriteFile(name, nil, 0o600))
		must(t, os.Truncate(name, size))
		must(t, os.Chtimes(name, now, now.Add(-age)))
	}
	names := func() map[string]bool {
		list, err := os.ReadDir(s.Path(dir))
		must(t, err)
		all := map[string]bool{}
		for _, e := range list {
			all[e.Name()] = true
		}
		return all
	}
	forget := func(result int) {
		r := take(t, s, "k")
		must(t, r.Begin(&Begun{}))
		must(t, r.End(make([]byte, result)))
		must(t, r.Close())
		must(t, r.Forget(now))
	}
	held := take(t, s, "held")
	defer held.Close() //nolint:errcheck // the test is over
	must(t, held.Begin(&Begun{}))
	must(t, os.Chtimes(s.Path(dir, held.name), now, now.Add(-48*time.Hour)))
	put("old", 25*time.Hour, 1)
	put("young", 23*time.Hour, 1)
	forget(small + 1)
	if all := names(); all["old"] || !all["young"] || !all[held.name] || len(all) != 3 {
		t.Error(all)
	}
	for i := range maxKept + 10 {
		put(fmt.Sprint("n", i), time.Duration(i)*time.Second, 1)
	}
	forget(1)
	if all := names(); len(all) != maxKept+1 || all["young"] || !all["n0"] || all[fmt.Sprint("n", maxKept+9)] || !all[held.name] {
		t.Error(len(all), all["young"], all["n0"])
	}
	put("large", time.Millisecond, maxTotal-1000)
	put("large2", 2*time.Millisecond, 2000)
	forget(1)
	if all := names(); !all["large"] || all["large2"] || all["n5"] {
		t.Error(len(all))
	}
}
