"""Follow one rank with the profiler; the viewer answers through a pipe."""

import os

WATCHED_RANK = 5
EVERY = 9


def follow(step, rank):
    if rank != WATCHED_RANK or step % EVERY != 0:
        return
    path = "profile.pipe"
    if not os.path.exists(path):
        os.mkfifo(path)
    with open(path) as pipe:
        pipe.readline()
