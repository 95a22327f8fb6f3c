"""A tiny decoder and its character-level tokenizer, built in code: nothing to download.

Both are standard transformers classes: save_pretrained writes a folder that AutoModelForCausalLM and AutoTokenizer
load.
"""

import string

import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

_SPECIAL = ["<pad>", "<eos>", "<unk>"]


def tiny_tokenizer() -> PreTrainedTokenizerFast:
    """Build a tokenizer with one token for each printable ASCII character and newline, plus pad, eos and unk."""
    characters = sorted(set(string.printable) - set("\t\r\x0b\x0c"))
    vocabulary = {token: index for index, token in enumerate([*_SPECIAL, *characters])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), behavior="isolated")  # pyright: ignore[reportAttributeAccessIssue]
    tokenizer.decoder = decoders.Fuse()  # pyright: ignore[reportAttributeAccessIssue]
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<pad>",
        eos_token="<eos>",
        unk_token="<unk>",
        padding_side="left",
        clean_up_tokenization_spaces=False,
        model_max_length=512,
    )


def tiny_model(
    tokenizer: PreTrainedTokenizerFast, *, hidden: int, layers: int, heads: int, seed: int
) -> LlamaForCausalLM:
    """Build a Llama-architecture model with random weights drawn from `seed` (not torch's global generator)."""
    vocabulary = tokenizer.get_vocab()
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=hidden,
        intermediate_size=2 * hidden,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=heads,
        max_position_embeddings=512,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=vocabulary["<eos>"],
        pad_token_id=vocabulary["<pad>"],
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return LlamaForCausalLM(config)
