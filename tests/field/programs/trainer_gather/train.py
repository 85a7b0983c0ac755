import tempfile

from task import Parity, Small
from trainer import Watched
from transformers import TrainingArguments


def arguments():
    return TrainingArguments(
        output_dir=tempfile.mkdtemp(), per_device_train_batch_size=4, max_steps=60, use_cpu=True,
        save_strategy="no", report_to=[], disable_tqdm=True, logging_steps=30, seed=5,
    )


def main():
    trainer = Watched(model=Small(), args=arguments(), train_dataset=Parity(400, 1))
    trainer.train()
    print(f"trained, {len(trainer.told)} notes", flush=True)


if __name__ == "__main__":
    main()
