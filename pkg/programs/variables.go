package programs

import (
	"slices"
	"strings"
)

// A VariableKind says what setting a variable does to what runs later.
type VariableKind uint8

// The kinds of variables.
const (
	OtherVariable    VariableKind = iota // not of a known kind
	HarmlessVariable                     // changes looks or build targets only
	ProgramVariable                      // makes programs run, load or read something else
	SearchVariable                       // changes which program a bare name means
	ShellVariable                        // makes the shell itself run or read something
)

// KindOfVariable says what giving a variable a value does, whatever the value.
func KindOfVariable(name string) VariableKind {
	switch {
	case name == "PATH" || name == "path" || name == "CDPATH":
		return SearchVariable
	case slices.Contains(shellVariables[:], name) || strings.HasPrefix(name, "BASH_FUNC_"):
		return ShellVariable
	case slices.Contains(harmlessVariables[:], name):
		return HarmlessVariable
	case name == "IFS" || name == "OLDPWD" || name == "PWD":
		return ProgramVariable
	}
	for _, p := range &programVariables {
		if strings.HasPrefix(p, "*") && strings.HasSuffix(name, p[1:]) || strings.HasSuffix(p, "*") && strings.HasPrefix(name, p[:len(p)-1]) || p == name {
			return ProgramVariable
		}
	}
	return OtherVariable
}

// harmlessVariables are known to change no more than output, locale, time
// zone, or for which platform something is built.
var harmlessVariables = [...]string{
	"AGENTKIT", "ANSIBLE_NOCOLOR", "CARGO_TERM_COLOR", "CGO_ENABLED", "CI", "CLICOLOR", "CLICOLOR_FORCE", "COLORTERM", "COLUMNS",
	"DEBIAN_FRONTEND", "FORCE_COLOR", "GIT_AUTHOR_DATE", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_NAME", "GIT_COMMITTER_DATE",
	"GIT_COMMITTER_EMAIL", "GIT_COMMITTER_NAME", "GIT_OPTIONAL_LOCKS", "GIT_TERMINAL_PROMPT", "GO111MODULE", "GOAMD64", "GOARCH",
	"GOARM", "GOGC", "GOMAXPROCS", "GOMEMLIMIT", "GOOS", "GOTRACEBACK", "LANG", "LANGUAGE", "LC_ALL", "LC_COLLATE", "LC_CTYPE", "LC_MESSAGES",
	"LC_NUMERIC", "LC_TIME", "LINES", "NODE_ENV", "NO_COLOR", "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED", "PYTHONIOENCODING",
	"PYTHONUNBUFFERED", "PYTHONUTF8", "RAILS_ENV", "RUST_BACKTRACE", "RUST_LOG", "SOURCE_DATE_EPOCH", "TERM", "TZ", "VERBOSE",
}

// shellVariables make bash, zsh or sh run or read something, or change how
// the rest of the text is understood.
var shellVariables = [...]string{
	"BASHOPTS", "BASH_ALIASES", "BASH_CMDS", "BASH_ENV", "BASH_LOADABLES_PATH", "BASH_XTRACEFD", "ENV", "EXECIGNORE", "FCEDIT", "FIGNORE", "FPATH", "FUNCNEST",
	"GLOBIGNORE", "NULLCMD", "POSIXLY_CORRECT", "PROMPT", "PROMPT_COMMAND", "PS0", "PS1", "PS2", "PS3", "PS4", "READNULLCMD", "SHELLOPTS", "ZDOTDIR", "fpath", "functions",
}

// programVariables make the programs that read them run, load or read
// something else, or write somewhere else. A trailing * stands for any rest, a
// leading one for any beginning: names that end so usually say where a program
// finds what it runs, or what options it takes. Sorted.
var programVariables = [...]string{
	"*EDITOR", "*FLAGS", "*OPTIONS", "*PAGER", "*PATH", "*RC", "*_ARGS", "*_ASKPASS", "*_BIN", "*_CMD", "*_COMMAND", "*_CONFIG", "*_DRIVER", "*_EXE",
	"*_EXECUTABLE", "*_HOME", "*_HOOK", "*_HOOKS", "*_INIT", "*_LAUNCHER", "*_MODULE", "*_MODULES", "*_OPTS", "*_PLUGIN", "*_PLUGINS", "*_PREFIX",
	"*_PRELOAD", "*_PROXY", "*_SHELL", "*_WRAPPER", "*_proxy", "ACK*", "ACLOCAL*", "AG_*", "ANSIBLE_*", "ANT_*", "AR", "AR_*", "AS", "AUTO*",
	"AWKLIBPATH", "AWKPATH", "AWS_*", "AZURE_*", "BABEL_*", "BAT_*", "BC_*", "BIBINPUTS", "BISON_*", "BROWSER", "BSTINPUTS", "BUNDLE_*", "BUN_*",
	"CABAL_*", "CAML*", "CARGO*", "CC", "CCACHE_*", "CCC_*", "CC_*", "CFLAGS", "CGO_*", "CHROME_*", "CLANG*", "CLASSPATH", "CLOUDSDK_*", "CMAKE_*",
	"COLLECT_*", "COMPLUS_*", "COMPOSER*", "COMPlus_*", "CONDA_*", "CONFIG_SHELL", "CONFIG_SITE", "CORECLR_*", "COREPACK_*", "COVERAGE_*", "CPATH",
	"CPP", "CPPFLAGS", "CURL_*", "CXX", "CXXFLAGS", "CXX_*", "C_INCLUDE_PATH", "DART_*", "DBUS_*", "DEBUGINFOD_*", "DELTA_*", "DENO_*",
	"DEPENDENCIES_OUTPUT", "DISTCC_*", "DJANGO_*", "DOCKER_*", "DOTNET_*", "DYLD_*", "EMACS*", "ERL_*", "ESLINT_*", "EXINIT", "FAKETIME*", "FC",
	"FFREPORT", "FIT_SCRIPT", "FLASK_*", "FLUTTER_*", "FZF_*", "GCC_*", "GCONV_PATH", "GCOV_*", "GEM_*", "GHC*", "GH_*", "GIO_*", "GITHUB_*", "GIT_*", "GLAB_*",
	"GLIBC_TUNABLES", "GMON_*", "GNUMAKEFLAGS", "GNUPG*", "GNUPLOT*", "GO*", "GPG*", "GRADLE_*", "GREP_OPTIONS", "GROFF_*", "GSS_*", "GST_*", "GS_*",
	"GTK_*", "GUILE_*", "GV*", "GZIP", "G_*", "HATCH_*", "HELM_*", "HG*", "HIST*", "HOME", "HOSTALIASES", "HOST_CC", "IPYTHON*", "JAVA_*", "JDK_*",
	"JEST_*", "JULIA_*", "JUPYTER_*", "JVM_*", "KRB5*", "KUBE*", "LD", "LDFLAGS", "LD_*", "LESS*", "LEX", "LIBMYSQL*", "LIBRARY_PATH", "LLVM_*",
	"LOCALDOMAIN", "LOCPATH", "LTO*", "LUA*", "M4*", "MAGICK_*", "MAIL", "MAILCHECK", "MAKE*", "MALLOC_*", "MAN*", "MARIADB*", "MAVEN_*", "MESON_*",
	"MFINPUTS", "MFLAGS", "MIX_*", "MSBUILD*", "MSBuild*", "MVN_*", "MYPY*", "MYSQL*", "MYVIMRC", "NETRC", "NEXINIT", "NEXT_*", "NINJA*", "NLSPATH",
	"NM", "NODE_*", "NOX*", "NPM_*", "NSS_*", "NUGET_*", "NVIM*", "OBJCOPY", "OCAML*", "OCTAVE_*", "OPAM*", "OPENSSL_*", "P11_*", "P4*", "PACKER_*",
	"PDM_*", "PERL*", "PG*", "PHPRC", "PHP_*", "PIPENV_*", "PIP_*", "PKCS11*", "PKG_CONFIG*", "PLAYWRIGHT_*", "PNPM_*", "POETRY_*", "PROCESSOR",
	"PROTOC*", "PSQL*", "PULUMI_*", "PUPPETEER_*", "PY*", "QT_*", "RAILS_*", "RANDFILE", "RANLIB", "RES_OPTIONS", "RIPGREP_*", "RSH", "RSYNC_*", "RUBY*", "RUFF_*",
	"RUSTC*", "RUSTDOC*", "RUSTFLAGS", "RUSTUP_*", "RUST_TARGET_PATH", "R_*", "SAM_*", "SBT_*", "SCALA_*", "SCCACHE_*", "SDL_*", "SETUPTOOLS*", "SHELL", "SIMPLE_BACKUP_SUFFIX", "SQLITE_*",
	"SSH_*", "SSLKEYLOGFILE", "SSL_*", "STACK_*", "STRIP", "SUDO_*", "SUNPRO_*", "SVN_*", "SWIFT*", "TAPE", "TARGET_CC", "TAR_*", "TCL*", "TEMP",
	"TERMCAP", "TERMINFO*", "TERMPATH", "TEX*", "TF_*", "TMP", "TMPDIR", "TOX_*", "TSX_*", "TS_NODE_*", "UNITS*", "UNZIP", "UV_*", "VAGRANT_*",
	"VALGRIND_*", "VAULT_*", "VERSION_CONTROL", "VIM*", "VIRTUAL_ENV", "VISUAL", "VITE*", "WGETRC", "XDG_*", "XZ_*", "YACC", "YAMLLINT_*", "YARN_*", "ZIG_*", "ZIP", "ZIPOPT",
	"_JAVA_OPTIONS", "_STDBUF*", "npm_*", "openin_any", "openout_any", "shell_escape*",
}

// Pages reports whether a variable names a pager or an editor: without it programs choose their own.
func Pages(name string) bool {
	return strings.HasSuffix(name, "PAGER") || strings.HasSuffix(name, "EDITOR")
}
