// agentkit's tools for the Claude Agent SDK, in its own process:
// query({ prompt, options: { mcpServers: { agentkit: await server(kit, ask) }, tools: [], allowedTools: ["mcp__agentkit__*"] } }).
// ask shows a person what the policy asks about.
import { createSdkMcpServer, type McpSdkServerConfigWithInstance } from "@anthropic-ai/claude-agent-sdk";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { type Agentkit } from "./agentkit.ts";

export type Ask = (request: any) => Promise<{ yes: boolean; reason?: string }>;

export async function server(kit: Agentkit, ask: Ask): Promise<McpSdkServerConfigWithInstance> {
  const config = createSdkMcpServer({ name: "agentkit" });
  const tools = await kit.tools();
  config.instance.server.registerCapabilities({ tools: {} });
  config.instance.server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools: tools as any }));
  config.instance.server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
    let result = await kit.call(params.name, params.arguments, signal);
    const request = result.error?.code === "approval_required" && result.error.details?.request;
    if (request) {
      const { yes, reason } = await ask(request);
      await kit.run(["policy", ...(yes ? ["approve", request.id] : ["refuse", request.id, reason ?? "no"])]);
      result = await kit.call(params.name, params.arguments, signal);
    }
    const images = (result.attachments ?? []).filter((a) => a.type === "image")
      .map((a) => ({ type: "image" as const, data: a.content, mimeType: a.mime_type }));
    return { content: [{ type: "text", text: result.output }, ...images], isError: result.error !== undefined };
  });
  return config;
}
