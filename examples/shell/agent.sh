#!/bin/sh
# An agent in a shell: a loop of curl, jq and agentkit. Asks on the terminal where the policy asks.
# Usage: ANTHROPIC_API_KEY=... agent.sh DIRECTORY TASK
set -eu
url=${ANTHROPIC_BASE_URL:-https://api.anthropic.com}/v1/messages
export AGENTKIT_ROOT="$1" AGENTKIT_SESSION="agent-$$" AGENTKIT_ASK="${AGENTKIT_ASK:-tty}"
work=$(mktemp -d)
trap 'agentkit kill all >/dev/null 2>&1; rm -rf "$work"' EXIT
agentkit tools --format anthropic >"$work/tools"
jq -n --arg task "$2" '[{role: "user", content: $task}]' >"$work/messages"
while :; do
	jq -n --slurpfile messages "$work/messages" --slurpfile tools "$work/tools" \
		'{model: "claude-sonnet-4-5", max_tokens: 8000, messages: $messages[0], tools: $tools[0]}' |
		curl -sS --fail-with-body "$url" --data-binary @- -H 'content-type: application/json' \
			-H 'anthropic-version: 2023-06-01' -H "x-api-key: $ANTHROPIC_API_KEY" >"$work/answer"
	jq -r '.content[] | select(.type == "text").text' "$work/answer"
	jq -e '.stop_reason == "tool_use"' "$work/answer" >/dev/null || break
	agentkit call --wrap anthropic <"$work/answer" >"$work/results" || true # a failed call is for the model, too
	jq --slurpfile answer "$work/answer" --slurpfile results "$work/results" \
		'. + [$answer[0] | {role, content}] + $results' "$work/messages" >"$work/next"
	mv "$work/next" "$work/messages"
done
