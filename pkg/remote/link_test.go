package remote

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/tool"
)

// TestLink: a call whose far end goes away is sent again over a new connection, with the key
// that it had; what has an answer is not.
func TestLink(t *testing.T) {
	t.Parallel()
	calls := filepath.Join(t.TempDir(), "calls")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// The first two far ends go away with the call, the third one answers.
	target, err := Parse(`exec:read -r l; read -r l; n=${l%% *}; n=${n#n=}; echo "$n ready"; echo '{"agentkit":"v1","protocol":1,"tools":["bash"],"root":"/x","level":"L0"}'; ` +
		`while read -r l; do case $l in *'"name":"bash"'*) printf '%s\n' "$l" >>` + calls + `; [ $(grep -c . ` + calls + `) -gt 2 ] || exit; ` +
		`id=${l#*'"id":'}; echo '{"id":'"${id%%,*}"',"result":{"title":"t","output":"o","metadata":{}},"exit":0,"output_bytes":1}'; esac; done`)
	if err != nil {
		t.Fatal(err)
	}
	l, err := Open(t.Context(), &Options{Target: target, Self: self, Welcome: struct{}{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	for range 2 {
		if r := l.Call(t.Context(), tool.Peer{}, "bash", json.RawMessage(`{}`)); r.Error != nil || r.Output != "o" {
			t.Fatal(r.Error)
		}
	}
	text, err := os.ReadFile(calls)
	keys := regexp.MustCompile(`"idempotency_key":"([^"]+)"`).FindAllStringSubmatch(string(text), -1)
	if err != nil || len(keys) != 4 || keys[0][1] != keys[1][1] || keys[1][1] != keys[2][1] || keys[2][1] == keys[3][1] {
		t.Errorf("%v %s", err, text)
	}
}

// TestLinkUnsent: a call that may have been made is not said to be none because it could not be
// sent again.
func TestLinkUnsent(t *testing.T) {
	t.Parallel()
	started := filepath.Join(t.TempDir(), "started")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// The first far end goes away with the call, the others as soon as they are there, before they hear of it.
	target, err := Parse(`exec:read -r l; read -r l; n=${l%% *}; n=${n#n=}; echo >>` + started + `; count=$(grep -c ^ ` + started + `); ` +
		`echo "$n ready"; echo '{"agentkit":"v1","protocol":1,"tools":["bash"],"root":"/x","level":"L0"}'; [ $count = 1 ] && head -c 100000 >/dev/null`) // which is some of the call
	if err != nil {
		t.Fatal(err)
	}
	l, err := Open(t.Context(), &Options{Target: target, Self: self, Welcome: struct{}{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	long := json.RawMessage(`{"command":"` + strings.Repeat("x", 32<<20) + `"}`) // which takes long to encode
	r := l.Call(t.Context(), tool.Peer{Key: "k7"}, "bash", long)
	if r.Error == nil || r.Error.Code != tool.Network || !strings.Contains(r.Error.Message, "may have been made") || !strings.Contains(r.Error.Hint, "--idempotency-key k7") {
		t.Error(r.Error)
	}
	if text, err := os.ReadFile(started); err != nil || len(text) < 2 {
		t.Errorf("it was tried %d times, %v", len(text), err)
	}
}

// TestLatest: the same, of each try: only one that was sent, or the first, says what came of it.
func TestLatest(t *testing.T) {
	before, again := &tool.Result{}, &tool.Result{}
	for _, c := range []struct {
		sent, now bool
		want      *tool.Result
	}{{false, false, again}, {false, true, again}, {true, true, again}, {true, false, before}} {
		if have := latest(before, again, c.sent, c.now); have != c.want {
			t.Errorf("sent before %v, now %v: the other result", c.sent, c.now)
		}
	}
}

// TestKeptAt: calls that differ in what is told to the far end, or in what may lead elsewhere,
// have no kept connection in common.
func TestKeptAt(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for _, c := range []struct{ target, welcome, around string }{
		{"ssh://a/x", "1", "A=1"}, {"ssh://a/y", "1", "A=1"}, {"ssh://b/x", "1", "A=1"}, {"ssh://a/x", "2", "A=1"}, {"ssh://a/x", "1", "A=2"}, {"ssh://a/x", "1", ""},
	} {
		target, err := Parse(c.target)
		if err != nil {
			t.Fatal(err)
		}
		o := &Options{Target: target, Self: self, Welcome: c.welcome, Around: []string{c.around}, Keep: "/k"}
		at := o.keptAt()
		if at == "" || at != o.keptAt() || seen[at] != "" || !strings.HasPrefix(at, "/k/") {
			t.Errorf("%v: %s, as %s", c, at, seen[at])
		}
		seen[at] = fmt.Sprint(c)
	}
	if at := (&Options{Self: self}).keptAt(); at != "" {
		t.Error(at)
	}
}
