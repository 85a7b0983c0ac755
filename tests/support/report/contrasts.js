// Every text on the page against what lies behind it: how many there are, and which stand out too little.
() => {
  const parse = (text) => (text.match(/[\d.]+/g) ?? []).map(Number);
  const luminance = (c) => c.slice(0, 3).map((v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const low = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let seen = 0;
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || ["SCRIPT", "STYLE", "OPTION"].includes(element.tagName) || !element.checkVisibility()) continue;
    if (element.closest(".unseen, .skip, :disabled")) continue;
    const style = getComputedStyle(element);
    const svg = element.closest("svg .box");
    const ink = parse(svg ? style.fill : style.color);
    const paper = svg ? parse(getComputedStyle(svg.querySelector("rect")).fill) : behind(element);
    const [a, b] = [luminance(ink), luminance(paper)].sort((x, y) => y - x);
    seen++;
    if ((a + 0.05) / (b + 0.05) < 4.5) low.push(`${((a + 0.05) / (b + 0.05)).toFixed(2)} ${element.className || element.tagName}: ${walker.currentNode.data.trim().slice(0, 40)}`);
  }
  return [seen, low];
}
