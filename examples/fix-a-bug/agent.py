#!/usr/bin/env python3
"""A scripted agent: no model, four tools, one bug.

It does what a coding agent does, by shelling out to agentkit: it runs the
tests, finds the place with grep, looks at it with read, fixes it with edit
and proves the fix with bash. Usage: agent.py AGENTKIT WORKSPACE POLICY
"""

import json
import re
import subprocess
import sys


class ToolError(Exception):
    """A tool's answer that holds an error."""


class Agentkit:
    """The tools of one workspace under one policy."""

    def __init__(self, program, root, policy):
        self.command = [program, "--root", root, "--policy", policy]

    def call(self, tool, **arguments):
        """Run one tool and return its result; a refusal raises ToolError."""
        run = subprocess.run(
            [*self.command, "call", tool],
            input=json.dumps(arguments),
            capture_output=True,
            text=True,
            check=False,
        )
        result = json.loads(run.stdout)
        if "error" in result:
            raise ToolError(f"{tool}: {result['error']['code']}: {result['error']['message']}")
        return result


def main(program, root, policy):
    kit = Agentkit(program, root, policy)

    tests = kit.call("bash", command="python3 -B -m unittest", description="Run the unit tests")
    if tests["metadata"]["exit_code"] == 0:
        sys.exit("the tests pass already: nothing to do")
    failing = re.search(r"(?:FAIL|ERROR): test_(\w+)", tests["output"]).group(1)
    print(f"failing: {failing}")

    found = kit.call("grep", pattern=rf"def {failing}\b", include="*.py", exclude="test_*")
    path, line = re.search(r"^(\S+\.py)\n\s*(\d+):", found["output"], re.M).groups()
    print(f"defined: {path}:{line}")

    body = kit.call("read", path=path, offset=int(line), limit=8)
    if "fewer than" not in body["output"] or "left > minimum" not in body["output"]:
        sys.exit("this is not the bug the agent knows")

    try:
        kit.call("edit", path=f"test_{path}", old_string='["bolts", "hinges"]', new_string='["locks", "nails"]')
        sys.exit("the policy let the agent change the test")
    except ToolError as refused:
        print(f"refused: {refused}")

    change = kit.call(
        "edit",
        path=path,
        old_string="if left > minimum]",
        new_string="if left < minimum]",
        if_version=body["metadata"]["version"],
    )
    print(change["metadata"]["diff"], end="")

    proof = kit.call("bash", command="python3 -B -m unittest", description="Run the unit tests again")
    if proof["metadata"]["exit_code"] != 0:
        sys.exit(proof["output"])
    print("fixed: all tests pass")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
