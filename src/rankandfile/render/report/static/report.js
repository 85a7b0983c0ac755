"use strict";
// Draws the score and makes the page answer to mouse and keyboard. Text is only ever set by textContent.
(() => {
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("data").textContent);
  const said = byId("said");
  const say = (text) => { said.textContent = text; };
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const clamp = (value, low, high) => Math.max(low, Math.min(high, value));

  function make(tag, properties, ...children) {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  }

  // ---- ranks as text: "0-3,7"

  function spans(text) {
    return text.split(",").filter(Boolean).map((part) => {
      const [low, high] = part.split("-").map(Number);
      return [low, high ?? low];
    });
  }

  function* eachRank(text) {
    for (const [low, high] of spans(text)) for (let rank = low; rank <= high; rank++) yield rank;
  }

  const holds = (text, rank) => spans(text).some(([low, high]) => low <= rank && rank <= high);

  // ---- light and dark

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

  // ---- copying

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

  // ---- the score: the data

  const STATES = ["issued", "started", "completed", "ended"];
  const FAMILY = {
    all_reduce: "all_reduce", all_gather: "all_gather", reduce_scatter: "reduce_scatter", broadcast: "broadcast",
    all_to_all: "all_to_all", send: "p2p", recv: "p2p", coalesced: "p2p", barrier: "barrier",
  };
  const CODES = {
    all_reduce: "AR", all_gather: "AG", reduce_scatter: "RS", broadcast: "BC", all_to_all: "A2", barrier: "BA",
    send: "S", recv: "R", coalesced: "CO", gather: "GA", scatter: "SC", reduce: "RE",
  };
  const { kinds, frames, stands } = data;

  const frameName = (frame) => {
    const file = frames.file[frame].replaceAll("\\", "/");
    const line = frames.line[frame];
    return file.slice(file.lastIndexOf("/") + 1) + (line ? `:${line}` : "");
  };
  const place = (kind) => (kinds.site[kind] === null ? "" : frameName(kinds.site[kind]));

  // Calls of one operation from different places are told apart by lightness: that is how a shift shows.
  const family = kinds.op.map((op) => FAMILY[op.replace(/^coalesced /, "")] ?? "other");
  const code = kinds.op.map((op) => CODES[op] ?? (CODES[op.replace(/^coalesced /, "")] ?? op.slice(0, 2).toUpperCase()));
  const shade = [];
  {
    const seen = {};
    kinds.op.forEach((_, kind) => {
      const places = (seen[family[kind]] ??= new Map());
      const key = `${kinds.site[kind]} ${kinds.group[kind]}`;
      if (!places.has(key)) places.set(key, places.size);
      shade.push(places.get(key) % 5);
    });
  }

  // Two bytes a call, in base64. Rows that nobody looks at are never unpacked.
  class Track {
    #unpacked = null;

    constructor(track, columns) {
      Object.assign(this, track);
      this.packed = track.cells;
      this.columns = columns;
      this.length = Math.floor((track.cells.length * 3) / 4 - (track.cells.match(/=*$/)[0].length)) >> 1;
      delete this.cells;
      Object.defineProperty(this, "cells", { get: () => (this.#unpacked ??= this.#unpack()) });
    }

    #unpack() {
      const cells = new Uint16Array(this.columns);
      if (Uint8Array.fromBase64) {
        new Uint8Array(cells.buffer).set(Uint8Array.fromBase64(this.packed));
        return cells;
      }
      const bytes = atob(this.packed);
      for (let i = 0; i + 1 < bytes.length; i += 2) cells[i >> 1] = bytes.charCodeAt(i) | (bytes.charCodeAt(i + 1) << 8);
      return cells;
    }

    cellAt(column) {
      if (this.#unpacked) return this.#unpacked[column];
      if (column >= this.length) return 0;
      const start = Math.floor((2 * column) / 3), part = atob(this.packed.slice(start * 4, start * 4 + 8));
      const at = 2 * column - start * 3;
      return part.charCodeAt(at) | (part.charCodeAt(at + 1) << 8);
    }
  }

  const decoded = new Map();
  function sheetAt(number) {
    if (!decoded.has(number)) {
      const sheet = data.sheets[number];
      const tracks = sheet.tracks.map((track) => new Track(track, sheet.columns));
      const normal = tracks.filter((track) => track.path === 0 && track.role !== "culprit")
        .reduce((best, track) => (best && best.count >= track.count ? best : track), null);
      const shifted = tracks.some((track) => track.seams.length);
      const most = Math.max(0, ...tracks.map((track) => Math.max(0, ...track.seams.map(([, by]) => by))));
      decoded.set(number, { ...sheet, tracks, normal, shifted, most, comparable: sheet.numbered_by === "seq" });
    }
    return decoded.get(number);
  }

  // ---- the score: colours

  const palette = {};
  const RGB = /[\d.]+/g;
  const FALLBACK = [128, 128, 128];

  function resolved(name) {
    const probe = make("i");
    probe.style.color = `var(--${name})`;
    document.body.append(probe);
    const found = getComputedStyle(probe).color.match(RGB)?.slice(0, 3).map(Number);
    probe.remove();
    return found ?? FALLBACK;
  }

  const mix = (a, b, part) => a.map((value, i) => Math.round(value + (b[i] - value) * part));
  const css = (colour) => `rgb(${colour[0]},${colour[1]},${colour[2]})`;
  const packed = (colour) => (255 << 24) | (colour[2] << 16) | (colour[1] << 8) | colour[0];

  function readColours() {
    for (const name of ["text", "quiet", "inset", "panel", "line", "strong", "culprit", "culprit-line", "victim", "focus", "link"]) palette[name] = resolved(name);
    const back = palette.inset, ink = palette.text;
    const shades = [(c) => c, (c) => mix(c, back, 0.5), (c) => mix(c, ink, 0.42), (c) => mix(c, back, 0.27), (c) => mix(c, ink, 0.22)];
    const base = {};
    palette.kind = kinds.op.map((_, kind) => shades[shade[kind]](base[family[kind]] ??= resolved(`op-${family[kind]}`)));
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

  // ---- the score: what is shown

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
    view.height = Math.round(clamp(RULER + view.rows.length * tall, RULER + 2 * tall, Math.min(MOST_HEIGHT, innerHeight * 0.7)));
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
    say(at === null ? "The end of the score" : `${name(indexOf(at))}, ${view.sheet.parted === null ? "where they wait" : "where they parted"}`);
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
    if (view.sheet.shifted) notes.push("From the parting on calls meet others than they should; Align puts those that belong together below each other.");
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

  // ---- the score: drawing

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

  // Far out, a pixel is a call or many: what stands out wins over what does not.
  function paintPixels(first, last) {
    const wide = Math.ceil(plotWidth()), high = Math.ceil(plotHeight());
    const image = context.createImageData(wide, high);
    const pixels = new Uint32Array(image.data.buffer);
    const lines = new Map();
    const step = view.row;
    for (let y = 0; y < high; y++) {
      const from = Math.floor((view.y + y) / step);
      if (from > last) break;
      const to = Math.max(from, Math.min(last, Math.ceil((view.y + y + 1) / step) - 1));
      if (step >= 4 && (view.y + y + 1) % step < 1) continue;
      let { track } = view.rows[from];
      for (let r = from + 1; r <= to && track.role !== "culprit"; r++) if (view.rows[r].track.role === "culprit") track = view.rows[r].track;
      let line = lines.get(track);
      if (!line) lines.set(track, (line = pixelLine(track, wide)));
      pixels.set(line, y * wide);
    }
    const off = (paintPixels.canvas ??= document.createElement("canvas"));
    off.width = wide;
    off.height = high;
    off.getContext("2d").putImageData(image, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(off, gutter, RULER);
    if (step < 5) paintThinCulprits(first, last, wide, off);
  }

  // One row of a thousand would be lost: a culprit's is drawn thick enough to be seen.
  function paintThinCulprits(first, last, wide, off) {
    let drawn = 0;
    for (let r = first; r <= last && drawn < 64; r++) {
      const { track } = view.rows[r];
      if (track.role !== "culprit") continue;
      drawn++;
      const image = context.createImageData(wide, 1);
      new Uint32Array(image.data.buffer).set(pixelLine(track, wide));
      off.getContext("2d").putImageData(image, 0, 0);
      const top = Math.max(RULER + 1, RULER + (r + 0.5) * view.row - view.y - 3);
      context.fillStyle = css(palette["culprit-line"]);
      context.fillRect(gutter, top - 1, wide, 8);
      context.clearRect(gutter, top, wide, 6);
      context.drawImage(off, 0, 0, wide, 1, gutter, top, wide, 6);
    }
  }

  function pixelLine(track, wide) {
    const line = new Uint32Array(wide);
    let seam = 0, by = 0;
    for (let x = 0; x < wide; x++) {
      const begin = view.x + x / view.cell, end = begin + 1 / view.cell;
      let colour = 0;
      for (let c = Math.floor(begin - by); c < Math.max(Math.floor(begin - by) + 1, end - by); c++) {
        while (seam < track.seams.length && view.aligned && track.seams[seam][0] <= c) by = track.seams[seam++][1] * view.aligned;
        const value = c < 0 ? 0 : track.cells[c];
        if (!value) continue;
        if (isOdd(track, c)) { colour = palette.odd; break; }
        if (!colour || stateOf(value) < 2) colour = palette.pixel[value];
      }
      line[x] = colour;
    }
    return line;
  }

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
      const text = `parted ${view.sheet.numbered_by === "seq" ? "#" : ""}${parted}`;
      const half = context.measureText(text).width / 2;
      context.fillText(text, clamp(mark, gutter + half + 2, view.width - half - 4), RULER / 2);
    }
    context.textAlign = "left";
    context.font = "600 12px system-ui, sans-serif";
    context.fillStyle = css(palette.quiet);
    context.fillText(view.aligned ? "aligned" : view.sheet.numbered_by === "seq" ? "call number" : "own calls", 16, RULER / 2);
  }

  // ---- the score: pointing and choosing

  function at(event) {
    const box = canvas.getBoundingClientRect();
    const x = event.clientX - box.left, y = event.clientY - box.top;
    if (x < gutter || y < RULER) return null;
    const row = Math.floor((view.y + y - RULER) / view.row);
    if (row < 0 || row >= view.rows.length) return null;
    const { track } = view.rows[row];
    const shown = view.x + (x - gutter) / view.cell;
    let column = Math.floor(shown);
    if (view.aligned) for (const [from, by] of [...track.seams].reverse()) if (shown - by >= from) { column = Math.floor(shown - by); break; }
    return column >= 0 && column < view.sheet.columns ? { row, column } : null;
  }

  function describe(spot) {
    const row = view.rows[spot.row];
    const value = row.track.cells[spot.column];
    const who = `${rowName(row)}${row.track.role ? ` (${row.track.role})` : ""}, ${name(spot.column)}`;
    if (!value) return `${who}: no call`;
    const kind = kindOf(value);
    const lines = [who, `${kinds.op[kind]} ${place(kind)}, ${STATES[stateOf(value)]}`, `${kinds.group[kind]}  ${kinds.detail[kind]}`];
    if (isOdd(row.track, spot.column)) {
      const other = kindOf(view.sheet.normal.cells[spot.column]);
      lines.push(`most ranks: ${kinds.op[other]} ${place(other)}`);
    }
    return lines.filter((line) => line.trim()).join("\n");
  }

  function showTip(event, spot) {
    const tip = byId("tip");
    tip.textContent = describe(spot);
    tip.hidden = false;
    const { width, height } = tip.getBoundingClientRect();
    tip.style.left = `${clamp(event.clientX + 14, 4, innerWidth - width - 8)}px`;
    tip.style.top = `${event.clientY + 18 + height > innerHeight ? event.clientY - height - 12 : event.clientY + 18}px`;
  }

  function hideTip() { byId("tip").hidden = true; }

  function stackList(rows) {
    return make("ol", {}, ...rows.map(([fn, file, line, library]) =>
      make("li", { className: library ? "library" : "" }, make("b", { textContent: fn }), ` ${file}${line ? `:${line}` : ""}`)));
  }

  function openCall(spot) {
    chosen = spot;
    const panel = byId("call");
    const row = view.rows[spot.row];
    const value = row.track.cells[spot.column];
    const close = make("button", { type: "button", className: "close", textContent: "×" });
    close.setAttribute("aria-label", "Close");
    close.addEventListener("click", closeCall);
    const parts = [];
    const title = value ? `${kinds.op[kindOf(value)]} ${name(spot.column)}, ${STATES[stateOf(value)]}` : `No call ${name(spot.column)}`;
    if (value) {
      const kind = kindOf(value);
      const stack = kinds.stack[kind];
      parts.push(make("div", {}, make("h4", { textContent: "The call" }),
        make("p", { textContent: [rowName(row), kinds.group[kind], kinds.detail[kind], place(kind)].filter(Boolean).join(" · ") }),
        stack.length ? stackList(stack.map((f) => [frames.function[f], frames.file[f], frames.line[f], frames.library[f]]))
          : make("p", { textContent: "No stack was recorded with it." })));
    }
    const rank = row.rank ?? spans(row.track.ranks)[0][0];
    const stand = data.taken_from === "stacks" ? stands.find((one) => holds(one.ranks, rank)) : null;
    parts.push(make("div", {}, make("h4", { textContent: `Where rank ${rank} stands now` }),
      stand ? make("p", { textContent: stand.says }) : make("p", { textContent: "Nobody looked at its stack." }),
      ...(stand ? [stackList(stand.stack)] : [])));
    const counts = new Map();
    for (const track of view.sheet.tracks) {
      const cell = track.cellAt(spot.column);
      const words = cell ? `${kinds.op[kindOf(cell)]} ${place(kindOf(cell))}, ${STATES[stateOf(cell)]}` : "no call";
      const one = counts.get(words) ?? [0, []];
      counts.set(words, [one[0] + track.count, [...one[1], track.ranks]]);
    }
    parts.push(make("div", {}, make("h4", { textContent: `All ranks at ${name(spot.column)}` }),
      make("ul", {}, ...[...counts].sort((a, b) => b[1][0] - a[1][0]).slice(0, 8).map(([words, [count, ranks]]) =>
        make("li", { textContent: `${count.toLocaleString("en")} × ${words} — ${ranks.join(",").slice(0, 60)}` })))));
    panel.replaceChildren(make("h3", { textContent: title }), close, ...parts);
    panel.hidden = false;
    draw();
  }

  function closeCall() {
    byId("call").hidden = true;
    canvas.focus({ preventScroll: true });
  }

  function moveTo(row, column) {
    chosen = { row: clamp(row, 0, view.rows.length - 1), column: clamp(column, 0, view.sheet.columns - 1) };
    const { track } = view.rows[chosen.row];
    const shown = chosen.column + shiftOf(track, chosen.column) * view.aligned;
    if (shown < view.x + 1) view.x = shown - 2;
    if (shown > view.x + plotWidth() / view.cell - 2) view.x = shown - plotWidth() / view.cell + 3;
    if (chosen.row * view.row < view.y) view.y = chosen.row * view.row;
    if ((chosen.row + 1) * view.row > view.y + plotHeight()) view.y = (chosen.row + 1) * view.row - plotHeight();
    keepInside();
    say(describe(chosen));
    draw();
    if (!byId("call").hidden) openCall(chosen);
  }

  function start() {
    const focus = view.sheet.parted ?? view.sheet.focus;
    return { row: rowOfInterest(), column: focus === null ? view.sheet.columns - 1 : clamp(indexOf(focus), 0, view.sheet.columns - 1) };
  }

  function showRanks(text) {
    lit = spans(text);
    byId("score").scrollIntoView({ block: "start" });
    const row = view.rows.findIndex(isLit);
    if (row >= 0) { showRow(row); keepInside(); }
    draw();
    say(row < 0 ? `ranks ${text} are not in this score` : `ranks ${text} are marked in the score`);
  }

  function find(text, onwards) {
    const input = byId("find");
    found = null;
    input.classList.remove("missed");
    const query = text.trim().toLowerCase();
    if (!query) { draw(); return; }
    const number = query.match(/^(?:#|call\s+)(\d+)$/), rank = query.match(/^(?:r(?:ank)?s?\s*)?(\d+)$/);
    let hit = false;
    if (number) {
      const column = indexOf(Number(number[1]));
      hit = column >= 0 && column < view.sheet.columns;
      if (hit && onwards) { showColumn(column, 0.5); moveTo(chosen?.row ?? rowOfInterest(), column); }
    } else if (rank) {
      const row = view.rows.findIndex((one) => (one.rank === null ? holds(one.track.ranks, Number(rank[1])) : one.rank === Number(rank[1])));
      hit = row >= 0;
      if (hit && onwards) { lit = [[Number(rank[1]), Number(rank[1])]]; showRow(row); moveTo(row, chosen?.column ?? start().column); }
    } else {
      found = new Set();
      kinds.op.forEach((op, kind) => {
        const site = kinds.site[kind];
        const words = `${op} ${kinds.group[kind]} ${kinds.detail[kind]} ${site === null ? "" : `${frames.function[site]} ${frames.file[site]}:${frames.line[site]}`}`;
        if (words.toLowerCase().includes(query)) found.add(kind);
      });
      hit = found.size > 0;
      if (!hit) found = null;
      if (hit && onwards) {
        nextMatch();
      }
    }
    input.classList.toggle("missed", !hit);
    if (!hit) say(`${text} is not in this score`);
    draw();
  }

  // The next call that was found, in this row or else in one below.
  function nextMatch() {
    const { row, column } = chosen ?? { row: rowOfInterest(), column: -1 };
    for (let r = 0; r <= view.rows.length; r++) {
      const at = (row + r) % view.rows.length;
      const { cells } = view.rows[at].track;
      for (let c = r ? 0 : column + 1; c < cells.length; c++) {
        if (cells[c] && found.has(kindOf(cells[c]))) { showColumn(c, 0.5); moveTo(at, c); return; }
      }
    }
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
      const colour = css(resolved(`op-${fam}`));
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

  function listen() {
    let drag = null;
    canvas.addEventListener("pointerdown", (event) => {
      drag = { x: event.clientX, y: event.clientY, vx: view.x, vy: view.y, moved: false };
    });
    canvas.addEventListener("pointermove", (event) => {
      if (drag && event.buttons) {
        const dx = event.clientX - drag.x, dy = event.clientY - drag.y;
        if (!drag.moved && Math.hypot(dx, dy) > 4) { drag.moved = true; canvas.setPointerCapture(event.pointerId); canvas.classList.add("dragging"); hideTip(); }
        if (drag.moved) { view.x = drag.vx - dx / view.cell; view.y = drag.vy - dy; keepInside(); draw(); }
        return;
      }
      const spot = at(event);
      if (spot?.row !== hovered?.row || spot?.column !== hovered?.column) { hovered = spot; draw(); }
      if (spot) showTip(event, spot); else hideTip();
    });
    canvas.addEventListener("pointerup", (event) => {
      const moved = drag?.moved;
      drag = null;
      canvas.classList.remove("dragging");
      const spot = moved ? null : at(event);
      if (spot) openCall(spot);
    });
    canvas.addEventListener("pointercancel", () => { drag = null; canvas.classList.remove("dragging"); });
    canvas.addEventListener("pointerleave", () => { hovered = null; hideTip(); draw(); });
    let hinted = false;
    canvas.addEventListener("wheel", (event) => {
      if (event.ctrlKey || event.metaKey) {
        event.preventDefault();
        const box = canvas.getBoundingClientRect();
        zoom(Math.exp(-clamp(event.deltaY, -120, 120) / 320), event.clientX - box.left, event.clientY - box.top);
      } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        event.preventDefault();
        view.x += (event.deltaX || event.deltaY) / view.cell;
        keepInside();
        draw();
      } else if (!hinted) {
        hinted = true;
        byId("hint").hidden = false;
        setTimeout(() => { byId("hint").hidden = true; }, 1800);
      }
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => {
      const step = event.shiftKey ? 10 : 1;
      const here = chosen ?? start();
      const moves = {
        ArrowLeft: () => moveTo(here.row, here.column - (chosen ? step : 0)), ArrowRight: () => moveTo(here.row, here.column + (chosen ? step : 0)),
        ArrowUp: () => moveTo(here.row - (chosen ? step : 0), here.column), ArrowDown: () => moveTo(here.row + (chosen ? step : 0), here.column),
        Home: () => moveTo(here.row, 0), End: () => moveTo(here.row, view.rows[here.row].track.length - 1),
        Enter: () => openCall(here),
      };
      if (moves[event.key] && !event.ctrlKey && !event.metaKey && !event.altKey) { event.preventDefault(); moves[event.key](); }
    });
    byId("sheet").addEventListener("change", (event) => { useSheet(Number(event.target.value)); });
    byId("by-rank").addEventListener("click", () => useRows(true));
    byId("by-cohort").addEventListener("click", () => useRows(false));
    byId("align").addEventListener("click", align);
    byId("parting").addEventListener("click", goToParting);
    byId("zoom-in").addEventListener("click", () => zoom(1.6));
    byId("zoom-out").addEventListener("click", () => zoom(1 / 1.6));
    byId("zoom-all").addEventListener("click", showAll);
    const input = byId("find");
    input.addEventListener("input", () => find(input.value, false));
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") { event.preventDefault(); find(input.value, true); }
      if (event.key === "Escape") { input.value = ""; find("", false); canvas.focus(); }
    });
    let width = canvas.clientWidth;
    new ResizeObserver(() => {
      if (canvas.clientWidth !== width) { width = canvas.clientWidth; measure(); keepInside(); paint(); }
    }).observe(canvas);
  }

  // ---- the page

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
})();
