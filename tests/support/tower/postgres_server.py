"""A Postgres of its own for a test: made, started and ended here."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from rankandfile.lab.ranks import free_port
from support.capture.waiting import until

#: Where Debian and Ubuntu have the programs of each version, none of them on the path.
DEBIAN = Path("/usr/lib/postgresql")


def program(name: str, debian: Path = DEBIAN) -> str | None:
    """From the path, or the newest one of Debian's."""
    there = [path for path in debian.glob(f"*/bin/{name}") if os.access(path, os.X_OK)]
    newest = max(there, key=lambda path: _version(path.parts[-3]), default=None)
    return shutil.which(name) or (str(newest) if newest is not None else None)


def _version(word: str) -> tuple[int, ...]:
    """`9.6` comes before `15`."""
    return tuple(int(part) if part.isdecimal() else -1 for part in word.split("."))


def _as_somebody(folder: Path) -> dict[str, Any]:
    """It refuses to run as root: then as somebody who may do nothing, to whom the folder is given."""
    if os.getuid() != 0:
        return {}
    users = {one.pw_name: one for one in pwd.getpwall()}
    user = users.get("nobody") or users.get("postgres")
    if user is None:
        pytest.skip("Postgres does not run as root, and there is nobody else")
    os.chown(folder, user.pw_uid, user.pw_gid)
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


@contextmanager
def postgres_server() -> Iterator[str]:
    """Its address; the test is skipped where there is none."""
    initdb, server = program("initdb"), program("postgres")
    if initdb is None or server is None:
        pytest.skip("no Postgres: make servers installs one")
    port = free_port()
    # Not below pytest's own folder, which nobody else may enter; and the path of a socket must be short.
    with tempfile.TemporaryDirectory(prefix="raf-postgres-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        somebody = _as_somebody(folder)
        made = [initdb, "-A", "trust", "-U", "raf", "-N", "-D", str(folder / "data")]
        subprocess.run(made, check=True, stdout=subprocess.DEVNULL, cwd="/", **somebody)
        command = [server, "-D", str(folder / "data"), "-k", name, "-p", str(port), "-F"]
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL, cwd="/", **somebody)
        try:
            until(lambda: (folder / f".s.PGSQL.{port}").exists() and _answers(port), limit_s=60)
            yield f"postgresql://raf@127.0.0.1:{port}/postgres"
        finally:
            process.terminate()
            process.wait(30)


def _answers(port: int) -> bool:
    import psycopg

    try:
        psycopg.connect(f"postgresql://raf@127.0.0.1:{port}/postgres", connect_timeout=2).close()
    except psycopg.Error:
        return False
    return True
