// agentkit's tools for the Vercel AI SDK 6: generateText({ model, tools: await tools(kit), ... }).
// What the policy asks about comes as the SDK's own tool-approval-request.
import { jsonSchema, tool, type ModelMessage, type ToolSet } from "ai";
import { type Agentkit, type Result } from "./agentkit.ts";

export async function tools(kit: Agentkit): Promise<ToolSet> {
  const all: ToolSet = {};
  for (const t of await kit.tools()) {
    all[t.name] = tool({
      description: t.description,
      inputSchema: jsonSchema<Record<string, unknown>>(t.inputSchema),
      needsApproval: (input) => kit.asks(t.name, input),
      execute: (input, { toolCallId, messages, abortSignal }): Promise<Result> =>
        saidYes(messages, toolCallId) ? kit.approved(t.name, input, abortSignal) : kit.call(t.name, input, abortSignal),
      toModelOutput: ({ output }) => output.error
        ? { type: "error-text", value: output.output }
        : { type: "content", value: [{ type: "text", text: output.output }, ...images(output)] },
    });
  }
  return all;
}

function saidYes(messages: ModelMessage[], toolCallId: string): boolean {
  const parts = messages.flatMap((m): any[] => (Array.isArray(m.content) ? m.content : []));
  const requests = parts.filter((p) => p.type === "tool-approval-request" && p.toolCallId === toolCallId);
  return parts.some((p) => p.type === "tool-approval-response" && p.approved && requests.some((r) => r.approvalId === p.approvalId));
}

function images(r: Result) {
  return (r.attachments ?? []).filter((a) => a.type === "image")
    .map((a) => ({ type: "image-data" as const, data: a.content, mediaType: a.mime_type }));
}
