package shellparse

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// TestLinksOfTheText: without a sandbox no link that a command makes itself leads it where
// it may not write or read unasked, and links to what it may are no reason to ask.
func TestLinksOfTheText(t *testing.T) {
	b := newBench(t)
	b.repo(t, "f", "src/g")
	p := unconfined(t, b, "ask: ['read(src/a.ts)']")
	var many strings.Builder
	for i := range maxLinks {
		fmt.Fprintf(&many, "ln -s f l%d; ", i)
	}
	for text, want := range map[string]policy.Verdict{
		"ln -s @O@ l; echo > l/x":                                  policy.Ask,
		"ln -s .. src/l; echo > src/l/../x":                        policy.Ask,
		"ln -s .. src/l; cd src/l/..; echo > x":                    policy.Ask,
		"ln -s @O@ a; ln -s a c; echo > c/x":                       policy.Ask,
		"ln -s @O@ src/a; ln -s a src/c; cat src/c/s*":             policy.Ask,
		"ln -s f l; ln -sfn @O@ l; echo > l/x":                     policy.Ask,
		many.String() + "ln -s @O@ l; echo > l/x":                  policy.Ask,
		"mkdir d; ln -s @O@ d/l; mv d e; echo > e/l/x":             policy.Ask,
		"mkdir d; ln -s @O@ d/l; cp -r d e":                        policy.Ask,
		"ln -s @W@/../[O] l; echo > l/x":                           policy.Ask,
		"ln -s ./$(cat f) l; echo > l/x":                           policy.Ask,
		"cp -s ./$(cat f) l; echo > l/x":                           policy.Ask,
		"mkdir d; ln -s @O@/secret d/l; cat d/*":                   policy.Ask,
		"mkdir d; ln -s @O@ d/l; grep -R s d":                      policy.Ask,
		"mkdir d; ln -s @O@ d/l; find -L d -type f -exec cat {} +": policy.Ask,
		"git mv src/a.ts x; cat x":                                 policy.Ask,
		"ln -s f src/a.ts; cat src/a.ts":                           policy.Ask,
		"false && ln -s f src/a.ts; cat src/a.ts":                  policy.Ask,
		"ln -sf f link; cat link/secret":                           policy.Ask,

		"ln -s f l && cat l":                            policy.Allow,
		"ln -sf ../f src/l; ls -l src":                  policy.Allow,
		"ln -s f l; ln -s l m; cat m":                   policy.Allow,
		"ln -s ./$(cat f) l; cat /usr/share/dict/words": policy.Allow,
		"mkdir -p bin && ln -sf ../f bin/m && ls bin":   policy.Allow,
		"git mv f g && cat g":                           policy.Allow,
		"mkdir d; ln -s @W@/f d/l; cat src/../f; cat f": policy.Allow,

		"mkdir d && ln -s ../src d/l && rm -r d":           policy.Allow,
		"mkdir d && ln -s @O@ d/l && rm -r d":              policy.Allow,
		"mkdir d && ln -s @O@ d/l && rm -r ./d && rmdir d": policy.Allow,
		"mkdir d && ln -s @O@ d/l && rm -r d/l/x":          policy.Ask,
		"mkdir d && ln -s @O@ d/l && rm -r d/l/":           policy.Ask,
		"mkdir d && ln -s @O@ d/l && rm -r d/*/":           policy.Ask,
		"mkdir d && ln -s @O@ d/l && rm -r d/[l]/*":        policy.Ask,
		"mkdir d && ln -s @O@ d/l && cd d/l && rm -r x":    policy.Ask,
		"mkdir d && ln -s @O@ d/l && rimraf d":             policy.Ask,
		"mkdir d && ln -s @O@ d/l && find -L d -delete":    policy.Ask,
		"mkdir d && ln -s @O@ d/l && chmod -R 700 d":       policy.Ask,
		"mkdir d && ln -s @O@ d/l && rsync -aL d/ e":       policy.Ask,
	} {
		a := analyze(b, b.fill(text))
		if o := p.DecideAll(a.Accesses); o.Verdict != want {
			t.Errorf("%s, want %s: %s\n%s", o.Verdict, want, text, dump(a))
		}
	}
}
