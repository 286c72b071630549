package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestScriptSSH runs the scripts once more with every call made over a real ssh: they see what
// they see without it. testdata/remote-scripts.txt lists those that cannot, each with the reason.
func TestScriptSSH(t *testing.T) {
	t.Parallel()
	p := sshHostWith(t, "MaxSessions 1000\nAcceptEnv *\nForceCommand DIR/bin/far\n",
		"  SendEnv *\n  SendEnv -AGENTKIT_*\n  ControlMaster auto\n  ControlPath DIR/m\n  ControlPersist 600\n")
	t.Cleanup(func() {
		_ = exec.Command(filepath.Join(p.bin, "ssh"), "-O", "exit", "there").Run()
	})
	own := os.Getenv("PATH")
	// The far end is this machine: it stands in the directory of the call, has its home, its
	// state and its configuration, and is sent the variables that the script has set.
	p.put("bin/far", `#!/bin/sh
cd "$FAR_PWD" || exit
HOME=$FAR_HOME PATH=$FAR_PATH XDG_STATE_HOME=$FAR_STATE XDG_CONFIG_HOME=$FAR_CONFIG XDG_CACHE_HOME=DIR/home/cache
unset FAR_PWD FAR_HOME FAR_PATH FAR_STATE FAR_CONFIG
exec sh -c "$SSH_ORIGINAL_COMMAND"
`, 0o700)
	p.lead("ssh", "#!/bin/sh\nFAR_PWD=$(pwd -P) FAR_HOME=$HOME FAR_STATE=$XDG_STATE_HOME FAR_CONFIG=$XDG_CONFIG_HOME PATH="+own+" exec ssh -F DIR/ssh_config \"$@\"\n")
	// Commands that are about one machine are made here.
	p.lead("agentkit", `#!/bin/sh
export FAR_PATH="${PATH#`+p.bin+`:}"
for word do
	case $word in
	policy | log | gc | doctor) exec `+build(t)+` "$@" ;;
	esac
done
AGENTKIT_ON=ssh://there exec `+build(t)+` "$@"
`)
	params := scriptParams(t)
	setup := params.Setup
	params.Setup = func(env *testscript.Env) error {
		env.Setenv("PATH", p.bin+":"+env.Getenv("PATH"))
		return setup(env)
	}
	params.Dir, params.UpdateScripts = "", false
	params.Files = remoteScripts(t)
	params.Condition = func(cond string) (bool, error) {
		if cond == "far" {
			return true, nil
		}
		return condition(cond)
	}
	testscript.RunT(checkedScript{t, &seenResults{count: map[string]int{}}}, params)
}

// remoteScripts are the scripts that are run over ssh: a few, or those whose names match the
// expression REMOTE_SCRIPTS, or with REMOTE_SCRIPTS=all all.
func remoteScripts(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadFile("testdata/remote-scripts.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(list)) {
		name, reason, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if name == "" || name[0] == '#' {
			continue
		}
		at := slices.Index(all, filepath.Join("testdata", "script", name+".txtar"))
		if at < 0 || !regexp.MustCompile(`\w+ \w+`).MatchString(reason) {
			t.Fatalf("%q names no script, or no reason", line)
		}
		all = slices.Delete(all, at, at+1)
	}
	switch chosen := os.Getenv("REMOTE_SCRIPTS"); chosen {
	case "all":
		return all
	case "":
		chosen = "^(edit_files|grep_colour)$"
		fallthrough
	default:
		re := regexp.MustCompile(chosen)
		return slices.DeleteFunc(all, func(name string) bool {
			return !re.MatchString(strings.TrimSuffix(filepath.Base(name), ".txtar"))
		})
	}
}
