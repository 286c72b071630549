package shellparse

import (
	"os"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// asks checks what a command gets without a sandbox, where .env, private and den.txt may not be read.
func asks(t *testing.T, want map[string]policy.Verdict) {
	t.Helper()
	b := newBench(t)
	b.repo(t, "f", "g", "src/a.ts", "private/a", "den.txt", "s.sh", ".envrc.gz", "d/f")
	must(t, os.WriteFile(b.root+"/.env", []byte("s\n"), 0o600))
	must(t, os.Symlink(".env", b.root+"/notes"))
	must(t, os.MkdirAll(b.root+"/n", 0o755))
	p := unconfined(t, b, "ask: ['read(den.txt)', 'read(private/**)']")
	for text, want := range want {
		a := analyze(b, b.fill(text))
		if o := p.DecideAll(a.Accesses); o.Verdict != want {
			t.Errorf("%s, want %s: %s\n%s", o.Verdict, want, text, dump(a))
		}
	}
}

// TestKeptAside: what a program keeps of a file under another name is read, unless that name is as guarded.
func TestKeptAside(t *testing.T) {
	asks(t, map[string]policy.Verdict{
		"mv -b -S note f .env":                           policy.Ask,
		"mv -S note f .env":                              policy.Ask,
		"mv --suffix=note f .env":                        policy.Ask,
		"mv --backup=simple -S note f .env":              policy.Ask,
		"cp f d/.env; mv -bt . -S note d/.env":           policy.Ask,
		"mv -b -S x f den.txt":                           policy.Ask,
		"mv -b f den.txt":                                policy.Ask,
		"mv -bT -S x n private":                          policy.Ask,
		"mv -bT n private":                               policy.Ask,
		"cp -b -S _note.txt f .env":                      policy.Ask,
		"install -b -S note f .env":                      policy.Ask,
		"ln -fb -S note f .env":                          policy.Ask,
		"x=.env; cp -b -S note f $x":                     policy.Ask,
		"cp -rb -S x n/. .":                              policy.Ask,
		"SIMPLE_BACKUP_SUFFIX=note mv -b f .env":         policy.Ask,
		"export SIMPLE_BACKUP_SUFFIX=note; mv -b f .env": policy.Ask,
		"env SIMPLE_BACKUP_SUFFIX=note cp -b f .env":     policy.Ask,
		"rsync -b --suffix=note f .env":                  policy.Ask,
		"sed -i.example p .env":                          policy.Ask,
		"sed -i_ p .env":                                 policy.Ask,
		"sed --in-place=note p .env":                     policy.Ask,
		"sed -i.bak p den.txt":                           policy.Ask,
		"find . -name .env -exec sed -inote p {} +":      policy.Ask,
		"timeout 5 mv -b -S note f .env":                 policy.Ask,

		"mv -b f g":                             policy.Allow,
		"mv -b f .env":                          policy.Allow, // .env~ is a secret, too
		"mv -b f new":                           policy.Allow,
		"cp -b -S .orig f g":                    policy.Allow,
		"cp --backup=numbered f g":              policy.Allow,
		"cp -b -S note f .env.new":              policy.Allow,
		"install -b -m 755 s.sh d":              policy.Allow,
		"ln -sfb f g":                           policy.Allow,
		"sed -i.bak s/a/b/ f":                   policy.Allow,
		"sed -i.bak s/a/b/ .env && rm .env.bak": policy.Allow,
		"sed -i~ s/a/b/ .env":                   policy.Allow,
		"find src -name '*.ts' -exec sed -i.bak s/a/b/ {} +": policy.Allow,
	})
}

// TestEditedInPlace: what sed edits in place is read where its script brings it elsewhere.
func TestEditedInPlace(t *testing.T) {
	asks(t, map[string]policy.Verdict{
		"sed -i 'w /dev/stdout' .env":                         policy.Ask,
		"sed -i 'w out' .env":                                 policy.Ask,
		"sed -n -i 's/a/b/w out' .env":                        policy.Ask,
		"sed -i 'W out' den.txt":                              policy.Ask,
		"sed --debug -i s/a/b/ .env":                          policy.Ask,
		"sed -i 'H;$G' .env f":                                policy.Ask,
		"sed -i -e h -e G private/a f":                        policy.Ask,
		"sed -i p notes":                                      policy.Ask,
		"ln -s .env l; sed -i p l":                            policy.Ask,
		"find . -name .env -exec sed -i 'w /dev/stdout' {} +": policy.Ask,
		"find . -name .env | xargs sed -i 'w /dev/stdout'":    policy.Ask,
		"sed -i 'w /dev/stdout' private/a":                    policy.Ask,

		"sed -i s/a/b/ .env":                  policy.Allow,
		"sed -i '/^A=/d' .env":                policy.Allow,
		"sed -i -e s/a/b/ -e '$a x=1' .env f": policy.Allow,
		"sed -i 'N;s/a\\n/b/' .env":           policy.Allow,
		"sed -i s/a/b/ private/a":             policy.Allow,
		"sed -i 'w out' f":                    policy.Allow,
		"sed -i --follow-symlinks p notes":    policy.Allow,
		"cd d && sed -i s/a/b/ ../g f":        policy.Allow,
		"sed -i 's/a/b/;H;$G' f g":            policy.Allow,
	})
}

// TestWithoutProgram: a wrapper that is given no program starts a shell, whose input is judged.
func TestWithoutProgram(t *testing.T) {
	asks(t, map[string]policy.Verdict{
		"linux64 <<< 'cat .env'":                    policy.Ask,
		"linux32 <<< 'cat .env'":                    policy.Ask,
		"x86_64 <<< 'cat .env'":                     policy.Ask,
		"setarch x86_64 <<< 'cat .env'":             policy.Ask,
		"setarch x86_64 -R <<< 'cat .env'":          policy.Ask,
		"setarch -R <<< 'cat .env'":                 policy.Ask,
		"setarch -R touch true @O@/x":               policy.Ask,
		"echo 'cat .env' | fakeroot":                policy.Ask,
		"SHELL=./s.sh fakeroot":                     policy.Ask,
		"cat f | linux64":                           policy.Ask,
		"timeout 5 linux64 <<< 'cat .env'":          policy.Ask,
		"nice env A=1 setarch -R <<< 'touch @O@/x'": policy.Ask,
		"busybox linux64 <<< 'cat .env'":            policy.Ask,
		"unshare -r <<< 'cat .env'":                 policy.Ask,
		"fakeroot -u <<< 'rm @O@/secret'":           policy.Ask,

		"linux64 ls":              policy.Allow,
		"linux32 cat f":           policy.Allow,
		"setarch x86_64 -R ls d":  policy.Allow,
		"setarch -R cat f":        policy.Allow,
		"setarch --list":          policy.Allow,
		"fakeroot touch g":        policy.Allow,
		"linux64 --help":          policy.Allow,
		"timeout 5 linux64 cat f": policy.Allow,
	})
}

// TestOperandsThemselves: the first operand of chmod and its like is a file where the mode stands elsewhere, dos2unix -n
// reads what it makes another of, and uncompress is gunzip.
func TestOperandsThemselves(t *testing.T) {
	asks(t, map[string]policy.Verdict{
		"curl -s -w '%output{>>@O@/y}z' file:///dev/null": policy.Ask,
		"pgrep -F .env":                            policy.Ask,
		"logger -s --journald=.env":                policy.Ask,
		"arch -arm64 cat .env":                     policy.Ask,
		"arch -e A=1 -arch x86_64 cat f":           policy.Ask,
		"arch":                                     policy.Allow,
		"arch -x86_64 cat f":                       policy.Allow,
		"pgrep -f server":                          policy.Allow,
		"chmod --reference=s.sh @O@/secret":        policy.Ask,
		"chmod -w @O@/secret":                      policy.Ask,
		"chmod -wx @O@/secret":                     policy.Ask,
		"chmod -u+w @O@/secret":                    policy.Ask,
		"chmod -x,g+w @O@/secret":                  policy.Ask,
		"chmod -R -w @O@":                          policy.Ask,
		"chmod -w .git/config":                     policy.Deny,
		"chown --reference=s.sh @O@/secret":        policy.Ask,
		"chgrp --reference s.sh @O@/secret":        policy.Ask,
		"chcon --reference=s.sh @O@/secret":        policy.Ask,
		"chcon -t bin_t @O@/secret":                policy.Ask,
		"dos2unix -n .env q":                       policy.Ask,
		"unix2dos --newfile .env q":                policy.Ask,
		"dos2unix -O .env":                         policy.Ask,
		"dos2unix --to-stdout private/a":           policy.Ask,
		"dos2unix -R notes":                        policy.Ask,
		"dos2unix -n f @O@/x":                      policy.Ask,
		"dos2unix -n @O@/secret new":               policy.Ask,
		"mac2unix @O@/secret":                      policy.Ask,
		"uncompress .envrc.gz":                     policy.Deny,
		"uncompress -f .github/workflows/a.yml.gz": policy.Ask,

		"chmod -x s.sh":            policy.Allow,
		"chmod +x s.sh":            policy.Allow,
		"chmod 755 s.sh":           policy.Allow,
		"chmod -v 755 s.sh":        policy.Allow,
		"chmod -R u+w d":           policy.Allow,
		"chmod --reference=f s.sh": policy.Allow,
		"chmod -w f":               policy.Allow,
		"dos2unix f g":             policy.Allow,
		"dos2unix -n f new":        policy.Allow,
		"dos2unix .env":            policy.Allow,
		"uncompress d/f.gz":        policy.Allow,
		"uncompress -c f.Z":        policy.Allow,
	})
}
