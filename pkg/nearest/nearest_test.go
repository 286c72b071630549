package nearest

import (
	"slices"
	"testing"
	"testing/quick"
)

func TestWords(t *testing.T) {
	tools := []string{"bash", "read", "write", "edit", "glob", "grep", "todo"}
	for _, tt := range []struct {
		word string
		want []string
	}{
		{"raed", []string{"read"}},
		{"grpe", []string{"grep"}},
		{"EDIT", []string{"edit"}},
		{"gre", []string{"grep"}},
		{"zzz", nil},
		{"", nil},
	} {
		if got := Words(tt.word, tools, 1); !slices.Equal(got, tt.want) {
			t.Errorf("Words(%q) = %v, want %v", tt.word, got, tt.want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"main", "mian", 1}, {"kitten", "sitting", 3}, {"äö", "öä", 1}} {
		if got := Distance(tt.a, tt.b); got != tt.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

// TestDistanceProperties checks what every distance keeps: it is symmetric,
// zero only for equal words, and no longer than the longer word.
func TestDistanceProperties(t *testing.T) {
	keeps := func(a, b string) bool {
		a, b = a[:min(len(a), 40)], b[:min(len(b), 40)]
		d := Distance(a, b)
		equal := slices.Equal([]rune(a), []rune(b))
		return d == Distance(b, a) && (d == 0) == equal && d <= max(len([]rune(a)), len([]rune(b)))
	}
	if err := quick.Check(keeps, nil); err != nil {
		t.Error(err)
	}
}
