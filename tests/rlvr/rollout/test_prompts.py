import pytest
from tokenizers.processors import TemplateProcessing
from transformers import PreTrainedTokenizerFast

from rlvr.errors import ModelError, PromptTooLongError
from rlvr.models.tiny import tiny_tokenizer
from rlvr.rollout.prompts import PromptEncoder
from tasks.types import Problem

TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}[{{ message['role'] }}]{{ message['content'] }}{{ eos_token }}"
    "{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}"
)


def problem(prompt: str, number: int = 0) -> Problem:
    return Problem(id=f"made/train/{number}", prompt=prompt, reference=None, verifier="exact")


def tokenizer_with(*, template: str | None) -> PreTrainedTokenizerFast:
    """A tokenizer that puts a BOS (here the unknown token) before every text, as Llama's do."""
    tokenizer = tiny_tokenizer()
    tokenizer.bos_token = "<unk>"
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single="<unk> $A", special_tokens=[("<unk>", tokenizer.unk_token_id)]
    )
    tokenizer.chat_template = template
    return tokenizer


def encoder_of(
    tokenizer: PreTrainedTokenizerFast,
    *,
    chat_template: str = "auto",
    system_prompt: str | None = None,
    context_length: int = 100,
    max_new_tokens: int = 20,
) -> PromptEncoder:
    return PromptEncoder(
        tokenizer, chat_template=chat_template, system_prompt=system_prompt,
        context_length=context_length, max_new_tokens=max_new_tokens,
    )  # fmt: skip


@pytest.mark.parametrize("chat_template", ["auto", "on"])
def test_a_chat_template_wraps_the_prompt_as_a_users_turn_and_opens_the_answer(chat_template: str):
    encoder = encoder_of(tokenizer_with(template=TEMPLATE), chat_template=chat_template)
    assert encoder.text(problem("2+2=")) == "<unk>[user]2+2=<eos>[assistant]"


def test_the_template_can_be_left_out():
    encoder = encoder_of(tokenizer_with(template=TEMPLATE), chat_template="off")
    assert encoder.text(problem("2+2=")) == "2+2="


def test_without_a_template_auto_takes_the_prompt_as_it_is():
    assert encoder_of(tokenizer_with(template=None)).text(problem("2+2=")) == "2+2="


def test_a_template_that_is_wanted_and_missing_is_refused():
    with pytest.raises(ModelError, match=r'no chat template; set "auto" or "off"'):
        encoder_of(tokenizer_with(template=None), chat_template="on")


@pytest.mark.parametrize(
    ("system_prompt", "begins"), [("Be brief.", "[system]Be brief.<eos>[user]"), ("", "[system]<eos>[user]")]
)
def test_a_system_prompt_comes_first_and_an_empty_one_is_an_empty_message(system_prompt: str, begins: str):
    encoder = encoder_of(tokenizer_with(template=TEMPLATE), system_prompt=system_prompt)
    assert encoder.text(problem("2+2=")).removeprefix("<unk>").startswith(begins)


def test_a_template_that_refuses_the_system_prompt_is_reported_in_one_line():
    """Gemma's raises an exception of its own."""
    template = "{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}"
    encoder = encoder_of(tokenizer_with(template=template + TEMPLATE), system_prompt="Be brief.")
    with pytest.raises(ModelError, match=r"System role not supported.*model\.system_prompt"):
        encoder.encode([problem("2+2=")])


@pytest.mark.parametrize("template", [None, TEMPLATE])
def test_a_prompt_has_one_bos_whether_the_template_or_the_tokenizer_writes_it(template: str | None):
    tokenizer = tokenizer_with(template=template)
    (ids,) = encoder_of(tokenizer).encode([problem("2+2=")])
    assert ids[0] == tokenizer.bos_token_id
    assert sum(token == tokenizer.bos_token_id for token in ids) == 1


def test_prompts_are_encoded_in_order_and_without_padding():
    tokenizer = tiny_tokenizer()
    encoded = encoder_of(tokenizer).encode([problem("12+3="), problem("4"), problem("56+7=")])
    assert [tokenizer.decode(ids) for ids in encoded] == ["12+3=", "4", "56+7="]


def test_demonstrations_get_no_special_tokens():
    tokenizer = tokenizer_with(template=TEMPLATE)
    encoded = encoder_of(tokenizer).encode_demonstrations(["#4", "#12"])
    assert [tokenizer.decode(ids) for ids in encoded] == ["#4", "#12"]


def test_a_prompt_without_tokens_names_its_problem():
    with pytest.raises(
        PromptTooLongError, match=r"problem made/train/7: its prompt has no tokens; leave it out of the data"
    ):
        encoder_of(tiny_tokenizer()).encode([problem("1"), problem("", 7)])


def test_a_prompt_may_fill_the_context_up_to_the_room_for_the_response():
    encoder = encoder_of(tiny_tokenizer(), context_length=30, max_new_tokens=20)
    assert len(encoder.encode([problem("1" * 10)])[0]) == 10


def test_a_prompt_that_leaves_too_little_room_names_its_problem_and_says_what_to_do():
    encoder = encoder_of(tiny_tokenizer(), context_length=30, max_new_tokens=20)
    with pytest.raises(PromptTooLongError) as refused:
        encoder.encode([problem("1"), problem("1" * 11, 3)])
    message = str(refused.value)
    for part in ("made/train/3", "11 tokens", "only 10 fit", "30 tokens of context less 20", "rollout.max_new_tokens"):
        assert part in message


def test_a_response_longer_than_the_whole_context_is_refused_at_once():
    with pytest.raises(ModelError, match=r"rollout\.max_new_tokens.*30"):
        encoder_of(tiny_tokenizer(), context_length=30, max_new_tokens=30)
