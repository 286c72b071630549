package change

import "testing"

// TestKeptModes: only whether a file may be written is kept of its mode, so
// nothing else of it can have changed since.
func TestKeptModes(t *testing.T) {
	made, found := State{Kind: Regular, Mode: 0o755}, State{Kind: Regular, Mode: 0o666}
	if !made.sameMode(found) {
		t.Error("0755 is not 0666")
	}
	if found.Mode = 0o444; made.sameMode(found) {
		t.Error("0755 is 0444")
	}
}
