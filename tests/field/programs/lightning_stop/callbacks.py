import lightning as L
from watch import LossWatch


class Throughput(L.Callback):
    def __init__(self):
        self.seen = 0

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        self.seen += len(batch[0])
        if trainer.is_global_zero and batch_idx % 5 == 0:
            print(f"batch {batch_idx}: {self.seen} samples", flush=True)


class StopOnWildLoss(L.Callback):
    def __init__(self, watch=None):
        self.watch = watch or LossWatch()
        self.hits = 0

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        loss = float(outputs["loss"])
        if self.watch.gone_wild(loss):
            self.hits += 1
            pl_module.print_once("loss is wild, we stop here")
            trainer.should_stop = True
