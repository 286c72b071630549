#!/usr/bin/env python3
"""Drives the task of task.json through examples/pydantic-ai with a scripted model.

Usage: pydantic_drive.py TESTDATA AGENTKIT [FLAG]...

With the package the model is a FunctionModel in an Agent. Without it the names that
the example uses are stood in for as they are documented.
"""

import json
import pathlib
import re
import sys
import types

here, command = pathlib.Path(sys.argv[1]), sys.argv[2:]
steps = json.loads((here / "task.json").read_text())
calls = [step["calls"]["claude"] for step in steps]
made, asked = [], []


def told(text):
    step = steps[len(made)]
    assert re.search(step["says"], text), f"{step['what']}: {text}"
    made.append(text)


def person(request):
    step = steps[len(made)]
    asked.append(request)
    assert step["asks"] in json.dumps(request), f"{step['what']}: asked about {request}"
    return step["yes"]


def with_package():
    from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, ToolDenied
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
    from pydantic_ai.models.function import FunctionModel

    import agentkit_tools

    def model(messages, _info):
        answers = [p for m in messages for p in m.parts if isinstance(p, ToolReturnPart)]
        for answer in answers[len(made) :]:
            told(str(answer.content))
        if len(answers) == len(calls):
            return ModelResponse(parts=[TextPart("done")])
        call = calls[len(answers)]
        return ModelResponse(parts=[ToolCallPart(call["name"], call["arguments"])])

    agent = Agent(FunctionModel(model), tools=agentkit_tools.tools(*command), output_type=[str, DeferredToolRequests])
    result = agent.run_sync("the tests fail")
    while isinstance(result.output, DeferredToolRequests):
        answers = DeferredToolResults()
        for call in result.output.approvals:
            yes = person(result.output.metadata[call.tool_call_id])
            answers.approvals[call.tool_call_id] = True if yes else ToolDenied("not on a Friday")
        result = agent.run_sync(message_history=result.all_messages(), deferred_tool_results=answers)
    assert result.output == "done"


def without():
    class ApprovalRequired(Exception):
        def __init__(self, metadata=None):
            self.metadata = metadata

    class Tool:
        @classmethod
        def from_schema(cls, function, name, description, json_schema, takes_ctx=False, sequential=False):
            assert description and json_schema["type"] == "object" and takes_ctx
            tool = cls()
            tool.name, tool.function = name, function
            return tool

    names = {"ApprovalRequired": ApprovalRequired, "RunContext": object, "Tool": Tool}
    sys.modules["pydantic_ai"] = types.SimpleNamespace(**names)
    import agentkit_tools

    tools = {tool.name: tool for tool in agentkit_tools.tools(*command)}
    for call in calls:
        function, arguments = tools[call["name"]].function, call["arguments"]
        try:
            answer = function(types.SimpleNamespace(tool_call_approved=False), **arguments)
        except ApprovalRequired as deferred:
            if person(deferred.metadata):
                answer = function(types.SimpleNamespace(tool_call_approved=True), **arguments)
            else:
                answer = "not on a Friday"  # of ToolDenied
        told(answer)


sys.path.insert(0, str(here.parents[1] / "examples/pydantic-ai"))
try:
    import pydantic_ai as package
except ImportError:
    package = None
with_package() if package else without()
assert len(made) == len(steps) and len(asked) == sum("asks" in step for step in steps), (len(made), len(asked))
print("with pydantic-ai" if package else "with a stand-in for pydantic-ai", len(made), "calls,", len(asked), "questions")
