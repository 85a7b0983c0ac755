import tempfile

from callbacks import EvaluateByClock, SlowStart
from task import Parity, Small
from transformers import Trainer, TrainingArguments


def accuracy(prediction):
    return {"accuracy": float(((prediction.predictions > 0) == (prediction.label_ids > 0.5)).mean())}


def main():
    arguments = TrainingArguments(
        output_dir=tempfile.mkdtemp(),
        per_device_train_batch_size=4,
        max_steps=120,
        use_cpu=True,
        save_strategy="no",
        report_to=[],
        disable_tqdm=True,
        logging_steps=20,
        seed=5,
    )
    trainer = Trainer(
        model=Small(),
        args=arguments,
        train_dataset=Parity(600, 1),
        eval_dataset=Parity(64, 2),
        compute_metrics=accuracy,
        callbacks=[SlowStart()],
    )
    trainer.add_callback(EvaluateByClock(0.7 if arguments.process_index == 0 else 0.5))
    trainer.train()
    print("trained", flush=True)


if __name__ == "__main__":
    main()
