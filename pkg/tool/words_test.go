package tool

import (
	"os/exec"
	"strings"
	"testing"
)

// TestQuoteWords: what is quoted reads back as the same words in every shell that is here.
func TestQuoteWords(t *testing.T) {
	words := []string{"", "a", "-x", "a b", "it's", "=cat", "A=b", "~", "~root/x", "$HOME", "`id`", "a\nb", "*", "{a,b}", "!x", "#", "a\\", "é", "%1", "@x:y+z,w", `"`}
	line := QuoteWords(words)
	if got := QuoteWords([]string{"make", "-j4", "CC=gcc"}); got != "make -j4 CC=gcc" {
		t.Errorf("quoted without need: %s", got)
	}
	for _, shell := range []string{"sh", "bash", "zsh"} {
		if _, err := exec.LookPath(shell); err != nil {
			t.Logf("SKIPPED: there is no %s", shell)
			continue
		}
		out, err := exec.CommandContext(t.Context(), shell, "-c", `printf '%s\0' `+line).Output()
		if want := strings.Join(words, "\x00") + "\x00"; err != nil || string(out) != want {
			t.Errorf("%s: %q %v", shell, out, err)
		}
	}
}
