// What every part uses. Text is only ever set by textContent.

const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId("data").textContent);
const said = byId("said");
const say = (text) => { said.textContent = text; };
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const clamp = (value, low, high) => Math.max(low, Math.min(high, value));

function make(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

// Ranks as text: "0-3,7".

function spans(text) {
  return text.split(",").filter(Boolean).map((part) => {
    const [low, high] = part.split("-").map(Number);
    return [low, high ?? low];
  });
}

function* eachRank(text) {
  for (const [low, high] of spans(text)) for (let rank = low; rank <= high; rank++) yield rank;
}

const holds = (text, rank) => spans(text).some(([low, high]) => low <= rank && rank <= high);
