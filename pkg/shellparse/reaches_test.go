package shellparse

import (
	"slices"
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// TestReaches: which hosts a command is known to need, a ! before those where it
// changes something and a ? for those that are not known.
func TestReaches(t *testing.T) {
	b := newBench(t)
	b.repo(t, "a.txt", "node_modules/.bin/create-local")
	b.git(t, "remote", "add", "origin", "git@git.example.org:a/b.git")
	b.git(t, "remote", "add", "up", "https://up.example.org:8443/b")
	for command, want := range map[string]string{
		// Words that name a host, with a scheme or without.
		"curl localhost:3000/a":                       "localhost",
		"curl [::1]:8080/a":                           "::1",
		"curl 127.0.0.1:8080":                         "127.0.0.1",
		"curl -s example.com":                         "example.com",
		"curl -d x=1 https://example.com":             "example.com !example.com",
		"curl -T a.txt example.com":                   "example.com !example.com",
		"curl -F f=@a.txt example.com":                "example.com !example.com",
		"curl -X DELETE example.com":                  "example.com !example.com",
		"curl -XPUT example.com":                      "example.com !example.com",
		"curl -G -d x=1 example.com":                  "example.com",
		"curl -X GET -d x=1 example.com":              "example.com",
		"curl -fsSL https://example.com/x":            "example.com",
		"wget -q example.com/x":                       "example.com",
		"wget --post-data=x example.com":              "example.com !example.com",
		"curl \"http://localhost:3000/$(cat a.txt)\"": "localhost",
		"curl \"http://localhost:$(cat a.txt)/\"":     "?localhost",
		"curl \"http://localhost$(cat a.txt)/\"":      "?",
		"http POST example.com a=b":                   "example.com !example.com",
		"http example.com q==b":                       "example.com",
		"http :3000/a":                                "localhost",
		"nc example.com 80":                           "example.com !example.com",
		"ssh me@example.com ls":                       "example.com !example.com",
		"scp a.txt example.com:b":                     "example.com !example.com",
		"scp example.com:b a.txt":                     "example.com",
		// git, by its remotes.
		"git push":                            "git.example.org !git.example.org",
		"git push up main":                    "up.example.org !up.example.org",
		"git push --dry-run":                  "git.example.org",
		"git fetch":                           "git.example.org",
		"git fetch --all":                     "git.example.org up.example.org",
		"git pull up main":                    "up.example.org",
		"git ls-remote https://example.com/x": "example.com",
		"git clone ssh://git@example.com/x":   "example.com",
		"git clone example.com:x":             "example.com",
		"git push nowhere":                    "? !",
		"git status":                          "",
		// Programs that need a registry, which no word names.
		"npm install":    "registry.npmjs.org",
		"npm i left-pad": "registry.npmjs.org",
		"npm install --registry https://npm.example.org": "npm.example.org",
		"npm ci --offline":             "",
		"npm publish":                  "registry.npmjs.org !registry.npmjs.org",
		"npm test":                     "",
		"npm run publish":              "",
		"pnpm add x":                   "registry.npmjs.org",
		"yarn":                         "registry.yarnpkg.com registry.npmjs.org",
		"yarn build":                   "",
		"npx tsc --noEmit":             "",
		"npx -y cowsay":                "registry.npmjs.org",
		"npx create-next-app@latest x": "registry.npmjs.org",
		"npx create-local":             "",
		"bunx cowsay":                  "registry.npmjs.org",
		"bunx --no-install cowsay":     "",
		"bunx create-local":            "",
		"pip install -r a.txt":         "pypi.org files.pythonhosted.org",
		"python3 -m pip install x":     "pypi.org files.pythonhosted.org",
		"pip install --no-index x":     "",
		"pip install -i https://py.example.org/simple x":     "py.example.org",
		"PIP_INDEX_URL=https://py.example.org pip install x": "py.example.org",
		"pip list":                            "",
		"twine upload dist/*":                 "upload.pypi.org !upload.pypi.org",
		"cargo add serde":                     "index.crates.io static.crates.io crates.io",
		"cargo build":                         "",
		"cargo publish":                       "crates.io !crates.io",
		"go get example.com/m":                "proxy.golang.org sum.golang.org",
		"go mod tidy":                         "proxy.golang.org sum.golang.org",
		"go install example.com/m@v1":         "proxy.golang.org sum.golang.org",
		"go build ./...":                      "",
		"go mod why x":                        "",
		"GOPROXY=off go mod tidy":             "",
		"GOPROXY=direct go get example.com/m": "example.com sum.golang.org",
		"GOPROXY=https://go.example.org go get example.com/m": "go.example.org",
		"brew info x":         "formulae.brew.sh ghcr.io github.com raw.githubusercontent.com",
		"brew --prefix":       "",
		"gh pr view 1":        "api.github.com",
		"gh pr -R a/b diff 1": "api.github.com",
		"gh pr view 1 --repo git.example.org/a/b": "git.example.org",
		"gh pr create --fill":                     "api.github.com !api.github.com github.com !github.com",
		"gh pr merge 1":                           "api.github.com !api.github.com",
		"gh issue comment 1 --body x":             "api.github.com !api.github.com",
		"gh api repos/a/b":                        "api.github.com",
		"gh api -X POST repos/a/b":                "api.github.com !api.github.com",
		"gh api repos/a/b -f x=y":                 "api.github.com !api.github.com",
		"gh api -X GET repos/a/b -f x=y":          "api.github.com",
		"gh --version":                            "",
		// Services, by their command lines.
		"kubectl get pods -A":                             "?",
		"kubectl -n dev --context x describe pod get":     "?",
		"kubectl apply -f a.txt":                          "? !",
		"kubectl --server=https://k.example.org get pods": "k.example.org",
		"kubectl version --client":                        "",
		"kubectl config view":                             "",
		"helm template a":                                 "",
		"helm list":                                       "?",
		"helm upgrade a b":                                "? !",
		"aws --region eu-west-1 s3 ls":                    "?",
		"aws ec2 run-instances":                           "? !",
		"aws --endpoint-url http://localhost:4566 s3 ls":  "localhost",
		"aws configure list":                              "",
		"aws --version":                                   "",
		"gcloud compute instances list":                   "?",
		"gcloud config list":                              "",
		"az vm list":                                      "management.azure.com login.microsoftonline.com",
		"terraform plan":                                  "?",
		"terraform apply":                                 "? !",
		"terraform validate":                              "",
		"ansible-playbook a.yml":                          "? !",
		"ansible-playbook --syntax-check a.yml":           "",
		"glab mr list":                                    "gitlab.com",
		"glab mr merge 3":                                 "gitlab.com !gitlab.com",
		// A word that is no verb says nothing.
		"kubectl delete events --all":                          "? !",
		"kubectl delete -n get describe x":                     "? !",
		"kubectl --as-uid get delete pod x":                    "? !",
		"kubectl run get --image=x":                            "? !",
		"kubectl rollout status deploy/x":                      "?",
		"kubectl rollout restart deploy/status":                "? !",
		"aws logs delete-log-group --log-group-name x":         "? !",
		"aws logs describe-log-groups":                         "?",
		"helm --debug list uninstall foo":                      "? !",
		"gcloud compute instances delete list":                 "? !",
		"gcloud --project=x compute instances describe delete": "?",
		"pulumi destroy --stack status":                        "? !",
		"az vm delete --name show":                             "management.azure.com !management.azure.com login.microsoftonline.com !login.microsoftonline.com",
		"glab mr --repo view merge 3":                          "gitlab.com !gitlab.com",
		"glab mr merge view":                                   "gitlab.com !gitlab.com",
		"dvc repro":                                            "",
		"dvc pull":                                             "?",
		"npx playwright install chromium":                      "cdn.playwright.dev playwright.azureedge.net",
		"npx playwright test":                                  "",
		"git lfs pull":                                         "git.example.org",
		"git submodule update --init":                          "",
		"git submodule add https://x.example.org/a":            "?",
		"git submodule status --recursive":                     "",
		"git ls-remote --get-url":                              "",
		"git remote show -n origin":                            "",
		"bundle -v":                                            "",
		"bundle":                                               "rubygems.org index.rubygems.org",
	} {
		var got []string
		for _, a := range analyze(b, command).Accesses {
			switch s := a.Host; {
			case a.Kind != policy.Net:
			case a.Publishes:
				got = append(got, "!"+s)
			case a.Opaque != "":
				got = append(got, "?"+s)
			default:
				got = append(got, s)
			}
		}
		if !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s: %q, not %q", command, got, want)
		}
	}
}
