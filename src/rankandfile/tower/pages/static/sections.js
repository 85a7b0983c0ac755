// The parts of the page beside the field of ranks.

function drawHead(now) {
  standsWord(byId("stands"), now, now.at - Math.max(now.first_at, ...now.nodes.map((one) => one.at)));
  const steps = now.low_step !== null && now.low_step !== now.step ? `${count(now.low_step)} to ${count(now.step)}` : count(now.step);
  const facts = [
    ["step", steps], ["steps/s", rate(now.steps_per_s)], ["collectives/s", rate(now.calls_per_s)],
    ["ranks", now.world && now.world !== now.ranks.rank.length ? `${count(now.ranks.rank.length)} of ${count(now.world)}` : count(now.ranks.rank.length)],
    ["nodes", count(now.nodes.length)], ["watched for", age(Math.max(0, now.at - now.first_at))],
  ].filter(([, said]) => said !== "");
  fill(byId("numbers"), facts.map(([name, said]) => make("div", {}, make("dt", { textContent: name }), make("dd", { textContent: said }))));
  const remarks = [], skewed = now.nodes.filter((one) => one.skew_s), codes = now.nodes.filter((one) => one.ended);
  const quiet = now.stands === "moves" ? now.nodes.filter((one) => now.at - one.at > 15 && one.ended === null) : [];
  if (now.missing) remarks.push(`Nothing is told of ${ranksSaid(now.missing)}.`);
  if (quiet.length) remarks.push(`Not heard of for ${age(now.at - Math.min(...quiet.map((one) => one.at)))}: ${named(quiet)}.`);
  if (skewed.length) remarks.push(`Clocks that differ from the tower's: ${named(skewed)}.`);
  if (codes.length) remarks.push(`Ended with ${[...new Set(codes.map((one) => one.ended))].join(", ")}: ${named(codes)}.`);
  byId("remarks").textContent = remarks.join(" ");
}

const named = (nodes) => `${nodes.slice(0, 5).map((one) => plain(one.name)).join(", ")}${nodes.length > 5 ? ` and ${count(nodes.length - 5)} more` : ""}`;

function drawWorst() {
  const index = worst();
  const late = index >= 0 && field.late_s[index] >= 0.02 ? `, others wait for ${age(field.late_s[index])}` : "";
  const button = make("button", { type: "button", textContent: index < 0 ? "" : `furthest behind: ${rankName(index)}, ${counted(field.behind[index], "collective")}${late}` });
  button.addEventListener("click", goToWorst);
  fill(byId("worst"), index < 0 ? make("span", { className: "detail", textContent: "no rank is behind" }) : button);
}

// Groups in which somebody waits come first; a job of a thousand ranks has hundreds in which nobody does.

const FEW_GROUPS = 12;
let allGroups = false;

function drawGroups(groups) {
  const worstFirst = [...groups].sort((one, other) => other.late_s - one.late_s || other.behind - one.behind || (other.size ?? 0) - (one.size ?? 0));
  const cell = (name, ...children) => { const one = make("td", {}, ...children); one.dataset.name = name; if (!children.join("")) one.className = "nothing"; return one; };
  fill(byId("group-rows"), worstFirst.slice(0, allGroups ? undefined : FEW_GROUPS).map((group) => make("tr", {},
    make("td", {}, make("b", { textContent: plain(group.description || group.name) }), group.description && group.description !== group.name ? ` ${plain(group.name)}` : ""),
    cell("ranks", group.size && group.size !== group.seen ? `${count(group.seen)} of ${count(group.size)}` : count(group.seen)),
    cell("collective", group.last === group.first ? count(group.first) : `${count(group.last)} to ${count(group.first)}`),
    cell("behind", group.behind ? count(group.behind) : ""),
    cell("waiting", group.waiting ? `${count(group.waiting)} for ${age(group.open_s)}` : ""),
    cell("in", ...(group.op ? [make("span", { textContent: plain(group.op) }), " ", ...frames(group.path)] : [])),
    cell("not come", ...(group.late ? [ranksButton(group.late), ` others wait for ${age(group.late_s)} at least`] : [])),
  )));
  const more = byId("more-groups");
  more.hidden = groups.length <= FEW_GROUPS;
  more.textContent = allGroups ? "Fewer groups" : `All ${count(groups.length)} groups`;
}

function ranksButton(text) {
  const button = make("button", { type: "button", className: "ranks", textContent: text.length > 60 ? `${text.slice(0, 57)}…` : text });
  button.addEventListener("click", () => {
    const [first] = eachRank(text), index = field.rank.indexOf(first);
    byId("ranks").scrollIntoView({ block: "start" });
    if (index >= 0) { goToCell(index); openRank(first); }
  });
  return button;
}

function drawFindings(found) {
  const lines = found.findings;
  byId("findings-count").textContent = lines.length ? count(lines.length) : "";
  if (!lines.length) { fill(byId("findings-list"), make("p", { className: "note", textContent: "Its watchers have told of no finding." })); return; }
  fill(byId("findings-list"), lines.map(({ at, finding }) => make("article", { className: `finding ${finding.certainty} ${finding.over ? "over" : ""}` },
    make("header", {},
      make("h3", { textContent: plain(finding.words) }),
      make("span", { className: "cause", textContent: finding.kind }),
      make("span", { className: `confidence ${finding.certainty === "certain" ? "established" : ""}`, textContent: finding.over ? "over" : finding.certainty })),
    make("p", { className: "meta", textContent: [
      finding.ranks ? ranksSaid(plain(finding.ranks)) : "", finding.sequence !== undefined && finding.sequence !== null ? `collective ${count(finding.sequence)}` : "",
      `since ${clock(finding.since)}, found ${age(Math.max(0, finding.time - finding.since))} later`, `here since ${day(at)}`,
      finding.action ? plain(finding.action) : "", finding.case ? `case: ${plain(finding.case)}` : "",
    ].filter(Boolean).join(" · ") }),
    make("div", { className: "sides" }, ...(finding.sides ?? []).map((side) => make("div", { className: "side" },
      make("span", { className: "ranks", textContent: plain(side.ranks) }), " ",
      make("span", { textContent: side.call ? plain(side.call) : "not come" }),
      make("ol", {}, ...(side.path ?? []).slice(0, 12).map((frame) => make("li", { textContent: frameSaid(frame) }))),
    ))),
  )));
}

function drawArrivals(found, groups) {
  const name = new Map(groups.map((group) => [group.id, group.description || group.name]));
  if (!found.arrivals.length) { fill(byId("arrival-list"), make("p", { className: "note", textContent: "No rank comes last time and again." })); return; }
  fill(byId("arrival-list"), make("div", { className: "scroll" }, make("table", {},
    make("thead", {}, make("tr", {}, ...["Rank", "Group", "Was last", "By at least", "Since"].map((word) => make("th", { scope: "col", textContent: word })))),
    make("tbody", {}, ...found.arrivals.slice(0, 40).map((one) => make("tr", {},
      make("td", {}, ranksButton(String(one.rank))),
      make("td", { textContent: plain(name.get(one.group) ?? one.group) }),
      make("td", { className: "number", textContent: `in ${count(one.last)} of ${count(one.looks)} looks` }),
      make("td", { className: "number", textContent: `${age(one.late_s)} in half of them` }),
      make("td", { className: "number", textContent: one.since - found.since < 15 ? `${clock(one.since)} or before` : clock(one.since) }),
    ))),
  )));
}

const CASE_WORDS = { waiting: "waits to be read", reading: "is being read", unreadable: "could not be read", read: "" };

function drawCases(found) {
  if (!found.cases.length) { fill(byId("case-list"), make("p", { className: "note", textContent: "No case of this job was sent." })); return; }
  fill(byId("case-list"), found.cases.map((one) => make("div", { className: "case-line" },
    make("p", {}, ...(one.state === "read"
      ? [make("a", { href: `/jobs/${encodeURIComponent(now.job)}/cases/${one.id}`, textContent: plain(one.told) })]
      : [`${plain(one.name)} ${CASE_WORDS[one.state]}${one.told ? `: ${plain(one.told)}` : ""}`])),
    make("a", { href: `${api}/cases/${one.id}/archive`, textContent: "archive" }),
    make("span", { className: "meta", textContent: day(one.at) }),
  )));
}
