// Light and dark.

const THEMES = ["auto", "light", "dark"];
const SIGNS = { auto: "◐", light: "○", dark: "●" };

function useTheme(theme) {
  document.documentElement.dataset.theme = theme;
  const button = byId("theme");
  button.replaceChildren(`${SIGNS[theme]} `, make("span", { textContent: theme }));
  button.setAttribute("aria-label", theme === "auto" ? "Colours: as the system has them" : `Colours: ${theme}`);
  try { localStorage.setItem("raf-theme", theme); } catch { /* a page from a file may have no storage */ }
  recolour();
}

function nextTheme() {
  useTheme(THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % THEMES.length]);
}
