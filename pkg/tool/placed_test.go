package tool_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/session"
	"github.com/agentkit-go/agentkit/pkg/tool"
)

// TestPlaced: a program counts as put there by a call where it, or what a link leads to, lies
// in a root that the state directory knows of, or in a directory that is named.
func TestPlaced(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(top, filepath.FromSlash(name)) }
	for _, dir := range []string{"root/bin", "other/bin"} {
		if err := errors.Join(os.MkdirAll(at(dir), 0o755), os.WriteFile(at(dir+"/rg"), nil, 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	s, err := session.Open(session.Options{State: at("state"), Root: at("root")})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.WriteFile(t.Context(), "todo.json", []byte("[]")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(at("root/bin/rg"), at("other/bin/linked")); err != nil {
		t.Skip("SKIPPED: no links can be made here: ", err)
	}
	for program, want := range map[string]bool{"root/bin/rg": true, "other/bin/rg": false, "other/bin/linked": true, "other/bin/gone": true, "root": true, "root/bin": true, "other": false} {
		if got := tool.Placed(at("state"), nil, at(program)); got != want {
			t.Errorf("%s: %v", program, got)
		}
	}
	if !tool.Placed(at("state"), []string{at("other")}, at("other/bin/rg")) {
		t.Error("a directory that is named does not count")
	}
}
