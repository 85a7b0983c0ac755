// The colours of the score, as the theme has them, and what they mean.

const palette = {};
const INKS = ["text", "quiet", "inset", "panel", "line", "strong", "culprit", "culprit-line", "victim", "focus", "link"];
const RGB = /[\d.]+/g;
const FALLBACK = [128, 128, 128];

// All at once: each look at a computed style makes the browser work out the styles anew.
function resolved(names) {
  const probes = names.map((name) => {
    const probe = make("i");
    probe.style.color = `var(--${name})`;
    return probe;
  });
  const holder = make("div", { hidden: true }, ...probes);
  document.body.append(holder);
  const found = probes.map((probe) => getComputedStyle(probe).color.match(RGB)?.slice(0, 3).map(Number) ?? FALLBACK);
  holder.remove();
  return Object.fromEntries(names.map((name, i) => [name, found[i]]));
}

const mix = (a, b, part) => a.map((value, i) => Math.round(value + (b[i] - value) * part));
const css = (colour) => `rgb(${colour[0]},${colour[1]},${colour[2]})`;
const packed = (colour) => (255 << 24) | (colour[2] << 16) | (colour[1] << 8) | colour[0];

function readColours() {
  const families = [...new Set(family)];
  Object.assign(palette, resolved([...INKS, ...families.map((one) => `op-${one}`)]));
  const back = palette.inset, ink = palette.text;
  const shades = [(c) => c, (c) => mix(c, back, 0.5), (c) => mix(c, ink, 0.42), (c) => mix(c, back, 0.27), (c) => mix(c, ink, 0.22)];
  palette.kind = kinds.op.map((_, kind) => shades[shade[kind]](palette[`op-${family[kind]}`]));
  // Letters on the colour: black or white, whichever reads better.
  palette.ink = palette.kind.map(([r, g, b]) => (0.299 * r + 0.587 * g + 0.114 * b > 140 ? "#000" : "#fff"));
  palette.css = palette.kind.map(css);
  palette.pale = palette.kind.map((colour) => css(mix(colour, back, 0.8)));
  palette.pixel = new Uint32Array(kinds.op.length * 4 + 1);
  palette.kind.forEach((colour, kind) => {
    [mix(colour, back, 0.72), mix(colour, back, 0.45), colour, colour].forEach((one, state) => { palette.pixel[1 + kind * 4 + state] = packed(one); });
  });
  palette.odd = packed(palette["culprit-line"]);
}

function legend() {
  const items = [];
  const swatch = (paintIt) => {
    const little = make("canvas", { width: 44, height: 28 });
    const pen = little.getContext("2d");
    pen.scale(2, 2);
    paintIt(pen);
    return little;
  };
  const families = new Map();
  family.forEach((one, kind) => { if (!families.has(one)) families.set(one, kind); });
  for (const [fam, kind] of [...families].sort()) {
    const label = fam === "p2p" ? "send, recv, batches" : fam === "other" ? "other" : fam;
    const colour = css(palette[`op-${fam}`]);
    items.push(make("li", {}, swatch((pen) => { pen.fillStyle = colour; pen.fillRect(0, 0, 22, 14); }), fam === "p2p" || fam === "other" ? label : `${code[kind]} ${label}`));
  }
  const sample = css(palette.quiet), pale = css(mix(palette.quiet, palette.inset, 0.8));
  const state = (text, half) => make("li", {}, swatch((pen) => {
    pen.fillStyle = pale; pen.fillRect(1, 1, 20, 12);
    if (half) { pen.fillStyle = sample; pen.fillRect(1, 7, 20, 6); }
    pen.strokeStyle = sample; pen.lineWidth = 2; pen.strokeRect(1, 1, 20, 12);
  }), text);
  items.push(make("li", { textContent: "lighter or darker: from another place in the code" }));
  items.push(make("li", {}, swatch((pen) => { pen.fillStyle = sample; pen.fillRect(0, 0, 22, 14); }), "finished"), state("started", true), state("issued, not known to have begun", false));
  items.push(make("li", {}, swatch((pen) => {
    pen.strokeStyle = css(palette["culprit-line"]); pen.lineWidth = 1.6; pen.setLineDash([3, 2]); pen.strokeRect(1, 1, 20, 12);
  }), "a call that is missing"));
  byId("legend").replaceChildren(...items);
}

function recolour() {
  if (!hasScore || !view.sheet) return;
  readColours();
  legend();
  draw();
}
