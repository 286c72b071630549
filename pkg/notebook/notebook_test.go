package notebook

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

const example = `{
 "nbformat": 4, "nbformat_minor": 5,
 "metadata": {"kernelspec": {"language": "Python"}, "language_info": {"name": "Python", "version": 3}},
 "cells": [
  {"cell_type": "markdown", "id": "a1", "source": ["# Title\n", "text"]},
  {"cell_type": "code", "execution_count": 3, "source": "print(1)", "outputs": [
    {"output_type": "stream", "name": "stdout", "text": ["1\n", "\u001b[31mred\u001b[0m\n"]},
    {"output_type": "display_data", "data": {"text/plain": "<Figure>", "image/png": "iVBO\nRw0K"}},
    {"output_type": "execute_result", "data": {"application/vnd.x+json": {"a": 1}, "text/html": "<b>1</b>"}},
    {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["\u001b[0;31mE\u001b[0m: v"]}
  ]},
  {"cell_type": "code", "execution_count": null, "source": [], "outputs": []}
 ]}`

func TestParse(t *testing.T) {
	got, err := Parse([]byte(example))
	if err != nil {
		t.Fatal(err)
	}
	want := &Notebook{Format: "4.5", Language: "python", Cells: []Cell{
		{ID: "a1", Type: "markdown", Source: "# Title\ntext"},
		{ID: "cell-1", Type: "code", Source: "print(1)", Execution: 3, Outputs: []Output{
			{Type: "stream", Stream: "stdout", Text: "1\nred\n"},
			{Type: "display_data", Text: "<Figure>", Images: []Image{{"image/png", []byte("\x89PNG\r\n")}}},
			{Type: "execute_result", Text: "<b>1</b>", Other: []string{"application/vnd.x+json"}},
			{Type: "error", Text: "E: v"},
		}},
		{ID: "cell-2", Type: "code"},
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestParseFormat3(t *testing.T) {
	got, err := Parse([]byte(`{"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": [{"cells": [
	 {"cell_type": "heading", "level": 2, "source": "Part"},
	 {"cell_type": "code", "language": "python", "input": ["1+1"], "prompt_number": 7, "outputs": [
	  {"output_type": "pyout", "text": ["2"], "png": "iVBORw0K"}, {"output_type": "stream", "stream": "stderr", "text": "a\rb\r\n"}]}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := &Notebook{Format: "3.0", Language: "python", Cells: []Cell{
		{ID: "cell-0", Type: "heading", Source: "## Part"},
		{ID: "cell-1", Type: "code", Source: "1+1", Execution: 7, Outputs: []Output{
			{Type: "execute_result", Text: "2", Images: []Image{{"image/png", []byte("\x89PNG\r\n")}}},
			{Type: "stream", Stream: "stderr", Text: "b\n"},
		}},
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestNotANotebook(t *testing.T) {
	for _, text := range []string{"", "[]", "{}", `"x"`, `{"nbformat": 4}`, `{"cells": []}`, `{"nbformat": 4, "cells": [`} {
		if _, err := Parse([]byte(text)); !errors.Is(err, ErrFormat) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestOddTypes checks that one member of a wrong type costs that member alone.
func TestOddTypes(t *testing.T) {
	got, err := Parse([]byte(`{"nbformat": 4, "metadata": {"kernelspec": 7}, "cells": [
	 {"cell_type": 9, "source": "a"}, {"cell_type": "code", "source": {"x": 1}, "execution_count": "?", "outputs": [{"output_type": "stream", "text": 5}]},
	 {"cell_type": "code", "source": "last"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Cells) != 3 || got.Cells[0].Source != "a" || got.Cells[2].Source != "last" {
		t.Errorf("%+v", got)
	}
}

// FuzzParse checks that nothing makes Parse fail in another way than by its
// error, and that what it gives holds no terminal sequences.
func FuzzParse(f *testing.F) {
	f.Add([]byte(example))
	f.Add([]byte(`{"nbformat":3,"worksheets":[{"cells":[{"outputs":[{}]}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		n, err := Parse(data)
		if err != nil {
			if !errors.Is(err, ErrFormat) || n != nil {
				t.Fatalf("%v, %v", n, err)
			}
			return
		}
		if !json.Valid(data) {
			t.Fatal("read what is no JSON")
		}
		for _, c := range n.Cells {
			for _, o := range c.Outputs {
				if strings.Contains(o.Text, "\x1b[") {
					t.Fatalf("%q", o.Text)
				}
			}
		}
	})
}

// TestMany: a file of a few bytes for each of its millions of parts is not read as a notebook.
func TestMany(t *testing.T) {
	for name, c := range map[string]struct {
		cells string
		fine  bool
	}{
		"cells":              {strings.Repeat("{},", maxParts) + "{}", false},
		"what is no cell":    {strings.Repeat("0,", maxParts) + "0", false},
		"outputs":            {strings.Repeat(`{"outputs":[`+strings.Repeat("{},", 999)+"{}]},", 100) + "{}", false},
		"many, not too many": {strings.Repeat(`{"outputs":[{}]},`, maxParts/2-1) + `{"outputs":[{}]}`, true},
	} {
		n, err := Parse([]byte(`{"nbformat":4,"cells":[` + c.cells + `]}`))
		if c.fine != (err == nil) || err != nil && !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
		if c.fine && (len(n.Cells) != maxParts/2 || len(n.Cells[0].Outputs) != 1) {
			t.Errorf("%s: %d cells", name, len(n.Cells))
		}
	}
}
