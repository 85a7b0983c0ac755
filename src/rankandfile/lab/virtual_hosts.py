"""Each rank on a virtual host of its own, with one link to a common switch that can be taken down.

The first process enters a new network namespace with a bridge in it, each rank enters another one, and a veth pair
joins the two. A link that goes down swallows what is sent and tells neither end's sockets, as a dead switch port
does. Nothing has to be removed afterwards: namespaces and links go with the last process inside.

Needs root (CAP_SYS_ADMIN and CAP_NET_ADMIN), and `ip` and `nsenter`. Standard library only: runs inside the ranks.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

_CLONE_NEWNET = 0x40000000
_SUBNET = "10.77.0"
_SWITCH = "switch"
_CARD = "eth0"
_PROBE = f"ip link add {_SWITCH} type bridge && ip link add link0 type veth peer name {_CARD}"


def address(rank: int) -> str:
    """IP address of the host that the rank runs on."""
    return f"{_SUBNET}.{rank + 1}"


def environment() -> dict[str, str]:
    """What the ranks must know to meet."""
    return {"MASTER_ADDR": address(0), "GLOO_SOCKET_IFNAME": _CARD, "LOCAL_WORLD_SIZE": "1"}


def missing() -> str:
    """Why there can be no virtual hosts on this machine; empty if there can. Tries it, in a namespace that goes."""
    for tool in ("ip", "unshare", "nsenter"):
        if shutil.which(tool) is None:
            return f"the command {tool} is not there"
    done = subprocess.run(
        ["unshare", "--net", "sh", "-c", _PROBE], capture_output=True, text=True, timeout=20, check=False
    )
    if done.returncode == 0:
        return ""
    return (done.stderr.strip().splitlines() or ["no network namespaces"])[-1]


def take_down(first_process: int, ranks: Iterable[int]) -> None:
    """Take the links of these ranks down, at the switch."""
    for rank in ranks:
        inside = ["nsenter", "--target", str(first_process), "--net"]
        subprocess.run([*inside, "ip", "link", "set", _link(rank), "down"], check=True, timeout=20)


class Network:
    """The switch, seen from the first process; `move_in` is called in each child."""

    def __init__(self, tcp_retries: int) -> None:
        self._tcp_retries = tcp_retries
        _enter_new_namespace()
        _ip("link", "add", _SWITCH, "type", "bridge")
        _ip("link", "set", _SWITCH, "up")
        # One pipe each way, for one rank at a time: the host stands, the cable is in.
        self._stands, self._plugged = os.pipe(), os.pipe()

    def connect(self, rank: int, pid: int) -> None:
        """In the first process: run a cable from the switch to the host of the rank just forked."""
        os.read(self._stands[0], 1)
        _ip("link", "add", _link(rank), "type", "veth", "peer", "name", _CARD, "netns", str(pid))
        _ip("link", "set", _link(rank), "master", _SWITCH, "up")
        os.write(self._plugged[1], b".")

    def move_in(self, rank: int) -> None:
        """In the child: enter a new host and bring its network up."""
        _enter_new_namespace()
        os.write(self._stands[1], b".")
        os.read(self._plugged[0], 1)
        _ip("addr", "add", f"{address(rank)}/24", "dev", _CARD)
        _ip("link", "set", _CARD, "up")
        _ip("link", "set", "lo", "up")
        if self._tcp_retries:
            Path("/proc/sys/net/ipv4/tcp_retries2").write_text(str(self._tcp_retries))
        for end in (*self._stands, *self._plugged):
            os.close(end)


def _link(rank: int) -> str:
    return f"port{rank}"


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, timeout=20)


def _enter_new_namespace() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_CLONE_NEWNET) != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"no new network namespace: {os.strerror(error)}")
