package files

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agentkit-go/agentkit/pkg/tool"
)

// A span is some lines or pages, counted from 1.
type span struct {
	first int64
	last  int64 // 0 for the end
}

// String is the span as a parameter spells it.
func (s span) String() string {
	switch s.last {
	case 0:
		return fmt.Sprintf("%d-", s.first)
	case s.first:
		return fmt.Sprint(s.first)
	}
	return fmt.Sprintf("%d-%d", s.first, s.last)
}

// maxSpans bounds the ranges of one call.
const maxSpans = 1000

// parseSpans reads 10-20, 50- and 7, several of them separated by commas. The
// result is sorted, and what touches is one span.
func parseSpans(param string, words []string) ([]span, error) {
	var list []span
	for _, word := range words {
		for part := range strings.SplitSeq(word, ",") {
			s, ok := parseSpan(strings.TrimSpace(part))
			if !ok {
				return nil, tool.Errorf(tool.BadInput, "%s: %q is no range", param, part).WithHint("write 10-20, 50- for everything from 50 on, or 7")
			}
			list = append(list, s)
		}
	}
	if len(list) > maxSpans {
		return nil, tool.Errorf(tool.BadInput, "%s: %d ranges are more than %d", param, len(list), maxSpans).WithHint("ask for fewer, or for larger ones")
	}
	slices.SortFunc(list, func(a, b span) int { return cmp.Compare(a.first, b.first) })
	var merged []span
	for _, s := range list {
		if n := len(merged); n > 0 && (merged[n-1].last == 0 || s.first <= merged[n-1].last+1) {
			if last := &merged[n-1].last; *last != 0 {
				*last = max(*last, s.last)
				if s.last == 0 {
					*last = 0
				}
			}
			continue
		}
		merged = append(merged, s)
	}
	return merged, nil
}

func parseSpan(word string) (span, bool) {
	from, to, dash := strings.Cut(word, "-")
	first, err := strconv.ParseInt(strings.TrimSpace(from), 10, 52)
	s := span{first, first}
	if dash {
		s.last = 0
		if to = strings.TrimSpace(to); to != "" && err == nil {
			s.last, err = strconv.ParseInt(to, 10, 52)
			if s.last < first {
				return span{}, false
			}
		}
	}
	return s, err == nil && first >= 1
}
