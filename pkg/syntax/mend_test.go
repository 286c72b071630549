package syntax

import "testing"

// TestMendScript mends what the grammar cannot read, and leaves all else as it is.
func TestMendScript(t *testing.T) {
	for in, want := range map[string]string{
		"type A = {\n  <T>(t: T): T\n  <U>(u: U): U\n}":        "type A = {\n  <T>(t: T): T\n ;<U>(u: U): U\n}",
		"type A = {\n  a: B // b\n  <\n    U\n  >(u: U): U\n}": "type A = {\n  a: B // b\n ;<\n    U\n  >(u: U): U\n}",
		"interface A<out B, in out C> {}":                      "interface A<    B,        C> {}",
		"class A<in B extends C<in>> {}":                       "class A<   B extends C<in>> {}",
		"type A = {\n  <T>(t: T): T\n}":                        "",
		"const f =\n  <T>(t: T) => t":                          "",
		"f(\n  <T>(t: T) => t,\n  <U>(u: U) => u)":             "",
		"a\n  < b": "",
		"type A<T> = T extends\n  <U>(u: U) => U ? 1 : 2": "",
		"for (const k in out) { if (a < in_b) {} }":       "",
		"interface A<out> {}":                             "",
		"interface A<in extends B> {}":                    "",
		"// a\n/* b */ `c\n <d>`; '<e>'":                  "",
	} {
		got := string(mendScript([]byte(in), nil))
		if got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
