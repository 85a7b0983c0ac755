// Pointing at a call, and choosing it.

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
  if (!value) return `${who}: ${row.track.here ? "no call" : "not loaded yet"}`;
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
  say(`${/^\d+$/.test(text) ? `rank ${text} is` : `ranks ${text} are`} ${row < 0 ? "not in this picture" : "marked in the picture"}`);
}
