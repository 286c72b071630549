package param_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/agentkit-go/agentkit/pkg/param"
)

type outer struct {
	Name  string
	Size  int
	Far   int
	Wait  *int
	All   bool
	Share float64
	Tags  []string
	Kinds []string
	Env   map[string]string
	List  []inner
	Raw   json.RawMessage
}

func (o *outer) Params(p *param.Set) {
	p.String(&o.Name, "name", "a name").Required().OneOf("alpha", "beta").Alias("the_name", "theName").Arg()
	p.Int(&o.Size, "size", "a size").Between(0, 10)
	p.Int(&o.Far, "far", "a place").Between(1, 1<<50)
	p.OptionalMillis(&o.Wait, "wait_ms", "a time").Alias("wait")
	p.Bool(&o.All, "all", "all of them")
	p.Number(&o.Share, "share", "a share").Between(0, 1)
	p.Strings(&o.Tags, "tags", "some tags").Arg()
	p.Strings(&o.Kinds, "kinds", "some kinds").OneOf("x", "y")
	p.Map(&o.Env, "env", "variables")
	param.Objects(p, &o.List, "list", "a list")
	p.Raw(&o.Raw, "raw", "anything")
}

type inner struct {
	Key  string
	Deep []inner
}

func (i *inner) Params(p *param.Set) { p.String(&i.Key, "key", "a key").Required() }

func decode(t *testing.T, in string) (*outer, error) {
	t.Helper()
	o := &outer{Size: 5, Far: 1}
	return o, param.Of(o).Decode([]byte(in))
}

func TestLenient(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want func(*outer) bool
	}{
		{`{"name":"alpha"}`, func(o *outer) bool { return o.Name == "alpha" && o.Size == 5 && o.Wait == nil }},
		{`{"name":"alpha","theName":"alpha","all":"true"}`, func(o *outer) bool { return o.Name == "alpha" && o.All }},
		{`{"The_Name":"alpha","SIZE":7,"list":[{"Key":"k"}]}`, func(o *outer) bool { return o.Name == "alpha" && o.Size == 7 && o.List[0].Key == "k" }},
		{`{"the-name":"alpha","theName":"alpha"}`, func(o *outer) bool { return o.Name == "alpha" }},
		{`{"theName":"BETA","size":null}`, func(o *outer) bool { return o.Name == "beta" && o.Size == 5 }},
		{`{"name":"alpha","size":"7"}`, func(o *outer) bool { return o.Size == 7 }},
		{`{"name":"alpha","size":7.0}`, func(o *outer) bool { return o.Size == 7 }},
		{`{"name":"alpha","size":" 1e1 "}`, func(o *outer) bool { return o.Size == 10 }},
		{`{"name":"alpha","wait":"250"}`, func(o *outer) bool { return *o.Wait == 250 }},
		{`{"name":"alpha","all":"true"}`, func(o *outer) bool { return o.All }},
		{`{"name":"alpha","all":1}`, func(o *outer) bool { return o.All }},
		{`{"name":"alpha","share":"0.5"}`, func(o *outer) bool { return o.Share == 0.5 }},
		{`{"name":"alpha","tags":"one"}`, func(o *outer) bool { return slices.Equal(o.Tags, []string{"one"}) }},
		{`{"name":"alpha","tags":["a",2]}`, func(o *outer) bool { return slices.Equal(o.Tags, []string{"a", "2"}) }},
		{`{"name":"alpha","tags":"[\"a\",\"b\"]"}`, func(o *outer) bool { return slices.Equal(o.Tags, []string{"a", "b"}) }},
		{`{"name":"alpha","kinds":"X, y"}`, func(o *outer) bool { return slices.Equal(o.Kinds, []string{"x", "y"}) }},
		{`{"name":"alpha","kinds":"X"}`, func(o *outer) bool { return slices.Equal(o.Kinds, []string{"x"}) }},
		{`{"name":"alpha","env":{"A":1}}`, func(o *outer) bool { return o.Env["A"] == "1" }},
		{`{"name":"alpha","env":["A=b=c"]}`, func(o *outer) bool { return o.Env["A"] == "b=c" }},
		{`{"name":"alpha","list":{"key":"k"}}`, func(o *outer) bool { return len(o.List) == 1 && o.List[0].Key == "k" }},
		{`{"name":"alpha","list":"[{\"key\":\"k\"}]"}`, func(o *outer) bool { return len(o.List) == 1 }},
		{`{"name":"alpha","raw":"{\"a\":1}"}`, func(o *outer) bool { return string(o.Raw) == `{"a":1}` }},
	} {
		if o, err := decode(t, tt.in); err != nil {
			t.Errorf("%s: %v", tt.in, err)
		} else if !tt.want(o) {
			t.Errorf("%s gave %+v", tt.in, o)
		}
	}
}

// TestErrors checks that an error names the parameter, what was wanted, what
// came, and the nearest known name.
func TestErrors(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{`{}`, `name is required: a name`},
		{`{"name":null}`, `name is required: a name`},
		{`{"nam":"alpha"}`, `unknown parameter "nam"; did you mean name?; known: name, size, far, wait_ms, all, share, tags, kinds, env, list, raw`},
		{`{"the_nam":"alpha"}`, `unknown parameter "the_nam"; did you mean name?`},
		{`{"name":"gamma"}`, `name: want one of the known words, got "gamma"; known: alpha, beta`},
		{`{"name":"aplha"}`, `name: want one of the known words, got "aplha"; did you mean alpha?`},
		{`{"name":"alpha","size":11}`, `size: want 0 to 10, got 11`},
		{`{"name":"alpha","size":1.5}`, `size: want a whole number, got 1.5`},
		{`{"name":"alpha","size":"ten"}`, `size: want a whole number, got "ten"`},
		{`{"name":"alpha","size":1e99}`, `size: want a whole number, got 1e99`},
		{`{"name":"alpha","wait_ms":-1}`, `wait_ms: want at least 0, got -1`},
		{`{"name":"alpha","all":"maybe"}`, `all: want true or false, got "maybe"`},
		{`{"name":"alpha","share":2}`, `share: want 0 to 1, got 2`},
		{`{"name":["alpha"]}`, `name: want a string, got ["alpha"]`},
		{`{"name":"alpha","kinds":["x","y,z"]}`, `kinds[1]: want one of the known words, got "z"`},
		{`{"name":"alpha","list":["b"]}`, `list[0]: want a JSON object, got "b"`},
		{`{"name":"alpha","kinds":["x","z"]}`, `kinds[1]: want one of the known words, got "z"`},
		{`{"name":"alpha","list":[{"key":"a"},{"kee":"b"}]}`, `list[1]: unknown parameter "kee"; did you mean key?`},
		{`{"name":"alpha","list":[{}]}`, `list[0].key is required: a key`},
		{`{"name":"alpha","env":["A"]}`, `env[0]: want KEY=VALUE, got "A"`},
		{`{"name":"alpha","theName":"beta"}`, `name: given twice, as name and as theName`},
		{`{"name":"alpha","far":-1}`, `far: want at least 1, got -1`},
		{`{"name":"alpha","far":2000000000000000}`, `far: want 1 to 1125899906842624, got 2000000000000000`},
		{`{"name":"alpha","name":"beta"}`, `name: stands twice in the object`},
		{`{"name":"alpha"} {}`, `want one JSON object and nothing after it`},
		{`["alpha"]`, `want a JSON object, got ["alpha"]`},
		{`"alpha"`, `want a JSON object, got "alpha"`},
		{`"[]"`, `want a JSON object, got "[]"`},
		{`"{\"name\":"`, `want a JSON object, got`},
		{`"{\"name\":\"\ud800\"}"`, `want a JSON object, got`},
		{`"{\"name\":\"\\ud800\"}"`, `half of a surrogate pair`},
		{`"\"{}\""`, `want a JSON object, got`},
		{`"{\"name\":\"alpha\",\"size\":11}"`, `size: want 0 to 10, got 11`},
		{`"{\"name\":\"alpha\",\"name\":\"beta\"}"`, `name: stands twice in the object`},
		{`{"name":`, `want a JSON object`},
		{``, `got nothing`},
	} {
		_, err := decode(t, tt.in)
		if e, ok := errors.AsType[*param.Error](err); !ok {
			t.Errorf("%s: error is %T %v", tt.in, err, err)
		} else if !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v\nwant %s", tt.in, err, tt.want)
		} else if e.Hint() == "" {
			t.Errorf("%s: no hint", tt.in)
		}
	}
}

type limits struct {
	Limit, Wait    int
	Path, Sort, ID string
	Text           string
	Globs          []string
	All            bool
	List           []inner
	Help           bool
}

func (l *limits) Params(p *param.Set) {
	p.Int(&l.Limit, "limit", "most").Between(1, 50)
	p.Millis(&l.Wait, "timeout_ms", "time").Between(1, 1000).Alias("timeout")
	p.Path(&l.Path, "path", param.File, "a file")
	p.String(&l.Sort, "sort", "an order").OneOf("up", "down")
	p.String(&l.ID, "id", "which").Required()
	p.String(&l.Text, "text", "any text")
	p.Strings(&l.Globs, "globs", "patterns")
	p.Bool(&l.All, "all", "all of them")
	param.Objects(p, &l.List, "list", "a list")
	p.Bool(&l.Help, "recursive", "as grep has it").Letter("r").Alias("-r").Unlisted()
}

// TestNothingToSay: what models fill in where they have nothing to say is as if
// it had not come.
func TestNothingToSay(t *testing.T) {
	for _, in := range []string{
		`{"id":"x","limit":0,"timeout":0,"path":"","sort":"","globs":"","all":"","list":""}`,
		`{"id":"x","limit":"0","timeout_ms":"","path":null,"globs":[""]}`,
		`{"id":"x","limit":0.0,"globs":[ "" ]}`,
	} {
		l := &limits{Limit: 10, Wait: 500, Path: ".", Sort: "up", Globs: []string{"*"}}
		if err := param.Of(l).Decode([]byte(in)); err != nil || l.Limit != 10 || l.Wait != 500 || l.Path != "." || l.Sort != "up" || !slices.Equal(l.Globs, []string{"*"}) {
			t.Errorf("%s: %+v, %v", in, l, err)
		}
	}
	l := &limits{}
	s := param.Of(l)
	if err := s.Decode([]byte(`{"id":"","text":""}`)); err != nil || !s.Lookup("id").Given() || !s.Lookup("text").Given() {
		t.Errorf("an empty text that means something: %+v, %v", l, err)
	}
	for _, in := range []string{`{"id":"x","limit":-1}`, `{"id":"x","limit":51}`, `{"id":"x","globs":["","x",{}]}`, `{"id":"x","timeout":-5}`} {
		if err := param.Of(&limits{}).Decode([]byte(in)); err == nil {
			t.Errorf("%s is accepted", in)
		}
	}
}

// TestAsides: a name that means nothing here, and a time above the most, cost
// no turn and are told.
func TestAsides(t *testing.T) {
	l := &limits{}
	s := param.Of(l)
	in := `{"id":"x","description":"why","explanation":1,"timeout":90000,"-r":true,"list":[{"key":"a","activeForm":"doing"},{"key":"b","deep":[{"key":"c","reason":"r"}]}]}`
	if err := s.Decode([]byte(in)); err == nil || !strings.Contains(err.Error(), `unknown parameter "deep"`) {
		t.Errorf("a name that nobody knows: %v", err)
	}
	s = param.Of(l)
	if err := s.Decode([]byte(strings.Replace(in, `"deep":[{"key":"c","reason":"r"}]`, `"thought":""`, 1))); err != nil {
		t.Fatal(err)
	}
	if want := []string{"description", "explanation", "list[0].activeForm", "list[1].thought"}; !slices.Equal(s.Ignored(), want) {
		t.Errorf("ignored %q, want %q", s.Ignored(), want)
	}
	if want := []string{"timeout_ms: 90000 is more than the most, 1000 is used"}; l.Wait != 1000 || !slices.Equal(s.Notes(), want) {
		t.Errorf("%d ms, notes %q", l.Wait, s.Notes())
	}
	if err := s.Lookup("timeout").Set("2m"); err != nil || l.Wait != 1000 {
		t.Errorf("as a flag: %d, %v", l.Wait, err)
	}
	raw, err := json.Marshal(s.Schema())
	if err != nil || strings.Contains(string(raw), "recursive") || !l.Help {
		t.Errorf("unlisted: %s, %v, %v", raw, l.Help, err)
	}
}

// encoding/json puts U+FFFD where a text stands for no character. Whoever sent
// it shall hear of it instead.
func TestNoCharacter(t *testing.T) {
	for _, tt := range []struct{ in, param, want string }{
		{"{\"name\":\"alpha\",\"tags\":[\"\xff\"]}", "tags", "byte 26 of the object is 0xff, which is not UTF-8"},
		{"{\"name\":\"alpha\",\"tags\":[\"\xed\xa0\x80\"]}", "tags", "byte 26 of the object is 0xed"},
		{"{\"name\":\"alpha\",\"n\xff\":1}", "", "byte 19 of the object"},
		{`{"name":"alpha","tags":["\ud800"]}`, "tags", `byte 26 of the object is \ud800, half of a surrogate pair`},
		{`{"name":"alpha","tags":"x\uDC00\ud800"}`, "tags", `is \uDC00, half`},
		{`{"name":"alpha","tags":"\ud83d\ud83d\ude00"}`, "tags", `is \ud83d, half`},
		{`{"name":"alpha","tags":"\ud83d"}`, "tags", `is \ud83d, half`},
		{`{"name":"alpha","env":{"\ud800":"x"}}`, "env", "half of a surrogate pair"},
		{`{"name":"alpha","raw":{"x":[{"y":"\ud800"}]}}`, "raw", "half of a surrogate pair"},
		{`{"name":"alpha","list":[{"key":"a"},{"key":"\ud800"}]}`, "list", "half of a surrogate pair"},
		{`{"name":"alpha","tags":"[\"\\ud800\"]"}`, "tags", "half of a surrogate pair"},
		{`{"name":"alpha","list":"[{\"key\":\"\\ud800\"}]"}`, "list", "half of a surrogate pair"},
	} {
		_, err := decode(t, tt.in)
		e, ok := errors.AsType[*param.Error](err)
		if !ok || e.Param != tt.param || !strings.Contains(e.Want, tt.want) || !strings.Contains(e.Hint(), "UTF-8") {
			t.Errorf("%q: %v, want %s of %q", tt.in, err, tt.want, tt.param)
		}
	}
	if err := param.Of(new(outer)).Lookup("list").Set(`[{"key":"\ud800"}]`); err == nil || !strings.Contains(err.Error(), "half of a surrogate pair") {
		t.Errorf("as a flag: %v", err)
	}
	for in, want := range map[string]string{
		`"\ud83d\ude00"`: "\U0001f600", `"\uD83D\uDE00!"`: "\U0001f600!", `"\\ud800"`: `\ud800`, `"\ufffd"`: "\ufffd", "\"\ufffd\"": "\ufffd",
		`"\n\u00e9\ud7ff"`: "\n\u00e9\ud7ff",
	} {
		o, err := decode(t, `{"name":"alpha","tags":`+in+`}`)
		if err != nil || !slices.Equal(o.Tags, []string{want}) {
			t.Errorf("%s: %q, %v", in, o.Tags, err)
		}
	}
}

func TestFill(t *testing.T) {
	o := new(outer)
	if err := param.Of(o).Fill([]string{"alpha", "a", "b"}); err != nil || o.Name != "alpha" || !slices.Equal(o.Tags, []string{"a", "b"}) {
		t.Errorf("Fill: %+v, %v", o, err)
	}
	if err := param.Of(new(inner)).Fill([]string{"x"}); err == nil || !strings.Contains(err.Error(), `unexpected argument "x"; known: --key`) {
		t.Errorf("Fill: %v", err)
	}
}

func TestDurationOnTheCommandLine(t *testing.T) {
	o := new(outer)
	p := param.Of(o).Lookup("wait_ms")
	if err := p.Set("1m30s"); err != nil || *o.Wait != 90_000 {
		t.Errorf("1m30s: %v, %v", o.Wait, err)
	}
	if err := p.Set("soon"); err == nil || !strings.Contains(err.Error(), "a duration such as 30s") {
		t.Errorf("soon: %v", err)
	}
}

// FuzzDecode checks that Decode accepts whatever the schema accepts, except
// objects in which a name stands twice, on which JSON Schema is silent.
func FuzzDecode(f *testing.F) {
	raw, err := json.Marshal(param.Of(new(outer)).Schema())
	if err != nil {
		f.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		f.Fatal(err)
	}
	schema, err := s.Resolve(nil)
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{
		`{"name":"alpha"}`, `{"name":"beta","size":7,"list":[{"key":"x"}]}`, `{"name":"alpha","tags":["t"],"all":true}`,
		`[]`, `{"name":"alpha","size":1.0}`, `{"name":"alpha","size":1e0}`, `{"name":"alpha","env":{"A":"b"},"raw":{"x":[1]}}`,
		`{"name":"alpha","kinds":["x"],"share":0.25,"wait_ms":0}`, `{"name":"alpha","env":{"":"b"}}`, `{"name":"alpha","size":-0}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		err := param.Of(new(outer)).Decode([]byte(in))
		var v any
		if json.Unmarshal([]byte(in), &v) != nil || schema.Validate(v) != nil {
			return
		}
		if e, ok := errors.AsType[*param.Error](err); ok && e.Fix != "" {
			return // it holds what stands for no character
		}
		if err != nil && !strings.Contains(err.Error(), "stands twice") {
			t.Errorf("the schema accepts %s, Decode says: %v", in, err)
		}
	})
}

// TestZero: 0 where it is out of bounds is what models fill in for "not given". It is that
// as a flag, too, whatever was declared; elsewhere it is a number like others.
func TestZero(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		must      bool
		text      string
		want      string // the value; "" for an error
	}{
		{1, 9, false, "0", "5"},
		{1, 9, false, "0.0", "5"},
		{1, 9, false, "-0", "5"},
		{-9, -1, false, "0", "5"},
		{0, 9, false, "0", "0"},
		{1, 9, false, "-1", ""},
		{1, 9, false, "x", ""},
		{1, 9, true, "0", ""},
	} {
		for _, way := range []string{"flag", "JSON", "JSON in quotes"} {
			n := 5
			s := new(param.Set)
			p := s.Int(&n, "n", "a number").Between(c.low, c.high)
			p.Must = c.must
			var err error
			switch way {
			case "flag":
				err = p.Set(c.text)
			case "JSON":
				err = p.Decode([]byte(c.text))
			default:
				err = p.Decode([]byte(`"` + c.text + `"`))
			}
			if got := p.String(); (err == nil) != (c.want != "") || err == nil && got != c.want {
				t.Errorf("%s %s in %v to %v: %s, %v, want %q", way, c.text, c.low, c.high, got, err, c.want)
			}
			if want := c.want == c.text; err == nil && p.Given() != want {
				t.Errorf("%s %s in %v to %v: given is %v", way, c.text, c.low, c.high, p.Given())
			}
		}
	}
}
