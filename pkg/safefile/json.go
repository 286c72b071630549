package safefile

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"reflect"
	"strings"
	"unicode/utf8"
)

// bytesMark begins a string that stands for bytes, in base64. No path holds a NUL.
const bytesMark = "\x00base64:"

// EncodeJSON is json.Marshal for what names files: a name need not be UTF-8, which JSON has to be,
// and json.Marshal makes another name of such a one. [DecodeJSON] gives the very same strings back.
func EncodeJSON(v any) ([]byte, error) {
	raw, err := json.Marshal(v)
	if err != nil || !bytes.Contains(raw, []byte(`\ufffd`)) && !marked(raw) {
		return raw, err
	}
	return json.Marshal(mapStrings(reflect.ValueOf(v), func(s string) string {
		if utf8.ValidString(s) && !strings.HasPrefix(s, bytesMark) {
			return s
		}
		return bytesMark + base64.StdEncoding.EncodeToString([]byte(s))
	}).Interface())
}

// DecodeJSON is json.Unmarshal for what EncodeJSON returned. v is a pointer.
func DecodeJSON(raw []byte, v any) error {
	if err := json.Unmarshal(raw, v); err != nil || !marked(raw) {
		return err
	}
	at := reflect.ValueOf(v).Elem()
	at.Set(mapStrings(at, func(s string) string {
		text, ok := strings.CutPrefix(s, bytesMark)
		name, err := base64.StdEncoding.DecodeString(text)
		if !ok || err != nil {
			return s
		}
		return string(name)
	}))
	return nil
}

// marked reports whether JSON may hold a bytesMark.
func marked(raw []byte) bool { return bytes.Contains(raw, []byte(`\u0000base64:`)) }

// mapStrings is a copy of v in which f has changed the strings that JSON takes from it.
func mapStrings(v reflect.Value, f func(string) string) reflect.Value {
	if !v.IsValid() {
		return v
	}
	now := reflect.New(v.Type()).Elem()
	now.Set(v)
	switch v.Kind() {
	case reflect.String:
		now.SetString(f(v.String()))
	case reflect.Pointer:
		if !v.IsNil() {
			now.Set(reflect.New(v.Type().Elem()))
			now.Elem().Set(mapStrings(v.Elem(), f))
		}
	case reflect.Slice:
		if v.IsNil() || v.Type().Elem().Kind() == reflect.Uint8 {
			break
		}
		now.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			now.Index(i).Set(mapStrings(v.Index(i), f))
		}
	case reflect.Map:
		if v.IsNil() {
			break
		}
		now.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
		for i := v.MapRange(); i.Next(); {
			now.SetMapIndex(mapStrings(i.Key(), f), mapStrings(i.Value(), f))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() && field.Tag.Get("json") != "-" {
				now.Field(i).Set(mapStrings(v.Field(i), f))
			}
		}
	}
	return now
}
