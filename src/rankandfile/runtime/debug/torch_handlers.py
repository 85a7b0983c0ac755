"""Handlers for torch's own debug server: the table of calls, which stops on gloo, from rings, and the verdict."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

from torch.distributed.debug import _debug_handlers
from torch.distributed.debug._frontend import DebugHandler, NavLink, Route

from rankandfile.own_python import own_python
from rankandfile.runtime.recorder.current import ring_folder

_ONCE = "from rankandfile.capture.debug.main import once; once()"
_PATIENCE_S = 120.0
_TEMPLATE = """
{% extends "base.html" %}
{% block header %}<h1>{% block title %}{{ title }}{% endblock %}</h1>{% endblock %}
{% block content %}<pre>{{ text | e }}</pre>{% endblock %}
"""


class _FromRings:
    """Asks a process of its own. Made in the rank, used in torch's server, which may be another process."""

    def __init__(self) -> None:
        self._raf_settings = {
            "rings": str(ring_folder().resolve()),
            "launcher": os.getppid(),
            "attempt": int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")),
            "sockets": "",
            "world": int(os.environ.get("WORLD_SIZE", "1")),
        }
        self._raf_command = own_python(_ONCE)

    def _said(self, what: str) -> str:
        done = subprocess.run(
            [*self._raf_command, what],
            input=json.dumps(self._raf_settings),
            capture_output=True,
            text=True,
            timeout=_PATIENCE_S,
            check=True,
        )
        return done.stdout

    def _page(self, request: Any, title: str, what: str) -> bytes:
        shown: bytes = request.frontend.render_template("raf.html", title=title, text=self._said(what))
        return shown


class VerdictHandler(_FromRings, DebugHandler):  # type: ignore[misc]
    """`/raf`: what Rank & File says of the job as it stands."""

    def routes(self) -> list[Any]:
        return [Route("/raf", self._handle)]

    def nav_links(self) -> list[Any]:
        return [NavLink("/raf", "Verdict")]

    def templates(self) -> dict[str, str]:
        return {"raf.html": _TEMPLATE}

    def _handle(self, request: Any) -> bytes:
        return self._page(request, "Verdict", "verdict")

    def dump(self) -> str:
        return self._said("verdict")

    def dump_filename(self) -> str:
        return "raf_verdict"


class CallsHandler(_FromRings, _debug_handlers.FlightRecorderHandler):  # type: ignore[misc]
    """`/fr_trace` of what the ranks recorded themselves; the raw answers of the workers stay torch's."""

    def templates(self) -> dict[str, str]:
        return {**super().templates(), "raf.html": _TEMPLATE}

    def _handle_fr_trace(self, request: Any) -> bytes:
        return self._page(request, "FlightRecorder", "fr_trace")

    def dump(self) -> str:
        """Under a name that is enabled by default, so with the verdict."""
        verdict = "".join(f"# {line}".rstrip() + "\n" for line in self._said("verdict").splitlines())
        return f"{verdict}\n{self._said('fr_trace')}"


def handlers() -> list[Any]:
    return ours_among(_debug_handlers.default_handlers())


def ours_among(torchs: list[Any]) -> list[Any]:
    """torch's handlers, the one that stops on gloo replaced, and the verdict first behind the index."""
    if any(isinstance(one, VerdictHandler) for one in torchs):
        return torchs
    kept = [CallsHandler() if type(one) is _debug_handlers.FlightRecorderHandler else one for one in torchs]
    return [*kept[:1], VerdictHandler(), *kept[1:]]
