package shellparse

import (
	"strings"
	"testing"
)

// Commands that change nothing and must not be asked about, one a line.
const quiet = `
ls
ls -la
ls -lah src
cat f
cat f src/a.ts
head -5 f
head -n 20 f
tail -20 f
tail -c 100 f
wc -l f
wc f
nl f
paste f list
rev f
tac f
cut -d: -f1 f
cut -c1-10 f
tr a-z A-Z < f
sort f
sort -rn -k2,2 -t, f
sort -u f | uniq -c
uniq -c f
uniq f
diff f list
diff -u f list
cmp f list
comm -12 f list
join f list
fold -w 80 f
column -t f
expand f
seq 1 10
uname -a
whoami
id -u
hostname
date
date +%s
date -u +%Y-%m-%d
date -d yesterday
pwd
echo hi
echo "$HOME"
printf '%s\n' a b
true
false
test -f f
[ -f f ] && echo yes
[[ -f f ]] && echo yes
expr 1 + 2
which go
type ls
command -v go
basename f .txt
dirname src/a.ts
realpath .
readlink -f f
stat f
stat -c %s f
file f
du -sh .
df -h
ps aux
uptime
free -m
md5sum f
sha256sum f
base64 f
xxd f
hexdump -C f
od -c f
strings f
jq . f
jq -r '.a[] | .b' f
grep x f
grep -rn foo src
grep -rn --include='*.ts' foo .
grep -v '^#' f | head
grep -E 'a|b' f
egrep x f
rg foo
rg -n foo src
rg -l foo -g '*.ts'
rg --files
rg -i -w 'a b' -A3 -B2
find .
find . -name '*.ts'
find src -type f -newer f
find . -path ./x -prune -o -name '*.go' -print
find . -type f | head
find . -type f | wc -l
find . -name '*.ts' | xargs grep -l foo
find . -name '*.ts' -print0 | xargs -0 wc -l
find . -name '*.ts' -exec grep -l foo {} +
find . -type f -exec cat {} \;
sed -n 1,5p f
sed -n '/a/,/b/p' f
sed 's/a/b/' f
sed -e 's/a/b/g' -e '/x/d' f
sed -E 's/(a)(b)/\2\1/' f
sed '$d' f
sed -n '$=' f
sed 's|a|b|;s#c#d#' f
awk '{print $1}' f
awk -F, '{print $2}' f
awk 'NR==1' f
awk '/foo/ {c++} END {print c}' f
awk '{s+=$1} END {print s/NR}' f
awk '$1 > 5' f
awk -v x=1 '$1 == x {print}' f
awk 'length($0) > 80' f
git status
git status -sb
git status --porcelain
git log
git log --oneline -5
git log -p -1
git log --stat
git log --graph --decorate --all
git log --since=yesterday --author=me
git log -- f
git log -S foo
git log main..HEAD --format='%h %s'
git diff
git diff --stat
git diff --cached
git diff --staged f
git diff HEAD~1 HEAD
git diff --name-only main...HEAD
git diff -U5 -w
git show
git show HEAD
git show --stat HEAD
git show HEAD:f
git branch
git branch -a
git branch -vv
git branch -r
git branch --list 'x*'
git branch --show-current
git branch --contains HEAD
git remote
git remote -v
git remote get-url origin
git tag
git tag -l
git tag --list 'v*'
git stash list
git stash show
git rev-parse HEAD
git rev-parse --abbrev-ref HEAD
git rev-parse --show-toplevel
git ls-files
git ls-files -m
git ls-tree HEAD
git blame f
git blame -L 1,5 f
git describe --tags
git shortlog -sn HEAD
git cat-file -p HEAD
git grep foo
git grep -n foo -- src
git config --get user.name
git config --list
git config user.name
git reflog
git rev-list --count HEAD
git merge-base main HEAD
git for-each-ref
git worktree list
git show-ref
git check-ignore f
git --version
git --no-pager log -1
git -C . status
git submodule status
go version
go env
go env GOPATH
go help build
go doc fmt
node --version
node -v
npm --version
python3 --version
cargo --version
rustc --version
make --version
gcc --version
tree
tree -L 2
ls 2>/dev/null
ls 2>&1 | head
ls > /dev/null
ls &> /dev/null
cat < f
(ls)
{ ls; pwd; }
! grep -q x f
time ls
cd src && ls
cd src && ls && cd ..
ls; pwd
ls || true
ls && pwd || echo no
for i in 1 2 3; do echo $i; done
for f in src/*.ts; do echo "$f"; done
while read -r l; do echo "$l"; done < f
if [ -f f ]; then cat f; fi
case x in x) ls;; esac
x=1; echo $x
x=$(ls | wc -l); echo "$x"
echo $(git rev-parse HEAD)
diff <(ls src) <(ls .)
cat <<E\nhi\nE
cat <<'E'\n$(rm)\nE
cat <<< hi
bash -c 'ls && pwd'
bash -lc ls
sh -c 'grep -rn x src | head'
timeout 5 ls
nice ls
env -i ls; true
nohup ls
xargs -n1 echo < /dev/null
tar tf x.tar
tar -tzf x.tgz
zcat x.gz
set -e; ls
set -euo pipefail; ls
export NO_COLOR=1; ls
NO_COLOR=1 ls
LC_ALL=C sort f
TZ=UTC date
GIT_PAGER=cat git log
count=0; while [ $count -lt 5 ]; do count=$((count+1)); done; echo $count
i=0; while ((i < 3)); do echo $i; ((i++)); done
sleep 1
wait
`

func TestReadOnlyDoesNotAsk(t *testing.T) {
	b := newBench(t)
	n, asked := 0, 0
	for text := range strings.Lines(quiet) {
		if text = strings.ReplaceAll(strings.TrimSpace(text), `\n`, "\n"); text == "" {
			continue
		}
		n++
		a := analyze(b, text)
		if v, why := (judge{casePolicy{Default: "ask", Workspace: b.root}, b}).all(a); v != allow {
			asked++
			t.Logf("asks: %s: %s", text, why)
		}
	}
	t.Logf("%d of %d read-only commands ask", asked, n)
	if asked*20 > n {
		t.Error("more than one in twenty")
	}
}
