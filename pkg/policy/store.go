package policy

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// locked runs f while no other process holds the lock file. It waits for one
// that does until ctx ends.
func locked(ctx context.Context, name string, f func() error) (err error) {
	file, err := safefile.Lock(ctx, name)
	if err != nil {
		return fmt.Errorf("waiting for the lock %s: %w", name, err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return f()
}

// readOrNothing reads a file; one that does not exist is empty.
func readOrNothing(name string) ([]byte, error) {
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}
