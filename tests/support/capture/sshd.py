"""A real sshd on loopback, of the user who runs the tests: its own keys and configuration, started and ended here.

Hosts of any name lead to it, but for `down-...`, where nobody listens.
"""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rankandfile.lab.ranks import free_port

from .waiting import until


def _program(name: str) -> str:
    """Debian's lies in /usr/sbin, which is on no user's path."""
    found = shutil.which(
        name, path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"])
    )
    if found is None:
        if os.environ.get("RAF_SSHD_REQUIRED"):
            pytest.fail(f"no {name}: make servers installs it")
        pytest.skip(f"no {name}: make servers installs it")
    return found


@contextmanager
def sshd(folder: Path, path_there: str = "") -> Iterator[str]:
    """The command that reaches it, as `--through` takes it. `path_there`: the PATH of its sessions."""
    server, client, keygen = (_program(name) for name in ("sshd", "ssh", "ssh-keygen"))
    port = free_port()
    for name in ("host", "user"):
        subprocess.run(
            [keygen, "-q", "-t", "ed25519", "-N", "", "-f", folder / name],
            check=True,
            stdin=subprocess.DEVNULL,
        )
    shutil.copy(folder / "user.pub", folder / "authorized_keys")
    known = (folder / "host.pub").read_text().split()[:2]
    (folder / "known_hosts").write_text(f"loopback {' '.join(known)}\n")
    (folder / "sshd_config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder / 'host'}\n"
        f"AuthorizedKeysFile {folder / 'authorized_keys'}\nPidFile none\nUsePAM no\nStrictModes no\n"
        "PasswordAuthentication no\nKbdInteractiveAuthentication no\nMaxStartups 100\n"
        + (f"SetEnv PATH={path_there}\n" if path_there else "")
    )
    (folder / "ssh_config").write_text(
        # A host that is down: nothing listens there.
        "Host down-*\n  HostName 127.0.0.1\n  Port 1\n"
        f"Host *\n  HostName 127.0.0.1\n  Port {port}\n  User {getpass.getuser()}\n  HostKeyAlias loopback\n"
        f"  IdentityFile {folder / 'user'}\n  IdentitiesOnly yes\n  UserKnownHostsFile {folder / 'known_hosts'}\n"
        "  LogLevel ERROR\n"
    )
    log = folder / "sshd.log"
    # As root it wants a folder of its own, which a package makes as its service starts.
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    process = subprocess.Popen([server, "-D", "-e", "-f", folder / "sshd_config"], stderr=log.open("wb"))
    try:
        until(lambda: process.poll() is not None or _listens(port), log.read_text, limit_s=30)
        if process.poll() is not None:
            pytest.skip(f"sshd does not start here: {log.read_text()[-300:]}")
        yield f"{client} -F {folder / 'ssh_config'}"
    finally:
        process.terminate()
        process.wait(30)


def _listens(port: int) -> bool:
    with socket.socket() as one:
        one.settimeout(1)
        return one.connect_ex(("127.0.0.1", port)) == 0
