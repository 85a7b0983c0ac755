// The list of jobs.

const MOST_SHOWN = 100;
let shown = data, wanted = MOST_SHOWN;
const recolour = () => {};

const heardOf = (seconds) => (seconds < 3 ? "now" : `${age(seconds)} ago`);

function row(job) {
  const cell = (name, text, className = "") => make("td", { textContent: text, className: `${className} ${text === "" ? "nothing" : ""}` });
  const named = (name, text, className) => { const one = cell(name, text, className); one.dataset.name = name; return one; };
  const title = plain(job.title) || job.job;
  const link = make("a", { href: `/jobs/${encodeURIComponent(job.job)}`, textContent: title });
  const first = make("td", {}, link);
  if (title !== job.job) first.append(make("span", { className: "id", textContent: job.job }));
  const ranks = job.world && job.world !== job.ranks ? `${count(job.ranks)} of ${count(job.world)}` : count(job.ranks);
  return make("tr", {},
    first,
    make("td", {}, standsWord(make("span", {}), job, Math.max(0, Date.now() / 1000 - job.last_at))),
    named("ranks", job.gone ? `${ranks}, ${count(job.gone)} gone` : ranks, `number ${job.gone ? "found" : ""}`),
    named("step", count(job.step), "number"),
    named("steps/s", rate(job.steps_per_s), "number"),
    named("oldest call", job.open_s === null ? "" : age(job.open_s), "number"),
    named("findings", job.findings ? count(job.findings) : "", "number found"),
    named("cases", job.cases ? count(job.cases) : "", "number"),
    named("heard of", heardOf(Date.now() / 1000 - job.last_at), "number"),
  );
}

function draw() {
  const at = document.activeElement?.getAttribute?.("href");
  fill(byId("rows"), shown.jobs.map(row));
  // Who went through the list by keys stays where they were.
  if (at) [...byId("rows").querySelectorAll("a")].find((one) => one.getAttribute("href") === at)?.focus();
  const none = byId("none"), sought = byId("find").value;
  none.hidden = shown.jobs.length > 0;
  none.textContent = sought ? "No job has this in its name." : "No job has been heard of yet. Start one with: raf run --tower ADDRESS -- torchrun train.py";
  byId("table").hidden = shown.jobs.length === 0;
  byId("more").hidden = !shown.more;
}

async function refresh() {
  const asked = byId("find").value;
  const found = await ask(`/api/v1/jobs?limit=${wanted}&q=${encodeURIComponent(asked)}`);
  if (found && asked === byId("find").value) { shown = found; draw(); }
}

function step(by) {
  const links = [...byId("rows").querySelectorAll("a")];
  links[clamp(links.indexOf(document.activeElement) + by, 0, links.length - 1)]?.focus();
}

const pageKeys = { "/": () => byId("find").focus(), ArrowDown: () => step(1), ArrowUp: () => step(-1) };

function begin() {
  byId("find").value = new URLSearchParams(location.search).get("q") ?? "";
  byId("find").addEventListener("input", refresh);
  byId("more").addEventListener("click", () => { wanted = Math.min(500, wanted + MOST_SHOWN); refresh(); });
  draw();
  follow("/events", ["digests", "finding", "case"], refresh, 2000);
}
