"""agentkit's tools for pydantic-ai.

    tools = agentkit_tools.tools("agentkit", "--root", "/src/project")
    agent = Agent(model, tools=tools, output_type=[str, DeferredToolRequests])

What the policy asks about ends the run with DeferredToolRequests, whose metadata holds
the request of each; DeferredToolResults with the approvals go on with it.
"""

import json
import subprocess

from pydantic_ai import ApprovalRequired, RunContext, Tool


def tools(*command):
    def run(*words, stdin=""):
        return subprocess.run([*command, *words], input=stdin, capture_output=True, text=True, check=False).stdout

    def tool(declared):
        def call(ctx: RunContext, **arguments) -> str:
            result = json.loads(run("call", declared["name"], stdin=json.dumps(arguments)))
            if result.get("error", {}).get("code") == "approval_required":
                request = result["error"]["details"]["request"]
                if not ctx.tool_call_approved:  # nothing has run
                    raise ApprovalRequired(metadata=request)
                run("policy", "approve", request["id"])
                result = json.loads(run("call", declared["name"], stdin=json.dumps(arguments)))
            return result["output"]

        about = {"name": declared["name"], "description": declared["description"], "json_schema": declared["inputSchema"]}
        return Tool.from_schema(call, **about, takes_ctx=True, sequential=True)

    return [tool(declared) for declared in json.loads(run("tools", "--format", "mcp", "--lean"))]
