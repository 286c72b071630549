package lsp

import (
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

const (
	maxOpen     = 200     // documents of a server at a time
	maxDocument = 4 << 20 // bytes of one
	maxWatched  = 50_000  // names that are looked at for changes
	maxTold     = 2000    // changes that are told one by one
)

// documents are the files that the server has been given, as they are on the disk.
type documents struct {
	root   string
	server *Server

	mu      sync.Mutex
	open    map[string]*document
	watched map[string]stamp
	turn    int
}

type document struct {
	stamp   stamp
	version int
	mark    int  // publications before it was given last
	stale   bool // something else has changed since
	used    int  // the turn in which it was asked about last
}

// A stamp tells whether a file is likely to have changed.
type stamp struct {
	size int64
	time time.Time
}

func newDocuments(root string, s *Server) documents {
	return documents{root: root, server: s, open: map[string]*document{}}
}

// look is what the files that the server wants to know of are like now. Directories
// with other people's packages and what was built do not count.
func (d *documents) look() (events []map[string]any) {
	now, seen := make(map[string]stamp, len(d.watched)), 0
	_ = filepath.WalkDir(d.root, func(path string, e fs.DirEntry, err error) error {
		if seen++; seen > maxWatched {
			return fs.SkipAll
		}
		switch name := filepath.Base(path); {
		case err != nil || path == d.root:
			return nil
		case e.IsDir() && (strings.HasPrefix(name, ".") || name == "node_modules" || name == "target" || name == "__pycache__"):
			return fs.SkipDir
		case e.Type().IsRegular() && d.server.hears(name):
			if i, err := e.Info(); err == nil {
				now[path] = stamp{i.Size(), i.ModTime()}
			}
		}
		return nil
	})
	event := func(path string, kind int) { events = append(events, map[string]any{"uri": URI(path), "type": kind}) }
	if d.watched != nil {
		for path, s := range now {
			if old, ok := d.watched[path]; !ok {
				event(path, 1)
			} else if old != s {
				event(path, 2)
			}
		}
		for path := range d.watched {
			if _, ok := now[path]; !ok {
				event(path, 3)
			}
		}
	}
	d.watched = now
	return events[:min(len(events), maxTold)]
}

// sync gives the server the files of a request, and tells it what has changed on the
// disk since the last one. What something else has changed for is given once more, so
// that whatever the server says of it is about now. There were so many publications
// before.
func (d *documents) sync(c *conn, files []string, publications int) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.turn++
	events := d.look()
	if len(events) > 0 {
		if err := c.tell("workspace/didChangeWatchedFiles", map[string]any{"changes": events}); err != nil {
			return err
		}
	}
	changed := len(events) > 0
	for path, doc := range d.open {
		now, ok := stat(path)
		if ok && now == doc.stamp {
			continue
		}
		changed = true
		var err error
		if ok {
			err = d.give(c, path, publications)
		} else {
			delete(d.open, path)
			err = c.tell("textDocument/didClose", about(path, nil))
		}
		if err != nil {
			return err
		}
	}
	for _, doc := range d.open {
		doc.stale = doc.stale || changed && doc.mark != publications
	}
	for _, path := range files {
		if doc := d.open[path]; doc == nil || doc.stale {
			if err := d.give(c, path, publications); err != nil {
				return err
			}
		}
		if doc := d.open[path]; doc != nil {
			doc.used = d.turn
		}
	}
	return d.spare(c)
}

func stat(path string) (stamp, bool) {
	i, err := os.Stat(path)
	if err != nil || !i.Mode().IsRegular() {
		return stamp{}, false
	}
	return stamp{i.Size(), i.ModTime()}, true
}

// give hands the server a file as it is now, also where it has that text.
func (d *documents) give(c *conn, path string, publications int) error {
	s, _ := stat(path)
	f, err := safefile.FollowRegular(path)
	if err != nil {
		return err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxDocument+1))
	if err != nil || len(text) > maxDocument {
		return err // too large to be given: the server knows it from the disk
	}
	doc := d.open[path]
	if doc == nil {
		d.open[path] = &document{stamp: s, version: 1, mark: publications}
		return c.tell("textDocument/didOpen", map[string]any{"textDocument": map[string]any{
			"uri": URI(path), "languageId": d.server.id(path), "version": 1, "text": string(text),
		}})
	}
	doc.stamp, doc.mark, doc.stale = s, publications, false
	doc.version++
	return c.tell("textDocument/didChange", about(path, map[string]any{
		"version": doc.version, "contentChanges": []any{map[string]string{"text": string(text)}},
	}))
}

// about is the parameters of a message about a document.
func about(path string, more map[string]any) map[string]any {
	document := map[string]any{"uri": URI(path)}
	params := map[string]any{"textDocument": document}
	for name, v := range more {
		if name == "version" {
			document[name] = v
		} else {
			params[name] = v
		}
	}
	return params
}

// spare closes the documents that nobody has asked about for longest.
func (d *documents) spare(c *conn) error {
	if len(d.open) <= maxOpen {
		return nil
	}
	paths := slices.SortedFunc(maps.Keys(d.open), func(a, b string) int { return d.open[a].used - d.open[b].used })
	for _, path := range paths[:len(paths)-maxOpen] {
		delete(d.open, path)
		if err := c.tell("textDocument/didClose", about(path, nil)); err != nil {
			return err
		}
	}
	return nil
}

// given is which text of a file the server has, and how many publications there were
// before it got that; 0 for none.
func (d *documents) given(path string) (version, publications int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if doc := d.open[path]; doc != nil {
		return doc.version, doc.mark
	}
	return 0, 0
}
