from losses import summary
from transformers import Trainer


class Watched(Trainer):
    every = 10

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.told = []

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        outputs = model(**inputs)
        loss = outputs["loss"]
        if self.state.global_step and self.state.global_step % self.every == 0:
            told = summary(self, loss, self.state.global_step)
            if told is not None:
                self.told.append(told)
        return (loss, outputs) if return_outputs else loss
