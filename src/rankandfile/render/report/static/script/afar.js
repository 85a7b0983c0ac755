// The score from afar.

// Far out, a pixel is a call or many: what stands out wins over what does not.
function paintPixels(first, last) {
  const wide = Math.ceil(plotWidth()), high = Math.ceil(plotHeight());
  const image = context.createImageData(wide, high);
  const pixels = new Uint32Array(image.data.buffer);
  const lines = new Map();
  const step = view.row;
  for (let y = 0; y < high; y++) {
    const from = Math.floor((view.y + y) / step);
    if (from > last) break;
    const to = Math.max(from, Math.min(last, Math.ceil((view.y + y + 1) / step) - 1));
    if (step >= 4 && (view.y + y + 1) % step < 1) continue;
    let { track } = view.rows[from];
    for (let r = from + 1; r <= to && track.role !== "culprit"; r++) if (view.rows[r].track.role === "culprit") track = view.rows[r].track;
    let line = lines.get(track);
    if (!line) lines.set(track, (line = pixelLine(track, wide)));
    pixels.set(line, y * wide);
  }
  const off = (paintPixels.canvas ??= document.createElement("canvas"));
  off.width = wide;
  off.height = high;
  off.getContext("2d").putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(off, gutter, RULER);
  if (step < 5) paintThinCulprits(first, last, wide, off);
}

// One row of a thousand would be lost: a culprit's is drawn thick enough to be seen.
function paintThinCulprits(first, last, wide, off) {
  let drawn = 0;
  for (let r = first; r <= last && drawn < 64; r++) {
    const { track } = view.rows[r];
    if (track.role !== "culprit") continue;
    drawn++;
    const image = context.createImageData(wide, 1);
    new Uint32Array(image.data.buffer).set(pixelLine(track, wide));
    off.getContext("2d").putImageData(image, 0, 0);
    const top = Math.max(RULER + 1, RULER + (r + 0.5) * view.row - view.y - 3);
    context.fillStyle = css(palette["culprit-line"]);
    context.fillRect(gutter, top - 1, wide, 8);
    context.clearRect(gutter, top, wide, 6);
    context.drawImage(off, 0, 0, wide, 1, gutter, top, wide, 6);
  }
}

function pixelLine(track, wide) {
  const line = new Uint32Array(wide);
  let seam = 0, by = 0;
  for (let x = 0; x < wide; x++) {
    const begin = view.x + x / view.cell, end = begin + 1 / view.cell;
    let colour = 0;
    for (let c = Math.floor(begin - by); c < Math.max(Math.floor(begin - by) + 1, end - by); c++) {
      while (seam < track.seams.length && view.aligned && track.seams[seam][0] <= c) by = track.seams[seam++][1] * view.aligned;
      const value = c < 0 ? 0 : track.cells[c];
      if (!value) continue;
      if (isOdd(track, c)) { colour = palette.odd; break; }
      if (!colour || stateOf(value) < 2) colour = palette.pixel[value];
    }
    line[x] = colour;
  }
  return line;
}
