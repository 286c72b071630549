package committed

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/gitindex"
	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// What a commit holds never changes, so git is asked for it once, and the answer is kept
// beside the commit's name. git does not check what it reads in its objects, where a command
// can write: kept is only what has the hashes that the commit and its trees are named by.

// treeFormat changes with the form of the file.
const treeFormat = "agentkit tree 1"

// treeFile is where is kept what the commit holds that HEAD was last.
func (f *Files) treeFile(r *repository) string {
	return strings.TrimSuffix(f.file(r), ".json") + ".tree"
}

// knownTree gives the hashes of what a commit holds, where that is kept.
func (f *Files) knownTree(r *repository, commit string) map[string]string {
	if f.State == "" {
		return nil
	}
	head, rest, _ := strings.Cut(readText(f.treeFile(r)), "\x00")
	count, ok := strings.CutPrefix(head, treeFormat+" "+commit+" ")
	n, err := strconv.Atoi(count)
	if !ok || err != nil || n < 0 || n > maxLost {
		return nil
	}
	held := make(map[string]string, n)
	for rest != "" {
		var line string
		line, rest, _ = strings.Cut(rest, "\x00")
		sum, rel, _ := strings.Cut(line, " ")
		held[rel] = sum
	}
	if len(held) != n {
		return nil
	}
	return held
}

// keepTree keeps what a commit holds, where git's answer is proved to be that.
func (f *Files) keepTree(r *repository, program, commit, listed string, held map[string]string) {
	if f.State == "" || len(held) > maxLost {
		return
	}
	about, err := r.run(program, []string{"cat-file", "commit", commit})
	if err != nil || !proved(commit, about, listed) || os.MkdirAll(f.State, 0o700) != nil {
		return
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s %d\x00", treeFormat, commit, len(held))
	for rel, sum := range held {
		b.WriteString(sum + " " + rel + "\x00")
	}
	_ = safefile.WriteFile(f.treeFile(r), b.Bytes(), false)
}

// proved reports whether a commit's text and the list of all its trees have the hashes that
// they are named by.
func proved(commit, about, listed string) bool {
	top, _, _ := strings.Cut(about, "\n")
	top, ok := strings.CutPrefix(top, "tree ")
	if !ok || objectHash("commit", []byte(about), commit) != commit {
		return false
	}
	named, trees := map[string]string{".": top}, map[string][]byte{}
	for _, line := range fields(listed) {
		about, rel, _ := strings.Cut(line, "\t")
		field := strings.Fields(about)
		if len(field) != 3 {
			return false
		}
		sum, err := hex.DecodeString(field[2])
		if err != nil {
			return false
		}
		if field[1] == "tree" {
			named[rel] = field[2]
		}
		dir, name := ".", rel
		if i := strings.LastIndexByte(rel, '/'); i >= 0 {
			dir, name = rel[:i], rel[i+1:]
		}
		trees[dir] = append(fmt.Appendf(trees[dir], "%s %s\x00", strings.TrimLeft(field[0], "0"), name), sum...)
	}
	for dir, sum := range named {
		if objectHash("tree", trees[dir], sum) != sum {
			return false
		}
		delete(trees, dir)
	}
	return len(trees) == 0
}

// objectHash is git's hash of an object, in the form that like has.
func objectHash(kind string, data []byte, like string) string {
	return hex.EncodeToString(gitindex.Hash(kind, data, len(like)/2))
}

// commit is the name of the commit that HEAD is; "" where that cannot be told without git.
func (r *repository) commit() string {
	id := readable(filepath.Join(r.git, "HEAD"))
	if ref, ok := strings.CutPrefix(id, "ref: "); ok {
		if !strings.HasPrefix(ref, "refs/heads/") || !filepath.IsLocal(filepath.FromSlash(ref)) {
			return ""
		}
		common := commonDir(r.git)
		if id = readable(filepath.Join(common, filepath.FromSlash(ref))); id == "" {
			id = packed(filepath.Join(common, "packed-refs"), ref)
		}
	}
	if sum, err := hex.DecodeString(id); err != nil || len(sum) != sha1.Size && len(sum) != sha256.Size {
		return ""
	}
	return id
}

// packed is what a reference is in the file where git packs them.
func packed(file, ref string) string {
	for line := range strings.Lines(readable(file)) {
		if id, name, _ := strings.Cut(strings.TrimSpace(line), " "); name == ref {
			return id
		}
	}
	return ""
}
