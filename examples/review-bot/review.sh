#!/bin/sh
# Reviews what HEAD changes against a base: prints a comment a line as JSON, and changes
# nothing. Where a model does the review, it gets the same calls and the same policy.
#   ./review.sh REPOSITORY [BASE]
set -eu
policy=$(cd "$(dirname "$0")" && pwd)/policy.yaml
base=${2:-main}
export AGENTKIT_ROOT="$1" AGENTKIT_POLICY="$policy" AGENTKIT_SESSION=review AGENTKIT_OUTPUT=text

# Added lines with their place, as PATH:LINE:TEXT.
added() {
	agentkit bash "git diff --unified=0 --no-color $base...HEAD" | awk '
		/^\+\+\+ b\// { path = substr($0, 7) }
		/^@@ / { split($3, at, /[+,]/); line = at[2] }
		/^\+/ && !/^\+\+\+/ { print path ":" line++ ":" substr($0, 2) }'
}

# comment PATTERN TEXT: what to say about added lines with the pattern.
comment() {
	printf '%s\n' "$lines" | { grep -E ":[0-9]+:.*($1)" || true; } | while IFS=: read -r path line _; do
		printf '{"path":"%s","line":%s,"body":"%s"}\n' "$path" "$line" "$2"
	done
}

lines=$(added)
comment 'TODO|FIXME' 'Is there an issue for this?'
comment 'print\(' 'Left over from debugging?'
comment 'except:' 'This hides every error, Ctrl-C too.'
