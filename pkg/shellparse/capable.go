package shellparse

import (
	"slices"
	"strings"
)

// A capable row is a way to call a program, read as a hazard is, that runs
// something else or changes what later commands do, beyond what a rule for the
// program means.
var capable = [...]hazard{
	{"npm", "config|c", "", "set,edit,delete,fix", "settings that later commands heed"},
	{"npm", "set|login|adduser|edit", "", "", "settings that later commands heed"},
	{"npm", "help|docs|home|repo|bugs", "", "", "opens a viewer"},
	{"yarn", "config", "", "set,unset", "settings that later commands heed"},
	{"pnpm", "config", "", "set,delete", "settings that later commands heed"},
	{"pip", "config", "", "set,edit,unset", "settings that later commands heed"},
	{"pip3", "config", "", "set,edit,unset", "settings that later commands heed"},
	{"openssl", "engine|s_server|rehash|ca", "", "", "loads, serves or changes what its settings say"},
	{"systemctl", "edit|link|import-environment|set-environment|set-property", "", "", "changes what services run"},
	{"systemctl", "enable|reenable|start|restart", "", "/*,./*,../*", "changes what services run"},
	{"gcc", "", "", "@*", "options stand in a file"},
	{"g++", "", "", "@*", "options stand in a file"},
	{"cc", "", "", "@*", "options stand in a file"},
	{"c++", "", "", "@*", "options stand in a file"},
	{"clang", "", "", "@*", "options stand in a file"},
	{"clang++", "", "", "@*", "options stand in a file"},
	{"ld", "", "", "@*", "options stand in a file"},
	{"javac", "", "", "@*,-J*", "options stand in a file"},
	{"java", "", "", "@*,-javaagent*,-agentpath*,-agentlib*", "loads something else"},
	{"go", "telemetry|bug", "", "", "opens a browser or changes settings"},
	{"go", "doc", "http", "", "serves and opens a browser"},
	{"kubectl", "edit|plugin|config", "", "", "runs an editor or a plugin, or changes settings"},
	{"ip", "netns|vrf", "", "exec", "runs a program"},
	{"vagrant", "ssh|provision|plugin|rsync|push", "", "", "runs commands on another machine, or plugins"},
	{"aws", "configure|ssm|ecs", "", "set,import,add-model,start-session,send-command,execute-command", "changes settings, or runs commands on another machine"},
	{"gcloud", "config|auth|components|compute", "", "set,unset,print-access-token,print-identity-token,activate-service-account,install,ssh,scp", "changes settings, shows a token, or runs commands on another machine"},
	{"az", "login|account|config|extension|ssh|vm", "", "set,add,get-access-token,run-command,ssh", "changes settings, shows a token, or runs commands on another machine"},
	{"dotnet", "exec|tool|new|workload", "", "", "runs or installs something"},
	{"gem", "exec|generate_index|sources|cert|server", "", "", "runs, serves or changes settings"},
	{"hg", "serve|clone|pull|push|incoming|outgoing|extdiff|histedit|bisect", "", "", "reaches a host or runs something"},
	{"gh", "alias|extension|config|auth", "", "set,install,import,exec,upgrade,login,token", "changes what later commands run, or shows a token"},
}

// outgrown marks a call that does more than its program's name says.
func (w *walker) outgrown(c *call) {
	for i := range capable {
		if h := &capable[i]; h.program == c.name && c.matches(h) {
			c.opaque(w, h.why)
		}
	}
	if c.name == "npm" && c.subMatches("init|create|innit") && len(c.bare()) > 1 {
		c.opaque(w, "runs a package that it fetches")
	}
	if c.name == "go" && c.subMatches("run|install") && slices.ContainsFunc(c.words, func(x word) bool { return strings.Contains(x.text, "@") }) {
		c.opaque(w, "runs or installs a program that it fetches")
	}
}

// bare gives the words of a call that are no options.
func (c *call) bare() []word {
	return slices.DeleteFunc(slices.Clone(c.words[1:]), func(x word) bool { return strings.HasPrefix(x.text, "-") })
}

// handedOn gives the program that a runner's subcommand starts: what follows
// --, or the first word that is no option.
func (w *walker) handedOn(c *call, words []word, opts string) []word {
	rs := rules(opts)
	for i := 1; i < len(words); i++ {
		t := words[i].text
		switch {
		case t == "--" && !words[i].dyn:
			return words[i+1:]
		case c.prog.name == "nix" && (t == "-c" || t == "--command"):
			return words[i+1:]
		case (t == "-c" || t == "--call") && c.prog.name == "npm" && i+1 < len(words):
			w.shellText(c, words[i+1])
			return nil
		}
	}
	if c.prog.name == "nix" {
		return nil
	}
	for i := 1; i < len(words); i++ {
		t := words[i].text
		if words[i].dyn || !strings.HasPrefix(t, "-") {
			return words[i:]
		}
		name := strings.TrimLeft(t, "-")
		if r := exact(rs, name); r != nil && r.value == ':' {
			i++
		} else if r == nil && !strings.Contains(name, "=") {
			c.opaque(w, "an option that is not known: "+cut(t))
		}
	}
	return nil
}
