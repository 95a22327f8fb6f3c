import json

import torch

from rlvr.rollout.records import PER_TOKEN, rollout_records
from rlvr.rollout.types import Experience, Finish, Response, Rollout
from tasks.types import Problem
from verifiers.types import Outcome, Verdict


def rollout(number: int, *, prompt: int, length: int) -> Rollout:
    return Rollout(
        problem=Problem(id=f"p/{number}", prompt="2+2=", reference=None, verifier="made"),
        response=Response(
            prompt_ids=tuple(range(prompt)), token_ids=tuple(range(length)), logprobs=(0.0,) * length,
            mask=(True,) * length, text="#4 \u00e9\n", finish=Finish.LENGTH,
        ),
        verdict=Verdict(outcome=Outcome.INCORRECT, score=0.25, answer="4", detail="too short"),
        reward=0.25,
        policy_step=3,
    )  # fmt: skip


ROLLOUTS = [rollout(0, prompt=3, length=2), rollout(1, prompt=1, length=4)]


def experience() -> Experience:
    """Every [B T] entry says where it stands: 100 * field + 10 * row + column."""
    place = torch.arange(2)[:, None] * 10.0 + torch.arange(4)[None]
    fields = {name: 100.0 * index + place for index, name in enumerate(PER_TOKEN)}
    return Experience(
        tokens=torch.zeros(2, 5, dtype=torch.long), lengths=torch.tensor([5, 5]),
        mask=torch.ones(2, 4, dtype=torch.bool), groups=torch.arange(2), **fields,
    )  # fmt: skip


def test_a_record_survives_json_unchanged():
    records = rollout_records(ROLLOUTS, experience())
    read = [json.loads(json.dumps(record, allow_nan=False)) for record in records]
    tuples_as_lists = [
        {key: list(value) if isinstance(value, tuple) else value for key, value in record.items()} for record in records
    ]
    assert read == tuples_as_lists


def test_a_record_says_what_was_asked_answered_and_earned():
    record = rollout_records(ROLLOUTS, experience())[1]
    said = {
        "problem": "p/1", "prompt": "2+2=", "text": "#4 \u00e9\n", "outcome": "incorrect", "score": 0.25, "answer": "4",
        "detail": "too short", "reward": 0.25, "finish": "length", "policy_step": 3,
    }  # fmt: skip
    assert record.items() >= said.items()


def test_what_each_token_was_worth_stands_beside_its_id():
    """checklist 2: the action tokens[t + 1] has index t, so a prompt of 3 tokens has its first action at column 2."""
    first, second = rollout_records(ROLLOUTS, experience())
    for index, name in enumerate(PER_TOKEN):
        assert first[name] == [100 * index + 2, 100 * index + 3]
        assert second[name] == [100 * index + 10 + column for column in range(4)]
    for record in (first, second):
        assert len(record["token_ids"]) == len(record["mask"]) == len(record["values"])


def test_the_kl_is_summed_over_the_response():
    batch = experience()
    batch.old_logprobs.fill_(-1.0)
    batch.ref_logprobs.fill_(-1.5)
    assert [record["kl"] for record in rollout_records(ROLLOUTS, batch)] == [2.0, 2.0]
