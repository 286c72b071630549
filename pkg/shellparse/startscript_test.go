package shellparse

import (
	"context"
	"slices"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// TestStartScripts: a script that starts a service is not the program of its name.
func TestStartScripts(t *testing.T) {
	b := newBench(t)
	for src, hosts := range map[string]bool{
		"/etc/init.d/ssh status":                       false,
		"env -i LANG=C /etc/init.d/ssh status":         false,
		"/etc/cron.daily/rsync host:x y":               false,
		"ssh status":                                   true,
		"/usr/bin/ssh status":                          true,
		"/etc/init.d/../../usr/bin/ssh status":         true,
		"env -i LANG=C /usr/bin/ssh status":            true,
		"/etc/init.d/ssh status; ssh status":           true,
		"cp /usr/bin/ssh etc/init.d; etc/init.d/ssh a": true,
	} {
		a := Analyze(context.Background(), src, "bash", b.world())
		if got := slices.ContainsFunc(a.Accesses, func(x policy.Access) bool { return x.Kind == policy.Net }); got != hosts {
			t.Errorf("%s: reaches a host: %v", src, got)
		}
		for _, x := range a.Accesses {
			if x.Kind == policy.Exec && !hosts && x.Program != "" && x.Class != policy.Unknown && x.Argv[0] != "env" {
				t.Errorf("%s: %s is %v", src, x.Program, x.Class)
			}
		}
	}
}
