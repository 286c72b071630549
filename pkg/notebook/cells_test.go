package notebook

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// written is a notebook as Jupyter writes it.
const written = `{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "top",
   "metadata": {"own":   [1, 2]},
   "source": [
    "# Title"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 7,
   "id": "sum",
   "metadata": {},
   "outputs": [
    {
     "name": "stdout",
     "output_type": "stream",
     "text": ["3\n"]
    }
   ],
   "source": [
    "a = 1\n",
    "print(a + 2)"
   ]
  }
 ],
 "metadata": {},
 "nbformat": 4,
 "nbformat_minor": 5
}
`

func open(t *testing.T, data string) *File {
	t.Helper()
	f, err := Open([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestCells changes cells in every style, and nothing else.
func TestCells(t *testing.T) {
	short := `{"cells":[{"cell_type":"code","source":"x","metadata":{},"outputs":[],"execution_count":null}],"nbformat":4,"nbformat_minor":2,"metadata":{}}`
	for _, tt := range []struct {
		name, data string
		do         func(f *File)
		old, now   string // what of data becomes what; each stands there once
	}{
		{"nothing", written, func(*File) {}, "", ""},
		{
			"replace", written, func(f *File) { f.Replace(1, "a = 2\nprint('<é>')\n", "") },
			written[strings.Index(written, `"execution_count": 7`):strings.Index(written, "\n  }\n ],\n \"metadata\"")],
			"\"execution_count\": null,\n   \"id\": \"sum\",\n   \"metadata\": {},\n   \"outputs\": [],\n   \"source\": [\n    \"a = 2\\n\",\n    \"print('<é>')\\n\"\n   ]",
		},
		{
			"to code", written, func(f *File) { f.Replace(0, "1", "code") },
			"\"markdown\",\n   \"id\": \"top\",\n   \"metadata\": {\"own\":   [1, 2]},\n   \"source\": [\n    \"# Title\"\n   ]",
			"\"code\",\n   \"id\": \"top\",\n   \"metadata\": {\"own\":   [1, 2]},\n   \"source\": [\n    \"1\"\n   ],\n   \"execution_count\": null,\n   \"outputs\": []",
		},
		{
			"insert first", written, func(f *File) { f.Insert(0, "hello", "raw") },
			"[\n  {\n   \"cell_type\": \"markdown\"", "[\n  {\n   \"cell_type\": \"raw\",\n   \"id\": \"ID\",\n   \"metadata\": {},\n   \"source\": [\n    \"hello\"\n   ]\n  },\n  {\n   \"cell_type\": \"markdown\"",
		},
		{
			"insert last", written, func(f *File) { f.Insert(2, "", "code") },
			"\n  }\n ],\n \"metadata\"", "\n  },\n  {\n   \"cell_type\": \"code\",\n   \"execution_count\": null,\n   \"id\": \"ID\",\n   \"metadata\": {},\n   \"outputs\": [],\n   \"source\": []\n  }\n ],\n \"metadata\"",
		},
		{"delete first", written, func(f *File) { f.Delete(0) }, written[strings.Index(written, "{\n   \"cell_type\": \"markdown\""):strings.Index(written, "{\n   \"cell_type\": \"code\"")], ""},
		{"short replace", short, func(f *File) { f.Replace(0, "y\nz", "") }, `"x"`, `"y\nz"`},
		{"short to text", short, func(f *File) { f.Replace(0, "x", "markdown") }, `"code","source":"x","metadata":{},"outputs":[],"execution_count":null`, `"markdown","source":"x","metadata":{}`},
		{"short insert", short, func(f *File) { f.Insert(1, "y", "markdown") }, `null}]`, `null},{"cell_type":"markdown","metadata":{},"source":["y"]}]`},
		{"short delete", short, func(f *File) { f.Delete(0) }, `[{"cell_type":"code","source":"x","metadata":{},"outputs":[],"execution_count":null}]`, `[]`},
	} {
		f := open(t, tt.data)
		before := f.IDs()
		tt.do(f)
		got := string(f.Bytes())
		for i, id := range f.IDs() {
			if !slices.Contains(before, id) && string(f.member(i, "id")) == id {
				got = strings.Replace(got, `"`+id+`"`, `"ID"`, 1)
			}
		}
		if want := strings.Replace(tt.data, tt.old, tt.now, 1); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", tt.name, got, want)
		}
	}
	windows := strings.ReplaceAll(written, "\n", "\r\n")
	f := open(t, windows)
	f.Replace(0, "a\nb", "")
	f.Insert(1, "c", "code")
	if got := string(f.Bytes()); strings.Count(got, "\n") != strings.Count(got, "\r\n") || !strings.Contains(got, `"a\n",`) {
		t.Errorf("line ends: %q", got)
	}
}

// TestCellsAtRandom holds what many changes make of a notebook against the same changes of
// a list, in several styles.
func TestCellsAtRandom(t *testing.T) {
	type cell struct{ kind, source string }
	kinds := []string{"code", "markdown", "raw"}
	sources := []string{"", "x", "a\nb", "\n", "\"\\ü\u2028<&>\n\tend\r\n"}
	for seed := range int64(200) {
		r := rand.New(rand.NewSource(seed))
		data := []byte(`{"nbformat":4,"nbformat_minor":5,"metadata":{},"cells":[]}`)
		if seed%2 == 0 {
			data = []byte("{\n  \"cells\": [\n  ],\n  \"nbformat\": 4, \"nbformat_minor\": 4\n}")
		}
		var want []cell
		for range 12 {
			f, err := Open(data)
			if err != nil {
				t.Fatalf("seed %d: %v in %s", seed, err, data)
			}
			kind, source := kinds[r.Intn(3)], sources[r.Intn(len(sources))]
			if at := r.Intn(len(want) + 1); at == len(want) || r.Intn(2) == 0 {
				f.Insert(at, source, kind)
				want = slices.Insert(want, at, cell{kind, source})
			} else if r.Intn(3) == 0 {
				f.Delete(at)
				want = slices.Delete(want, at, at+1)
			} else {
				f.Replace(at, source, kind)
				want[at] = cell{kind, source}
			}
			data = f.Bytes()
		}
		n, err := Parse(data)
		if err != nil || !json.Valid(data) {
			t.Fatalf("seed %d: %v in %s", seed, err, data)
		}
		var got []cell
		ids := map[string]bool{}
		for _, c := range n.Cells {
			got = append(got, cell{c.Type, c.Source})
			ids[c.ID] = true
		}
		if !reflect.DeepEqual(got, want) || len(ids) != len(want) {
			t.Errorf("seed %d: got %q with ids %v, want %q", seed, got, ids, want)
		}
		var strict struct {
			Cells []map[string]any `json:"cells"`
		}
		if err := json.Unmarshal(data, &strict); err != nil {
			t.Fatal(err)
		}
		for _, c := range strict.Cells { // as the format's schema wants it
			_, outputs := c["outputs"]
			_, count := c["execution_count"]
			_, id := c["id"]
			if is := c["cell_type"] == "code"; outputs != is || count != is || id != (seed%2 == 1) {
				t.Errorf("seed %d: %v", seed, c)
			}
		}
	}
}

// A line of blanks is no indentation: what is new does not take it over.
func TestDeepCells(t *testing.T) {
	for _, tt := range []struct{ blanks, unit string }{
		{strings.Repeat(" ", 1<<20), " "}, {"\t", "\t"}, {"        ", "        "},
	} {
		data := strings.ReplaceAll("{\n|\"cells\": [\n|{\"cell_type\": \"markdown\", \"id\": \"a\", \"metadata\": {}, \"source\": [\"x\"]}],\n|\"metadata\": {}, \"nbformat\": 4, \"nbformat_minor\": 5}\n", "|", tt.blanks)
		f := open(t, data)
		f.Insert(1, "x = 1\ny = 2\n", "code")
		f.Replace(0, "y", "")
		made := string(f.Bytes())
		if len(made) > len(data)+500 || f.Size() != len(made) || !strings.Contains(made, ",\n"+strings.Repeat(tt.unit, 2)+"{\n"+strings.Repeat(tt.unit, 3)+"\"cell_type\"") {
			t.Errorf("%.8q: %d bytes became %d: %.300q", tt.blanks, len(data), len(made), strings.ReplaceAll(made, tt.blanks, "|"))
		}
		open(t, made)
	}
}

func TestCellsOfOthers(t *testing.T) {
	for _, tt := range []struct {
		data string
		want error
	}{
		{`{"nbformat":3,"worksheets":[{"cells":[]}]}`, ErrOld},
		{`{"nbformat":3,"cells":[]}`, ErrOld},
		{`{"nbformat":4,"cells":{}}`, ErrFormat},
		{`{"nbformat":4,"cells":[1]}`, ErrFormat},
		{`{"nbformat":4,"cells":[]`, ErrFormat},
		{`{"nbformat":4,"cells":[]} x`, ErrFormat},
		{`[]`, ErrFormat},
		{``, ErrFormat},
	} {
		if _, err := Open([]byte(tt.data)); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.data, err, tt.want)
		}
	}
}

// FuzzOpen: whatever is opened is written back as it was, and stays a notebook.
func FuzzOpen(f *testing.F) {
	f.Add([]byte(written), "x")
	f.Add([]byte(example), "y\n")
	f.Add([]byte(`{"cells":[{ }],"nbformat":4,"cells":[{"source":1,"source":[]},{"outputs":1}]}`), "")
	f.Fuzz(func(t *testing.T, data []byte, source string) {
		n, err := Open(data)
		if err != nil {
			return
		}
		if string(n.Bytes()) != string(data) {
			t.Fatalf("%q became %q", data, n.Bytes())
		}
		count := len(n.cells)
		for i := range n.cells {
			n.Replace(i, source, "code")
		}
		n.Insert(count, source, "raw")
		n.Insert(0, source, "code")
		if count > 0 {
			n.Delete(1)
		}
		again, err := Open(n.Bytes())
		if err != nil {
			t.Fatalf("%q became %q: %v", data, n.Bytes(), err)
		}
		if want := count + 2 - min(count, 1); len(again.cells) != want {
			t.Fatal(fmt.Sprint(len(again.cells), " cells, want ", want))
		}
	})
}
