#!/usr/bin/env python3
"""Runs agent.py with a scripted model, which checks all that it is told.

Usage: test_agent.py AGENTKIT
"""

import base64
import json
import os
import pathlib
import re
import sys
import tempfile

import agent

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


class Script:
    """A model whose turns are a generator: it yields calls and gets their answers."""

    def __init__(self, turns):
        self.turns, self.begun, self.calls = turns, False, 0

    def __call__(self, messages, tools):
        assert {"bash", "read", "edit"} <= {t["name"] for t in tools}, tools
        answers = messages[-1]["content"] if self.begun else None
        if self.begun:
            asked = [part["id"] for part in messages[-2]["content"] if part["type"] == "tool_use"]
            assert [a["tool_use_id"] for a in answers] == asked, "every call has its answer"
        self.begun = True
        try:
            calls = self.turns.send(answers)
        except StopIteration as end:
            return [{"type": "text", "text": end.value}]
        said = []
        for name, arguments in calls:
            self.calls += 1
            said.append({"type": "tool_use", "id": f"call-{self.calls}", "name": name, "input": arguments})
        return said


def text(answer):
    return answer["content"][0]["text"]


def turns():
    # Truncation: the output ends by naming the call that reads on.
    (long,) = yield [("bash", {"command": "seq 1 30000"})]
    assert not long["is_error"] and "\n30000\n" in text(long) and "\n15000\n" not in text(long), text(long)[-500:]
    path, line = re.search(r'read \{"path":"([^"]+)","offset":(\d+)\}', text(long)).groups()
    (rest,) = yield [("read", {"path": path, "offset": int(line), "limit": 5})]
    assert not rest["is_error"] and re.match(rf"\s*{line}\t{line}\n", text(rest)), text(rest)

    # A job goes on after its call, and a later one finds it.
    (started,) = yield [("bash", {"command": "echo ready; sleep 600", "background": True})]
    job = re.search(r"running as job (\w+)", text(started)).group(1)
    (ready,) = yield [("output", {"id": job, "until": "ready"})]
    assert "ready" in text(ready), text(ready)

    # An image comes beside the text. Two calls of one turn have two answers.
    image, unknown = yield [("read", {"path": "dot.png"}), ("frobnicate", {})]
    assert image["content"][1]["source"]["media_type"] == "image/png", image
    assert base64.b64decode(image["content"][1]["source"]["data"]).startswith(b"\x89PNG"), image
    assert unknown["is_error"] and "frobnicate" in text(unknown), unknown

    # An error says what is near and what to do.
    (wrong,) = yield [("edit", {"path": "notes.txt", "old_string": "buy six eggs and ten loaves of bread\n", "new_string": "buy nuts\n"})]
    assert wrong["is_error"] and "hint:" in text(wrong) and "lines 1-1" in text(wrong), text(wrong)
    (missing,) = yield [("read", {"path": "note.txt"})]
    assert missing["is_error"] and "notes.txt" in text(missing), missing

    # A person sees what a change does, and says yes.
    (right,) = yield [("edit", {"path": "greeting.txt", "old_string": "hello", "new_string": "good evening"})]
    assert not right["is_error"], right

    # A person says no, and why.
    (refused,) = yield [("bash", {"command": "./release.sh"})]
    assert refused["is_error"] and "not on a Friday" in text(refused), refused
    return "all done"


def main(program):
    asked = []

    def person(request):
        about = request["metadata"]
        asked.append(about)
        if about.get("command"):
            return False, "not on a Friday"
        return "would_fail" not in about, "it would fail"

    here = pathlib.Path(__file__).resolve().parent
    with tempfile.TemporaryDirectory() as top:
        root = pathlib.Path(top, "work")
        root.mkdir()
        (root / "greeting.txt").write_text("hello\n")
        (root / "notes.txt").write_text("buy six eggs and two bottles of milk\n")
        (root / "dot.png").write_bytes(base64.b64decode(PNG))
        (root / "release.sh").write_text("#!/bin/sh\ntouch released\n")
        (root / "release.sh").chmod(0o755)
        os.environ.pop("AGENTKIT", None)
        flags = ["--state", str(pathlib.Path(top, "state")), "--policy", str(here / "policy.yaml")]
        one = agent.Agent(program, str(root), Script(turns()), person, *flags)
        assert one.work("say good evening") == "all done"
        assert (root / "greeting.txt").read_text() == "good evening\n"
        assert not (root / "released").exists(), "it was refused"
        jobs = one.call("jobs", {})
        assert jobs["metadata"]["running"] == 0, jobs
    edits = [a for a in asked if "diff" in a]
    assert len(edits) == 1 and "-hello\n+good evening\n" in edits[0]["diff"], asked
    assert [a["command"] for a in asked if "command" in a] == ["./release.sh"], asked
    print(f"{one.model.calls} calls, {len(asked)} questions: as it should be")


if __name__ == "__main__":
    main(sys.argv[1])
