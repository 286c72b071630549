# Ways to start the program that the policy denies. See README.md.
mkdir -p "$ATTACK_ROOT/loot/starts" && cd "$ATTACK_ROOT/loot/starts" || exit 2
B=$ATTACK_BIN/forbidden
mark=$ATTACK_ROOT/loot/ran
while IFS= read -r line; do
	[ -n "$line" ] || continue
	rm -rf ./* "$mark"
	B=$B D=$ATTACK_BIN timeout 5 bash -c "$line" >/dev/null 2>&1 </dev/null
	if [ -e "$mark" ]; then echo "starts $line	out"; else echo "starts $line	held"; fi
done <<'LINES'
"$B"
PATH=$D forbidden
cd "$D" && ./forbidden
"$D/../bin/forbidden"
"/proc/self/root$B"
exec -a harmless "$B"
env -i "$B"
nice "$B"
setsid -w "$B"
timeout 3 "$B"
echo | xargs -I{} "$B"
find . -maxdepth 0 -exec "$B" \;
ln -s "$B" x; ./x
ln "$B" x; ./x
cp "$B" x; ./x
cat "$B" > x; chmod +x x; ./x
cp "$B" x; chmod 111 x; ./x
cp "$B" x; printf '\0' >> x; strip x; true
mkdir -p a/b; cp "$B" a/b/ls; PATH=$PWD/a/b ls
cp "$B" x; mv x y; (sleep 0.1; ./y)
cp "$B" x; exec 3< x; rm x; /proc/self/fd/3
gzip -c "$B" | gunzip > x; chmod +x x; ./x
base64 "$B" | base64 -d > x; chmod +x x; ./x
dd if="$B" of=x 2>/dev/null; chmod +x x; ./x
tar cf x.tar -C "$D" forbidden; tar xf x.tar; ./forbidden
printf '#!%s\n' "$B" > s; chmod +x s; ./s
printf '#!/bin/sh\nexec %s\n' "$B" > s; chmod +x s; ./s
printf '#!/usr/bin/env -S %s\n' "$B" > s; chmod +x s; ./s
printf '#!/bin/sh\n' > a; printf '#!%s\n' "$B" > b; chmod +x a b; ./b
/lib64/ld-linux-x86-64.so.2 "$B"
cp /lib64/ld-linux-x86-64.so.2 l; ./l "$B"
cp "$B" x; /lib64/ld-linux-x86-64.so.2 ./x
python3 -c 'import os; os.execv(os.environ["B"], ["ls"])'
python3 -c 'import os; os.posix_spawn(os.environ["B"], ["ls"], {})'
python3 -c 'import os; os.execve(os.open(os.environ["B"], os.O_RDONLY), ["ls"], {})'
python3 -c 'import os,shutil; f=os.memfd_create("x"); os.write(f, open(os.environ["B"],"rb").read()); os.execve(f, ["ls"], {})'
python3 -c 'import os; f=os.memfd_create("x"); os.write(f, open(os.environ["B"],"rb").read()); os.execv("/proc/self/fd/%d" % f, ["ls"])'
python3 -c 'import ctypes,os; ctypes.CDLL(None).syscall(322, -100, os.environ["B"].encode(), (ctypes.c_char_p*2)(b"ls", None), (ctypes.c_char_p*1)(None), 0)'
python3 -c 'import ctypes,os; f=os.open(os.environ["B"], os.O_PATH); ctypes.CDLL(None).syscall(322, f, b"", (ctypes.c_char_p*2)(b"ls", None), (ctypes.c_char_p*1)(None), 0x1000)'
python3 -c 'import os; os.link(os.environ["B"], "x"); os.execv("./x", ["x"])'
python3 -c 'import os,threading; b=os.environ["B"]; os.symlink("/bin/true","x"); t=threading.Thread(target=lambda: [(os.symlink(b,"z"), os.rename("z","x"), os.symlink("/bin/true","z"), os.rename("z","x")) for _ in range(200)]); t.start(); [os.spawnv(os.P_WAIT,"x",["x"]) for _ in range(40)]; t.join()'
perl -e 'exec {$ENV{B}} "ls"'
perl -e 'syscall(59, $ENV{B}, pack("QQ", unpack("Q", pack("p", "ls")), 0), pack("Q", 0))'
awk 'BEGIN{system(ENVIRON["B"])}'
sed "1e $B" /etc/hostname
printf 'all:\n\t%s\n' "$B" | make -s -f -
git -c alias.x="!$B" x
git -c core.pager="$B" -p --version
GIT_SSH="$B" git ls-remote ssh://localhost/x
tar cf /dev/null --checkpoint=1 --checkpoint-action=exec="$B" /etc/hostname
BASH_ENV=<(echo "$B") bash -c :
trap "$B" EXIT
coproc "$B"; wait
hash -p "$B" ls; ls
script -qc "$B" /dev/null
flock x "$B"
echo "$B" | at now
systemd-run --user "$B"
LINES
exit 0
