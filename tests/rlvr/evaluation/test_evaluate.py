"""Held-out responses as rows: in which order, with which verdicts, drawn when."""

from collections.abc import Sequence

from rlvr.evaluation.evaluate import evaluate
from rlvr.evaluation.sources import EngineSource
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


def rows_of(problems, *, samples=1, engine=None, verifier=None, at_once=128, **options):
    source = EngineSource(engine or WrittenEngine(), encoder(), problems_at_once=at_once)
    return evaluate(
        source, problems, {"numeric": verifier or load_verifier("numeric", {})},
        Sampling(max_new_tokens=8, samples_per_prompt=samples), seed=3, retries=0, **options,
    )  # fmt: skip


PROBLEMS = [problem(number, number if number % 4 else -1) for number in range(10, 30)]


def test_each_response_is_a_row_beside_those_of_its_problem():
    rows = rows_of(PROBLEMS, samples=2)
    assert [(row["problem"], row["sample"]) for row in rows] == [(p.id, sample) for p in PROBLEMS for sample in (0, 1)]
    assert rows[0] | {} == {
        "problem": "made/test/10", "sample": 0, "prompt": "10", "text": "10", "finish": "stop", "tokens": 2,
        "prompt_tokens": 2, "outcome": "correct", "score": 1.0, "answer": "10", "detail": rows[0]["detail"],
    }  # fmt: skip


def test_what_could_not_be_judged_has_no_outcome_but_the_error():
    rows = rows_of(PROBLEMS, verifier=Breaking())
    assert [(row["problem"], row["error"]) for row in rows if row["outcome"] is None] == [
        ("made/test/10", "the worker died"),
        ("made/test/20", "the worker died"),
    ]


def test_audit_verifiers_judge_the_same_responses_apart():
    rows = rows_of(PROBLEMS[:2], audits={"none": {"numeric": load_verifier("exact", {})}}, verifier=Breaking())
    assert [row["outcome"] for row in rows] == [None, "correct"]
    assert [row["audit"]["none"]["outcome"] for row in rows] == ["correct", "correct"]


def test_progress_is_told_in_batches_that_add_up_and_draw_from_seeds_of_their_own():
    told: list[int] = []
    engine = WrittenEngine()
    rows = rows_of(PROBLEMS, engine=engine, at_once=8, advance=told.append)
    assert told == [8, 8, 4]
    assert len(set(engine.seeds)) == 3
    assert rows == rows_of(PROBLEMS)


def test_rows_of_an_evaluation_cut_short_are_not_drawn_again():
    whole_engine, engine = WrittenEngine(), WrittenEngine()
    saved: list[dict] = []
    whole = rows_of(PROBLEMS, samples=2, engine=whole_engine, at_once=8, save=saved.extend)
    assert saved == whole
    # 23 rows: one batch of 16 and a part of the next, which is drawn again as a whole.
    saved.clear()
    again = rows_of(PROBLEMS, samples=2, engine=engine, at_once=8, done=whole[:23], save=saved.extend)
    assert again == whole
    assert saved == whole[16:]
    assert engine.seeds == whole_engine.seeds[1:]
