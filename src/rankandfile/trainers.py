"""Step numbers and phases from a trainer, in one line: the recorder writes them down, and `raf run` and the tower show
at which step each rank is, and whether it loads data, computes, saves or evaluates.

    Trainer(callbacks=[rankandfile.trainers.lightning()])          # Lightning
    Trainer(..., callbacks=[rankandfile.trainers.transformers()])  # Hugging Face
    accelerator = rankandfile.trainers.accelerate(Accelerator())   # Accelerate
    TorchTrainer(rankandfile.trainers.ray(train_loop), ...)        # Ray Train

Where nothing records, this costs a few calls of functions a step. What is not installed is not imported.
"""

from rankandfile.runtime.trainers import accelerate, lightning, ray, transformers

__all__ = ["accelerate", "lightning", "ray", "transformers"]
