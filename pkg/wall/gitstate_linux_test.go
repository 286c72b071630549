package wall

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// gitIndex is an index of version 2 or 4 with these names, the first of which is not shortened.
func gitIndex(version uint32, names ...string) []byte {
	b := binary.BigEndian.AppendUint32([]byte("DIRC"), version)
	b = binary.BigEndian.AppendUint32(b, uint32(len(names)))
	for i, name := range names {
		at := len(b)
		b = append(b, make([]byte, 24)...)
		b = binary.BigEndian.AppendUint32(b, 0o100644)
		b = append(b, make([]byte, 32)...)
		b = binary.BigEndian.AppendUint16(b, uint16(len(name)))
		if version == 4 {
			drop := 0
			if i > 0 {
				common := 0
				for before := names[i-1]; common < len(before) && common < len(name) && before[common] == name[common]; {
					common++
				}
				drop = len(names[i-1]) - common
				name = name[common:]
			}
			b = append(append(b, byte(drop)), name...)
			b = append(b, 0)
			continue
		}
		b = append(b, name...)
		b = append(b, make([]byte, 8-(len(b)-at)%8)...)
	}
	return append(b, make([]byte, 20)...)
}

// TestStrayIndex: git writes a file to wherever its index says, and into .git, too.
func TestStrayIndex(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index")
	write := func(b []byte) {
		t.Helper()
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, version := range []uint32{2, 4} {
		for names, want := range map[string]bool{
			"a": false, "a b/.gitignore x/..y": false, "a/dir/ a/dis": false,
			".git/hooks/post-checkout a": true, "a x/.git/config": true, "../x": true, "a x/../../y": true, "/etc/x": true, "a//b": true, "x/.GIT/config": true, "git~1/config": true,
		} {
			write(gitIndex(version, strings.Fields(names)...))
			if got := strayIndex(path, 20, false); got != want {
				t.Errorf("version %d, %s: stray is %t", version, names, got)
			}
		}
	}
	short := gitIndex(2, "a", "b")
	short[12+61] = 9 // the length of the name, by which git goes
	write(short)
	if !strayIndex(path, 20, false) {
		t.Error("a name of another length than it says is none of git's")
	}
}

// TestGenuineIndex: what git itself writes is never stray, in whatever form.
func TestGenuineIndex(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("there is no git")
	}
	for _, format := range []string{"sha1", "sha256"} {
		root := t.TempDir()
		run := func(input string, args ...string) {
			t.Helper()
			cmd := exec.Command(git, args...)
			cmd.Dir, cmd.Stdin = root, strings.NewReader(input)
			cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_DIR="+root+"/.git", "GIT_WORK_TREE="+root)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("git %v: %v\n%s", args, err, out)
			}
		}
		run("", "init", "-q", "--object-format="+format)
		length := map[string]int{"sha1": 40, "sha256": 64}[format]
		var list strings.Builder
		for n := range 21_000 { // so many that several threads read them
			fmt.Fprintf(&list, "100644 %s 0\td%d/%s%d\n", strings.Repeat("1", length), n%7, strings.Repeat("n", n%40), n)
		}
		for _, version := range []string{"2", "4"} {
			run(list.String(), "-c", "index.threads=4", "-c", "index.version="+version, "update-index", "--index-version="+version, "--add", "--index-info")
			path := filepath.Join(root, ".git/index")
			if strayIndex(path, hashSize(filepath.Dir(path)), false) {
				t.Errorf("%s, version %s: git's own index counts as stray", format, version)
			}
			data, err := os.ReadFile(path)
			if err != nil || !strings.Contains(string(data), "IEOT") {
				t.Fatalf("git wrote no blocks: %v", err)
			}
			// Another thread of git's begins elsewhere, at a name that nobody else sees.
			at := strings.LastIndex(string(data), "IEOT") + 12 + 8
			binary.BigEndian.PutUint32(data[at:], binary.BigEndian.Uint32(data[at:])+8)
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			if !strayIndex(path, hashSize(filepath.Dir(path)), false) {
				t.Errorf("%s, version %s: blocks that begin elsewhere are not seen", format, version)
			}
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
		run(list.String(), "update-index", "--split-index", "--add", "--index-info")
		shared, _ := filepath.Glob(root + "/.git/sharedindex.*")
		for _, path := range append(shared, root+"/.git/index") {
			if strayIndex(path, hashSize(filepath.Dir(path)), false) {
				t.Errorf("%s: %s of git's own counts as stray", format, filepath.Base(path))
			}
		}
	}
}

// TestAstray: what git believes in its own directory, and a command has made to lead elsewhere,
// is found; what git writes there is not.
func TestAstray(t *testing.T) {
	s := newSite(t, ".git/HEAD", ".git/refs/x", ".git/objects/x", "n/.git/HEAD", "a", "key.pem")
	put := func(name string, data []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(s.root, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(".git/index", gitIndex(2, "../before"))
	time.Sleep(2 * young)
	w := Compile(s.o)
	s.want("what was there", w.Appeared())
	put(".git/index", gitIndex(2, "a"))
	hash := strings.Repeat("1", 40)
	for _, names := range [][]string{{"a"}, {"a", "gone"}} {
		put(".git/MERGE_RR", []byte(hash+"\t"+strings.Join(names, "\x00"+hash+".1\t")+"\x00"))
		s.want("git's own", w.Appeared())
	}
	put(".git/index", gitIndex(2, ".git/hooks/post-checkout"))
	put("n/.git/index", gitIndex(4, "a", "b/../../x"))
	s.want("the index", w.Appeared(), ".git/index", "n/.git/index")
	put(".git/index", gitIndex(2, "a"))
	put("n/.git/index", gitIndex(2, "a"))
	if err := os.Symlink("key.pem", filepath.Join(s.root, "other")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("later.pem", filepath.Join(s.root, "later")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"key.pem", "later.pem", "later", "none/.env", "/home/me/.ssh/id_rsa", "../x", "other", ".git/config", strings.Repeat("a", 64<<10)} {
		put(".git/MERGE_RR", []byte(hash+"\ta\x00"+hash+"\t"+name+"\x00"))
		if got := w.Appeared(); !slices.Equal(got, []string{filepath.Join(s.root, ".git/MERGE_RR")}) {
			t.Errorf("a conflict in %.20s: %v", name, got)
		}
	}
	// So many are looked at, of all repositories together.
	var many strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&many, "%s\tf%d\x00", hash, i)
	}
	put(".git/MERGE_RR", []byte(many.String()))
	for i := range maxConflicts/1000 - 1 {
		s.make(fmt.Sprintf("m%02d/.git/HEAD", i))
		put(fmt.Sprintf("m%02d/.git/MERGE_RR", i), []byte(many.String()))
	}
	s.want("not too many conflicts", Compile(s.o).Appeared())
	put("n/.git/MERGE_RR", []byte(many.String()))
	s.want("too many conflicts", Compile(s.o).Appeared(), "n/.git/MERGE_RR")
}

// TestHashSize: git heeds the last of several settings, so that there may be only one.
func TestHashSize(t *testing.T) {
	dir := t.TempDir()
	for config, want := range map[string]int{
		"": 20, "[core]\n\tbare = false\n": 20, "[extensions]\n\tobjectFormat = sha256\n": 32, "[extensions]\n\tobjectformat = sha1\n": 20,
		"[extensions]\n\tobjectformat = sha256\n\tObjectFormat=sha1\n": 0, "[extensions]\n\tobjectformat = sha1\n[x]\n\tobjectformat = sha256\n": 0,
	} {
		if err := os.WriteFile(filepath.Join(dir, "config"), []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := hashSize(dir); got != want {
			t.Errorf("%q: %d, want %d", config, got, want)
		}
	}
	path := filepath.Join(dir, "index")
	if err := os.WriteFile(path, gitIndex(2, "a"), 0o600); err != nil {
		t.Fatal(err)
	}
	if strayIndex(path, 20, false) || !strayIndex(path, 0, false) {
		t.Error("an index whose hashes may be of two sizes is no index that git would write")
	}
}
