"""No port is open to others than this machine without certificates, and none to who has those of somebody else."""

from __future__ import annotations

import contextlib
import shutil
import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.capture.certificates import certificates

from rankandfile.capture.control import doors
from rankandfile.capture.control.doors import NoWay
from rankandfile.lab.ranks import free_port


@pytest.mark.parametrize("address", ["127.0.0.1:7400", "127.3.2.1:7400", "localhost:7400", "[::1]:7400"])
def test_loopback_needs_no_certificate(address: str) -> None:
    assert doors.scheme([address], None) == "tcp"


@pytest.mark.parametrize(
    "address", ["0.0.0.0:7400", "[::]:7400", "10.0.0.1:7400", "node0:7400", "localhost.evil.org:7400"]
)
def test_other_addresses_do(address: str) -> None:
    with pytest.raises(NoWay, match="give certificates with --tls"):
        doors.scheme(["127.0.0.1:7400", address], None)


@pytest.mark.parametrize(
    "address",
    ["node0", "node0:", ":7400", "node0:0", "node0:65536", "node0:-1", "tcp://node0:1", "*:7400",
     "127.0.0.1:7400@0.0.0.0:7400"],
)  # fmt: skip
def test_what_is_no_address(address: str) -> None:
    """The last one would listen elsewhere than it says."""
    with pytest.raises(NoWay, match="HOST:PORT, not"):
        doors.split(address)


@pytest.mark.parametrize(
    ("breaks", "text"),
    [
        (lambda folder: (folder / "tls.key").unlink(), "tls.key is missing"),
        pytest.param(
            lambda folder: (folder / "tls.crt").write_text("no certificate"),
            "cannot be used",
            marks=pytest.mark.lab,
        ),
        pytest.param(
            lambda folder: (folder / "ca.crt").write_text(""), "cannot be used", marks=pytest.mark.lab
        ),
        (lambda folder: shutil.copy(folder / "ca.key", folder / "tls.key"), "key values mismatch"),
    ],
)
def test_certificates_that_are_none(tmp_path: Path, breaks: object, text: str) -> None:
    folder = certificates(tmp_path / "job")
    breaks(folder)  # type: ignore[operator]
    with pytest.raises(NoWay, match=text):
        doors.scheme(["node0:7400"], folder)


@contextlib.contextmanager
def listening(context: ssl.SSLContext | None) -> Iterator[str]:
    """One who greets as a worker does, and then waits to be spoken to."""
    held = []

    def greet() -> None:
        with contextlib.suppress(OSError):
            there, _ = server.accept()
            held.append(context.wrap_socket(there, server_side=True) if context is not None else there)

    with socket.create_server(("127.0.0.1", free_port())) as server:
        thread = threading.Thread(target=greet)
        thread.start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        thread.join()
        for one in held:
            one.close()


def of_a_worker(folder: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "tls.crt", folder / "tls.key")
    context.load_verify_locations(folder / "ca.crt")
    context.verify_mode = ssl.CERT_REQUIRED
    return context


def test_who_has_certificates_of_the_same_authority_is_let_in(tmp_path: Path) -> None:
    job = certificates(tmp_path / "job")
    with listening(of_a_worker(job)) as worker:
        assert doors.knocked([worker], job) == "127.0.0.1"
    with listening(None) as worker:
        assert doors.knocked([worker], None) == "127.0.0.1"


@pytest.mark.parametrize("knows", [True, False])
def test_who_has_somebody_elses_is_told_at_once(tmp_path: Path, knows: bool) -> None:
    """The worker refuses it; or it refuses the worker."""
    job, other = certificates(tmp_path / "job"), certificates(tmp_path / "other")
    if knows:
        shutil.copy(job / "ca.crt", other / "ca.crt")
    with listening(of_a_worker(job)) as worker, pytest.raises(NoWay, match="do not trust each other"):
        doors.knocked([worker], other)


def test_nobody_is_there() -> None:
    with pytest.raises(NoWay, match=r"no worker answers at 127\.0\.0\.1:1"):
        doors.knocked(["127.0.0.1:1"], None)
    assert not doors.answers("127.0.0.1:1")
