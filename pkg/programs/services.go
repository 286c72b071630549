package programs

import (
	"slices"
	"strings"
)

// A service is something on other hosts that a program is the command line of:
// whatever its words are, it reaches it, but for some.
type service struct {
	names string // the programs
	sub   string // the first words with which it reaches it; "" for all but local
	local string // the first words with which it does not
	looks string // verbs with which it only looks; a * at the end stands for any rest
	deep  int    // which word is the verb; of more than two, the first of them that is any verb
	above string // words before which the verb is the next one instead
	hosts string // what it reaches; "?" for what its settings say
	from  string // see [reach]
}

const (
	infoWords  = "help completion version plugin plugins autocomplete --version"
	cloudLooks = "ls list list-* describe describe-* get get-* show show-* head-* view status logs search tail history info cat du stat wait export query validate"
)

var services = [...]service{
	{names: "kubectl oc", local: infoWords + " config kustomize options", looks: "get describe logs top events api-resources api-versions cluster-info explain diff wait auth status history", deep: 1, above: "rollout", hosts: "?", from: "-s --server"},
	{names: "helm", sub: "install upgrade uninstall delete del un rollback test", hosts: "?", from: "--kube-apiserver"},
	{names: "helm", sub: "list ls status get history repo pull fetch search", looks: "list ls status get history repo pull fetch search", deep: 1, hosts: "?", from: "--kube-apiserver --repo"},
	{names: "k9s argocd flux istioctl eksctl doctl linode-cli hcloud ibmcloud oci openstack scw pulumi", local: infoWords + " config", looks: cloudLooks + " preview", deep: 3, hosts: "?"},
	{names: "aws", local: infoWords + " configure", looks: cloudLooks + " filter-log-events start-query", deep: 2, hosts: "?", from: "--endpoint-url"},
	{names: "gcloud bq", local: infoWords + " config topic", looks: cloudLooks, deep: 4, hosts: "?"},
	{names: "gsutil", local: infoWords, looks: cloudLooks, deep: 1, hosts: "storage.googleapis.com oauth2.googleapis.com"},
	{names: "az", local: infoWords + " config", looks: cloudLooks, deep: 3, hosts: "management.azure.com login.microsoftonline.com"},
	{names: "terraform tofu", sub: "plan refresh", looks: "plan refresh", deep: 1, hosts: "?"},
	{names: "terraform tofu", sub: "apply destroy import taint untaint force-unlock", hosts: "?"},
	{names: "ansible ansible-playbook ansible-pull", hosts: "?"},
	{names: "ansible-galaxy", sub: "install collection role", looks: "install", deep: 1, above: "collection role", hosts: "galaxy.ansible.com"},
	{names: "glab", local: infoWords + " config alias", looks: cloudLooks + " diff", deep: 2, hosts: "gitlab.com", from: "GITLAB_HOST"},
	{names: "heroku", local: infoWords, looks: "apps logs ps status releases config", deep: 1, hosts: "api.heroku.com"},
	{names: "kaggle", local: infoWords + " config", looks: cloudLooks + " download files", deep: 2, hosts: "www.kaggle.com"},
	{names: "wandb", sub: "login sync pull restore artifact sweep agent", looks: "pull restore", deep: 1, hosts: "api.wandb.ai"},
	{names: "dvc", sub: "pull fetch update get import", looks: "pull fetch update get import", deep: 1, hosts: "?"},
	{names: "dvc", sub: "push", hosts: "?"},
	{names: "mkdocs", sub: "gh-deploy", hosts: "?"},
	{names: "vcpkg", sub: "install", looks: "install", deep: 1, hosts: "github.com"},
	{names: "conan", sub: "install download search", looks: "install download search", deep: 1, hosts: "center2.conan.io"},
	{names: "conan", sub: "upload", hosts: "?"},
	{names: "sdk", sub: "install i upgrade ug list ls update", looks: "install i upgrade ug list ls update", deep: 1, hosts: "api.sdkman.io"},
	{names: "nvm fnm n volta", sub: "install ls-remote list-remote", looks: "install ls-remote list-remote", deep: 1, hosts: "nodejs.org"},
	{names: "pyenv", sub: "install", looks: "install", deep: 1, hosts: "www.python.org"},
	{names: "rbenv", sub: "install", looks: "install", deep: 1, hosts: "cache.ruby-lang.org"},
	{names: "playwright", sub: "install", looks: "install", deep: 1, hosts: "cdn.playwright.dev playwright.azureedge.net"},
	{names: "rclone", local: infoWords + " config listremotes", looks: cloudLooks + " lsl lsd lsf lsjson size check tree about", deep: 1, hosts: "?"},
	{names: "s3cmd", local: infoWords, looks: "ls la du info get", deep: 1, hosts: "?"},
	{names: "vault", local: infoWords + " server agent print", looks: cloudLooks + " read lookup", deep: 2, hosts: "?", from: "-address VAULT_ADDR"},
	{names: "consul", sub: "kv", looks: "get export", deep: 1, above: "kv", hosts: "?", from: "-http-addr CONSUL_HTTP_ADDR"},
	{names: "tea", local: infoWords, looks: cloudLooks, deep: 2, hosts: "?"},
	{names: "helmfile", sub: "diff list status", looks: "diff list status", deep: 1, hosts: "?"},
	{names: "ollama", sub: "pull", looks: "pull", deep: 1, hosts: "registry.ollama.ai"},
}

// serves lists the hosts of the service that the call is for, and reports whether
// there is one.
func (c *Call) serves() bool {
	words := c.verbs()
	for i := range services {
		s := &services[i]
		if !Has(s.names, c.Name) && !Has(s.names, c.Known) || s.sub != "" && (len(words) == 0 || !Has(s.sub, words[0]) && !c.subMatches(s.sub)) {
			continue
		}
		if len(words) == 0 || s.local != "" && Has(s.local, words[0]) || c.asksFor("help syntax-check list-hosts list-tasks list-tags client") {
			return true
		}
		looks := s.onlyLooks(c.leading())
		c.reach(&reach{hosts: s.hosts, from: s.from, publishes: !looks})
		return true
	}
	return false
}

// doing are verbs that change something, where words of several kinds stand before the verb.
const doing = "add-* apply attach cancel cp create create-* delete delete-* deploy destroy detach disable down edit enable exec execute import invoke call kill mv move patch " +
	"promote publish push put-* remove remove-* replace reset restart resume rm rollback rotate run scale set set-* ssh scp start stop suspend sync terminate up update update-* add"

// onlyLooks reports whether the verb among the first words is one that changes nothing.
func (s *service) onlyLooks(words []string) bool {
	if s.deep > 2 {
		i := slices.IndexFunc(words[:min(len(words), s.deep)], func(w string) bool { return oneOf(w, doing) || oneOf(w, s.looks) })
		return i >= 0 && !oneOf(words[i], doing)
	}
	at := s.deep - 1
	if len(words) > at && s.above != "" && Has(s.above, words[at]) {
		at++
	}
	return at >= 0 && len(words) > at && oneOf(words[at], s.looks)
}

// leading are the words of [Call.verbs] before the first option of which it is not known
// whether it takes a value: what follows may be that.
func (c *Call) leading() (words []string) {
	valued := ""
	if c.Record != nil {
		valued = c.Record.Valued
	}
	for i := 1; i < len(c.Words); i++ {
		switch t := c.Words[i].Text; {
		case c.Words[i].Dynamic:
			return words
		case Has(valued, t):
			i++
		case !strings.HasPrefix(t, "-"):
			words = append(words, t)
		case !strings.Contains(t, "="):
			return words
		}
	}
	return words
}

// verbs are the words that are no options, nor the values of those that stand
// before a subcommand.
func (c *Call) verbs() (words []string) {
	valued := ""
	if c.Record != nil {
		valued = c.Record.Valued
	}
	for i := 1; i < len(c.Words); i++ {
		switch t := c.Words[i].Text; {
		case Has(valued, t):
			i++
		case !strings.HasPrefix(t, "-") || c.Words[i].Dynamic:
			words = append(words, t)
		}
	}
	return words
}
