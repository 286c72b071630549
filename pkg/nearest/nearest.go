// Package nearest finds the word that someone probably meant.
package nearest

import (
	"cmp"
	"slices"
	"strings"
)

// Words returns the candidates close enough to word to be suggested, best
// first, at most limit of them. Close is a distance of at most a third of the
// word's length, rounded up, or one being the beginning of the other; case
// and the difference between '-' and '_' do not count.
func Words(word string, candidates []string, limit int) []string {
	type scored struct {
		word string
		d    int
	}
	key := fold(word)
	var near []scored
	for _, c := range candidates {
		k := fold(c)
		d := Distance(key, k)
		prefix := len(key) >= 2 && (strings.HasPrefix(k, key) || strings.HasPrefix(key, k) && len(k) >= 3)
		if d <= (len([]rune(key))+2)/3 || prefix {
			near = append(near, scored{c, d})
		}
	}
	slices.SortStableFunc(near, func(a, b scored) int {
		return cmp.Or(cmp.Compare(a.d, b.d), cmp.Compare(a.word, b.word))
	})
	var out []string
	for _, s := range near[:min(limit, len(near))] {
		out = append(out, s.word)
	}
	return out
}

// Word returns the best of Words, or "" when nothing is close.
func Word(word string, candidates []string) string {
	if near := Words(word, candidates, 1); len(near) > 0 {
		return near[0]
	}
	return ""
}

// Distance is the number of insertions, deletions, replacements and swaps of
// neighbours that turn a into b (optimal string alignment), in runes.
func Distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	before, last, now := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(x); i++ {
		now[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			now[j] = min(last[j]+1, now[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				now[j] = min(now[j], before[j-2]+1)
			}
		}
		before, last, now = last, now, before
	}
	return last[len(y)]
}

func fold(s string) string { return strings.ReplaceAll(strings.ToLower(s), "-", "_") }
