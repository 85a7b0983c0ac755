// What mouse and keyboard do to the score.

function listen() {
  let drag = null;
  canvas.addEventListener("pointerdown", (event) => {
    drag = { x: event.clientX, y: event.clientY, vx: view.x, vy: view.y, moved: false };
  });
  canvas.addEventListener("pointermove", (event) => {
    if (drag && event.buttons) {
      const dx = event.clientX - drag.x, dy = event.clientY - drag.y;
      if (!drag.moved && Math.hypot(dx, dy) > 4) { drag.moved = true; canvas.setPointerCapture(event.pointerId); canvas.classList.add("dragging"); hideTip(); }
      if (drag.moved) { view.x = drag.vx - dx / view.cell; view.y = drag.vy - dy; keepInside(); draw(); }
      return;
    }
    const spot = at(event);
    if (spot?.row !== hovered?.row || spot?.column !== hovered?.column) { hovered = spot; draw(); }
    if (spot) showTip(event, spot); else hideTip();
  });
  canvas.addEventListener("pointerup", (event) => {
    const moved = drag?.moved;
    drag = null;
    canvas.classList.remove("dragging");
    const spot = moved ? null : at(event);
    if (spot) openCall(spot);
  });
  canvas.addEventListener("pointercancel", () => { drag = null; canvas.classList.remove("dragging"); });
  canvas.addEventListener("pointerleave", () => { hovered = null; hideTip(); draw(); });
  let hinted = false;
  canvas.addEventListener("wheel", (event) => {
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      const box = canvas.getBoundingClientRect();
      zoom(Math.exp(-clamp(event.deltaY, -120, 120) / 320), event.clientX - box.left, event.clientY - box.top);
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      view.x += (event.deltaX || event.deltaY) / view.cell;
      keepInside();
      draw();
    } else if (!hinted) {
      hinted = true;
      byId("hint").hidden = false;
      setTimeout(() => { byId("hint").hidden = true; }, 1800);
    }
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const step = event.shiftKey ? 10 : 1;
    const here = chosen ?? start();
    const moves = {
      ArrowLeft: () => moveTo(here.row, here.column - (chosen ? step : 0)), ArrowRight: () => moveTo(here.row, here.column + (chosen ? step : 0)),
      ArrowUp: () => moveTo(here.row - (chosen ? step : 0), here.column), ArrowDown: () => moveTo(here.row + (chosen ? step : 0), here.column),
      Home: () => moveTo(here.row, 0), End: () => moveTo(here.row, view.rows[here.row].track.length - 1),
      Enter: () => openCall(here),
    };
    if (moves[event.key] && !event.ctrlKey && !event.metaKey && !event.altKey) { event.preventDefault(); moves[event.key](); }
  });
  byId("sheet").addEventListener("change", (event) => { useSheet(Number(event.target.value)); });
  byId("by-rank").addEventListener("click", () => useRows(true));
  byId("by-cohort").addEventListener("click", () => useRows(false));
  byId("align").addEventListener("click", align);
  byId("parting").addEventListener("click", goToParting);
  byId("zoom-in").addEventListener("click", () => zoom(1.6));
  byId("zoom-out").addEventListener("click", () => zoom(1 / 1.6));
  byId("zoom-all").addEventListener("click", showAll);
  const input = byId("find");
  input.addEventListener("input", () => find(input.value, false));
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") { event.preventDefault(); find(input.value, true); }
    if (event.key === "Escape") { input.value = ""; find("", false); canvas.focus(); }
  });
  let width = canvas.clientWidth;
  new ResizeObserver(() => {
    if (canvas.clientWidth !== width) { width = canvas.clientWidth; measure(); keepInside(); paint(); }
  }).observe(canvas);
}
