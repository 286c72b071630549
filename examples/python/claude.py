#!/usr/bin/env python3
"""Lets Claude work in a directory. Usage: ANTHROPIC_API_KEY=... claude.py AGENTKIT DIRECTORY TASK"""

import json
import os
import sys
import urllib.request

import agent


def claude(messages, tools):
    body = {"model": "claude-sonnet-4-5", "max_tokens": 8000, "messages": messages, "tools": tools}
    headers = {"x-api-key": os.environ["ANTHROPIC_API_KEY"], "anthropic-version": "2023-06-01", "content-type": "application/json"}
    url = os.environ.get("ANTHROPIC_BASE_URL", "https://api.anthropic.com") + "/v1/messages"
    with urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers)) as r:
        return json.load(r)["content"]


def person(request):
    print(json.dumps(request["metadata"], indent=2), file=sys.stderr)
    answer = input("allow? [y]es, or why not: ")
    return answer in ("y", "yes"), answer


if __name__ == "__main__":
    print(agent.Agent(sys.argv[1], sys.argv[2], claude, person).work(sys.argv[3]))
