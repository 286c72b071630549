package param

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// twiceByTokens is Twice as a decoder would find it.
func twiceByTokens(raw []byte) string {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return ""
	}
	seen := map[string]bool{}
	for dec.More() {
		tok, err := dec.Token()
		name, ok := tok.(string)
		var value json.RawMessage
		if err != nil || !ok || dec.Decode(&value) != nil {
			return ""
		}
		folded := strings.ToLower(strings.ToUpper(name))
		if seen[folded] {
			return name
		}
		seen[folded] = true
	}
	return ""
}

// FuzzTwice: a name that stands twice is found as a decoder finds it.
func FuzzTwice(f *testing.F) {
	for _, raw := range []string{
		`{}`, `[]`, `5`, `"a"`, `null`, `{"a":1}`, `{"a":1,"a":2}`, `{"a":1,"A":2}`, `{"a":{"a":1,"a":2},"b":[{"c":1},{"c":2}]}`, `{"a":"a","b":"b"}`,
		` { "a" : "x\\",  "b":"\"a\":1,", "\u0061":3}`, `{"s":1,"\u017f":2}`, `{"k":1,"\u212a":2}`, `{"":1,"":2}`, `{"a":["a",{"a":"}"}],"b":{},"B":0}`, `{"a\\":1,"a\\":2}`, "{\"\xff\":1,\"\xfe\":2}",
	} {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !json.Valid(raw) {
			return
		}
		if got, want := Twice(raw), twiceByTokens(raw); got != want {
			t.Errorf("%q: %q, want %q", raw, got, want)
		}
	})
}
