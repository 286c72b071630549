// agentkit's tools for LangChain: createAgent({ model, tools: await tools(kit), checkpointer }).
// What the policy asks about interrupts the graph with the request; resume it with
// new Command({ resume: { yes: true } }), or { yes: false, reason }.
import { ToolMessage } from "@langchain/core/messages";
import { tool, type StructuredToolInterface } from "@langchain/core/tools";
import { interrupt } from "@langchain/langgraph";
import { type Agentkit } from "./agentkit.ts";

export interface Answer { yes: boolean; reason?: string }

export async function tools(kit: Agentkit): Promise<StructuredToolInterface[]> {
  return (await kit.tools()).map((t) => tool(async (input: any, config: any) => {
    let result = await kit.call(t.name, input, config?.signal);
    const request = result.error?.code === "approval_required" && result.error.details?.request;
    if (request) { // nothing has run, so this function may begin anew when the graph goes on
      const answer: Answer = interrupt(request);
      await kit.run(["policy", ...(answer.yes ? ["approve", request.id] : ["refuse", request.id, answer.reason ?? "no"])]);
      result = await kit.call(t.name, input, config?.signal);
    }
    const images = (result.attachments ?? []).filter((a) => a.type === "image")
      .map((a) => ({ type: "image", mimeType: a.mime_type, data: a.content }));
    return new ToolMessage({
      tool_call_id: config?.toolCall?.id ?? "", name: t.name, status: result.error ? "error" : "success",
      content: images.length > 0 ? [{ type: "text", text: result.output }, ...images] as any : result.output,
    });
  }, { name: t.name, description: t.description, schema: t.inputSchema as any })) as StructuredToolInterface[];
}
