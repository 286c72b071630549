package overlay

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/change"
	"github.com/agentkit-go/agentkit/pkg/edit"
)

// maxDiffFile bounds the files of which a diff is shown.
const maxDiffFile = 1 << 20

// maxSummary bounds the changes that a summary names.
const maxSummary = 20

// Summary names the first changes, one on a line; visible is how names are shown. Of the
// objects and logs of repositories, which have names and contents for git alone, it gives the number.
func (t *Trial) Summary(visible func(string) string) string {
	var list strings.Builder
	named, records := 0, 0
	for i := range t.Changes {
		c := &t.Changes[i]
		if gitRecord(string(c.Path)) {
			records++
		} else if named++; named <= maxSummary {
			fmt.Fprintf(&list, "%s %s\n", c.Action, visible(string(c.Path)))
		}
	}
	if more := named - maxSummary; more > 0 {
		fmt.Fprintf(&list, "… and %d more\n", more)
	}
	if records > 0 {
		fmt.Fprintf(&list, "… and %d in .git/objects and .git/logs\n", records)
	}
	return list.String()
}

// gitRecord reports whether a path is one of a repository's objects or logs.
func gitRecord(path string) bool {
	path = "/" + path + "/"
	return strings.Contains(path, "/.git/objects/") || strings.Contains(path, "/.git/logs/")
}

// Diff shows what becomes of text files, as far as there is room for so many bytes. Of
// what may not be shown only the list of changes tells, as of the objects and logs of repositories.
func (t *Trial) Diff(room int, mayShow func(path string) bool) string {
	var b strings.Builder
	for i := range t.Changes {
		c := &t.Changes[i]
		if room <= 0 {
			b.WriteString("… the diffs of more files are left out\n")
			break
		}
		if c.Same() || gitRecord(string(c.Path)) || c.Before.Kind != change.Regular && c.After.Kind != change.Regular {
			continue
		}
		before, ok := t.before(c)
		after, fine := t.after(c)
		if !ok || !fine || !mayShow(t.Path(c)) {
			continue
		}
		from, to := "a/"+string(c.Path), "b/"+string(c.Path)
		if c.Before.Kind != change.Regular {
			from = os.DevNull
		}
		if c.After.Kind != change.Regular {
			to = os.DevNull
		}
		d := edit.DiffLimit(from, to, before, after, 3, room)
		b.WriteString(d.Text)
		if room -= len(d.Text); d.Omitted > 0 {
			fmt.Fprintf(&b, "… %d more lines of diff\n", d.Omitted)
			room = 0
		}
	}
	return b.String()
}

// before is the text that the file of a change has in the root, and after the one that it
// would have; empty where there is none, and not ok where it is no text. What has taken the
// file's place since, such as a link to what may not be shown, is not what the command changed.
func (t *Trial) before(c *Change) (data []byte, ok bool) {
	if c.Before.Kind != change.Regular {
		return nil, true
	}
	f, err := openSeen(t.Path(c), c.Before)
	if err != nil {
		return nil, false
	}
	return readText(f)
}

func (t *Trial) after(c *Change) (data []byte, ok bool) {
	if c.After.Kind != change.Regular {
		return nil, true
	}
	f, err := t.Content(c)
	if err != nil {
		return nil, false
	}
	return readText(f)
}

func readText(f io.ReadCloser) (data []byte, ok bool) {
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxDiffFile+1))
	return data, err == nil && len(data) <= maxDiffFile && bytes.IndexByte(data, 0) < 0
}
