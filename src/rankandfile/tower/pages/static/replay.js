// The course of the job, and a slider that shows any moment of it.

const course = byId("course"), pen = course.getContext("2d");
const moment = { at: null, playing: null };
let past = null;

function spanOf() {
  const first = past?.first_at ?? now.first_at, last = Math.max(past?.last_at ?? 0, now.last_at);
  return [first, Math.max(last, first + 1)];
}

function paintCourse() {
  const width = course.clientWidth, height = 120, ratio = devicePixelRatio || 1;
  course.width = Math.round(width * ratio);
  course.height = Math.round(height * ratio);
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  if (!past) return;
  const [first, last] = spanOf(), x = (at) => 6 + ((at - first) / (last - first)) * (width - 12);
  const draw = (name, colour) => {
    const told = past.moments.filter((one) => one[name] !== null);
    if (!told.length) return;
    const low = name === "step" ? Math.min(...told.map((one) => one.step)) : 0, high = Math.max(...told.map((one) => one[name]), low + 1);
    pen.strokeStyle = colour;
    pen.lineWidth = 1.8;
    pen.beginPath();
    let before = null;
    for (const one of told) {
      const y = height - 10 - ((one[name] - low) / (high - low)) * (height - 24);
      // Where nobody told anything, there is no line.
      if (before === null || one.at - before > Math.max(60, (last - first) / 40)) pen.moveTo(x(one.at), y); else pen.lineTo(x(one.at), y);
      before = one.at;
    }
    pen.stroke();
    pen.fillStyle = heat.colours["--quiet"];
    pen.font = "11px system-ui, sans-serif";
    pen.textAlign = name === "step" ? "left" : "right";
    pen.fillText(name === "step" ? `step ${count(high)}` : age(high), name === "step" ? 6 : width - 6, 11);
  };
  draw("step", heat.colours["--course"]);
  draw("open_s", heat.colours["--culprit-line"]);
  for (const { finding } of findings.findings) {
    pen.fillStyle = heat.colours["--culprit"];
    pen.fillRect(x(clamp(finding.time, first, last)) - 1, 14, 2, height - 14);
  }
  pen.fillStyle = heat.colours["--text"];
  pen.fillRect(x(moment.at ?? last) - 0.75, 0, 1.5, height);
}

function sayMoment() {
  const [first, last] = spanOf(), slider = byId("moment");
  slider.value = moment.at === null ? 1000 : Math.round(((moment.at - first) / (last - first)) * 1000);
  const text = moment.at === null ? "now" : day(moment.at);
  byId("moment-said").textContent = text;
  slider.setAttribute("aria-valuetext", text);
  byId("live").setAttribute("aria-pressed", String(moment.at === null));
  byId("when").hidden = moment.at === null;
  byId("when").textContent = moment.at === null ? "" : `as it was at ${clock(moment.at)}`;
}

let asking = false, askAgain = false;
async function goTo(at) {
  const [first, last] = spanOf();
  moment.at = at === null || at >= last ? null : Math.max(first, at);
  sayMoment();
  paintCourse();
  // While one moment is asked for, only the latest wish is remembered.
  if (asking) { askAgain = true; return; }
  asking = true;
  do { askAgain = false; await look(); } while (askAgain);
  asking = false;
}

function stepBy(share) {
  const [first, last] = spanOf();
  goTo((moment.at ?? last) + Math.max(1, (last - first) * share) * Math.sign(share));
}

function play() {
  const stop = moment.playing !== null;
  clearInterval(moment.playing);
  moment.playing = null;
  byId("play").setAttribute("aria-pressed", String(!stop));
  byId("play").textContent = stop ? "Play" : "Stop";
  if (stop) return;
  const [first, last] = spanOf();
  if (moment.at === null) goTo(first);
  moment.playing = setInterval(() => {
    if (asking) return;
    if (moment.at === null) { play(); return; }
    goTo(moment.at + Math.max(1, (last - first) / 120));
  }, 350);
}

async function refreshHistory() {
  const found = await ask(`${api}/history?points=300`);
  if (found) { past = found; sayMoment(); paintCourse(); }
}

function setUpReplay() {
  byId("moment").addEventListener("input", (event) => {
    const [first, last] = spanOf(), share = Number(event.target.value) / 1000;
    goTo(share >= 1 ? null : first + (last - first) * share);
  });
  course.addEventListener("click", (event) => {
    const box = course.getBoundingClientRect(), [first, last] = spanOf();
    goTo(first + clamp((event.clientX - box.left - 6) / (box.width - 12), 0, 1) * (last - first));
  });
  byId("play").addEventListener("click", play);
  byId("live").addEventListener("click", () => goTo(null));
  sayMoment();
}
