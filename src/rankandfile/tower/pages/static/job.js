// A job: what the page begins with is drawn at once, and then what has moved.

let { now, findings, cases } = data;
const api = `/api/v1/jobs/${encodeURIComponent(now.job)}`;
let lastArrivals = 0;

function draw() {
  field = now.ranks;
  drawHead(now);
  drawWorst();
  paintHeat();
  drawGroups(now.groups);
}

// The job at the moment that is looked at.

async function look() {
  const asked = moment.at;
  const found = await ask(asked === null ? api : `${api}?at=${asked}`);
  if (!found || asked !== moment.at) return;
  now = found;
  draw();
  if (openedRank !== null) openRank(openedRank);
  if (Date.now() - lastArrivals > 9000 || asked !== null) {
    lastArrivals = Date.now();
    const late = await ask(asked === null ? `${api}/arrivals` : `${api}/arrivals?at=${asked}`);
    if (late && asked === moment.at) drawArrivals(late, now.groups);
  }
}

async function refresh() {
  const [found, kept] = [await ask(`${api}/findings`), await ask(`${api}/cases`)];
  if (found) {
    const before = new Set(findings.findings.map((one) => one.finding.id));
    const fresh = found.findings.filter((one) => !before.has(one.finding.id));
    if (fresh.length) say(`Found: ${plain(fresh[0].finding.words)}`);
    findings = found;
    drawFindings(findings);
  }
  if (kept) { cases = kept; drawCases(cases); }
  if (moment.at === null) await look();
  await refreshHistory();
}

async function shareIt() {
  const found = await ask(`${api}/share`, { method: "POST" });
  if (!found) return;
  const link = `${location.origin}${found.path}`;
  byId("shared").hidden = false;
  fill(byId("shared"), "Whoever has this link can read this job until ", day(found.until), ": ", make("code", { textContent: link }));
  try { await navigator.clipboard.writeText(link); say("The link is in the clipboard"); } catch { say("A link was made"); }
}

const pageKeys = {
  m: () => { byId("ranks").scrollIntoView({ block: "start" }); canvas.focus({ preventScroll: true }); if (heat.at < 0) goToCell(0); },
  w: goToWorst, "[": () => stepBy(-0.02), "]": () => stepBy(0.02), p: play, n: () => goTo(null),
};

function begin() {
  setUpHeat();
  setUpReplay();
  draw();
  drawFindings(findings);
  drawCases(cases);
  byId("more-groups").addEventListener("click", () => { allGroups = !allGroups; drawGroups(now.groups); });
  byId("share")?.addEventListener("click", shareIt);
  refreshHistory();
  look();
  follow(`/events?job=${encodeURIComponent(now.job)}`, ["digests", "finding", "case"], refresh, 1000);
}
