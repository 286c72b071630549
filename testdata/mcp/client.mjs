// client.mjs ROOT COMMAND... starts the server and uses it as the TypeScript SDK does: list,
// call, progress, a form for an approval, cancellation, a text of the session.
import assert from "node:assert";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const [root, command, ...args] = process.argv.slice(2);
const outside = join(dirname(root), "outside.txt");
writeFileSync(outside, "far\n");
const client = new Client({ name: "test", version: "1" }, { capabilities: { elicitation: {} } });
const forms = [];
client.setRequestHandler(ElicitRequestSchema, async (r) => {
  forms.push(r.params);
  return { action: "accept", content: { decision: "once" } };
});
await client.connect(new StdioClientTransport({ command, args, env: { ...process.env, TMPDIR: root } }));

const { tools } = await client.listTools(); // the SDK checks results against their schemas from now on
assert(tools.find((t) => t.name === "read").annotations.readOnlyHint);
const read = await client.callTool({ name: "read", arguments: { path: "a.txt" } });
assert.equal(read.content[0].text, "1\ta line of text\n");
assert.equal(read.structuredContent.metadata.total_lines, 1);

const progress = [];
const counted = await client.callTool({ name: "bash", arguments: { command: "echo one; sleep 0.3; seq 20000" } }, undefined, { onprogress: (p) => progress.push(p) });
assert.equal(counted.structuredContent.metadata.exit_code, 0);
assert(progress.length > 0 && progress[0].message === "one", JSON.stringify(progress));

const far = await client.callTool({ name: "read", arguments: { path: outside } });
assert.equal(far.content[0].text, "1\tfar\n");
assert.equal(forms.length, 1);
assert.deepEqual(forms[0].requestedSchema.properties.decision.enum, ["once", "session", "no"]);

const wrong = await client.callTool({ name: "edit", arguments: { path: "a.txt", old_string: "absent", new_string: "x" } });
assert(wrong.isError && wrong.structuredContent.error.code === "no_match", JSON.stringify(wrong));

const stop = new AbortController();
const begun = Date.now();
setTimeout(() => stop.abort(), 200);
await assert.rejects(client.callTool({ name: "bash", arguments: { command: "sleep 60" } }, undefined, { signal: stop.signal }));
assert(Date.now() - begun < 30000);

const { resources } = await client.listResources();
const { contents } = await client.readResource({ uri: resources[0].uri });
assert(contents[0].text.includes("\n10000\n10001\n"));
await client.close();
console.log(`${tools.length} tools, ${progress.length} reports of progress, a form, an error, a cancellation, a text`);
