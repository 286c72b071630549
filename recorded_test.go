package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A recordedCall is a call that was made with OpenCode's own tools, and what came of it.
type recordedCall struct {
	Label, Tool, Err string
	Params           json.RawMessage
	OK               bool
	Result           *struct{ Output string }
	After            any // the bytes of a file, or of several, as Python prints them
}

// The files that calls were made in.
var (
	four  = map[string]string{"a.txt": "one\ntwo\nthree\nfour\n"}
	three = map[string]string{"a.txt": "one\ntwo\nthree\n"}
	x     = map[string]string{"a.txt": "x"}
	tree  = map[string]string{
		".env": "needle env\n", ".gitignore": "ign/\n", ".ignore": "ign2/\n", ".hid/h.txt": "needle hid\n", "bin.dat": "\x00needle", "crlf.txt": "needle crlf\r\n",
		"ign/i.txt": "needle ign\n", "ign2/i.txt": "needle ign2\n", "ln": "->src", "broken": "->absent", "opencode.json": "{}", "src/a.go": "needle one\nx\nneedle two\n", "src/b.txt": "needle b\n",
	}
)

// named is count files d/f000 and so on; a text that begins with -> is a link.
func named(count int) map[string]string {
	files := map[string]string{}
	for i := range count {
		files[fmt.Sprintf("d/f%03d", i)] = ""
	}
	return files
}

// numbered is a file of count lines.
func numbered(count int) map[string]string {
	var text strings.Builder
	for i := range count {
		fmt.Fprintf(&text, "l%d\n", i)
	}
	return map[string]string{"a.txt": text.String()}
}

// recorded says of each call what it found, and, where our answer is another one, what
// ours is and why.
var recorded = map[string]struct {
	before map[string]string
	ours   string // a regular expression, or after = and the file; "" where both are the same
	why    string
}{
	"edit bom":                  {map[string]string{"a.txt": "\ufeffa\nb\n"}, "", ""},
	"edit latin1":               {map[string]string{"a.txt": "x = 1 # caf\xe9\n"}, "after = x = 2 # caf\xe9\n", "the byte that is not UTF-8 stays as it is"},
	"edit empty-old-existing":   {map[string]string{"a.txt": "a"}, "", ""},
	"edit empty-old-new":        {nil, "", ""},
	"edit missing":              {nil, `^File .PROJ/nope.txt not found\n\nerror: `, "ours says the next step behind it"},
	"edit dir":                  {nil, `^Path is a directory, not a file: .PROJ/.git\n\nerror: `, "ours says the next step behind it"},
	"edit notfound":             {three, `^Could not find oldString in the file[^\n]*\n\nerror: `, "ours says the next step behind it"},
	"edit multi":                {map[string]string{"a.txt": "a\nb\na\n"}, `^Found multiple matches for oldString[^\n]*\n\nerror: .*at lines 1, 3`, "ours says where, and the next step"},
	"edit refuse":               {map[string]string{"a.txt": "A\n1\n2\n3\n4\n5\n6\n7\nB\n"}, `^Could not find oldString in the file[^\n]*\n\nerror: `, "ours says the next step behind it"},
	"edit mode":                 {map[string]string{"a.sh": "a"}, "", ""},
	"edit result diff":          {map[string]string{"a.txt": "  one\n  two\n  three\n"}, "", ""},
	"edit nofile":               {nil, `^filePath is required\n\nerror: `, "ours says the next step behind it"},
	"edit snake":                {map[string]string{"a.txt": "a"}, `^Edit applied successfully`, "what is meant is plain, and costs no turn"},
	"write over":                {x, "", ""},
	"write over latin1":         {map[string]string{"a.txt": "caf\xe9\n"}, "", ""},
	"write bom":                 {map[string]string{"a.txt": "\ufeffx"}, "after = hi\n", "what is written is what was sent"},
	"write dir":                 {nil, `^Path is a directory, not a file: .PROJ/.git\n`, "theirs is a message of their library"},
	"write under file":          {x, `not a directory\nhint: `, "theirs is a message of their library"},
	"write same":                {x, "", ""},
	"write num":                 {nil, `^Wrote file successfully`, "a number is taken for its text"},
	"read no-eol":               {map[string]string{"a.txt": "one\ntwo"}, "", ""},
	"read neg":                  {three, `^error: offset: want at least 0`, "our words for what is out of bounds"},
	"read off4":                 {three, "", ""},
	"read off2lim1":             {three, "", ""},
	"read strnum":               {three, `\n2: two\n3: three\n`, "a number may come as a text"},
	"read cr":                   {map[string]string{"a.txt": "one\rtwo\rthree"}, "", ""},
	"read latin1":               {map[string]string{"a.txt": "caf\xe9\n"}, `1: café\n`, "the encoding is recognised"},
	"read nul-late":             {map[string]string{"a.txt": strings.Repeat("a\n", 3000) + "\x00\n"}, `^Cannot read binary file`, "a NUL byte behind the first 4 KB is seen, too"},
	"read ext-bin-text":         {map[string]string{"a.dat": "text\n"}, `1: text\n`, "the bytes count, not the name"},
	"read long line":            {map[string]string{"a.txt": strings.Repeat("x", 3000) + "\nend\n"}, `x\[… line has 3000 bytes\]\n2: end`, "ours says how long it is"},
	"read emoji cut":            {map[string]string{"a.txt": strings.Repeat("x", 1999) + "\U0001f600\n"}, `x😀\n`, "no character is cut in two, and 2000 are not too many"},
	"read 2500":                 {numbered(2500), `\n2000: l1999\n\n\(Showing lines 1-2000 of 2500. Use offset=2001 to continue.\)\n</content>$`, "the record was cut"},
	"read bytes":                {map[string]string{"a.txt": strings.Repeat(strings.Repeat("y", 100)+"\n", 600)}, `\(Showing lines 1-\d+ of 600. Use offset=\d+ to continue.\)`, "the record is empty"},
	"read missing case":         {map[string]string{"readme.md": "x"}, "", ""},
	"read missing":              {nil, "", ""},
	"read dir":                  {tree, `\nbroken@\n.*\nln@\n`, "links are shown as links"},
	"read dir page":             {map[string]string{"d/f0": "", "d/f1": "", "d/f2": "", "d/f3": "", "d/f4": ""}, `beyond entry 3\)`, "the last entry that was shown is the third"},
	"read emptydir":             {map[string]string{"d/": ""}, "", ""},
	"read fakepng":              {map[string]string{"a.png": "text\n"}, `1: text\n`, "the bytes count, not the name"},
	"read pdf":                  {map[string]string{"a.pdf": "%PDF-1.4\n"}, `^PDF read successfully\n`, "the text stands behind it"},
	"read agents":               {map[string]string{"s/AGENTS.md": "RULES", "s/t/a.txt": "x\n"}, "", ""},
	"glob *":                    {tree, `^[^.]*bin.dat\n`, "ignored and hidden files are left out whatever the pattern"},
	"glob **":                   {tree, "", ""},
	"glob hidden":               {tree, "", ""},
	"glob ignored2":             {tree, `ign2/i.txt`, "a pattern that names an ignored directory finds what is in it"},
	"glob brace":                {tree, "", ""},
	"glob none":                 {tree, "", ""},
	"glob neg":                  {tree, `^error: `, "a pattern that only leaves out finds nothing that was meant"},
	"glob pathmissing":          {tree, `nope does not exist`, "theirs is a message of their library"},
	"glob 100":                  {named(100), `/d/f099$`, "nothing was left out"},
	"glob order":                {named(8), "", ""},
	"grep basic":                {tree, `Found 5 matches$`, "secrets are not searched"},
	"grep none":                 {tree, "", ""},
	"grep include":              {tree, "", ""},
	"grep badre":                {tree, `unclosed group`, "our words"},
	"grep lookaround":           {tree, `not supported`, "our words"},
	"grep case":                 {tree, "", ""},
	"grep empty":                {tree, `pattern is empty`, "our words"},
	"grep ignoredpath":          {tree, "", ""},
	"grep longline":             {map[string]string{"a.txt": "needle" + strings.Repeat("x", 70000) + "\n"}, `Found 1 matches$`, "a long line is no failure"},
	"grep 3000":                 {map[string]string{"a.txt": "needle" + strings.Repeat("x", 3000) + "\n"}, `x\.\.\.\n.*Found 1 matches$`, "of a long line less is shown"},
	"grep badutf8":              {map[string]string{"a.txt": "needle \xff\n"}, `Line 1: needle ÿ`, "a line that is not UTF-8 is no failure"},
	"grep 100":                  {map[string]string{"a.txt": strings.Repeat("m\n", 100)}, `Found 100 matches$`, "nothing was left out"},
	"grep utf16":                {map[string]string{"a.txt": "\xff\xfen\x00e\x00e\x00d\x00l\x00e\x00\n\x00"}, "", ""},
	"ap add-over":               {four, `^apply_patch verification failed: a.txt: the file exists already`, "a file is not overwritten unseen"},
	"ap move":                   {four, "", ""},
	"ap move-nochange":          {four, "", ""},
	"ap notfound":               {four, `^apply_patch verification failed: Failed to find expected lines in .PROJ/a.txt:\n`, "ours says the next step behind it"},
	"ap ctx notfound":           {four, `^Success`, "the lines are found without the wrong context: they stand in one place"},
	"ap missing":                {four, `^apply_patch verification failed: q.txt does not exist\n`, "ours says what is near"},
	"ap out-of-order":           {four, `^Success`, "hunks may come in any order"},
	"ap insert-only":            {four, "", ""},
	"ap same file twice":        {four, `\nM a.txt$`, "both are done; theirs loses the first"},
	"ap nomarkers":              {four, `^apply_patch verification failed: the update of a.txt has no hunk`, "our words"},
	"ap unified diff":           {four, `^Success`, "a unified diff is taken"},
	"ap crlf patch":             {four, "", ""},
	"ap add blank lines":        {four, "", ""},
	"ap ambiguous":              {map[string]string{"a.txt": "x\nx\nx\n"}, `occur 3 times, at lines 1, 2, 3`, "the first of three places would be a guess"},
	"ap crlf":                   {map[string]string{"a.txt": "one\r\ntwo\r\nthree\r\n"}, "", ""},
	"ap unicode":                {map[string]string{"a.txt": "one\nsay \u201chi\u201d\n"}, "", ""},
	"ap eof marker":             {map[string]string{"a.txt": "x\nm\nx\n"}, "", ""},
	"todo missingprio":          {nil, `"medium"`, "the usual priority"},
	"todo 2 inprogress":         {nil, "", ""},
	"todo empty":                {nil, "", ""},
	"bash trunc lines":          {nil, `^1\n2\n.*3000\n`, "their limit was set to 20 lines"},
	"skilldoc example order rm": {nil, `^error: bash needs approval: rm -f zz`, "deletes without asking; nothing was set to allow it"},
	"plan agent bash write":     {nil, "", ""},
	"case deny":                 {nil, `^error: bash needs approval: RM`, "a program that nobody knows asks"},
	"regex chars":               {nil, "", ""},
	"heredoc pattern":           {nil, "", ""},
	"edit deny abs":             {map[string]string{"s/a.txt": "one\ntwo\nthree\nfour\n"}, "", ""},
	"top order * then read":     {map[string]string{"src/a.txt": "x\n"}, "", ""},
}

// TestRecordedCalls makes calls that were recorded of OpenCode through its dialect: the
// answers are the same, or differ as the table says.
func TestRecordedCalls(t *testing.T) {
	long(t)
	in, err := os.Open(filepath.Join("..", "shared", "cases", "opencode", "recorded-calls.jsonl"))
	if err != nil {
		t.Skipf("labelled cases are not here: %v", err)
	}
	defer in.Close()
	same, other, unknown := 0, 0, []string{}
	for lines := bufio.NewReader(in); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
		var c recordedCall
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		about, ok := recorded[c.Label]
		if !ok {
			unknown = append(unknown, c.Label)
			continue
		}
		want := c.Err
		if c.OK {
			want = c.Result.Output
		}
		got, after := replay(t, &c, about.before)
		want, got = comparable(c.Tool, want), comparable(c.Tool, got)
		if about.ours != "" && about.why == "" {
			t.Errorf("%s: nothing says why it differs", c.Label)
		}
		if m := regexp.MustCompile(`(?s)^b(['"].*)$`).FindStringSubmatch(fmt.Sprint(c.After)); m != nil && (about.ours == "" || strings.HasPrefix(about.ours, "after = ")) {
			if text, err := strconv.Unquote(`"` + strings.ReplaceAll(strings.Trim(m[1], `'"`), `\'`, `'`) + `"`); err != nil || (after != text) != (about.ours != "") || about.ours != "" && about.ours != "after = "+after {
				t.Errorf("%s: the file is %q, not %q, %v", c.Label, after, text, err)
			}
		}
		switch {
		case about.ours == "" && got == want:
			same++
		case strings.HasPrefix(about.ours, "after = ") && got == want:
			other++
		case about.ours != "" && got != want && regexp.MustCompile("(?s)"+about.ours).MatchString(got):
			other++
		case about.ours != "" && got == want:
			t.Errorf("%s: the answer is the same by now", c.Label)
		default:
			from := 0 // where they part
			for from < min(len(want), len(got)) && want[from] == got[from] {
				from++
			}
			from = max(0, from-40)
			t.Errorf("%s: %s %s\nrecorded: …%.300q\nours:     …%.300q", c.Label, c.Tool, c.Params, want[from:], got[from:])
		}
	}
	t.Logf("%d answers are the same, %d are others for a reason; of web pages, OpenCode's own settings, pipes and servers and so not made are %q", same, other, unknown)
}

// comparable is an answer without what is known to differ: the order of files, and
// blank lines between matches.
func comparable(tool, text string) string {
	if tool != "glob" && tool != "grep" {
		return text
	}
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// replay makes a call where the files are, and returns what the model reads, and the
// file a.txt.
func replay(t *testing.T, c *recordedCall, before map[string]string) (answer, after string) {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(top, "project")
	for name, text := range before {
		dir := strings.HasSuffix(name, "/")
		name = filepath.Join(root, name)
		if dir {
			if err := os.MkdirAll(name, 0o755); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if to, ok := strings.CutPrefix(text, "->"); ok {
			err = os.Symlink(to, name)
		} else {
			err = os.WriteFile(name, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(root, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	run := exec.CommandContext(t.Context(), "agentkit", "--root", root, "--dialect", "opencode", "call", c.Tool)
	run.Env = append(os.Environ(), "HOME="+top, "XDG_STATE_HOME="+filepath.Join(top, "state"), "XDG_CONFIG_HOME="+filepath.Join(top, "config"), "AGENTKIT_SANDBOX=off")
	run.Stdin = strings.NewReader(strings.ReplaceAll(string(c.Params), "$PROJ", root))
	var result struct{ Output string }
	if out, _ := run.Output(); json.Unmarshal(out, &result) != nil {
		t.Errorf("%s: %s", c.Label, out)
	}
	var params struct{ FilePath string }
	if err := json.Unmarshal(c.Params, &params); err != nil {
		t.Fatal(err)
	}
	raw, _ := os.ReadFile(filepath.Join(root, cmp.Or(params.FilePath, "a.txt")))
	return strings.ReplaceAll(result.Output, root, "$PROJ"), string(raw)
}
