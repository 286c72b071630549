package shellparse

import (
	"os"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// TestChecksums: to compare a file with a checksum that somebody has written down is to read
// it. A list that is not understood, or not there yet, may name any file.
func TestChecksums(t *testing.T) {
	b := newBench(t)
	sum := "d41d8cd98f00b204e9800998ecf8427e"
	for name, text := range map[string]string{
		"plain": sum + "  f\n", "secret": sum + "  f\n" + sum + " *.env\n", "reversed": sum + " .env\n", "tagged": "# made by hand\nSHA256 (.env) = " + sum + "\n",
		"escaped": "\\" + sum + "  a\\nb\n", "other": "no checksum\n", ".env": "KEY=1\n",
	} {
		must(t, os.WriteFile(b.root+"/"+name, []byte(text), 0o644))
	}
	for text, want := range map[string]string{
		"md5sum plain":                                 "",
		"md5sum -c plain":                              "",
		"sha256sum -wc plain":                          "",
		"md5sum -c none":                               "",
		"cat plain | md5sum -c":                        "opaque",
		"md5sum -c secret":                             "reads",
		"md5sum --check secret":                        "reads",
		"shasum -a 256 -c secret":                      "reads",
		"b2sum --quiet -c reversed":                    "reads",
		"cksum -c tagged":                              "reads",
		"printf 'MD5 (.env) = 0a\n' | cksum --check -": "reads",
		"cd src && md5sum -c ../secret":                "",
		"md5sum -c escaped":                            "opaque",
		"md5sum -c other":                              "opaque",
		"md5sum -c":                                    "opaque",
		"md5sum -c *":                                  "opaque",
		"cp secret new && md5sum -c new":               "opaque",
	} {
		p := analyze(b, text)
		got := ""
		for _, a := range p.Accesses {
			switch {
			case a.Kind == policy.Read && a.Path == b.root+"/.env" && a.Opaque == "":
				got = "reads"
			case a.Kind == policy.Exec && a.Opaque != "" && got == "":
				got = "opaque"
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
