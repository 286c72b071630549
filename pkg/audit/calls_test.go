package audit

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// TestCalls checks which records make a call.
func TestCalls(t *testing.T) {
	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	exit := 1
	list := []Record{
		{Seq: 1, Entry: Entry{Time: begin, ID: "a", Tool: "batch", Event: Decision, Decision: "allow"}},
		{Seq: 2, Entry: Entry{Time: begin, ID: "b", Parent: "a", Tool: "bash", Event: Decision, Decision: "allow", Accesses: []Access{{Kind: "read", Subject: "/w/dir/x"}}}},
		{Seq: 3, Entry: Entry{Time: begin, ID: "q", Parent: "b", Asked: true, Tool: "bash", Event: Decision, Decision: "deny", Accesses: []Access{{Kind: "net", Subject: "example.org"}}}}, // asked while b ran
		{Seq: 4, Entry: Entry{Time: begin.Add(1500 * time.Millisecond), ID: "b", Tool: "bash", Event: Result, Exit: &exit}},
		{Seq: 5, Entry: Entry{Event: Repair, Note: "torn"}},
		{Seq: 6, Entry: Entry{Time: begin, ID: "c", Tool: "read", Event: Decision, Decision: "deny", Accesses: []Access{{Kind: "read", Subject: "/k", Decision: "deny", Why: "secret", Rule: "r"}}}},
	}
	calls, damaged := Calls(func(yield func(Record, error) bool) {
		for _, r := range list {
			if !yield(r, nil) {
				return
			}
		}
		yield(Record{}, errors.New("no record"))
	})
	if len(calls) != 3 || damaged != 1 {
		t.Fatalf("%d calls, %d damaged", len(calls), damaged)
	}
	a, b, c := calls[0], calls[1], calls[2]
	fill(map[string]*Call{"b": b, "c": c}, strings.NewReader(`{"id":"b","args":"{\"command\":\"make  all\"}"}
{"id":"c","args":"{\"path\":\"k\"}"}
{"id":"x","args":"{}"}
no line
{"id":"b","text":"x","diff":"d"}
{"id":"b","te`))
	if b.Text != "x" || b.Diff != "d" {
		t.Errorf("%+v", b)
	}
	if a.ID != "a" || a.Ended || a.What() != "" || len(a.Asked) != 0 {
		t.Errorf("%+v", a)
	}
	if b.Parent != "a" || !b.Ended || b.Millis != 1500 || b.What() != "make all" || len(b.Asked) != 1 || b.Failed() || b.Why() != "" {
		t.Errorf("%+v", b)
	}
	if !b.Touches("/w/dir") || !b.Touches("/w/dir/x") || b.Touches("/w/di") || !b.Touches("example.org") {
		t.Errorf("%+v", b.Accesses)
	}
	if c.Ended || !c.Failed() || c.Why() != "read /k: secret (r)" || c.Cut() {
		t.Errorf("%+v", c)
	}
	for args, cut := range map[Args]bool{"": true, `{"a":"[redacted:KEY]"}`: true, Args(`{"a":"` + (*Redactor)(nil).ends(strings.Repeat("x", 99), 30) + `"}`): true, `{"a":"…"}`: false} {
		if c := (&Call{Args: args}); c.Cut() != cut {
			t.Errorf("%s: cut is %v", args, c.Cut())
		}
	}
	for args, want := range map[Args]string{`{"a":1}`: `{"a":1}`, `{"a`: `"{\"a"`} {
		if raw, err := json.Marshal(args); err != nil || string(raw) != want {
			t.Errorf("%s, %v", raw, err)
		}
	}
}

// TestEnds checks that both ends stay, whole characters, and that what is left out is
// counted.
func TestEnds(t *testing.T) {
	var r *Redactor
	if got := r.ends("short", 5); got != "short" {
		t.Errorf("%q", got)
	}
	got := r.ends(strings.Repeat("ä", 100)+"end", 30)
	if !utf8.ValidString(got) || !strings.HasPrefix(got, "ää") || !strings.HasSuffix(got, "end") || !strings.Contains(got, "…[173 bytes more]…") {
		t.Errorf("%q", got)
	}
}

// TestEndsSecrets checks that nothing is left of a secret that is cut.
func TestEndsSecrets(t *testing.T) {
	const value = "QQQQ QQQQ QQQQ QQQQ"
	r := (*Redactor)(nil).With("PHRASE", value)
	key := "-----BEGIN PRIVATE KEY-----\n" + strings.Repeat("MIIabc\n", 40) + "-----END PRIVATE KEY-----"
	token := "ghp_" + strings.Repeat("a1B2c3D4", 5)
	for _, left := range []int{0, 3 * maxString} {
		for at := 0; at < 700; at += 13 {
			before, after := strings.Repeat(" ", at), strings.Repeat(" ", left+2*maxArgs-at)
			for _, secret := range []string{value, token, key} {
				for _, text := range []string{before + secret + after, after + secret + before} {
					args, err := json.Marshal(map[string]string{"text": text})
					if err != nil {
						t.Fatal(err)
					}
					for _, got := range []string{r.ends(text, maxArg), r.brief(string(args))} {
						if strings.ContainsAny(got, "QMB") || !strings.Contains(got, " bytes more]") {
							t.Fatalf("%d: %q", at, got)
						}
					}
				}
			}
		}
	}
}

// TestFollow checks that what is written is seen by who follows, once.
func TestFollow(t *testing.T) {
	dir := t.TempDir() + "/s"
	write, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer write.Close()
	add := func(id string) {
		if err := write.Append(t.Context(), Entry{ID: id, Event: Result}); err != nil {
			t.Error(err)
		}
	}
	read, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	add("1")
	var seen []string
	for records := range read.Follow(t.Context(), Filter{}, time.Millisecond) {
		known := len(seen)
		for r, err := range records {
			if err != nil {
				t.Fatal(err)
			}
			seen = append(seen, r.ID)
		}
		for _, id := range seen[known:] { // not while they are read: that would never end
			add(id + "+")
		}
		if len(seen) >= 4 {
			break
		}
	}
	if got := strings.Join(seen, " "); got != "1 1+ 1++ 1+++" {
		t.Error(got)
	}
}

// TestTellRenamed checks that what is told goes into the file of that name, also after
// another process has renamed the one before.
func TestTellRenamed(t *testing.T) {
	dir := private(t)
	a := openTest(t, dir, Options{})
	tell := func(id string) {
		t.Helper()
		must(t, a.Tell(Told{ID: id, Args: "{}"}))
		raw, err := os.ReadFile(filepath.Join(dir, toldName))
		must(t, err)
		if want := `{"id":"` + id + `","args":"{}"}` + "\n"; !strings.HasSuffix(string(raw), want) {
			t.Errorf("%s: %q", id, raw)
		}
	}
	tell("a")
	tell("b")
	must(t, os.Rename(filepath.Join(dir, toldName), filepath.Join(dir, toldOlder)))
	must(t, openTest(t, dir, Options{}).Tell(Told{ID: "another's", Args: "{}"}))
	tell("c")
	must(t, os.Truncate(filepath.Join(dir, toldName), maxTold+1))
	must(t, a.Tell(Told{ID: "d", Args: "{}"}))
	if info, err := os.Stat(filepath.Join(dir, toldOlder)); err != nil || info.Size() <= maxTold {
		t.Errorf("the full file was not renamed: %v %v", info, err)
	}
	tell("e")
}
