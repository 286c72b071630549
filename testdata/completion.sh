#!/usr/bin/env bash
# Completes command lines in real shells, as a person does with the tab key: bash, zsh and
# fish, each where it is installed; the others are named. Takes some five seconds.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap '"$work/bin/agentkit" kill all >/dev/null 2>&1 || true; rm -rf "$work"' EXIT
mkdir -p "$work"/{bin,root,home}
go build -o "$work/bin/agentkit" .
export PATH=$work/bin:$PATH HOME=$work/home XDG_STATE_HOME=$work/state XDG_CONFIG_HOME=$work/config AGENTKIT_SANDBOX=off TERM=dumb
for shell in bash zsh fish; do agentkit completion $shell >"$work/agentkit.$shell"; done
cd "$work/root"
job=$(agentkit bash --allow 'bash(sleep *)' --background 'sleep 60' -o json | grep -o '"job":"[^"]*"' | cut -d'"' -f4)
change=$(agentkit write listed.txt text -o json | grep -o '"change":"[^"]*"' | cut -d'"' -f4)
agentkit --session review ls >/dev/null
agentkit bash 'curl https://example.org' >/dev/null 2>&1 || true # a request that waits

# What bash offers for a line: its function is called as readline calls it.
in_bash() {
	bash --norc -c '
		_get_comp_words_by_ref() { :; } # where bash-completion is not installed
		for f in /usr/share/bash-completion/bash_completion; do [ ! -r $f ] || . $f; done
		. "$1"
		COMP_LINE=$2 COMP_POINT=${#2} COMP_TYPE=9
		read -ra COMP_WORDS <<<"$2"
		[ "${2% }" = "$2" ] || COMP_WORDS+=("")
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		if [ ! -r /usr/share/bash-completion/bash_completion ]; then
			_get_comp_words_by_ref() { cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words=("${COMP_WORDS[@]}") cword=$COMP_CWORD; }
			__ltrim_colon_completions() { :; }
		fi
		compopt() { :; } # it works only while readline completes
		__start_agentkit
		printf "%s\n" "${COMPREPLY[@]}"' bash "$work/agentkit.bash" "$1"
}
# What fish offers.
in_fish() { fish --no-config -c "source $work/agentkit.fish; complete -C '$1'"; }
# What zsh offers: a zsh on a terminal of its own gets the line and tabs, and lists until
# the words come, ten seconds at most.
in_zsh() {
	timeout 20 zsh -f -c '
		zmodload zsh/zpty
		zpty shell zsh -f -i
		zpty -w shell "PS1= LISTMAX=0; autoload -U compinit && compinit -u -d $3/dump; source $1; compdef _agentkit agentkit"
		zpty -w shell "zstyle \":completion:*\" list-colors \"\"; setopt nobeep auto_list no_menu_complete; stty columns 200 rows 400; print rea""dy"
		zpty -r shell out "*ready*"
		zpty -w -n shell "$2"$'"'\t\t'"'
		for i in {1..100}; do
			while zpty -r -t shell part; do all+=$part; done
			[[ $all = *"$4"* ]] && break
			sleep 0.1
		done
		print -r -- $all
		zpty -d shell' zsh "$work/agentkit.zsh" "$1" "$work" "$2" | tr -d '\r'
}

wrong=0
for shell in bash zsh fish; do
	command -v $shell >/dev/null || { echo "SKIPPED: there is no $shell on PATH"; continue; }
	tried=0
	# offers LINE WANTED: the shell completes the line with the words wanted.
	offers() {
		local got
		got=$(in_$shell "$1" "$2" 2>&1) || true
		tried=$((tried + 1))
		grep -qF -- "$2" <<<"$got" || { echo "$shell: \"$1\" offers no $2 but:"; head -5 <<<"$got"; wrong=1; }
	}
	offers 'agentkit out' outline
	offers 'agentkit grep --multi' --multiline
	offers "agentkit output ${job:0:3}" "$job"
	offers "agentkit undo ${change:0:3}" "$change"
	offers 'agentkit --session r' review
	offers 'agentkit --dialect co' codex
	offers 'agentkit grep --type py' python
	offers 'agentkit policy allow ' example.org
	offers 'agentkit tools --format openai-s' openai-strict
	offers 'agentkit policy app' approve
	echo "$shell: $tried lines"
done
exit $wrong
