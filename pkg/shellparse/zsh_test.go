package shellparse

import (
	"context"
	"testing"
)

// TestZshWords: what zsh reads in its own way, and so runs, is opaque. Found by
// comparing with zsh 5.9.
func TestZshWords(t *testing.T) {
	for _, text := range []string{
		"coproc pwn; :", "coproc pwn | $ ", "function x[$(pwn)]=1", "repeat 2 pwn", "- pwn", "nocorrect pwn",
		"{pwn>,a} ", "set -- pwn && test a & export x=pwn\n$@\n:", "() { pwn; } <>o ", "x=(pwn a); y=1 && ${x:- pwn}", "pwn \\", "builtin eval pwn\\",
	} {
		if a := Analyze(context.Background(), text, "zsh", &World{}); len(a.Opaque) == 0 {
			t.Errorf("%q is clear to us: %v", text, a.Commands)
		}
	}
}
