# Attacks on a sandbox, as attacks.c has them.
use strict;
use warnings;
use Fcntl;
use POSIX ();
use Socket;
$| = 1;
my $base = $ARGV[0];
my $victim = "$base/out/victim";

sub others {
	opendir(my $d, "/proc") or return (1);
	return (1, grep { /^\d+$/ && $_ != $$ && $_ != getppid() } readdir $d);
}

sub each_other {
	my $do = shift;
	for my $pid (others()) { return 1 if $do->($pid) }
	return 0;
}

sub secret {
	open(my $f, "<", shift) or return 0;
	my $text = <$f> // "";
	$! = 61;
	return $text =~ /secret/;
}

sub put {
	my ($mode, $name) = @_;
	open(my $f, $mode, $name) or return 0;
	print $f "x";
	return close $f;
}

sub reach {
	my ($family, $type, $to) = @_;
	socket(my $s, $family, $type, 0) or return 0;
	return $type == SOCK_DGRAM ? send($s, "x", 0, $to) : connect($s, $to);
}

sub line {
	open(my $f, "<", shift) or return "";
	return <$f> // "";
}

my @attacks = (
	["pl signal", sub { each_other(sub { kill "TTIN", shift }) }],
	["pl signal to a group FAR", sub { each_other(sub { my $g = getpgrp(shift); $g > 1 && $g != getpgrp(0) && kill "-TTIN", $g }) }],
	["pl priority", sub { each_other(sub { setpriority(0, shift, 0) }) }],
	["pl priority of a group FAR", sub { each_other(sub { my $g = getpgrp(shift); $g > 0 && setpriority(1, $g, 0) }) }],
	["pl priority of the user FAR", sub { setpriority(2, 0, 0) }],
	["pl oom", sub { each_other(sub { sysopen(my $f, "/proc/$_[0]/oom_score_adj", O_WRONLY) }) }],
	["pl environment FAR", sub { each_other(sub { length line("/proc/$_[0]/environ") }) }],
	["pl write", sub { put(">", $victim) }],
	["pl append", sub { put(">>", $victim) }],
	["pl both", sub { put("+<", $victim) }],
	["pl create", sub { put(">", "$base/out/plnew") }],
	["pl exclusive", sub { sysopen(my $f, "$base/out/plex", O_CREAT | O_EXCL | O_WRONLY) }],
	["pl rename", sub { rename($victim, "$base/out/r") }],
	["pl unlink", sub { unlink($victim) }],
	["pl link", sub { link($victim, "$base/root/pll") && put(">>", "$base/root/pll") }],
	["pl symbolic link", sub { (symlink($victim, "$base/root/pls") || 1) && put(">>", "$base/root/pls") }],
	["pl truncate", sub { truncate($victim, 1) }],
	["pl mode", sub { chmod(0600, $victim) }],
	["pl owner", sub { chown($<, $( + 0, $victim) }],
	["pl times", sub { utime(1, 1, $victim) }],
	["pl directory", sub { mkdir("$base/out/pldir") }],
	["pl pipe", sub { POSIX::mkfifo("$base/out/plfifo", 0600) }],
	["pl system", sub { system("echo x 2>/dev/null >>$victim") == 0 }],
	["pl command", sub { system("tee", "-a", $victim) == 0 }],
	["pl tied", sub { open(my $p, "|-", "cat >>$victim 2>/dev/null") or return 0; print $p "x"; close $p }],
	["pl upward", sub { chdir("$base/root/sub") && put(">>", "../../out/victim") }],
	["pl process root", sub { put(">>", "/proc/self/root$victim") }],
	["pl secret", sub { secret("$base/state/secret") }],
	["pl secret upward", sub { secret("$base/root/../state/secret") }],
	["pl secret by cat", sub { `cat $base/state/secret 2>/dev/null` =~ /secret/ }],
	["pl state", sub { put(">", "$base/state/grant") }],
	["pl tcp", sub { reach(PF_INET, SOCK_STREAM, pack_sockaddr_in(line("$base/out/port") || 1, inet_aton("192.0.2.1"))) }],
	["pl local", sub { reach(PF_UNIX, SOCK_STREAM, pack_sockaddr_un("$base/out/sock")) }],
	["pl datagram", sub { reach(PF_UNIX, SOCK_DGRAM, pack_sockaddr_un("$base/out/dgram")) }],
	["pl root FAR", sub { chroot("$base/out") }],
);
for my $a (@attacks) {
	my $pid = fork // die;
	if ($pid == 0) {
		open(STDIN, "<", "/dev/null");
		open(STDOUT, ">", "/dev/null");
		alarm 8;
		my $out = eval { $a->[1]->() };
		POSIX::_exit($out ? 0 : (($! + 0) & 0xff) || 1);
	}
	waitpid($pid, 0);
	print "$a->[0]\t", ($? & 127 ? 1000 + $? : $? >> 8), "\n";
	put(">>", $victim);
}
