package shellparse

import (
	"slices"
	"strings"
	"testing"

	"github.com/agentkit-go/agentkit/pkg/policy"
)

// Calls of a program that run, load, write or reach more than a rule for the
// program itself means: each must end in an access that such a rule does not
// cover. After the program's name stands what that is: opaque, danger, or the
// kind of an access.
const capableCalls = `
opaque less '+!pwn' f
opaque less '++!pwn' f
opaque less '+|a pwn' f
opaque less '+s../x' f
opaque less +v f
opaque less '-P$+!pwn' f
opaque less -N+x f
opaque less -P 'a$+!pwn' f
opaque less --lesskey-src=x f
opaque less --lesskey-cont=x f
write less --log-file=x f
write less -Ox f
opaque zless '+!pwn' f
opaque more '+!pwn' f
opaque less '+/x/|!pwn' f
opaque man -r '!pwn' ls
opaque man -X ls
read man -l f
read man ./f
opaque vim '+!pwn' f
opaque vim '+call system("pwn")' f
opaque vim '+w! x' f
opaque vim '+/x/|!pwn' f
opaque vim -Vx f
opaque vim --remote-expr x
opaque nvim -l f
opaque nvim --listen h:1
opaque view '+!pwn' f
opaque emacs --funcall x
opaque emacs --load x
opaque nano --speller=pwn f
opaque delta --pager pwn f
opaque crontab f
opaque crontab -
opaque at now
opaque batch
opaque tmux run-shell "$(date)"
opaque tmux send-keys pwn Enter
opaque tmux source-file x
opaque tmux if-shell pwn x
opaque tmux set -g default-command pwn
opaque tmux display-message '#(pwn)'
opaque tmux save-buffer x
opaque tmux ls \; run pwn
opaque screen -X exec pwn
opaque screen -c x
opaque socat - EXEC:pwn
opaque socat - SYSTEM:pwn
opaque socat - UNIX:x
write socat - OPEN:x
write nc -U x
write nc -lU x
write ncat -l --unixsock x
write netcat -U x
opaque nc -U x -e pwn
net socat - TCP:h:80
net mail -s x a@b
net whois h
net logger -n h x
net git remote update
net docker import http://h
opaque gdb --eval-comm 'shell pwn'
opaque gdb --data-directory=x
opaque gdb -p 1
opaque lldb -o 'shell pwn'
opaque lldb -s x
opaque nsenter -t 1 cat f
opaque strace -p 1
opaque tcpdump -z pwn
read getent shadow
opaque git help -w log
opaque git help --web log
opaque git remote add x ext::pwn
opaque git remote set-url x ext::pwn
write git stash show --output=x
opaque git stash show --ext-diff
write git reflog show --output=x
opaque git cat-file --batch
read git show :f
read git show HEAD:f
read git show :0:f
read git cat-file -p :f
read git diff f
read git diff -- f
read git log -p -- f
read git log -L 1,5:f
read git blame f
read git grep x -- f
read git archive HEAD f
read git show HEAD -- ':(top)f'
read git diff -- ':/f'
read git diff -- '.e*'
read git diff -- '*env'
read git log -p -- .env
danger install -m4755 f g
danger install -m u+s f g
read tar -df a /etc/x
write tar cf a --remove-files f
read rsync -f 'merge f' a b
read rsync --filter='. f' a b
opaque npm config set script-shell pwn
opaque npm --viewer=pwn help x
opaque npm run x --node-options=-r=y
opaque openssl engine x
opaque openssl s_server
opaque systemctl edit x
opaque systemctl enable ./x.service
net systemctl -H h status
write go test -test.coverprofile=x
opaque go doc -http
opaque go build -gcflags=-o=x
opaque go build -asmflags=all=-o=x
read go -C /etc build
read go build -C /etc
opaque make 'A!=pwn'
opaque make .SHELLFLAGS=-c
opaque make 'A=${shell pwn}'
read node --env-file=f g
read node --env-file f g
write perl -pi.bak -e s/a/b/ f
opaque ruby "$(date)"
opaque docker run --privileged x
opaque docker run --pid=host x
opaque docker run --cap-add ALL x
opaque docker run -v /var/run/docker.sock:/s x
opaque docker volume create -o device=/ x
opaque docker plugin install x
write docker run -v /:/x y
write docker run --rm -it -v /etc:/e y
write docker --log-level debug run -v /:/x y
write docker container run -v /:/x y
write docker run --mount type=bind,src=/,dst=/x y
write docker cp x:/y g
write docker save -o x y
write docker build -o x .
read docker run --env-file f x
read docker run -v /etc:/e:ro y
read docker build --secret id=x,src=f .
read docker build ..
opaque jq 'import "x" as y; .' f
read jq -n '$a' --rawfile a f
write unzip b
opaque unzip -: b
write 7z x b -ox
opaque 7z a x @list
opaque gpg --dirmngr-program pwn f
opaque gpg --recv-keys x
opaque gpg --export-secret-keys
opaque gpg --use-embedded-filename f
opaque BAT_CONFIG_PATH=x bat f
read cp -s /etc/x y && cat y
read gzip -c f
read xz f
opaque sqlite3 x '.shell pwn'
opaque sqlite3 x "select load_extension('x')"
opaque sqlite3 x '.read |pwn'
opaque sqlite3 x < f
opaque psql -c '\! pwn'
opaque psql -c "copy x to program 'pwn'"
opaque psql -o '|pwn'
opaque mysql -e '\! pwn'
opaque pandoc --filter pwn f
opaque pandoc --lua-filter x f
opaque protoc --plugin=pwn f
opaque sdiff --diff-program=pwn f g
opaque gcc @list
opaque java -javaagent:x f
write terraform plan -out=x
`

func TestCapableCalls(t *testing.T) {
	b := newBench(t)
	world := b.world()
	for line := range strings.Lines(capableCalls) {
		want, text, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok {
			continue
		}
		a := Analyze(t.Context(), text, "bash", world)
		if !slices.ContainsFunc(a.Accesses, func(x policy.Access) bool {
			switch want {
			case "opaque":
				return x.Opaque != ""
			case "danger":
				return x.Danger != ""
			}
			return string(x.Kind) == want
		}) {
			t.Errorf("no %s: %s\n%s", want, text, dump(a))
		}
	}
}

// Calls that start the program pwn by what their words say.
const startingCalls = `
tmux new pwn
tmux new-session -d -s x 'pwn a'
tmux neww pwn
tmux split-window -h pwn
tmux run-shell pwn
tmux pipe-pane pwn
tmux popup -w 5 pwn
screen -dmS x pwn
echo pwn | at now
batch <<< pwn
npm exec pwn
npm exec -- pwn
npm x -c pwn
npm explore x -- pwn
yarn dlx pwn
pnpm dlx pwn
pnpm -C x exec pwn
bun x pwn
pipenv run pwn
pipx run pwn
hatch run pwn
hatch env run pwn
pdm run pwn
rye run pwn
conda run -n x pwn
mise exec -- pwn
mise x node -- pwn
asdf exec pwn
nix develop -c pwn
nix-shell --run pwn
op run -- pwn
doppler run -- pwn
dotenvx run -- pwn
aws-vault exec a -- pwn
chamber exec a -- pwn
volta run pwn
dotenv -- pwn
env-cmd pwn
cross-env A=1 pwn
concurrently pwn
nodemon --exec pwn
watchexec -- pwn
reflex -- pwn
setuidgid x pwn
envdir d pwn
daemonize pwn
run-one pwn
retry pwn
torify pwn
winpty pwn
mksh -c pwn
yash -c pwn
xonsh -c pwn
pwsh -Command pwn
socat - EXEC:pwn
make 'A!=pwn'
less '+!pwn' f
`

func TestStartingCalls(t *testing.T) {
	b := newBench(t)
	world := b.world()
	for line := range strings.Lines(startingCalls) {
		text := strings.TrimSpace(line)
		a := Analyze(t.Context(), text, "bash", world)
		if text != "" && !slices.ContainsFunc(a.Accesses, func(x policy.Access) bool { return x.Kind == policy.Exec && x.Argv[0] == "pwn" }) {
			t.Errorf("pwn is not seen: %s\n%s", text, dump(a))
		}
	}
}

// Everyday calls of the same programs: nothing about them is opaque, and
// nothing outside the root is touched.
const everydayCalls = `
less f
less -FRX f
less +G f
less +F f
less +100 f
less '+/foo' f
man ls
man 3 printf
vim +12 f
vim -R f
nano +12 f
tmux ls
tmux attach -t x
tmux new -d -s x 'sleep 5'
tmux capture-pane -p -t x
screen -ls
screen -dmS x sleep 5
crontab -l
at -l
systemctl status x
docker ps -a --format '{{.Names}}'
docker build -t x -f Dockerfile .
docker run --rm -it -v "$PWD:/app" -w /app node:20 npm test
docker run --rm -e A=b x sh -c 'cat /etc/passwd'
docker run --rm -v data:/data x
docker exec web cat /etc/hosts
docker compose up -d
docker volume create x
docker context ls
npm run x
npm run exec
npm exec -- tsc --noEmit
pnpm exec eslint .
poetry run pytest
go test -v -test.v ./...
go build -gcflags='all=-N -l' .
go build -ldflags '-s -w -X main.v=1' .
make CFLAGS_EXTRA=-O2
make 'A=$$x'
node --max-old-space-size=4096 f
perl -pe 's/i/j/' f
jq --arg a b '.x=$a' f
jq --slurpfile a f . f
unzip -l b.zip
7z l b.zip
gpg --verify f g
gpg --list-keys
tar czf x.tgz src
rsync -a -f '- *.o' src/ sub/
install -m 755 f src/x
git diff -- '*.go' ':!vendor'
git show HEAD:f
git show v1.0 --stat
git log --oneline -5
git stash push -m wip -u
git stash show -p
git reflog -5
git remote -v
git remote add up https://github.com/a/b.git
git help log
git apply nosuch.patch
sqlite3 f .tables
sqlite3 f 'select * from a'
psql -c 'select 1'
gzip -c f
`

func TestEverydayCalls(t *testing.T) {
	b := newBench(t)
	world := b.world()
	for line := range strings.Lines(everydayCalls) {
		text := strings.TrimSpace(line)
		if text == "" {
			continue
		}
		a := Analyze(t.Context(), text, "bash", world)
		for _, x := range a.Accesses {
			if x.Opaque != "" || x.Danger != "" || x.Path != "" && !strings.HasPrefix(x.Path, b.root) {
				t.Errorf("%s: %s %s %s %s", text, x.Kind, x.Path, x.Opaque, x.Danger)
			}
		}
	}
}

// A patch in the root says what git apply writes.
func TestPatchTargets(t *testing.T) {
	b := newBench(t)
	text := "git apply <<'E'\n--- a/f\n+++ b/.envrc\n@@ -1 +1 @@\n-a\n+b\nrename to src/g\nE"
	got := short(b, Analyze(t.Context(), text, "bash", b.world()))
	for _, want := range []string{"write create @W@/.envrc", "write create @W@/src/g"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	for options, want := range map[string]string{
		"--directory=x/y": "create @W@/x/y/.envrc", "--directory x -p1": "create @W@/x/.envrc", "-p0": "create @W@/b/.envrc", "-p 2": "create @W@/.envrc",
		"-p2 --directory=x": "create @W@/x/g", `-p"$(id -u)"`: "write change @W@ ", `--directory="$(id -u)"`: "write change @W@ ",
	} {
		a := Analyze(t.Context(), strings.Replace(text, "apply", "apply "+options, 1), "bash", b.world())
		got := short(b, a)
		if !strings.Contains(got+" ", want) {
			t.Errorf("%s: no %s in\n%s", options, want, got)
		}
		for _, x := range a.Accesses {
			if strings.Contains(x.Opaque, "its option") {
				t.Errorf("%s: none of these options runs or loads anything: %s", options, x.Opaque)
			}
		}
	}
}
