// How things are said. What comes from jobs is only ever set as text, with what a browser would hide spelled out.

const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;
const plain = (text) => String(text ?? "").replace(HIDDEN, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);

function age(seconds) {
  if (seconds === null || seconds === undefined) return "";
  if (seconds < 0.0995) return `${Math.max(0, Math.round(seconds * 1000))} ms`;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172800) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86400)} days`;
}

const count = (number) => (number === null || number === undefined ? "" : number.toLocaleString("en"));
const counted = (number, one, many) => `${count(number)} ${number === 1 ? one : many ?? `${one}s`}`;
const rate = (number) => (number === null || number === undefined ? "" : number >= 100 ? number.toFixed(0) : number.toFixed(number >= 10 ? 1 : 2));
const clock = (at) => new Date(at * 1000).toLocaleTimeString([], { hour12: false });
const day = (at) => new Date(at * 1000).toLocaleString([], { hour12: false, dateStyle: "medium", timeStyle: "medium" });
const ranksSaid = (text) => (/^\d+$/.test(text) ? `rank ${text}` : `ranks ${text}`);
const frameSaid = (frame) => `${plain(frame[0])}:${frame[1]} in ${plain(frame[2])}()`;
const shortFrame = (frame) => `${plain(frame[0]).split("/").pop()}:${frame[1]}`;

// How a job stands, in a word. One that moved a while ago is neither said to move nor to stand still.

function standsWord(element, job, silentFor) {
  const lately = job.stands === "moves" && job.still_s > 5;
  element.className = `stands-word ${lately ? "" : job.stands}`;
  element.textContent = lately ? `moved ${age(job.still_s)} ago` : { moves: "moves", still: `nothing has moved for ${age(job.still_s)}`, silent: `not heard of for ${age(silentFor)}`, ended: "ended" }[job.stands];
  return element;
}

function fill(element, ...children) {
  element.replaceChildren(...children.flat().filter((one) => one !== null && one !== undefined && one !== ""));
  return element;
}
