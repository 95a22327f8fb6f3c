import random
from pathlib import Path

import numpy
import pytest
import torch
from support.tiny_runs import tiny_config, tiny_trainer
from support.training import actor_critic, flat_weights, perturbed
from transformers import AutoModelForCausalLM, AutoTokenizer

from rlvr.cli import wiring
from rlvr.errors import CheckpointError
from rlvr.models.actor_critic import ActorCritic
from rlvr.models.causal_lm import CausalLM
from rlvr.models.reference import weights_digest
from rlvr.models.tiny import tiny_tokenizer
from rlvr.tracking.run_folder import complete_checkpoints
from rlvr.training.checkpoint import load_checkpoint, save_checkpoint, save_reference, sweep_leftovers


def save(directory: Path, step: int, models: ActorCritic, *, keep: int = 0, mark: str = "") -> Path:
    return save_checkpoint(
        directory, f"step_{step:06d}",
        actor_critic=models, tokenizer=tiny_tokenizer(), state={"mark": mark}, keep=keep,
    )  # fmt: skip


def names(directory: Path) -> list[str]:
    return [path.name for path in complete_checkpoints(directory)]


def test_the_policy_is_an_ordinary_hugging_face_folder(tmp_path: Path):
    models = actor_critic()
    path = save(tmp_path, 1, models)
    loaded = AutoModelForCausalLM.from_pretrained(path / "policy")
    assert weights_digest(CausalLM(loaded)) == weights_digest(models.policy)
    assert AutoTokenizer.from_pretrained(path / "policy").eos_token == "<eos>"


@pytest.mark.parametrize("kind", ["shared", "separate"])
def test_the_critic_comes_back_bit_for_bit(tmp_path: Path, kind: str):
    """The backbone of a separate critic included."""
    models = actor_critic(kind)
    path = save(tmp_path, 1, models, mark="mine")
    other = actor_critic(kind, policy=perturbed(models.policy), seed=5)
    assert not torch.equal(flat_weights(other.critic_parameters()), flat_weights(models.critic_parameters()))
    assert load_checkpoint(path, other) == {"mark": "mine"}
    assert torch.equal(flat_weights(other.critic_parameters()), flat_weights(models.critic_parameters()))


def test_without_a_critic_there_is_no_critic_file(tmp_path: Path):
    path = save(tmp_path, 1, actor_critic("no"))
    assert not (path / "critic.safetensors").exists()
    assert load_checkpoint(path, actor_critic("no")) == {"mark": ""}


def test_a_folder_that_was_being_written_is_no_checkpoint(tmp_path: Path):
    models = actor_critic("no")
    save(tmp_path, 1, models)
    staging = tmp_path / ".step_000002.writing"
    staging.mkdir()
    (staging / "trainer.pt").write_bytes(b"half")
    (tmp_path / "step_3").mkdir()
    (tmp_path / "step_000004.txt").write_text("no folder")
    assert names(tmp_path) == ["step_000001"]
    save(tmp_path, 2, models)
    assert names(tmp_path) == ["step_000001", "step_000002"]
    assert not staging.exists()


def test_a_save_that_fails_leaves_nothing_behind(tmp_path: Path):
    class Full:
        def save_pretrained(self, _: Path) -> None:
            raise OSError("no space left on device")

    with pytest.raises(OSError, match="no space"):
        save_checkpoint(tmp_path, "step_000001", actor_critic=actor_critic("no"), tokenizer=Full(), state={})
    assert list(tmp_path.iterdir()) == []


def test_an_earlier_checkpoint_of_the_same_step_is_left_as_it_is(tmp_path: Path):
    path = save(tmp_path, 1, actor_critic("no"), mark="first")
    save(tmp_path, 1, actor_critic("no"), mark="second")
    assert load_checkpoint(path, actor_critic("no")) == {"mark": "first"}


@pytest.mark.parametrize(("keep", "kept"), [(0, [2, 4, 6, 10]), (1, [10]), (2, [6, 10]), (9, [2, 4, 6, 10])])
def test_the_latest_are_kept(tmp_path: Path, keep: int, kept: list[int]):
    models = actor_critic("no")
    for step in (2, 4, 6, 10):
        save(tmp_path, step, models, keep=keep)
    assert names(tmp_path) == [f"step_{step:06d}" for step in kept]


def test_checkpoints_are_ordered_by_step_not_by_name(tmp_path: Path):
    for step in (999_999, 1_000_000, 2):
        (tmp_path / f"step_{step:06d}").mkdir()
    assert names(tmp_path) == ["step_000002", "step_999999", "step_1000000"]


@pytest.mark.parametrize("name", ["trainer.pt", "critic.safetensors"])
def test_a_missing_part_is_named(tmp_path: Path, name: str):
    path = save(tmp_path, 1, actor_critic())
    (path / name).unlink()
    with pytest.raises(CheckpointError, match=rf"step_000001 cannot be read: .*{name}"):
        load_checkpoint(path, actor_critic())


@pytest.mark.parametrize("name", ["trainer.pt", "critic.safetensors"])
@pytest.mark.parametrize("size", [0, 100])
def test_a_damaged_part_is_an_error_of_one_line(tmp_path: Path, name: str, size: int):
    path = save(tmp_path, 1, actor_critic())
    (path / name).write_bytes((path / name).read_bytes()[:size])
    with pytest.raises(CheckpointError, match=r"cannot be read: .+; delete it to go on") as caught:
        load_checkpoint(path, actor_critic())
    assert "\n" not in str(caught.value)


def test_a_checkpoint_of_another_critic_is_refused(tmp_path: Path):
    path = save(tmp_path, 1, actor_critic("shared"))
    with pytest.raises(CheckpointError, match=r"is of another critic: it has no 'backbone\."):
        load_checkpoint(path, actor_critic("separate"))


def draw() -> list[float]:
    return [torch.rand(()).item(), random.random(), float(numpy.random.random()), random.gauss(0, 1)]


def test_the_processs_generators_go_on_where_they_were(tmp_path: Path):
    random.gauss(0, 1)  # leaves its second value for the next call
    path = save(tmp_path, 1, actor_critic("no"))
    expected = draw()
    assert draw() != expected
    load_checkpoint(path, actor_critic("no"))
    assert draw() == expected


def test_a_trainer_resumed_from_its_checkpoint_goes_on_bit_for_bit(tmp_path: Path):
    """checklist 12 and 33: through the files of a checkpoint this time."""
    config = tiny_config('algorithm.kl_control="adaptive"', "algorithm.kl_horizon=100", 'critic.kind="separate"')
    whole = tiny_trainer(config)
    for _ in range(2):
        whole.step()
    path = save_checkpoint(
        tmp_path, "step_000002",
        actor_critic=whole.actor_critic, tokenizer=tiny_tokenizer(), state=whole.state_dict(),
    )  # fmt: skip
    expected = [whole.step()["policy/loss"] for _ in range(2)]

    model = wiring.build_model(config, str(path / "policy"))
    resumed = tiny_trainer(config, model=model, reference=wiring.build_model(config).policy)
    resumed.load_state_dict(load_checkpoint(path, resumed.actor_critic))
    assert [resumed.step()["policy/loss"] for _ in range(2)] == expected
    assert weights_digest(resumed.actor_critic.policy) == weights_digest(whole.actor_critic.policy)
    for one, other in zip(
        resumed.actor_critic.critic_parameters(), whole.actor_critic.critic_parameters(), strict=True
    ):
        assert torch.equal(one, other)


def test_a_checkpoint_that_was_trained_against_another_reference_is_refused():
    config = tiny_config()
    state = tiny_trainer(config).state_dict()
    other = tiny_trainer(config, reference=wiring.build_model(tiny_config("run.seed=4")).policy)
    with pytest.raises(CheckpointError, match="reference is not the one"):
        other.load_state_dict(state)


def test_what_a_killed_run_left_half_written_or_half_deleted_is_swept_away(tmp_path: Path):
    for name in (".step_000004.writing", ".step_000002.deleting", "step_000003"):
        (tmp_path / name / "policy").mkdir(parents=True)
    assert [path.name for path in complete_checkpoints(tmp_path)] == ["step_000003"]
    sweep_leftovers(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["step_000003"]


def test_a_reference_is_whole_or_absent(tmp_path: Path):
    """checklist 13."""
    models = actor_critic("no")
    staging = tmp_path / ".reference.writing"
    staging.mkdir()
    (staging / "model.safetensors").write_bytes(b"half")
    save_reference(tmp_path / "reference", models.policy, tiny_tokenizer())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["reference"]
    loaded = AutoModelForCausalLM.from_pretrained(tmp_path / "reference")
    assert weights_digest(CausalLM(loaded)) == weights_digest(models.policy)
