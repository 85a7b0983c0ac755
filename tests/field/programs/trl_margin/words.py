import random

from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

WORDS = ["<pad>", "<eos>", "a", "b", "c", "d", "e"]


def tokenizer():
    inner = Tokenizer(models.WordLevel({word: n for n, word in enumerate(WORDS)}, unk_token="<pad>"))
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=inner, pad_token="<pad>", eos_token="<eos>")


def answers():
    drawn = random.Random(4)
    lengths = [16 if n in (21, 37) else drawn.randrange(4, 11) for n in range(64)]
    return Dataset.from_list([{"text": " ".join(drawn.choices("abcde", k=length))} for length in lengths])


def model():
    config = GPT2Config(vocab_size=len(WORDS), n_embd=16, n_layer=1, n_head=2, n_positions=64)
    return GPT2LMHeadModel(config)
