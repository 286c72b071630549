package committed

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// To tell which files of a repository hold what HEAD does takes reading all of them. What was
// found is kept beside what tells a file from any other and from itself after a change, the
// time of its last change of any kind among it, which no program can set on a usual file system. git's own index
// would not do: a command can write to it.

// A sameness is which files of a repository were found to hold what a commit does.
type sameness struct {
	file string
	had  map[string]string // by name: the file's mark and the hash
	news []string          // of names, those that are not kept yet
}

const (
	minSame = 100                   // of fewer files nothing is kept
	unsure  = 20 * time.Millisecond // how far the time of a change may be behind the clock
)

// sameness reads what is kept.
func (f *Files) sameness(r *repository, files int) *sameness {
	s := &sameness{had: map[string]string{}}
	if f.State == "" || files < minSame {
		return s
	}
	sum := sha256.Sum256([]byte(r.top))
	s.file = filepath.Join(f.State, hex.EncodeToString(sum[:12])+".same")
	data, _ := os.ReadFile(s.file)
	for line := range strings.SplitSeq(string(data), "\n") {
		if rel, about, ok := strings.Cut(line, "\x00"); ok {
			s.had[rel] = about
		}
	}
	if len(s.had) > 2*maxLost { // most of them are gone
		s.had = map[string]string{}
	}
	return s
}

// holds is sameContent of the file that info is of.
func (s *sameness) holds(rel, path string, info fs.FileInfo, want string) bool {
	about := ""
	if s.file != "" && !strings.Contains(rel, "\n") {
		if m := mark(info); m != "" {
			about = m + " " + want
		}
	}
	if about != "" && s.had[rel] == about {
		return true
	}
	settled := time.Since(changedAt(info)) > unsure
	if !sameContent(path, want) {
		return false
	}
	if about != "" && settled {
		s.had[rel] = about
		s.news = append(s.news, rel)
	}
	return true
}

// keep keeps what is new: all of it where that is much, else behind what is kept already.
func (s *sameness) keep() {
	if s.file == "" || len(s.news) == 0 || os.MkdirAll(filepath.Dir(s.file), 0o700) != nil {
		return
	}
	var text strings.Builder
	info, err := os.Stat(s.file)
	if many := len(s.news) > len(s.had)/4; many || err != nil || info.Size() > 400*int64(len(s.had)) {
		for rel, about := range s.had {
			text.WriteString(rel + "\x00" + about + "\n")
		}
		_ = safefile.WriteFile(s.file, []byte(text.String()), false)
		return
	}
	for _, rel := range s.news {
		text.WriteString(rel + "\x00" + s.had[rel] + "\n")
	}
	if f, err := os.OpenFile(s.file, os.O_WRONLY|os.O_APPEND, 0o600); err == nil {
		_, _ = f.WriteString("\n" + text.String()) // behind a line that somebody else has not ended
		_ = f.Close()
	}
}
