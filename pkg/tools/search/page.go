package search

import (
	"bytes"
	"context"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"os"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/rg"
	"github.com/agentkit-go/agentkit/pkg/tool"
	"github.com/agentkit-go/agentkit/pkg/truncate"
)

// The session keeps what the cursors of its pages stand for: a cursor that says
// by itself where to go on is a hundred characters, which a model would have to
// copy.
const (
	cursorFile    = "cursors"
	cursorLength  = 8
	maxCursorFile = 256 << 10
)

// shortCursor gives the name by which the session keeps a cursor; the cursor
// itself where it cannot be kept.
func shortCursor(ctx context.Context, env *tool.Env, cursor string) string {
	if cursor == "" {
		return ""
	}
	h := fnv.New64a()
	h.Write([]byte(cursor))
	id := strings.ToLower(base32.StdEncoding.EncodeToString(binary.BigEndian.AppendUint64(nil, h.Sum64())))[:cursorLength]
	f, err := env.Session.OpenFile(cursorFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY)
	if err != nil {
		return cursor
	}
	defer f.Close()
	if _, err := fmt.Fprintf(f, "%s %s\n", id, cursor); err != nil {
		return cursor
	}
	if st, err := f.Stat(); err == nil && st.Size() > maxCursorFile {
		// Old ones go. Where that fails, the next page tries again.
		_ = env.Session.Update(context.WithoutCancel(ctx), cursorFile, func(old []byte) ([]byte, error) {
			rest := old[max(0, len(old)-maxCursorFile/2):]
			return rest[bytes.IndexByte(rest, '\n')+1:], nil
		})
	}
	return id
}

// longCursor gives the cursor that the session keeps by a name. What it does
// not know is given back: it may be a cursor itself.
func longCursor(env *tool.Env, name string) string {
	if len(name) != cursorLength {
		return name
	}
	kept, err := env.Session.ReadFile(cursorFile)
	if err != nil {
		return name
	}
	for line := range strings.Lines(string(kept)) {
		if id, cursor, ok := strings.Cut(strings.TrimSpace(line), " "); ok && id == name {
			return cursor
		}
	}
	return name
}

// maxNamed bounds the lists of paths that were not searched or have changed.
const maxNamed = 100

// changes says what has changed since a cursor was made. Files that changed
// and stand before the page that follows are in no page: they are named.
func changes(changed bool, moved []string, count int) string {
	switch {
	case count > 0:
		names := make([]string, 0, 6)
		for _, path := range moved[:min(len(moved), 5)] {
			names = append(names, tool.VisibleName(path))
		}
		if count > len(names) {
			names = append(names, fmt.Sprintf("and %d more", count-len(names)))
		}
		return fmt.Sprintf("changed since the cursor was made, and not shown from here on: %s\n", strings.Join(names, ", "))
	case changed:
		return tool.CursorIsOld
	}
	return ""
}

// skippedOf gives the first of what was skipped. Where the policy said no, why
// tells its reason.
func skippedOf(list []rg.Skipped, why func(path string) string) []tool.Skipped {
	out := []tool.Skipped{}
	for _, s := range list[:min(len(list), maxNamed)] {
		reason := s.Reason
		if reason == rg.ReasonPolicy {
			if text := why(s.Path); text != "" {
				reason += ": " + text
			}
		}
		out = append(out, tool.Skipped{Path: s.Path, Reason: reason})
	}
	return out
}

// roomOf is what of an output's limits a list may take. The rest is for the
// lines below it.
func roomOf(limits truncate.Limits) (bytes, lines int) {
	const noticeBytes, noticeLines = 1500, 16
	limits = limits.Resolved()
	return limits.Bytes - min(noticeBytes, limits.Bytes/4), limits.Lines - min(noticeLines, limits.Lines/4)
}

// shorten is text in an answer that only echoes what was asked.
func shorten(text string) string {
	const most = 200
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// maxLookedFor bounds the search for an explanation.
const maxLookedFor = 50_000
