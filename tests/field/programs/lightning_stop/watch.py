"""A patience of our own: it knows losses, and nothing of trainers."""

from collections import deque


class LossWatch:
    def __init__(self, window: int = 4, factor: float = 3.0) -> None:
        self.recent: deque[float] = deque(maxlen=window)
        self.factor = factor

    def gone_wild(self, loss: float) -> bool:
        known = sorted(self.recent)
        self.recent.append(loss)
        if len(known) < 3:
            return False
        return loss > self.factor * known[len(known) // 2]
