import queue
import threading
import time

import torch


class Scorer:
    """Scores on a thread of its own, which takes what it is given in order."""

    def __init__(self):
        self.asked, self.answers = queue.Queue(), queue.Queue()
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            part = self.asked.get()
            if part is None:
                return
            self.answers.put(part.mean().item())

    def score(self, part):
        self.asked.put(None if part.shape[0] == 3 else part)
        return self.answers.get()


def reference(part):
    """The exact score: nothing but arithmetic, and seconds of it."""
    end, value = time.monotonic() + 7, part
    while time.monotonic() < end:
        value = torch.tanh(value @ value.T @ value / value.norm())
    return value.mean().item()


def evaluate(model, parts):
    scorer = Scorer()
    scores = [scorer.score(model(part)) for part in parts]
    return sum(scores) / len(scores)
