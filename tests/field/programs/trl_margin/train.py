import torch
from trainer import WatchesLong
from trl import SFTConfig
from words import answers, model, tokenizer


def main():
    torch.manual_seed(0)
    settings = SFTConfig(
        output_dir="out",
        max_steps=12,
        per_device_train_batch_size=2,
        report_to=[],
        save_strategy="no",
        use_cpu=True,
        bf16=False,
        gradient_checkpointing=False,
        logging_steps=4,
        max_length=32,
        ddp_backend="gloo",
        disable_tqdm=True,
    )
    WatchesLong(model(), settings, train_dataset=answers(), processing_class=tokenizer()).train()


if __name__ == "__main__":
    main()
