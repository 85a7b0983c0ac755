// What of the score is shown: which sheet, which rows, how far in.

const canvas = byId("canvas");
const hasScore = Boolean(canvas) && data.sheets.length > 0;
const context = canvas?.getContext("2d");
const GUTTER = 164, RULER = 26, MOST_HEIGHT = 560, WIDE = 64;
let tall = 24;
const view = { sheet: null, rows: [], byRank: false, x: 0, y: 0, cell: 16, row: tall, aligned: 0, width: 0, height: 0 };
let chosen = null, hovered = null, lit = null, found = null, raf = 0, gutter = GUTTER;

const plotWidth = () => Math.max(10, view.width - gutter);
const plotHeight = () => view.height - RULER;
const columnsShown = () => view.sheet.columns + (view.aligned ? view.sheet.most : 0);
const narrowest = () => Math.min(16, plotWidth() / columnsShown());
const lowest = () => clamp(plotHeight() / Math.max(1, view.rows.length), 0.25, tall);

function shiftOf(track, column) {
  let by = 0;
  for (const [from, shift] of track.seams) { if (from > column) break; by = shift; }
  return by;
}

function setRows() {
  const { tracks } = view.sheet;
  if (view.byRank) {
    view.rows = tracks.flatMap((track) => Array.from(eachRank(track.ranks), (rank) => ({ rank, track }))).sort((a, b) => a.rank - b.rank);
  } else {
    view.rows = tracks.map((track) => ({ rank: null, track }));
  }
  chosen = hovered = null;
}

function measure() {
  tall = view.rows.length <= 8 ? 32 : 24;
  view.width = canvas.clientWidth;
  gutter = Math.min(GUTTER, view.width * 0.34);
  view.height = Math.round(clamp(RULER + view.rows.length * tall, RULER + tall, Math.min(MOST_HEIGHT, innerHeight * 0.7)));
  canvas.style.height = `${view.height}px`;
  const scale = devicePixelRatio || 1;
  canvas.width = Math.round(view.width * scale);
  canvas.height = Math.round(view.height * scale);
  context.setTransform(scale, 0, 0, scale, 0, 0);
}

function keepInside() {
  view.cell = clamp(view.cell, narrowest(), WIDE);
  view.row = clamp(view.row, lowest(), tall);
  view.x = clamp(view.x, 0, Math.max(0, columnsShown() - plotWidth() / view.cell));
  view.y = clamp(view.y, 0, Math.max(0, view.rows.length * view.row - plotHeight()));
}

const indexOf = (number) => number - view.sheet.first;

function rowOfInterest() {
  const at = view.rows.findIndex((row) => row.track.role === "culprit");
  return at < 0 ? 0 : at;
}

function showColumn(column, part = 0.62) { view.x = column - (plotWidth() / view.cell) * part; }

function showRow(row) { view.y = (row + 0.5) * view.row - plotHeight() / 2; }

function goToParting() {
  const at = view.sheet.parted ?? view.sheet.focus;
  view.cell = Math.max(view.cell, 18);
  view.row = view.rows.length * tall <= plotHeight() ? tall : Math.max(view.row, 14);
  showColumn(at === null ? view.sheet.columns : indexOf(at));
  showRow(rowOfInterest());
  keepInside();
  draw();
  say(at === null ? "The end of the calls" : `${name(indexOf(at))}, ${view.sheet.parted === null ? "where they wait" : "where they diverged"}`);
}

function showAll() {
  view.cell = view.row = view.x = view.y = 0;
  keepInside();
  draw();
}

function zoom(factor, atX = gutter + plotWidth() / 2, atY = RULER + plotHeight() / 2) {
  const column = view.x + (atX - gutter) / view.cell, row = (view.y + atY - RULER) / view.row;
  view.cell = clamp(view.cell * factor, narrowest(), WIDE);
  view.row = clamp(view.row * factor, lowest(), tall);
  view.x = column - (atX - gutter) / view.cell;
  view.y = row * view.row - (atY - RULER);
  keepInside();
  draw();
}

function useSheet(number) {
  view.sheet = sheetAt(number);
  view.aligned = 0;
  byId("sheet").value = String(number);
  byId("align").disabled = !view.sheet.shifted;
  byId("align").setAttribute("aria-pressed", "false");
  byId("parting").disabled = view.sheet.parted === null && view.sheet.focus === null;
  useRows(view.byRank);
  byId("call").hidden = true;
  const notes = [];
  const by = view.sheet.numbered_by === "seq" ? "the number of the call in its group" : "the order of each rank's own calls";
  notes.push(`Columns: ${by}.`);
  if (view.sheet.tracks.length > 1 && view.sheet.comparable) notes.push("A marked corner: not the call that most ranks made under this number.");
  if (view.sheet.shifted) notes.push("From the divergence on calls meet others than they should; Align puts those that belong together below each other.");
  if (view.sheet.earlier) notes.push(`${view.sheet.earlier.toLocaleString("en")} earlier columns are not shown.`);
  if (view.sheet.later) notes.push(`${view.sheet.later.toLocaleString("en")} later columns are not shown.`);
  if (view.sheet.tracks.some((track) => !track.alike)) notes.push("Too many ranks differ: a line marked ≈ shows one of its ranks, and the others end like it.");
  if (view.sheet.left_out) notes.push(`${view.sheet.left_out.toLocaleString("en")} ranks found no line of their own.`);
  byId("score-note").textContent = notes.join(" ");
}

function useRows(byRank) {
  view.byRank = byRank;
  byId("by-rank").setAttribute("aria-pressed", String(byRank));
  byId("by-cohort").setAttribute("aria-pressed", String(!byRank));
  setRows();
  measure();
  view.row = tall;
  view.cell = Math.max(18, Math.min(WIDE * 0.75, plotWidth() / columnsShown()));
  const at = view.sheet.parted ?? view.sheet.focus;
  showColumn(at === null ? view.sheet.columns : indexOf(at));
  showRow(rowOfInterest());
  keepInside();
  draw();
}

function align() {
  if (!view.sheet.shifted) return;
  const to = view.aligned > 0.5 ? 0 : 1;
  byId("align").setAttribute("aria-pressed", String(Boolean(to)));
  say(to ? "Aligned: calls that belong together stand below each other" : "As numbered");
  const from = view.aligned, began = performance.now();
  const lasts = calm.matches ? 0 : 380;
  const step = (now) => {
    const part = lasts ? clamp((now - began) / lasts, 0, 1) : 1;
    view.aligned = from + (to - from) * (part * part * (3 - 2 * part));
    paint();
    if (part < 1) requestAnimationFrame(step); else { keepInside(); draw(); }
  };
  requestAnimationFrame(step);
}
