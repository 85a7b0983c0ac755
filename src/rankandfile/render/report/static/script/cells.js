// The score near by: a box for each call, its state, and what is missing.

function draw() {
  if (!raf) raf = requestAnimationFrame(() => { raf = 0; paint(); });
}

const kindOf = (cell) => (cell - 1) >> 2;
const stateOf = (cell) => (cell - 1) & 3;

function isOdd(track, column) {
  const { normal, comparable } = view.sheet;
  if (!comparable || !normal || track === normal || view.aligned) return false;
  const mine = track.cells[column], theirs = normal.cells[column];
  return mine > 0 && theirs > 0 && kindOf(mine) !== kindOf(theirs);
}

function paint() {
  if (!view.sheet) return;
  if (raf) { cancelAnimationFrame(raf); raf = 0; }
  const began = performance.now();
  context.clearRect(0, 0, view.width, view.height);
  const first = Math.max(0, Math.floor(view.y / view.row));
  const last = Math.min(view.rows.length - 1, Math.floor((view.y + plotHeight()) / view.row));
  context.save();
  context.beginPath();
  context.rect(gutter, RULER, plotWidth(), plotHeight());
  context.clip();
  if (view.cell >= 5 && view.row >= 7) paintCells(first, last); else paintPixels(first, last);
  paintParting();
  paintMarks(first, last);
  context.restore();
  paintGutter(first, last);
  paintRuler();
  canvas.dataset.paint = (performance.now() - began).toFixed(2);
}

function paintCells(first, last) {
  const { cell, row } = view;
  const high = Math.max(3, row - (row > 12 ? 4 : 1));
  const letters = cell >= 17 && row >= 15;
  context.font = `600 ${Math.min(11, cell * 0.5)}px ui-monospace, "DejaVu Sans Mono", monospace`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (let r = first; r <= last; r++) {
    const { track } = view.rows[r];
    const top = RULER + r * row - view.y + (row - high) / 2;
    const from = Math.max(0, Math.floor(view.x) - 1 - (view.aligned ? view.sheet.most : 0));
    const to = Math.min(track.length - 1, Math.ceil(view.x + plotWidth() / cell));
    let seam = 0;
    for (let c = from; c <= to; c++) {
      const by = shiftOf(track, c) * view.aligned;
      if (view.aligned > 0.95 && track.path && by > seam + 0.5) paintGap(track, c, seam, by, top, high);
      seam = by;
      const value = track.cells[c];
      if (value) paintCell(value, gutter + (c + by - view.x) * cell, top, cell, high, letters, isOdd(track, c), found && !found.has(kindOf(value)));
    }
    paintEnd(track, top, high);
  }
}

function paintCell(value, left, top, cell, high, letters, odd, dim) {
  const kind = kindOf(value), state = stateOf(value);
  const gap = cell > 8 ? 1.5 : 0.5, wide = cell - gap;
  context.globalAlpha = dim ? 0.18 : 1;
  if (state >= 2) {
    context.fillStyle = palette.css[kind];
    context.fillRect(left, top, wide, high);
  } else {
    // Not finished: hollow, and half full once the device has begun.
    context.fillStyle = palette.pale[kind];
    context.fillRect(left, top, wide, high);
    if (state === 1) {
      context.fillStyle = palette.css[kind];
      context.fillRect(left, top + high / 2, wide, high / 2);
    }
    context.strokeStyle = palette.css[kind];
    context.lineWidth = Math.min(2, cell / 5);
    context.strokeRect(left + 1, top + 1, Math.max(1, wide - 2), high - 2);
  }
  if (letters) {
    context.fillStyle = state >= 2 ? palette.ink[kind] : css(palette.text);
    context.fillText(code[kind], left + wide / 2, top + high / 2 + 0.5);
  }
  if (odd) {
    const size = Math.min(7, wide * 0.6);
    context.fillStyle = css(palette["culprit-line"]);
    context.beginPath();
    context.moveTo(left + wide, top);
    context.lineTo(left + wide - size, top);
    context.lineTo(left + wide, top + size);
    context.fill();
  }
  context.globalAlpha = 1;
}

// A hole where a call is missing that the others made.
function paintGap(track, column, before, by, top, high) {
  for (let k = 0; k < Math.round(by - before); k++) dashed(gutter + (column + before + k - view.x) * view.cell, top, high, "skipped");
}

function dashed(left, top, high, word) {
  const wide = view.cell - 1.5;
  context.save();
  context.setLineDash([3, 2]);
  context.lineWidth = 1.6;
  context.strokeStyle = css(palette["culprit-line"]);
  context.strokeRect(left + 1, top + 1, Math.max(2, wide - 2), high - 2);
  context.setLineDash([]);
  if (view.cell >= 17 && word) {
    context.fillStyle = css(palette.culprit);
    context.fillText("×", left + wide / 2, top + high / 2 + 0.5);
  }
  context.restore();
}

// Whoever others wait for makes no further call: the place where it should have been.
function paintEnd(track, top, high) {
  const { normal } = view.sheet;
  if (!view.sheet.comparable || track.role !== "culprit" || !normal || !track.length || track.length >= normal.length) return;
  dashed(gutter + (track.length + shiftOf(track, track.length) * view.aligned - view.x) * view.cell, top, high, "end");
}
