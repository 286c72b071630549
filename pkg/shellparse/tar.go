package shellparse

import (
	"strings"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// tar reads tar in its three spellings. What an archive holds is not known, so
// what extracting writes is not either.
func (w *walker) tar(c *call) {
	const opts = "A,catenate,concatenate c,create d,diff,compare delete r,append t,list u,update x,extract,get f,file: z,gzip,gunzip,ungzip j,bzip2 J,xz Z,compress lzip lzma lzop zstd a,auto-compress v,verbose w,interactive k,keep-old-files U,unlink-first overwrite p,preserve-permissions,same-permissions m,touch o O,to-stdout C,directory: T,files-from:!< X,exclude-from:< exclude: exclude-vcs exclude-vcs-ignores exclude-caches h,dereference hard-dereference l,check-links L,tape-length: M,multi-volume! F,info-script,new-volume-script:!$ I,use-compress-program:!% to-command:!$ checkpoint? checkpoint-action:! rsh-command:!% rmt-command:!% P,absolute-names! transform,xform:! strip-components: wildcards no-wildcards anchored no-anchored one-top-level? owner: group: mode: mtime: sort: numeric-owner no-same-owner same-owner no-same-permissions format: H: pax-option: posix totals show-omitted-dirs warning: index-file:> N,newer,after-date: newer-mtime: W,verify! S,sparse B,read-full-records b,blocking-factor: i,ignore-zeros g,listed-incremental:> G,incremental n,seek level: null no-null no-recursion recursion remove-files~ skip-old-files keep-newer-files occurrence? K,starting-file: one-file-system s ignore-failed-read quoting-style: suffix: backup? acls selinux xattrs force-local no-overwrite-dir keep-directory-symlink! delay-directory-restore utc full-time block-number R"
	w.options(c, opts, styleBundle)
	extract := c.given("extract", "delete", "append", "update", "create", "catenate")
	archive, named := c.optionValue("file")
	into := word{text: "."}
	before := w.st.dirs
	if d, ok := c.optionValue("directory"); ok {
		into = d
	}
	if named && !archive.dyn && strings.Contains(archive.text, ":") && !c.given("force-local") {
		c.opaque(w, "an archive on another host")
	}
	if named {
		role := byte('r')
		if c.given("create", "append", "update", "delete", "catenate") {
			role = 'w'
		}
		if archive.text != "-" {
			w.role(c, role, archive)
		}
	}
	if !extract {
		w.lowerTo(c, policy.ReadOnly)
	}
	switch {
	case c.given("extract") && c.given("to-stdout"):
	case c.given("extract"):
		w.lowerTo(c, policy.Known)
		w.file(fileAccess{kind: policy.Write, op: policy.Create, parent: c.index + 1, src: into.text, why: "the archive decides what is written"}, into)
	case c.given("create", "append", "update", "diff"):
		w.move(into)
		for _, x := range c.args {
			w.role(c, 'R', x)
			if c.given("remove-files") {
				w.file(fileAccess{kind: policy.Write, op: policy.Delete, tree: true, parent: c.index + 1, src: x.text}, x)
			}
		}
		w.st.dirs = before
	}
}
