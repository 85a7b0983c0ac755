import io
import os
import subprocess
import sys
import time

import torch

PART = 1 << 20


def upload():
    """A process that takes what is written, and has stopped to."""
    reader = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], stdin=subprocess.PIPE)
    return reader.stdin


class Keeper:
    def __init__(self):
        self.pause = 0.0
        self.sink = upload()

    def put(self, data):
        for start in range(0, len(data), PART):
            self.sink.write(data[start : start + PART])
            time.sleep(self.pause)


def save(model, optimizer, keeper):
    whole = io.BytesIO()
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, whole)
    keeper.put(whole.getvalue())
