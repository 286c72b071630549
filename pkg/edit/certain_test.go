package edit

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// A text that is not in the file is not changed where the file has one like it.
func TestCertainRefuses(t *testing.T) {
	const user = "package user\n\nfunc deleteUser(id int) error {\n\tdb := open()\n\tdefer db.Close()\n\treturn db.Exec(q, id)\n}\n"
	const command = "package cmd\n\nvar all = []*command{\n\t{\n\t\trun: func() error {\n\t\t\treturn nil\n\t\t},\n\t},\n}\n"
	for name, c := range map[string]struct{ file, old, new string }{
		"only what many places have is there": {command, "\t\t\treturn nil\n\t\t},\n\t}\n}\n\n// version is the line that says what this is.\n", "\t\t\treturn nil\n\t\t},\n\t\tname: \"version\",\n\t}\n}\n\n// version is the line that says what this is.\n"},
		"another heading":                     {"# Guide\n\n## Linux\n\nRun `make install`\n", "## macOS\n\nRun `make install`\n", "## macOS\n\nRun `make install`\nas root.\n"},
		"another number":                      {"func f() {\n\tretry(5, fetchURL)\n}\n", "retry(3, fetchURL)", "retry(3, fetchURL, timeout)"},
		"another number in a condition":       {"if len(args) == 1 {\n\toutput()\n}\n", "if len(args) == 0 {", "if len(args) == 0 && !quiet {"},
		"another function":                    {user, "func createUser(id int) error {\n\tdb := open()\n\tdefer db.Close()\n", "func createUser(id int) error {\n\tdb := open()\n\tdefer db.Close()\n\tvalidate(id)\n"},
		"another function, with all of it":    {user, "func createUser(id int) error {\n\tdb := open()\n\tdefer db.Close()\n\treturn db.Exec(q, id)\n}", "func createUser(id int) error {\n\tdb := open()\n\tdefer db.Close()\n\tvalidate(id)\n\treturn db.Exec(q, id)\n}"},
		"another key":                         {"{\n  \"dev\": {\n    \"host\": \"a\",\n    \"port\": 1\n  }\n}\n", "  \"prod\": {\n    \"host\": \"a\",\n    \"port\": 1\n", "  \"prod\": {\n    \"host\": \"a\",\n    \"port\": 2\n"},
		"another row":                         {"UPDATE users\nSET name = 'x'\nWHERE id = 1;\n", "UPDATE users\nSET name = 'x'\nWHERE id = 7;", "UPDATE users\nSET name = 'y'\nWHERE id = 7;"},
		"a name in another case":              {"x\nPATH=/bin\n", "path=/bin", "path=/usr/bin"},
		"the same, below another line":        {"x = 1\nMAX_RETRIES = 3\n", "x = 1\nmax_retries = 3", "x = 1\nmax_retries = 5"},
		"a negation":                          {"func a() {\n\tload(user)\n\tif user.IsAdmin() {\n\t\tallow(user)\n\t\tgrant(user)\n\t}\n}\n", "\tload(user)\n\tif !user.IsAdmin() {\n\t\tallow(user)\n\t\tgrant(user)\n\t}", "\tload(user)\n\tif !user.IsAdmin() {\n\t\tallow(user)\n\t\tlog(user)\n\t\tgrant(user)\n\t}"},
	} {
		out, err := Plan([]byte(c.file), []Edit{{Old: c.old, New: c.new}}, Options{})
		if err == nil {
			t.Errorf("%s: made of it\n%s", name, Diff("f", "f", []byte(c.file), out.After, 2))
		}
		old, news := strings.TrimSuffix(c.old, "\n"), strings.TrimSuffix(c.new, "\n")
		patch := "*** Begin Patch\n*** Update File: f\n@@\n"
		for _, o := range compareStrings(strings.Split(old, "\n"), strings.Split(news, "\n")) {
			for _, l := range strings.Split(old, "\n")[o.i1:o.i2] {
				patch += map[bool]string{true: " ", false: "-"}[o.equal] + l + "\n"
			}
			for _, l := range strings.Split(news, "\n")[o.j1:o.j2] {
				if !o.equal {
					patch += "+" + l + "\n"
				}
			}
		}
		if changed, err := applyPatch(patch+"*** End Patch\n", memory{"f": c.file}.read); err == nil {
			t.Errorf("%s: a patch made of it\n%s", name, Diff("f", "f", []byte(c.file), changed.Files[0].After, 2))
		}
	}
}

// How two lines differ says whether one may be the other.
func TestDifference(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"a = 'x'", "a = \"x\"", sameLine},
		{"Name the file", "name the file", sameLine},
		{"# Set PATH=/bin", "# set path=/bin", sameLine},
		{"color: #FFF;", "color: #fff;", misspelt},
		{"id = getUserID(x)", "id = getUserId(x)", misspelt},
		{"x = 0XFF", "x = 0xff", misspelt},
		{"Name := 1", "name := 1", otherCase},
		{"path=/bin", "PATH=/bin", otherCase},
		{"max_retries = 3", "MAX_RETRIES = 3", otherCase},
		{"path: /bin", "PATH: /bin", otherCase},
		{"load(x)", "Load(x)", otherCase},
		{"<button>", "<Button>", otherCase},
		{"its eror result", "its error result", misspelt},
		{"the reuslt is", "the result is", misspelt},
		{"call(a, b);", "call(a, b)", misspelt},
		{"const handle = ()", "const handle = () =>", misspelt},
		{"# caf\xe9", "# café", misspelt},
		{"event(name)", "track_event(name)", longerWord},
		{"cloneURL(u)", "cloneURLValues(u)", longerWord},
		{"invalids", "valids", longerWord},
		{"retry(3)", "retry(5)", otherLine},
		{"sha256(x)", "sha512(x)", otherLine},
		{"if !ready {", "if ready {", otherLine},
		{"a == b", "a != b", otherLine},
		{"dec.err", "enc.err", otherLine},
		{"createUser(id)", "deleteUser(id)", otherLine},
	} {
		if got := difference(newForm(c.a), newForm(c.b)); got != c.want {
			t.Errorf("%q and %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// Lines that were cut out of a file are changed nowhere else in it, but for a few that
// have a twin there.
func TestMadeGone(t *testing.T) {
	const tries = 2000
	word := regexp.MustCompile(`[A-Za-z_]{3,}`)
	files, r, applied := sources(t), rand.New(rand.NewPCG(2, 7)), 0
	for n := 0; n < tries; {
		lines := strings.SplitAfter(files[r.IntN(len(files))], "\n")
		size := []int{1, 1, 2, 3, 4, 6, 10}[r.IntN(7)]
		from := r.IntN(len(lines) - size)
		gone := lines[from : from+size]
		old, rest := strings.Join(gone, ""), strings.Join(lines[:from], "")+strings.Join(lines[from+size:], "")
		if len(strings.TrimSpace(old)) < 12 || strings.Contains(squashed(rest), squashed(old)) {
			continue
		}
		n++
		k := r.IntN(size)
		news := strings.Join(gone[:k], "") + lead(gone[k]) + "replaced()\n" + strings.Join(gone[k+1:], "")
		if at := word.FindStringIndex(gone[k]); at != nil && r.IntN(2) == 0 {
			news = strings.Join(gone[:k], "") + gone[k][:at[1]] + "X" + gone[k][at[1]:] + strings.Join(gone[k+1:], "")
		}
		if _, err := Plan([]byte(rest), []Edit{{Old: old, New: news}}, Options{}); err == nil {
			applied++
		}
	}
	t.Logf("%d of %d applied", applied, tries)
	if 1000*applied > 15*tries {
		t.Errorf("%d of %d applied", applied, tries)
	}
}
