package rg

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/fnv"
)

// A cursor is where the results shown so far end.
type cursor struct {
	Query uint64 `json:"q"`           // hash of what the query asks for
	Path  string `json:"p"`           // the last file shown
	Time  int64  `json:"t,omitempty"` // its time, where sorted by that
	Line  int    `json:"l,omitempty"` // the last matching line shown of it
	Sum   uint64 `json:"s,omitempty"` // of all results; 0 when the search was partial

	Newest int64 `json:"n,omitempty"` // when one of the files of the results last changed
}

func (c cursor) encode() string {
	text, _ := json.Marshal(c) // plain fields cannot fail
	return base64.RawURLEncoding.EncodeToString(text)
}

// decodeCursor reads a cursor that was made for a query with this hash.
func decodeCursor(s string, query uint64) (*cursor, error) {
	if s == "" {
		return nil, nil
	}
	text, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		return nil, fmt.Errorf("%w: it is not one that a search returned", ErrCursor)
	}
	c := &cursor{}
	if err := json.Unmarshal(text, c); err != nil || c.Path == "" {
		return nil, fmt.Errorf("%w: it is not one that a search returned", ErrCursor)
	}
	if c.Query != query {
		return nil, fmt.Errorf("%w: it belongs to another query", ErrCursor)
	}
	return c, nil
}

func hashOf(format string, args ...any) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, format, args...)
	return h.Sum64()
}

// hashEntry is FNV-1a of a path and numbers that go with it.
func hashEntry(path string, numbers ...uint64) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	h := uint64(offset)
	for i := range len(path) {
		h = (h ^ uint64(path[i])) * prime
	}
	for _, n := range numbers {
		h = (h ^ n) * prime
		h ^= h >> 32 // the product moves bits up only
	}
	return h
}

// hash covers what decides which results there are and in which order.
func (q *Query) hash() uint64 {
	return hashOf("grep %q %q %q %t%t%t%t%t%t%t%t%t%t %q %q %q %q %q %t%t%t%t%t %q %q %q %d %d", q.Root, q.Paths, q.Pattern,
		q.Literal, q.IgnoreCase, q.SmartCase, q.Word, q.Line, q.Without, q.Invert, q.Multiline, q.DotAll, q.CRLF,
		q.Include, q.Exclude, q.Globs, q.Types, q.TypesNot,
		q.Hidden, q.NoIgnore, q.Follow, q.OneFileSystem, q.Binary,
		q.GlobalIgnore, q.Mode, q.Sort, q.MaxFileSize, q.MaxCount)
}
