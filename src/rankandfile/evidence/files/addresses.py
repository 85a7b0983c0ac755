"""Evidence that is named by an address. Of a file of this machine it is a path; what is elsewhere, `evidence.objects`
reads where fsspec is installed, and else it says what to do instead."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

_ADDRESS = re.compile(r"(?P<scheme>[a-z][a-z0-9+.\-]+):/{1,2}(?P<rest>[^/].*)", re.IGNORECASE)
_COPY = {
    "s3": "aws s3 cp --recursive {0} dumps/",
    "gs": "gcloud storage cp -r {0} dumps/",
    "az": "azcopy copy {0} dumps/ --recursive",
    "http": "curl -fLO {0}",
    "https": "curl -fLO {0}",
    "ssh": "raf collect --ssh {host} -o job.case {path}",
    "hdfs": "hdfs dfs -get {0} dumps/",
}
_SAME = {"s3a": "s3", "s3n": "s3", "gcs": "gs", "abfs": "az", "abfss": "az", "sftp": "ssh", "scp": "ssh"}


class Left(NamedTuple):
    """An object that was left in its store, for whoever decodes it to read."""

    address: str
    """The one that was named."""
    key: str


def is_address(word: str) -> bool:
    return _ADDRESS.fullmatch(word) is not None


def of_this_machine(path: Path) -> Path:
    """The file that a `file://` address means; any other path as it is. A path has lost slashes of what was typed.

    >>> of_this_machine(Path("file:///tmp/my%20job")).as_posix()
    '/tmp/my job'
    """
    found = _ADDRESS.fullmatch(str(path))
    if found is None or found["scheme"].lower() != "file" or path.exists():
        return path
    return Path("/", unquote(found["rest"]).removeprefix("localhost/"))


def address_of(path: Path) -> str | None:
    """The address elsewhere that somebody typed where paths are expected, of which a path has lost a slash.

    >>> address_of(Path("s3://bucket/job"))
    's3://bucket/job'
    >>> address_of(Path("dumps/job"))
    """
    found = _ADDRESS.fullmatch(str(path))
    if found is None or found["scheme"].lower() == "file" or path.exists():
        return None
    return f"{found['scheme'].lower()}://{found['rest']}"


def how_to_copy(word: str) -> str | None:
    """A word that somebody took for a path -> what to do, if it is an address elsewhere.

    >>> how_to_copy("s3:/bucket/job")
    's3://bucket/job is not on this machine; copy it first: aws s3 cp --recursive s3://bucket/job dumps/'
    >>> how_to_copy("ssh://node7/dumps")
    'ssh://node7/dumps is not on this machine; copy it first: raf collect --ssh node7 -o job.case /dumps'
    """
    found = _ADDRESS.fullmatch(word)
    if found is None:
        return None
    scheme = found["scheme"].lower()
    # A path has lost one of the two slashes.
    address = f"{found['scheme']}://{found['rest']}"
    copy = _COPY.get(_SAME.get(scheme, scheme))
    host, _, path = found["rest"].partition("/")
    parts = {"host": shlex.quote(host), "path": shlex.quote(f"/{path}")}
    how = f": {copy.format(shlex.quote(address), **parts)}" if copy else ""
    return f"{address} is not on this machine; copy it first{how}"
