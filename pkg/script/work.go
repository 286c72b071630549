package script

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"time"

	lua "github.com/yuin/gopher-lua"
)

// Work is the process that runs a script, where args ask for one.
func Work(args []string, stdin io.Reader, stdout io.Writer) (handled bool) {
	if len(args) != 1 || args[0] != WorkArg {
		return false
	}
	debug.SetMaxStack(32 << 20)
	w := &worker{answers: make(chan []byte), gone: make(chan struct{}), out: stdout}
	go w.read(stdin)
	o, ok := w.order()
	if !ok {
		return true
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.run(o)
	}()
	select {
	case <-done:
	case <-w.gone:
	}
	return true
}

// A worker is that process's side of the talk.
type worker struct {
	answers chan []byte   // lines of the caller
	gone    chan struct{} // closed when the caller has ended, however it did: the script ends, too
	mu      sync.Mutex
	out     io.Writer
	over    bool // nothing is sent any more
}

func (w *worker) order() (o order, ok bool) {
	line, err := w.line()
	return o, err == nil && json.Unmarshal(line, &o) == nil
}

func (w *worker) read(stdin io.Reader) {
	defer close(w.gone)
	in := bufio.NewReaderSize(stdin, 64<<10)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		w.answers <- line
	}
}

func (w *worker) line() ([]byte, error) {
	select {
	case line := <-w.answers:
		return line, nil
	case <-w.gone:
		return nil, io.EOF
	}
}

// send writes a step; last says that no other one follows.
func (w *worker) send(s step, last bool) {
	raw, err := json.Marshal(s)
	if err != nil {
		raw, _ = json.Marshal(step{Error: err.Error()})
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return
	}
	w.over = last
	_, _ = w.out.Write(append(raw, '\n'))
}

// maxCalls is how many calls of functions may be open at a time.
const maxCalls = 4000

// run runs the script and tells what came of it.
func (w *worker) run(o order) {
	debug.SetMemoryLimit(int64(o.Memory) / 4 * 3)
	go w.watch(uint64(o.Memory))
	l := lua.NewState(lua.Options{SkipOpenLibs: true, CallStackSize: maxCalls, RegistrySize: 4 << 10, RegistryMaxSize: 1 << 20, RegistryGrowStep: 4 << 10, MinimizeStackMemory: true})
	w.open(l, o)
	value, err := evaluate(l, o.Code)
	if err != nil {
		w.send(step{Error: message(err)}, true)
		return
	}
	w.send(step{Done: true, Value: value}, true)
}

// watch tells when the script holds more memory than it may. It ends by being killed.
func (w *worker) watch(most uint64) {
	held := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	for {
		if metrics.Read(held); held[0].Value.Uint64() > most {
			w.send(step{Limit: "memory"}, true)
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
}

func evaluate(l *lua.LState, code string) (json.RawMessage, error) {
	f, err := l.Load(strings.NewReader(code), "script")
	if err != nil {
		return nil, err
	}
	l.Push(f)
	if err := l.PCall(0, 1, nil); err != nil {
		return nil, err
	}
	return encode(l.Get(-1), 0)
}

// message is an error in Lua's words, without Go's.
func message(err error) string {
	text := err.Error()
	if e, ok := err.(*lua.ApiError); ok { //nolint:errorlint // the library returns it as it is
		text = e.Object.String()
		if e.Object == lua.LNil && e.Cause != nil {
			text = e.Cause.Error()
		}
		if raw, err := encode(e.Object, 0); err == nil && e.Object.Type() == lua.LTTable {
			text = string(raw)
		}
	}
	text, _, _ = strings.Cut(text, "\nstack traceback")
	if strings.HasSuffix(text, "callstack overflow") {
		return fmt.Sprintf("functions have called one another %d deep, which is the limit", maxCalls)
	}
	return strings.TrimSpace(text)
}

// open gives the script what it may use, and nothing else.
func (w *worker) open(l *lua.LState, o order) {
	for _, lib := range []struct {
		name string
		open lua.LGFunction
		keep string
	}{
		{lua.BaseLibName, lua.OpenBase, "assert error getmetatable ipairs next pairs pcall rawequal rawget rawset select setmetatable tonumber tostring type unpack xpcall _G _VERSION"},
		{lua.TabLibName, lua.OpenTable, "concat getn insert maxn remove sort"},
		{lua.StringLibName, lua.OpenString, "__index byte char find format gfind gmatch gsub len lower match rep reverse sub upper"},
		{lua.MathLibName, lua.OpenMath, ""},
		{lua.CoroutineLibName, lua.OpenCoroutine, ""},
		{lua.OsLibName, lua.OpenOs, "clock date difftime time"},
	} {
		l.Push(l.NewFunction(lib.open))
		l.Push(lua.LString(lib.name))
		l.Call(1, 0)
		t, _ := l.GetGlobal(lib.name).(*lua.LTable)
		if lib.name == lua.BaseLibName {
			t = l.G.Global
		}
		if lib.keep == "" {
			continue
		}
		keep := strings.Fields(lib.keep)
		var drop []lua.LValue
		t.ForEach(func(k, _ lua.LValue) {
			if !slices.Contains(keep, k.String()) {
				drop = append(drop, k)
			}
		})
		for _, k := range drop {
			t.RawSet(k, lua.LNil)
		}
	}
	strs, _ := l.GetGlobal(lua.StringLibName).(*lua.LTable)
	strs.RawSetString("rep", l.NewFunction(func(l *lua.LState) int {
		text, n := l.CheckString(1), max(l.CheckInt(2), 0)
		if n > 0 && len(text) > maxStep/n {
			l.RaiseError("string.rep: the result is larger than %d MiB", maxStep>>20)
		}
		l.Push(lua.LString(strings.Repeat(text, n)))
		return 1
	}))
	strs.RawSetString("format", l.NewFunction(format))
	l.SetGlobal("print", l.NewFunction(w.print))
	args := l.NewTable()
	for _, a := range o.Args {
		args.Append(lua.LString(a))
	}
	l.SetGlobal("args", args)
	w.tools(l, o.Tools)
	session := l.NewTable()
	session.RawSetString("get", l.NewFunction(w.sessionGet))
	session.RawSetString("set", l.NewFunction(w.sessionSet))
	session.RawSetString("keys", l.NewFunction(w.sessionKeys))
	l.SetGlobal("session", session)
}

// values asks the caller for the session's values, or to keep one.
func (w *worker) values(s step) (a answer, err error) {
	w.send(s, false)
	line, err := w.line()
	if err == nil {
		err = json.Unmarshal(line, &a)
	}
	if err == nil && a.Error != "" {
		err = errors.New(a.Error)
	}
	return a, err
}

// refused is nil and what is wrong, as a function's results.
func refused(l *lua.LState, err error) int {
	l.Push(lua.LNil)
	l.Push(lua.LString(err.Error()))
	return 2
}

// sessionGet is session.get(key, default): the value, or the default where there is none.
func (w *worker) sessionGet(l *lua.LState) int {
	key, otherwise := l.CheckString(1), l.Get(2)
	a, err := w.values(step{Ask: "values", Key: key})
	if err != nil {
		return refused(l, err)
	}
	raw, ok := a.Values[key]
	if !ok {
		l.Push(otherwise)
		return 1
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return refused(l, err)
	}
	l.Push(decode(l, v))
	return 1
}

// sessionSet is session.set(key, value): true. nil removes the value.
func (w *worker) sessionSet(l *lua.LState) int {
	key := l.CheckString(1)
	l.CheckAny(2)
	raw, err := encode(l.Get(2), 0)
	if err == nil {
		_, err = w.values(step{Ask: "set", Key: key, Args: raw})
	}
	if err != nil {
		return refused(l, err)
	}
	l.Push(lua.LTrue)
	return 1
}

// sessionKeys is session.keys(): the keys in their order.
func (w *worker) sessionKeys(l *lua.LState) int {
	a, err := w.values(step{Ask: "values"})
	if err != nil {
		return refused(l, err)
	}
	list := l.NewTable()
	for _, key := range slices.Sorted(maps.Keys(a.Values)) {
		list.Append(lua.LString(key))
	}
	l.Push(list)
	return 1
}

// print is Lua's print.
func (w *worker) print(l *lua.LState) int {
	var words []string
	for i := 1; i <= l.GetTop(); i++ {
		words = append(words, l.ToStringMeta(l.Get(i)).String())
	}
	text := strings.Join(words, "\t") + "\n"
	w.send(step{Print: &text}, false)
	return 0
}

// A jidoName is what a function of jido by another name than ours calls.
type jidoName struct {
	tool, plain string // its one plain parameter
	also        map[string]lua.LValue
}

// jidoNames are those functions: of jido's scripts, and by the names that its models know.
func jidoNames() map[string]jidoName {
	grep := jidoName{"grep", "pattern", nil}
	shell := jidoName{"bash", "command", map[string]lua.LValue{"split": lua.LTrue}}
	background := jidoName{"bash", "command", map[string]lua.LValue{"background": lua.LTrue}}
	output, kill := jidoName{"output", "id", nil}, jidoName{"kill", "id", nil}
	return map[string]jidoName{
		"grep_search": grep, "shell": shell, "bash_execute": shell, "shell_background": background, "bash_background": background,
		"shell_output": output, "bash_output": output, "shell_kill": kill, "kill_shell": kill,
	}
}

// tools gives the script the tables tools, whose functions return the result, and
// jido, whose functions return a value, or nil and what is wrong.
func (w *worker) tools(l *lua.LState, list []Function) {
	tools, jido := l.NewTable(), l.NewTable()
	for _, f := range list {
		tools.RawSetString(f.Name, l.NewFunction(func(l *lua.LState) int {
			l.Push(w.call(l, f, nil))
			return 1
		}))
		jido.RawSetString(f.Name, l.NewFunction(func(l *lua.LState) int { return valued(l, w.call(l, f, nil)) }))
	}
	for name, f := range jidoNames() {
		jido.RawSetString(name, l.NewFunction(func(l *lua.LState) int {
			return valued(l, w.call(l, Function{f.tool, []string{f.plain}}, f.also))
		}))
	}
	unknown := l.NewTable()
	unknown.RawSetString("__index", l.NewFunction(func(l *lua.LState) int {
		l.RaiseError("there is no tool %q", l.Get(2).String())
		return 0
	}))
	l.SetMetatable(tools, unknown)
	l.SetMetatable(jido, unknown)
	l.SetGlobal("tools", tools)
	l.SetGlobal("jido", jido)
}

// valued turns a result into a value, or nil and what is wrong.
func valued(l *lua.LState, result lua.LValue) int {
	r, _ := result.(*lua.LTable)
	if r == nil {
		l.Push(lua.LNil)
		l.Push(lua.LString("no result"))
		return 2
	}
	if e, ok := r.RawGetString("error").(*lua.LTable); ok {
		l.Push(lua.LNil)
		l.Push(e.RawGetString("message"))
		return 2
	}
	value, ok := r.RawGetString("metadata").(*lua.LTable)
	if !ok {
		value = l.NewTable()
	}
	value.RawSetString("output", r.RawGetString("output"))
	if job := value.RawGetString("job"); job != lua.LNil {
		value.RawSetString("shell_id", job) // as jido calls it
	}
	l.Push(value)
	return 1
}

// call makes a call with the arguments on the stack: values of the plain parameters,
// and a table of those with names, in which plain ones may stand too.
func (w *worker) call(l *lua.LState, f Function, also map[string]lua.LValue) lua.LValue {
	all, plain := l.NewTable(), 0
	set := func(name string, v lua.LValue) {
		if have := all.RawGetString(name); have != lua.LNil && have != v {
			l.RaiseError("%s: %s is given twice, as %s and as %s; give it once", f.Name, name, brief(have), brief(v))
		}
		all.RawSetString(name, v)
	}
	positional := func(v lua.LValue) {
		if plain >= len(f.Plain) {
			l.RaiseError("%s: too many arguments; give the others by name, as in %s{name=value}", f.Name, f.Name)
		}
		set(f.Plain[plain], v)
		plain++
	}
	for i := 1; i <= l.GetTop(); i++ {
		t, ok := l.Get(i).(*lua.LTable)
		if !ok {
			positional(l.Get(i))
			continue
		}
		length := t.Len()
		for n := 1; n <= length; n++ {
			positional(t.RawGetInt(n))
		}
		t.ForEach(func(k, v lua.LValue) {
			if n, ok := k.(lua.LNumber); ok && n >= 1 && n <= lua.LNumber(length) && n == lua.LNumber(int(n)) {
				return // it was taken above
			}
			name, ok := k.(lua.LString)
			if !ok {
				l.RaiseError("%s: %s names no parameter; give it by name, as in %s{name=value}", f.Name, brief(k), f.Name)
			}
			set(string(name), v)
		})
	}
	for name, v := range also {
		all.RawSetString(name, v)
	}
	args, err := encode(all, 0)
	if err != nil {
		l.RaiseError("%s: %s", f.Name, err.Error())
	}
	if string(args) == "[]" {
		args = json.RawMessage("{}")
	}
	w.send(step{Call: f.Name, Args: args}, false)
	line, err := w.line()
	var result any
	if err == nil {
		err = json.Unmarshal(line, &result)
	}
	if err != nil {
		l.RaiseError("%s: %s", f.Name, err.Error())
	}
	return decode(l, result)
}

// brief is a value as an error shows it.
func brief(v lua.LValue) string {
	if text, ok := v.(lua.LString); ok {
		return fmt.Sprintf("%.40q", string(text))
	}
	return fmt.Sprintf("%.40s", v.String())
}

// maxDepth bounds how deep a value may be nested.
const maxDepth = 60

// jsonType is the field of a metatable that says of an empty table whether it is an object.
// Its name is the one that Lua's libraries for JSON use.
const jsonType = "__jsontype"

// encode is v as JSON: a table whose keys count from 1 is a list, so an empty one is, too,
// unless its metatable says otherwise.
func encode(v lua.LValue, depth int) (json.RawMessage, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("a table is nested more than %d deep, or holds itself", maxDepth)
	}
	switch v := v.(type) {
	case *lua.LNilType:
		return json.RawMessage("null"), nil
	case lua.LBool:
		return json.Marshal(bool(v))
	case lua.LNumber:
		if n := float64(v); math.IsNaN(n) || math.IsInf(n, 0) {
			return nil, fmt.Errorf("%v is no number that can be handed on", n)
		}
		return json.Marshal(float64(v))
	case lua.LString:
		return json.Marshal(string(v))
	case *lua.LTable:
		list, object := []json.RawMessage{}, map[string]json.RawMessage{}
		size, n := 0, v.Len()
		var wrong error
		v.ForEach(func(k, item lua.LValue) {
			raw, err := encode(item, depth+1)
			if err != nil {
				wrong = err
			}
			size++
			object[k.String()] = raw
		})
		if wrong != nil {
			return nil, wrong
		}
		for i := 1; i <= n; i++ {
			item, ok := object[lua.LNumber(i).String()]
			if !ok || size != n {
				return json.Marshal(object)
			}
			list = append(list, item)
		}
		if meta, ok := v.Metatable.(*lua.LTable); size > n || size == 0 && ok && meta.RawGetString(jsonType) == lua.LString("object") {
			return json.Marshal(object)
		}
		return json.Marshal(list)
	}
	return nil, fmt.Errorf("a %s is no value that can be handed on", v.Type())
}

// decode is a value of JSON in Lua.
func decode(l *lua.LState, v any) lua.LValue {
	switch v := v.(type) {
	case bool:
		return lua.LBool(v)
	case float64:
		return lua.LNumber(v)
	case string:
		return lua.LString(v)
	case []any:
		t := l.CreateTable(len(v), 0)
		for i, item := range v {
			t.RawSetInt(i+1, decode(l, item))
		}
		return t
	case map[string]any:
		t := l.CreateTable(0, len(v))
		if len(v) == 0 {
			meta := l.NewTable()
			meta.RawSetString(jsonType, lua.LString("object"))
			t.Metatable = meta
		}
		for name, item := range v {
			t.RawSetString(name, decode(l, item))
		}
		return t
	}
	return lua.LNil
}
