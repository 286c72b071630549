// agentkit's tools for the OpenAI Agents SDK: new Agent({ name, instructions, tools: await tools(kit) }).
// What the policy asks about comes as an interruption of the run, to approve or to reject.
import { tool, type FunctionTool } from "@openai/agents";
import { type Agentkit } from "./agentkit.ts";

export async function tools(kit: Agentkit): Promise<FunctionTool<any, any, any>[]> {
  return (await kit.tools()).map((t) => tool({
    name: t.name,
    description: t.description,
    parameters: t.inputSchema as any,
    strict: false, // agentkit checks the arguments, and its message is one that the model can act on
    needsApproval: (_context, input) => kit.asks(t.name, input),
    execute: async (input, context, details) => {
      const callId = details?.toolCall?.callId ?? "";
      const yes = context?.isToolApproved({ toolName: t.name, callId }) === true;
      const result = await (yes ? kit.approved(t.name, input, details?.signal) : kit.call(t.name, input, details?.signal));
      const images = (result.attachments ?? []).filter((a) => a.type === "image")
        .map((a) => ({ type: "image" as const, image: { data: a.content, mediaType: a.mime_type } }));
      return images.length > 0 ? [{ type: "text" as const, text: result.output }, ...images] : result.output;
    },
  }));
}
