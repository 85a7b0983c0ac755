from pathlib import Path

import lightning as L


class KeepBest(L.Callback):
    """Writes the weights whenever an epoch was the best so far."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.best = float("inf")

    def _better(self, trainer):
        now = trainer.callback_metrics.get("val_loss")
        if now is None or float(now) >= self.best:
            return False
        self.best = float(now)
        return True

    def on_validation_epoch_end(self, trainer, pl_module):
        if trainer.sanity_checking or not self._better(trainer):
            return
        if trainer.is_global_zero:
            self.folder.mkdir(parents=True, exist_ok=True)
            trainer.save_checkpoint(self.folder / f"best-{trainer.current_epoch}.ckpt")
            print(f"kept epoch {trainer.current_epoch}: {self.best:.3f}", flush=True)
