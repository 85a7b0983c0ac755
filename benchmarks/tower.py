"""How many jobs one tower takes in: `python benchmarks/tower.py --jobs 1000 --seconds 20`.

Each job is a connection that posts a report of its node every second; beside them, readers of /events that take
nothing, and some that vanish. Prints what was acknowledged, how long that took, and what it cost the tower.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support.tower.fleet import Ranks
from support.tower.towers import running

from rankandfile.model.digest import packed


async def job(port: int, number: int, end: float, took: list[float], refused: list[int]) -> None:
    ranks = Ranks(f"job-{number}", per_node=8)
    await asyncio.sleep(number % 1000 / 1000)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while (began := time.monotonic()) < end:
        body = packed(ranks.report(0, time.time(), words=False))
        head = f"POST /v1/reports HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)
        status = int((await reader.readline()).split()[1])
        length = 0
        while (line := await reader.readline()) != b"\r\n":
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        await reader.readexactly(length)
        (took if status == 200 else refused).append(time.monotonic() - began if status == 200 else status)
        await asyncio.sleep(max(0.0, 1.0 - (time.monotonic() - began)))
    writer.close()


async def listener(port: int, end: float, vanishes: bool) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    await reader.readline()
    await asyncio.sleep(2.0 if vanishes else max(0.0, end - time.monotonic()))
    writer.close()


async def load(port: int, jobs: int, listeners: int, seconds: float) -> tuple[list[float], list[int]]:
    took: list[float] = []
    refused: list[int] = []
    end = time.monotonic() + seconds
    await asyncio.gather(
        *(job(port, number, end, took, refused) for number in range(jobs)),
        *(listener(port, end, number % 2 == 0) for number in range(listeners)),
    )
    return took, refused


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--listeners", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=20.0)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, running(Path(folder) / "tower.db") as tower:
        port = int(tower.url.rpartition(":")[2])
        took, refused = asyncio.run(load(port, asked.jobs, asked.listeners, asked.seconds))
        usage = Path(f"/proc/{tower.process.pid}/stat").read_text().rpartition(")")[2].split()
        cpu = (int(usage[11]) + int(usage[12])) / os.sysconf("SC_CLK_TCK")
        memory = int(Path(f"/proc/{tower.process.pid}/statm").read_text().split()[1]) * 4 / 1024
        began = time.monotonic()
        page = len(tower.get("/api/v1/jobs?limit=500")["jobs"])
        listed_s = time.monotonic() - began
        took.sort()
        print(
            f"{asked.jobs} jobs for {asked.seconds:.0f} s, {asked.listeners} readers of events that are slow or vanish"
        )
        print(
            f"acknowledged {len(took)} reports ({len(took) / asked.seconds:.0f} a second), refused {len(refused)}"
        )
        print(
            f"median {took[len(took) // 2] * 1e3:.0f} ms, 95 % {took[len(took) * 95 // 100] * 1e3:.0f} ms,"
            f" longest {took[-1]:.2f} s"
        )
        print(
            f"tower: {cpu:.1f} s of processor time, {memory:.0f} MiB; {page} jobs listed in {listed_s:.2f} s"
        )


if __name__ == "__main__":
    main()
