import speechbrain as sb
import torch
from running import shared_mean
from speechbrain.core import Stage


class Enhancer(sb.Brain):
    """Learns to hush: the loss is the power that is left."""

    def on_fit_start(self):
        super().on_fit_start()
        self.loud, self.level = 0, torch.zeros(1)

    def compute_forward(self, batch, stage):
        return self.modules.net(batch)

    def compute_objectives(self, predictions, batch, stage):
        return (predictions - batch).square().mean()

    def on_fit_batch_end(self, batch, outputs, loss, should_step):
        self.loud += int(loss > self.hparams.loud)
        if self.loud % 3 == 2:
            self.share()

    def share(self):
        self.level = shared_mean(self.level + self.loud)

    def on_stage_end(self, stage, stage_loss, epoch=None):
        if stage == Stage.TRAIN:
            self.train_loss = stage_loss
