package syntax

import (
	"errors"
	"strings"
	"testing"
)

// TestNarrow looks names up as people write them, in the code where they are
// common. The line is the one on which the symbol that is meant stands; 0 is
// for a name that really is ambiguous.
func TestNarrow(t *testing.T) {
	for _, file := range []struct {
		name, text string
		want       map[string]int
	}{
		{"a.cs", "class Store {\n  public Store() {}\n  public Store(int a) {}\n  IEnumerator IEnumerable.Get() => null;\n  public T Get() => x;\n  void Add(int a) {}\n  void Add(int a, string b) {}\n}\nclass Store<T> {\n  public Store() {}\n}\n", map[string]int{
			"Store": 1, "Store.Get": 5, "Get": 5, "IEnumerable.Get": 4, "Add": 0, "Add(int, string)": 7, "Store.Add(int)": 6, "class Store": 1,
		}},
		{"a.cc", "class Shape {\n public:\n  Shape();\n  explicit Shape(int a) {}\n  ~Shape();\n};\nShape::Shape() {}\nint Shape::area() const { return 1; }\n", map[string]int{
			"Shape": 1, "Shape::area": 8, "Shape::~Shape": 5,
		}},
		{"a.ex", "defmodule A.B do\n  @doc \"sums\"\n  def sum([]), do: 0\n  def sum([h | t]), do: h + sum(t)\n  def sum(l, n), do: sum(l) + n\n  defp one(a), do: a\nend\n", map[string]int{
			"sum/1": 3, "A.B.sum/2": 5, "sum": 0, "one": 6, "A.B": 1,
		}},
		{"a.rs", "struct Port(u16);\nimpl Port {\n    fn new() -> Self { Port(0) }\n}\nimpl From<u8> for Port {\n    fn from(n: u8) -> Self { Port(0) }\n}\nimpl From<u16> for Port {\n    fn from(n: u16) -> Self { Port(n) }\n}\nimpl<T: Clone> std::fmt::Display for Port {\n    fn fmt(&self) {}\n}\n", map[string]int{
			"Port": 1, "Port::new": 3, "From<u8>": 5, "From<u16>::from": 9, "<Port as From<u8>>::from": 6, "Port::fmt": 12, "Display": 11, "impl Port": 2, "from": 0, "Port.Display.fmt": 12, "impl From<u16> for Port": 8,
		}},
		{"a.py", "class Box:\n    @property\n    def width(self):\n        return 1\n\n    @width.setter\n    def width(self, v):\n        pass\n", map[string]int{
			"width": 3, "Box.width": 3, "width.setter": 7, "Box.width.setter": 7, "Box.width.getter": 3,
		}},
		{"a.ts", "class Box {\n  get width() { return 1; }\n  set width(v) {}\n  set only(v) {}\n}\n", map[string]int{
			"width": 2, "set width": 3, "get width": 2, "Box.only": 4,
		}},
		{"a.go", "package a\n\ntype Server struct{}\n\nfunc (s *Server) ServeHTTP() {}\n\nfunc ServeHTTP() {}\n", map[string]int{
			"(*Server).ServeHTTP": 5, "(Server).ServeHTTP": 5, "func (s *Server) ServeHTTP": 5, "Server.ServeHTTP()": 5, "func ServeHTTP": 7,
		}},
	} {
		symbols, err := Outline(file.name, []byte(file.text))
		if errors.Is(err, ErrNoGrammar) {
			continue
		}
		for name, line := range file.want {
			found, _ := Find(symbols, name)
			found = Narrow(found, name)
			switch {
			case line == 0 && len(found) < 2, line > 0 && len(found) != 1, line > 0 && found[0].Line != line:
				t.Errorf("%s: %s gives %s, want line %d", file.name, name, strings.TrimSpace(render(found)), line)
			}
		}
	}
}
