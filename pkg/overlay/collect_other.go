//go:build !linux

package overlay

import (
	"errors"
	"io/fs"
	"os"
)

func collect(string, string, int64) ([]Change, error) { return nil, errors.ErrUnsupported }

func statReal(string) (State, error) { return State{}, errors.ErrUnsupported }

func openSeen(string, State) (*os.File, error) { return nil, errors.ErrUnsupported }

func readReal(string) ([]fs.DirEntry, error) { return nil, errors.ErrUnsupported }

func setTime(string, int64) {}
