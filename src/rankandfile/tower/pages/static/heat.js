// The ranks as a field of cells, one for each, in the order of their numbers.

const canvas = byId("heat"), brush = canvas.getContext("2d");
// Beyond each of these a cell has the next colour.
const SCALES = {
  behind: { steps: [1, 2, 10, 100], say: (value) => (value ? `${counted(value, "collective")} behind` : "with the first") },
  late_s: { steps: [0.02, 1, 10, 60], say: (value) => (value >= 0.02 ? `others have waited ${age(value)} for it, at least` : "nobody waits for it") },
  open_s: { steps: [1, 10, 60, 600], say: (value) => (value === null ? "no open call" : `a call open for ${age(value)}`) },
  quiet_s: { steps: [5, 30, 120, 600], say: (value) => (value === null ? "never seen to move" : `moved ${age(value)} ago`) },
};
const heat = { by: "late_s", columns: 1, size: 8, ratio: 1, at: -1, colours: {} };
let field = null;

function recolour() {
  const probe = make("span", {});
  document.body.append(probe);
  const resolved = (name) => { probe.style.color = `var(${name})`; return getComputedStyle(probe).color; };
  for (const name of ["--heat-0", "--heat-1", "--heat-2", "--heat-3", "--heat-4", "--heat-gone", "--heat-ended", "--text", "--page", "--course", "--culprit-line", "--culprit", "--quiet", "--line", "--focus", "--inset"]) heat.colours[name] = resolved(name);
  probe.remove();
  if (field) { paintHeat(); paintCourse(); }
}

const binOf = (index) => {
  const value = field[heat.by][index];
  return value === null ? 0 : SCALES[heat.by].steps.filter((one) => value >= one).length;
};

function layOut() {
  const width = canvas.clientWidth, n = Math.max(1, field.rank.length);
  const most = Math.max(160, Math.min(460, innerHeight * 0.5));
  let size = n > 64 ? 30 : Math.max(8, Math.min(44, Math.floor(width / 8)));
  while (size > 3 && Math.ceil(n / columnsFor(width, size, n)) * size > most) size -= 1;
  heat.size = size;
  heat.columns = columnsFor(width, size, n);
  const height = Math.ceil(n / heat.columns) * size + 1;
  heat.ratio = devicePixelRatio || 1;
  canvas.style.height = `${height}px`;
  canvas.width = Math.round(width * heat.ratio);
  canvas.height = Math.round(height * heat.ratio);
}

// Whole nodes of eight in a row, where there are several.
function columnsFor(width, size, n) {
  const fit = Math.max(1, Math.floor(width / size));
  return n > 8 && fit >= 8 ? fit - (fit % 8) : fit;
}

function paintHeat() {
  layOut();
  brush.setTransform(heat.ratio, 0, 0, heat.ratio, 0, 0);
  brush.clearRect(0, 0, canvas.width, canvas.height);
  const { size, columns, colours } = heat, gap = size > 5 ? 1 : 0;
  field.rank.forEach((rank, index) => {
    const x = (index % columns) * size, y = Math.floor(index / columns) * size;
    const state = field.state[index], bin = binOf(index);
    brush.fillStyle = state === "ended" ? colours["--heat-ended"] : colours[`--heat-${bin}`];
    brush.fillRect(x, y, size - gap, size - gap);
    // Not by colour alone: who is gone has a cross, who is far behind a dot.
    if (state === "gone") {
      brush.strokeStyle = colours["--heat-gone"];
      brush.lineWidth = Math.max(1, size / 9);
      brush.beginPath();
      brush.moveTo(x + size * 0.2, y + size * 0.2); brush.lineTo(x + size * 0.75, y + size * 0.75);
      brush.moveTo(x + size * 0.75, y + size * 0.2); brush.lineTo(x + size * 0.2, y + size * 0.75);
      brush.stroke();
    } else if (state === "stopped") {
      brush.fillStyle = colours["--heat-gone"];
      brush.fillRect(x + size * 0.28, y + size * 0.22, size * 0.14, size * 0.5);
      brush.fillRect(x + size * 0.54, y + size * 0.22, size * 0.14, size * 0.5);
    } else if (bin >= 3 && size > 5) {
      brush.fillStyle = colours["--page"];
      brush.beginPath();
      brush.arc(x + (size - gap) / 2, y + (size - gap) * 0.62, Math.max(1.2, size / 7), 0, 7);
      brush.fill();
    }
  });
  if (size >= 26) {
    brush.font = `${Math.round(size / 3)}px system-ui, sans-serif`;
    brush.textAlign = "left";
    field.rank.forEach((rank, index) => {
      if (rank < 0) return;
      brush.fillStyle = binOf(index) >= 3 ? colours["--page"] : colours["--quiet"];
      brush.fillText(String(rank), (index % columns) * size + 3, Math.floor(index / columns) * size + size / 3 + 2);
    });
  }
  if (heat.at >= 0 && heat.at < field.rank.length) {
    brush.strokeStyle = colours["--text"];
    brush.lineWidth = 2;
    brush.strokeRect((heat.at % columns) * size + 0.5, Math.floor(heat.at / columns) * size + 0.5, size - gap, size - gap);
  }
}

function paintLegend() {
  const { steps } = SCALES[heat.by], of = heat.by === "behind" ? count : age;
  const words = [`below ${of(steps[0])}`, ...steps.map((one, at) => (at === 3 ? `${of(one)} or more` : heat.by === "behind" && steps[at + 1] === one + 1 ? of(one) : `${of(one)} to ${of(steps[at + 1])}`))];
  if (heat.by === "behind") words[0] = "none";
  fill(byId("legend"), words.map((word, at) => {
    const key = make("span", { className: "box-key" });
    key.style.background = `var(--heat-${at})`;
    return make("li", {}, key, ` ${word}`);
  }), make("li", { textContent: "× gone" }), make("li", { textContent: "‖ stopped" }));
}

const rankName = (index) => (field.rank[index] < 0 ? "a rank without a number" : `rank ${field.rank[index]}`);
function rankSaid(index) {
  const host = plain(field.hosts[field.host[index]]), step = field.step[index];
  const said = [`${rankName(index)}${host ? ` on ${host}` : ""}: ${field.state[index]}`, SCALES.behind.say(field.behind[index])];
  if (field.late_s[index] >= 0.02) said.push(SCALES.late_s.say(field.late_s[index]));
  if (field.open_s[index] !== null) said.push(SCALES.open_s.say(field.open_s[index]));
  if (step !== null) said.push(`step ${count(step)}`);
  return said.join(", ");
}

function cellAt(event) {
  const box = canvas.getBoundingClientRect();
  const column = Math.floor((event.clientX - box.left) / heat.size), line = Math.floor((event.clientY - box.top) / heat.size);
  const index = line * heat.columns + column;
  return column >= 0 && column < heat.columns && index >= 0 && index < field.rank.length ? index : -1;
}

function hover(event) {
  const index = cellAt(event), tip = byId("tip");
  tip.hidden = index < 0;
  if (index < 0) return;
  tip.textContent = rankSaid(index);
  tip.style.left = `${Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8)}px`;
  tip.style.top = `${Math.min(event.clientY + 16, innerHeight - tip.offsetHeight - 8)}px`;
}

function goToCell(index) {
  heat.at = clamp(index, 0, field.rank.length - 1);
  paintHeat();
  say(rankSaid(heat.at));
}

function heatKeys(event) {
  const by = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: heat.columns, ArrowUp: -heat.columns }[event.key];
  if (by !== undefined) { event.preventDefault(); goToCell(heat.at < 0 ? 0 : heat.at + by); }
  else if (event.key === "Home") { event.preventDefault(); goToCell(0); }
  else if (event.key === "End") { event.preventDefault(); goToCell(field.rank.length - 1); }
  else if (event.key === "Enter" && heat.at >= 0) { event.preventDefault(); openRank(field.rank[heat.at]); }
}

function worst() {
  let best = -1;
  field.rank.forEach((_, index) => {
    if (field.behind[index] > 0 && (best < 0 || field.late_s[index] > field.late_s[best] || (field.late_s[index] === field.late_s[best] && field.behind[index] > field.behind[best]))) best = index;
  });
  return best;
}

function goToWorst() {
  const index = worst();
  if (index < 0) { say("no rank is behind"); return; }
  byId("ranks").scrollIntoView({ block: "start" });
  canvas.focus({ preventScroll: true });
  goToCell(index);
  openRank(field.rank[index]);
}

function setUpHeat() {
  canvas.addEventListener("mousemove", hover);
  canvas.addEventListener("mouseleave", () => { byId("tip").hidden = true; });
  canvas.addEventListener("click", (event) => { const index = cellAt(event); if (index >= 0) { goToCell(index); openRank(field.rank[index]); } });
  canvas.addEventListener("keydown", heatKeys);
  byId("colour").addEventListener("change", (event) => { heat.by = event.target.value; paintLegend(); paintHeat(); });
  addEventListener("resize", () => { paintHeat(); paintCourse(); });
  paintLegend();
}
