package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"

	"github.com/agentkit-go/agentkit/cmd"
)

// soak reports whether the tests that take minutes are asked for.
func soak() bool { return os.Getenv("AGENTKIT_SOAK") != "" }

// An editHouse is a workspace with its own state.
type editHouse struct {
	t   testing.TB
	dir string
}

func newEditHouse(t testing.TB) *editHouse {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err == nil {
		err = os.Mkdir(filepath.Join(dir, "W"), 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	return &editHouse{t, dir}
}

func (h *editHouse) path(name string) string { return filepath.Join(h.dir, "W", name) }

func (h *editHouse) put(name string, data []byte) {
	if err := os.WriteFile(h.path(name), data, 0o644); err != nil {
		h.t.Fatal(err)
	}
}

func (h *editHouse) get(name string) []byte {
	data, err := os.ReadFile(h.path(name))
	if err != nil {
		h.t.Error(err)
	}
	return data
}

// args are a command line for a tool with its parameters as JSON.
func (h *editHouse) args(tool string, params map[string]any) []string {
	raw, err := json.Marshal(params)
	if err != nil {
		h.t.Fatal(err)
	}
	return []string{"--root", filepath.Join(h.dir, "W"), "--state", filepath.Join(h.dir, "S"), "-o", "json", tool, "--json", string(raw)}
}

// call makes a call in this process and returns its status and output.
func (h *editHouse) call(tool string, params map[string]any) (int, string) {
	var out, errs bytes.Buffer
	code := cmd.Main(context.Background(), func() {}, h.args(tool, params), strings.NewReader(""), &out, &errs)
	return code, out.String() + errs.String()
}

// command is the same call as a process of its own.
func (h *editHouse) command(tool string, params map[string]any) *exec.Cmd {
	c := exec.Command("agentkit", h.args(tool, params)...)
	c.Env = append(os.Environ(), "HOME="+h.dir)
	return c
}

// A writing is an encoding with words of its own and those that replace them.
type writing struct {
	name  string
	coder encoding.Encoding // nil for UTF-8
	text  string            // a sentence
	old   string            // a word of it
	new   string
}

func writings() []writing {
	german, french := "Der Bär läuft schön über die Straße und grüßt müde Käufer", "L'été, Zoë déjeune à l’hôtel – où « ça » coûte 5 € près du théâtre"
	russian, japanese2 := "Съешь ещё этих мягких французских булок, да выпей чаю", "吾輩は猫である。名前はまだ無い。どこで生れたか頓と見当がつかぬ"
	chinese, korean2, taiwan := "今天天气很好，我们一起去公园散步，孩子们在草地上玩，大人在树下说话", "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다", "學而時習之，不亦說乎？有朋自遠方來，不亦樂乎？人不知而不慍"
	return []writing{
		{"utf-8", nil, french, "hôtel", "château"},
		{"utf-8 with a mark", unicode.UTF8BOM, russian, "булок", "хлебов"},
		{"utf-16le", unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), german + " 🎉", "Straße", "Brücke 🎈"},
		{"utf-16be", unicode.UTF16(unicode.BigEndian, unicode.UseBOM), japanese2, "名前", "住所"},
		{"utf-32le", utf32.UTF32(utf32.LittleEndian, utf32.UseBOM), chinese, "公园", "学校"},
		{"iso-8859-1", charmap.ISO8859_1, german, "Straße", "Brücke"},
		{"windows-1252", charmap.Windows1252, french, "théâtre", "musée"},
		{"windows-1251", charmap.Windows1251, russian, "булок", "хлебов"},
		{"koi8-r", charmap.KOI8R, russian, "чаю", "воды"},
		{"shift_jis", japanese.ShiftJIS, japanese2 + "ソ表能", "名前", "表示ソ"},
		{"euc-jp", japanese.EUCJP, japanese2, "名前", "住所"},
		{"gbk", simplifiedchinese.GBK, chinese, "公园", "学校"},
		{"euc-kr", korean.EUCKR, korean2, "권리", "자유"},
		{"big5", traditionalchinese.Big5, taiwan, "朋自", "功許蓋"},
	}
}

func (w writing) encode(t testing.TB, text string) []byte {
	if w.coder == nil {
		return []byte(text)
	}
	data, err := w.coder.NewEncoder().Bytes([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", w.name, err)
	}
	return data
}

// TestEncodings makes 20 changes in a file of each encoding, by edit and by
// patch: every byte that was not to change is what it was. The files mix line
// endings and have no final one.
func TestEncodings(t *testing.T) {
	for _, w := range writings() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			h := newEditHouse(t)
			r := rand.New(rand.NewPCG(1, 2))
			var lines, ends []string
			for i := range 40 {
				lines = append(lines, fmt.Sprintf("\tline(%d) = \"%s\" # %d", i, w.text, i*7))
				ends = append(ends, []string{"\n", "\r\n"}[r.IntN(2)])
			}
			ends[len(ends)-1] = ""
			join := func() string {
				var b strings.Builder
				for i, l := range lines {
					b.WriteString(l + ends[i])
				}
				return b.String()
			}
			h.put("f.txt", w.encode(t, join()))
			for n := range 20 {
				i := r.IntN(len(lines))
				tool, params := w.change(n, i, lines)
				code, out := h.call(tool, params)
				if n%10 == 9 { // the last of ten as a process of its own, undone and done again
					if code, out := h.call("undo", map[string]any{}); code != 0 {
						t.Fatalf("undo: %s", out)
					}
					raw, err := h.command(tool, params).Output()
					if err != nil {
						t.Fatalf("%v: %s", err, raw)
					}
				}
				if code != 0 {
					t.Fatalf("change %d, %s %q: %s", n, tool, params, out)
				}
				if have, want := h.get("f.txt"), w.encode(t, join()); !bytes.Equal(have, want) {
					t.Fatalf("change %d, %s %q:\n%q\nwant\n%q", n, tool, params, have, want)
				}
			}
		})
	}
}

// change makes change n in line i of lines and says which call is to do it.
func (w writing) change(n, i int, lines []string) (tool string, params map[string]any) {
	old := lines[i]
	switch n % 5 {
	case 0: // ASCII beside other text
		lines[i] = strings.Replace(old, "line(", fmt.Sprintf("row%d(", n), 1)
		lines[i] = strings.Replace(lines[i], fmt.Sprintf("row%d(", n-5), fmt.Sprintf("row%d(", n), 1)
		if lines[i] == old {
			lines[i] = old + fmt.Sprint(" again ", n)
		}
	case 1, 2: // words of the language; a misquoted line is found too
		lines[i] = strings.Replace(old, w.old, w.new, 1)
		if lines[i] == old {
			lines[i] = strings.Replace(old, w.new, w.old, 1)
		}
		if n%5 == 2 {
			return "edit", map[string]any{"path": "f.txt", "old_string": strings.TrimSpace(old) + "  ", "new_string": strings.TrimSpace(lines[i]) + "  "}
		}
	case 3: // every line
		for k := range lines {
			lines[k] = strings.Replace(lines[k], " = ", " == ", 1)
			lines[k] = strings.Replace(lines[k], " ==== ", " = ", 1)
		}
		if n < 5 {
			return "edit", map[string]any{"path": "f.txt", "old_string": " = ", "new_string": " == ", "replace_all": true}
		}
		for k := range lines {
			lines[k] = strings.Replace(lines[k], " == ", " =", 1)
			lines[k] = strings.Replace(lines[k], " =", " == ", 1)
		}
		lines[i] = strings.Replace(old, "#", "##", 1)
	case 4: // by a patch
		lines[i] = old + " " + w.new
		return "patch", map[string]any{"patch": "*** Begin Patch\n*** Update File: f.txt\n@@\n-" + old + "\n+" + lines[i] + "\n*** End Patch"}
	}
	return "edit", map[string]any{"path": "f.txt", "old_string": old, "new_string": lines[i]}
}

// TestEditsTogether: 8 processes count in one file at the same time, each
// change on the version that it has read. No change is lost, and each can be
// taken back.
func TestEditsTogether(t *testing.T) {
	each := sampled(4, 15)
	if soak() {
		each = 500
	}
	h := newEditHouse(t)
	h.put("n.txt", []byte("count: 0\n"))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for done, tries := 0, 0; done < each; tries++ {
				if tries > 100*each {
					t.Error("it never comes to an end")
					return
				}
				data, err := os.ReadFile(h.path("n.txt"))
				if err != nil {
					t.Error(err)
					return
				}
				n, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(string(data), "count: ")))
				if err != nil {
					t.Errorf("a half-written file: %q", data)
					return
				}
				c := h.command("edit", map[string]any{"path": "n.txt", "old_string": fmt.Sprint("count: ", n, "\n"), "new_string": fmt.Sprint("count: ", n+1, "\n")})
				switch out, err := c.Output(); {
				case err == nil:
					done++
				case !bytes.Contains(out, []byte(`"no_match"`)) && !bytes.Contains(out, []byte(`"already_applied"`)):
					t.Errorf("%v: %s", err, out)
					return
				}
			}
		})
	}
	wg.Wait()
	want := fmt.Sprintf("count: %d\n", 8*each)
	if have := string(h.get("n.txt")); have != want {
		t.Fatalf("%q, want %q", have, want)
	}
	if code, out := h.call("undo", map[string]any{"last": 10}); code != 0 {
		t.Fatal(out)
	}
	if have, want := string(h.get("n.txt")), fmt.Sprintf("count: %d\n", 8*each-10); have != want {
		t.Errorf("10 undone: %q, want %q", have, want)
	}
}

// TestPatchKilled kills a process that patches ten files, later and later. The
// next call of any kind that changes one of them finds all old or all new.
func TestPatchKilled(t *testing.T) {
	points := 12
	if soak() {
		points = 300
	}
	h := newEditHouse(t)
	var patch strings.Builder
	patch.WriteString("*** Begin Patch\n")
	before, after := map[string]string{}, map[string]string{}
	for i := range 10 {
		name := fmt.Sprintf("f%d.txt", i)
		before[name] = strings.Repeat(fmt.Sprintf("%d some text\n", i), 2000) + "old\n"
		after[name] = strings.TrimSuffix(before[name], "old\n") + "new\n"
		fmt.Fprintf(&patch, "*** Update File: %s\n@@\n-old\n+new\n", name)
	}
	patch.WriteString("*** End Patch\n")
	is := func(want map[string]string) bool {
		for name, data := range want {
			if string(h.get(name)) != data {
				return false
			}
		}
		return true
	}
	longest := time.Duration(0)
	olds, news, mixed := 0, 0, 0
	for point := -1; point < points; point++ {
		for name, data := range before {
			h.put(name, []byte(data))
		}
		c := h.command("patch", map[string]any{"patch": patch.String()})
		start := time.Now()
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		if point >= 0 {
			time.Sleep(longest * time.Duration(point) * 5 / time.Duration(4*points)) // any moment is right
			_ = c.Process.Kill()
		}
		err := c.Wait()
		if point < 0 {
			if longest = time.Since(start); err != nil || !is(after) {
				t.Fatal("the patch is not made: ", err)
			}
			continue
		}
		if err != nil && !is(before) && !is(after) {
			mixed++ // until somebody looks after it
		}
		// Another tool, and another file: the change of f3 needs the others put right.
		if code, out := h.call("edit", map[string]any{"path": "f3.txt", "edits": []map[string]any{{"old_string": "3 some text\n3 some text\nold", "new_string": "x"}, {"old_string": "nowhere", "new_string": "y"}}}); code == 0 {
			t.Fatal(out)
		}
		switch {
		case is(before):
			olds++
		case is(after):
			news++
		default:
			t.Fatalf("point %d of %d: some files are old, some new", point, points)
		}
	}
	t.Logf("%d old, %d new, of them %d had to be put right", olds, news, mixed)
	if olds+news != points || olds == 0 {
		t.Errorf("%d old and %d new of %d", olds, news, points)
	}
	left, err := filepath.Glob(filepath.Join(h.dir, "S", "*", "*", "journal", "pending", "[^.]*")) // one that begins with a dot never counted
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

// TestEditFullDisk changes files on a disk that has no room for them, and with
// no room for the journal: nothing changes and nothing is left behind. The
// disks are mounted where nobody else sees them.
func TestEditFullDisk(t *testing.T) {
	if out, err := exec.Command("unshare", "-m", "sh", "-c", "mount -t tmpfs none /mnt").CombinedOutput(); err != nil {
		t.Skipf("no mounts of its own here: a full disk is NOT tested: %v: %s", err, out)
	}
	for _, full := range []string{"W", "S"} {
		h := newEditHouse(t)
		if err := os.Mkdir(filepath.Join(h.dir, "S"), 0o700); err != nil {
			t.Fatal(err)
		}
		script := `set -e
mount -t tmpfs -o size=1200k none "$1/` + full + `"
cd "$1/W"
yes "some text" | head -c 600000 >a.txt; echo old >>a.txt; echo old >b.txt
test ` + full + ` = W || head -c 900000 /dev/zero >"$1/S/filler"
mkdir -p other; head -c 550000 /dev/zero >other/filler
sum=$(cat a.txt b.txt | cksum); names=$(ls -A . other)
shift
set +e
out=$("$@"); status=$?
test "$sum" = "$(cat a.txt b.txt | cksum)" || { echo "the files changed: $out"; exit 1; }
test "$names" = "$(ls -A . other)" || { echo "left behind: $(ls -A . other)"; exit 1; }
printf '%s\n' "$out"; exit $status`
		for _, c := range [][]string{
			h.args("edit", map[string]any{"path": "a.txt", "old_string": "old", "new_string": "new"}),
			h.args("patch", map[string]any{"patch": "*** Begin Patch\n*** Update File: b.txt\n@@\n-old\n+new\n*** Update File: a.txt\n@@\n-old\n+new\n*** End Patch"}),
			h.args("write", map[string]any{"path": "a.txt", "content": strings.Repeat("x", 100_000)}),
		} {
			if full == "S" && c[len(c)-3] == "write" {
				continue // its old content alone does not fit either: the same case
			}
			run := exec.Command("unshare", append([]string{"-m", "sh", "-c", script, "sh", h.dir, "agentkit"}, c...)...)
			run.Stdin = strings.NewReader("")
			out, err := run.Output()
			var r struct {
				Error struct{ Code, Message string }
			}
			if e := json.Unmarshal(out, &r); e != nil || run.ProcessState.ExitCode() != 2 || r.Error.Code != "io" {
				t.Errorf("%s is full, %s: %v: %.400s", full, c[len(c)-3], err, out)
			}
		}
	}
}

// TestEditKeeps: mode, owner, extended attributes, other names and links of a
// file are what they were after edit, patch and undo.
func TestEditKeeps(t *testing.T) {
	h := newEditHouse(t)
	h.put("f.sh", []byte("#!/bin/sh\necho old\n"))
	if err := os.Symlink("f.sh", h.path("link")); err != nil {
		t.Skip("no links here: NOT tested: ", err)
	}
	if err := os.Chmod(h.path("f.sh"), 0o751); err != nil {
		t.Fatal(err)
	}
	facts := "stat -c '%a %u %g %h %F' f.sh link"
	owned := os.Getuid() == 0 && os.Chown(h.path("f.sh"), 12345, 23456) == nil
	attrs := exec.Command("setfattr", "-n", "user.note", "-v", "kept", h.path("f.sh")).Run() == nil
	if attrs {
		facts += "; getfattr -d f.sh"
	}
	t.Logf("owner: %v, extended attributes: %v", owned, attrs)
	look := func() string {
		c := exec.Command("sh", "-c", facts)
		c.Dir = h.path("")
		out, err := c.CombinedOutput()
		if err != nil {
			t.Skipf("no way to look at files here: NOT tested: %v: %s", err, out)
		}
		return string(out)
	}
	before := look()
	for _, c := range []struct {
		tool   string
		params map[string]any
	}{
		{"edit", map[string]any{"path": "link", "old_string": "old", "new_string": "new"}},
		{"undo", map[string]any{}},
		{"patch", map[string]any{"patch": "*** Begin Patch\n*** Update File: f.sh\n@@\n-echo old\n+echo new\n*** End Patch"}},
		{"undo", map[string]any{}},
		{"write", map[string]any{"path": "f.sh", "content": "#!/bin/sh\n"}},
	} {
		if code, out := h.call(c.tool, c.params); code != 0 {
			t.Fatalf("%s: %s", c.tool, out)
		}
		if after := look(); after != before {
			t.Errorf("after %s:\n%swas\n%s", c.tool, after, before)
		}
	}
}

// TestResultsAreBounded: however much a call changes, its result is small and its sums
// are those of all of it.
func TestResultsAreBounded(t *testing.T) {
	h := newEditHouse(t)
	var patch strings.Builder
	const files, hunks = 1500, 1200
	for i := range files {
		fmt.Fprintf(&patch, "--- /dev/null\n+++ b/new/%d.txt\n@@ -0,0 +1,2 @@\n+one line of a file\n+another\n", i)
	}
	var big strings.Builder
	patch.WriteString("--- a/big.txt\n+++ b/big.txt\n")
	for i := range hunks {
		fmt.Fprintf(&big, "line %[1]d\na %[1]d\nb %[1]d\nc %[1]d\nd %[1]d\ne %[1]d\nf %[1]d\ng %[1]d\n", i)
		fmt.Fprintf(&patch, "@@ -%d,2 +%d,2 @@\n-line %d\n+changed %d\n a %d\n", 8*i+1, 8*i+1, i, i, i)
	}
	h.put("big.txt", []byte(big.String()))
	var list []map[string]any
	for i := range 40 {
		name := fmt.Sprintf("e%d.txt", i)
		h.put(name, []byte(strings.Repeat("old text here\n", 500)))
		list = append(list, map[string]any{"path": name, "old_string": "old", "new_string": "new", "replace_all": true})
	}
	for _, c := range []struct {
		tool           string
		params         map[string]any
		added, removed int
		most           int
	}{
		{"patch", map[string]any{"patch": patch.String(), "dry_run": true}, 2*files + hunks, hunks, 200_000},
		{"edit", map[string]any{"path": "e0.txt", "edits": list, "dry_run": true}, 40 * 500, 40 * 500, 200_000},
	} {
		code, out := h.call(c.tool, c.params)
		var r struct {
			Metadata struct {
				Diff           string
				Added, Removed int
				FilesTotal     int `json:"files_total"`
			}
		}
		if err := json.Unmarshal([]byte(out), &r); err != nil || code != 0 {
			t.Fatalf("%s: %d, %v: %.300s", c.tool, code, err, out)
		}
		m := r.Metadata
		t.Logf("%s: %d bytes, %d of them the difference", c.tool, len(out), len(m.Diff))
		if len(out) > c.most || len(m.Diff) > 40_000 {
			t.Errorf("%s: the result has %d bytes, the difference %d", c.tool, len(out), len(m.Diff))
		}
		if m.Added != c.added || m.Removed != c.removed || c.tool == "patch" && m.FilesTotal != files+1 {
			t.Errorf("%s: +%d -%d in %d files", c.tool, m.Added, m.Removed, m.FilesTotal)
		}
		if !strings.Contains(m.Diff, "more lines of diff") {
			t.Errorf("%s: nothing says that the difference is not whole: …%s", c.tool, m.Diff[max(0, len(m.Diff)-200):])
		}
	}
}
