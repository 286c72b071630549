// Peers converts pages as other agents do: turndown with the plugin for tables, alone
// or on what Readability takes from the page. It reads and writes lines of JSON.
const fs = require("fs");
const readline = require("readline");
const Turndown = require("turndown");
const { gfm } = require("turndown-plugin-gfm");

const service = new Turndown({ headingStyle: "atx", hr: "---", bulletListMarker: "-", codeBlockStyle: "fenced", emDelimiter: "*" });
service.use(gfm);
service.remove(["script", "style", "meta", "link"]);

function article(html, url) {
  const { JSDOM, VirtualConsole } = require("jsdom");
  const { Readability } = require("@mozilla/readability");
  const dom = new JSDOM(html, { url, virtualConsole: new VirtualConsole() });
  const found = new Readability(dom.window.document).parse();
  dom.window.close();
  return found ? found.content : html;
}

readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const { file, url } = JSON.parse(line);
  const html = fs.readFileSync(file, "utf8");
  const before = process.cpuUsage();
  let text = "";
  try {
    text = service.turndown(process.argv[2] === "readability" ? article(html, url) : html);
  } catch (e) {
    process.stderr.write(`${file}: ${e}\n`);
  }
  const used = process.cpuUsage(before);
  process.stdout.write(JSON.stringify({ text, cpu_ms: (used.user + used.system) / 1000 }) + "\n");
});
