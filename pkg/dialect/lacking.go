package dialect

import (
	"slices"
	"strings"
)

// A lack is tools of other agents that this program does not have.
type lack struct {
	names   string // as words, in lower case, without hyphens and underscores
	instead string // what a model does instead
	to      string // our tool that helps with it; "" for none
	helps   string // what it does, behind its name in the dialect
}

// lacks are what models call that were trained on agents with agents below them, plan modes,
// skills and servers.
func lacks() []lack {
	return []lack{
		{
			"task agent spawnagent sendinput wait waitagent closeagent resumeagent delegatetoagent codebaseinvestigator generalist",
			"there are no other agents here: do the work yourself, a step at a time", "todo", "keeps the list of steps",
		},
		{
			"exitplanmode enterplanmode planexit planenter",
			"there is no plan mode here: say the plan in your answer and end your turn, so that the user can agree", "todo", "keeps its steps",
		},
		{"taskcreate taskupdate tasklist taskget todoread readtodos", "the list of what is to be done is given whole, each time", "todo", "takes it, with the status of each step"},
		{"skill slashcommand activateskill listskills", "there are no skills here: instructions lie in files", "read", "shows them"},
		{"savememory memory", "nothing is remembered from session to session but files: a note can stand in AGENTS.md", "edit", "changes it"},
		{"listmcpresources listmcpresourcestool readmcpresource readmcpresourcetool listmcpresourcetemplates", "no servers are connected here", "read", "reads files"},
		{"toolsearch searchtoolbm25 getinternaldocs", "all tools are declared already", "", ""},
		{"notebookread viewimage readimage", "notebooks and images are read like any file", "read", "shows them"},
		{"codesearch semanticsearch codebasesearch", "code is found by its text and names", "grep", "searches the files"},
		{"jsrepl python codeinterpreter executecode exec container.exec", "code is run by a command line", "bash", "runs it"},
		{"multitooluse.parallel batch", "make the calls one by one, or several in one message", "", ""},
		{"lsp diagnostics getdiagnostics", "the project's own compiler or linter finds mistakes", "bash", "runs it"},
		{"requestuserinput askuser askfollowupquestion question", "ask in your answer and end your turn: the user reads it", "", ""},
	}
}

// instead says what a model does that calls a tool which is not there; "" where nobody knows.
func (d *Dialect) instead(name string) string {
	name = strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(name))
	for _, l := range lacks() {
		if !slices.Contains(strings.Fields(l.names), name) {
			continue
		}
		for _, t := range d.Listed() {
			if t.To == l.to {
				return l.instead + "; " + t.Name + " " + l.helps
			}
		}
		return l.instead
	}
	return ""
}
