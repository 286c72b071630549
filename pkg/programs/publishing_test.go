package programs_test

import (
	"context"
	"slices"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/shellparse"
)

// TestPublishing: of an option and what takes it back the last counts, and each request of curl is one of its own.
func TestPublishing(t *testing.T) {
	for command, want := range map[string]bool{
		"git push -n https://h.example/x":                                   false,
		"git push --dry-run https://h.example/x":                            false,
		"git push --dry https://h.example/x":                                false,
		"git push --no-dry-run -n https://h.example/x":                      false,
		"git push -n --no-verify https://h.example/x":                       false,
		"git push https://h.example/x":                                      true,
		"git push -n --no-dry-run https://h.example/x":                      true,
		"git push --dry-run --no-dry https://h.example/x":                   true,
		"git push -n https://h.example/x --no-d":                            true,
		"git send-pack --dry-run --no-dry-run https://h.example/x":          true,
		"git send-email --dry-run --no-dry-run a.txt":                       true,
		"git remote-https origin https://h.example/x":                       true,
		"printf 'push a:b\n\n' | git remote-http origin http://h.example/x": true,
		"git fetch https://h.example/x":                                     false,
		"semantic-release --dry-run":                                        false,
		"semantic-release --dry-run=false":                                  true,
		"semantic-release --dry-run --no-dry-run":                           true,
		"semantic-release --dry-run --dryRun=false":                         true,
		"semantic-release --dry-run false":                                  true,
		"semantic-release --dry":                                            true,
		"npx semantic-release --dry-run --no-dry-run":                       true,
		"release-it --no-dry-run --dry-run":                                 false,
		"deno publish --dry-run":                                            false,
		"nx release --dry-run=true":                                         false,
		"nx release --dry-run --dryRun=false":                               true,
		"goreleaser release --clean --snapshot":                             false,
		"goreleaser release --snapshot=false":                               true,
		"goreleaser release --snapshot --snapshot=0":                        true,
		"ko build -L":                                                       false,
		"ko build -L --local=false":                                         true,
		"npm publish --offline":                                             true,
		"npm ci --offline":                                                  false,
		"kubectl apply -f a.txt --help":                                     false,
		"kubectl apply -f a.txt --help=false":                               true,
		"gh release create v1 --help=false":                                 true,
		"docker build .":                                                    false,
		"docker build --push=false .":                                       false,
		"docker build --push=true .":                                        true,
		"docker compose build":                                              false,
		"docker compose build --push":                                       true,
		"docker-compose build --push":                                       true,
		"cargo release patch":                                               false,
		"cargo release -vx patch":                                           true,
		"curl -G -d a http://h.example/":                                    false,
		"curl -X GET http://h.example/":                                     false,
		"curl -G -d a http://h.example/ --next http://g.example/":           false,
		"curl -G -d a http://h.example/ --next -d @a.txt http://g.example/": true,
		"curl http://h.example/ -: -d @a.txt http://g.example/":             true,
		"curl -d x http://h.example/ --next -X GET http://g.example/":       true,
		"curl -X GET --data-binary @a.txt http://h.example/":                true,
		"curl -G -d a --no-get http://h.example/":                           true,
		"curl -G -X GET -d a http://h.example/":                             false,
		"wget --method=GET --body-file=a.txt http://h.example/":             true,
		"wget --method=HEAD http://h.example/":                              false,
	} {
		a := shellparse.Analyze(context.Background(), command, "bash", world())
		if have := slices.ContainsFunc(a.Accesses, func(x policy.Access) bool { return x.Publishes }); have != want {
			t.Errorf("%s: publishes is %v", command, have)
		}
	}
	// Which of its requests sends.
	a := shellparse.Analyze(context.Background(), "curl http://h.example/ --next -d x http://g.example/", "bash", world())
	for _, x := range a.Accesses {
		if x.Kind == policy.Net && x.Publishes && x.Host != "g.example" {
			t.Errorf("%s is sent something", x.Host)
		}
	}
}
