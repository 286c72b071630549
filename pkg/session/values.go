package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"unicode/utf8"
)

// valuesFile holds the session's values, as one JSON object by their keys.
const valuesFile = "values.json"

// The limits of a session's values, in bytes.
const (
	MaxKey    = 128
	MaxValue  = 64 << 10 // of one, as JSON
	MaxValues = 1 << 20  // of all, as JSON with their keys
)

// ErrValue is returned for a key or a value that is not kept: see [MaxKey], [MaxValue] and [MaxValues].
var ErrValue = errors.New("not kept")

// Values returns what [Session.SetValue] has kept, by its keys; it creates nothing.
func (s *Session) Values() (map[string]json.RawMessage, error) {
	raw, err := s.ReadFile(valuesFile)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]json.RawMessage{}, nil
	}
	if err != nil {
		return nil, err
	}
	return parseValues(raw)
}

// SetValue keeps a JSON value under a key for later calls of the session, by this and other
// processes, in place of the one that is there. null, or none, removes that.
func (s *Session) SetValue(ctx context.Context, key string, value json.RawMessage) error {
	switch none := len(value) == 0 || string(value) == "null"; {
	case key == "" || len(key) > MaxKey || !utf8.ValidString(key):
		return fmt.Errorf("a key has 1 to %d bytes of text, not %d: %w", MaxKey, len(key), ErrValue)
	case len(value) > MaxValue:
		return fmt.Errorf("a value has at most %d bytes, not %d: %w", MaxValue, len(value), ErrValue)
	case none:
		value = nil
	case !json.Valid(value):
		return fmt.Errorf("the value is no JSON: %w", ErrValue)
	}
	return s.Update(ctx, valuesFile, func(old []byte) ([]byte, error) {
		all := map[string]json.RawMessage{}
		if old != nil {
			var err error
			if all, err = parseValues(old); err != nil {
				return nil, err
			}
		}
		if delete(all, key); value != nil {
			all[key] = value
		}
		if len(all) == 0 {
			return nil, nil
		}
		raw, err := json.Marshal(all)
		if err == nil && len(raw) > MaxValues && value != nil {
			return nil, fmt.Errorf("the session's values may have %d bytes in all, with this one they have %d: %w", MaxValues, len(raw), ErrValue)
		}
		return raw, err
	})
}

func parseValues(raw []byte) (all map[string]json.RawMessage, err error) {
	if err := json.Unmarshal(raw, &all); err != nil || all == nil {
		return nil, fmt.Errorf("the session's %s is damaged; remove it: %w", valuesFile, errors.Join(err, ErrValue))
	}
	return all, nil
}
