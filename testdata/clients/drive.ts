// Drives the task of task.json through the clients of examples/typescript with a scripted model.
// Usage: node drive.js AGENTKIT TESTDATA
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as openai from "@openai/agents";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { fakeModel } from "@langchain/core/testing";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { Command, MemorySaver } from "@langchain/langgraph";
import { generateText, stepCountIs, type ModelMessage } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { createAgent } from "langchain";
import { Agentkit } from "../../examples/typescript/agentkit.ts";
import * as aiSdk from "../../examples/typescript/ai-sdk.ts";
import * as claude from "../../examples/typescript/claude-agent-sdk.ts";
import * as langchain from "../../examples/typescript/langchain.ts";
import * as openaiAgents from "../../examples/typescript/openai-agents.ts";

interface Step { what: string; says: string; asks?: string; yes?: boolean; failed?: boolean; calls: Record<string, { name: string; arguments: any }> }

const [program, testdata] = process.argv.slice(2);
const steps: Step[] = JSON.parse(readFileSync(join(testdata, "task.json"), "utf8"));

/** A model that makes the calls of the task, one a turn, and checks what it is told, and its person. */
class Script {
  made = 0;
  asked = 0;
  constructor(readonly dialect: string) {}
  /** The call after so many answers; undefined where the task is done. */
  call(answers: number) {
    this.made = Math.max(this.made, answers);
    return steps[answers]?.calls[this.dialect];
  }
  told(text: string, failed?: boolean) {
    const step = steps[this.made++];
    assert.match(text, new RegExp(step.says), step.what);
    if (failed !== undefined) assert.equal(failed, step.failed === true, `${step.what}: ${text}`);
  }
  person(about: unknown) {
    this.asked++;
    const step = steps[this.made];
    assert.ok(step.asks && JSON.stringify(about).includes(step.asks), `${step.what}: asked about ${JSON.stringify(about)}`);
    return { yes: step.yes === true, reason: "not on a Friday" };
  }
}

async function work(name: string, dialect: string, run: (kit: Agentkit, s: Script) => Promise<void>) {
  const top = mkdtempSync(join(tmpdir(), "agentkit-clients-"));
  const root = join(top, "project");
  cpSync(join(testdata, "../../examples/fix-a-bug/project"), root, { recursive: true });
  writeFileSync(join(root, "release.sh"), "#!/bin/sh\ntouch released\n", { mode: 0o755 });
  const flags = ["--root", root, "--state", join(top, "state"), "--policy", join(testdata, "policy.yaml")];
  const s = new Script(dialect);
  try {
    await run(new Agentkit(dialect === "agentkit" ? flags : [...flags, "--dialect", dialect], program), s);
    assert.equal(s.made, steps.length, "steps made");
    assert.equal(s.asked, steps.filter((x) => x.asks).length, "questions");
    assert.match(readFileSync(join(root, "inventory.py"), "utf8"), /left < minimum/);
    assert.match(readFileSync(join(root, "test_inventory.py"), "utf8"), /\["bolts", "hinges"\]/);
    assert.ok(existsSync(join(root, "CHANGES.md")) && !existsSync(join(root, "released")));
    console.log(`${name}: ${s.made} calls, ${s.asked} questions: as it should be`);
  } finally {
    rmSync(top, { recursive: true, force: true });
  }
}

await work("agentkit.ts alone", "agentkit", async (kit, s) => {
  for (let call; (call = s.call(s.made)); ) {
    let result = await kit.call(call.name, call.arguments);
    if (result.error?.code === "approval_required") {
      const { yes, reason } = s.person(result.error.details.request);
      if (!yes) await kit.run(["policy", "refuse", result.error.details.request.id, reason]);
      result = await kit.approved(call.name, call.arguments);
    }
    s.told(result.output, result.error !== undefined);
  }
});

await work("Vercel AI SDK", "opencode", async (kit, s) => {
  const usage = { inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 }, outputTokens: { total: 1, text: 1, reasoning: 0 } };
  const model = new MockLanguageModelV3({
    doGenerate: async ({ prompt }) => {
      const answers = prompt.flatMap((m): any[] => (m.role === "tool" ? m.content : [])).filter((p) => p.type === "tool-result");
      const last = answers.at(-1);
      if (last && answers.length > s.made) {
        const out = last.output;
        s.told(out.value?.map?.((v: any) => v.text).join("") ?? out.value ?? out.reason, out.type !== "content");
      }
      const call = s.call(answers.length);
      return call
        ? { content: [{ type: "tool-call", toolCallId: `c${answers.length}`, toolName: call.name, input: JSON.stringify(call.arguments) }], finishReason: { unified: "tool-calls", raw: undefined }, usage, warnings: [] }
        : { content: [{ type: "text", text: "done" }], finishReason: { unified: "stop", raw: undefined }, usage, warnings: [] };
    },
  });
  const tools = await aiSdk.tools(kit);
  const messages: ModelMessage[] = [{ role: "user", content: "the tests fail" }];
  for (;;) {
    const result = await generateText({ model, tools, messages, stopWhen: stepCountIs(20) });
    messages.push(...result.response.messages);
    const asked = result.content.filter((p) => p.type === "tool-approval-request");
    if (asked.length === 0) return assert.equal(result.text, "done");
    messages.push({ role: "tool", content: asked.map((p) => {
      const { yes, reason } = s.person(p.toolCall.input);
      return { type: "tool-approval-response", approvalId: p.approvalId, approved: yes, reason };
    }) });
  }
});

await work("OpenAI Agents SDK", "codex", async (kit, s) => {
  openai.setTracingDisabled(true);
  const model = {
    async getResponse(request: any) {
      const answers = (request.input as any[]).filter((i) => i.type === "function_call_result");
      const last = answers.at(-1);
      if (last && answers.length > s.made) s.told(typeof last.output === "string" ? last.output : last.output.text);
      const call = s.call(answers.length);
      return {
        usage: new openai.Usage(),
        output: call
          ? [{ type: "function_call", callId: `c${answers.length}`, name: call.name, status: "completed", arguments: JSON.stringify(call.arguments) }]
          : [{ type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: "done" }] }],
      } as any;
    },
    getStreamedResponse(): any { throw new Error("not asked for"); },
  };
  const agent = new openai.Agent({ name: "mender", instructions: "", model, tools: await openaiAgents.tools(kit) });
  let result = await openai.run(agent, "the tests fail", { maxTurns: 20 });
  while (result.interruptions.length > 0) {
    for (const asked of result.interruptions) {
      const { yes, reason } = s.person(asked.rawItem);
      if (yes) result.state.approve(asked);
      else result.state.reject(asked, { message: reason });
    }
    result = await openai.run(agent, result.state, { maxTurns: 20 });
  }
  assert.equal(result.finalOutput, "done");
});

await work("LangChain", "gemini", async (kit, s) => {
  const model = fakeModel();
  steps.forEach((step, i) => model.respond((messages: any[]) => {
    const last = messages.at(-1);
    if (i > 0) s.told(last.content, last.status === "error");
    return new AIMessage({ content: "", tool_calls: [{ id: `c${i}`, name: step.calls.gemini.name, args: step.calls.gemini.arguments, type: "tool_call" }] });
  }));
  model.respond((messages: any[]) => {
    s.told(messages.at(-1).content, messages.at(-1).status === "error");
    return new AIMessage("done");
  });
  const agent = createAgent({ model, tools: await langchain.tools(kit), checkpointer: new MemorySaver() });
  const config = { configurable: { thread_id: "1" }, recursionLimit: 50 };
  let result: any = await agent.invoke({ messages: [new HumanMessage("the tests fail")] }, config);
  while (result.__interrupt__?.length > 0) {
    result = await agent.invoke(new Command({ resume: s.person(result.__interrupt__[0].value) }) as any, config);
  }
  assert.equal(result.messages.at(-1).content, "done");
});

await work("Claude Agent SDK", "claude", async (kit, s) => {
  const { instance } = await claude.server(kit, async (request) => s.person(request));
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await instance.connect(ours);
  const client = new Client({ name: "drive", version: "1" });
  await client.connect(theirs);
  const { tools } = await client.listTools();
  for (let call; (call = s.call(s.made)); ) {
    assert.ok(tools.some((t) => t.name === call.name), call.name);
    const result: any = await client.callTool({ name: call.name, arguments: call.arguments });
    s.told(result.content[0].text, result.isError);
  }
  await client.close();
});

await work("agentkit mcp, and the TypeScript SDK", "claude", async (kit, s) => {
  const client = new Client({ name: "drive", version: "1" }, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
    const { yes, reason } = s.person(params);
    return { action: "accept", content: yes ? { decision: "once" } : { decision: "no", reason } };
  });
  await client.connect(new StdioClientTransport({ command: program, args: [...kit.flags, "mcp"], env: process.env as Record<string, string> }));
  for (let call; (call = s.call(s.made)); ) {
    const result: any = await client.callTool({ name: call.name, arguments: call.arguments });
    s.told(result.content[0].text, result.isError === true);
  }
  await client.close();
});

await work("agentkit serve --http, and fetch", "opencode", async (kit, s) => {
  const server = spawn(program, [...kit.flags, "serve", "--http", "127.0.0.1:0"], { stdio: ["ignore", "pipe", "inherit"] });
  const first: string = await new Promise((resolve) => createInterface(server.stdout).once("line", resolve));
  const { url, token } = JSON.parse(first);
  const post = async (path: string, body: unknown, accept: string) =>
    fetch(url + path, { method: "POST", body: JSON.stringify(body), headers: { accept, authorization: `Bearer ${token}`, "content-type": "application/json" } });
  for (let call; (call = s.call(s.made)); ) {
    const events = await post("/v1/call", { name: call.name, input: call.arguments, id: `c${s.made}`, ask: true }, "text/event-stream");
    let text = "", answer: any;
    for await (const piece of events.body!.pipeThrough(new TextDecoderStream())) {
      for (text += piece; text.includes("\n\n"); text = text.slice(text.indexOf("\n\n") + 2)) {
        const [, event, data] = /^event: (.*)\ndata: (.*)/.exec(text.slice(0, text.indexOf("\n\n"))) ?? [];
        if (event === "ask") {
          const { yes, reason } = s.person(JSON.parse(data));
          const said = await post("/v1/answer", { answer: JSON.parse(data).id, decision: yes ? "yes" : "no", reason }, "application/json");
          assert.equal(said.status, 200, await said.text());
        } else if (event === "result") answer = JSON.parse(data);
      }
    }
    s.told(answer.result.output, !answer.success);
  }
  server.kill("SIGTERM");
  await new Promise((resolve) => server.once("exit", resolve));
});
