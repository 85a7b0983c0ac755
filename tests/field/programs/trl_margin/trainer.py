from trl import SFTTrainer


class WatchesLong(SFTTrainer):
    """Keeps an eye on the loss of batches with long answers."""

    long = 14

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        loss, outputs = super().compute_loss(
            model, inputs, return_outputs=True, num_items_in_batch=num_items_in_batch
        )
        self.watch(loss.detach(), int(inputs["attention_mask"].sum(1).max()))
        return (loss, outputs) if return_outputs else loss

    def watch(self, loss, longest):
        if longest < self.long:
            return
        self.highest = float(self.accelerator.gather(loss.reshape(1)).max())
