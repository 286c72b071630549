package shellparse

import (
	"os"
	"path/filepath"
	"strings"
)

// call is one command of git, perhaps in a directory or with a setting.
func (p *planter) call() (words []string) {
	if dir := p.pick("", "", "", "", "src", "sub", "sub", "sub/deep", ".git", "sub/.git"); dir != "" {
		words = append(words, "-C", dir)
	}
	if p.one(10) {
		words = append(words, strings.Fields(p.pick("--no-pager", "--no-optional-locks", "-c color.ui=always", "-c core.quotepath=off", "-c diff.submodule=diff", "-c status.submodulesummary=true", "-c submodule.recurse=true", "-c log.showsignature=true", "-c diff.orderfile=more",
			"-c core.fsmonitor="+p.b.bin+"/pwn", "-c core.attributesfile=more", "--git-dir=elsewhere", "--git-dir elsewhere", "--work-tree=sub", "--bare", "--literal-pathspecs", "--exec-path="+p.b.bin, "-p", "--config-env=core.fsmonitor=PWN", "--attr-source=HEAD", "-c merge.conflictstyle=diff3", "-c commit.gpgsign=true", "-c diff.external="+p.b.bin+"/pwn", "-c core.hookspath=hooks", "--namespace=x"))...)
	}
	if p.one(2) {
		return append(words, strings.Fields(p.pick("status", "status -s", "diff", "add -A", "diff HEAD", "commit -qam y", "tag z", "branch z", "reset -q"))...)
	}
	return append(words, strings.Fields(p.pick(
		"status --porcelain -uno", "status -v", "status --ignored", "diff --cached", "diff --stat", "diff --word-diff", "diff --submodule=diff", "diff --no-index f a.x", "diff --textconv", "diff --ext-diff", "diff -- sub", "diff HEAD~0 -- a.x", "diff --ignore-submodules=all", "diff-files -p", "diff-index -p HEAD", "diff-tree -p HEAD",
		"log -p -1", "log -p --submodule=diff", "log --oneline", "log --format=%s", "log -L1,1:f", "log -G x", "log --stat", "log --show-signature", "show HEAD", "show HEAD:a.x", "show --format=%G? HEAD", "whatchanged", "reflog", "shortlog HEAD", "rev-list HEAD", "rev-list --objects HEAD", "rev-parse HEAD", "rev-parse --show-toplevel",
		"add f", "add .", "add -u", "add -N f", "add sub", "rm --cached f", "mv f h", "commit -qm y", "commit -qam y", "commit --dry-run", "commit -q --amend --no-edit",
		"ls-files", "ls-files -m", "ls-files -o --exclude-standard", "ls-files --eol", "ls-files --recurse-submodules", "grep x", "grep --untracked x", "grep --recurse-submodules x", "blame f", "blame a.x", "annotate a.x", "cat-file -p HEAD", "cat-file --textconv HEAD:a.x", "cat-file --batch-check",
		"branch", "branch -v", "branch --list", "branch n", "branch -vv", "tag", "tag -l", "tag v", "describe --always --dirty", "show-ref", "for-each-ref", "for-each-ref --format=%(signature)", "remote -v", "remote", "remote show origin", "check-ignore f", "check-attr -a a.x", "stash list", "stash show", "stash show -p", "hash-object f", "hash-object -w a.x", "config -l", "config --get core.fsmonitor", "config user.name",
		"worktree list", "submodule status", "submodule summary", "archive HEAD", "archive --format=zip HEAD", "format-patch -1 --stdout", "name-rev HEAD", "merge-base HEAD other", "ls-tree -r HEAD", "count-objects -v", "var GIT_EDITOR", "init", "init -q sub/new", "init x", "notes list", "range-diff HEAD~0 HEAD other", "verify-commit HEAD", "ls-remote", "fetch", "bundle create b HEAD", "fsck", "symbolic-ref HEAD", "update-index --refresh", "check-mailmap x", "cherry other", "merge-tree HEAD other", "show-branch", "version", "help status", "restore --staged f", "reset -q", "reset f", "switch -q other", "checkout -q other", "checkout -- a.x", "restore a.x", "stash", "clean -n", "merge other", "gc --auto", "apply --check f", "interpret-trailers f", "maintenance run", "st"))...)
}

// variables are assignments before the command, of which most make git run or
// write something.
func (p *planter) variables() []string {
	if !p.one(8) {
		return nil
	}
	pwn, r := p.b.bin+"/pwn", p.b.root
	return strings.Split(p.pick(
		"GIT_DIR=elsewhere", "GIT_DIR="+r+"/sub", "GIT_WORK_TREE=sub", "GIT_COMMON_DIR=elsewhere", "GIT_INDEX_FILE=more", "GIT_OBJECT_DIRECTORY=elsewhere/objects", "GIT_CONFIG_COUNT=1|GIT_CONFIG_KEY_0=core.fsmonitor|GIT_CONFIG_VALUE_0="+pwn,
		"GIT_CONFIG_PARAMETERS="+`"core.fsmonitor=`+pwn+`"`, "GIT_CONFIG_GLOBAL="+r+"/more", "GIT_CONFIG_SYSTEM="+r+"/more|GIT_CONFIG_NOSYSTEM=0", "GIT_CONFIG="+r+"/more", "GIT_EXTERNAL_DIFF="+pwn, "GIT_PAGER="+pwn, "PAGER="+pwn, "GIT_EDITOR="+pwn, "EDITOR="+pwn, "GIT_EDITOR=true", "GIT_SSH="+pwn, "GIT_SSH_COMMAND="+pwn, "GIT_ASKPASS="+pwn, "GIT_PROXY_COMMAND="+pwn,
		"GIT_EXEC_PATH="+p.b.bin, "GIT_TEMPLATE_DIR="+r+"/template", "GIT_TRACE="+p.b.out+"/trace", "GIT_TRACE2="+p.b.out+"/trace", "GIT_TRACE2_EVENT="+p.b.out+"/trace", "GIT_TRACE=1", "GIT_CEILING_DIRECTORIES="+r, "GIT_DISCOVERY_ACROSS_FILESYSTEM=1", "HOME="+r+"/home", "XDG_CONFIG_HOME="+r+"/home", "GIT_OPTIONAL_LOCKS=0", "GIT_ATTR_SOURCE=HEAD", "GIT_LITERAL_PATHSPECS=1", "LC_ALL=C", "PATH="+p.b.bin+":/usr/bin", "GIT_DEFAULT_HASH=sha256", "GIT_FLUSH=1", "GIT_AUTHOR_NAME=x", "GIT_SEQUENCE_EDITOR="+pwn, "GIT_NO_REPLACE_OBJECTS=1", "GIT_NAMESPACE=x", "GIT_ALTERNATE_OBJECT_DIRECTORIES=elsewhere/objects", "PWN="+pwn, "TZ=UTC", "COLUMNS=80"), "|")
}

// setting is a setting that runs something, or one that does not, in one of the
// spellings that git reads.
func (p *planter) setting() string {
	kind := "core.fsmonitor" // most commands run it
	if p.one(2) {
		kind = p.pick("diff.d.textconv", "diff.d.command", "diff.d.cachetextconv", "diff.external", "filter.d.clean", "filter.d.process", "filter.d.smudge", "filter.d.required", "merge.d.driver", "core.hookspath", "core.pager", "core.editor", "core.sshcommand", "core.gitproxy", "core.askpass", "core.alternaterefscommand", "pager.status", "pager.log", "alias.status", "alias.st", "core.worktree", "core.bare", "core.attributesfile", "core.excludesfile", "core.untrackedcache", "core.splitindex",
			"user.name", "user.signingkey", "gpg.program", "gpg.ssh.program", "gpg.format", "gpg.ssh.allowedsignersfile", "commit.gpgsign", "tag.gpgsign", "log.showsignature", "commit.template", "include.path", "includeif.gitdir:/.path", "includeif.onbranch:**.path", "branch.main.remote", "color.ui", "extensions.worktreeconfig", "extensions.partialclone", "remote.origin.promisor", "remote.origin.url", "remote.origin.uploadpack", "remote.origin.vcs", "remote.origin.proxy", "url.ext::x.insteadof", "credential.helper", "sequence.editor", "interactive.difffilter", "difftool.d.cmd", "mergetool.d.cmd",
			"uploadpack.packobjectshook", "submodule.s.update", "submodule.recurse", "diff.submodule", "status.submodulesummary", "diff.ignoresubmodules", "trailer.x.command", "trailer.x.cmd", "browser.x.cmd", "init.templatedir", "gc.recentobjectshook", "format.pretty", "pretty.x", "blame.ignorerevsfile", "diff.orderfile", "mailmap.file", "mailmap.blob", "core.notesref", "notes.displayref", "fsck.skiplist", "trace2.eventtarget", "trace2.normaltarget", "receive.procreceiverefs", "safe.directory", "core.repositoryformatversion", "extensions.objectformat", "sendemail.sendmailcmd", "http.proxy", "core.logallrefupdates", "advice.detachedhead", "rerere.enabled", "maintenance.auto", "gc.auto", "index.sparse", "core.sparsecheckout", "feature.manyfiles")
	}
	parts := strings.SplitN(kind, ".", 2)
	section, key := parts[0], parts[1]
	if i := strings.LastIndexByte(key, '.'); i >= 0 {
		sub := key[:i]
		key = key[i+1:]
		section += p.pick(` "`+sub+`"`, ` "`+sub+`"`, ` "`+sub+`"`, "."+sub, ` "\`+sub+`"`)
	}
	section = p.pick(section, strings.ToUpper(section[:1])+section[1:], section, section)
	key = p.pick(key, strings.ToUpper(key), key)
	return p.spelled(section, key, p.value(kind))
}

// value is a value that makes a setting do something.
func (p *planter) value(kind string) string {
	pwn, r := p.b.bin+"/pwn", p.b.root
	values := map[string]string{
		"core.hookspath": r + "/hooks", "core.worktree": r + "/src", "user.name": "x", "core.bare": "false", "include.path": r + "/more", "includeif.gitdir:/.path": r + "/more", "includeif.onbranch:**.path": r + "/more",
		"core.attributesfile": r + "/attributes", "branch.main.remote": "origin", "color.ui": "auto", "alias.status": "!" + pwn, "alias.st": "!" + pwn, "submodule.s.update": "!" + pwn, "gpg.format": "ssh", "user.signingkey": "x",
		"extensions.partialclone": "origin", "remote.origin.url": "ssh://h/x", "remote.origin.vcs": "x", "url.ext::x.insteadof": "a", "submodule.recurse": "true", "diff.submodule": "diff", "status.submodulesummary": "true", "diff.ignoresubmodules": "none", "init.templatedir": r + "/template",
		"format.pretty": "%G?", "pretty.x": "%G?", "core.excludesfile": r + "/more", "commit.template": p.b.out + "/secret", "blame.ignorerevsfile": p.b.out + "/secret", "mailmap.file": p.b.out + "/secret", "diff.orderfile": p.b.out + "/secret", "mailmap.blob": "HEAD:f", "core.notesref": "x", "notes.displayref": "*", "fsck.skiplist": "x",
		"trace2.eventtarget": p.b.out + "/trace", "trace2.normaltarget": p.b.out + "/trace", "safe.directory": "*", "core.repositoryformatversion": "1", "extensions.objectformat": "sha1", "http.proxy": "h", "gc.auto": "1", "gpg.ssh.allowedsignersfile": r + "/more", "advice.detachedhead": "false",
	}
	for _, yes := range []string{"log.showsignature", "extensions.worktreeconfig", "commit.gpgsign", "tag.gpgsign", "filter.d.required", "diff.d.cachetextconv", "core.untrackedcache", "core.splitindex", "remote.origin.promisor", "core.logallrefupdates", "rerere.enabled", "maintenance.auto", "index.sparse", "core.sparsecheckout", "feature.manyfiles"} {
		values[yes] = "true"
	}
	if v := values[kind]; v != "" {
		return v
	}
	return pwn
}

// spelled writes a setting in one of the ways that git reads, and some that it
// does not.
func (p *planter) spelled(section, key, value string) string {
	if p.one(3) {
		return "[" + section + "]\n\t" + key + " = " + value + "\n"
	}
	half := len(value) / 2
	value = p.pick(value, value, value, value, value, `"`+value+`"`, value[:half]+`"`+value[half:]+`"`, value[:half]+"\\\n"+value[half:], value+" # x", value+" ; x", " \t"+value, `"`+value+`" # "`, value[:half]+`""`+value[half:], value+"\t", `"`+value, value+`\`)
	gap := p.pick(" = ", "=", "\t=\t", " =", " = ")
	set := key + gap + value + "\n"
	return p.pick(
		"["+section+"]\n\t"+set, "["+section+"]\n\t"+set, "["+section+"]\n\t"+set, "["+section+"]\n"+set, "["+section+"]"+set, "["+section+"] "+set, "["+section+"]#\n"+set,
		"[x] y = z\n["+section+"] ; comment\n "+strings.TrimSuffix(set, "\n"),
		"\ufeff["+section+"]\n"+set, "\ufeff\ufeff["+section+"]\n"+set, " \ufeff["+section+"]\n"+set,
		"["+section+"]\r\n"+strings.TrimSuffix(set, "\n")+"\r\n", "["+section+"]\r"+set,
		"[user]\n\tname = a\\\n["+section+"]\n"+set, "[user]\n\tname = a \\\n\n["+section+"]\n"+set, "[user]\n\tname = a\\\\\n["+section+"]\n"+set, "[user]\n\tname = a # \\\n["+section+"]\n"+set,
		"[user]\n\tname = \"a\n["+section+"]\n"+set, "[user]\n\tname = a # \"\n["+section+"]\n"+set, "[user]\n\tname = \"a ; \\\"\" \n["+section+"]\n"+set,
		"; [user]\n# x\\\n["+section+"]\n"+set, "["+section+"]\n\tx\n\t"+set, "["+section+"]\n\tx =\n\t"+set, "["+section+"\n]\n"+set, "["+section+"]\v\n"+set, "["+section+"]\n\f"+set, "\v["+section+"]\n"+set,
		"[a \"]\"]\n["+section+"]\n"+set, "[a \"]\n["+section+"]\n"+set+"\"]\n", "[a \"\\\"]\n["+section+"]\n"+set, "[a \"b\"]\n\tc = d\n["+section+"]\n"+set, "[ "+section+"]\n"+set, "["+section+" ]\n"+set, "[x]y=z ["+section+"]\n"+set, "[x]\ny = z ["+section+"]\n"+set, "["+section+"]\n"+key+"\n", "["+section+"]\n\x00"+set, "["+section+"]\n"+set+"[\n",
	)
}

const plainConfig = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"

// shape changes the repository.
func (p *planter) shape() {
	attributes := p.pick("*.x diff=d filter=d\n", "*.x diff=d\n", "* filter=d merge=d\n", "[attr]m diff=d filter=d\n*.x m\n", "\"a.x\" diff=d\n", "\ufeff*.x diff=d\n", "a.? filter=d text\n")
	if p.one(3) {
		attributes = "*.x diff=d filter=d\n"
	}
	if !p.one(3) {
		p.write(p.pick(".gitattributes", ".gitattributes", ".gitattributes", ".git/info/attributes", "sub/.gitattributes", "attributes"), attributes)
	}
	p.write("more", p.setting())
	p.write("hooks/"+p.hook(), "#!/bin/sh\n"+p.b.bin+"/pwn\n")
	p.dir("sub/deep")
	switch p.r.IntN(20) {
	case 0:
	case 1, 2, 3:
		p.write(".git/config", p.pick(plainConfig, plainConfig, "")+p.setting()+p.pick("", p.setting()))
	case 4:
		p.write(".git/hooks/"+p.hook(), "#!/bin/sh\n"+p.b.bin+"/pwn\n")
	case 5: // a bare repository in the tree
		p.bare(p.pick("sub", "sub/deep", "src"))
	case 6: // beside a .git that is none
		p.bare("sub")
		p.write("sub/.git/"+p.pick("x", "HEAD", "config"), p.pick("ref: refs/heads/main\n", ""))
	case 7:
		p.elsewhere()
		p.write(p.pick("sub/.git", "sub/.git", "src/.git"), p.pick("gitdir: ../elsewhere\n", "gitdir: ../elsewhere", "gitdir: "+p.b.root+"/elsewhere\n\n", "gitdir:../elsewhere\n", "gitdir: ../elsewhere\r\n", "gitdir: ../elsewhere \n", "gitdir: ../elsewhere/../elsewhere\n", "\ufeffgitdir: ../elsewhere\n", "gitdir: ../elsewhere\nx\n", "gitdir:  ../elsewhere\n"))
	case 8:
		p.elsewhere()
		p.link("../elsewhere", p.pick("sub/.git", "src/.git"))
	case 9:
		p.elsewhere()
		p.write(".git/commondir", p.pick("../elsewhere\n", p.b.root+"/elsewhere", "../elsewhere", "../elsewhere\r\n", "../elsewhere \n"))
	case 10:
		p.write(".git/config", plainConfig+p.pick("[extensions]\n\tworktreeConfig = true\n", "[extensions]\n\tworktreeConfig\n", "[Extensions] WORKTREECONFIG=1\n"))
		p.write(".git/config.worktree", p.setting())
	case 11, 12: // a repository within, which may be a submodule
		p.clone(".git", "sub/.git")
		p.write("sub/.git/config", plainConfig+p.setting())
		if p.one(2) {
			p.write(".gitmodules", p.pick("[submodule \"s\"]\n\tpath = sub\n", "[submodule \"s\"] path = sub\n", "\ufeff[submodule \"s\"]\n\tpath = sub\n", "[submodule \"s\"]\n\tpath = \"s\"ub\n", "[submodule \"s\"]\n\tpath = sub\n\tupdate = !pwn\n", "[submodule \"s\"]\n\tpath = ./sub\n"))
		}
		if p.one(2) {
			p.done = append(p.done, "# the index has sub as a submodule")
			p.touch(".git/index")
			p.b.git(p.t, "-c", "core.fsmonitor=", "rm", "-q", "--cached", "-r", "sub")
			p.b.git(p.t, "-c", "core.fsmonitor=", "update-index", "--add", "--cacheinfo", "160000,"+p.b.git(p.t, "rev-parse", "HEAD")+",sub")
		}
		if p.one(3) {
			p.write(".git/config", plainConfig+p.pick("[diff]\n\tsubmodule = diff\n", "[submodule]\n\trecurse = true\n", "[status]\n\tsubmoduleSummary = true\n", "[submodule \"s\"]\n\tactive = true\n\turl = x\n"))
		}
	case 13: // no repository at all above a planted one
		p.remove(".git")
		p.bare(p.pick(".", "sub", "src"))
	case 14: // a worktree of the repository
		p.write(".git/worktrees/w/gitdir", p.b.root+"/src/.git\n")
		p.write(".git/worktrees/w/HEAD", "ref: refs/heads/other\n")
		p.write(".git/worktrees/w/commondir", p.pick("../..\n", "../../../elsewhere\n"))
		p.elsewhere()
		p.write("src/.git", "gitdir: "+p.b.root+"/.git/worktrees/w\n")
		if p.one(2) {
			p.write(".git/config", plainConfig+"[extensions]\n\tworktreeConfig = true\n")
			p.write(".git/worktrees/w/config.worktree", p.setting())
		}
	case 15: // settings behind a link, or that are no file
		if p.link(p.pick("../more", p.b.root+"/more", "../missing", p.b.out+"/secret"), ".git/config"); p.one(2) {
			p.write("more", plainConfig+p.setting())
		}
	case 16: // what git reads beside its settings
		p.write(p.pick(".git/info/grafts", ".git/info/exclude", ".git/info/sparse-checkout", ".git/objects/info/alternates", ".git/objects/info/http-alternates", ".git/shallow", ".git/description", ".git/HEAD", ".git/ORIG_HEAD", ".git/MERGE_HEAD", ".git/config.lock", ".git/branches/origin", ".git/remotes/origin", ".gitignore", ".mailmap", ".lfsconfig"), p.pick(p.b.root+"/elsewhere/objects\n", "*\n", "URL: ext::pwn\n", p.setting(), "ref: refs/heads/other\n", p.b.bin+"/pwn\n"))
		p.elsewhere()
	case 17: // an object that is missing, which a partial clone fetches
		p.write(".git/config", plainConfig+p.pick("[extensions]\n\tpartialClone = origin\n", "")+"[remote \"origin\"]\n\turl = "+p.pick("ssh://h/x", "h:x", p.b.root+"/elsewhere", "https://127.0.0.1:9/x", "file://"+p.b.root+"/elsewhere")+"\n"+p.pick("\tpromisor = true\n", "\tpartialclonefilter = blob:none\n", "\tpromisor\n\tuploadpack = "+p.b.bin+"/pwn\n"))
		p.remove(".git/objects/" + p.pick("75", "77", "f2"))
		blob := p.b.git(p.t, "-C", p.plain, "rev-parse", "HEAD:"+p.pick("f", "a.x"))
		p.remove(".git/objects/" + blob[:2])
	case 18: // in the home of a user that is the root
		p.write("home/.gitconfig", p.setting())
		p.write("home/git/config", p.setting())
		p.write(".git/config", plainConfig+p.setting())
	case 19: // a .git that is something else
		p.remove(".git")
		p.elsewhere()
		switch p.r.IntN(3) {
		case 0:
			p.link("elsewhere", ".git")
		case 1:
			p.write(".git", "gitdir: elsewhere\n")
		case 2:
			p.link("refs/heads/main", "HEAD")
			p.bare(".")
		}
	}
}

func (p *planter) hook() string {
	return p.pick("pre-commit", "post-index-change", "post-commit", "pre-auto-gc", "commit-msg", "reference-transaction", "post-checkout", "prepare-commit-msg", "fsmonitor-watchman", "post-rewrite", "pre-merge-commit")
}

// elsewhere is a whole repository under another name.
func (p *planter) elsewhere() {
	if !p.is("elsewhere") {
		p.copy(p.plain+"/.git", p.touch("elsewhere"))
		p.write("elsewhere/config", plainConfig+p.setting())
	}
}

// bare makes a directory into what git takes for a repository.
func (p *planter) bare(dir string) {
	if p.one(2) {
		p.link("refs/heads/main", dir+"/HEAD")
	} else {
		p.write(dir+"/HEAD", p.pick("ref: refs/heads/main\n", "ref:refs/heads/main\n", "0123456789012345678901234567890123456789\n"))
	}
	p.dir(dir + "/refs")
	switch p.r.IntN(3) {
	case 0:
		p.write(dir+"/objects", "")
	case 1:
		p.dir(dir + "/objects")
	case 2:
		p.write("common/config", p.setting())
		p.dir("common/objects")
		p.dir("common/refs")
		p.write(dir+"/commondir", p.b.root+"/common\n")
	}
	p.write(dir+"/config", strings.Replace(plainConfig, "bare = false", p.pick("bare = false\n\tworktree = .", "bare = true", "x = y"), 1)+p.setting())
	_ = os.Remove(filepath.Join(p.b.root, dir, "packed-refs"))
}
