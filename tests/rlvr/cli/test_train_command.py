import json
import re
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
import torch
from support.processes import Command, failure_of, rlvr_in
from support.tiny_runs import TINY, tiny_config
from transformers import AutoModelForCausalLM

from rlvr.cli import wiring
from rlvr.models.tiny import tiny_tokenizer
from rlvr.training.checkpoint import save_policy

PLUGIN = """
from verifiers import Outcome, Verdict, register_verifier


@register_verifier("share_of_digits")
class ShareOfDigits:
    def verify(self, problem, response):
        share = sum(map(str.isdigit, response)) / max(1, len(response))
        return Verdict(outcome=Outcome.CORRECT if share == 1 else Outcome.INCORRECT, score=share, answer=response)
"""


def tiny_folder(path: Path) -> str:
    """Save an untrained tiny model."""
    model = wiring.build_model(tiny_config())
    save_policy(path, model.policy, model.tokenizer)
    return str(path)


def write_rows(path: Path, rows: Sequence[Mapping[str, object]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def jsonl_task(path: str) -> list[str]:
    return ["task.name=jsonl", f"task.options={{path = {path!r}, test_size = 2}}"]


ROWS: list[dict[str, object]] = [{"question": f"{number}+1=", "answer": str(number + 1)} for number in range(12)]


def refused(tmp_path: Path, *arguments: str) -> str:
    """Return the one line in which `rlvr train` refuses to start; it must leave no run folder behind."""
    message = failure_of(tmp_path, "train", *TINY, *arguments)
    assert "\n" not in message
    runs = tmp_path / "runs"
    assert not runs.exists() or list(runs.iterdir()) == []
    return message


def test_an_empty_data_file_is_refused(tmp_path: Path):
    path = write_rows(tmp_path / "empty.jsonl", [])
    assert refused(tmp_path, *jsonl_task(path)) == f"error: {path} has no rows"


def test_a_missing_column_names_the_file_the_row_and_the_columns_seen(tmp_path: Path):
    path = write_rows(tmp_path / "rows.jsonl", [*ROWS, {"query": "1+1=", "answer": "2"}])
    message = refused(tmp_path, *jsonl_task(path))
    assert f"{path}, row 13: no column 'question'; columns seen: ['query', 'answer']" in message


def test_a_model_without_an_eos_token_is_refused(tmp_path: Path):
    model = wiring.build_model(tiny_config())
    tokenizer = tiny_tokenizer()
    tokenizer.eos_token = None
    model.policy.module.config.eos_token_id = None
    model.policy.module.generation_config.eos_token_id = None
    save_policy(tmp_path / "model", model.policy, tokenizer)
    message = refused(tmp_path, "model.name=model")
    assert "model.name: 'model' has no EOS token" in message
    assert "eos_token" in message


def test_a_model_with_weights_that_are_no_numbers_is_refused(tmp_path: Path):
    folder = tiny_folder(tmp_path / "model")
    module = AutoModelForCausalLM.from_pretrained(folder)
    with torch.no_grad():
        module.model.norm.weight[0] = torch.nan
    module.save_pretrained(folder)
    assert "logits are not finite on a six-token input; its weights are damaged" in refused(
        tmp_path, f"model.name={folder!r}"
    )


@pytest.mark.parametrize("sft_steps", [0, 5])
def test_a_prompt_longer_than_the_context_is_refused(tmp_path: Path, sft_steps: int):
    rows = [{"question": "9" * 600, "answer": "1", "response": "#1"}] + [
        {**row, "question": f"{row['question']}{'9' * 600}", "response": "#1"} for row in ROWS
    ]
    path = write_rows(tmp_path / "rows.jsonl", rows)
    message = refused(
        tmp_path, "task.name=jsonl", f"sft.steps={sft_steps}",
        f"task.options={{path = {path!r}, test_size = 2, demonstration_field = 'response'}}",
    )  # fmt: skip
    assert "problem jsonl/" in message
    assert "only 496 fit (512 tokens of context less 16 for the response); lower rollout.max_new_tokens" in message


def test_one_prompt_that_is_too_long_is_found_before_anything_is_trained(tmp_path: Path):
    path = write_rows(tmp_path / "rows.jsonl", [*ROWS, {"question": "9" * 600, "answer": "1"}])
    assert "its prompt has 600 tokens" in refused(tmp_path, *jsonl_task(path), "sft.steps=0")


def test_a_demonstration_longer_than_the_context_is_refused(tmp_path: Path):
    rows = [{**row, "response": "1" * 600} for row in ROWS]
    path = write_rows(tmp_path / "rows.jsonl", rows)
    options = f"task.options={{path = {path!r}, test_size = 2, demonstration_field = 'response'}}"
    message = refused(tmp_path, "task.name=jsonl", options)
    assert re.search(r"prompt and demonstration have 60[56] tokens, the model's context 512", message)


def test_a_device_that_is_not_there_is_refused(tmp_path: Path):
    assert "run.device: 'cuda:77' cannot be used here" in refused(tmp_path, "run.device=cuda:77")


def test_a_warm_start_without_demonstrations_is_refused(tmp_path: Path):
    path = write_rows(tmp_path / "rows.jsonl", ROWS)
    message = refused(tmp_path, *jsonl_task(path))
    assert message == (
        "error: sft.steps: of 32 problems of task 'jsonl' none has a demonstration; "
        "set sft.steps = 0, or give the task demonstrations"
    )


def test_an_unknown_task_lists_the_known_ones(tmp_path: Path):
    message = refused(tmp_path, "task.name=arithmetik", "task.options={}")
    assert "no task named 'arithmetik'; did you mean" in message or "arithmetic" in message
    assert "gsm8k" in message


def test_an_unknown_option_of_a_task_is_refused(tmp_path: Path):
    assert "task.options.digts" in refused(tmp_path, "task.options.digts=2")


def test_broken_toml_names_the_file_and_the_place(tmp_path: Path):
    (tmp_path / "my.toml").write_text("[run]\nsteps = = 3\n")
    message = refused(tmp_path, "my.toml")
    assert "my.toml" in message
    assert "line 2" in message


def test_a_configuration_file_that_is_not_there_is_refused(tmp_path: Path):
    assert "absent.toml" in refused(tmp_path, "absent.toml")


def test_batch_sizes_that_do_not_divide_name_the_nearest_that_do(tmp_path: Path):
    message = refused(tmp_path, "algorithm.minibatches=3")
    assert "algorithm.minibatches" in message
    assert "2 or 4" in message


def test_a_plug_in_file_that_is_not_there_is_refused(tmp_path: Path):
    assert "mine.py" in refused(tmp_path, "--plugin", "mine.py")


def test_a_run_folder_that_exists_is_never_overwritten(tmp_path: Path):
    taken = tmp_path / "runs" / "mine"
    taken.mkdir(parents=True)
    (taken / "notes.txt").write_text("precious")
    message = failure_of(tmp_path, "train", *TINY, "run.name=mine")
    assert message == (
        "error: runs/mine exists already; resume it with `rlvr train --resume runs/mine` or choose another run.name"
    )
    assert [path.name for path in taken.iterdir()] == ["notes.txt"]


def test_resuming_what_is_no_run_is_refused(tmp_path: Path):
    assert "runs/none is not a run folder: it does not exist" in failure_of(tmp_path, "train", "--resume", "runs/none")


def test_a_run_without_a_name_takes_the_next_free_one_and_ends_with_where_things_are(tmp_path: Path):
    (tmp_path / "runs" / "arithmetic-ppo-4").mkdir(parents=True)
    command = rlvr_in(tmp_path, "train", *TINY, "run.steps=1", "sft.steps=5")
    assert command.end() == 0, command.stderr
    assert "run folder: runs/arithmetic-ppo-5" in command.stdout
    for label, path in (("curve", "curve.png"), ("card", "README.md"), ("model", "checkpoints/step_000001/policy")):
        assert f"{label:<11}runs/arithmetic-ppo-5/{path}\n" in command.stdout
        assert (tmp_path / "runs/arithmetic-ppo-5" / path).exists()


def test_steps_0_ends_after_the_warm_start(tmp_path: Path):
    command = rlvr_in(tmp_path, "train", *TINY, "run.steps=0", "sft.steps=5", "run.name=sft")
    assert command.end() == 0, command.stderr
    assert (tmp_path / "runs/sft/reference/model.safetensors").exists()
    summary = json.loads((tmp_path / "runs/sft/summary.json").read_text())
    assert list(summary["pass_rate"]) == ["sft"]
    assert (summary["steps"], summary["rollouts"], summary["finished"]) == (0, 0, True)
    shown = command.stdout.split("model      ")[1].strip()
    assert (tmp_path / shown / "config.json").exists()


def test_responses_that_reach_the_limit_are_warned_about_with_what_to_raise(tmp_path: Path):
    command = rlvr_in(
        tmp_path, "train", *TINY, "run.steps=1", "sft.steps=0", "rollout.max_new_tokens=8", "run.name=cut"
    )
    assert command.end() == 0, command.stderr
    warnings = [line for line in command.stderr.splitlines() if line.startswith("warning: step 1: ")]
    assert any(
        "reached the limit of 8 tokens and were cut off" in line
        and line.endswith("raise rollout.max_new_tokens (to 16, say)")
        for line in warnings
    )
    summary = json.loads((tmp_path / "runs/cut/summary.json").read_text())
    assert any("reached the limit of 8 tokens" in warning for warning in summary["warnings"])


def test_a_verifier_from_a_plug_in_file_trains(tmp_path: Path):
    (tmp_path / "mine.py").write_text(PLUGIN)
    command = rlvr_in(
        tmp_path, "train", "--plugin", "mine.py", *TINY, "task.verifier=share_of_digits", "run.name=plugged",
        "run.steps=2", "sft.steps=5",
    )  # fmt: skip
    assert command.end() == 0, command.stderr
    lines = [json.loads(line) for line in (tmp_path / "runs/plugged/metrics.jsonl").read_text().splitlines()]
    assert len(lines) == 2
    assert all(0 < line["reward/mean"] < 1 for line in lines)


def test_a_loss_that_is_not_finite_saves_explains_and_stops(tmp_path: Path):
    """The checkpoint before it stays the one to resume from."""
    (tmp_path / "mine.py").write_text(PLUGIN)
    message = failure_of(
        tmp_path, "train", "--plugin", "mine.py", *TINY, "task.verifier=share_of_digits", "run.name=lost",
        "sft.steps=5", "reward.correct=1e39",
    )  # fmt: skip
    assert "step 1: the loss became" in message
    assert "lower optimizer.lr" in message
    assert "The weights before that minibatch are in runs/lost/stopped/step_000000" in message
    assert AutoModelForCausalLM.from_pretrained(tmp_path / "runs/lost/stopped/step_000000/policy")
    assert list((tmp_path / "runs/lost/checkpoints").iterdir()) == []


def test_an_interrupt_during_the_warm_start_exits_130_with_the_resume_command(tmp_path: Path):
    command = Command("train", *TINY, "sft.steps=100000", "run.name=early", folder=tmp_path)
    command.wait_until(lambda: (tmp_path / "runs/early/sft.jsonl").exists())
    command.send(signal.SIGINT)
    assert command.end(within_s=30) == 130
    assert "interrupted; go on with: rlvr train --resume runs/early" in command.stderr
    assert "Traceback" not in command.stderr
