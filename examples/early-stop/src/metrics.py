"""Running averages that can be made global."""

import parallel


class Meters:
    def __init__(self):
        self.totals = {}
        self.counts = {}

    def update(self, **values):
        for key, value in values.items():
            self.totals[key] = self.totals.get(key, 0.0) + float(value)
            self.counts[key] = self.counts.get(key, 0) + 1

    def synchronise(self):
        """Global mean of every meter; the same keys must be there on all ranks."""
        result = {}
        for key in sorted(self.totals):
            total, count = parallel.reduce_sum([self.totals[key], self.counts[key]])
            result[key] = total / max(count, 1.0)
        return result

    def reset(self):
        self.totals.clear()
        self.counts.clear()
