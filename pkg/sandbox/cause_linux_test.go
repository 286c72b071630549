//go:build linux && (amd64 || arm64)

package sandbox

import (
	"strings"
	"testing"
)

// TestRemedy: what a container or machine lacks is named with the option that gives
// it. The texts are those that such containers gave.
func TestRemedy(t *testing.T) {
	const forbidden, mapping = "making the process: user namespaces are forbidden here: function not implemented", "mapping users: operation not permitted"
	for _, c := range []struct {
		holder
		why, want string
	}{
		{holder{root: true, filtered: true, setfcap: true}, forbidden, "--security-opt seccomp=unconfined"},
		{holder{filtered: true}, "making the process: user namespaces are forbidden here: operation not permitted", "--security-opt seccomp=unconfined"},
		{holder{root: true, filtered: true}, mapping, "--cap-add SETFCAP"},
		{holder{apparmor: true, label: "unconfined"}, mapping, "kernel.apparmor_restrict_unprivileged_userns"},
		{holder{forbids: true}, "making the process: user namespaces are forbidden here: operation not permitted", "kernel.unprivileged_userns_clone"},
		{holder{none: true}, "making the process: the limit on user namespaces is reached (user.max_user_namespaces): no space left on device", "user.max_user_namespaces"},
		{holder{root: true, setfcap: true, label: "docker-default (enforce)"}, "mounting /dev: permission denied", "apparmor=unconfined"},
		{holder{root: true, setfcap: true, label: "system_u:system_r:container_t:s0:c1,c2"}, "mounting /dev: permission denied", "label=disable"},
		{holder{filtered: true}, "this kernel has no Landlock, or it is switched off", "seccomp=unconfined"},
		{holder{}, "this kernel has no Landlock, or it is switched off", "lsm="},
		{holder{}, "making the process: user namespaces are forbidden here: operation not permitted", ""},
	} {
		if got := c.remedy(c.why); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%+v: %s: %q, want %q", c.holder, c.why, got, c.want)
		}
	}
}
