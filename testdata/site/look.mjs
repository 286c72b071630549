// Looks at every page of a site through the DevTools protocol; see ../site.sh.
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";

const [address, site, pictures] = process.argv.slice(2);
const socket = new WebSocket(address);
await new Promise((resolve, reject) => { socket.onopen = resolve; socket.onerror = reject; });
let last = 0;
const waiting = new Map(), heard = [];
socket.onmessage = ({ data }) => {
  const message = JSON.parse(data);
  if (message.id) waiting.get(message.id)(message);
  else heard.push(message);
};
let sessionId;
const ask = (method, params = {}) => new Promise((resolve, reject) => {
  socket.send(JSON.stringify({ id: ++last, method, params, sessionId }));
  waiting.set(last, (m) => m.error ? reject(new Error(method + ": " + m.error.message)) : resolve(m.result));
});
const until = async (method) => {
  for (let i = 0; i < 1000; i++) {
    if (heard.some((m) => m.method == method)) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error("no " + method);
};

// What is wrong with the page that is shown: runs in the page.
const wrong = () => {
  const found = [];
  if (document.documentElement.scrollWidth > innerWidth) found.push(`is ${document.documentElement.scrollWidth} wide`);
  const light = (c) => {
    const [r, g, b] = c.match(/[\d.]+/g).map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (e) => {
    for (; e; e = e.parentElement) {
      const c = getComputedStyle(e).backgroundColor;
      if (c != "rgba(0, 0, 0, 0)") return c;
    }
    return "rgb(255, 255, 255)";
  };
  for (const e of document.querySelectorAll("main *, nav *")) {
    if (![...e.childNodes].some((n) => n.nodeType == 3 && n.data.trim())) continue;
    const [a, b] = [light(getComputedStyle(e).color), light(ground(e))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) found.push(`<${e.tagName}> has a contrast of ${contrast.toFixed(1)}: ${e.textContent.slice(0, 40)}`);
  }
  if (!document.title || document.querySelectorAll("main h1").length != 1) found.push("has no single heading");
  return found;
};

const names = readdirSync(site, { recursive: true }).filter((name) => name.endsWith(".html")).sort();
const { targetId } = await ask("Target.createTarget", { url: "about:blank" });
({ sessionId } = await ask("Target.attachToTarget", { targetId, flatten: true }));
for (const domain of ["Page", "Network", "Log"]) await ask(domain + ".enable");
let failed = 0;
for (const name of names) {
  heard.length = 0;
  await ask("Page.navigate", { url: "file://" + join(site, name) });
  await until("Page.loadEventFired");
  const asked = heard.filter((m) => m.method == "Network.requestWillBeSent" && !m.params.request.url.startsWith("file://"));
  const complaints = heard.filter((m) => m.method == "Log.entryAdded" || m.method == "Network.loadingFailed");
  const report = (text) => { failed++; console.log(`${name}: ${text}`); };
  for (const m of asked) report("asks for " + m.params.request.url);
  for (const m of complaints) report(JSON.stringify(m.params));
  for (const width of [400, 1280]) {
    for (const scheme of ["light", "dark"]) {
      await ask("Emulation.setDeviceMetricsOverride", { width, height: 1000, deviceScaleFactor: 1, mobile: false });
      await ask("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
      const { result, exceptionDetails } = await ask("Runtime.evaluate", { expression: `(${wrong})()`, returnByValue: true });
      if (exceptionDetails) throw new Error(JSON.stringify(exceptionDetails));
      for (const text of result.value) report(`${width} ${scheme}: ${text}`);
      if (existsSync(pictures)) {
        const { data } = await ask("Page.captureScreenshot");
        writeFileSync(join(pictures, relative(".", name).replaceAll("/", "_") + `-${width}-${scheme}.png`), Buffer.from(data, "base64"));
      }
    }
  }
}
console.log(`${names.length} pages looked at, ${failed} faults`);
socket.close();
process.exit(failed || names.length < 40 ? 1 : 0);
