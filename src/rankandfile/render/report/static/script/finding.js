// Finding a rank, a call by its number, or a place in the code.

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
