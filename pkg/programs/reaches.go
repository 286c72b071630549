package programs

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
)

// A reach is a way to call a program that needs the network, although no word of
// the call need name a host.
type reach struct {
	names     string           // the programs
	sub       string           // the first operand is one of these; "-" for none at all, "" for any
	arg       string           // one of the words is one of these, or holds a version; "" for any
	does      func(*Call) bool // what its words say besides; nil for anything
	without   string           // none of these options is given
	hosts     string           // what it reaches; "" for nothing, "?" for what its settings say
	from      string           // options and variables that name another address than the first host
	publishes bool             // it changes something there
}

// The hosts of registries.
const (
	npmHosts    = "registry.npmjs.org"
	pypiHosts   = "pypi.org files.pythonhosted.org"
	crateHosts  = "index.crates.io static.crates.io crates.io"
	gemHosts    = "rubygems.org index.rubygems.org"
	phpHosts    = "repo.packagist.org packagist.org api.github.com codeload.github.com"
	debianHosts = "deb.debian.org security.debian.org archive.ubuntu.com security.ubuntu.com ports.ubuntu.com"
	goHosts     = "proxy.golang.org sum.golang.org"
	brewHosts   = "formulae.brew.sh ghcr.io github.com raw.githubusercontent.com"
	condaHosts  = "conda.anaconda.org repo.anaconda.com"
	dockerHosts = "registry-1.docker.io auth.docker.io production.cloudflare.docker.com"
	mavenHosts  = "repo.maven.apache.org repo1.maven.org plugins.gradle.org services.gradle.org downloads.gradle.org"
	otherHosts  = "static.rust-lang.org deno.land jsr.io npm.jsr.io registry.yarnpkg.com nodejs.org hex.pm repo.hex.pm builds.hex.pm hackage.haskell.org api.nuget.org pub.dev luarocks.org " +
		"cpan.metacpan.org www.cpan.org opam.ocaml.org dl-cdn.alpinelinux.org mirrors.fedoraproject.org dl.fedoraproject.org index.rubygems.org storage.googleapis.com dl.google.com golang.org cache.nixos.org"
)

// PackageHosts lists the registries of languages and distributions.
func PackageHosts() []string {
	all := strings.Fields(strings.Join([]string{npmHosts, pypiHosts, crateHosts, gemHosts, phpHosts, debianHosts, goHosts, brewHosts, condaHosts, dockerHosts, mavenHosts, otherHosts}, " "))
	all = slices.DeleteFunc(all, func(h string) bool { // anybody keeps anything there
		return h == "github.com" || h == "raw.githubusercontent.com" || h == "api.github.com" || h == "codeload.github.com" || h == "storage.googleapis.com"
	})
	slices.Sort(all)
	return slices.Compact(all)
}

// reaches lists them; of one program's the first that matches counts.
var reaches = [...]reach{
	{names: "npm pnpm yarn bun npx bunx", without: "offline"}, // matched by its option alone, see reaching
	{names: "npm", sub: "publish publ pub publi publis unpublish unp unpu unpub unpubl unpubli unpublis profile prof hook deprecate undeprecate owner author access dist-tag dist-tags token team org star unstar login adduser add-user logout", hosts: npmHosts, from: "--registry npm_config_registry", publishes: true},
	{names: "npm", sub: "install i in ins inst insta instal isnt isnta isntal add ci clean-install ic install-clean install-test it cit update up upgrade udpate audit outdated view info show v search s se find dedupe ddp ping whoami stars create", hosts: npmHosts, from: "--registry npm_config_registry"},
	{names: "yarn", sub: "workspace workspaces", arg: "publish", hosts: "registry.yarnpkg.com registry.npmjs.org", publishes: true},
	{names: "pnpm", sub: "publish unpublish deprecate owner access dist-tag login logout", hosts: npmHosts, from: "--registry npm_config_registry", publishes: true},
	{names: "pnpm", sub: "install i add update up upgrade outdated audit dlx create fetch import view info", hosts: npmHosts, from: "--registry npm_config_registry"},
	{names: "yarn", sub: "npm", arg: "publish tag login logout", hosts: "registry.yarnpkg.com registry.npmjs.org", publishes: true},
	{names: "yarn", sub: "publish owner tag login logout", hosts: "registry.yarnpkg.com registry.npmjs.org", publishes: true},
	{names: "yarn", sub: "- install add upgrade up upgrade-interactive outdated audit info dlx create global npm", hosts: "registry.yarnpkg.com registry.npmjs.org", from: "--registry"},
	{names: "bun", sub: "publish", hosts: npmHosts, from: "--registry", publishes: true},
	{names: "bun", sub: "install i add a update upgrade outdated x create c", hosts: npmHosts, from: "--registry"},
	{names: "bunx", without: "no-install"},
	{names: "bunx", hosts: npmHosts},
	{names: "pip pip3", sub: "install download wheel index search", without: "no-index", hosts: pypiHosts, from: "-i --index-url PIP_INDEX_URL"},
	{names: "pip pip3", sub: "list", arg: "-o --outdated -u --uptodate", hosts: pypiHosts, from: "-i --index-url PIP_INDEX_URL"},
	{names: "pipx", sub: "install inject upgrade upgrade-all run reinstall", hosts: pypiHosts, from: "--index-url PIP_INDEX_URL"},
	{names: "uv", sub: "publish", hosts: "upload.pypi.org", from: "--publish-url", publishes: true},
	{names: "uv", sub: "add sync lock pip tool", arg: "add sync lock install compile upgrade", without: "offline", hosts: pypiHosts, from: "--index-url --default-index -i UV_INDEX_URL UV_DEFAULT_INDEX"},
	{names: "uv", sub: "python", arg: "install upgrade", without: "offline", hosts: "github.com objects.githubusercontent.com"},
	{names: "poetry hatch flit pdm rye maturin", sub: "publish upload", hosts: "upload.pypi.org", publishes: true},
	{names: "poetry pipenv pdm rye", sub: "install add update upgrade lock sync", hosts: pypiHosts},
	{names: "twine", sub: "upload", hosts: "upload.pypi.org", from: "--repository-url TWINE_REPOSITORY_URL", publishes: true},
	{names: "conda mamba micromamba", sub: "install create update upgrade search", without: "offline", hosts: condaHosts},
	{names: "cargo", sub: "publish yank owner login logout", hosts: "crates.io", publishes: true},
	{names: "cargo", sub: "workspaces ws", arg: "publish", hosts: "crates.io", publishes: true},
	{names: "cargo", sub: "release", arg: "--execute -x", hosts: "crates.io", publishes: true},
	{names: "cargo", sub: "audit deny outdated", without: "offline no-fetch n", hosts: "github.com index.crates.io"},
	{names: "cargo", sub: "install update search add fetch binstall info", without: "offline", hosts: crateHosts},
	{names: "rustup", sub: "update install toolchain target component self", arg: "update install add upgrade", hosts: "static.rust-lang.org"},
	{names: "go", sub: "get", hosts: goHosts, from: "GOPROXY"},
	{names: "go", sub: "install run", arg: "@", hosts: goHosts, from: "GOPROXY"},
	{names: "go", sub: "mod work", arg: "tidy download sync", hosts: goHosts, from: "GOPROXY"},
	{names: "go", sub: "list", arg: "-u -versions", hosts: goHosts, from: "GOPROXY"},
	{names: "gem", sub: "push pus pu yank yan ya owner owne own ow signin", hosts: "rubygems.org", publishes: true},
	{names: "gem", sub: "install i update search outdated fetch", without: "local l", hosts: gemHosts, from: "-s --source"},
	{names: "bundle bundler", sub: "- install update outdated add lock", without: "local", hosts: gemHosts},
	{names: "composer", sub: "install i update u upgrade require r create-project outdated audit global search", hosts: phpHosts},
	{names: "apt apt-get aptitude", sub: "update install upgrade dist-upgrade full-upgrade source download build-dep changelog", hosts: debianHosts},
	{names: "apk", sub: "add update upgrade fetch", without: "no-network", hosts: "dl-cdn.alpinelinux.org"},
	{names: "yum dnf microdnf", sub: "install update upgrade search info makecache check-update download", hosts: "mirrors.fedoraproject.org dl.fedoraproject.org"},
	{names: "zypper", sub: "install in update up refresh ref dup search se", hosts: "download.opensuse.org"},
	{names: "pacman", arg: "-S*", hosts: "?"},
	{names: "snap", sub: "install refresh download find info", hosts: "api.snapcraft.io"},
	{names: "corepack", sub: "prepare install use up pack", hosts: npmHosts},
	{names: "deno", sub: "add install cache update outdated", without: "cached-only", hosts: "jsr.io npm.jsr.io registry.npmjs.org deno.land"},
	{names: "deno", sub: "publish", without: "dry-run", hosts: "jsr.io api.jsr.io", publishes: true},
	{names: "jsr", sub: "publish", without: "dry-run", hosts: "jsr.io api.jsr.io", publishes: true},
	{names: "brew", sub: "install reinstall update upgrade info search outdated fetch tap bundle home audit livecheck", hosts: brewHosts},
	{names: "docker podman nerdctl", sub: "push", hosts: dockerHosts, publishes: true},
	{names: "docker podman nerdctl", sub: "pull login search", hosts: dockerHosts},
	{names: "mvn mvnw mvnd", does: func(c *Call) bool {
		return c.doesGoal("deploy deploy:* release:perform release:prepare release:branch site-deploy")
	}, hosts: "repo.maven.apache.org", publishes: true},
	{names: "mvn mvnw mvnd", does: func(c *Call) bool {
		return c.doesGoal("jib:build site:deploy site:stage-deploy nexus-staging:* scm-publish:* wagon:* spring-boot:build-image-publish -Dspring-boot.build-image.publish=true central-publishing:publish " +
			"docker:push dockerfile:push jreleaser:deploy jreleaser:release jreleaser:full-release jreleaser:publish jreleaser:upload")
	}, hosts: "?", publishes: true},
	{names: "mvn mvnw", sub: "dependency:resolve dependency:go-offline dependency:get dependency:resolve-plugins versions:display-dependency-updates", without: "o offline", hosts: "repo.maven.apache.org"},
	{names: "mix", does: (*Call).doesOne, hosts: "hex.pm", publishes: true},
	{names: "mix", sub: "deps.get deps.update hex.info hex.outdated archive.install local.hex", hosts: "hex.pm repo.hex.pm builds.hex.pm"},
	{names: "cabal", sub: "upload", hosts: "hackage.haskell.org", publishes: true},
	{names: "cabal", sub: "update install get fetch", without: "offline", hosts: "hackage.haskell.org"},
	{names: "dotnet", sub: "nuget", arg: "push delete", hosts: "api.nuget.org", publishes: true},
	{names: "dotnet", sub: "restore add tool workload", hosts: "api.nuget.org"},
	{names: "dart flutter", sub: "pub", arg: "publish", hosts: "pub.dev", publishes: true},
	{names: "dart flutter", sub: "pub", arg: "get add upgrade outdated", without: "offline", hosts: "pub.dev"},
	{names: "luarocks", sub: "upload", hosts: "luarocks.org", publishes: true},
	{names: "luarocks", sub: "install search download", hosts: "luarocks.org"},
	{names: "cpan cpanm", hosts: "cpan.metacpan.org www.cpan.org"},
	{names: "opam", sub: "publish", hosts: "?", publishes: true},
	{names: "opam", sub: "install update upgrade init", hosts: "opam.ocaml.org"},
	{names: "helm", sub: "push cm-push", hosts: "registry-1.docker.io", publishes: true},
	{names: "terraform tofu", sub: "init get providers", hosts: "registry.terraform.io registry.opentofu.org releases.hashicorp.com"},
	{names: "hf huggingface-cli", sub: "upload upload-large-folder repo", hosts: "huggingface.co", publishes: true},
	{names: "hf huggingface-cli", sub: "download", hosts: "huggingface.co"},
	{names: "vercel now", sub: "ls list inspect logs whoami pull link", hosts: "api.vercel.com"},
	{names: "vercel now", sub: "- *", hosts: "api.vercel.com", publishes: true},
	{names: "netlify netlify-cli ntl", sub: "deploy env:set env:unset env:import env:clone sites:create sites:delete blobs:set blobs:delete", hosts: "api.netlify.com", publishes: true},
	{names: "wrangler", sub: "deploy publish delete rollback", hosts: "api.cloudflare.com", publishes: true},
	{names: "wrangler", sub: "pages secret versions triggers queues r2 kv kv:key kv:bulk kv:namespace", arg: "deploy publish put delete bulk upload create", hosts: "api.cloudflare.com", publishes: true},
	{names: "fly flyctl", sub: "deploy launch", hosts: "api.fly.io api.machines.dev", publishes: true},
	{names: "firebase firebase-tools", sub: "deploy hosting:* functions:delete functions:config:set functions:config:unset functions:secrets:set functions:secrets:destroy database:set database:update database:push database:remove database:import firestore:delete appdistribution:distribute auth:import remoteconfig:rollback", hosts: "firebase.googleapis.com", publishes: true},
	{names: "sst serverless sls cdk aws-cdk eb", sub: "deploy remove destroy terminate", hosts: "?", publishes: true},
	{names: "supabase", sub: "functions db secrets", arg: "deploy push delete set unset", hosts: "api.supabase.com", publishes: true},
	{names: "railway", sub: "up deploy redeploy down delete", hosts: "backboard.railway.app", publishes: true},
	{names: "convex cf", sub: "deploy push delete", hosts: "?", publishes: true},
	{names: "surge gh-pages", sub: "- *", hosts: "?", publishes: true},
	{names: "eas eas-cli", sub: "submit build update", without: "local", hosts: "api.expo.dev", publishes: true},
	{names: "changeset changesets lerna", sub: "publish", hosts: npmHosts, publishes: true},
	{names: "nx", sub: "release", without: "dry-run", hosts: npmHosts, publishes: true},
	{names: "semantic-release release-it np", sub: "- *", without: "dry-run preview", hosts: "?", publishes: true},
	{names: "vsce", sub: "publish unpublish", hosts: "marketplace.visualstudio.com", publishes: true},
	{names: "ovsx", sub: "publish", hosts: "open-vsx.org", publishes: true},
	{names: "goreleaser", sub: "release r", without: "snapshot skip-publish", hosts: "?", publishes: true},
	{names: "ko", sub: "publish build resolve apply create", without: "local L", hosts: "?", publishes: true},
	{names: "skaffold", sub: "run deploy apply delete", hosts: "?", publishes: true},
	{names: "crane skopeo oras cosign", sub: "push copy cp sync tag attach sign attest delete append mutate rebase flatten", hosts: "?", publishes: true},
	{names: "buildah", sub: "push", hosts: "?", publishes: true},
	{names: "docker podman nerdctl", sub: "compose image manifest", arg: "push", hosts: dockerHosts, publishes: true},
	{names: "docker podman nerdctl", sub: "build buildx builder", arg: "--push", hosts: dockerHosts, publishes: true},
	{names: "docker podman nerdctl", sub: "compose", arg: "--push publish", hosts: dockerHosts, publishes: true},
	{names: "docker-compose", sub: "push publish", hosts: dockerHosts, publishes: true},
	{names: "docker-compose", sub: "build", arg: "--push", hosts: dockerHosts, publishes: true},
	{names: "sbt sbtn", does: (*Call).doesTask, hosts: "?", publishes: true},
	{names: "lein", does: (*Call).doesOne, hosts: "repo.clojars.org", publishes: true},
	{names: "rake", arg: "release release:*", hosts: "rubygems.org", publishes: true},
	{names: "pod", sub: "trunk repo", arg: "push", hosts: "trunk.cocoapods.org", publishes: true},
	{names: "fastlane", arg: "deliver pilot supply upload_to_* release beta deploy", hosts: "?", publishes: true},
	{names: "mike", arg: "--push -p", hosts: "?", publishes: true},
	{names: "git", sub: "subtree", arg: "push", hosts: "?", publishes: true},
	{names: "git", sub: "subtree", arg: "pull add", hosts: "?"},
	{names: "git", sub: "svn", arg: "dcommit set-tree branch tag", hosts: "?", publishes: true},
	{names: "git", sub: "svn", arg: "clone fetch rebase", hosts: "?"},
	{names: "git", sub: "send-email imap-send", without: "dry-run", hosts: "?", publishes: true},
	{names: "svn", sub: "commit ci import lock unlock", hosts: "?", publishes: true},
	{names: "svn", does: (*Call).changesFar, hosts: "?", publishes: true},
	{names: "svn", sub: "checkout co update up export log", hosts: "?"},
	{names: "hg sl", sub: "push pus email", hosts: "?", publishes: true},
	{names: "sl", sub: "pr", arg: "submit s", hosts: "?", publishes: true},
	{names: "hg sl", sub: "pull clone incoming in", hosts: "?"},
	{names: "jj", sub: "git", arg: "push", hosts: "?", publishes: true},
	{names: "jj", sub: "git", arg: "fetch clone", hosts: "?"},
	{names: "gt", sub: "submit s ss", hosts: "?", publishes: true},
	{names: "gt", sub: "stack upstack downstack branch", arg: "submit s", hosts: "?", publishes: true},
	{names: "git", sub: "lfs", arg: "push lock unlock", hosts: "?", publishes: true},
	{names: "hub", sub: "issue gist", arg: "create update", hosts: "api.github.com github.com", publishes: true},
	{names: "terraform tofu", sub: "state", arg: "rm mv push replace-provider", hosts: "?", publishes: true},
	{names: "terraform tofu", sub: "workspace", arg: "delete", hosts: "?", publishes: true},
	{names: "oras", sub: "blob manifest", arg: "push delete", hosts: "?", publishes: true},
	{names: "regctl", sub: "image tag manifest blob artifact index", arg: "copy cp import mod put delete rm del create", hosts: "?", publishes: true},
	{names: "docker", sub: "plugin model", arg: "push", hosts: dockerHosts, publishes: true},
	{names: "lerna", sub: "version", without: "no-push", hosts: "?", publishes: true},
	{names: "beachball", sub: "publish", hosts: npmHosts, publishes: true},
	{names: "auto", sub: "shipit release", hosts: "?", publishes: true},
	{names: "web-ext", sub: "sign", hosts: "addons.mozilla.org", publishes: true},
	{names: "clasp", sub: "push deploy", hosts: "script.googleapis.com", publishes: true},
	{names: "amplify ampx", sub: "push publish pipeline-deploy", hosts: "?", publishes: true},
	{names: "deployctl kamal caprover hexo", sub: "deploy d", hosts: "?", publishes: true},
	{names: "ghp-import", arg: "-p --push", hosts: "?", publishes: true},
	{names: "pixi rattler-build", sub: "upload publish", hosts: "?", publishes: true},
	{names: "release-plz", sub: "release release-pr", without: "dry-run", hosts: "?", publishes: true},
	{names: "cargo", sub: "smart-release", arg: "--execute -e", hosts: "crates.io", publishes: true},
	{names: "hub", sub: "pull-request push release fork create delete", hosts: "api.github.com github.com", publishes: true},
	{names: "mc s5cmd azcopy", sub: "cp copy mv sync mirror put pipe mb rm rb remove make", hosts: "?", publishes: true},
	{names: "ssh-copy-id", sub: "- *", hosts: "?", publishes: true},
	{names: "helmfile", sub: "apply sync destroy delete", hosts: "?", publishes: true},
	{names: "sentry-cli", sub: "releases sourcemaps debug-files deploys upload-* send-event", hosts: "sentry.io", publishes: true},
	{names: "codecov codecovcli", sub: "- *", hosts: "codecov.io", publishes: true},
	{names: "mosquitto_pub", sub: "- *", hosts: "?", publishes: true},
	{names: "mosquitto_sub", sub: "- *", hosts: "?"},
	{names: "jib", sub: "build", hosts: "?", publishes: true},
	{names: "terragrunt", sub: "apply destroy run-all run import", hosts: "?", publishes: true},
	{names: "cdktf sam copilot chalice zappa", sub: "deploy destroy delete undeploy update", hosts: "?", publishes: true},
	{names: "xcrun", sub: "altool notarytool", arg: "--upload-app --upload-package submit", hosts: "?", publishes: true},
	{names: "ng angular expo quarto hugo", sub: "deploy publish", hosts: "?", publishes: true},
	{names: "jreleaser", sub: "full-release release deploy upload publish announce", without: "dry-run", hosts: "?", publishes: true},
	{names: "rebar3", sub: "hex", arg: "publish", hosts: "hex.pm", publishes: true},
	{names: "stack", sub: "upload", hosts: "hackage.haskell.org", publishes: true},
	{names: "dune-release", sub: "publish opam bistro", hosts: "?", publishes: true},
	{names: "pub", sub: "publish", hosts: "pub.dev", publishes: true},
	{names: "nuget", sub: "push delete", hosts: "api.nuget.org", publishes: true},
	{names: "anaconda", sub: "upload", hosts: "anaconda.org", publishes: true},
	{names: "git", sub: "p4", arg: "submit", hosts: "?", publishes: true},
	{names: "git", sub: "annex", arg: "sync copy move push", hosts: "?", publishes: true},
	{names: "git", sub: "review", hosts: "?", publishes: true},
	{names: "git-review arc ghstack spr", sub: "- diff land submit", hosts: "?", publishes: true},
	{names: "bzr brz fossil darcs", sub: "push pus sync send", hosts: "?", publishes: true},
	{names: "svnmucc dput debrelease ncftpput mpack slackcat telegram-send", sub: "- *", hosts: "?", publishes: true},
	{names: "s4cmd b2", sub: "put upload-file upload sync cp mv del rm", hosts: "?", publishes: true},
	{names: "wormhole magic-wormhole croc", sub: "send", hosts: "?", publishes: true},
	{names: "ngrok bore lt localtunnel cloudflared", sub: "- *", hosts: "?", publishes: true},
	{names: "ollama replicate modal", sub: "push deploy", hosts: "?", publishes: true},
	{names: "nomad waypoint", sub: "run job up", arg: "run up", hosts: "?", publishes: true},
	{names: "etcdctl", sub: "put del txn", hosts: "?", publishes: true},
	{names: "kcat kafkacat", arg: "-P*", hosts: "?", publishes: true},
	{names: "kafka-console-producer kafka-console-producer.sh nsupdate snmpset", sub: "- *", hosts: "?", publishes: true},
	{names: "rabbitmqadmin nats", sub: "publish pub request", hosts: "?", publishes: true},
	{names: "snyk", sub: "monitor", hosts: "api.snyk.io", publishes: true},
	{names: "sonar-scanner coveralls", sub: "- *", hosts: "?", publishes: true},
	{names: "datadog-ci", sub: "*", arg: "upload send", hosts: "?", publishes: true},
	{names: "buildah", sub: "bud build", arg: "--push", hosts: "?", publishes: true},
	{names: "docker podman nerdctl buildah", sub: "build bud buildx builder image", does: (*Call).exports, hosts: dockerHosts, publishes: true},
	{names: "docker", sub: "buildx", arg: "imagetools", does: func(c *Call) bool { return Has(strings.Join(c.verbs(), " "), "create") }, hosts: dockerHosts, publishes: true},
	{names: "docker", sub: "trust", arg: "sign revoke", hosts: dockerHosts, publishes: true},
	{names: "vagrant", sub: "push", hosts: "?", publishes: true},
	{names: "ntfy", sub: "publish pub", hosts: "?", publishes: true},
	{names: "grpcurl websocat wscat", sub: "- *", hosts: "?", publishes: true},
	{names: "pre-commit", sub: "autoupdate install-hooks", hosts: "github.com pypi.org files.pythonhosted.org"},
}

// Reaches lists the hosts that a call is known to need.
func (c *Call) Reaches() {
	d := *c
	switch {
	case c.Known == "gh":
		c.gitHub()
		return
	case Has("http https xh xhs", c.Known):
		c.httpie()
		return
	case Has(databaseClients, c.Known) || Has(databaseClients, c.Name):
		c.databaseHost()
		return
	case c.Known == "npx":
		c.npxFetches()
		return
	case c.Name == "bunx":
		if i := firstOperand(c.Words, ""); i > 0 && c.packaged(c.Words[i:]) || c.projects() {
			return
		}
	case Has("gradle gradlew", c.Name):
		c.gradlePublishes()
		return
	case strings.HasPrefix(c.Known, "python"):
		i := slices.IndexFunc(c.Words, func(x Word) bool { return x.Text == "-m" })
		if i < 0 || i+1 >= len(c.Words) {
			return
		}
		d.Words = c.Words[i+1:]
		d.Name, d.Known = d.Words[0].Text, d.Words[0].Text
		d.Record, _ = Lookup(d.Name)
	}
	if i := strings.LastIndexByte(d.Name, '@'); i > 0 { // a package with its version, which a runner of packages was given
		d.Name = d.Name[:i]
		d.Record, d.Known = Lookup(d.Name)
	}
	if !d.reachesAny() && Has("yarn pnpm", d.Known) {
		if i := firstOperand(d.Words, ""); i > 0 && !Has("exec dlx run", d.Words[i].Text) {
			c.packaged(d.Words[i:]) // a word that is none of its own is a program of the project
		}
	}
}

// reachesAny lists the hosts of the first entry that matches the call, and reports
// whether one does.
func (c *Call) reachesAny() bool {
	for i := range reaches {
		if r := &reaches[i]; (Has(r.names, c.Name) || Has(r.names, c.Known)) && c.reaching(r) {
			c.reach(r)
			return true
		}
	}
	return c.serves()
}

// packaged lists the hosts that a program of a package is known to reach, by the name of
// either, and reports whether there are any.
func (c *Call) packaged(words []Word) bool {
	if words[0].Dynamic {
		return false
	}
	name := words[0].Text
	if i := strings.LastIndexByte(name, '@'); i > 0 {
		name = name[:i]
	}
	if scope, base, ok := strings.Cut(strings.TrimPrefix(name, "@"), "/"); ok && name[0] == '@' {
		if name = base; base == "cli" {
			name = scope
		}
	}
	d := *c
	d.Words, d.Name = words, name
	d.Record, d.Known = Lookup(name)
	return d.Name != c.Name && d.reachesAny()
}

// gradlePublishes lists where a build is published to: any task that is called so, but
// for those that keep it on this machine.
func (c *Call) gradlePublishes() {
	for i, x := range c.Words[1:] {
		task := x.Text[strings.LastIndexByte(x.Text, ':')+1:]
		if Has("-x --exclude-task", c.Words[i].Text) || strings.HasSuffix(task, "ToMavenLocal") {
			continue
		}
		if oneOf(task, "publish* closeAndRelease* uploadArchives artifactoryPublish jib --publishImage bintrayUpload appDistributionUpload* dockerPush* githubRelease appengineDeploy* jreleaserRelease jreleaserFullRelease jreleaserDeploy jreleaserPublish jreleaserUpload") ||
			len(task) > 2 && strings.HasPrefix("publish", task) { // gradle takes the beginning of a name
			c.reach(&reach{hosts: "?", publishes: true})
			return
		}
	}
}

// reaching reports whether the call is one of r's.
func (c *Call) reaching(r *reach) bool {
	words := c.Words[1:]
	if r.hosts == "" {
		return switched(words, r.without) && !slices.ContainsFunc(reaches[:], func(p reach) bool { // it is no obstacle to what it sends
			return p.publishes && (Has(p.names, c.Name) || Has(p.names, c.Known)) && c.reaching(&p)
		})
	}
	if r.hosts == pypiHosts && Has("pip pip3", cmp.Or(c.Known, c.Name)) && installsLocally(words) {
		return false
	}
	if r.without != "" && switched(c.spelled(r), r.without) || r.arg != "" && !c.argMatches(r) || r.does != nil && !r.does(c) {
		return false
	}
	if r.sub == "" {
		return len(words) > 0
	}
	if verbs := c.verbs(); len(verbs) > 0 && oneOf(verbs[0], r.sub) {
		return true
	}
	return c.subMatches(r.sub) || r.sub[0] == '-' && len(c.bare()) == 0 && !switched(words, "v version h help")
}

// spelled are the words of a call without the shortened names of the options that keep it from publishing: most
// programs pass over a name that they do not know.
func (c *Call) spelled(r *reach) []Word {
	if !r.publishes || r.names == "git" {
		return c.Words[1:]
	}
	return slices.DeleteFunc(slices.Clone(c.Words[1:]), func(x Word) bool {
		name, long := strings.CutPrefix(x.Text, "--")
		name, _, _ = strings.Cut(name, "=")
		return long && name != "" && !Has(r.without, name) && slices.ContainsFunc(strings.Fields(r.without), func(n string) bool { return strings.HasPrefix(n, name) })
	})
}

// argMatches reports whether one of the words is one that r names. Options by which something is sent
// may be in a cluster, or have a value.
func (c *Call) argMatches(r *reach) bool {
	for name := range strings.FieldsSeq(r.arg) {
		option := strings.HasPrefix(name, "-") && !strings.ContainsAny(name, "*=")
		if r.publishes && option && switched(c.Words[1:], strings.TrimLeft(name, "-")) {
			return true
		}
		if !(r.publishes && option) && slices.ContainsFunc(c.Words[1:], func(x Word) bool {
			return !x.Dynamic && (oneOf(x.Text, name) || name == "@" && strings.Contains(x.Text, "@"))
		}) {
			return true
		}
	}
	return false
}

// installsLocally reports whether pip only installs what lies here: files of packages that are
// built, or, with what it is told to build with, directories, and nothing that they need.
func installsLocally(words []Word) bool {
	if len(words) == 0 || words[0].Text != "install" {
		return false
	}
	alone, builds, built := false, false, true
	for _, x := range words[1:] {
		name, _, _ := strings.Cut(x.Text, "[")
		switch {
		case x.Dynamic || x.Pattern != "" && Loosely(x.Pattern):
			return false
		case name == "." || strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../") || strings.HasPrefix(name, "/"):
			built = built && strings.HasSuffix(name, ".whl")
		case x.Text == "--no-deps":
			alone = true
		case x.Text == "--no-build-isolation":
			builds = true
		case !Has("-e --editable -q --quiet -v --verbose -U --upgrade --force-reinstall -I --ignore-installed --user --break-system-packages --no-cache-dir --no-compile --no-input --disable-pip-version-check", x.Text):
			return false
		}
	}
	return alone && (builds || built)
}

// reach lists the hosts of r, or the one that an option or a variable names.
func (c *Call) reach(r *reach) {
	hosts := strings.Fields(r.hosts)
	for from := range strings.FieldsSeq(r.from) {
		if from == "GOPROXY" {
			hosts = c.moduleHosts(hosts)
			continue
		}
		x, given := c.named(from)
		switch {
		case !given:
		case x.Dynamic:
			c.Shell.Net(Net{Source: c.Source, Opaque: "the host is not known before it runs", Publishes: r.publishes})
			return
		default:
			c.publishes = c.publishes || r.publishes
			c.address(x)
			return
		}
	}
	for _, h := range hosts {
		if h == "?" {
			c.Shell.Net(Net{Source: Cut(c.Source), Opaque: "its settings say which host it reaches", Publishes: r.publishes, Configured: true})
			continue
		}
		c.Shell.Net(Net{Source: Cut(c.Source), Scheme: "https", Host: h, Publishes: r.publishes})
	}
}

// named is the value of an option that the words give, or of a variable.
func (c *Call) named(from string) (Word, bool) {
	if !strings.HasPrefix(from, "-") {
		v, ok := c.Shell.Getenv(from)
		return Word{Text: v}, ok && v != ""
	}
	for i, x := range c.Words {
		if v, ok := strings.CutPrefix(x.Text, from+"="); ok && strings.HasPrefix(from, "--") {
			return Word{Text: v, Dynamic: x.Dynamic}, true
		}
		if x.Text == from && i+1 < len(c.Words) {
			return c.Words[i+1], true
		}
	}
	return Word{}, false
}

// moduleHosts are those that go fetches modules from: hosts, unless GOPROXY is set.
func (c *Call) moduleHosts(hosts []string) []string {
	list, ok := c.Shell.Getenv("GOPROXY")
	if !ok || list == "" {
		return hosts
	}
	var out []string
	for _, p := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == '|' }) {
		switch u, err := url.Parse(p); {
		case p == "off":
			return out
		case p == "direct":
			if len(out) > 0 {
				return out // asked for what the proxies do not have
			}
			for _, x := range c.bare() {
				if host, _, ok := strings.Cut(x.Text, "/"); ok && strings.Contains(host, ".") && !strings.HasPrefix(host, ".") {
					out = append(out, host)
				}
			}
			if len(out) == 0 {
				c.Shell.Net(Net{Source: c.Source, Opaque: "the hosts of the modules are not known before it runs"})
			}
			return append(out, "sum.golang.org")
		case err == nil && u.Hostname() != "" && u.Scheme != "file":
			if u.Port() != "" {
				c.address(Word{Text: p})
				continue
			}
			out = append(out, u.Hostname())
		}
	}
	if slices.Contains(out, "proxy.golang.org") {
		out = append(out, "sum.golang.org")
	}
	return out
}

// projects reports whether bunx runs a program of the project's own dependencies.
func (c *Call) projects() bool {
	i := slices.IndexFunc(c.Words[1:], func(x Word) bool { return !strings.HasPrefix(x.Text, "-") })
	return i >= 0 && !c.Words[1+i].Dynamic && Plain(c.Words[1+i].Text) && c.Shell.Exists("node_modules/.bin/"+c.Words[1+i].Text)
}

// npxFetches lists the registry where npx certainly asks it: without a version or
// -y, npx is how the programs of a project's own dependencies are run.
func (c *Call) npxFetches() {
	words := c.Args
	if len(words) == 0 || switched(c.Words[1:len(c.Words)-len(words)], "offline no no-install") {
		return
	}
	name := words[0].Text
	if c.packaged(words) || words[0].Dynamic || c.Shell.Exists("node_modules/.bin/"+name) {
		return
	}
	if strings.LastIndexByte(name, '@') > 0 || strings.HasPrefix(name, "create-") || strings.Contains(name, "/create-") || name == "degit" || c.has("yes", "package") {
		c.reach(&reach{hosts: npmHosts, from: "npm_config_registry"})
	}
}

// gitHub reads gh: what is not known to only look publishes.
func (c *Call) gitHub() {
	const looks = "list ls view diff checks status checkout co download watch get verify verify-asset trusted-root logs check"
	words := append(c.nested(3), "", "", "")
	group, sub := words[0], words[1]
	if group == "" || Has("help completion config alias extension ext version", group) || c.asksFor("help") {
		return
	}
	reads := Has("search status browse", group) || Has(looks, sub) || sub == "clone" && Has("repo gist", group) || sub == "ports" && words[2] == ""
	if group == "api" {
		reads = !c.sends()
	}
	host := "github.com"
	if h, ok := c.Shell.Getenv("GH_HOST"); ok && h != "" {
		host = h
	}
	if x, ok := c.named("--hostname"); ok {
		host = x.Text
	}
	for _, option := range []string{"-R", "--repo"} {
		if x, ok := c.named(option); ok && strings.Count(x.Text, "/") == 2 {
			host, _, _ = strings.Cut(x.Text, "/")
		}
	}
	hosts := host
	if host == "github.com" {
		if hosts = "api.github.com"; Has("clone co checkout fork sync create", sub) {
			hosts += " github.com"
		} else if sub == "download" {
			hosts += " github.com objects.githubusercontent.com release-assets.githubusercontent.com"
		}
	}
	if reads && !Has("browse checkout co clone download watch ports", sub) && group != "browse" && !anyOption(c.Words[1:], "web w") {
		c.Shell.SetClass(Known) // it prints what it gets
	}
	c.reach(&reach{hosts: hosts, publishes: !reads})
}
