// What stands around the calls: where they diverged, the ruler, the names of the rows, and marks.

function paintParting() {
  const { parted } = view.sheet;
  if (parted === null) return;
  const left = gutter + (indexOf(parted) - view.x) * view.cell;
  context.strokeStyle = css(palette["culprit-line"]);
  context.lineWidth = 2;
  context.beginPath();
  context.moveTo(left - 1, RULER);
  context.lineTo(left - 1, view.height);
  context.stroke();
}

function paintMarks(first, last) {
  if (lit) {
    context.fillStyle = css(palette.focus);
    for (let r = first; r <= last; r++) if (isLit(view.rows[r])) context.fillRect(gutter, RULER + r * view.row - view.y, 4, Math.max(2, view.row));
  }
  for (const [at, colour] of [[hovered, palette.text], [chosen, palette.focus]]) {
    if (!at || !view.rows[at.row]) continue;
    const { track } = view.rows[at.row];
    const left = gutter + (at.column + shiftOf(track, at.column) * view.aligned - view.x) * view.cell;
    context.strokeStyle = css(colour);
    context.lineWidth = 2;
    context.strokeRect(left - 1, RULER + at.row * view.row - view.y, Math.max(4, view.cell), Math.max(4, view.row));
  }
}

const isLit = (row) => lit && (row.rank === null ? spans(row.track.ranks).some(([a, b]) => lit.some(([c, d]) => a <= d && c <= b)) : lit.some(([a, b]) => a <= row.rank && row.rank <= b));

function rowName(row) {
  if (row.rank !== null) return `rank ${row.rank}`;
  return `${row.track.count === 1 ? "rank" : "ranks"} ${row.track.ranks}${row.track.alike ? "" : " ≈"}`;
}

function paintGutter(first, last) {
  const step = Math.max(1, Math.ceil(15 / view.row));
  context.textAlign = "left";
  context.textBaseline = "middle";
  const room = gutter - 22;
  const label = (r) => {
    const row = view.rows[r];
    const guilty = row.track.role === "culprit";
    const y = Math.max(RULER + 8, RULER + (r + 0.5) * view.row - view.y);
    context.fillStyle = css(guilty ? palette.culprit : row.track.length ? palette.text : palette.quiet);
    context.font = `${guilty ? 700 : 500} 12px ui-monospace, "DejaVu Sans Mono", monospace`;
    context.fillText(fit(row.rank === null ? `${row.track.ranks}${row.track.alike ? "" : " ≈"}` : String(row.rank), room - (row.rank === null && row.track.count > 2 ? 44 : 0)), 16, y);
    if (guilty) { context.fillRect(4, y - 4, 8, 8); }
    if (row.rank === null && row.track.count > 2) {
      context.textAlign = "right";
      context.font = "11px ui-monospace, monospace";
      context.fillStyle = css(palette.quiet);
      context.fillText(`×${row.track.count.toLocaleString("en")}`, gutter - 6, y);
      context.textAlign = "left";
    }
    if (!row.track.length) { context.font = "italic 12px system-ui, sans-serif"; context.fillText("no call recorded here", gutter + 8, y); }
  };
  context.save();
  context.beginPath();
  context.rect(0, RULER, view.width, plotHeight());
  context.clip();
  const guilty = new Set();
  if (step > 1) for (let r = first; r <= last; r++) if (view.rows[r].track.role === "culprit" && ![...guilty].some((g) => Math.abs(g - r) < step)) guilty.add(r);
  for (const r of guilty) label(r);
  for (let r = Math.ceil(first / step) * step; r <= last; r += step) if (![...guilty].some((g) => Math.abs(g - r) < step * 1.2)) label(r);
  context.restore();
  context.fillStyle = css(palette.line);
  context.fillRect(gutter - 1, 0, 1, view.height);
}

function fit(text, room) {
  if (context.measureText(text).width <= room) return text;
  let keep = Math.max(1, Math.floor(text.length * room / context.measureText(text).width) - 1);
  return `${text.slice(0, keep)}…`;
}

const name = (column) => (view.sheet.numbered_by === "seq" ? `#${column + view.sheet.first}` : `call ${column + view.sheet.first}`);

function paintRuler() {
  context.fillStyle = css(palette.panel);
  context.fillRect(0, 0, view.width, RULER);
  context.fillStyle = css(palette.line);
  context.fillRect(0, RULER - 1, view.width, 1);
  context.font = "11px ui-monospace, \"DejaVu Sans Mono\", monospace";
  context.textBaseline = "middle";
  context.textAlign = "center";
  context.fillStyle = css(palette.quiet);
  let step = 1;
  for (const size of [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000]) { step = size; if (size * view.cell >= 46) break; }
  const { parted } = view.sheet;
  const mark = parted === null || view.aligned ? null : gutter + (indexOf(parted) - view.x + 0.5) * view.cell;
  const from = Math.ceil((view.x + view.sheet.first) / step) * step;
  for (let number = from; (number - view.sheet.first - view.x) * view.cell < plotWidth(); number += step) {
    const x = gutter + (number - view.sheet.first - view.x + 0.5) * view.cell;
    if (view.aligned || (mark !== null && Math.abs(x - mark) < 78)) continue;
    if (number - view.sheet.first < columnsShown()) context.fillText(String(number), x, RULER / 2);
  }
  if (mark !== null && mark > gutter - 40 && mark < view.width + 40) {
    context.font = "700 12px system-ui, sans-serif";
    context.fillStyle = css(palette.culprit);
    const text = `diverged ${view.sheet.numbered_by === "seq" ? "#" : ""}${parted}`;
    const half = context.measureText(text).width / 2;
    context.fillText(text, clamp(mark, gutter + half + 2, view.width - half - 4), RULER / 2);
  }
  context.textAlign = "left";
  context.font = "600 12px system-ui, sans-serif";
  context.fillStyle = css(palette.quiet);
  context.fillText(view.aligned ? "aligned" : view.sheet.numbered_by === "seq" ? "call number" : "own calls", 16, RULER / 2);
}
