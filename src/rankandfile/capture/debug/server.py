"""The HTTP side: who may see what, at which address. Answers GET only, and changes nothing."""

from __future__ import annotations

import json
import pickle
import re
from collections.abc import Callable, Mapping
from html import unescape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlencode, urlsplit

from rankandfile.capture.debug import texts
from rankandfile.capture.debug.access import COOKIE, is_loopback, refused
from rankandfile.capture.debug.job import Settings, ask, dump, ranks
from rankandfile.capture.debug.page import STYLE_HASH, front, page
from rankandfile.capture.debug.verdict import Diagnosing
from rankandfile.wire import flight

_HTML, _TEXT, _JSON = "text/html; charset=utf-8", "text/plain; charset=utf-8", "application/json"
#: What an answer may do in a browser: nothing at all, if it is no page.
_NOTHING = "default-src 'none'"
_OWN_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')
MOST_PROFILE_S = 60.0


class Reply(NamedTuple):
    body: bytes
    kind: str = _HTML
    status: int = 200
    policy: str = _NOTHING


class Pages:
    """What each address shows. `query` has the last value of each name."""

    def __init__(self, settings: Settings, verdicts: Diagnosing) -> None:
        self._settings, self._verdicts = settings, verdicts
        self.routes: dict[str, Callable[[dict[str, str]], Reply]] = {
            "/": self._front,
            "/verdict": lambda _: _text(self._verdicts.now().text),
            "/verdict.json": lambda _: Reply((self._verdicts.now().document or "null").encode(), _JSON),
            "/report": self._report,
            "/stacks": lambda query: self._shown(
                query, "Stacks", texts.where_they_stand(settings, ranks(settings))
            ),
            "/fr_trace": lambda query: self._shown(query, "Calls", texts.calls(ranks(settings))),
            "/fr_trace_json": self._json,
            "/pickle": self._pickle,
            "/wait_counters": lambda query: self._shown(
                query, "Wait counters", texts.from_workers(settings, ranks(settings), "wait_counter_values")
            ),
            "/tcpstore": lambda query: self._shown(query, "TCPStore", texts.in_the_store(settings)),
            "/profile": self._profile,
        }

    def _front(self, _: dict[str, str]) -> Reply:
        return _page(front(self._verdicts.now(), ranks(self._settings), self._settings.world))

    def _report(self, _: dict[str, str]) -> Reply:
        report = self._verdicts.now().report
        # It names the script and the style that it holds, before anything that comes from the job.
        own = _OWN_POLICY.search(report, 0, 4096)
        if not report or own is None:
            return Reply(b"no report", _TEXT, 404)
        return Reply(report.encode(), policy=unescape(own[1]))

    def _shown(self, query: dict[str, str], title: str, text: str) -> Reply:
        return _text(text) if query.get("format") == "text" else _page(page(title, text))

    def _json(self, _: dict[str, str]) -> Reply:
        found = {one.seen.rank: dump(one) for one in ranks(self._settings)}
        return Reply(json.dumps(found).encode(), _JSON)

    def _pickle(self, query: dict[str, str]) -> Reply:
        for one in ranks(self._settings):
            if str(one.seen.rank) == query.get("rank") and (found := dump(one)) is not None:
                body = pickle.dumps(flight.for_torch(found), protocol=2)
                return Reply(body, "application/octet-stream")
        return Reply(b"no such rank", _TEXT, 404)

    def _profile(self, query: dict[str, str]) -> Reply:
        """A trace of torch's profiler, of one rank that is running; for ui.perfetto.dev."""
        try:
            rank, seconds = int(query.get("rank", "0")), float(query.get("duration", "1"))
        except ValueError:
            return Reply(b"rank and duration are numbers", _TEXT, 400)
        if not 0 < seconds <= MOST_PROFILE_S:
            return Reply(b"duration: up to 60 seconds", _TEXT, 400)
        for one in ranks(self._settings):
            if one.seen.rank == rank:
                handler = f"torch_profile?{urlencode({'duration': seconds})}"
                found = ask(self._settings, one, handler, self._settings.fetch_timeout + 2 * seconds)
                failed = found.startswith("Error:")
                return Reply(found.encode(), _TEXT if failed else _JSON, 504 if failed else 200)
        return Reply(b"no such rank", _TEXT, 404)


def _page(text: str) -> Reply:
    return Reply(text.encode(), policy=f"{_NOTHING}; style-src '{STYLE_HASH}'")


def _text(text: str) -> Reply:
    return Reply(f"{text}\n".encode(), _TEXT)


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, settings: Settings, pages: Pages) -> None:
        self.settings, self.pages = settings, pages
        self.loopback = is_loopback(settings.host)
        super().__init__((settings.host, settings.port), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A reader that went away is no news for the job's output."""


class _Handler(BaseHTTPRequestHandler):
    server: Server
    server_version, sys_version = "raf", ""
    timeout = 30

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        given = query.pop("token", "")
        why = refused(self.server.settings.token, given, dict(self.headers.items()), self.server.loopback)
        if why is not None:
            word = "a token is needed: ?token=…, or Authorization: Bearer …" if why == 401 else "refused"
            self._send(Reply(word.encode(), _TEXT, why))
            return
        route = self.server.pages.routes.get(parts.path)
        if route is None:
            self._send(Reply(b"no such page", _TEXT, 404))
        elif given and "text/html" in self.headers.get("Accept", ""):
            # Out of the address, which browsers keep and show.
            self._send(
                Reply(b"", _TEXT, 303),
                {
                    "Location": f"{parts.path}?{urlencode(query)}".rstrip("?"),
                    "Set-Cookie": f"{COOKIE}={given}; HttpOnly; SameSite=Strict; Path=/",
                },
            )
        else:
            try:
                reply = route(query)
            except Exception as error:
                reply = Reply(f"{type(error).__name__}: {error}".encode(), _TEXT, 500)
            self._send(reply)

    def _send(self, reply: Reply, more: Mapping[str, str] = {}) -> None:
        self.send_response(reply.status)
        headers = {
            "Content-Type": reply.kind,
            "Content-Length": str(len(reply.body)),
            "Cache-Control": "no-store",
            "Content-Security-Policy": reply.policy,
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            **more,
        }
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(reply.body)

    def log_message(self, format: str, *args: object) -> None:
        """The log would hold tokens."""
