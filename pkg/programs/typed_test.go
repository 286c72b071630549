package programs

import (
	"strings"
	"testing"
)

// What is typed into a program that may start others by it is understood, or it is not.
func TestTyped(t *testing.T) {
	for names, tt := range map[string]struct{ harmless, orders []string }{
		"less man more": {
			[]string{"q", " ", "  ", "G", "g", "100g", "50%", "/word\n", "/a!b|c:e\n", "/word", "?back\r", "&only\n", "n", "N", "jjjkk", "\x1b[B\x1b[A", "\x1bOB", "\x1b[5~\x1b[6~", "\x04", "\x03", "ma", "'a", "''", ":n", ":p", ":q", "h", "F", "/one\nnq", "d\r"},
			[]string{"!cat ../other/x.txt\n", "!", "!!\n", "|", "|$sh\n", "v", ":e ../other/x.txt\n", ":e", ":", "E../x\n", "\x18\x16../x\n", "s file\n", "o file\n", "-o file\n", "--log-file=x\n", "+!id\n", "#id\n", "/\x7f!id\n", "/\x03!id\n", "/a\x1b!id\n", "/x\n!id\n", "m!id\n", "\x1b!id\n", "t../x\n", "q!id\n", ":!id\n", "\x1b[!id\n"},
		},
		"vim vi nvim view": {
			[]string{":q\n", ":q!\n", ":wq\r", "\x1b:wq\n", ":x\n", "ZZ", "ihello, world\x1b", "dd", "ggdG", "/word\n", "5G", ":12\n", ":set nu\n", "\x1b[A", "u", "A;\x1b:w\n", "i"},
			[]string{":!id\n", ":e ../x\n", ":r !id\n", ":", "!!id\n", "!}sort\n", "@:", "gf", ":w ../x\n", ":so x\n", ":wq ../x\n", "i\x12=system('id')\n", "Q\ne ../x\n", ":set nu|!id\n", "q:", "[I", "\x0fx", "i:!id\n", "ctrl: \x17f"},
		},
		"nano": {
			[]string{"hello: a | b!\n", "\x0f\n", "\x18", "\x18n", "\x18y\n", "\x17word\n", "\x1b[A", "\x0b\x15"},
			[]string{"\x14id\n", "\x12../x\n", "\x0f../x\n", "\x18y../x\n", "\x1b!"},
		},
		"emacs": {
			[]string{"hello!", "\x18\x13", "\x18\x03", "\x1b[B", "\x07"},
			[]string{"\x1bxshell\n", "\x1b!id\n", "\x18\x06../x\n", "\x18", "\x1b"},
		},
		"ed ex":   {[]string{"1p\n", "q\n", "$\n"}, []string{"!id\n", "e x\n", "r !id\n"}},
		"psql":    {[]string{"select 1;\n", `\d t` + "\n", `\q` + "\n"}, []string{`\! id` + "\n", ` \o |id` + "\n"}},
		"sqlite3": {[]string{".tables\n", "select '!';\n"}, []string{".shell id\n", ".system id\n"}},
		"sftp":    {[]string{"ls\n"}, []string{"!id\n", "ls\n!id\n"}},
		"gdb":     {[]string{"bt\n", "p x\n"}, []string{"shell id\n", "!id\n"}},
		"tig":     {[]string{"j", "q"}, []string{":!id\n", "!"}},
		"tmux":    {nil, []string{"ls\n", "q"}},
		"python":  {[]string{"print('!')\n", "!x\n"}, nil},
	} {
		for name := range strings.FieldsSeq(names) {
			if name != "python" && !Ordered(name) {
				t.Errorf("%s takes no orders", name)
			}
			for _, text := range tt.harmless {
				if !Typed(name, text) {
					t.Errorf("%s: %q is not understood", name, text)
				}
			}
			for _, text := range tt.orders {
				if Typed(name, text) {
					t.Errorf("%s: %q is an order", name, text)
				}
			}
		}
	}
}
