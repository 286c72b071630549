package shellparse

import (
	"slices"
	"strings"
)

// A variableKind says what setting a variable does to what runs later.
type variableKind uint8

const (
	variableOther    variableKind = iota // not of a known kind
	variableHarmless                     // changes looks or build targets only
	variableProgram                      // makes programs run, load or read something else
	variableSearch                       // changes which program a bare name means
	variableShell                        // makes the shell itself run or read something
)

// harmlessVariables are known to change no more than output, locale, time
// zone, or for which platform something is built.
var harmlessVariables = [...]string{
	"AGENTKIT", "ANSIBLE_NOCOLOR", "CARGO_TERM_COLOR", "CGO_ENABLED", "CI", "CLICOLOR", "CLICOLOR_FORCE", "COLORTERM", "COLUMNS",
	"DEBIAN_FRONTEND", "FORCE_COLOR", "GIT_AUTHOR_DATE", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_NAME", "GIT_COMMITTER_DATE",
	"GIT_COMMITTER_EMAIL", "GIT_COMMITTER_NAME", "GIT_OPTIONAL_LOCKS", "GIT_TERMINAL_PROMPT", "GO111MODULE", "GOAMD64", "GOARCH",
	"GOARM", "GOMAXPROCS", "GOMEMLIMIT", "GOOS", "GOWORK", "LANG", "LANGUAGE", "LC_ALL", "LC_COLLATE", "LC_CTYPE", "LC_MESSAGES",
	"LC_NUMERIC", "LC_TIME", "LINES", "NODE_ENV", "NO_COLOR", "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED", "PYTHONIOENCODING",
	"PYTHONUNBUFFERED", "PYTHONUTF8", "RUST_BACKTRACE", "RUST_LOG", "SOURCE_DATE_EPOCH", "TERM", "TZ", "VERBOSE",
}

// shellVariables make bash, zsh or sh run or read something, or change how
// the rest of the text is understood.
var shellVariables = [...]string{
	"BASHOPTS", "BASH_ALIASES", "BASH_CMDS", "BASH_ENV", "BASH_LOADABLES_PATH", "BASH_XTRACEFD", "ENV", "EXECIGNORE", "FCEDIT", "FIGNORE", "FPATH", "FUNCNEST",
	"GLOBIGNORE", "NULLCMD", "POSIXLY_CORRECT", "PROMPT", "PROMPT_COMMAND", "PS0", "PS1", "PS2", "PS3", "PS4", "READNULLCMD", "SHELLOPTS", "ZDOTDIR", "fpath", "functions",
}

// programVariables make the programs that read them run, load or read
// something else. A trailing * stands for any rest, a leading one for any
// beginning.
var programVariables = [...]string{
	"*EDITOR", "*PAGER", "*_PROXY", "*_proxy", "*_ASKPASS", "AR", "AS", "ACK*", "AG_*", "ANSIBLE_*", "ANT_*", "AWKLIBPATH", "AWKPATH", "AWS_*", "BAT_*", "BROWSER", "BUNDLE_*", "CARGO*", "CC", "CFLAGS", "CLASSPATH", "CMAKE_*", "CONFIG_SHELL",
	"CORECLR_*", "COMPOSER*", "CPATH", "CPP", "CURL_*", "CXX", "CXXFLAGS", "C_INCLUDE_PATH", "DELTA_*", "DENO_*", "DOCKER_*", "DOTNET_*", "DYLD_*", "EMACS*", "ERL_*", "FC", "FZF_*", "GCC_*", "GCONV_PATH", "GEM_*", "GIT_*",
	"GLIBC_TUNABLES", "GNUPG*", "GOCACHEPROG", "GOENV", "GOEXPERIMENT", "GOFLAGS", "GOPATH", "GOPROXY", "GOROOT", "GOTOOLCHAIN", "GOTOOLDIR", "GOAUTH", "GPG*", "GRADLE_*", "GREP_OPTIONS", "HG*", "GUILE_*", "GZIP", "HOME", "HOSTALIASES", "JAVA_*", "JDK_*", "KUBE*", "LD",
	"LDFLAGS", "LD_*", "LESS*", "LIBRARY_PATH", "LOCALDOMAIN", "LOCPATH", "LUA_*", "MAIL", "MAILCHECK", "MAKE*", "MALLOC_*", "MAN*", "MAVEN_*", "MFLAGS", "MVN_*", "NLSPATH", "NODE_*", "NPM_*", "NVIM*", "OPENSSL_*", "PAGER", "PERL*", "PHPRC", "PHP_*",
	"PIP_*", "PKG_CONFIG*", "PROCESSOR", "PYTHON*", "RES_OPTIONS", "RIPGREP_*", "RSYNC_*", "RUBY*", "RUSTC*", "RUSTDOC*", "RUSTFLAGS", "RUSTUP_*", "R_*", "SHELL", "SSH_*", "SSL_*", "SUDO_*", "SBT_*", "SVN_*", "TAR_*", "TAPE", "TCLLIBPATH", "TERMCAP", "TERMINFO*", "TMPDIR", "TMP", "TEMP", "TEXTDOMAIN*", "TF_*", "UV_*",
	"VIM*", "VISUAL", "WGETRC", "XDG_*", "YARN_*", "ZIPOPT", "UNZIP", "ZIP", "_JAVA_OPTIONS", "npm_*",
}

// dynamicVariables are those that the shell itself sets.
var dynamicVariables = [...]string{
	"COLUMNS", "COMPREPLY", "COMP_WORDS", "COPROC", "DIRSTACK", "EUID", "FUNCNAME", "GROUPS", "HISTCMD", "HOSTNAME", "HOSTTYPE", "IFS", "LINENO",
	"LINES", "MACHTYPE", "MAPFILE", "OLDPWD", "OPTARG", "OPTERR", "OPTIND", "OSTYPE", "PATH", "PIPESTATUS", "PPID", "PS4", "RANDOM",
	"READLINE_LINE", "REPLY", "SECONDS", "SHELL", "SHELLOPTS", "SHLVL", "SRANDOM", "TERM", "UID", "_",
}

func dynamicVariable(name string) bool {
	return slices.Contains(dynamicVariables[:], name) || strings.HasPrefix(name, "BASH") || strings.HasPrefix(name, "EPOCH") ||
		strings.HasPrefix(name, "COMP_") || strings.HasPrefix(name, "HIST")
}

// kindOfVariable says what giving a variable this value does.
func kindOfVariable(name string, v value) variableKind {
	switch {
	case name == "PATH" || name == "path" || name == "CDPATH":
		return variableSearch
	case slices.Contains(shellVariables[:], name) || strings.HasPrefix(name, "BASH_FUNC_"):
		return variableShell
	case slices.Contains(harmlessVariables[:], name) || harmlessValue(name, v):
		return variableHarmless
	case name == "IFS" || name == "OLDPWD" || name == "PWD":
		return variableProgram
	}
	for _, p := range &programVariables {
		if strings.HasPrefix(p, "*") && strings.HasSuffix(name, p[1:]) || strings.HasSuffix(p, "*") && strings.HasPrefix(name, p[:len(p)-1]) || p == name {
			return variableProgram
		}
	}
	return variableOther
}

// harmlessValue reports whether a variable that could make programs run
// something else does not with this value.
func harmlessValue(name string, v value) bool {
	if !v.known || v.array {
		return false
	}
	s := v.first()
	switch {
	case strings.HasSuffix(name, "PAGER"):
		return s == "cat" || s == ""
	case name == "GIT_EDITOR" || name == "GIT_SEQUENCE_EDITOR":
		return s == "true" || s == ":"
	case name == "GOPROXY":
		return s == "off" || s == "direct"
	case name == "GOTOOLCHAIN":
		return s == "local"
	case name == "GOFLAGS":
		for _, f := range strings.Fields(s) {
			if !harmlessGoFlag(f) {
				return false
			}
		}
		return true
	}
	return false
}

func harmlessGoFlag(f string) bool {
	name, _, _ := strings.Cut(strings.TrimLeft(f, "-"), "=")
	return slices.Contains([]string{"mod", "v", "x", "n", "race", "count", "tags", "trimpath", "short", "p", "buildvcs", "timeout"}, name)
}
