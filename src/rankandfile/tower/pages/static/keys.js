// Keys, colours, and the beginning of it all.

function keys(event) {
  const help = byId("help");
  const typing = event.target.closest?.("input:not([type=range]), select, textarea");
  if (typing || help.open || event.ctrlKey || event.metaKey || event.altKey) return;
  const actions = { "?": () => help.showModal(), t: nextTheme, ...pageKeys };
  const sections = [...document.querySelectorAll(".bar nav a")];
  if (/^[1-9]$/.test(event.key) && sections[event.key - 1]) actions[event.key] = () => sections[event.key - 1].click();
  if (actions[event.key]) { event.preventDefault(); actions[event.key](); }
}

document.addEventListener("keydown", keys);
byId("theme").addEventListener("click", nextTheme);
byId("keys").addEventListener("click", () => byId("help").showModal());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
let theme = "auto";
try { theme = localStorage.getItem("raf-theme") ?? "auto"; } catch { /* no storage */ }
useTheme(THEMES.includes(theme) ? theme : "auto");
begin();
document.documentElement.dataset.ready = "yes";
