// The tools of agentkit for an agent in TypeScript, with nothing but Node's own library.
import { execFile } from "node:child_process";

export interface Tool { name: string; description: string; inputSchema: Record<string, unknown> }
export interface Result {
  title: string;
  output: string; // for the model, also where the call failed
  metadata: Record<string, any>;
  attachments?: { type: string; filename: string; mime_type: string; content: string }[];
  error?: { code: string; message: string; hint?: string; details?: any };
}

export class Agentkit {
  /** flags are the caller's authority, which no model can change: ["--root", dir, "--dialect", "codex"]. */
  constructor(readonly flags: string[] = [], readonly program = "agentkit") {}

  /** Runs the program, and ends it with all it has started when signal is aborted. */
  run(words: string[], stdin = "", signal?: AbortSignal): Promise<string> {
    return new Promise((resolve, reject) => execFile(this.program, [...this.flags, ...words], { maxBuffer: 1 << 28, signal },
      (failed, stdout) => (stdout ? resolve(stdout) : reject(failed))).stdin!.on("error", () => {}).end(stdin));
  }
  async tools(): Promise<Tool[]> {
    return JSON.parse(await this.run(["tools", "--format", "mcp", "--lean"]));
  }
  /** Makes a call. Where it needs a yes nothing has run, and error.code is approval_required. */
  async call(name: string, args: unknown, signal?: AbortSignal): Promise<Result> {
    return JSON.parse(await this.run(["call", name], JSON.stringify(args ?? {}), signal));
  }
  /** Reports whether a call would need a yes. Nothing runs. */
  async asks(name: string, args: unknown): Promise<boolean> {
    return JSON.parse(await this.run(["--dry-run", "call", name], JSON.stringify(args ?? {}))).metadata.decision === "ask";
  }
  /** Makes a call to which a person has said yes. It is a yes to what is asked now, and counts once. */
  async approved(name: string, args: unknown, signal?: AbortSignal): Promise<Result> {
    const first = await this.call(name, args, signal);
    if (first.error?.code !== "approval_required" || !first.error.details?.request) return first;
    await this.run(["policy", "approve", first.error.details.request.id]);
    return this.call(name, args, signal);
  }
}
