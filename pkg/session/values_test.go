package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// TestValues: what is set is there for other processes, and what may not be kept changes nothing.
func TestValues(t *testing.T) {
	state, root := t.TempDir(), t.TempDir()
	open := func(id string) *Session {
		s, err := Open(Options{State: state, Root: root, ID: id, NoSync: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	have := func(want string) {
		t.Helper()
		all, err := open("a").Values()
		if raw, _ := json.Marshal(all); err != nil || string(raw) != want {
			t.Errorf("%s, %v; want %s", raw, err, want)
		}
	}
	have("{}")
	s := open("a")
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			if err := open("a").SetValue(t.Context(), fmt.Sprintf("k%02d", i), json.RawMessage(fmt.Sprint(i))); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if all, err := s.Values(); err != nil || len(all) != 20 {
		t.Errorf("%v, %v", all, err)
	}
	for i := range 20 {
		value := json.RawMessage("null")
		if i%2 == 0 {
			value = nil
		}
		if err := s.SetValue(t.Context(), fmt.Sprintf("k%02d", i), value); err != nil {
			t.Error(err)
		}
	}
	have("{}")
	if err := s.SetValue(t.Context(), "größe", json.RawMessage(`{"a":[1,"x",null]}`)); err != nil {
		t.Error(err)
	}
	for key, value := range map[string]string{
		"": "1", strings.Repeat("k", MaxKey+1): "1", "bad\xff": "1", "large": `"` + strings.Repeat("x", MaxValue) + `"`, "none": "{",
	} {
		if err := s.SetValue(t.Context(), key, json.RawMessage(value)); !errors.Is(err, ErrValue) {
			t.Errorf("%.20q: %v", key, err)
		}
	}
	have(`{"größe":{"a":[1,"x",null]}}`)
	if all, err := open("b").Values(); err != nil || len(all) != 0 {
		t.Errorf("another session has %v, %v", all, err)
	}
	var err error
	for i := 0; err == nil && i < 20; i++ {
		err = s.SetValue(t.Context(), fmt.Sprint(i), json.RawMessage(`"`+strings.Repeat("x", MaxValue-2)+`"`))
	}
	if !errors.Is(err, ErrValue) {
		t.Errorf("more than all may have: %v", err)
	}
	if err := s.WriteFile(t.Context(), valuesFile, []byte("[]")); err != nil {
		t.Fatal(err)
	}
	if err := s.SetValue(t.Context(), "a", json.RawMessage("1")); !errors.Is(err, ErrValue) {
		t.Errorf("a damaged file: %v", err)
	}
}
