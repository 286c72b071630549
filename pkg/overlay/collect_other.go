//go:build !linux

package overlay

import "errors"

func collect(string, string, int64) ([]Change, error) { return nil, errors.ErrUnsupported }

func stat(string) (State, error) { return State{}, errors.ErrUnsupported }

func setTime(string, int64) {}
