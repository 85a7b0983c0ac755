"""Starts so many ranks of a program on this machine: `launch.py RANKS PROGRAM ARGUMENTS...`."""

import os
import socket
import subprocess
import sys

ranks, *command = sys.argv[1:]
with socket.socket() as probe:
    probe.bind(("127.0.0.1", 0))
    port = str(probe.getsockname()[1])
common = {"WORLD_SIZE": ranks, "LOCAL_WORLD_SIZE": ranks, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
processes = [
    subprocess.Popen(
        [sys.executable, *command],
        env={**os.environ, **common, "RANK": str(rank), "LOCAL_RANK": str(rank), "OMP_NUM_THREADS": "1"},
    )
    for rank in range(int(ranks))
]
sys.exit(max(abs(process.wait()) for process in processes))
