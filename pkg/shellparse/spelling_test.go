package shellparse

import (
	"os"
	"slices"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// strict loads a policy for a place where the sandbox is at its highest level,
// so that only rules and the dangerous class stand in a command's way.
func strict(t testing.TB, b *bench, text string) *policy.Policy {
	t.Helper()
	file := t.TempDir() + "/policy.yaml"
	must(t, os.WriteFile(file, []byte("version: 1\nnetwork: {default: allow}\n"+text), 0o600))
	p, err := policy.Load(&policy.Sources{Root: b.root, Home: b.home, State: b.home + "/state", Files: []string{file}, Temp: []string{"/tmp/agentkit-tmp"}, Level: 3})
	must(t, err)
	return p
}

// TestDenyRulesSeeEverySpelling: a rule that names an option or subcommand
// denies every other way to say the same, and nothing else.
func TestDenyRulesSeeEverySpelling(t *testing.T) {
	for _, c := range []struct {
		rule       string
		deny, pass []string // pass: the rule does not speak
	}{
		{"git push * --force *", []string{
			"git push -f", "git push origin main -f", "git push -uf origin main", "git push -fu origin main", "git push --forc", "git push origin +main", "git push --force-with-lease",
			"git -C . push --force", "git -c user.name=x push -f", "git --no-pager push -f", "git push -qf origin", "git push --mirror", "env git push -f", "bash -c 'git push -f'", "git push '-f'", `git push $'-f'`,
		}, []string{"git push", "git push -u origin main", "git push -n", "git push origin main:main", "git push --follow-tags"}},
		{"git commit * --no-verify *", []string{"git commit -n -m x", "git commit -nm x", "git commit -anm x", "git commit -am x -n", "git commit --no-ver"}, []string{"git commit -m x", "git commit -am x", "git commit -a --amend --no-edit", "git commit -mn"}},
		{"git branch * -D *", []string{"git branch -D x", "git branch --delete --force x", "git branch -df x", "git branch -f -d x"}, []string{"git branch -d x", "git branch x", "git branch -a"}},
		{"git branch * --delete *", []string{"git branch -d x", "git branch -D x", "git branch -rd x"}, []string{"git branch -m a b"}},
		{"rm * --recursive *", []string{"rm -r x", "rm -R x", "rm -rf x", "rm -vfr x", "rm --recurs x", "rm x -r"}, []string{"rm x", "rm -f x", "rm -- -r"}},
		{"rm * -rf *", []string{"rm -fr x", "rm -r -f x", "rm -Rf x", "rm --recursive --force x", "rm -rvf x", "rm --force -R x"}, []string{"rm -r x"}},
		{"cp * --recursive *", []string{"cp -r a b", "cp -a a b", "cp -pR a b", "cp --archive a b"}, []string{"cp -p a b", "cp a b"}},
		{"sed * -i *", []string{"sed -i.bak s/a/b/ f", "sed --in-place s/a/b/ f", "sed --in-place=.b s/a/b/ f", "sed -Ei s/a/b/ f", "sed -n -i p f"}, []string{"sed s/a/b/ f", "sed -n p f", "sed -e s/i/-i/ f"}},
		{"curl * --output *", []string{"curl -o x http://h", "curl -ox http://h", "curl -sSLo x http://h", "curl --output=x http://h"}, []string{"curl http://h", "curl -sSL http://h"}},
		{"wget * --output-document *", []string{"wget -O x http://h", "wget -qO- http://h", "wget --output-doc=x http://h"}, []string{"wget -q http://h"}},
		{"sort * --output *", []string{"sort -o x y", "sort -ox y", "sort -uo x y", "sort --out=x y"}, []string{"sort -u y", "sort y"}},
		{"grep * --file *", []string{"grep -f x y", "grep -rf x y", "grep --file=x y"}, []string{"grep -r x y", "grep -F x y"}},
		{"ls * --all *", []string{"ls -a", "ls -la", "ls -lad x"}, []string{"ls", "ls -l", "ls -A"}},
		{"go test * -exec *", []string{"go test -exec x ./...", "go test --exec=x ./...", "go test -v -exec=x ."}, []string{"go test ./...", "go test -v -run exec ."}},
		{"make * --file *", []string{"make -f x", "make -fx", "make --makefile=x", "make -sf x"}, []string{"make", "make -j4 test"}},
		{"python3 -c *", []string{"python3 -c 1", "python3 -c1", "python3 -Bc 1", "python3.11 -c 1", "python -c 1"}, []string{"python3 x.py", "python3 -m pytest", "python3 -V"}},
		{"node --eval *", []string{"node -e 1", "node -p 1", "node -pe 1", "node --eval=1", "nodejs -e 1", "node --print 1"}, []string{"node x.js", "node --test"}},
		{"kill -9 *", []string{"kill -KILL 1", "kill -s 9 1", "kill -s KILL 1", "kill -SIGKILL 1", "kill -n 9 1", "kill -s9 1"}, []string{"kill 1", "kill -15 1", "kill -TERM 1"}},
		{"kill -KILL *", []string{"kill -9 1", "kill -s 9 1"}, []string{"kill -1 1"}},
		{"npm install * --global *", []string{"npm install -g x", "npm i -g x", "npm add -g x", "npm isntall --global x", "npm -g install x", "npm i --location=global x", "npm in -g x"}, []string{"npm install x", "npm i", "npm ls -g", "npm run install"}},
		{"npm publish *", []string{"npm pub", "npm publ", "npm --tag x publish", "npm publish --dry-run"}, []string{"npm pack", "npm test", "npm run publish"}},
		{"npm run *", []string{"npm run-script x", "npm rum x", "npm run x"}, []string{"npm install", "npm root"}},
		{"npm test *", []string{"npm t", "npm tst"}, []string{"npm ci"}},
		{"pip install *", []string{"pip3 install x", "python -m pip install x", "python3 -m pip install x", "pip3.11 install x", "python3.12 -m pip install x"}, []string{"pip list", "python3 -m pip list"}},
		{"python3 -m pip install *", []string{"pip install x", "python -m pip install x"}, []string{"python3 -m pytest"}},
		{"pytest *", []string{"python -m pytest x"}, []string{"python -m unittest"}},
		{"docker run * --privileged *", []string{"docker run --privileged alpine", "docker container run --privileged alpine", "docker run -it --privileged=true alpine", "docker --debug run --privileged alpine"}, []string{"docker run alpine", "docker ps"}},
		{"docker rm * --force *", []string{"docker rm -f x", "docker container rm -f x", "docker container remove --force x"}, []string{"docker rm x"}},
		{"docker rmi *", []string{"docker image rm x", "docker image remove x"}, []string{"docker images"}},
		{"docker compose down *", []string{"docker-compose down", "docker compose down", "docker-compose down -v"}, []string{"docker compose up", "docker-compose logs down"}},
		{"cargo publish *", []string{"cargo +nightly publish", "cargo -q publish", "cargo --config x publish"}, []string{"cargo build", "cargo test publish"}},
		{"cargo test *", []string{"cargo t", "cargo +stable t x"}, []string{"cargo build"}},
		{"apt-get install *", []string{"apt install x", "apt-get install -y x"}, []string{"apt list", "apt-get update"}},
		{"kubectl delete *", []string{"kubectl delete pod x", "kubectl -n x delete pod y", "kubectl --context x -n y delete pod z"}, []string{"kubectl get pods"}},
		{"terraform destroy *", []string{"terraform apply -destroy", "terraform -chdir=x destroy"}, []string{"terraform plan"}},
		{"helm uninstall *", []string{"helm delete x", "helm un x"}, []string{"helm list"}},
		{"tar * --to-command *", []string{"tar xf a --to-command=x", "tar -xf a --to-com x"}, []string{"tar xf a"}},
	} {
		b := newBench(t)
		p := strict(t, b, "deny: ['bash("+c.rule+")']\n")
		for _, s := range c.deny {
			o := p.DecideAll(analyze(b, s).Accesses)
			if !slices.ContainsFunc(o.Decisions, func(d policy.Decision) bool { return d.Rule == "bash("+c.rule+")" }) {
				t.Errorf("deny %s: %q is not meant (%s)", c.rule, s, o.Verdict)
			}
		}
		for _, s := range c.pass {
			for _, d := range p.DecideAll(analyze(b, s).Accesses).Decisions {
				if d.Rule == "bash("+c.rule+")" {
					t.Errorf("deny %s: %q is meant too: %s", c.rule, s, d.Why)
				}
			}
		}
	}
}
