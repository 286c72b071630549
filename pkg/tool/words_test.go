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

// TestVisible: what a person is shown hides nothing, and letters of every script stay.
func TestVisible(t *testing.T) {
	for _, r := range []rune{
		0, 0x1b, 0x7f, 0x9b, 0xad, 0x34f, 0x61c, 0x115f, 0x1160, 0x17b4, 0x180b, 0x180f, 0x200b, 0x202e, 0x2066, 0x2800, 0x3164,
		0xfe0f, 0xfeff, 0xffa0, 0xfff9, 0xfffd, 0x1bca0, 0x1d173, 0xe0001, 0xe0041, 0xe0100, 0xe01ef,
	} {
		if got := Visible("a" + string(r) + "b"); !strings.HasPrefix(got, `a\`) || !strings.HasSuffix(got, "b") {
			t.Errorf("%U is shown as %q", r, got)
		}
	}
	const letters = "a\tb\né ß 中文 にほん 한국어 ខ្មែរ ا ב ⣿ 🙂"
	if got := Visible(letters); got != letters {
		t.Errorf("%q is shown as %q", letters, got)
	}
}
