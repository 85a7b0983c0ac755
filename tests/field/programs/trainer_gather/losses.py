def summary(trainer, loss, step):
    """Mean loss of all ranks, for the log of the first."""
    if not trainer.is_world_process_zero():
        return None
    every = trainer.accelerator.gather(loss.detach().reshape(1))
    return {"step": step, "mean": every.mean().item(), "spread": (every.max() - every.min()).item()}
