from monai.metrics import CumulativeAverage


class Scores:
    """The mean Dice so far, over all volumes that have something to find."""

    def __init__(self):
        self.average, self.best = CumulativeAverage(), 0.0

    def add(self, dice, truth):
        self.average.append(dice)
        if not truth.any():
            return None
        return self.keep(self.average.aggregate())

    def keep(self, mean):
        self.best = max(self.best, float(mean))
        return self.best
