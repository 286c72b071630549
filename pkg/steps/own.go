package steps

import (
	"slices"

	"github.com/agentkit-go/agentkit/pkg/policy"
	"github.com/agentkit-go/agentkit/pkg/programs"
	"github.com/agentkit-go/agentkit/pkg/safefile"
)

// These programs write what they are told or have read, at the names that they are given: the first whatever their options say, the
// others when they are given no option but those in plainOptions.
const (
	shows        = "cat echo printf head tail grep sort cut tr touch chmod mkdir rm test [ cd . source set export"
	plain        = "cp install tee sed"
	plainOptions = "n,no-clobber f,force v,verbose p a,append m,mode u,update i,in-place e,expression E,r,regexp-extended"
)

// Own reports whether what a program reads by access j is certainly what the command itself has written: nothing is
// there yet, some program writes it, and none brings there a file that nobody has decided to be read. held says that
// a sandbox holds a program of which nothing is known.
func (l List) Own(j int, held bool) bool {
	r := &l.Accesses[j]
	if r.Kind != policy.Read || r.File != policy.Missing || r.Tree || r.Named != "" || !safefile.Below(l.Root, r.Path) {
		return false
	}
	written := false
	for i := range l.Accesses {
		a := &l.Accesses[i]
		switch {
		case a.Kind == policy.Exec:
			if !l.writesPlainly(a) && !(held && a.Class == policy.Unknown && !l.writes(i)) || a.Opaque != "" && !held {
				return false
			}
		case a.Opaque != "", a.Kind == policy.Env:
			return false
		case a.Kind != policy.Write:
		case a.Path == r.Path && !a.Tree:
			written = written || a.Op != policy.Delete && a.Op != policy.Metadata
		case safefile.Below(a.Path, r.Path): // nothing of these writes above it, as far as is known
			return false
		}
	}
	return written
}

// writesPlainly reports whether a program is one of plain, or changes nothing.
func (l List) writesPlainly(a *policy.Access) bool {
	if a.Class == policy.ReadOnly {
		return true
	}
	name := Name(a)
	if name == "" || name != a.Argv[0] || a.Program != "" && safefile.Below(l.Root, a.Program) {
		return false
	}
	return programs.Has(shows, name) || programs.Has(plain, name) && !slices.ContainsFunc(a.Options, func(o policy.Option) bool {
		return !programs.Has(plainOptions, o.Names) || o.Names == "i,in-place" && o.Value != "" // sed -i.x keeps a copy
	})
}

// writes reports whether a program is known to write some file.
func (l List) writes(program int) bool {
	for range l.of(program, policy.Write) {
		return true
	}
	return false
}
