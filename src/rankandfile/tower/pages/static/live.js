// What the tower says of itself: a stream tells what has moved, and then it is asked. Without the stream it is asked now
// and then.

const SELDOM_MS = 10000;
let lastHeard = Date.now();

async function ask(path, options) {
  try {
    const answer = await fetch(path, { ...options, headers: { Accept: "application/json" } });
    if (answer.status === 401) { location.reload(); return null; }
    if (!answer.ok) { if (answer.status >= 500) offline(true); return null; }
    offline(false);
    return await answer.json();
  } catch {
    offline(true);
    return null;
  }
}

function offline(is) {
  if (!is) lastHeard = Date.now();
  byId("offline").hidden = !is;
  byId("offline-since").textContent = clock(lastHeard / 1000);
}

// Calls `refresh` when something has moved, never twice at a time, and not while nobody looks.

function follow(path, kinds, refresh, apartMs) {
  let asked = false, busy = false, last = 0;
  async function run() {
    if (busy || !asked || document.hidden) return;
    busy = true;
    asked = false;
    await refresh();
    last = Date.now();
    setTimeout(() => { busy = false; run(); }, apartMs);
  }
  const wake = () => { asked = true; run(); };
  const stream = new EventSource(path);
  for (const kind of kinds) stream.addEventListener(kind, wake);
  stream.addEventListener("open", wake);
  setInterval(() => { if (Date.now() - last > SELDOM_MS) wake(); }, SELDOM_MS / 2);
  document.addEventListener("visibilitychange", wake);
}
