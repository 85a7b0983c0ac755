"""Straight to a tower: each report and each case is a POST."""

from __future__ import annotations

import contextlib
import http.client
import os
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import IO

from .way import Refused

#: How long an answer may take: to a report, to a case.
ANSWER_S, CASE_S = 5.0, 60.0
#: Answers that are about the report itself: it is broken, too large, of another kind, or means nothing there.
_NEVER = (400, 413, 415, 422)
PLACE = "/v1/reports"


class OverHttp:
    def __init__(self, url: str) -> None:
        self._base = (url if "//" in url else f"http://{url}").rstrip("/")
        self._url = urllib.parse.urlsplit(self._base)
        self.where = self._url.netloc.rpartition("@")[2]
        self._connection: http.client.HTTPConnection | None = None

    def post(self, report: bytes) -> None:
        began = time.monotonic()
        try:
            answer = self._posted(report)
        except http.client.HTTPException as error:
            raise ValueError(str(error) or type(error).__name__) from error
        if not 200 <= answer.status < 300:
            raise Refused(f"{answer.status} {answer.reason}", for_good=answer.status in _NEVER)
        if time.monotonic() - began > ANSWER_S:
            self.close()

    def _posted(self, report: bytes) -> http.client.HTTPResponse:
        if self._connection is not None:
            # Whoever was not told anything for some seconds may have closed it meanwhile: that is no failure.
            with contextlib.suppress(ConnectionError):
                return self._request(self._connection, report)
            self._connection.close()
        kind = http.client.HTTPSConnection if self._url.scheme == "https" else http.client.HTTPConnection
        self._connection = kind(self._url.hostname or "", self._url.port, timeout=ANSWER_S)
        return self._request(self._connection, report)

    def _request(self, connection: http.client.HTTPConnection, report: bytes) -> http.client.HTTPResponse:
        headers = {"Content-Type": "application/msgpack", **_token()}
        connection.request("POST", self._url.path + PLACE, report, headers)
        answer = connection.getresponse()
        answer.read(1 << 16)
        return answer

    def hand(self, job: str, name: str, archive: IO[bytes], size: int) -> None:
        place = f"{self._base}/api/v1/jobs/{urllib.parse.quote(job, safe='')}/cases?name={urllib.parse.quote(name)}"
        headers = {"Content-Type": "application/zip", "Content-Length": str(size), **_token()}
        request = urllib.request.Request(place, archive, headers, method="POST")
        try:
            with urllib.request.urlopen(request, timeout=CASE_S) as answer:
                answer.read(1)
        except urllib.error.HTTPError as error:
            raise ValueError(f"{error.code} {error.reason}") from error

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _token() -> dict[str, str]:
    token = os.environ.get("RAF_TOWER_TOKEN")
    return {"Authorization": f"Bearer {token}"} if token else {}
