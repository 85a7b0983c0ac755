// What does not fit on the page: what leads out of the window, and text of one line that is cut or broken.
() => {
  const low = [];
  const tell = (element, what) => low.push(`${what}: ${element.className || element.tagName}: ${element.textContent.trim().slice(0, 40)}`);
  if (document.documentElement.scrollWidth > innerWidth) low.push(`the page is ${document.documentElement.scrollWidth} wide`);
  for (const element of document.querySelectorAll("main *, header *, nav *, footer *")) {
    if (element.closest(".unseen, .skip, svg, .scroll, pre") || !element.checkVisibility()) continue;
    const { left, right } = element.getBoundingClientRect();
    if (left < -1 || right > innerWidth + 1) tell(element, "out of the window");
  }
  // Ranks that are few are said in one line.
  for (const ranks of document.querySelectorAll("button.ranks")) {
    if (ranks.checkVisibility() && ranks.textContent.length < 12 && ranks.getBoundingClientRect().height > 30) tell(ranks, "broken");
  }
  for (const links of document.querySelectorAll(".bar nav")) if (links.scrollWidth > links.clientWidth) tell(links, "hidden");
  // Each way through the code has a lane of its own.
  for (const lane of document.querySelectorAll("td.way")) if (lane.getBoundingClientRect().width < 18) tell(lane, "no room for its lane");
  const find = document.querySelector("#find");
  if (find) {
    const pen = document.createElement("canvas").getContext("2d");
    pen.font = getComputedStyle(find).font;
    if (pen.measureText(find.placeholder).width > find.clientWidth - 20) low.push(`cut: ${find.placeholder}`);
  }
  return low;
}
