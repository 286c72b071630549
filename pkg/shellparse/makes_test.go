package shellparse

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// makers is the world of a bench in which the sandbox holds what a command does.
func makers(b *bench) *World {
	world := b.world()
	world.Makes = func(dir string) bool {
		fi, err := os.Lstat(dir)
		return err == nil && fi.IsDir() && fi.Mode()&0o300 == 0o300
	}
	return world
}

// outside lists what a text may touch beside the bench's root.
func outside(b *bench, world *World, src string) (found []string) {
	a := Analyze(context.Background(), src, "bash", world)
	found = append(found, a.Opaque...)
	for _, x := range a.Accesses {
		if x.Path != "" && x.Kind != policy.Exec && x.Path != b.root && !strings.HasPrefix(x.Path, b.root+"/") {
			found = append(found, x.Path)
		}
	}
	return found
}

// TestMakes: a directory that mkdir certainly makes is one that cd goes to.
func TestMakes(t *testing.T) {
	b := newBench(t)
	must(t, os.Mkdir(b.root+"/locked", 0o500))
	must(t, os.Mkdir(b.root+"/.hidden", 0o755))
	long := strings.Repeat("x", 256)
	inside := []string{
		"mkdir -p build && cd build && make 2>&1 | tail -1; cd .. && ls build | head -1",
		"mkdir -p src && cd src && make 2>&1 | tail -1; cd .. && ls src | head -1",
		"mkdir -p build && cd build && make; cd .. && rm -rf build",
		"mkdir -p build && cd build && make; cd ..; echo x >notes",
		"mkdir -p build && cd build && make; cd .. && cp f build/",
		"mkdir build; cd build; touch b; cd ..; echo x >notes",
		"mkdir build && cd build && touch b; cd ..; echo x >notes",
		"mkdir -p build/a/b; cd build/a; touch b; cd ../..; ls f",
		"mkdir -p build/a 2>/dev/null && cd build && make; cd .. && ls f",
		"mkdir -p b1 b2 && cd b1 && make; cd .. && ls f",
		"mkdir -p b1 && mkdir -p b2 && cd b2 && make; cd .. && ls f",
		"mkdir b1 && mkdir b1/b2 && cd b1/b2 && make; cd ../.. && ls f",
		"echo x >note; mkdir -p build && cd build && make; cd .. && ls f",
		"touch build.txt; mkdir -p build; cd build; cd ..; ls f",
		"if mkdir -p build; then cd build; cd ..; ls f; fi",
	}
	for _, src := range inside {
		if found := outside(b, makers(b), src); found != nil {
			t.Errorf("%s: may touch %q", src, found)
		}
		if found := outside(b, b.world(), src); found == nil {
			t.Errorf("%s: touches nothing outside where nothing holds it", src)
		}
	}
	for _, src := range []string{
		"mkdir -p f && cd f; cd .. && ls f",                                // a file
		"mkdir src && cd src; cd .. && ls f",                               // it is there, so that mkdir fails
		"mkdir build && mkdir build && cd build; cd .. && ls f",            // the second fails
		"mkdir -p build/a && mkdir build && cd build; cd .. && ls f",       // likewise
		"mkdir build/a && cd build/a; cd ../.. && ls f",                    // nothing above
		"mkdir build/a; cd build/a; cd ../..; ls f",                        // nothing above
		"mkdir -p link/a && cd link/a; cd ../..; ls f",                     // outside
		"mkdir -p locked/a && cd locked/a; cd ../.. && rm -r f",            // no right
		"mkdir -p @O@/e/a && cd @O@/e/a; cd .. && ls f",                    // outside
		"mkdir -p .hidden/a && cd .hidden/a; cd ../.. && ls ../O",          // what the sandbox may hold
		"mkdir -p " + long + " && cd " + long + "; cd .. && ls f",          // too long
		"mkdir -m 0 build && cd build; cd .. && ls f",                      // nobody may go there
		"mkdir build -m 0 && cd build; cd .. && ls f",                      // likewise
		"mkdir build -m 0; cd build; cd ..; ls f",                          // likewise
		"mkdir build; enable -n cd; cd build; cd ..; ls f",                 // another cd
		"umask 777; mkdir build && cd build; cd .. && ls f",                // likewise
		"ulimit -u 0; mkdir build && cd build; cd .. && ls f",              // it cannot be started
		"touch build; mkdir -p build && cd build; cd .. && ls f",           // a file by then
		"touch build; mkdir -p build/a && cd build/a; cd ../.. && ls ../O", // likewise
		"make; mkdir -p build && cd build; cd .. && ls f",                  // not known
		"cp f build; mkdir -p build && cd build; cd .. && ls f",            // a file by then
		"ln -s src build; mkdir -p build && cd build; cd .. && ls f",       // a link by then
		"mkdir -p build; rmdir build; cd build; cd ..; ls f",               // gone by then
		"mkdir -p build && mv build other; cd build; cd ..; ls f",
		"mkdir -p build >log && cd build; cd .. && ls f", // the redirection may fail
		"mkdir -p build <nothere && cd build; cd .. && ls f",
		"false && mkdir -p build; cd build; cd ..; ls f", // not run
		"true || mkdir -p build; cd build; cd ..; ls f",
		"mkdir -p b1 || mkdir -p build; cd build; cd ..; ls f",
		"make && mkdir -p build && cd build; cd ..; ls f",
		"mkdir -p build && false && cd build; cd .. && ls f",
		"! mkdir -p build || cd build; cd .. && ls ../O",
		"(false && mkdir -p build); cd build; cd ..; ls f",
		"mkdir -p build & cd build; cd ..; ls f",
		"mkdir -p build | cat; cd build; cd ..; ls f",
		"if false; then mkdir -p build; fi; cd build; cd ..; ls f",
		"for i in $X; do mkdir -p build; done; cd build; cd ..; ls f",
		"while false; do mkdir -p build; done; cd build; cd ..; ls f",
		"case f in x) mkdir -p build;; esac; cd build; cd ..; ls f",
		"if false; then g() { mkdir -p build; }; fi; g; cd build; cd ..; ls f",
		"mkdir() { :; }; mkdir -p build; cd build; cd ..; ls f",
		"mkdir() { :; }; mkdir -p build && cd build; cd ..; ls f",
		"echo f | xargs -I{} sh -c 'mkdir -p build'; cd build; cd ..; ls f",
		"find nothere -exec mkdir -p build \\;; cd build; cd ..; ls f",
		"PATH=src:$PATH; mkdir -p build && cd build; cd ..; ls f",
		"PATH=/nothere mkdir -p build; cd build; cd ..; ls f",
		"mkdir -p build $(date) && cd build; cd ..; ls f",
		"mkdir -p \"$(date)\" && cd build; cd ..; ls f",
		"mkdir -p build && cd build/nothere; cd ..; ls ../O",
		"mkdir -p build && cd build && make; cd ..; cd ..; ls f",
		"mkdir -p build && cd build; rm -rf ../../x",
		"shopt -s nocaseglob; command mkdir -p build; cd build; cd ..; ls f",
	} {
		if found := outside(b, makers(b), b.fill(src)); found == nil {
			t.Errorf("%s: touches nothing outside", src)
		}
	}
}

// TestPatternsBesideMade: what plain commands make leaves the patterns known that cannot stand
// for it.
func TestPatternsBesideMade(t *testing.T) {
	b := newBench(t)
	must(t, os.Mkdir(b.root+"/out", 0o755))
	for _, name := range []string{"x.log", "y.log"} {
		must(t, os.WriteFile(filepath.Join(b.root, "out", name), nil, 0o600))
	}
	must(t, os.Symlink("out", b.root+"/also"))
	for src, known := range map[string]bool{
		`mkdir q; rm out/*.log`:                                     true,
		`mkdir q; for f in out/*.log; do rm "$f"; done`:             true,
		`mkdir -p q/r && touch q/a.log; rm out/*.log`:               true,
		`echo x >note; rm out/*.log`:                                true,
		`cat >note <<E` + "\nx\nE\n" + `rm out/*.log`:               true,
		`touch out/z.txt; rm out/*.log`:                             true,
		`mkdir out/d; rm out/*.log`:                                 true,
		`touch out/z.log; rm out/*.log`:                             false,
		`touch OUT/Z.LOG; rm out/*.log`:                             false,
		`mkdir out/z.log; rm -r out/*.log`:                          false,
		`mkdir -p out/z.log/d; rm -r out/*.log`:                     false,
		`echo x >out/z.log; rm out/*.log`:                           false,
		`touch also/z.log; rm out/*.log`:                            false,
		`touch out/z.log; rm also/*.log`:                            false,
		`touch out/z.log; rm */*.log`:                               false,
		`touch out/z.log; rm out/[a-z].log`:                         false,
		`mkdir q; touch q/a; rm q/*`:                                false,
		`touch $((1)) out/$(date).log; rm out/*.log`:                false,
		`i=0; while read x; do i=$((i+1)); done; >out/$i; rm out/*`: false,
		`i=0; while read x; do i=$((i+1)); done; touch $i; rm *`:    false,
		`touch "$(date)"; rm out/*.log`:                             false,
		`mkdir q; make; rm out/*.log`:                               false,
		`mkdir q; cp f out/z.log; rm out/*.log`:                     false,
		`touch() { make; }; touch q; rm out/*.log`:                  false,
		`echo "$(make)" >note; rm out/*.log`:                        false,
		`cat <(make) >note; rm out/*.log`:                           false,
		`echo x > >(make); rm out/*.log`:                            false,
	} {
		a := Analyze(context.Background(), src, "bash", makers(b))
		text := ""
		for _, x := range a.Accesses {
			if x.Kind == policy.Write && x.Op == policy.Delete && x.Opaque == "" {
				text += " " + x.Path
			}
		}
		if got := strings.Contains(text, "out/x.log") && len(a.Opaque) == 0; got != known {
			t.Errorf("%s: known %v: %s %q", src, got, text, a.Opaque)
		}
	}
}
