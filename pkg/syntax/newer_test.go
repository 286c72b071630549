package syntax

import (
	"bytes"
	"testing"
	"time"
)

// newer are texts, each correct, of what languages have learned since the grammars were
// written, by the ending of a file.
func newer() map[string][]string {
	return map[string][]string{
		".py": {
			"type Point = tuple[float, float]\n",
			"type Pair[T, *Ts, **P] = dict[T, int]\n",
			"def first[T](items: list[T]) -> T:\n    return items[0]\n",
			"async def f[T: (int, str) = int](x: T) -> T:\n    return x\n",
			"class Box[T]:\n    def get[U](self, x: U) -> T:\n        return self.x\n",
			"class Box[T: int](Base, metaclass=M):\n    pass\n",
			"print(f\"{d[\"key\"]} {', '.join(f\"{x!r}\" for x in xs)}\")\n",
			"x = f\"{\"a\" + f\"{\"b\"}\"}\"\n",
			"t = t\"Hello {name!r:>{width}}\"\n",
			"t = rt'''a {b}\nc'''\n",
			"try:\n    f()\nexcept A, B:\n    pass\n",
			"try:\n    f()\nexcept* A, B:\n    pass\n",
			"try:\n    f()\nexcept* ValueError as e:\n    raise\n",
			"match p:\n    case Point(x=0, y=[a, *_]) if a > 1:\n        pass\n    case {\"k\": v, **rest}:\n        pass\n    case _:\n        pass\n",
			"with (open('a') as a, open('b') as b):\n    pass\n",
			"def f(*args: *Ts) -> None: ...\nx = a[*b]\n",
			"type = 1\nprint(type)\n",
			"@(lambda f: f)\ndef g(a, /, b, *, c): ...\n",
		},
		".ts": {
			"const c = { a: 1 } satisfies Config;\n",
			"class A { accessor name = ''; static accessor #x = 1; }\n",
			"{\n  using f = open();\n  await using g = await h();\n}\n",
			"function f<const T extends readonly unknown[]>(x: T): T { return x; }\n",
			"const f = <const T,>(x: T) => x;\n",
			"class B { m<const T>(x: T) {} }\n",
			"import data from './a.json' with { type: 'json' };\n",
			"export * as ns from './x' with { type: 'json' };\n",
			"import { type A, type B as C } from './x';\n",
			"export type * from './types';\n",
			"export type * as T from './types';\n",
			"enum E { A = `a`, B = 1 << 2 }\n",
			"type G<T> = T extends [infer H extends string, ...infer R] ? H : never;\n",
			"function isA(this: B, x: unknown): asserts x is string {}\n",
			"type Get = { get x(): string; set x(v: string | number); };\n",
			"for (using x of xs) { }\n",
			"import defer * as f from './f';\n",
			"let x = a!.b?.[0]!; const y = <T,>(z: T) => z;\n",
			"class C { @dec() accessor x = 1; override m() {} static { this.y = 1; } }\n",
			"abstract class D { abstract accessor x: number; declare y: string; }\n",
		},
		".js": {
			"import data from './a.json' with { type: 'json' };\n",
			"class A { static { this.x = 1; } #p = 1; has(o) { return #p in o; } }\n",
			"a ??= b; a ||= c; const n = 1_000n;\n",
			"{\n  using f = open();\n  await using g = h();\n}\n",
			"const r = /[\\p{L}--[a-z]]/v;\n",
			"class C { @dec m() {} accessor x = 1; }\n",
			"export { x as 'string name' } from './y';\n",
		},
		".rs": {
			"fn f(o: Option<i32>) -> i32 {\n    let Some(x) = o else { return 0 };\n    x\n}\n",
			"fn f() {\n    if let Some(x) = a && let Some(y) = b && x > y {\n        g();\n    }\n}\n",
			"fn f() {\n    while let Some(x) = it.next() && x > 0 { g(x); }\n}\n",
			"fn f() {\n    let c = async |x: i32| x + 1;\n    let d = async move || { g().await };\n}\n",
			"gen fn count() -> i32 { yield 1; }\n",
			"fn f() { let g = gen { yield 1; }; }\n",
			"unsafe extern \"C\" {\n    pub safe fn sqrt(x: f64) -> f64;\n    pub unsafe fn strlen(p: *const u8) -> usize;\n}\n",
			"#[unsafe(no_mangle)]\npub extern \"C\" fn f() {}\n",
			"fn f<'a>(x: &'a str) -> impl Sized + use<'a> { x }\n",
			"trait A { type B<'a> where Self: 'a; async fn f(&self); }\n",
			"fn f() { let p = &raw const x; let q = &raw mut y; }\n",
			"const fn f<const N: usize>() -> [u8; N] { [0; N] }\nfn g() { f::<{ 1 + 2 }>(); }\n",
			"fn f() { let s = c\"hi\"; let x = const { 1 + 1 }; }\n",
			"fn f(x: u8) { match x { 0..5 => {}, ..=9 => {}, _ if let Some(y) = g() => {}, _ => {} } }\n",
			"fn f() -> impl for<'a> Fn(&'a str) { let g = for<'a> |x: &'a u8| -> &'a u8 { x }; }\n",
			"fn g(f: impl AsyncFn(i32) -> i32) {}\n",
		},
		".rb": {
			"p [1, 2].map { it * 2 }\n",
			"def sq(x) = x * x\ndef self.hi = puts \"hi\"\n",
			"h = {x:, y:}\nf(x:, y: 1)\n",
			"case {name: 'a', n: [1, *]}\nin {name: String => n, n: [Integer, *rest]} unless n.empty?\n  p n\nin ^x | nil then 1\nend\n",
			"def f(*, **, &) = g(*, **, &)\n",
			"def f(...) = g(...)\n",
			"x = [1, 2] in [a, b]\n{a: 1} => {a:}\n",
			"D = Data.define(:a) do\n  def x = a&.b\nend\n",
			"[1].each { p _1 }\nputs(<<~A)\n  hi #{1}\nA\n",
			"case [0, 1]\nin [^(1 - 1), Integer] then 1\nend\n",
			"def a? = b == 1\nprivate def c(x, y = 1) = x + y\n",
		},
		".php": {
			"<?php\nclass A { public string $name { get => $this->n; set(string $v) { $this->n = $v; } } }\n",
			"<?php\nclass A { public private(set) string $x = ''; public function __construct(protected(set) int $y) {} }\n",
			"<?php\n$x = new Foo()->bar()->baz;\n",
			"<?php\nreadonly class P { public function __construct(public int $x = 0, private readonly ?B $b = null) {} }\n",
			"<?php\nenum S: string { case A = 'a'; const X = self::A; public function f(): string { return $this->value; } }\n",
			"<?php\nclass A { const string X = 'a'; final public const int|null Y = 1; }\n",
			"<?php\n$f = strlen(...); $o?->a()?->b; $x = match(true) { $a > 1, default => throw new E(), };\n",
			"<?php\nfunction f((A&B)|null $x): never { exit; }\n",
			"<?php\n#[Attr(1)]\nfunction g(int|string $x, mixed ...$r): static|false { return f(a: 1, b: 2); }\n",
			"<?php\n$c = $obj::{$name}; echo Foo::{$bar};\n",
			"<?php\n$y = $x |> trim(...) |> strtoupper(...);\n",
			"<?php\nabstract class A { abstract public string $n { get; } public int $x { &get => $this->y; } }\n",
			"<?php\ninterface I { public string $n { get; set; } }\n",
			"<?php\nclass A { public ?int $x = 1 { get { return 1; } set => $value + 1; } }\n",
			"<?php\n(function() { return clone($x, ['a' => 1]); })(); true ?: null; function t(): true { return true; }\n",
			"<?php\nclass A { public function __construct(public string $n { get => strtoupper($this->n); }) {} }\n",
		},
		".java": {
			"record P(int x, int y) {}\nclass A { void f(Object o) { if (o instanceof P(int x, var y) && x > 0) {} } }\n",
			"class A { int f(Object o) { return switch (o) { case P(int x, _) when x > 1 -> 1; case String s -> 2; case null, default -> 3; }; } }\n",
			"class A { void f() { try { g(); } catch (E _) { } for (var _ : xs) n++; f(_ -> 1); } }\n",
			"void main() {\n    System.out.println(1);\n}\n",
			"String g() { return \"a\"; }\nvoid main() { println(g()); }\n",
			"class A { String s = STR.\"a \\{x} b\"; }\n",
			"sealed interface S permits A, B {}\nnon-sealed class B implements S {}\nfinal class A implements S {}\n",
			"class A { String s = \"\"\"\n    a \"b\" c\n    \"\"\"; }\n",
			"import module java.base;\nclass A {}\n",
			"class A extends B { A(int x) { if (x < 0) throw new E(); super(x); } }\n",
			"class A { int f(int d) { return switch (d) { case 1, 2 -> { yield 3; } default -> 4; }; } }\n",
			"class A { void f(Object o) { switch (o) { case Box<String>(var s) -> g(s); default -> {} } } }\n",
			"class A { int f(Object o) { return switch (o) { case Integer i when i > 0 -> i; case Color.RED -> 1; default -> 0; }; } }\n",
		},
		".cpp": {"template<typename T> concept C = requires(T a) { { a.f() } -> std::same_as<int>; };\n", "auto f(this auto&& self) { if consteval { return 1; } return x[1, 2]; }\n"},
		".cs":  {"class P(int x) { required public string N { get; init; } = \"\"\"a\"\"\"; int[] a = [1, ..b]; }\n", "using A = (int X, int Y);\n"},
		".kt":  {"value class A(val x: Int)\ncontext(b: B) fun f() = when (x) { is A if x.y -> 1 else -> 2 }\n"},
	}
}

// mistakes are common ones, each in a text that is correct otherwise.
func mistakes() map[string][]string {
	return map[string][]string{
		".py": {
			"t = t\"a {b}\nx = 1\n",
			"t = t\"a\"\ny = (1\n",
			"try:\n    f()\nexcept* A, B\n    pass\n",
			"def f[T = ](x):\n    pass\n",
			"def f[T = int](x)\n    pass\n",
			"class A[T = int]\n    pass\n",
			"def f(x)\n    return x\n",
			"def f(x):\n    return (x\n\ndef g():\n    pass\n",
			"x = [1, 2\ny = 3\n",
			"if x == 1\n    y()\n",
			"s = 'abc\nt = 1\n",
			"def f():\n    x = 1 +\n    return x\n",
			"class A\n    pass\n",
			"for x in y\n    z()\n",
			"def f():\n    retrun x y\n",
			"type X = \n",
			"def f[T(x):\n    pass\n",
			"x = f\"{a\"\ny = 2\n",
			"except A, B:\n    pass\n",
			"x = {'a': 1, 'b' 2}\n",
			"print 'a' 1)\n",
			"```python\nx = 1\n```\n",
		},
		".ts": {
			"export type * from ;\n",
			"import x from './a' with { type: 'json' ;\n",
			"export * as ns from './x' with { type: 'json' };\nfunction f( {}\n",
			"{ using f = ; }\n",
			"for (using x of ) { }\n",
			"import defer * as from './f';\n",
			"function f() {\n  if (x) {\n    g();\n}\n",
			"const a = [1, 2;\n",
			"class A { m() { return 1; }\n",
			"const s = 'abc;\nconst t = 1;\n",
			"function f(a: string b: number) {}\n",
			"interface A { x: ; }\n",
			"const x = ;\n",
			"function f() { return 1; }}\n",
			"const c = { a: 1 satisfies Config;\n",
			"import { a from './x';\n",
			"class A { accessor accessor accessor x y; }\n",
			"function f<const T(x: T) {}\n",
			"using = = 1;\n",
		},
		".js": {
			"{ using f = g(; }\n",
			"class C { accessor x = ; }\n",
			"class C { accessor x = 1; m( {} }\n",
			"function f() {\n  g();\n",
			"const a = {b: 1, c 2};\n",
			"f(1, 2;\n",
			"let s = \"abc;\nlet t;\n",
			"if (x { y(); }\n",
			"class A { m( { } }\n",
			"var f = function() { };  )\n",
		},
		".rs": {
			"fn f() { let c = async |x| ; }\n",
			"fn f() { let c = async |x| (x; }\n",
			"fn f() { let g = gen { yield 1; \n",
			"unsafe extern \"C\" { pub safe fn f(x: f64 -> f64; }\n",
			"fn f() { let p = &raw const ; }\n",
			"fn f() { match x { ..=9 => , _ => {} } }\n",
			"fn f() {\n    g(;\n}\n",
			"fn f( {\n}\n",
			"fn f() {\n    if x {\n}\n",
			"struct A { x: i32 y: i32 }\n",
			"fn f() { let x = ; }\n",
			"fn f() -> { 1 }\n",
			"fn f() { let Some(x) = o else return; }\n",
			"impl A { fn f(&self) { } \n",
			"fn f() { let s = \"abc; }\n",
			"fn f() { match x { 1 => 2 3 => 4 } }\n",
			"fn f() { if let Some(x) = a && { g() } }\n",
			"gen fn f( { yield 1; }\n",
		},
		".rb": {
			"def a = puts 1 +* 2 =>\n",
			"def a = puts \"hi\nx = 1\n",
			"def a = puts (1\n",
			"def a = puts x +\n",
			"def self.a = puts \"hi\"\ndef b\n  1\n",
			"def f\n  x = 1\n",
			"def f(x\n  x\nend\n",
			"class A\n  def f\n    1\n  end\n",
			"x = [1, 2\ny = 2\n",
			"if x\n  y\nend\nend\n",
			"h = {a: 1, b 2}\n",
			"puts \"abc\nx = 1\n",
			"def f(x) = = x\n",
			"[1].each do |x\n  p x\nend\n",
		},
		".php": {
			"<?php\nclass A { public string $a { get { return $this->; } } }\n",
			"<?php\nclass A { public string $a { get { foreach ($x as) { echo ; } } } }\n",
			"<?php\nclass A { public string $a { get => 1 +; } }\n",
			"<?php\nenum A { case B; const C = 1 + ; const D = self::B ::; }\n",
			"<?php\nclass A { public string $n { get => $this->n; set($v) { $this->n = $v; } }\n",
			"<?php\nclass A { public string $n { get => f(; } }\n",
			"<?php\nclass A { public string $n { get $this->n; } }\n",
			"<?php\nclass A { public string $n { get => 1; foo } }\n",
			"<?php\n$x = new Foo(->bar();\n",
			"<?php\n$x = new Foo()->bar(;\n",
			"<?php\n$y = $x |> ;\n",
			"<?php\nclass A { public private(set string $x; }\n",
			"<?php\nenum S { case A; const X = ; }\n",
			"<?php\n$y = clone($x, [1);\n",
			"<?php\nfunction f() {\n  return 1;\n",
			"<?php\n$x = ;\n",
			"<?php\n$x = [1, 2;\n",
			"<?php\nclass A { public $x { get => 1; }\n",
			"<?php\nif ($x { y(); }\n",
			"<?php\n$a = 'abc;\n$b = 1;\n",
			"<?php\nfunction f($a $b) {}\n",
			"<?php\nclass A { public string $n { get => ; } }\n",
			"<?php\n$x = new Foo()->;\n",
			"<?php\nclass A { function f() { return 1; } } }\n",
			"<?php\n$a = 1\n$b = 2;\n",
		},
		".java": {
			"import module java.base\nclass A {}\n",
			"class A extends B { A(int x) { f(); super(x; } }\n",
			"class A extends B { A(int x) { f() super(x); } }\n",
			"class A { void f(Object o) { switch (o) { case Box(var s -> g(s); } } }\n",
			"class A { void f() { g(); }\n",
			"class A { int x = ; }\n",
			"class A { void f() { g(1, 2; } }\n",
			"class A { void f( { } }\n",
			"class A { String s = \"abc; }\n",
			"class A { void f() { if (x) { y(); } } } }\n",
			"class A { void f() { int x = 1 int y = 2; } }\n",
			"void main() {\n    System.out.println(1;\n}\n",
			"class A { int f(Object o) { return switch (o) { case P(int x, _ -> 1; }; } }\n",
			"class A { void f(int a int b) {} }\n",
			"import module ;\nclass A { void f() { (1 } }\n",
		},
	}
}

// TestNewer measures, and holds, how many warnings the grammars give of newer language that
// is correct, and of mistakes.
func TestNewer(t *testing.T) {
	if grammarOf("Python") == nil {
		t.Skip("this build has no grammars")
	}
	valid, alarms, broken, missed := 0, 0, 0, 0
	for ending, texts := range newer() {
		for _, text := range texts {
			valid++
			if found := New("a"+ending, nil, []byte(text)); len(found) > 0 {
				alarms++
				t.Errorf("%s: %q is correct: %v", ending, text, found)
			}
		}
	}
	for ending, texts := range mistakes() {
		for _, text := range texts {
			broken++
			if len(New("a"+ending, nil, []byte(text))) == 0 {
				missed++
				t.Logf("%s: %q has a mistake", ending, text)
			}
		}
	}
	t.Logf("%d of %d correct texts warned about, %d of %d mistakes missed", alarms, valid, missed, broken)
	if missed > mostMissed {
		t.Errorf("%d mistakes were missed, want %d at most", missed, mostMissed)
	}
}

// TestNewerBroken leaves out, or doubles, one bracket, quote or closing word at a time in
// what is newer than the grammars: to read that must not hide the mistake.
func TestNewerBroken(t *testing.T) {
	if grammarOf("Python") == nil {
		t.Skip("this build has no grammars")
	}
	all, missed := 0, 0
	for ending, texts := range newer() {
		if l := languageOf("a"+ending, nil); l == nil || !l.checked() {
			continue
		}
		for _, text := range texts {
			for _, b := range breaks(text) {
				if all++; len(New("a"+ending, nil, []byte(b.text))) == 0 {
					missed++
					t.Logf("%s, %s: %q", ending, b.what, b.text)
				}
			}
		}
	}
	t.Logf("%d of %d mistakes missed", missed, all)
	if missed > mostBroken {
		t.Errorf("%d mistakes were missed, want %d at most", missed, mostBroken)
	}
}

// What the grammars pass over by themselves, or what is none, as a second bracket in a
// regular expression.
const (
	mostMissed = 1
	mostBroken = 27
)

// TestNewerLong: what is mended in a long broken file takes no more time than a few readings of it.
func TestNewerLong(t *testing.T) {
	if grammarOf("Python") == nil {
		t.Skip("this build has no grammars")
	}
	for ending, part := range map[string]string{
		".php": "class A { public $a { get => new A(", ".py": "def f[T = int(", ".rb": "def a = puts (\n", ".rs": "async |gen {", ".js": "using a = (", ".java": "class A { A() { f(); super(1); }; A(int x) { f(); super(",
	} {
		text := []byte("<?php\n")
		if ending != ".php" {
			text = nil
		}
		text = append(text, bytes.Repeat([]byte(part+"\n"), 4900)...)
		text = append(text, bytes.Repeat([]byte(" 'x' "), 100_000)...)
		start := time.Now()
		for _, mend := range languageOf("a"+ending, nil).mends() {
			mend(text, func(string) bool { return true })
		}
		if spent := time.Since(start); spent > 30*time.Second {
			t.Errorf("%s: %s", ending, spent)
		} else {
			t.Logf("%s: %s", ending, spent)
		}
	}
}

// TestConstructors takes super() and this() behind other statements right in a constructor's body,
// whatever stands in comments and strings, and nowhere else.
func TestConstructors(t *testing.T) {
	grammars := grammarOf("Java") != nil // a build without them reads nothing, and mends all the same
	for _, text := range []string{
		"class A extends B {\n    // An A.\n    A(int x) {\n        // it's not less {\n        if (x < 0) { throw new E(\"}\"); } /* } */\n        super(x);\n    }\n}\n",
		"class A<T> { @Inject protected <S> A(S s, int... x) throws E, F { f('{', \"\"\"\n  } \" {\n\"\"\"); this(x); } }\n",
		"record P(int x) { @Deprecated() public P(int x, int y) { check(y); this(x); } P { check(x); } }\n",
		"enum E { X(1) { void m() {} }; private E(int i) { f(); this(); } E() {} }\n",
		"class A { A() { g(); class B { B() { h(); super(); } } this(1); } }\n",
	} {
		if found := New("a.java", nil, []byte(text)); len(found) > 0 || mendConstructors([]byte(text), nil) == nil {
			t.Errorf("%q is correct: %v", text, found)
		}
	}
	for _, text := range []string{
		"class A { void m() { super(); } }\n",
		"class A { void m() { f(); super(); } }\n",
		"class A { void m() { if (x) { f(); } this(1); } A() {} }\n",
		"class A { A() { if (x) { f(); super(); } } }\n",
		"class A { A() { g(); Runnable r = () -> { f(); super(); }; } }\n",
		"class A { static { f(); super(); } A(int x) { f(); } }\n",
		"class A { Object o = new A(1) { void m() { f(); super(); } }; A(int x) {} }\n",
		"class A { void A(int x) { f(); this(); } }\n",
	} {
		if mended := mendConstructors([]byte(text), nil); mended != nil || grammars && len(New("a.java", nil, []byte(text))) == 0 {
			t.Errorf("%q is a mistake, and becomes %q", text, mended)
		}
	}
}
