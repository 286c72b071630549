package policy

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// A TrustStore remembers which project policies the user has read and
// accepted: a file counts by its path and content, so any change ends it. The
// store is one private file outside every root. A nil store trusts nothing.
type TrustStore struct {
	Path string // of the store's file; its directory is made when needed
}

// A Trust is one entry of the store.
type Trust struct {
	Path   string    `json:"path"` // absolute path of the policy file
	SHA256 string    `json:"sha256"`
	Time   time.Time `json:"time"` // when it was accepted
}

type trustFile struct {
	Version int     `json:"version"`
	Trusted []Trust `json:"trusted"`
}

// Trusted reports whether the file with this content has been accepted. A
// store that cannot be read is an error: nothing may be concluded from it.
func (s *TrustStore) Trusted(path, sha256 string) (bool, error) {
	all, err := s.List()
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(all, func(t Trust) bool { return t.Path == path && t.SHA256 == sha256 }), nil
}

// List returns the entries, oldest first.
func (s *TrustStore) List() ([]Trust, error) {
	if s == nil {
		return nil, nil
	}
	data, err := readOrNothing(s.Path)
	if err != nil || len(data) == 0 {
		return nil, err
	}
	var f trustFile
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("reading the trust store %s: %w", s.Path, err)
	}
	return f.Trusted, nil
}

// Add accepts a file with its present content hash; earlier ones end.
func (s *TrustStore) Add(ctx context.Context, path, sha256 string, now time.Time) error {
	if !filepath.IsAbs(path) || len(sha256) != 64 {
		return fmt.Errorf("trusting %q: want an absolute path and a SHA-256", path)
	}
	return s.change(ctx, func(all []Trust) []Trust {
		return append(without(all, path), Trust{Path: path, SHA256: sha256, Time: now.UTC()})
	})
}

// Remove ends the trust in a file.
func (s *TrustStore) Remove(ctx context.Context, path string) error {
	return s.change(ctx, func(all []Trust) []Trust { return without(all, path) })
}

// Same reports whether the file holds what it held when it took part.
func (f *File) Same() (bool, error) {
	data, problem := readPolicy(f.Path, f.Layer)
	if problem != nil {
		return false, problem
	}
	return contentHash(data) == f.SHA256, nil
}

func without(all []Trust, path string) []Trust {
	return slices.DeleteFunc(all, func(t Trust) bool { return t.Path == path })
}

func (s *TrustStore) change(ctx context.Context, f func([]Trust) []Trust) error {
	return locked(ctx, s.Path+".lock", func() error {
		all, err := s.List()
		if err != nil {
			return err
		}
		data, err := json.MarshalIndent(trustFile{1, f(all)}, "", "  ")
		if err != nil {
			return err
		}
		return safefile.WriteFile(s.Path, append(data, '\n'), true)
	})
}
