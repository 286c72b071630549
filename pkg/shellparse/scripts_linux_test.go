package shellparse

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// A scripted is a program that is given scripts of a language of its own, and
// what calls of it are put together from.
type scripted struct {
	names   []string // the programs that must agree
	options []string
	heads   []string // whole pieces that a script begins with
	pieces  []string
	after   []string // operands behind the script
	most    int      // how many pieces
}

var scriptedPrograms = []scripted{
	{
		names:   []string{"sed", "busybox sed"},
		options: []string{"-n", "-E", "-z", "-s", "-i", "-i.bak", "-i*b", "-ib/*", "--posix", "--in-place=x/*", "-nE", "-e p", "-e", "-u", "--debug", "-n -e p -e", "-e a\\ -e", "-e i -e"},
		heads:   []string{"s/a/b/", "s/a/b/g;", "1,3p;", "/a/d;", "$!N;", "/a/,/b/p\n", ":a;N;$!ba;s/a/b/;", "y/ab/ba/;", "/a/{p;p};", "1!p;", "0~2p;", "s|a|b|2;", "a\\\n", "1a x\n", "/a/i\\ x\n", "s#a#\\\n#;", "s/[^/]*/x/;", "s/[[:alpha:]]/x/;", "\\%a%p;", "s/a/&/I;", "c\\\nx\n"},
		pieces:  []string{"w out", "w out\n", "e pwn", "e", "1e pwn\n", "r f", "R f", "W out", "s/a/pwn/e", "s/a/b/w out", "s/a/b/ew out", "s/./pwn/;", "M", "v", "v 4.2", ":x", "b x", "bx", "t", "T;", "\n", "\n", ";", ";", "}", "{", "!", ",", "+1", "~2", "1", "2", "$", "/", "/", "/a/", "\\", "\\\\", "\\/", "\\n", "[", "]", "[^]", "[]", "[^/]", "[/]", "[\\]", "[\\/]", "[[:alpha:]/]", "[[.a.]]", "[=a=]", "|", "#", "%", "a", "b", "x", "p", "g", "q", "q5", "l 5", "d", "s", "y", "c", "i", "a\\", "i\\\n", "s/", "y/", "&", "é", "\xe4", "\xe4\\", " ", "\t", "=", "w", "e", "I", "0", "s,a,b,", "\\,a,", "\\c\\", "\\o57", "\\d047", "\\x2f", "@", "w/dev/stdout", "F", "z", "n", "D"},
		after:   []string{"f", "f g", "f -n", "f -i", "-- f", "f -ewout", "f -s"},
		most:    6,
	},
	{
		names:   []string{"mawk", "gawk", "busybox awk", "original-awk"},
		options: []string{"-F:", "-F,", "-v a=1", "-v a=/", "-F/", "-F[", "--", "-va=out"},
		heads:   []string{"{print $1}", "{print $1", "NR==1", "NR>=1&&NR<=2", "/a/,/b/", "/a/{print}", "{s+=$1}END{print s/NR}", "!x[$0]++", "{printf \"%s|%s\\n\", $1, $2}", "length($0)>1", "BEGIN{", "{x=", "{if(a)", "{a=b/2;", "{print a/", "{sub(/a/,\"b\")", "{gsub(/[/]/,\"x\")", "{for(i=1;i<2;i++)", "$1>1{print", "{print substr($0,1,2)}", "{print>\"out\"}", "END{print NR}", "{a[$1]=$2}END{for(k in a)print k,a[k]}"},
		pieces:  []string{"{", "}", "{", "}", "(", ")", "(", ")", "[", "]", "\"", "\"", "/", "/", "/", ";", "\n", "#", "\\", "\\\n", "\\\"", "|", "||", "|&", ">", ">>", "<", "=", "==", "~", "!", "++", "--", "$", ",", "?", ":", " ", " ", "a", "1", "x", "2", "print", "printf", "getline", "system", "system(\"pwn\")", "|\"pwn\"", "\"pwn\"|getline", "print|\"pwn\"", "print 1|\"pwn\"", ">\"out\"", "print>\"out\"", "getline<\"f\"", "close(\"x\")", "return", "in", "if", "else", "while(0)", "do", "delete a", "exit", "next", "BEGIN", "END", "NR", "NF", "$1", "$0", "length", "/a/", "/\"/", "/[/]/", "/[\"]/", "/[]/]/", "/\\//", "a/b", ")/2", "\"/\"", "\"a\"", "function f(", "ARGV[1]=\"g\"", "ENVIRON[\"HOME\"]", "@", "%", "^", "*", "+", "-", "&&", "'", "é", "\xe4", "case", "switch", "x/", "++/", ")/", "]/", "print/", "a /b/ c", "1 /x", "s y s", "-f"},
		after:   []string{"f", "f g", "a=1 f", "/inet/tcp/0/127.0.0.1/9", "a-b=c", "f -f g", "FS=/ f", "1a=f"},
		most:    7,
	},
	{
		names:   []string{"jq"},
		options: []string{"-r", "-n", "-c", "-s", "-rc", "-R", "--arg a b", "--arg -f g", "--argjson a 1", "--rawfile a g", "--slurpfile a g", "--args", "--jsonargs", "-f g", "-nf g", "-L .", "-L. ", "--tab", "--indent 2", "-e", "--", "-arg a", "---arg a", "--seq", "--stream", "-C", "--rawfile", "--from-file g", "-rn --args", "--exit-status", "--raw-output0", "-nr -f", "-Lg", "--library-path g", "-fn"},
		heads:   []string{".", ".a", ".[]", "$a", "$ARGS", "input", "inputs", "keys", ".a|.b", "\"x\"", "import \"g\" as g; .", "include \"g\"; .", "env", "$ENV.HOME", "modulemeta", "\"g\"|modulemeta", "input_filename", "g", "f", "get_search_list", "@base64", "import \"h\" as $h; $h", ".import", "$__prog_args"},
		pieces:  []string{"|", ".", "a", "[", "]", "{", "}", "\"", "\\(", ")", "input", "env", ";", "include", "import", " ", "#", "\n", "g"},
		after:   []string{"f", "g", "f g", "g f", "--args f g", "f --args g", "-f g", "f -f g", "-- f", "-- -f g", "--arg f g", "f --rawfile a g", "--jsonargs 1 2 g", "-n", "--slurpfile a", "-R g", "--stream-errors g"},
		most:    2,
	},
}

// system reports whether a path is what a program needs of the system.
func system(p string) bool {
	return slices.ContainsFunc([]string{"/usr/", "/lib", "/etc/ld.so", "/etc/locale", "/etc/nsswitch", "/etc/passwd", "/proc/self/", "/proc/filesystems", "/dev/null", "/dev/tty", "/dev/urandom", "/dev/std", "/dev/fd", "/sys/fs", "/proc/mounts"}, func(s string) bool { return strings.HasPrefix(p, s) })
}

// TestScripts gives generated scripts to the real programs, and holds what the
// analysis said against every system call. SCRIPTS is how many of each program.
func TestScripts(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("SCRIPTS"))
	if err != nil {
		n = 100
		if os.Getenv("CASES") == "all" {
			n = 300
		}
	}
	seed := uint64(n)
	if s, err := strconv.ParseUint(os.Getenv("SEED"), 10, 64); err == nil {
		seed = s
	}
	for i := range scriptedPrograms {
		s := &scriptedPrograms[i]
		for _, name := range s.names {
			t.Run(name, func(t *testing.T) { s.try(t, name, n, rand.New(rand.NewPCG(seed, uint64(i)))) })
		}
	}
}

func (s *scripted) try(t *testing.T, name string, n int, r *rand.Rand) {
	argv0 := strings.Fields(name)
	found := installed(argv0[0])
	if len(found) == 0 {
		t.Skip(argv0[0] + " is not installed")
	}
	b := newBench(t)
	w := b.world()
	known, ran := 0, 0
	for i := 0; i < n && !t.Failed(); i++ {
		words := s.call(r)
		a := Argv(append([]string{strings.TrimPrefix(argv0[len(argv0)-1], "original-")}, words...), w)
		if len(a.Opaque) > 0 {
			continue
		}
		known++
		for f, text := range map[string]string{"f": "a b\nb/a\npwn x\n", "g": "{\"a\":1}\n", "out": ""} {
			must(t, os.WriteFile(b.root+"/"+f, []byte(text), 0o600))
		}
		argv := append(append([]string{found[0]}, argv0[1:]...), words...)
		d, ok := traced(t, b.root, argv, []string{"PATH=" + b.bin, "HOME=" + b.home, "LC_ALL=C.UTF-8"}, true, func(d touch) bool { return foretold(a, b.root, d) })
		if d != nil {
			t.Errorf("%q: %s %s was not foretold:\n%s", argv, d.kind, d.path, dump(a))
		}
		if ok {
			ran++
		}
	}
	t.Logf("%d calls, %d understood, of which %d ran without an error", n, known, ran)
	if n >= 300 && ran*25 < n {
		t.Errorf("only %d of %d calls were understood and ran: nothing is tried", ran, n)
	}
}

// call makes the words of one call.
func (s *scripted) call(r *rand.Rand) (words []string) {
	pick := func(list []string) string { return list[r.IntN(len(list))] }
	for range r.IntN(3) {
		words = append(words, strings.Fields(pick(s.options))...)
	}
	script := ""
	if r.IntN(4) > 0 {
		script = pick(s.heads)
	}
	for range r.IntN(s.most) {
		if r.IntN(3) == 0 {
			script += pick(s.heads)
		} else {
			script += pick(s.pieces)
		}
	}
	words = append(words, script)
	if r.IntN(8) > 0 {
		words = append(words, strings.Fields(pick(s.after))...)
	}
	return words
}

// foretold reports whether an analysis has an access for what a program does.
func foretold(a *Analysis, dir string, d touch) bool {
	inside := strings.HasPrefix(d.path, dir+"/")
	if d.kind == "exec" || d.kind == "net" {
		return false
	}
	if d.kind == "read" && (system(d.path) || d.path == dir || strings.HasSuffix(d.path, "/.jq")) || d.kind == "write" && (d.path == "/dev/null" || d.path == "/dev/tty" || strings.HasPrefix(d.path, "/dev/std")) {
		return true
	}
	for _, x := range a.Accesses {
		switch {
		case x.Kind == policy.Read && d.kind == "read" && (x.Path == d.path || x.Tree && strings.HasPrefix(d.path, x.Path)):
			return true
		case x.Kind != policy.Write:
		case x.Path == d.path:
			return true
		case inside && filepath.Dir(x.Path) == filepath.Dir(d.path) && inPlace.MatchString(filepath.Base(d.path)):
			return true
		}
	}
	return false
}

// inPlace are the names of the files that sed -i makes and renames.
var inPlace = regexp.MustCompile(`^(sed|f|g)[A-Za-z0-9]{6}$`)
