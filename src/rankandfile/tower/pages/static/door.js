// A page on which nothing moves.

document.addEventListener("keydown", (event) => {
  if (event.key === "?" && !event.target.closest?.("input")) byId("help").showModal();
});
const recolour = () => {};
byId("theme").addEventListener("click", nextTheme);
byId("keys").addEventListener("click", () => byId("help").showModal());
let theme = "auto";
try { theme = localStorage.getItem("raf-theme") ?? "auto"; } catch { /* no storage */ }
useTheme(THEMES.includes(theme) ? theme : "auto");
document.documentElement.dataset.ready = "yes";
