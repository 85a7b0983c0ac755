import os
import time

from transformers import TrainerCallback


class EvaluateByClock(TrainerCallback):
    """Evaluates after so many seconds, whatever the number of steps."""

    def __init__(self, seconds):
        self.seconds = seconds
        self.last = time.monotonic()

    def due(self):
        return time.monotonic() - self.last > self.seconds

    def on_step_begin(self, args, state, control, **kwargs):
        time.sleep(0.02)

    def on_step_end(self, args, state, control, **kwargs):
        if self.due():
            self.last = time.monotonic()
            control.should_evaluate = True
        return control


class SlowStart(TrainerCallback):
    """A rank that was held up at its start has an older clock than the others."""

    def on_train_begin(self, args, state, control, **kwargs):
        if int(os.environ.get("LOCAL_RANK", 0)) == 1:
            time.sleep(0.35)
