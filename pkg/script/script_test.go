package script

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestMain makes the test binary the process that a script runs in.
func TestMain(m *testing.M) {
	if Work(os.Args[1:], os.Stdin, os.Stdout) {
		return
	}
	os.Exit(m.Run())
}

// tried runs code with one function, echo, which returns its arguments.
func tried(t *testing.T, code string, change func(*Options)) (*Outcome, error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o := Options{
		Self: self, Code: code, Args: []string{"first", "second"}, Tools: []Function{{"echo", []string{"plain"}}},
		Limits: Limits{Time: time.Minute, Memory: 32 << 20, Calls: 50, Output: 1 << 20},
		Call: func(_ context.Context, name string, args json.RawMessage) json.RawMessage {
			raw, err := json.Marshal(map[string]any{"output": name, "metadata": map[string]any{"args": args}})
			if err != nil {
				t.Error(err)
			}
			return raw
		},
	}
	if change != nil {
		change(&o)
	}
	return Run(t.Context(), o)
}

// TestRun: what a script prints and returns, and what its calls get and give.
func TestRun(t *testing.T) {
	for _, tt := range []struct{ code, printed, value, wrong string }{
		{`print("a", 1, nil, true) print(2.5)`, "a\t1\tnil\ttrue\n2.5\n", "null", ""},
		{`return {1, "b", {c=true}}`, "", `[1,"b",{"c":true}]`, ""},
		{`return {}`, "", `[]`, ""},
		{`return {a=1, [2]=3}`, "", `{"2":3,"a":1}`, ""},
		{`return args[1] .. #args`, "", `"first2"`, ""},
		{`return tools.echo{x=1, y={"z"}}.metadata.args`, "", `{"x":1,"y":["z"]}`, ""},
		{`return tools.echo("p", {x="é\n"}).metadata.args`, "", `{"plain":"p","x":"é\n"}`, ""},
		{`return tools.echo{"p", x=false}.metadata.args`, "", `{"plain":"p","x":false}`, ""},
		{`return tools.echo().metadata.args`, "", `{}`, ""},
		{`local t = tools.echo().metadata.args; t[1] = true; return t`, "", `[true]`, ""},
		{`return {{}, setmetatable({}, {__jsontype = "object"})}`, "", `[[],{}]`, ""},
		{`return jido.echo("p")`, "", `{"args":{"plain":"p"},"output":"echo"}`, ""},
		{`return ("x"):rep(3) .. string.rep("y", -1)`, "", `"xxx"`, ""},
		{`local c = coroutine.wrap(function() coroutine.yield(1) coroutine.yield(2) end) return c() + c()`, "", "3", ""},
		{`return string.format("%s|%d|%5.2f|%-4s|%04d|%x|%%|%c|%q|%i|%g|%+d|%.2s", "a", 3, 2.5, "b", 7, 255, 65, 'a"\n', 3, 0.5, 2, "xyz")`, "", `"a|3| 2.50|b   |0007|ff|%|A|\"a\\\"\\\n\"|3|0.5|+2|xy"`, ""},
		{`return string.format("%s %s %s", nil, true, setmetatable({}, {__tostring = function() return "own" end}))`, "", `"nil true own"`, ""},
		{`return ("%d"):format("12") .. ("%5s"):format("é")`, "", `"12    é"`, ""},
		{`return string.format("%99999999d", 1)`, "", "", "no directive"},
		{`return string.format("%.999f", 1)`, "", "", "no directive"},
		{`return string.format("%*d", 9, 1)`, "", "", "no directive"},
		{`return string.format("%p", {})`, "", "", "no directive"},
		{`return string.format("%v", {})`, "", "", "no directive"},
		{`return string.format("50%")`, "", "", "no directive"},
		{`return string.format("%d")`, "", "", "bad argument #2 to format"},
		{`return string.format("%d", "x")`, "", "", "number expected"},
		{`return string.format("%d", 0/0)`, "", "", "no integer representation"},
		{`return string.format(("%99d"):rep(1000000), 1)`, "", "", "bad argument #3"},
		{`return type(os.time()), os.date`, "", `"number"`, ""},
		{`return pcall(error, "x")`, "", "false", ""},
		{`print("before") error("broken")`, "before\n", "", "broken"},
		{`x = = 1`, "", "", "syntax error"},
		{`return tools.absent`, "", "", `no tool "absent"`},
		{`tools.echo("p", "q")`, "", "", "too many arguments"},
		{`tools.echo{"p", plain="q"}`, "", "", `echo: plain is given twice, as "p" and as "q"`},
		{`tools.echo({plain="q"}, 1)`, "", "", `echo: plain is given twice, as "q" and as 1`},
		{`return tools.echo{"p", plain="p"}.metadata.args`, "", `{"plain":"p"}`, ""},
		{`tools.echo{"p", [0]="q"}`, "", "", "echo: 0 names no parameter"},
		{`tools.echo{[true]="q"}`, "", "", "echo: true names no parameter"},
		{`tools.echo{[1.5]="q"}`, "", "", "echo: 1.5 names no parameter"},
		{`tools.echo{x=print}`, "", "", "a function is no value"},
		{`local t = {} t.t = t return t`, "", "", "holds itself"},
		{`return function() end`, "", "", "a function is no value"},
		{`local function f() return 1 + f() end return f()`, "", "", "called one another 4000 deep"},
		{`return 0/0`, "", "", "NaN is no number that can be handed on"},
		{`return {-1/0}`, "", "", "-Inf is no number that can be handed on"},
		{`error({code = "x", list = {1, 2}})`, "", "", `{"code":"x","list":[1,2]}`},
	} {
		out, err := tried(t, tt.code, nil)
		wrong := ""
		if e, ok := errors.AsType[*Error](err); ok {
			wrong = e.Message
		} else if err != nil {
			t.Errorf("%s: %v", tt.code, err)
		}
		if out.Printed != tt.printed || string(out.Value) != tt.value || (wrong == "") != (tt.wrong == "") || !strings.Contains(wrong, tt.wrong) {
			t.Errorf("%s: printed %q, value %s, %q", tt.code, out.Printed, out.Value, wrong)
		}
	}
}

// escapes are attempts to reach what a script must not reach. Each is an expression that is
// nil or fails; SECRET stands for a file.
const escapes = `
io
io.open("SECRET")
io.lines("SECRET")
io.popen("cat SECRET"):read("*a")
os.execute
os.execute("touch PLANTED")
os.exit
os.exit(0)
os.getenv("PATH")
os.remove("SECRET")
os.rename("SECRET", "PLANTED")
os.tmpname()
os.setenv("A", "b")
os.setlocale("C")
require
require("os")
require("io")
module
module("x")
package
package.path
package.loaded
package.loaded.io
package.loadlib("libc.so.6", "system")
package.preload
package.loaders
package.seeall
dofile
dofile("SECRET")
loadfile
loadfile("SECRET")
load
load("return 1")
load(function() return nil end)
loadstring
loadstring("return io")()
loadstring("\27Lua")
string.dump
string.dump(print)
debug
debug.getinfo(1)
debug.getregistry()
debug.setmetatable
debug.getupvalue(tools.echo, 1)
debug.sethook
getfenv
getfenv(0)
getfenv(print).io
setfenv
setfenv(1, {})
collectgarbage
collectgarbage("collect")
newproxy
newproxy(true)
channel
channel.make(1)
_printregs
_GOPHER_LUA_VERSION
_G.io
_G.os.execute
_G["require"]
rawget(_G, "load")
rawget(_G, "package")
getmetatable(_G)
getmetatable("").__index.dump
getmetatable(tools).__index(tools, "io")
getmetatable("").__metatable
("x").dump
tools.io
jido.os
coroutine.running().io
select("#", io) == 1 and io
math.io
table.io
string.io
tostring(nil):dump()
unpack({}).io
`

// TestEscapes: none of them gets anywhere, and nothing is read or left behind.
func TestEscapes(t *testing.T) {
	dir := t.TempDir()
	secret, planted := filepath.Join(dir, "secret"), filepath.Join(dir, "planted")
	if err := os.WriteFile(secret, []byte("return 'secret'"), 0o600); err != nil {
		t.Fatal(err)
	}
	var code strings.Builder
	code.WriteString("local found = {}\nlocal function try(name, f) local ok, v = pcall(f) if ok and v ~= nil and v ~= false then found[#found + 1] = name end end\n")
	count := 0
	for line := range strings.Lines(escapes) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		count++
		line = strings.NewReplacer("SECRET", filepath.ToSlash(secret), "PLANTED", filepath.ToSlash(planted)).Replace(line)
		code.WriteString("try([==[" + line + "]==], function() return " + line + " end)\n")
	}
	out, err := tried(t, code.String()+"try('control', function() return os.time end)\nreturn found", nil)
	if err != nil || string(out.Value) != `["control"]` {
		t.Errorf("%v: these got somewhere: %s", err, out.Value)
	}
	if count < 60 {
		t.Errorf("only %d were tried", count)
	}
	if _, err := os.Stat(planted); err == nil {
		t.Error("a file was made")
	}
	if raw, err := os.ReadFile(secret); err != nil || len(raw) == 0 {
		t.Error("the file is gone")
	}
}

// TestLimits: whatever a script does, it ends by a limit that says which it is.
func TestLimits(t *testing.T) {
	short := func(o *Options) { o.Limits.Time = 400 * time.Millisecond }
	for _, tt := range []struct {
		name, code, what string
		change           func(*Options)
	}{
		{"an endless loop", `while true do end`, "time", short},
		{"one that catches its errors", `while true do pcall(error) end`, "time", short},
		{"a pattern bomb", `return string.find(("a"):rep(60), ("a?"):rep(60) .. ("a"):rep(60) .. "b")`, "time", short},
		{"a string that doubles", `local s = "x" while true do s = s .. s end`, "memory", nil},
		{"a table without end", `local t = {} local i = 1 while true do t[i] = i i = i + 1 end`, "memory", nil},
		{"a long concatenation", `local t = {} for i = 1, 2000 do t[i] = ("x"):rep(1000) end local u = {} for i = 1, 1000 do u[i] = table.concat(t) end return #u`, "memory", nil},
		{"a huge replacement", `return (("x"):rep(100000):gsub(".", ("y"):rep(100000)))`, "memory", nil},
		{"closures", `local f = function() end while true do local g = f f = function() return g end end`, "memory", nil},
		{"a million calls", `for i = 1, 1000000 do pcall(tools.echo, {}) end`, "calls", nil},
		{"much output", `while true do print(("x"):rep(1000)) end`, "output", nil},
		{"code nested deeply", "return " + strings.Repeat("{", 300000) + strings.Repeat("}", 300000), "", nil},
		{"deep recursion", `local function f() return 1 + f() end return f()`, "", nil},
		{"recursion in a pattern", `return string.find(("x"):rep(5000000), (".-"):rep(20) .. "y")`, "", func(o *Options) { o.Limits.Time = 2 * time.Second }},
		{"a huge repetition", `return ("x"):rep(1e9)`, "", nil},
		{"sorting without an order", `local t = {} for i = 1, 10000 do t[i] = i end table.sort(t, function() return true end) return #t`, "", nil},
	} {
		began := time.Now()
		out, err := tried(t, tt.code, tt.change)
		limit, limited := errors.AsType[*Limit](err)
		_, mistaken := errors.AsType[*Error](err)
		switch {
		case tt.what != "" && (!limited || limit.What != tt.what):
			t.Errorf("%s: %v", tt.name, err)
		case tt.what == "" && !limited && !mistaken && tt.name != "sorting without an order":
			t.Errorf("%s: %v %.100s", tt.name, err, out.Value)
		}
		t.Logf("%s: %v: %.80v", tt.name, time.Since(began).Round(time.Millisecond), err)
	}
}

// TestCancelled: who makes the call can end it.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	_, err = Run(ctx, Options{
		Self: self, Code: `print("x") tools.echo{} while true do end`, Tools: []Function{{"echo", nil}},
		Limits: Limits{Time: time.Minute, Memory: 32 << 20, Calls: 50, Output: 1 << 20},
		Call: func(context.Context, string, json.RawMessage) json.RawMessage {
			cancel()
			return json.RawMessage("{}")
		},
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestEndsWithCaller: a script whose caller was killed ends, also one that calls nothing.
func TestEndsWithCaller(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), self, WorkArg)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if err := json.NewEncoder(in).Encode(order{Code: "while true do end", Memory: 32 << 20}); err != nil {
		t.Fatal(err)
	}
	if err := in.Close(); err != nil { // as the kernel does for a caller that was killed
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("it goes on")
	}
}
