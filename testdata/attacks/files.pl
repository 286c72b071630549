# What files.c tries, in Perl, which has system calls by number. See README.md.
use Fcntl; use POSIX; use Socket; use IO::Handle; use File::Copy (); use File::Basename; use File::Path ();
my $root = $ENV{ATTACK_ROOT}; my $serial = 0;
sub mine { "$root/loot/pl-$_[0]$$-" . $serial++ }
sub own { my $n = mine("own"); open(my $f, ">", $n) or return; print $f "EVIL"; close $f; $n }
sub put { my $f = shift or return; my $ok = syswrite($f, "EVIL"); $ok && $ok == 4 }
sub opens { my ($n, $flags) = @_; sysopen(my $f, $n, $flags, 0600) or return; put($f) }
sub reading { sysopen(my $f, $_[0], O_RDONLY | O_NONBLOCK) or return; $f }
sub linked { my $n = mine("soft"); symlink($_[0], $n); $n }
sub call { my $r = syscall(@_); $r >= 0 && $r != 0xffffffff && $r != -1 }
sub run { open(my $null, ">", "/dev/null"); my $pid = fork(); if (!$pid) { open(STDERR, ">", "/dev/null"); exec(@_) or POSIX::_exit(9) } waitpid($pid, 0); $? == 0 }
my %change = (
  'sysopen' => sub { opens($_[0], O_WRONLY) },
  'append' => sub { open(my $f, ">>", $_[0]) && print $f "EVIL" and close $f },
  'update' => sub { open(my $f, "+<", $_[0]) && print $f "EVIL" and close $f },
  'clobber' => sub { open(my $f, "+>", $_[0]) && 1 },
  'two words' => sub { open(my $f, "> $_[0]") && 1 },
  'pipe' => sub { open(my $f, "|-", "cat > '$_[0]'") or return; print $f "EVIL"; close $f },
  'truncate' => sub { truncate($_[0], 0) },
  'truncate a handle' => sub { my $f = reading($_[0]) or return; truncate($f, 0) },
  'fd again' => sub { my $f = reading($_[0]) or return; opens("/proc/self/fd/" . fileno($f), O_RDWR) },
  'dup of a reader' => sub { my $f = reading($_[0]) or return; open(my $g, ">&=", fileno($f)); put($g) },
  'proc root' => sub { opens("/proc/$$/root$_[0]", O_WRONLY) },
  'cwd' => sub { chdir(dirname($_[0])) && opens("/proc/self/cwd/" . basename($_[0]), O_WRONLY) },
  'soft link' => sub { opens(linked($_[0]), O_WRONLY) },
  'hard link' => sub { my $n = mine("hard"); link($_[0], $n) && opens($n, O_WRONLY) },
  'chmod' => sub { chmod(0666, $_[0]) },
  'fchmod' => sub { my $f = reading($_[0]) or return; chmod(0666, $f) },
  'chown' => sub { chown($<, $(+0, $_[0]) },
  'utime' => sub { utime(1, 1, $_[0]) },
  'futime' => sub { my $f = reading($_[0]) or return; utime(1, 1, $f) },
  'x86 chmod' => sub { call(90, $_[0], 0666) },
  'x86 utime' => sub { call(132, $_[0], 0) },
  'x86 utimes' => sub { call(235, $_[0], 0) },
  'x86 futimesat' => sub { call(261, -100, $_[0], 0) },
  'x86 lchown' => sub { call(94, $_[0], $<, $(+0) },
  'x86 setxattr' => sub { call(188, $_[0], "user.evil", "x", 1, 0) },
  'x86 truncate' => sub { call(76, $_[0], 1) },
  'x86 creat' => sub { call(85, $_[0], 0600) },
  'x32 creat' => sub { call(0x40000000 + 85, $_[0], 0600) },
  'x86 openat2' => sub { call(437, -100, $_[0], pack("QQQ", O_WRONLY, 0, 0), 24) },
  'x86 renameat2' => sub { call(316, -100, own(), -100, $_[0], 2) },
  'cp' => sub { run("cp", own(), $_[0]) },
  'cp --remove' => sub { run("cp", "--remove-destination", own(), $_[0]) },
  'cp --reflink' => sub { run("cp", "--reflink=always", own(), $_[0]) },
  'install' => sub { run("install", own(), $_[0]) },
  'tee' => sub { run("sh", "-c", 'echo EVIL | tee "$1" >/dev/null', "-", $_[0]) },
  'ln -f' => sub { run("ln", "-f", own(), $_[0]) },
  'ln -sf' => sub { run("ln", "-sf", own(), $_[0]) },
  'patch' => sub { run("sh", "-c", 'printf "%s\n" "--- a" "+++ a" "@@ -1 +1 @@" "-victim" "+EVIL" | patch -s "$1"', "-", $_[0]) },
  'awk' => sub { run("awk", "BEGIN{print \"EVIL\" > \"$_[0]\"}") },
  'git config' => sub { run("git", "config", "-f", $_[0], "a.b", "c") },
  'File::Copy' => sub { File::Copy::copy(own(), $_[0]) },
  'move over' => sub { rename(own(), $_[0]) },
  'move away' => sub { rename($_[0], mine("stolen")) },
  'unlink' => sub { unlink($_[0]) },
  'remove_tree' => sub { File::Path::remove_tree($_[0]) },
);
my %make = (
  'sysopen' => sub { opens($_[0], O_WRONLY | O_CREAT) },
  'open' => sub { open(my $f, ">", $_[0]) && 1 },
  'mkdir' => sub { mkdir($_[0]) },
  'x86 mkdir' => sub { call(83, $_[0], 0700) },
  'x86 mknod' => sub { call(133, $_[0], 010600, 0) },
  'symlink' => sub { symlink("/etc/hostname", $_[0]) },
  'link' => sub { link(own(), $_[0]) },
  'mkfifo' => sub { mkfifo($_[0], 0600) },
  'rename' => sub { rename(own(), $_[0]) },
  'rename a directory' => sub { my $n = mine("dir"); mkdir($n) && rename($n, $_[0]) },
  'through a link' => sub { opens(linked($_[0]), O_WRONLY | O_CREAT) },
  'make_path' => sub { File::Path::make_path("$_[0]/a/b") > 0 },
  'socket' => sub { socket(my $s, AF_UNIX, SOCK_STREAM, 0); chdir(dirname($_[0])) && bind($s, pack_sockaddr_un(basename($_[0]))) },
  'touch' => sub { run("touch", $_[0]) },
  'cp -r' => sub { run("cp", "-r", "$root/src", $_[0]) },
  'tar' => sub { run("sh", "-c", 'cd / && tar cf - etc/hostname | tar xf - -C "$(dirname "$1")" --transform "s,.*,$(basename "$1"),"', "-", $_[0]) },
);
sub show { my $f = shift or return; my $n = sysread($f, my $b, 4096); syswrite(STDOUT, "$b\n") if $n; $n }
my %read = (
  'sysopen' => sub { show(reading($_[0])) },
  'slurp' => sub { local (@ARGV, $/) = $_[0]; my $b = <>; syswrite(STDOUT, "$b\n") if length $b; length $b },
  'backticks' => sub { my $b = `cat '$_[0]' 2>/dev/null`; syswrite(STDOUT, $b); length $b },
  'do' => sub { do $_[0]; print STDOUT "$@\n"; $@ !~ /Permission|No such/ && defined $@ && $! != EACCES },
  'soft link' => sub { show(reading(linked($_[0]))) },
  'hard link' => sub { my $n = mine("hard"); link($_[0], $n) && show(reading($n)) },
  'chmod first' => sub { chmod(0644, $_[0]); show(reading($_[0])) },
  'cp' => sub { run("cp", $_[0], mine("loot")) },
  'cp -l' => sub { my $n = mine("loot"); run("cp", "-l", $_[0], $n) && show(reading($n)) },
  'grep' => sub { run("grep", "-r", "CAN[A]RY", dirname($_[0])) && 0 },
  'find -exec' => sub { run("find", $_[0], "-exec", "cat", "{}", "+") && 0 },
  'xxd' => sub { run("sh", "-c", 'xxd -p "$1" | xxd -r -p', "-", $_[0]) && 0 },
  'x86 open' => sub { my $r = syscall(2, $_[0], 0); $r >= 0 && open(my $f, "<&=", $r) && show($f) },
  'x86 openat2' => sub { my $r = syscall(437, -100, $_[0], pack("QQQ", 0, 0, 0), 24); $r >= 0 && open(my $f, "<&=", $r) && show($f) },
  'x32 open' => sub { my $r = syscall(0x40000002, $_[0], 0); $r >= 0 && open(my $f, "<&=", $r) && show($f) },
  'mv' => sub { my $n = mine("stolen"); rename($_[0], $n) && show(reading($n)) },
);
mkdir "$root/loot"; $| = 1;
open(my $targets, "<", $ARGV[0]) or die;
while (<$targets>) {
  chomp; my ($kind, $path) = split /\t/;
  my $ways = $kind eq "secret" ? \%read : $kind =~ /^(new|plant)$/ ? \%make : \%change;
  for my $name (sort { ($a =~ /unlink|remove|move|ln -|mv/) <=> ($b =~ /unlink|remove|move|ln -|mv/) || $a cmp $b } keys %$ways) {
    system($ENV{ATTACK_FRESH}) == 0 or die if $ENV{ATTACK_FRESH}; # makes again what the attempt before has changed
    my $pid = fork();
    if (!$pid) { alarm 20; chdir $root; my $ok = eval { $ways->{$name}->($path) }; POSIX::_exit($ok ? 0 : 1) }
    waitpid($pid, 0);
    syswrite(STDOUT, "Perl $name $kind $path\t" . ($? == 0 ? "out" : "held") . "\n");
  }
}
