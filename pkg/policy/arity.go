package policy

import (
	"slices"
	"strings"
)

// A role says why a program is never the subject of a lasting rule.
type role uint8

const (
	plainRole role = iota
	shellRole
	interpreterRole
	wrapperRole
)

// An arity is how many words make a command: "git push" is two, so "git push
// *" is the rule that somebody who allows "git push origin main" for good may
// mean. Commands that are not listed are only ever suggested as they are.
type arity struct {
	words string // the command's first words; the longest entry that fits counts
	n     int    // words of the command
}

// arities is sorted by words.
var arities = [...]arity{
	{"apt", 2},
	{"apt-cache", 2},
	{"aws", 3},
	{"az", 3},
	{"basename", 1},
	{"bazel", 2},
	{"brew", 2},
	{"bun", 2},
	{"bun run", 3},
	{"bundle", 2},
	{"bundle exec", 3},
	{"cargo", 2},
	{"cat", 1},
	{"cd", 1},
	{"cmake", 1},
	{"composer", 2},
	{"cp", 1},
	{"ctest", 1},
	{"cut", 1},
	{"date", 1},
	{"deno", 2},
	{"deno task", 3},
	{"df", 1},
	{"diff", 1},
	{"dirname", 1},
	{"docker", 2},
	{"docker compose", 3},
	{"docker container", 3},
	{"docker image", 3},
	{"docker network", 3},
	{"docker volume", 3},
	{"dotnet", 2},
	{"du", 1},
	{"echo", 1},
	{"eslint", 1},
	{"file", 1},
	{"gcloud", 3},
	{"gh", 3},
	{"git", 2},
	{"git remote", 3},
	{"git stash", 3},
	{"git submodule", 3},
	{"git worktree", 3},
	{"go", 2},
	{"go mod", 3},
	{"go tool", 3},
	{"gofmt", 1},
	{"gofumpt", 1},
	{"golangci-lint", 2},
	{"gradle", 2},
	{"grep", 1},
	{"head", 1},
	{"helm", 2},
	{"jq", 1},
	{"just", 2},
	{"kubectl", 2},
	{"kubectl config", 3},
	{"kubectl rollout", 3},
	{"ls", 1},
	{"make", 2},
	{"mix", 2},
	{"mkdir", 1},
	{"mv", 1},
	{"mvn", 2},
	{"mypy", 1},
	{"ninja", 1},
	{"npm", 2},
	{"npm run", 3},
	{"nx", 2},
	{"pip", 2},
	{"pip3", 2},
	{"pnpm", 2},
	{"pnpm run", 3},
	{"poetry", 2},
	{"poetry run", 3},
	{"prettier", 1},
	{"ps", 1},
	{"pytest", 1},
	{"pwd", 1},
	{"rails", 2},
	{"rake", 2},
	{"rg", 1},
	{"ruff", 2},
	{"rustup", 2},
	{"sort", 1},
	{"stat", 1},
	{"swift", 2},
	{"systemctl", 2},
	{"tail", 1},
	{"task", 2},
	{"terraform", 2},
	{"touch", 1},
	{"tr", 1},
	{"tree", 1},
	{"tsc", 1},
	{"turbo", 2},
	{"uniq", 1},
	{"uv", 2},
	{"uv run", 3},
	{"wc", 1},
	{"which", 1},
	{"yarn", 2},
	{"yarn run", 3},
}

// roles is sorted by name; versions ("python3.12") are cut off before.
var roles = [...]struct {
	name string
	role role
}{
	{"ash", shellRole},
	{"at", wrapperRole},
	{"awk", interpreterRole},
	{"bash", shellRole},
	{"batch", wrapperRole},
	{"builtin", wrapperRole},
	{"busybox", shellRole},
	{"chroot", wrapperRole},
	{"chrt", wrapperRole},
	{"cmd", shellRole},
	{"command", wrapperRole},
	{"coproc", wrapperRole},
	{"crontab", wrapperRole},
	{"csh", shellRole},
	{"dash", shellRole},
	{"doas", wrapperRole},
	{"ed", interpreterRole},
	{"elixir", interpreterRole},
	{"emacs", interpreterRole},
	{"env", wrapperRole},
	{"erl", interpreterRole},
	{"eval", shellRole},
	{"exec", wrapperRole},
	{"expect", interpreterRole},
	{"fish", shellRole},
	{"flock", wrapperRole},
	{"gawk", interpreterRole},
	{"gdb", interpreterRole},
	{"ghci", interpreterRole},
	{"ionice", wrapperRole},
	{"irb", interpreterRole},
	{"java", interpreterRole},
	{"jshell", interpreterRole},
	{"julia", interpreterRole},
	{"ksh", shellRole},
	{"ld-linux", wrapperRole},
	{"lldb", interpreterRole},
	{"ltrace", wrapperRole},
	{"lua", interpreterRole},
	{"luajit", interpreterRole},
	{"mawk", interpreterRole},
	{"mksh", shellRole},
	{"mosh", wrapperRole},
	{"nawk", interpreterRole},
	{"nice", wrapperRole},
	{"node", interpreterRole},
	{"nodejs", interpreterRole},
	{"nohup", wrapperRole},
	{"npx", wrapperRole},
	{"nsenter", wrapperRole},
	{"nu", shellRole},
	{"osascript", interpreterRole},
	{"parallel", wrapperRole},
	{"perl", interpreterRole},
	{"php", interpreterRole},
	{"pkexec", wrapperRole},
	{"powershell", shellRole},
	{"prlimit", wrapperRole},
	{"pwsh", shellRole},
	{"pypy", interpreterRole},
	{"python", interpreterRole},
	{"rbash", shellRole},
	{"rscript", interpreterRole},
	{"ruby", interpreterRole},
	{"runuser", wrapperRole},
	{"scala", interpreterRole},
	{"script", wrapperRole},
	{"setpriv", wrapperRole},
	{"setsid", wrapperRole},
	{"sh", shellRole},
	{"source", shellRole},
	{"sqlite", interpreterRole},
	{"ssh", wrapperRole},
	{"stdbuf", wrapperRole},
	{"strace", wrapperRole},
	{"su", wrapperRole},
	{"sudo", wrapperRole},
	{"systemd-run", wrapperRole},
	{"taskset", wrapperRole},
	{"tclsh", interpreterRole},
	{"tcsh", shellRole},
	{"time", wrapperRole},
	{"timeout", wrapperRole},
	{"tmux", wrapperRole},
	{"toybox", shellRole},
	{"trap", shellRole},
	{"ts-node", interpreterRole},
	{"tsx", interpreterRole},
	{"unshare", wrapperRole},
	{"uvx", wrapperRole},
	{"vi", interpreterRole},
	{"vim", interpreterRole},
	{"watch", wrapperRole},
	{"xargs", wrapperRole},
	{"yash", shellRole},
	{"zsh", shellRole},
}

// valued are the options that take their value as the next word and may stand
// before a program's subcommand.
var valued = [...][2]string{
	{"aws", " --profile --region --output --endpoint-url --query --color --ca-bundle --cli-read-timeout --cli-connect-timeout "},
	{"cargo", " -C -Z --color --config --manifest-path "},
	{"docker", " -H --host -c --context --config -l --log-level --tlscacert --tlscert --tlskey "},
	{"gh", " -R --repo --hostname "},
	{"git", " -C -c --git-dir --work-tree --namespace --super-prefix --config-env --attr-source --exec-path --list-cmds "},
	{"go", " -C "},
	{"helm", " -n --namespace --kube-context --kubeconfig --kube-apiserver --kube-token --registry-config --repository-cache --repository-config "},
	{"kubectl", " -n --namespace --context --cluster --kubeconfig -s --server --user --as --as-group --token --request-timeout --cache-dir -v --v "},
	{"npm", " --prefix -C -w --workspace --loglevel --registry --userconfig --globalconfig --cache --tag --access --otp --scope --omit --include "},
	{"pnpm", " -C --dir -F --filter --loglevel --reporter --config "},
	{"yarn", " --cwd --mutex --network-timeout --registry --cache-folder --modules-folder "},
}

func valuedOptions(program string) string {
	name := programName(program)
	for i := range valued {
		if valued[i][0] == name {
			return valued[i][1]
		}
	}
	return ""
}

// runners are the commands of otherwise plain programs that run whatever
// their next argument names.
var runners = [...]string{
	"bun x", "bundle exec", "cargo run", "deno eval", "deno run", "docker exec", "docker run", "go generate", "go run", "kubectl exec",
	"npm exec", "npm x", "pnpm dlx", "pnpm exec", "poetry run", "uv run", "yarn dlx", "yarn exec",
}

// roleOf returns what kind of program a name means: python3.12 is python.
func roleOf(name string) role {
	name = programName(name)
	if name == "." {
		return shellRole
	}
	for _, n := range [...]string{name, strings.TrimRight(name, "0123456789.-")} {
		i, ok := slices.BinarySearchFunc(roles[:], n, func(e struct {
			name string
			role role
		}, n string,
		) int {
			return strings.Compare(e.name, n)
		})
		if ok {
			return roles[i].role
		}
	}
	return plainRole
}

func isShell(name string) bool { return name != "" && roleOf(name) == shellRole }

// commandWords returns how many words of argv make the command, and whether
// the table knows it.
func commandWords(argv []string) (n int, known bool) {
	key := programName(argv[0])
	for i := 1; ; i++ {
		at, ok := slices.BinarySearchFunc(arities[:], key, func(e arity, key string) int { return strings.Compare(e.words, key) })
		if ok {
			n, known = arities[at].n, true
		}
		if i == len(argv) || i > 2 {
			return n, known
		}
		key += " " + argv[i]
	}
}

// isRunner reports whether a command runs what its arguments name.
func isRunner(argv []string) bool {
	if len(argv) < 2 {
		return false
	}
	_, ok := slices.BinarySearch(runners[:], programName(argv[0])+" "+argv[1])
	return ok
}
