package programs_test

import (
	"context"
	"errors"
	"slices"
	"strings"
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

// TestPublishingSpellings: a subcommand publishes in whatever spelling, and what only looks so does not.
func TestPublishingSpellings(t *testing.T) {
	for want, list := range map[bool]string{true: publishing, false: harmless} {
		for command := range strings.Lines(list) {
			if command = strings.TrimSpace(command); command == "" {
				continue
			}
			w := world()
			w.ReadFile = func(name string) ([]byte, error) {
				text, ok := map[string]string{
					root + "/sends.cfg": "# what is sent\ndata = \"@b.txt\"\nurl: https://h.example/\n",
					root + "/short.cfg": "-d @b.txt\n",
					root + "/asks.cfg":  "silent\nurl = \"https://h.example/\"\n--header \"a: b\"\n-o b.txt\n",
					root + "/more.cfg":  "config = sends.cfg\n",
				}[name]
				if !ok {
					return nil, errors.New("no file")
				}
				return []byte(text), nil
			}
			a := shellparse.Analyze(context.Background(), command, "bash", w)
			if have := slices.ContainsFunc(a.Accesses, func(x policy.Access) bool { return x.Publishes }); have != want {
				t.Errorf("%s: publishes is %v", command, have)
			}
		}
	}
}

const publishing = `
	gh api -X DELETE repos/o/r
	gh api -iXDELETE repos/o/r
	gh api -ifa=b repos/o/r
	gh api --method=PATCH repos/o/r
	gh api repos/o/r --input a.txt
	gh api -X GET repos/o/r -XPOST
	gh label create x
	gh label clone o/src -f
	gh codespace ports visibility 3000:public
	gh codespace ports -c name visibility 3000:public
	gh pr comment 1 --body --help
	gh pr comment 1 -b --help
	gh pr --body list comment 1
	gh -x view pr comment 1
	gh project copy 1
	glab mr note 1 -m hi
	glab mr note 1 -m --help
	http POST x.example a=b
	http Post x.example
	http --raw hello x.example
	http --raw=hello x.example
	http x.example < a.txt
	http GET x.example < a.txt
	cat a.txt | http x.example
	cat a.txt | xh x.example
	xhs POST x.example a=b
	xhs x.example a=b
	http x.example a=b==c
	http x.example f@a.txt
	http -a me:word PUT x.example
	http localhost a:=1
	curl -K sends.cfg
	curl -sK sends.cfg
	curl -K short.cfg https://h.example/
	curl -K more.cfg
	curl -K unknown.cfg
	curl -K asks.cfg -d @a.txt
	printf 'data=a' | curl -K - https://h.example/
	curl --config $file https://h.example/
	CURL_HOME=sub curl https://h.example/
	export XDG_CONFIG_HOME=sub; curl https://h.example/
	HOME=sub curl -s https://h.example/ -q
	env WGETRC=sub/w wget https://h.example/
	HOME=$(pwd)/sub wget https://h.example/
	lynx -post_data https://h.example/
	wget -e post_data=a https://h.example/
	wget -e 'Post-File = a.txt' https://h.example/
	poetry publish
	poetry --directory sub publish
	poetry -C sub publish
	poetry --no-interaction publish
	uv publish
	uv --directory sub publish
	uv --project sub publish
	uv --color auto publish
	hatch --env x publish
	pdm --config x publish
	hg push
	hg --cwd sub push
	hg --config ui.x=y push
	hg pus
	firebase --project p deploy
	firebase functions:delete f
	wrangler --config w.toml deploy
	wrangler --cwd sub pages deploy d
	wrangler r2 object put b/k
	netlify --auth x deploy
	netlify env:set a b
	crane --platform linux/amd64 push a b
	crane append -f a.tar -t r
	skopeo --policy p copy docker-archive:a docker://b
	twine --x y upload a
	gem --config-file x push a.gem
	gem pus a.gem
	cargo --target-dir x publish
	npm --cache-min 3 publish
	yarn --modules-folder x publish
	fly --access-token x deploy
	supabase --workdir sub functions deploy f
	dvc --cd sub push
	mkdocs --config-file x gh-deploy
	helm --debug --kube-token-file x install a b
	svn mkdir https://x.example/a -m x
	svn delete -m x https://x.example/a
	svn rm https://x.example/a
	svn copy https://x.example/a https://x.example/b -m x
	svn cp . ^/tags/a -m x
	svn --username me mv https://x.example/a https://x.example/b
	svn propset --revprop -r 1 svn:log x
	svn --username me commit -m x
	sbt publish
	sbt 'clean;publish'
	sbt ';clean;+publishSigned'
	sbt lib/publish
	sbt 'lib / publish'
	sbt 'project lib' publish
	sbt 'release with-defaults'
	mix hex.publish
	mix do compile, hex.publish
	mix do compile + hex.publish package
	mix hex.retire a 1.0.0 security
	lein deploy
	lein do clean, deploy clojars
	lein with-profile x deploy
	mvn deploy
	mvn deploy:deploy-file -Dfile=a
	mvn org.apache.maven.plugins:maven-deploy-plugin:3.1.1:deploy-file -Dfile=a
	mvn org.apache.maven.plugins:maven-release-plugin:perform
	mvn com.google.cloud.tools:jib-maven-plugin:3.4.0:build
	mvn release:prepare
	mvn deploy:deploy@id
	gradle publ
	rake build release
	fastlane ios release
	docker buildx build --output type=image,push=true .
	docker buildx build --output type=image,name=x,push=true .
	docker buildx build --output=name=x,type=image,push=1 .
	docker build -otype=registry .
	docker build -qo type=registry .
	docker buildx build --cache-to type=registry,ref=x .
	docker buildx bake --set '*.output=type=registry'
	docker buildx imagetools create -t a b
	docker --tlscacert x push a
	podman --log-level debug push a
	terraform taint a.b
	terraform force-unlock 1
	terraform state rm a.b
	git lfs push origin main
	lerna version patch
	regctl image copy a b
	gt stack submit
`

const harmless = `
	gh api repos/o/r
	gh api -i repos/o/r
	gh api -X GET search/code -f q=x
	gh api -iXGET repos/o/r
	gh api repos/o/r -q .X
	gh api repos/o/r --jq '.f'
	gh api -H 'X-F: a' repos/o/r
	gh repo clone o/r
	gh gist clone a
	gh pr list --search 'comment'
	gh -R o/r pr view 1
	gh pr -R o/r checks 1
	gh pr create --help
	gh pr comment 1 --body x --help
	gh codespace ports
	gh run view 1 --log
	gh release verify-asset v1 a
	gh help pr
	glab mr list
	glab mr note --help
	http x.example
	http GET x.example
	http --ignore-stdin GET x.example < a.txt
	http -I x.example q==a
	http x.example 'From:a@b.example' q==a=b
	http --auth me:word x.example
	http --print=hb --timeout 5 x.example
	http localhost
	http localhost q==a
	xh -b x.example
	xhs x.example
	curl -K asks.cfg
	curl -sK asks.cfg -o a.txt
	curl -X GET -K asks.cfg
	CURL_HOME=sub curl -q https://h.example/
	WGETRC=sub/w wget --no-config https://h.example/
	LC_ALL=C NO_COLOR=1 curl https://h.example/
	wget -e robots=off https://h.example/
	lynx -dump https://h.example/
	poetry run publish-docs
	poetry --directory sub run publish-docs
	poetry --quiet run publish
	poetry publish-docs
	uv run pytest publish
	uv --directory sub run pytest publish
	uv --offline run publish
	uv --no-cache run publish
	npm run publish
	npm --silent run publish
	npm --prefix sub run deploy
	npm --prefix publish test
	npm run deploy-docs --help
	npm --workspaces run deploy
	yarn --silent run deploy
	pnpm --filter x run deploy
	cargo --offline test publish
	cargo run -- publish
	hg --cwd sub status
	hg status push
	firebase emulators:start --only deploy
	wrangler dev --env deploy
	netlify dev --dir deploy
	netlify build
	crane --platform linux/amd64 manifest a
	skopeo inspect docker://a
	svn mkdir a
	svn delete a.txt
	svn copy https://x.example/a b
	svn copy a b
	svn move a b
	svn propset svn:ignore x .
	svn status
	sbt publishLocal
	sbt 'clean;test'
	sbt 'lib/publishLocal'
	sbt 'show publish'
	sbt 'set publish / skip := true' test
	sbt +publishM2
	mix do compile, test
	mix test publish
	mix deps.get
	mix run deploy
	lein do clean, test
	lein run deploy
	mvn install
	mvn org.apache.maven.plugins:maven-surefire-plugin:3.0.0:test
	mvn -q -DskipTests package
	gradle publishToMavenLocal
	gradle build
	gradle p
	rake build
	docker build -t a .
	docker build -o type=local,dest=out .
	docker build --output type=image,push=false .
	docker buildx build --cache-from type=registry,ref=x .
	docker buildx imagetools inspect a
	docker compose build
	docker run a push
	terraform plan
	terraform state list
	terraform validate
	terraform workspace list
	git lfs pull
	helm --debug template a b
	kubectl --context x get pods
	dvc --cd sub status
	mkdocs --quiet build
	lerna version --no-push patch
	lerna run publish-docs
`
