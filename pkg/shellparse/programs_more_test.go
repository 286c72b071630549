package shellparse

import (
	"slices"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// TestWhatProgramsTouch: what programs with a language or file names of their
// own read, write, reach and start is listed.
func TestWhatProgramsTouch(t *testing.T) {
	b := village(t)
	for _, c := range []struct {
		text               string
		read, write        string // a path
		host, starts       string
		opaque, dangerous  bool
		notRead, notOpaque bool
	}{
		{text: "kubectl create secret generic x --from-file=k=/etc/a", read: "/etc/a"},
		{text: "kubectl apply -f http://h.example/x.yaml", host: "h.example"},
		{text: "kubectl cp /etc/a pod:/b", read: "/etc/a"},
		{text: "kubectl cp pod:/b /etc/a", write: "/etc/a"},
		{text: "kubectl exec -it p -- rm -rf /", opaque: true, notRead: true},
		{text: "kubectl port-forward p 1:2", opaque: true},
		{text: "helm install x ./c -f /etc/a", read: "/etc/a"},
		{text: "helm template x --set-file k=/etc/a", read: "/etc/a"},
		{text: "helm plugin install https://h.example/x", host: "h.example", opaque: true},
		{text: `yq 'load("/etc/a")' a.yaml`, read: "/etc/a"},
		{text: "yq 'load(.x)' a.yaml", opaque: true},
		{text: "yq -i .a=1 /etc/a.yaml", write: "/etc/a.yaml"},
		{text: "convert @/etc/a x.png", read: "/etc/a", opaque: true},
		{text: "convert msl:x y.png", opaque: true},
		{text: "convert ephemeral:/etc/a x.png", write: "/etc/a", opaque: true},
		{text: "convert http://h.example/a.png b.png", host: "h.example"},
		{text: "convert a.png -resize 50% /etc/b.png", write: "/etc/b.png", notOpaque: true},
		{text: "identify /etc/a.png", read: "/etc/a.png", notOpaque: true},
		{text: "ffmpeg -i http://h.example/a b.mp4", host: "h.example"},
		{text: "ffmpeg -i concat:/etc/a|/etc/b x.mp4", starts: "/etc/b"},
		{text: "ffmpeg -i 'concat:/etc/a|/etc/b' x.mp4", read: "/etc/b"},
		{text: "ffmpeg -i a.mp4 -f mpegts tcp://h.example:9", host: "h.example"},
		{text: "ffmpeg -f concat -i l x.mp4", opaque: true},
		{text: "ffmpeg -i a.mp4 -c:v copy /etc/x.mp4", write: "/etc/x.mp4", notOpaque: true},
		{text: "xdg-open http://h.example/", host: "h.example", opaque: true},
		{text: "sqlite3 x.db '.shell pwn a'", starts: "pwn", opaque: true},
		{text: "sqlite3 x.db '.output /etc/a'", write: "/etc/a", opaque: true},
		{text: "sqlite3 x.db \"attach '/etc/a' as y\"", write: "/etc/a", opaque: true},
		{text: "sqlite3 x.db <<< '.system pwn'", starts: "pwn", opaque: true},
		{text: `psql -c '\! pwn'`, starts: "pwn", opaque: true},
		{text: `psql -c "copy t to program 'pwn x'"`, starts: "pwn", opaque: true},
		{text: `mysql -e 'system pwn'`, starts: "pwn", opaque: true},
		{text: "gdb -batch -ex 'shell pwn'", starts: "pwn", opaque: true},
		{text: "lldb -o 'platform shell pwn'", starts: "pwn", opaque: true},
		{text: "dc -e '!pwn'", starts: "pwn", opaque: true},
		{text: "m4 <<< 'esyscmd(`pwn')'", opaque: true},
		{text: "m4 <<< \"syscmd(pwn)\"", starts: "pwn", opaque: true},
		{text: "expect -c 'spawn pwn'", starts: "pwn", opaque: true},
		{text: "cmake -E rm -rf /etc/a", write: "/etc/a", dangerous: true},
		{text: "cmake -E copy /etc/a b", read: "/etc/a"},
		{text: "cmake -E env A=1 pwn x", starts: "pwn", opaque: true},
		{text: "cmake -P x.cmake", opaque: true},
		{text: "cargo watch -s 'pwn a'", starts: "pwn"},
		{text: "cargo watch -x 'run -- a'", starts: "cargo"},
		{text: "cargo watch -- pwn a", starts: "pwn"},
		{text: "cargo -C /etc build", read: "/etc"},
		{text: "bazel build //a/...", notRead: true, notOpaque: true},
		{text: "go version -m /etc/a", read: "/etc/a"},
		{text: "pytest -c /etc/a", read: "/etc/a", opaque: true},
		{text: "deno run http://h.example/x.ts", host: "h.example"},
		{text: "npm run x --script-shell pwn", starts: "pwn", opaque: true},
		{text: "bat --pager='pwn x' a.txt", starts: "pwn", opaque: true},
		{text: "ansible all -m shell -a x", opaque: true},
		{text: "svn diff --diff-cmd pwn", starts: "pwn", opaque: true},
	} {
		a := analyze(b, c.text)
		has := func(want string, f func(*policy.Access) bool) {
			if want != "" && !slices.ContainsFunc(a.Accesses, func(x policy.Access) bool { return f(&x) }) {
				t.Errorf("%s: %s is not listed\n%s", c.text, want, dump(a))
			}
		}
		has(c.read, func(x *policy.Access) bool { return x.Kind == policy.Read && x.Path == c.read })
		has(c.write, func(x *policy.Access) bool { return x.Kind == policy.Write && x.Path == c.write })
		has(c.host, func(x *policy.Access) bool { return x.Kind == policy.Net && x.Host == c.host })
		has(c.starts, func(x *policy.Access) bool { return x.Kind == policy.Exec && len(x.Argv) > 0 && x.Argv[0] == c.starts })
		danger := slices.ContainsFunc(a.Accesses, func(x policy.Access) bool { return x.Danger != "" })
		outside := slices.ContainsFunc(a.Accesses, func(x policy.Access) bool {
			return (x.Kind == policy.Read || x.Kind == policy.Write) && !safefile.Below(b.root, x.Path)
		})
		switch {
		case c.opaque && len(a.Opaque) == 0:
			t.Errorf("%s is clear to us\n%s", c.text, dump(a))
		case c.notOpaque && len(a.Opaque) > 0:
			t.Errorf("%s is opaque: %s", c.text, a.Opaque)
		case c.dangerous && !danger:
			t.Errorf("%s is not dangerous", c.text)
		case c.notRead && outside:
			t.Errorf("%s touches files of this machine\n%s", c.text, dump(a))
		}
	}
}
