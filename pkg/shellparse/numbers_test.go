package shellparse

import (
	"slices"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// TestNumbers: what a count becomes in arithmetic and in tests, where bash evaluates what is
// not a number, needs no question; what may be anything does.
func TestNumbers(t *testing.T) {
	b := newBench(t)
	b.repo(t, "main.go", "README.md", "log", "src/a.go")
	known := func(command string) bool {
		list := Analyze(t.Context(), command, "bash", b.world()).Accesses
		return !slices.ContainsFunc(list, func(a policy.Access) bool { return a.Opaque != "" })
	}
	for _, command := range []string{
		`[ $(wc -l <main.go) -gt 3 ]`,
		`[ $(wc -l < main.go 2>/dev/null) -gt 3 ]`,
		`test $(wc -l < main.go) -gt 3`,
		`(( $(wc -l < main.go) > 3 ))`,
		`(( "$(wc -l < main.go)" > 3 ))`,
		`[[ $(wc -l < main.go) -gt 3 ]]`,
		`[[ "$(wc -l < main.go)" -gt 3 ]]`,
		`n=$(wc -l < main.go); echo $((n+1))`,
		`n=$(wc -l < main.go | tr -d ' '); echo $((n+1))`,
		`n=$(cat main.go | wc -l | tr -d '[:space:]'); (( n > 3 )) && echo y`,
		`n=$(wc -l < main.go | xargs); echo $((n+1))`,
		`n=$(grep -c foo main.go); echo $((n+1))`,
		`n=$(grep -c foo main.go || true); echo $((n+1))`,
		`n=$(grep -c foo main.go || echo 0); [ $n -gt 1 ]`,
		`n=$(grep -ci -e foo main.go 2>/dev/null); (( n )) && echo y`,
		`n=$(ls | grep -c go); (( n )) && echo y`,
		`n=$(git rev-list --count HEAD); (( n > 3 )) && echo y`,
		`for i in $(seq 1 3); do [ $i -gt 2 ] && echo $i; done`,
		`for i in $(seq 5 -1 1); do echo $((i * 2)); done`,
		`n=3; for i in $(seq 1 $n); do echo $((i * 2)); done`,
		`for i in 1 2 3; do echo $((i * 2)); done`,
		`while [ $(grep -c foo log) -lt 1 ]; do sleep 1; done`,
		`if [ $(git status --porcelain | wc -l) -gt 0 ]; then echo dirty; fi`,
		`s=$(date +%s); sleep 1; e=$(date +%s); echo $((e - s))`,
		`for i in $(seq 1 10); do sleep 1; [ $(grep -c ok log) -gt 0 ] && break; done`,
		`echo $(( $(wc -l < main.go) + $(wc -l < README.md) ))`,
	} {
		if !known(command) {
			t.Errorf("%s: it is not known", command)
		}
	}
	for _, command := range []string{
		`[ $(cat main.go) -gt 3 ]`,
		`(( $(cat main.go) > 3 ))`,
		`n=$(head -1 main.go); echo $((n+1))`,
		`[[ $(head -1 main.go) -gt 3 ]]`,
		`n=$(wc -l main.go README.md); echo $((n+1))`,
		`n=$(wc -l main.go); echo $((n+1))`,
		`n=$(grep -c foo main.go README.md); echo $((n+1))`,
		`n=$(grep -rc foo src); echo $((n+1))`,
		`n=$(grep -cH foo main.go); echo $((n+1))`,
		`n=$(grep -co foo main.go); echo $((n+1)); n=$(grep -o foo main.go); echo $((n+1))`,
		`n=$(grep -c foo *.go); echo $((n+1))`,
		`wc() { cat main.go; }; n=$(wc -l < main.go); echo $((n+1))`,
		`grep() { cat main.go; }; n=$(grep -c x main.go); echo $((n+1))`,
		`alias wc=cat; n=$(wc -l < main.go); echo $((n+1))`,
		`PATH=.:$PATH; n=$(wc -l < main.go); echo $((n+1))`,
		`n=$(wc -l < main.go || cat main.go); echo $((n+1))`,
		`n=$(grep -c foo main.go || echo $x); echo $((n+1))`,
		`n=$(grep -c foo main.go || cat log); echo $((n+1))`,
		`n=$(cat main.go | tr -d ' '); echo $((n+1))`,
		`n=$(cat main.go | xargs); echo $((n+1))`,
		`n=$(wc -l < main.go | sed s/.*/x/); echo $((n+1))`,
		`n=$(wc -l < main.go > /dev/null; cat log); echo $((n+1))`,
		`n=$(wc -l < main.go | tee log; cat log); echo $((n+1))`,
		`for i in $(seq 1 $(cat main.go)); do echo $((i)); done`,
		`for i in $(seq -f 'a[$(id)]' 3); do echo $((i)); done`,
		`for i in $(seq -s 'a[$(id)]' 3); do echo $((i)); done`,
		`for i in $(seq 3) $(cat main.go); do echo $((i)); done`,
		`for i in $(cat main.go); do [ $i -gt 2 ]; done`,
		`IFS=1; for i in $(seq 1 3); do [ $i -gt 2 ]; done`,
		`IFS=1; [ $(wc -l < main.go) -gt 3 ]`,
		`for i in $(seq 3); do i=$(cat main.go); echo $((i)); done`,
		`for i in $(seq 3); do read i < main.go; done; echo $((i))`,
		`n=$(wc -l < main.go); n=a$n; echo $((n))`,
		`(( a$(wc -l < main.go) > 3 ))`,
		`seq() { cat main.go; }; for i in $(seq 3); do echo $((i)); done`,
		`n=$(wc --files0-from=main.go -l); echo $((n))`,
		`n=$(wc -l --total=never main.go < main.go); echo $((n))`,
	} {
		if known(command) {
			t.Errorf("%s: it counts as known", command)
		}
	}
}

// TestNumberedNames: a name behind a letter of which no more than a number is not known stays in
// its directory, where what rm takes away is kept when it starts.
func TestNumberedNames(t *testing.T) {
	b := newBench(t)
	b.repo(t, "out/x1.log", "out/x2.log", "out/y.log", "x1", ".git/x1")
	world := b.world()
	known := func(command string) bool {
		list := Analyze(t.Context(), command, "bash", world).Accesses
		return !slices.ContainsFunc(list, func(a policy.Access) bool { return a.Opaque != "" })
	}
	loop := func(rm string) string {
		return "read v; while [ $i -lt 5 ]; do " + rm + "; i=$((i+1)); done"
	}
	numbered := []string{
		`rm -f out/x$i.log`, `rm -f "out/x${i}.log"`, `rm -f out/x$i`, `rm -rf out/x$i`, `rm out/x$i-$((i+1)).log`, `rm -f x$i ./x$i out/../x$i`, `rm -f out/a_$i.b`,
	}
	for _, rm := range numbered {
		if world.Keeps = true; !known("i=0; " + loop(rm)) {
			t.Errorf("%s is not known", rm)
		}
		if world.Keeps = false; known("i=0; " + loop(rm)) {
			t.Errorf("%s is known where nothing is kept", rm)
		}
		if world.Keeps = true; known("i=$v; " + loop("v=1; i=$v$(date); "+rm)) {
			t.Errorf("%s is known where no number is", rm)
		}
	}
	for _, rm := range []string{
		`rm -f $i.log`, `rm -f out/$i.log`, `rm -rf out/$i`, `rm -rf out/.$i.`, `rm -rf out/x/$i`, `rm -f out/x$i/y.log`, `rm -f ../x$i`, `rm -f /etc/x$i`, `rm -f link/x$i`,
		`rm -f .git/x$i`, `rm -f out/x$i$v.log`, `rm -f "out/x$i$v.log"`, `rm -f "out/x$v$i.log"`, `rm -f out/x$i*.log`, `rm -f out/x$i' '.log`, `rm -f "out/x$i[a].log"`, `mv out/x$i.log src`, `IFS=0; rm -f out/x$i.log`,
		`cd $v; rm -f out/x$i.log`, `ln -s link out2; rm -f out2/x$i.log`, `rm -f out/x$i.log$(date)`,
	} {
		if known("i=0; " + loop(rm)) {
			t.Errorf("%s is known", rm)
		}
	}
}
