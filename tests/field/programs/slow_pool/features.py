import hashlib
import os
import tempfile
import time
from multiprocessing import get_context


def read(part):
    path = os.path.join(tempfile.mkdtemp(), "part")
    os.mkfifo(path)
    return os.open(path, os.O_RDONLY)


def long(part):
    end, data = time.time() + 20, b"x" * 65536
    while time.time() < end:
        data = hashlib.sha256(data).digest() * 2048
    return len(data) + part


def one(part):
    return read(part) if part == 7 else part * part


def features(parts):
    with get_context("spawn").Pool(2) as pool:
        return pool.map(one, parts, chunksize=1)
