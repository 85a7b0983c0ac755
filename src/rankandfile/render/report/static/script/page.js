// The page around the score, and the beginning of it all.

async function copy(button) {
  const text = byId(button.dataset.copy).textContent;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = make("textarea", { value: text, className: "unseen" });
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  const before = button.textContent;
  button.textContent = "Copied";
  say("Copied");
  setTimeout(() => { button.textContent = before; }, 1500);
}

function setUpFlame() {
  const flame = byId("flame");
  if (!flame) return;
  for (const item of flame.querySelectorAll("li")) item.style.flexGrow = item.dataset.n;
  const button = byId("own-frames");
  button.addEventListener("click", () => {
    const own = flame.classList.toggle("own-only");
    button.setAttribute("aria-pressed", String(own));
  });
}

function keys(event) {
  const typing = event.target.closest?.("input, select, textarea");
  const help = byId("help");
  if (event.key === "Escape" && !help.open && hasScore && !byId("call").hidden) { closeCall(); return; }
  if (typing || help.open || event.ctrlKey || event.metaKey || event.altKey) return;
  const sections = [...document.querySelectorAll("main > section")];
  const actions = { "?": () => help.showModal(), t: nextTheme };
  if (hasScore) {
    Object.assign(actions, {
      "/": () => { byId("score").scrollIntoView({ block: "start" }); byId("find").focus(); byId("find").select(); },
      s: () => { byId("score").scrollIntoView({ block: "start" }); canvas.focus({ preventScroll: true }); },
      "+": () => zoom(1.6), "=": () => zoom(1.6), "-": () => zoom(1 / 1.6), "0": showAll,
      d: goToParting, a: align, c: () => useRows(!view.byRank),
    });
  }
  if (/^[1-9]$/.test(event.key) && sections[event.key - 1]) actions[event.key] = () => { location.hash = sections[event.key - 1].id; };
  if (actions[event.key]) { event.preventDefault(); actions[event.key](); }
}

document.addEventListener("keydown", keys);
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy]"), ranks = event.target.closest("[data-ranks]");
  if (button) copy(button);
  else if (ranks && hasScore) showRanks(ranks.dataset.ranks);
});
byId("theme").addEventListener("click", nextTheme);
byId("keys").addEventListener("click", () => byId("help").showModal());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
addEventListener("beforeprint", () => { for (const one of document.querySelectorAll("details")) one.open = true; recolour(); if (hasScore) paint(); });
addEventListener("afterprint", recolour);
addEventListener("hashchange", () => document.querySelector(location.hash.replace(/[^\w#-]/g, "") || "#verdict")?.focus({ preventScroll: true }));

addEventListener("DOMContentLoaded", () => {
  if (!hasScore || !awaited) return;
  awaited = false;
  if (!byId("call").hidden) openCall(chosen);
  draw();
});

setUpFlame();
if (hasScore) {
  readColours();
  useSheet(0);
  legend();
  listen();
  paint();
}
try { const kept = localStorage.getItem("raf-theme"); if (THEMES.includes(kept)) useTheme(kept); } catch { /* no storage */ }
document.documentElement.dataset.ready = "yes";
performance.mark("ready");
