"""The held-out pass rate: who counts, with which interval."""

from collections.abc import Sequence

import pytest

from rlvr.evaluation import evaluate as module
from rlvr.evaluation.evaluate import evaluate
from rlvr.evaluation.intervals import cluster_bootstrap, wilson
from rlvr.models.tiny import tiny_tokenizer
from rlvr.rollout.prompts import PromptEncoder
from rlvr.rollout.types import Finish, Response, Sampling
from tasks.types import MathAnswer, Problem
from verifiers import Verdict, load_verifier
from verifiers.errors import VerifierError

TOKENIZER = tiny_tokenizer()


class WrittenEngine:
    """Answers each prompt, a number, with that number plus the response's index, and keeps the seeds it was given."""

    def __init__(self, finish: Finish = Finish.STOP) -> None:
        self.finish = finish
        self.seeds: list[int] = []

    def generate(self, prompts: Sequence[Sequence[int]], sampling: Sampling, *, seed: int) -> list[Response]:
        self.seeds.append(seed)
        return [
            Response(
                prompt_ids=tuple(prompt), token_ids=(1, 2), logprobs=(-1.0, -1.0), mask=(True, True),
                text=f"{int(TOKENIZER.decode(list(prompt))) + sample}", finish=self.finish,
            )
            for prompt in prompts
            for sample in range(sampling.samples_per_prompt)
        ]  # fmt: skip

    def update_weights(self, policy: object) -> None:
        raise AssertionError("an evaluation changes no weights")


class Breaking:
    """Fails on every problem whose id ends in 0."""

    def verify(self, problem: Problem, response: str) -> Verdict:
        if problem.id.endswith("0"):
            raise VerifierError("the worker died")
        return load_verifier("numeric", {}).verify(problem, response)


def problem(number: int, answer: int) -> Problem:
    return Problem(
        id=f"made/test/{number}", prompt=str(number), verifier="numeric", reference=MathAnswer(value=str(answer))
    )


def encoder() -> PromptEncoder:
    return PromptEncoder(TOKENIZER, context_length=64, max_new_tokens=8)


def measured(problems, *, samples=1, engine=None, verifier=None, **options):
    return evaluate(
        engine or WrittenEngine(), encoder(), problems, {"numeric": verifier or load_verifier("numeric", {})},
        Sampling(max_new_tokens=8, samples_per_prompt=samples), seed=3, retries=0, **options,
    )  # fmt: skip


PROBLEMS = [problem(number, number if number % 4 else -1) for number in range(10, 30)]


def test_one_response_per_problem_has_a_wilson_interval():
    rate, records = measured(PROBLEMS)
    assert (rate.correct, rate.n, rate.problems) == (15, 20, 20)
    assert rate.interval == wilson(15, 20)
    assert [record["problem"] for record in records] == [p.id for p in PROBLEMS]


def test_several_responses_per_problem_are_clustered_by_problem():
    rate, records = measured(PROBLEMS, samples=2)
    assert (rate.correct, rate.n, rate.problems) == (15, 40, 20)
    assert rate.pass_at_k == {1: 0.375, 2: 0.75}
    assert rate.interval == cluster_bootstrap([0.5 if number % 4 else 0.0 for number in range(10, 30)])
    assert len(records) == 40


def test_what_could_not_be_judged_is_neither_right_nor_wrong():
    rate, records = measured(PROBLEMS, verifier=Breaking())
    assert (rate.failed, rate.n) == (2, 18)
    assert rate.correct == 14
    assert [r["outcome"] for r in records].count(None) == 2


def test_responses_cut_by_the_limit_are_counted():
    rate, _ = measured(PROBLEMS, engine=WrittenEngine(Finish.LENGTH))
    assert rate.truncated_frac == 1.0


def test_progress_is_told_in_batches_that_add_up_and_draw_from_seeds_of_their_own(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "PROBLEMS_AT_ONCE", 8)
    told: list[int] = []
    engine = WrittenEngine()
    rate, _ = measured(PROBLEMS, engine=engine, advance=told.append)
    assert told == [8, 8, 4]
    assert len(set(engine.seeds)) == 3
    assert rate == measured(PROBLEMS)[0]
