package web

import (
	"context"
	"io/fs"
	"slices"

	"github.com/agentkit-go/agentkit/pkg/safefile"
	"github.com/agentkit-go/agentkit/pkg/session"
)

// A cache keeps answers in the session. gc removes what is old.
type cache struct{ session *session.Session }

const (
	cacheDir  = "cache/web" // gc knows what lies in cache
	maxKept   = 64 << 20    // bytes of all answers
	maxAnswer = 32 << 20    // bytes of one
)

// Load implements fetch.Store.
func (c *cache) Load(key string) []byte {
	data, err := c.session.ReadFile(cacheDir + "/" + key)
	if err != nil {
		return nil
	}
	return data
}

// Save implements fetch.Store. A file is written whole under another name first, so a
// crash leaves the old one; the disk is not waited for. What cannot be kept is fetched
// again.
func (c *cache) Save(_ context.Context, key string, data []byte) {
	if len(data) > maxAnswer {
		return
	}
	path, err := c.session.Mkdir(cacheDir)
	if err != nil {
		return
	}
	dir, err := safefile.OpenDir(path)
	if err != nil {
		return
	}
	defer dir.Close()
	makeRoom(dir, int64(len(data)))
	_ = dir.WriteFile(key, data, false) // or it is fetched again
}

// makeRoom removes the oldest answers until so many bytes more fit.
func makeRoom(dir *safefile.Dir, more int64) {
	entries, err := dir.ReadDir()
	if err != nil {
		return
	}
	var files []fs.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil && e.Type().IsRegular() {
			files = append(files, info)
			more += info.Size()
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, f := range files {
		if more <= maxKept {
			return
		}
		if dir.Remove(f.Name()) == nil {
			more -= f.Size()
		}
	}
}
