# Makes calls over two servers in turns, see serve.sh: CALLS DIR [SERVER].
import json, os, statistics, subprocess, sys, time

calls, work, server = int(sys.argv[1]), sys.argv[2], sys.argv[3]
root = work + "/root"


class Peer:
    def __init__(self, name, *argv):
        self.name, self.took, self.n = name, [], 0
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def send(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def answer(self, message, member):
        begin = time.perf_counter()
        self.send(message)
        while True:
            line = self.process.stdout.readline()
            if not line:
                sys.exit(self.name + " has ended")
            if message["id"] == json.loads(line).get("id"):
                self.took.append(time.perf_counter() - begin)
                value = json.loads(line)
                if "a line of text" not in json.dumps(value.get(member)):
                    sys.exit(f"{self.name}: {line[:300]}")
                return

    def memory(self):
        for line in open(f"/proc/{self.process.pid}/status"):
            if line.startswith("VmRSS:"):
                return int(line.split()[1])

    def processor(self):
        """Seconds of processor time, of all its threads."""
        fields = open(f"/proc/{self.process.pid}/stat").read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Agentkit(Peer):
    def __init__(self):
        super().__init__("agentkit", work + "/agentkit", "--root", root, "serve", "--stdio")
        self.process.stdout.readline()
        self.send({"protocol": 1, "events": []})

    def call(self):
        self.n += 1
        self.answer({"id": self.n, "name": "read", "arguments": {"path": "small.txt"}}, "result")


class Node(Peer):
    def __init__(self):
        super().__init__("server-filesystem", "node", server, root)
        self.send({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}})
        self.process.stdout.readline()
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def call(self):
        self.n += 1
        self.answer({"jsonrpc": "2.0", "id": self.n, "method": "tools/call", "params": {
            "name": "read_text_file", "arguments": {"path": root + "/small.txt"}}}, "result")


peers = [Agentkit()] + ([Node()] if server else [])
for _ in range(200):
    for p in peers:
        p.call()
before = [(p.memory(), p.processor()) for p in peers]
for p in peers:
    p.took.clear()
for _ in range(0, calls, 50):
    for p in peers:
        for _ in range(50):
            p.call()
medians = []
busy = []
for p, (kb, spent) in zip(peers, before):
    p.took.sort()
    medians.append(statistics.median(p.took))
    busy.append((p.processor() - spent) / len(p.took))
    print("%-18s %d calls  median %.3f ms  99 of 100 within %.3f ms  processor %.3f ms  memory %d KB, %+d KB since call 200" % (
        p.name, len(p.took), medians[-1] * 1000, p.took[len(p.took) * 99 // 100] * 1000, busy[-1] * 1000, p.memory(), p.memory() - kb))
if len(medians) > 1:
    print("ratio              %.2f of the medians, %.2f of the processor time" % (medians[0] / medians[1], busy[0] / busy[1]))
for p in peers:
    p.process.stdin.close()
    p.process.wait()
