"use strict";
const calls = [...document.querySelectorAll(".call")];
const chosen = {state: new Set(), tool: new Set()};
const find = document.getElementById("find");
const texts = new Map();
function text(call) {
  if (!texts.has(call)) texts.set(call, call.textContent.toLowerCase());
  return texts.get(call);
}
function show() {
  const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
  let any = false;
  for (const call of calls) {
    const fits = (!chosen.state.size || chosen.state.has(call.dataset.state)) &&
      (!chosen.tool.size || chosen.tool.has(call.dataset.tool)) &&
      words.every(w => text(call).includes(w));
    call.hidden = !fits;
    any = any || fits;
  }
  document.getElementById("none").hidden = any;
}
find.addEventListener("input", show);
for (const button of document.querySelectorAll("nav button")) {
  button.addEventListener("click", () => {
    const kind = button.dataset.state ? "state" : "tool", value = button.dataset[kind];
    const on = !chosen[kind].delete(value);
    if (on) chosen[kind].add(value);
    button.setAttribute("aria-pressed", on);
    show();
  });
}
function open() {
  const call = location.hash && document.getElementById(location.hash.slice(1));
  if (call && call.matches(".call")) {
    call.hidden = false;
    call.open = true;
    call.scrollIntoView({block: "center"});
  }
}
addEventListener("hashchange", open);
open();
