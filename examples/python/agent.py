#!/usr/bin/env python3
"""An agent around agentkit, written from docs/results.md alone.

Usage: ANTHROPIC_API_KEY=... agent.py AGENTKIT DIRECTORY TASK
"""

import json
import os
import subprocess
import sys
import urllib.request


class Agent:
    """Lets a model work in a directory. ask(request) is a person's (yes, reason)."""

    def __init__(self, program, root, model, ask, *flags):
        self.command = [program, "--root", root, "--session", f"agent-{os.getpid()}", *flags]
        self.model, self.ask = model, ask

    def run(self, *words, stdin=""):
        return subprocess.run([*self.command, *words], input=stdin, capture_output=True, text=True, check=False).stdout

    def call(self, tool, arguments):
        """One call and its result. Whoever has to approve it is asked."""
        result = json.loads(self.run("call", tool, stdin=json.dumps(arguments)))
        if result.get("error", {}).get("code") != "approval_required":
            return result
        request = result["error"]["details"]["request"]
        yes, reason = self.ask(request)
        self.run("policy", *(["approve", request["id"]] if yes else ["refuse", request["id"], reason]))
        return json.loads(self.run("call", tool, stdin=json.dumps(arguments)))

    def answer(self, use):
        """What the model is told about a call that it made."""
        result = self.call(use["name"], use["input"])
        content = [{"type": "text", "text": result["output"]}]
        for a in result.get("attachments", []):
            if a["type"] == "image":
                source = {"type": "base64", "media_type": a["mime_type"], "data": a["content"]}
                content.append({"type": "image", "source": source})
        return {"type": "tool_result", "tool_use_id": use["id"], "is_error": "error" in result, "content": content}

    def work(self, task):
        """Works until the model has nothing more to do, and returns its last words."""
        tools = json.loads(self.run("tools", "--format", "anthropic"))
        messages = [{"role": "user", "content": task}]
        try:
            while True:
                said = self.model(messages, tools)
                messages.append({"role": "assistant", "content": said})
                uses = [part for part in said if part["type"] == "tool_use"]
                if not uses:
                    return "".join(part.get("text", "") for part in said)
                messages.append({"role": "user", "content": [self.answer(use) for use in uses]})
        finally:
            self.call("kill", {"id": "all"})  # what still runs in the background


def claude(messages, tools):
    body = {"model": "claude-sonnet-4-5", "max_tokens": 8000, "messages": messages, "tools": tools}
    headers = {"x-api-key": os.environ["ANTHROPIC_API_KEY"], "anthropic-version": "2023-06-01", "content-type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request("https://api.anthropic.com/v1/messages", json.dumps(body).encode(), headers)) as r:
        return json.load(r)["content"]


def person(request):
    print(json.dumps(request["metadata"], indent=2), file=sys.stderr)
    answer = input("allow? [y]es, or why not: ")
    return answer in ("y", "yes"), answer


if __name__ == "__main__":
    print(Agent(sys.argv[1], sys.argv[2], claude, person).work(sys.argv[3]))
