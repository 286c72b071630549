package committed

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
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

	mu   sync.Mutex
	news [][2]string // of had, what is not kept yet
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
	s.had = make(map[string]string, files)
	for line, rest, more := strings.Cut(readText(s.file), "\n"); more; line, rest, more = strings.Cut(rest, "\n") {
		if rel, about, ok := strings.Cut(line, "\x00"); ok {
			s.had[rel] = about
		}
	}
	if len(s.had) > 2*maxLost { // most of them are gone
		s.had = map[string]string{}
	}
	return s
}

// compare looks at files of a repository, which lie in the order of their names: list are those
// that do not hold what held says, gone those that are not there.
func (s *sameness) compare(top string, rels []string, held map[string]string) (list, gone []string) {
	const part = 256
	const other, missing = 1, 2
	found := make([]byte, len(rels))
	var next atomic.Int64
	run := func() {
		l := safefile.NewLooker(top)
		defer l.Close()
		for {
			n := int(next.Add(part)) - part
			if n >= len(rels) {
				return
			}
			for i, rel := range rels[n:min(n+part, len(rels))] {
				want := held[rel]
				switch is, err := l.Look(rel); {
				case err != nil:
					found[n+i] = missing
				case want == "" || !s.holds(top, rel, is, want):
					found[n+i] = other
				}
			}
		}
	}
	var done sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (len(rels)+part-1)/part) - 1 {
		done.Go(run)
	}
	run()
	done.Wait()
	for i, rel := range rels {
		switch found[i] {
		case other:
			list = append(list, filepath.Join(top, filepath.FromSlash(rel)))
		case missing:
			gone = append(gone, filepath.Join(top, filepath.FromSlash(rel)))
		}
	}
	return list, gone
}

// mark says in few letters what was seen of a file.
func mark(l safefile.Look) []byte {
	b := make([]byte, 0, 80)
	for _, n := range [...]int64{int64(l.Dev), int64(l.Ino), l.CTime, l.MTime, l.Size} {
		b = append(strconv.AppendInt(b, n, 16), ':')
	}
	return b[:len(b)-1]
}

// holds is sameContent of the file that was looked at.
func (s *sameness) holds(top, rel string, is safefile.Look, want string) bool {
	keeps := is.CTime != 0 && s.file != "" && !strings.Contains(rel, "\n")
	m := mark(is)
	if had, sum, _ := strings.Cut(s.had[rel], " "); keeps && had == string(m) && sum == want {
		return true
	}
	settled := time.Since(time.Unix(0, is.CTime)) > unsure
	if !sameContent(filepath.Join(top, filepath.FromSlash(rel)), want) {
		return false
	}
	if keeps && settled {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.news = append(s.news, [2]string{rel, string(m) + " " + want})
	}
	return true
}

// keep keeps what is new: all of it where that is much, else behind what is kept already.
func (s *sameness) keep() {
	if s.file == "" || len(s.news) == 0 || os.MkdirAll(filepath.Dir(s.file), 0o700) != nil {
		return
	}
	var text strings.Builder
	write := func(rel, about string) { text.WriteString(rel + "\x00" + about + "\n") }
	info, err := os.Stat(s.file)
	if many := len(s.news) > len(s.had)/4; many || err != nil || info.Size() > 400*int64(len(s.had)) {
		for _, n := range s.news {
			s.had[n[0]] = n[1]
		}
		for rel, about := range s.had {
			write(rel, about)
		}
		_ = safefile.WriteFile(s.file, []byte(text.String()), false)
		return
	}
	for _, n := range s.news {
		write(n[0], n[1])
	}
	if f, err := os.OpenFile(s.file, os.O_WRONLY|os.O_APPEND, 0o600); err == nil {
		_, _ = f.WriteString("\n" + text.String()) // behind a line that somebody else has not ended
		_ = f.Close()
	}
}

// readText is what a file of ours says; "" where it cannot be read.
func readText(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	var b strings.Builder
	if info, err := f.Stat(); err == nil {
		b.Grow(int(info.Size()))
	}
	if _, err := io.Copy(&b, f); err != nil {
		return ""
	}
	return b.String()
}
