//go:build linux && (amd64 || arm64)

package sandbox

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEmptied: the Decider is told of each file of the root that loses what it holds or its name, before it does, and of no other.
func TestEmptied(t *testing.T) {
	const emptied, replaced, gone, moved = "f emptied old\n", "f replaced old\ng to f x\n\n", "f replaced old\n", "f to g old\n"
	python := func(code string) string {
		return `python3 -c 'import os, ctypes; c = ctypes.CDLL(None); T = os.O_WRONLY | os.O_TRUNC; ` + code + `'`
	}
	ways := map[string]struct{ command, told string }{
		"shell":                 {`echo x > f`, emptied},
		"twice":                 {`echo x > f; echo y > f`, emptied + "f emptied x\n\n"},
		"shell, absolute":       {`echo x > "$PWD/d/../f"`, emptied},
		"shell, elsewhere":      {`cd d && echo x > ../f`, emptied},
		"open":                  {python(`os.open("f", T)`), emptied},
		"open to read":          {python(`os.open("f", os.O_RDONLY | os.O_TRUNC)`), emptied},
		"openat":                {python(`os.open("f", T, dir_fd=os.open(".", 0))`), emptied},
		"openat from a path":    {python(`os.open("../f", T, dir_fd=os.open("d", os.O_PATH))`), emptied},
		"creat":                 {python(`c.creat(b"f", 0o600)`), emptied},
		"truncate":              {python(`c.truncate(b"f", 1)`), emptied},
		"old open":              {python(`c.syscall(2, b"f", T, 0)`), emptied},
		"link":                  {`ln -s "$PWD/f" d/l && echo x > d/l`, emptied},
		"hard link":             {`ln f g && echo x > g`, "g emptied old\n"},
		"own directory":         {`echo x > /proc/self/cwd/f`, emptied},
		"own descriptor":        {`exec 3<>f; echo x > /proc/self/fd/3`, emptied},
		"thread":                {python(`import threading as t; x = t.Thread(target=lambda: os.open("f", T)); x.start(); x.join()`), emptied},
		"rename":                {`echo x > g; ` + python(`os.rename("g", "f")`), replaced},
		"rename, elsewhere":     {`echo x > d/g; ` + python(`os.rename("g", "../f", src_dir_fd=os.open("d", 0), dst_dir_fd=os.open("d", 0))`), replaced},
		"rename over a link":    {`ln -s f l; echo x > g; ` + python(`os.rename("g", "l")`), "l replaced old\ng to l x\n\n"},
		"unlink":                {python(`os.unlink("f")`), gone},
		"unlink, old":           {python(`c.syscall(87, b"f")`), gone},
		"unlink in a directory": {`mkdir g; mv f g; ` + python(`os.unlink("f", dir_fd=os.open("g", 0))`), "f to f old\nf replaced old\n"},
		"unlink, own directory": {python(`os.unlink("/proc/self/cwd/f")`), gone},
		"unlink, long name":     {python(`os.unlink("./" * 2046 + "f")`), gone},
		"unlink by a thread":    {python(`import threading as t; x = t.Thread(target=lambda: os.unlink("f")); x.start(); x.join()`), gone},
		"unlink a link":         {`ln -s f l; rm l`, "l replaced old\n"},
		"unlink of two names":   {`ln f g; rm g`, "g replaced old\n"},
		"unlink nothing":        {python(`c.unlink(b"g"); c.rmdir(b"d"); c.unlink(b"d")`), ""},
		"unlink what is open":   {`exec 3<f; rm f; cat <&3`, gone},
		"unlink, bits above":    {python(`c.syscall(263 if os.uname().machine == "x86_64" else 35, ctypes.c_long(-100), b"f", ctypes.c_long(1 << 32))`), gone},
		"unlink elsewhere":      {`echo x > "$TMPDIR/t"; rm "$TMPDIR/t"`, ""},
		"unlink of git's own":   {`mkdir d/.git && echo x > d/.git/f && rm d/.git/f`, "f replaced x\n\n"},
		"lock of git's own":     {`mkdir d/.git && cd d/.git && echo x > f.lock && echo x > f.lock && mv f.lock tmp_f && rm tmp_f`, ""},
		"append":                {`echo x >> f`, ""},
		"read":                  {`cat f; exec 3<>f`, ""},
		"new":                   {`echo x > new; ` + python(`os.open("new2", T | os.O_CREAT)`), ""},
		"empty":                 {`: > empty; echo x > empty`, ""},
		"no more than is there": {`set -o noclobber; echo x > f`, ""},
		"rename to nothing":     {`mv f g`, moved},
		"rename, exchanging":    {`echo x > g; ` + python(`c.renameat2(-100, b"g", -100, b"f", 2)`), moved + "g to f x\n\n"},
		"rename, whiteout":      {`echo x > g; ` + python(`c.renameat2(-100, b"g", -100, b"f", 4)`), replaced},
		"rename, own directory": {`echo x > g; ` + python(`os.rename("/proc/self/cwd/g", "/proc/thread-self/cwd/f")`), replaced},
		"rename, a thread's":    {`echo x > g; ` + python(`os.rename("g", "/proc/self/task/%d/cwd/f" % os.getpid())`), replaced},
		"rename, long name":     {`echo x > g; ` + python(`os.rename("g", "./" * 2046 + "f")`), replaced},
		"rename, bits above":    {`echo x > g; ` + python(`c.syscall(316 if os.uname().machine == "x86_64" else 276, ctypes.c_long(-100), b"g", ctypes.c_long(-100), b"f", ctypes.c_long(1 << 32 | 2))`), moved + "g to f x\n\n"},
		"rename to git":         {`mkdir d/.git; mv f d/.git/g`, moved},
		"rename of git's own":   {`mkdir d/.git; echo x > d/.git/f; mv d/.git/f d/.git/g; echo y > d/.git/f; mv d/.git/f d/.git/g`, "f to g x\n\ng replaced x\n\nf to g y\n\n"},
		"directory of git's":    {`mkdir d/.git; mv d/.git g`, ".git to g read " + "DIR/d/.git: is a directory\n"},
		"directory":             {`mkdir g; mv d g`, ""},
		"directory to git":      {`mkdir g g/.git; mv d g/.git/g`, "d to g read " + "DIR/d: is a directory\n"},
		"link to nothing":       {`ln f g; ` + python(`os.rename("f", "g")`), ""},
		"a thread's directory":  {python(`open("/proc/self/task/%d/cwd/f" % os.getpid(), "w")`), emptied},
		"long name":             {python(`open("./" * 2046 + "f", "w")`), emptied},
		"long name, deeper":     {python(`open("d/../" * 817 + "f", "w")`), emptied},
		"hard link in git":      {`mkdir d/.git && ln f d/.git/g && echo x > d/.git/g`, "g emptied old\n"},
		"hard link elsewhere":   {`echo x > "$TMPDIR/t"; ln "$TMPDIR/t" "$TMPDIR/g"; echo y > "$TMPDIR/g"`, "g emptied x\n\n"},
		"no replacing":          {`echo x > g; ` + python(`c.renameat2(-100, b"g", -100, b"f", 1)`), ""},
		"temporary":             {`echo x > "$TMPDIR/t"; echo y > "$TMPDIR/t"; echo > /dev/null`, ""},
		"git's own":             {`mkdir d/.git && echo x > d/.git/f && echo y > d/.git/f`, "f emptied x\n\n"},
	}
	for _, level := range levels() {
		for name, way := range ways {
			t.Run(level.String()+" "+name, func(t *testing.T) {
				t.Parallel()
				if strings.Contains(name, "old") && opensHere() == nil {
					t.Skip("SKIPPED: this machine has no older forms of such calls")
				}
				b := newBox(t, os.Getuid(), level)
				told := filepath.Join(filepath.Dir(b.Report), "told")
				b.Emptied = true
				b.Policy, _ = json.Marshal(testPolicy{Told: told})
				if err := errorsJoin(os.MkdirAll(filepath.Join(b.dir, "d"), 0o755), os.WriteFile(filepath.Join(b.dir, "f"), []byte("old"), 0o644)); err != nil {
					t.Fatal(err)
				}
				b.bash(t, way.command)
				got, err := os.ReadFile(told)
				if err != nil && !os.IsNotExist(err) {
					t.Fatal(err)
				}
				if want := strings.ReplaceAll(way.told, "DIR", b.dir); string(got) != want {
					t.Errorf("told %q, want %q\n%s%s", got, want, b.stdout, b.stderr)
				}
			})
		}
	}
}
