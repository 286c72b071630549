# Measures MCP servers in turns, see mcp.sh: CALLS DIR [SERVER].
import json, os, statistics, subprocess, sys, time

calls, work, server = int(sys.argv[1]), sys.argv[2], sys.argv[3]
root = work + "/root"
starts = 21


class Peer:
    def __init__(self, name, tool, path, *argv):
        self.name, self.tool, self.path, self.argv = name, tool, path, argv
        self.begun, self.took, self.n = [], [], 0

    def start(self):
        begin = time.perf_counter()
        self.process = subprocess.Popen(self.argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}})
        self.begun.append(time.perf_counter() - begin)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def stop(self):
        self.process.stdin.close()
        self.process.wait()

    def send(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method, params):
        self.n += 1
        self.send({"jsonrpc": "2.0", "id": self.n, "method": method, "params": params})
        while True:
            line = self.process.stdout.readline()
            if not line:
                sys.exit(self.name + " has ended")
            answer = json.loads(line)
            if answer.get("id") == self.n:
                if "result" not in answer or answer["result"].get("isError"):
                    sys.exit(f"{self.name}: {line[:300]}")
                return answer["result"]

    def call(self):
        begin = time.perf_counter()
        result = self.ask("tools/call", {"name": self.tool, "arguments": {"path": self.path}})
        self.took.append(time.perf_counter() - begin)
        if "a line of text" not in result["content"][0]["text"]:
            sys.exit(f"{self.name}: {result}")

    def processor(self):
        words = open(f"/proc/{self.process.pid}/stat").read().rsplit(")", 1)[1].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


peers = [Peer("agentkit mcp", "read", "small.txt", work + "/agentkit", "--root", root, "mcp")]
if server:
    peers.append(Peer("server-filesystem", "read_text_file", root + "/small.txt", "node", server, root))
for _ in range(starts):
    for p in peers:
        p.start()
        p.stop()
for p in peers:
    p.start()
    for _ in range(200):
        p.call()
    p.took.clear()
    p.before = p.processor()
for _ in range(0, calls, 50):
    for p in peers:
        for _ in range(50):
            p.call()
medians = []
for p in peers:
    medians.append((statistics.median(p.begun[:starts]), statistics.median(p.took), (p.processor() - p.before) / len(p.took)))
    print("%-18s initialize %.1f ms  call %.3f ms, %.3f ms of processor time" % ((p.name,) + tuple(m * 1000 for m in medians[-1])))
    p.stop()
if len(medians) > 1:
    print("ratios             initialize %.2f  call %.2f, %.2f of processor time" % tuple(a / b for a, b in zip(*medians)))
