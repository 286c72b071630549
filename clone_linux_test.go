package main

import (
	"strings"
	"testing"
)

// TestClone: what a repository of another host has stays when it is cloned, also what no
// command may make, and goes where a command may have made it. The other host is an address
// of a network of its own, which reaches nothing.
func TestClone(t *testing.T) {
	t.Parallel()
	long(t)
	script := `set -e
python3 - <<'EOF'
import fcntl, socket, struct
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
name = lambda n: n.encode().ljust(16, b"\0")
fcntl.ioctl(s, 0x8914, struct.pack("16sh14x", name("lo"), 1 | 64))                                                      # up
fcntl.ioctl(s, 0x8916, struct.pack("16sHH4s8x", name("lo:1"), socket.AF_INET, 0, socket.inet_aton("10.99.0.1")))
EOF
far=$(mktemp -d)
git init -q "$far/x" && cd "$far/x"
mkdir -p .github/workflows .vscode sub/.husky workflows
echo 'on: push' >.github/workflows/ci.yml
echo '{}' >.vscode/settings.json
echo true >sub/.husky/pre-commit
echo 'on: push' >workflows/x.yml
echo int >a.c
ln -s sub .claude
echo 'echo 1 >sourced/.vscode/settings.json' >env.sh
git add -A && git -c user.name=a -c user.email=a@example.com commit -qm x
git clone -q --bare . "$far/x.git" && git -C "$far/x.git" update-server-info
cd - >/dev/null
python3 -m http.server --bind 10.99.0.1 --directory "$far" 8000 >/dev/null 2>&1 &
trap "kill $!; rm -rf $far" EXIT
for i in $(seq 100); do git ls-remote -q http://10.99.0.1:8000/x.git >/dev/null 2>&1 && break; sleep 0.1; done
url=http://10.99.0.1:8000/x.git
mkdir work && cd work
lost() { git -C "$1" status --porcelain | tr '\n' ' '; }
clone() { echo "$1: $("$AGENTKIT" bash "$2" --allow 'net(10.99.0.1:8000)' >/dev/null 2>&1 || echo status $?)$(lost "$1")"; }
AGENTKIT=$1
clone one "git clone -q $url one && cd one && ls -A"
clone two "mkdir two && git clone -q --depth=1 $url two || git clone -q $url two"
clone copied "git clone -q $url copied && tar -C copied -cf - .vscode | tar -C copied/sub -xf -"
clone local "git clone -q one local"
clone set "git -c core.editor=true clone -q $url set"
clone env "GIT_TEMPLATE_DIR=one git clone -q $url env"
git clone -q --bare $url ref.git
clone ref "git clone -q --reference=ref.git $url ref"
clone .github "git clone -q $url .github"
git init -q --bare 10.99.0.1:x
git -C 10.99.0.1:x fetch -q $url HEAD:master
"$AGENTKIT" bash "git clone -q 10.99.0.1:x path" --allow 'net(10.99.0.1)' >/dev/null 2>&1 || :
mkdir -p http:/10.99.0.1:8000
git -C 10.99.0.1:x bundle create -q "$PWD/http:/10.99.0.1:8000/x.git" master
clone bundle "git clone -q -b master $url bundle"
rm -r http:
echo "path: $(lost path)"
clone twice "git clone -q $url twice && git clone -q $url one2"
clone more "git clone -q $url more 2>&1 | tail -n 3; cd more && python3 -c pass && git checkout -q -b x"
clone planted "git clone -q $url planted && python3 -c 'open(\"planted/.vscode/tasks.json\", \"w\")'"
clone changed "git clone -q $url changed && python3 -c 'open(\"changed/.vscode/settings.json\", \"a\").write(\"x\")'"
clone early "python3 -c 'import time; time.sleep(1)' & git clone -q $url early; wait"
echo .vscode/tasks.json >name
clone shell 'f=$(cat name); git clone -q '$url' shell && echo x >"shell/$f"; true'
clone sourced "git clone -q $url sourced && . ./sourced/env.sh"
echo 'a[$(echo 1 >sum/.vscode/tasks.json)]' >sum.txt
clone sum 'git clone -q '$url' sum; read x <sum.txt; echo $((x))'
echo eval >eval.txt
echo 'echo 1 >word/.vscode/tasks.json' >word.txt
clone word 'git clone -q '$url' word; read x <eval.txt; $x "$(cat word.txt)"'
git -C one pack-objects -q --all "$PWD/all" </dev/null >/dev/null && mv all-*.pack all.pack
clone packed "git clone -q $url packed && git index-pack -o packed/.vscode/tasks.json all.pack; true"
mkdir job
field() { python3 -c 'import json, sys; print(json.load(sys.stdin)["metadata"][sys.argv[1]])' "$1"; }
id=$("$AGENTKIT" -o json bash --background "git clone -q $url job" --allow 'net(10.99.0.1:8000)' | field job)
for i in $(seq 60); do case $("$AGENTKIT" -o json output "$id" | field status) in completed) break ;; esac; done
echo "job: $(lost job)"
id=$("$AGENTKIT" -o json bash --background 'sleep 60' | field job)
clone beside "git clone -q $url beside"
"$AGENTKIT" kill "$id" >/dev/null
mkdir near
id=$(cd near && "$AGENTKIT" -o json bash --background 'sleep 60' | field job)
clone near/x "git clone -q $url near/x"
(cd near && "$AGENTKIT" kill "$id" >/dev/null)
clone near/y "git clone -q $url near/y"
"$AGENTKIT" bash 'until [ -e ended ]; do sleep 0.1; done' >/dev/null 2>&1 &
while ! ls "$XDG_STATE_HOME"/agentkit/*/default/sandbox/*.held >/dev/null 2>&1; do sleep 0.1; done
clone before "until [ -e go ]; do sleep 0.1; done; git clone -q $url before" &
while [ "$(ls "$XDG_STATE_HOME"/agentkit/*/default/sandbox/*.held | wc -l)" != 2 ]; do sleep 0.1; done
touch ended
while [ "$(ls "$XDG_STATE_HOME"/agentkit/*/default/sandbox/*.held | wc -l)" != 1 ]; do sleep 0.1; done
touch go
wait $!
mkdir .agentkit
echo 'protect: ["pkg/*/a.c"]' >.agentkit/policy.yaml
clone pkg/x "git clone -q $url pkg/x"
`
	out, err := unshared(t, "-mn", script)
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	stays, goes := " D .claude ", " D .claude  D .github/workflows/ci.yml  D .vscode/settings.json  D sub/.husky/pre-commit "
	for name, want := range map[string]string{
		"one": stays, "two": stays, "twice": stays, "job": stays, "more": stays, "planted": stays, "packed": stays,
		"changed": " D .claude  D .vscode/settings.json ", "early": goes, "shell": goes, "sourced": goes, "sum": goes, "word": goes,
		"near/x": goes, "near/y": stays,
		"copied": goes, "local": goes, "set": goes, "env": goes, "beside": goes, "before": goes,
		"pkg/x": " D .claude  D a.c ",
		"ref":   goes, "path": goes, "bundle": goes, ".github": goes + " D workflows/x.yml ",
	} {
		if line := name + ": " + want + "\n"; !strings.Contains(string(out), line) {
			t.Errorf("want %q in\n%s", line, out)
		}
	}
}
