#!/usr/bin/env node
// Runs the binary of this platform's package, with the same streams, signals and status.
"use strict";
const { spawn } = require("node:child_process");

const name = `@agentkit-go/${process.platform}-${process.arch}`;
let binary;
try {
	binary = require.resolve(`${name}/bin/agentkit${process.platform === "win32" ? ".exe" : ""}`);
} catch {
	console.error(`agentkit: error: the package ${name} is not installed`);
	console.error("agentkit: hint: install agentkit without --omit=optional; on another platform, go install github.com/agentkit-go/agentkit@latest");
	process.exit(125);
}
const child = spawn(binary, process.argv.slice(2), { stdio: "inherit" });
// A terminal's signals reach the binary by themselves; what is sent to this process alone is handed on.
for (const signal of ["SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT"]) {
	process.on(signal, () => {
		if (!(process.stdin.isTTY && signal === "SIGINT")) child.kill(signal);
	});
}
child.on("error", (err) => {
	console.error(`agentkit: error: starting ${binary}: ${err.message}`);
	process.exit(125);
});
child.on("exit", (status, signal) => {
	if (!signal) process.exit(status);
	process.removeAllListeners(signal);
	process.kill(process.pid, signal);
});
