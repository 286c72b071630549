"""An agent around agentkit, written from docs/results.md alone."""

import json
import os
import subprocess


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
        result = self.call(use["name"], use["input"])
        images = [a for a in result.get("attachments", []) if a["type"] == "image"]
        sources = [{"type": "base64", "media_type": a["mime_type"], "data": a["content"]} for a in images]
        content = [{"type": "text", "text": result["output"]}, *({"type": "image", "source": s} for s in sources)]
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
