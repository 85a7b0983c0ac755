// The data of the score: kinds of calls, and the rows that number them.

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

// Two bytes a call, in base64, a line for each row, in blocks of rows. Most blocks stand behind this script, so that the
// page answers before they are there; and rows that nobody looks at are never unpacked.
const blocks = new Map();
const NOTHING = new Uint16Array(0);
let awaited = false;

function linesOf(sheet, block) {
  const id = `cells-${sheet}-${block}`;
  if (!blocks.has(id)) {
    const element = byId(id);
    // What is still being read has nothing behind it.
    if (!element || (document.readyState === "loading" && !element.nextSibling)) { awaited = true; return null; }
    blocks.set(id, element.textContent.split("\n"));
  }
  return blocks.get(id);
}

class Track {
  #cells = null;

  constructor(track, sheet, row, columns) {
    Object.assign(this, track, { sheet, row, columns });
  }

  get #packed() {
    return linesOf(this.sheet, Math.floor(this.row / data.block))?.[this.row % data.block];
  }

  get here() { return this.#cells !== null || this.#packed !== undefined; }

  get cells() {
    if (this.#cells) return this.#cells;
    const packed = this.#packed;
    return packed === undefined ? NOTHING : (this.#cells = unpacked(packed, this.columns));
  }

  cellAt(column) {
    if (this.#cells) return this.#cells[column];
    const packed = this.#packed;
    if (packed === undefined || column >= this.length) return 0;
    const start = Math.floor((2 * column) / 3), part = atob(packed.slice(start * 4, start * 4 + 8));
    const at = 2 * column - start * 3;
    return part.charCodeAt(at) | (part.charCodeAt(at + 1) << 8);
  }
}

function unpacked(packed, columns) {
  const cells = new Uint16Array(columns);
  if (Uint8Array.fromBase64) {
    new Uint8Array(cells.buffer).set(Uint8Array.fromBase64(packed));
    return cells;
  }
  const bytes = atob(packed);
  for (let i = 0; i + 1 < bytes.length; i += 2) cells[i >> 1] = bytes.charCodeAt(i) | (bytes.charCodeAt(i + 1) << 8);
  return cells;
}

const decoded = new Map();
function sheetAt(number) {
  if (!decoded.has(number)) {
    const sheet = data.sheets[number];
    const tracks = sheet.tracks.map((track, row) => new Track(track, number, row, sheet.columns));
    const normal = tracks.filter((track) => track.path === 0 && track.role !== "culprit")
      .reduce((best, track) => (best && best.count >= track.count ? best : track), null);
    const shifted = tracks.some((track) => track.seams.length);
    const most = Math.max(0, ...tracks.map((track) => Math.max(0, ...track.seams.map(([, by]) => by))));
    decoded.set(number, { ...sheet, tracks, normal, shifted, most, comparable: sheet.numbered_by === "seq" });
  }
  return decoded.get(number);
}
