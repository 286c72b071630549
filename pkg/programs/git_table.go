package programs

import (
	"cmp"
	"slices"
)

// A gitCommand is what is known of a subcommand of git.
type gitCommand struct {
	name  string
	class Class
	opts  string
	ops   string // roles of the operands, "" for revisions and paths
	does  gitTrait
}

// A gitTrait is something to heed about a subcommand.
type gitTrait uint8

// gitCommands, sorted by name. A subcommand that is not here may be an alias
// or a program called git-NAME.
var gitCommands = [...]gitCommand{
	{"add", Known, "n,dry-run v,verbose f,force i,interactive!opaque p,patch!opaque e,edit!opaque all,no-ignore-removal A,all u,update sparse N,intent-to-add refresh ignore-errors ignore-missing renormalize chmod: pathspec-from-file:read pathspec-file-nul no-all", "", gitIndex},
	{"am", Unknown, "q,quiet 3,3way s,signoff k,keep p: directory: exec:opaque continue abort quit skip r,resolved", "", gitHooks | gitIndex},
	{"annotate", ReadOnly, "contents:read", "", 0},
	{"apply", Unknown, "stat numstat summary check index cached 3,3way build-fake-ancestor:write R,reverse reject z p: C: unidiff-zero apply no-add allow-binary-replacement,binary exclude: include: ignore-space-change,ignore-whitespace whitespace: inaccurate-eof v,verbose q,quiet recount directory: unsafe-paths!opaque allow-empty", "read*", gitListing},
	{"archive", ReadOnly, "format: l,list v,verbose prefix: o,output:write add-file:read add-virtual-file: worktree-attributes remote:opaque+host exec:opaque+program 0 1 2 3 4 5 6 7 8 9 mtime:", "", 0},
	{"bisect", Unknown, "", "", gitOpaque},
	{"blame", ReadOnly, "b root show-stats L: l t S:read reverse p,porcelain line-porcelain incremental encoding: contents:opaque+read date: M? C? h c score-debug f,show-name n,show-number s e,show-email w abbrev: ignore-rev: ignore-revs-file:read color-lines color-by-age progress no-progress minimal", "", 0},
	{"branch", Known, "d,delete D m,move M c,copy C color? no-color i,ignore-case omit-empty column? no-column r,remotes a,all l,list show-current v,verbose vv q,quiet abbrev: no-abbrev t,track? no-track recurse-submodules set-upstream u,set-upstream-to: unset-upstream edit-description!opaque contains? no-contains? merged? no-merged? sort: points-at: format: f,force create-reflog", "", gitListing},
	{"bundle", Unknown, "", "", 0},
	{"cat-file", ReadOnly, "t s e p batch? batch-check? batch-command? batch-all-objects buffer unordered allow-unknown-type follow-symlinks textconv!opaque filters!opaque path: use-mailmap Z z", "", 0},
	{"check-attr", ReadOnly, "a,all cached stdin z source:", "", 0},
	{"check-ignore", ReadOnly, "q,quiet v,verbose stdin z n,non-matching no-index", "", 0},
	{"check-mailmap", ReadOnly, "stdin", "", 0},
	{"check-ref-format", ReadOnly, "branch normalize allow-onelevel no-allow-onelevel refspec-pattern", "", 0},
	{"checkout", Unknown, "b: B: q,quiet progress no-progress f,force ours theirs t,track? no-track guess no-guess l detach d orphan: ignore-skip-worktree-bits m,merge conflict: p,patch!opaque ignore-other-worktrees overwrite-ignore recurse-submodules? overlay no-overlay pathspec-from-file:read pathspec-file-nul", "", gitHooks | gitIndex},
	{"checkout-index", Unknown, "prefix:write", "", gitIndex},
	{"cherry", ReadOnly, "v abbrev:", "", 0},
	{"cherry-pick", Unknown, "e,edit!opaque x n,no-commit m: s,signoff S,gpg-sign?opaque ff allow-empty strategy:opaque X: continue abort quit skip", "", gitHooks | gitIndex},
	{"clean", Unknown, "d f,force i,interactive!opaque n,dry-run q,quiet e,exclude: x X", "", gitListing},
	{"clone", Unknown, "l,local s,shared no-hardlinks q,quiet v,verbose progress n,no-checkout reject-shallow bare mirror o,origin: b,branch: u,upload-pack:opaque+program template:opaque reference:read reference-if-able:read dissociate separate-git-dir:write depth: shallow-since: shallow-exclude: single-branch no-single-branch no-tags recurse-submodules?opaque recursive!opaque shallow-submodules remote-submodules j,jobs: sparse filter: c,config:opaque server-option: bundle-uri:opaque", "", gitNet | gitHooks},
	{"commit", Known, "a,all p,patch!opaque C,reuse-message: c,reedit-message:opaque fixup: squash: reset-author short branch porcelain long z,null F,file:read author: date: m,message: t,template:read s,signoff no-signoff trailer:unknown n,no-verify verify allow-empty allow-empty-message cleanup: e,edit!opaque no-edit amend no-post-rewrite i,include o,only pathspec-from-file:read pathspec-file-nul u,untracked-files? v,verbose q,quiet dry-run status no-status S,gpg-sign?opaque no-gpg-sign", "", gitHooks | gitIndex},
	{"config", Unknown, "", "", 0},
	{"count-objects", ReadOnly, "v,verbose H,human-readable", "", 0},
	{"credential", Unknown, "", "", gitOpaque},
	{"describe", ReadOnly, "dirty? broken? all tags contains abbrev: candidates: exact-match debug long match: exclude: always first-parent", "", 0},
	{"diff", ReadOnly, "", "", gitDiff},
	{"diff-files", ReadOnly, "", "", gitDiff},
	{"diff-index", ReadOnly, "cached merge-base", "", gitDiff},
	{"diff-tree", ReadOnly, "r t root stdin s no-commit-id always merge-base", "", gitDiff | gitLog},
	{"difftool", Unknown, "", "", gitOpaque},
	{"fetch", Unknown, "all append atomic depth: deepen: unshallow f,force keep multiple p,prune P,prune-tags n,no-tags t,tags q,quiet v,verbose j,jobs: upload-pack:opaque+program u,update-head-ok progress recurse-submodules? set-upstream dry-run refmap: o,server-option: 4 6 filter: write-fetch-head no-write-fetch-head shallow-since: shallow-exclude: auto-gc no-auto-gc", "", gitNet},
	{"filter-branch", Unknown, "", "", gitOpaque},
	{"for-each-ref", ReadOnly, "count: s,shell p,perl python tcl sort: format: color? points-at: merged? no-merged? contains? no-contains? ignore-case omit-empty exclude: include-root-refs stdin", "", 0},
	{"format-patch", Known, "o,output-directory:write stdout n,numbered N,no-numbered start-number: s,signoff v,reroll-count: subject-prefix: rfc? suffix: cover-letter thread? attach? inline? numbered-files k,keep-subject q,quiet to: cc: from? add-header: base: signature: signature-file:read zero-commit root", "", gitDiff | gitLog},
	{"fsck", ReadOnly, "unreachable dangling no-dangling root tags cache reflogs no-reflogs full no-full connectivity-only strict v,verbose lost-found!changes progress no-progress name-objects no-name-objects references no-references", "", 0},
	{"gc", Unknown, "", "", gitHooks},
	{"grep", ReadOnly, "cached no-index!opaque untracked no-exclude-standard exclude-standard recurse-submodules a,text textconv!opaque no-textconv i,ignore-case I max-depth: r,recursive no-recursive w,word-regexp v,invert-match h H full-name E,extended-regexp G,basic-regexp P,perl-regexp F,fixed-strings n,line-number column l,files-with-matches name-only L,files-without-match O,open-files-in-pager?opaque z,null o,only-matching c,count color? no-color break heading p,show-function C,context: A,after-context: B,before-context: W,function-context threads: f:read e: and or not all-match q,quiet m,max-count: ext-grep!opaque", "", 0},
	{"hash-object", ReadOnly, "t: w!changes stdin stdin-paths!opaque path: no-filters literally", "read*", 0},
	{"help", Unknown, "a,all g,guides c,config m,man w,web!opaque i,info!opaque v,verbose no-verbose aliases no-aliases external-commands no-external-commands user-interfaces developer-interfaces", "skip*", 0},
	{"http-push", Unknown, "all dry-run force verbose d D", "", gitNet},
	{"init", Known, "q,quiet bare template:opaque separate-git-dir:write object-format: ref-format: b,initial-branch: shared?", "", 0},
	{"log", ReadOnly, "", "", gitDiff | gitLog},
	{"ls-files", ReadOnly, "c,cached d,deleted m,modified o,others i,ignored s,stage directory no-empty-directory u,unmerged k,killed resolve-undo z deduplicate x,exclude: X,exclude-from:read exclude-per-directory: exclude-standard error-unmatch with-tree: t v f full-name recurse-submodules abbrev? eol sparse debug format:", "", 0},
	{"ls-remote", Unknown, "h,heads,branches t,tags refs upload-pack:opaque+program exec:opaque+program q,quiet exit-code get-url symref sort: o,server-option:", "", gitNet},
	{"ls-tree", ReadOnly, "d r t l,long z name-only name-status object-only abbrev? full-name full-tree format:", "", 0},
	{"maintenance", Unknown, "", "", gitOpaque},
	{"merge", Unknown, "commit no-commit e,edit!opaque no-edit cleanup: ff no-ff ff-only S,gpg-sign?opaque log? no-log signoff stat n,no-stat squash no-squash verify no-verify s,strategy:opaque X,strategy-option: verify-signatures!opaque summary q,quiet v,verbose progress autostash no-autostash allow-unrelated-histories m: into-name: F,file:read abort quit continue", "", gitHooks | gitIndex},
	{"merge-base", ReadOnly, "a,all octopus independent is-ancestor fork-point", "", 0},
	{"mergetool", Unknown, "", "", gitOpaque},
	{"mv", Known, "f,force k n,dry-run v,verbose sparse", "", gitIndex},
	{"name-rev", ReadOnly, "tags refs: exclude: all annotate-stdin name-only no-undefined always stdin", "", 0},
	{"notes", Unknown, "ref: f,force m,message: F,file:read C,reuse-message: c,reedit-message:opaque e,edit!opaque allow-empty separator? no-separator stripspace no-stripspace stdin for-rewrite: ignore-missing n,dry-run v,verbose q,quiet s,strategy: commit abort", "", gitListing},
	{"prune", Unknown, "", "", 0},
	{"pull", Unknown, "upload-pack:opaque+program r,rebase? no-rebase ff-only ff no-ff q,quiet v,verbose s,strategy:opaque X,strategy-option: p,prune t,tags autostash depth: all f,force S,gpg-sign?opaque a,append recurse-submodules? j,jobs: no-edit edit!opaque stat no-stat squash no-verify allow-unrelated-histories k,keep unshallow", "", gitNet | gitHooks | gitIndex},
	{"push", Unknown, "all,branches prune mirror n,dry-run porcelain d,delete tags follow-tags signed?opaque atomic o,push-option: receive-pack:opaque+program exec:opaque+program force-with-lease? no-force-with-lease force-if-includes f,force repo: u,set-upstream thin no-thin q,quiet v,verbose progress recurse-submodules: verify no-verify 4 6", "", gitNet | gitHooks},
	{"range-diff", ReadOnly, "creation-factor: no-dual-color left-only right-only", "", gitDiff | gitLog},
	{"read-tree", Unknown, "reset m u i n,dry-run v trivial aggressive prefix: index-output:write no-sparse-checkout empty recurse-submodules? q,quiet", "", gitIndex | gitOpaque},
	{"rebase", Unknown, "onto: keep-base continue abort quit skip edit-todo!opaque show-current-patch apply m,merge s,strategy:opaque X,strategy-option: rerere-autoupdate S,gpg-sign?opaque q,quiet v,verbose stat n,no-stat no-verify verify C: no-ff,force-rebase,f fork-point no-fork-point ignore-whitespace whitespace: committer-date-is-author-date ignore-date,reset-author-date signoff i,interactive!opaque r,rebase-merges? x,exec:opaque+shell root autosquash no-autosquash autostash no-autostash reschedule-failed-exec update-refs empty: keep-empty no-keep-empty", "", gitHooks | gitIndex},
	{"reflog", Unknown, "expire: expire-unreachable: updateref rewrite stale-fix all n,dry-run single-worktree verbose", "", gitListing | gitDiff | gitLog},
	{"remote", Unknown, "v,verbose n", "", gitListing},
	{"replace", Unknown, "l,list f,force d,delete e,edit!opaque raw g,graft!changes convert-graft-file!changes format:", "", 0},
	{"reset", Known, "q,quiet refresh no-refresh mixed N,intent-to-add soft hard merge keep recurse-submodules? p,patch!opaque pathspec-from-file:read pathspec-file-nul", "", gitIndex},
	{"restore", Known, "s,source: p,patch!opaque W,worktree S,staged q,quiet progress ours theirs m,merge conflict: ignore-unmerged ignore-skip-worktree-bits recurse-submodules? overlay no-overlay pathspec-from-file:read pathspec-file-nul", "", gitIndex},
	{"rev-list", ReadOnly, "objects count bisect header timestamp all quiet use-bitmap-index objects-edge disk-usage? missing: filter: stdin", "", gitDiff | gitLog},
	{"rev-parse", ReadOnly, "*", "", 0},
	{"revert", Unknown, "e,edit!opaque no-edit m,mainline: n,no-commit S,gpg-sign?opaque s,signoff strategy:opaque X: continue abort quit skip reference cleanup:", "", gitHooks | gitIndex},
	{"rm", Known, "f,force n,dry-run r cached ignore-unmatch sparse q,quiet pathspec-from-file:read pathspec-file-nul", "deletetree*", gitIndex},
	{"send-email", Unknown, "", "", gitOpaque},
	{"send-pack", Unknown, "all mirror dry-run f,force v,verbose q,quiet thin atomic progress remote: receive-pack:opaque+program exec:opaque+program force-with-lease? force-if-includes stdin!opaque stateless-rpc!opaque helper-status", "", gitNet},
	{"shortlog", ReadOnly, "n,numbered s,summary e,email w? c,committer group:", "", gitDiff | gitLog},
	{"show", ReadOnly, "", "", gitDiff | gitLog},
	{"show-branch", ReadOnly, "a,all r,remotes current topo-order date-order sparse more? list merge-base independent no-name sha1-name topics g,reflog? color? no-color", "", 0},
	{"show-ref", ReadOnly, "head branches,heads tags d,dereference s,hash? verify exists abbrev? q,quiet exclude-existing?", "", 0},
	{"sparse-checkout", Unknown, "", "", gitListing},
	{"stash", Unknown, "a,all k,keep-index no-keep-index S,staged m,message: q,quiet u,include-untracked only-untracked no-include-untracked index pathspec-from-file:read pathspec-file-nul", "", gitListing | gitDiff | gitLog},
	{"status", ReadOnly, "s,short b,branch show-stash porcelain? long v,verbose vv u,untracked-files? ignore-submodules? ignored? z column? no-column ahead-behind no-ahead-behind renames no-renames find-renames?", "", 0},
	{"submodule", Unknown, "q,quiet cached recursive N,no-fetch", "", gitListing},
	{"switch", Unknown, "c,create: C,force-create: d,detach guess no-guess f,force,discard-changes m,merge conflict: q,quiet progress t,track? no-track orphan: ignore-other-worktrees recurse-submodules?", "", gitHooks | gitIndex},
	{"symbolic-ref", Unknown, "short q,quiet", "", gitListing},
	{"tag", Known, "a,annotate s,sign!opaque u,local-user:opaque f,force d,delete v,verify!opaque n? l,list sort: color? i,ignore-case omit-empty column? no-column contains? no-contains? merged? no-merged? points-at: m,message: F,file:read e,edit!opaque cleanup: create-reflog format: no-sign", "", gitListing},
	{"update-index", Unknown, "add remove refresh really-refresh q ignore-missing ignore-submodules unmerged again g assume-unchanged no-assume-unchanged skip-worktree no-skip-worktree ignore-skip-worktree-entries chmod: force-remove verbose split-index no-split-index untracked-cache no-untracked-cache", "", gitIndex},
	{"update-ref", Unknown, "d m: no-deref stdin z create-reflog", "", gitHooks},
	{"var", ReadOnly, "l", "", 0},
	{"verify-commit", Unknown, "", "", gitOpaque},
	{"verify-tag", Unknown, "", "", gitOpaque},
	{"version", ReadOnly, "build-options", "", 0},
	{"whatchanged", ReadOnly, "", "", gitDiff | gitLog},
	{"worktree", Unknown, "f,force b: B: d,detach no-checkout checkout lock reason: q,quiet porcelain v,verbose z expire: n,dry-run orphan", "", gitListing},
	{"write-tree", Known, "missing-ok prefix:", "", 0},
}

func findGit(name string) *gitCommand {
	i, ok := slices.BinarySearchFunc(gitCommands[:], name, func(g gitCommand, n string) int { return cmp.Compare(g.name, n) })
	if !ok {
		return nil
	}
	return &gitCommands[i]
}

const (
	gitHooks   gitTrait = 1 << iota // runs the repository's hooks
	gitNet                          // reaches a remote
	gitIndex                        // writes the index
	gitDiff                         // takes the options of diff
	gitLog                          // takes the options of log
	gitListing                      // read-only as long as it has no operand
	gitOpaque                       // runs what it is told, or cannot be followed
)

// A gitLoss is a way of calling git that drops work, files or history: one of the options, none of
// those without, and the first operand.
type gitLoss struct {
	sub, opts, without, first string
	why                       string // the danger; "" where the command is an everyday one
	drops                     bool   // files, or a name of what the repository holds, which can be kept for undo
}

// gitLosses, sorted by subcommand; see gitDanger for those that depend on more.
var gitLosses = [...]gitLoss{
	{"am", "abort,skip", "", "", "", true},
	{"branch", "D,M,C", "", "", losesCommits, true},
	{"branch", "d,m,f", "", "", "", true},
	{"checkout", "f,ours,theirs,B,p,pathspec-from-file", "", "", losesWork, true},
	{"checkout-index", "f", "", "", losesWork, true},
	{"cherry-pick", "abort,skip", "", "", "", true},
	{"clean", "f,x,X", "n", "", losesUnknown, true},
	{"clean", "", "n", "", "", true},
	{"commit", "amend", "", "", "", true},
	{"filter-branch", "", "", "", "rewrites history", false},
	{"gc", "prune", "", "", removesWay, false},
	{"merge", "abort", "", "", "", true},
	{"notes", "", "", "remove,prune", "", true},
	{"prune", "", "n", "", removesWay, false},
	{"push", "f,force-with-lease,force-if-includes,mirror,d,prune", "", "", harmsOthers, false},
	{"read-tree", "u", "", "", losesWork, true},
	{"rebase", "abort,skip", "", "", "", true},
	{"reflog", "", "", "expire,delete,drop", removesWay, false},
	{"replace", "", "l", "", "rewrites history", false},
	{"replace", "d,f", "", "", "", true},
	{"reset", "hard,merge,keep", "", "", losesWork, true},
	{"reset", "", "", "", "", true},
	{"restore", "", "staged", "", losesWork, true},
	{"restore", "worktree", "", "", losesWork, true},
	{"restore", "", "", "", "", true},
	{"revert", "abort,skip", "", "", "", true},
	{"rm", "f", "cached", "", losesAsked, true},
	{"rm", "", "", "", "", true},
	{"send-pack", "f,force,force-with-lease,mirror", "", "", harmsOthers, false},
	{"stash", "", "", "drop,clear", losesStash, true},
	{"stash", "", "", "pop", "", true},
	{"submodule", "f,force,all", "", "deinit", "deletes without asking", false},
	{"switch", "f,C", "", "", losesWork, true},
	{"tag", "f", "", "", movesTag, true},
	{"tag", "d", "", "", "", true},
	{"update-ref", "d", "", "", losesRef, true},
	{"update-ref", "stdin", "", "", "changes references that are not known", true},
	{"update-ref", "", "", "", "", true},
	{"worktree", "f", "", "remove", "deletes without asking", false},
}
