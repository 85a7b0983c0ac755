// Where one rank stands, below the field.

let openedRank = null;

async function openRank(rank) {
  openedRank = rank;
  if (rank < 0) { closeRank(); return; }
  const found = await ask(`${api}/ranks?ranks=${rank}${moment.at === null ? "" : `&at=${moment.at}`}`);
  if (!found || openedRank !== rank) return;
  const box = byId("rank");
  box.hidden = false;
  const close = make("button", { type: "button", className: "close", textContent: "×" });
  close.setAttribute("aria-label", "Close");
  close.addEventListener("click", closeRank);
  if (!found.length) { fill(box, make("h3", { textContent: `Rank ${rank}` }), close, make("p", { textContent: "Nothing is told of it at this moment." })); return; }
  const one = found[0];
  const facts = [
    ["state", one.state], ["node", plain(one.node)], ["host", plain(one.host)], ["step", count(one.step)], ["phase", plain(one.phase)],
    ["calls", count(one.calls)], ["open calls", one.flight ? count(one.flight) : ""], ["moved", one.quiet_s === null ? "" : `${age(one.quiet_s)} ago`],
  ].filter(([, said]) => said !== "");
  fill(box,
    make("h3", { textContent: `Rank ${one.rank}` }), close,
    make("dl", { className: "numbers" }, ...facts.map(([name, said]) => make("div", {}, make("dt", { textContent: name }), make("dd", { textContent: said })))),
    make("div", { className: "in-groups scroll" }, make("table", {},
      make("thead", {}, make("tr", {}, ...["Group", "Collective", "Done", "Behind", "Call", "Where"].map((word) => make("th", { scope: "col", textContent: word })))),
      make("tbody", {}, ...one.groups.map((group) => make("tr", {},
        make("td", { textContent: plain(group.name) }),
        make("td", { className: "number", textContent: count(group.last) }),
        make("td", { className: "number", textContent: count(group.done) }),
        make("td", { className: "number", textContent: group.behind ? `${count(group.behind)}${group.late_s >= 0.02 ? `, waited for ${age(group.late_s)}` : ""}` : "" }),
        make("td", { textContent: `${plain(group.op)}${group.open_s === null ? "" : `, open for ${age(group.open_s)}`}` }),
        make("td", {}, ...frames(group.path)),
      ))),
    )),
  );
}

function closeRank() {
  openedRank = null;
  byId("rank").hidden = true;
}

// The innermost line, and the way to it on demand.

function frames(path) {
  if (!path.length) return [];
  if (path.length === 1) return [make("span", { className: "path", textContent: frameSaid(path[0]) })];
  return [make("details", { className: "more-frames" },
    make("summary", { className: "path", textContent: frameSaid(path[0]) }),
    make("ol", { className: "path" }, ...path.slice(1).map((frame) => make("li", { textContent: frameSaid(frame) }))))];
}
