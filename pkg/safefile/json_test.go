package safefile

import (
	"encoding/json"
	"reflect"
	"testing"
)

func TestEncodeJSON(t *testing.T) {
	type inner struct {
		Path string
		Text json.RawMessage
	}
	type record struct {
		Name  string `json:"name"`
		Names []string
		Empty []string
		None  []string
		Bytes []byte
		In    map[string]inner
		At    *inner
		Call  func() `json:"-"`
	}
	for _, name := range []string{"/a", "/a\xff/b", "/a\ufffd", `/a\ufffd`, bytesMark + "QQ==", `\u0000base64:QQ==`, ""} {
		nested, err := EncodeJSON(name)
		if err != nil {
			t.Fatal(err)
		}
		was := record{Name: name, Names: []string{"", name}, Empty: []string{}, Bytes: []byte("\xff"), In: map[string]inner{name: {name, nested}}, At: &inner{name, nested}}
		raw, err := EncodeJSON(&was)
		if err != nil {
			t.Fatal(err)
		}
		var now record
		if err := DecodeJSON(raw, &now); err != nil || !reflect.DeepEqual(was, now) {
			t.Errorf("%q: got %+v, %v from %s, want %+v", name, now, err, raw, was)
		}
		var text string
		if err := DecodeJSON(now.At.Text, &text); err != nil || text != name {
			t.Errorf("%q: got %q, %v, what is nested", name, text, err)
		}
		if was.At.Path != name || was.Names[1] != name {
			t.Errorf("%q: what was encoded has become %+v", name, was)
		}
	}
	if raw, err := EncodeJSON(nil); err != nil || string(raw) != "null" {
		t.Errorf("got %s, %v of nothing", raw, err)
	}
}
