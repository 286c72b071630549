package syntax

import "testing"

func TestDangling(t *testing.T) {
	before := []byte("package p\n\ntype T int\n\nfunc (T) M() {}\n\nfunc F() {}\n\nvar a, b = 1, 2\n")
	after := []byte("package p\n\ntype T int\n\nvar b = 2\n")
	names := Removed("x.go", before, after)
	if len(names) != 2 || names[0] != "F" || names[1] != "a" {
		t.Fatal(names)
	}
	if Removed("x.py", before, after) != nil || Removed("x.go", before, []byte("package p\nfunc {")) != nil || Removed("x.go", nil, after) != nil {
		t.Error("nothing is known there")
	}
	if names := Removed("x.go", []byte("package p\n\nfunc min(a, b int) int { return a }\n"), []byte("package p\n")); len(names) != 0 {
		t.Errorf("%v is declared by the language", names)
	}
	others := map[string][]byte{
		"uses.go":    []byte("package p\n\nfunc g() { F(); x := a; _ = x }\n"),
		"local.go":   []byte("package p\n\nfunc h(a int) { F := 1; _ = F + a }\n"),
		"other.go":   []byte("package q\n\nvar x = F\n"),
		"broken.go":  []byte("package p\n\nfunc {\n"),
		"ofother.go": []byte("package p\n\nimport \"q\"\n\nvar y = q.F\n"),
	}
	found := Dangling(after, names, others)
	if len(found) != 1 || len(found["uses.go"]) != 2 || found["uses.go"][0].Line != 3 || found["uses.go"][0].Message != "undefined: F" {
		t.Errorf("%v", found)
	}
	others["new.go"] = []byte("package p\n\nfunc F() {}\nvar a int\n")
	if found := Dangling(after, names, others); len(found) != 0 {
		t.Errorf("declared elsewhere: %v", found)
	}
}
