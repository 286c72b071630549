package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// A Lock holds one or several files against others that lock them. It is
// advisory: it binds only those who ask for it.
type Lock struct {
	w    *Workspace
	all  bool
	keys []string
	free []func()
	once sync.Once
}

// Lock locks the real files of the paths, existing or not, for this and all
// processes that use the same LockDir. It waits until it has all or ctx ends.
// Files are taken in one order whatever order they are given in, so that two
// who lock several cannot wait for each other; the same file twice is one.
//
// The lock is the kernel's (flock, LockFileEx): when its holder dies it is
// free. Nothing is put beside the user's files.
func (w *Workspace) Lock(ctx context.Context, paths ...Path) (*Lock, error) {
	l := &Lock{w: w}
	for _, p := range paths {
		if err := p.usable("locking"); err != nil && !p.later {
			return nil, err
		}
		l.keys = append(l.keys, lockKey(p.Real))
	}
	slices.Sort(l.keys)
	l.keys = slices.Compact(l.keys)
	if err := l.takeAll(ctx, false); err != nil {
		return nil, fmt.Errorf("locking %s: %w", quote(paths[0].Given), err)
	}
	for _, key := range l.keys {
		free, err := w.lock(ctx, key)
		if err != nil {
			l.Unlock()
			return nil, fmt.Errorf("locking %s: %w", quote(paths[0].Given), err)
		}
		l.free = append(l.free, free)
	}
	return l, nil
}

// LockAll locks every file, whatever its name, against all that use the same LockDir.
// It is one lock, however many files its holder is about to change. Without a LockDir it
// keeps only others out that lock all.
func (w *Workspace) LockAll(ctx context.Context) (*Lock, error) {
	l := &Lock{w: w, all: true}
	free, err := w.lockLocal(ctx, allFile)
	if err == nil {
		l.free = append(l.free, free)
		err = l.takeAll(ctx, true)
	}
	if err != nil {
		l.Unlock()
		return nil, fmt.Errorf("locking all files: %w", err)
	}
	return l, nil
}

// allFile is held shared by who locks some files, and exclusively by who locks all.
const allFile = "all"

func (l *Lock) takeAll(ctx context.Context, exclusive bool) error {
	if l.w.lockDir == "" || !exclusive && len(l.keys) == 0 {
		return nil
	}
	f, err := safefile.OpenLock(filepath.Join(l.w.lockDir, allFile))
	if err != nil {
		return err
	}
	if err := safefile.WaitLock(ctx, f, exclusive); err != nil {
		return errors.Join(err, f.Close())
	}
	l.free = append(l.free, func() { _ = f.Close() })
	return nil
}

// Unlock frees the files. It may be called again, and on nil, without effect.
func (l *Lock) Unlock() {
	if l == nil {
		return
	}
	l.once.Do(func() {
		for _, free := range slices.Backward(l.free) {
			free()
		}
		l.all, l.keys = false, nil
	})
}

func (l *Lock) covers(w *Workspace, p Path) bool {
	return l != nil && l.w == w && (l.all || slices.Contains(l.keys, lockKey(p.Real)))
}

// lockKey names the lock of a file. Where file systems ignore case, names that
// differ only in case share one.
func lockKey(abs string) string {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		abs = strings.ToLower(abs)
	}
	sum := sha256.Sum256([]byte(abs))
	return hex.EncodeToString(sum[:16])
}

// lock takes a key within the process, where waiting is cheap and the memory
// model knows of it, and then between processes.
func (w *Workspace) lock(ctx context.Context, key string) (free func(), err error) {
	local, err := w.lockLocal(ctx, key)
	if err != nil || w.lockDir == "" {
		return local, err
	}
	name := filepath.Join(w.lockDir, key+".lock")
	f, err := safefile.Lock(ctx, name)
	if err != nil {
		local()
		return nil, err
	}
	return func() {
		if runtime.GOOS != "windows" { // there no open file can be removed
			_ = os.Remove(name) // while it is ours, so that none are left; what stays is used again
		}
		_ = f.Close()
		local()
	}, nil
}

// lockLocal takes a key within this Workspace.
func (w *Workspace) lockLocal(ctx context.Context, key string) (free func(), err error) {
	for {
		w.mu.Lock()
		held, busy := w.local[key]
		if !busy {
			mine := make(chan struct{})
			if w.local == nil {
				w.local = map[string]chan struct{}{}
			}
			w.local[key] = mine
			w.mu.Unlock()
			return func() {
				w.mu.Lock()
				delete(w.local, key)
				w.mu.Unlock()
				close(mine)
			}, nil
		}
		w.mu.Unlock()
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-held:
		}
	}
}
