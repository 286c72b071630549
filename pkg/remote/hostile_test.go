package remote

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agentkit-go/agentkit/pkg/tool"
)

// far is a far end of a shell's words. Before them it reads what it is told, as far as the
// word that its lines must begin with, which is $n.
func far(t *testing.T, words string, within time.Duration) (*Conn, error) {
	t.Helper()
	const begin = `read -r l; read -r l; n=${l%% *}; n=${n#n=}; `
	const hello = `hello() { echo "$n ready"; echo '{"agentkit":"v1","protocol":1,"tools":["read","bash","question"],"root":"/x","level":"L0"}'; while read -r l; do case $l in *'"id":1'*) break;; esac; done; }; `
	target, err := Parse("exec:" + begin + hello + words)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c, err := Dial(t.Context(), Options{Target: target, Self: self, Welcome: struct{}{}, Within: within})
	if c != nil {
		t.Cleanup(c.Close)
	}
	return c, err
}

// TestHostileStart: what does not answer as a shell with agentkit does is an error, soon.
func TestHostileStart(t *testing.T) {
	t.Parallel()
	const late = "was not ready within 1s" // of those that would never be
	const carried = `while [ "$l" != } ]; do read -r l; done; echo "$n needs $(uname -s) $(uname -m)"; read -r l; `
	for _, c := range []struct{ name, words, want string }{
		{"garbage", `yes`, "no shell"},
		{"an endless line", `tr '\0' x </dev/zero`, "too long"},
		{"nothing", `sleep 300`, late},
		{"the end", `exit 3`, "ended before agentkit was there"},
		{"its last words", `printf 'no \033[2J\nentry' >&2; exit 3`, `no \x1b[2J; entry`},
		{"no agentkit", `echo "$n ready"; yes`, "no shell"},
		{"an endless first line", `echo "$n ready"; tr '\0' x </dev/zero`, "too long"},
		{"another protocol", `echo "$n ready"; echo '{"agentkit":"v9","protocol":2}'; sleep 300`, "speaks protocol 2"},
		{"no protocol", `echo "$n ready"; echo '{}'; sleep 300`, "speaks protocol 0"},
		{"an error", `echo "$n ready"; echo '{"error":{"code":"bad_input","message":"no \u001b root %s","hint":"{x} %d"}}'; sleep 300`, `no \x1b root %s`},
		{"another system", `echo "$n needs Plan9 mips"; sleep 300`, "is plan9/mips"},
		{"a guessed word", `echo "agentkit-AAAA ready"; sleep 300`, late},
		{"no room for what is carried", carried + `head -c 1000 >/dev/null; echo "$n fails no room"; exit 1`, "no room"},
		{"the end while it is carried", carried + `head -c 1000 >/dev/null; exit 1`, "ended before agentkit was there"},
		{"a failure", `printf '%s fails no \033room\n' "$n"; sleep 300`, `no \x1broom`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			within := time.Minute
			if c.want == late {
				within = time.Second
			}
			conn, err := far(t, c.words, within)
			if e, ok := errors.AsType[*tool.Error](err); !ok || !strings.Contains(err.Error(), c.want) || e.Hint == "" {
				t.Fatalf("%v %v, want %q", conn, err, c.want)
			}
		})
	}
}

// TestHostileCall: whatever the far end sends for a call, the call ends, and its result
// says who speaks.
func TestHostileCall(t *testing.T) {
	t.Parallel()
	const fine = `echo '{"id":1,"result":{"title":"t","output":"o","metadata":{"a":1,"on":"ssh://bank","on":2}},"exit":0,"output_bytes":1}'; `
	for _, c := range []struct {
		name, words string
		code        tool.Code
		want        string // in the result
	}{
		{"a place of its own", fine, "", `"metadata":{"a":1,"on":"exec:`},
		{"garbage", `yes; sleep 300`, tool.Network, "does not speak"},
		{"no result", `echo '{"id":1,"result":[]}'; sleep 300`, tool.Network, "does not speak"},
		{"no metadata", `echo '{"id":1,"result":{"title":"","output":"","metadata":7}}'; sleep 300`, tool.Network, "no object"},
		{"an output that is none", `echo '{"id":1,"result":{"title":"","output":"","metadata":{}},"output_bytes":9}'; sleep 300`, tool.Network, "not as long"},
		{"a code of its own", `echo '{"id":1,"result":{"title":"","output":"","metadata":{},"error":{"code":"root","message":"x"}}}'; sleep 300`, tool.Network, "a code that there is not"},
		{"attachments without end", `printf '{"id":1,"result":{"title":"","output":"","metadata":{},"attachments":[{}'; yes ',{}' | head -n 3000 | tr -d '\n'; echo ']}}'; sleep 300`, tool.Network, "more attachments than"},
		{"attachments that are none", `echo '{"id":1,"result":{"title":"","output":"","metadata":{},"attachments":{}}}'; sleep 300`, tool.Network, "no list"},
		{"another call's result", `echo '{"id":7,"result":{"title":"","output":"","metadata":{}}}'; sleep 300`, tool.Network, "that nobody made"},
		{"no call's result", `echo '{"id":null,"result":{"title":"","output":"","metadata":{}}}'; sleep 300`, tool.Network, "does not speak"},
		{"a gigabyte", `printf '{"id":1,"result":{"output":"'; head -c 1000000000 /dev/zero | tr '\0' x; sleep 300`, tool.TooLarge, "a line is too long"},
		{"an event that nobody hears", `echo '{"id":1,"event":"output","value":{"text":"x"}}'; sleep 300`, tool.Network, "nobody wants to hear"},
		{"an event that there is not", `echo '{"id":1,"event":"grant","value":{}}'; sleep 300`, tool.Network, "does not speak"},
		{"a question that may not be asked", `echo '{"id":1,"event":"ask","value":{"tool":"bash","id":"a"}}'; sleep 300`, tool.Network, "asks what it may not"},
		{"the end", `exit 1`, tool.Network, "may have been made"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			conn, err := far(t, "hello; "+c.words, time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			r, _ := conn.Call(t.Context(), tool.Peer{}, "read", json.RawMessage(`{}`))
			text, err := json.Marshal(r)
			if err != nil || !strings.Contains(string(text), c.want) || !strings.Contains(string(text), `"on":"exec:read`) {
				t.Errorf("%.2000s %v", text, err)
			}
			if (r.Error == nil) != (c.code == "") || r.Error != nil && (r.Error.Code != c.code || r.Error.Hint == "") {
				t.Errorf("%.2000v, want %q", r.Error, c.code)
			}
		})
	}
}

// TestHalfClosed: a far end that hears nothing more, and does not say so, is noticed before it has
// been silent for long.
func TestHalfClosed(t *testing.T) {
	t.Parallel()
	conn, err := far(t, `echo "$n ready"; echo '{"agentkit":"v1","protocol":1,"tools":["read"],"root":"/x","level":"L0"}'; while [ "$l" != "{}" ]; do read -r l; done; exec <&-; sleep 300`, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(200 * time.Millisecond) // until it has closed its end
	begun := time.Now()
	r, sent := conn.Call(t.Context(), tool.Peer{}, "read", json.RawMessage(`{}`))
	if r.Error == nil || r.Error.Code != tool.Network || !strings.Contains(r.Error.Message, "may have been made") || !sent || !conn.gone() {
		t.Error(r.Error, sent)
	}
	if took := time.Since(begun); took > 2*time.Minute {
		t.Errorf("noticed after %s", took)
	}
}

// TestSilence: a long line that comes slowly is no silence.
func TestSilence(t *testing.T) {
	t.Parallel()
	now := time.Now()
	before := func(d time.Duration) int64 { return now.Add(-d).UnixNano() }
	for _, c := range []struct {
		waits, heard int64
		silent       bool
	}{{before(2 * silence), 0, true}, {before(2 * silence), before(3 * silence), true}, {before(2 * silence), before(time.Second), false}, {before(time.Second), 0, false}, {0, before(2 * silence), false}} {
		conn := &Conn{carrier: new(carrier)}
		conn.waits.Store(c.waits)
		conn.carrier.heard.Store(c.heard)
		if got := conn.silent(now); got != c.silent {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// TestCarriedSlowly: a program that is on its way may take longer than all the rest.
func TestCarriedSlowly(t *testing.T) {
	t.Parallel()
	_, err := far(t, `while [ "$l" != } ]; do read -r l; done; echo "$n needs $(uname -s) $(uname -m)"; read -r h s; `+
		`head -c $((s/3)) >/dev/null; sleep 6; head -c $((s/3)) >/dev/null; sleep 6; head -c $((s - s/3*2)) >/dev/null; hello`, 10*time.Second)
	if err != nil {
		t.Error(err)
	}
}

// TestHostileAsk: who answers learns from this side where the question comes from, and
// nothing of it is taken as this side's. Who asks on and on is no longer listened to.
func TestHostileAsk(t *testing.T) {
	t.Parallel()
	const one = `echo '{"id":1,"event":"ask","value":{"tool":"bash","id":"a","on":"ssh://bank","request":{"always_file":"/etc/x"}}}'; `
	var asked []*tool.Request
	p := tool.Peer{Ask: func(_ context.Context, r *tool.Request) (tool.Answer, error) {
		asked = append(asked, r)
		return tool.Answer{Yes: true, Scope: tool.Always, Rules: []string{"bash(x)"}}, nil
	}}
	conn, err := far(t, "hello; "+one+`read -r l; case $l in *'"decision":"session","rules":["bash(x)"]'*) echo '{"id":1,"result":{"title":"t","output":"","metadata":{}}}'; esac; sleep 300`, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if r, _ := conn.Call(t.Context(), p, "bash", json.RawMessage(`{}`)); r.Error != nil || len(asked) != 1 {
		t.Fatal(r.Error, asked)
	}
	if r := asked[0]; !strings.HasPrefix(r.On, "exec:read") || r.Details.Request.AlwaysFile != "" || r.Uncovered != nil {
		t.Errorf("%+v", r)
	}
	p.Ask = func(ctx context.Context, _ *tool.Request) (tool.Answer, error) {
		<-ctx.Done()
		return tool.Answer{}, context.Cause(ctx)
	}
	if conn, err = far(t, "hello; while :; do "+one+"done", time.Minute); err != nil {
		t.Fatal(err)
	}
	if r, _ := conn.Call(t.Context(), p, "bash", json.RawMessage(`{}`)); r.Error == nil || !strings.Contains(r.Error.Message, "asks what it may not") {
		t.Error(r.Error)
	}
}

// TestHostileSilence: a far end that does not end a call which is cancelled is not waited
// for when the caller is in a hurry.
func TestHostileSilence(t *testing.T) {
	t.Parallel()
	conn, err := far(t, "hello; sleep 300", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	again := make(chan struct{})
	close(again)
	time.AfterFunc(200*time.Millisecond, func() { cancel(&tool.Signal{Number: syscall.SIGTERM, Again: again}) })
	if r, _ := conn.Call(ctx, tool.Peer{}, "read", json.RawMessage(`{}`)); r.Exit() != 128+15 {
		t.Error(r.Error)
	}
}

// TestHostileLate: a call that has ended hears nothing more and asks nobody.
func TestHostileLate(t *testing.T) {
	for _, over := range []bool{false, true} {
		heard := 0
		p := &pending{ctx: t.Context(), name: "bash", over: over, peer: tool.Peer{Hear: func(tool.Event) { heard++ }}}
		if err := p.event(nil, 1, &line{Event: "output", Value: json.RawMessage(`{"text":"late"}`)}); err != nil || heard == 1 == over {
			t.Errorf("over %v: heard %d, %v", over, heard, err)
		}
	}
}
