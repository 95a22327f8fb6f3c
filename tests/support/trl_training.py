"""Run by TRL's own Python: GRPO on a tiny random model with our verifier, and TRL's accuracy_reward as our verifier.

    PYTHONPATH=REPOSITORY VENV/bin/python -P tests/support/trl_training.py FOLDER

Prints one line of JSON with what came out.
"""

import json
import sys
from typing import Any

from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer
from trl.rewards import accuracy_reward

from rlvr.models.tiny import tiny_model, tiny_tokenizer
from tasks import MathAnswer, Problem
from verifiers import VerifierError, load_verifier
from verifiers.adapters.trl import as_trl_reward, from_trl_reward


def train(folder: str, *, conversational: bool) -> dict[str, Any]:
    """Train one step on eight rows, two responses each, of which one row has a gold answer that cannot be read."""
    # Nearly any digit is right, so that a random model earns both rewards.
    verifier = load_verifier("numeric", {"abs_tol": 1000.0})
    reward = as_trl_reward(verifier, answer_format="last_number", incorrect=-1.0, name="ours")
    tokenizer = tiny_tokenizer()
    tokenizer.chat_template = "{% for message in messages %}{{ message.content }}{% endfor %}"
    rows: list[dict[str, Any]] = [{"prompt": f"{number} + 1 = ", "solution": str(number + 1)} for number in range(7)]
    rows.append({"prompt": "? = ", "solution": "no number"})
    if conversational:
        rows = [{**row, "prompt": [{"role": "user", "content": row["prompt"]}]} for row in rows]
    trainer = GRPOTrainer(
        model=tiny_model(tokenizer, hidden=16, layers=1, heads=2, seed=0),
        processing_class=tokenizer,
        reward_funcs=reward,
        train_dataset=Dataset.from_list(rows),
        args=GRPOConfig(
            output_dir=folder,
            max_steps=1,
            per_device_train_batch_size=16,
            num_generations=2,
            max_completion_length=12,
            logging_steps=1,
            save_strategy="no",
            report_to="none",
            use_cpu=True,
            bf16=False,
        ),
    )
    trainer.train()
    return {"failed": reward.failed, **next(log for log in trainer.state.log_history if "loss" in log)}


def judge() -> list[str]:
    """Ask accuracy_reward for verdicts on two answers, and on a gold answer that it cannot read."""
    verifier = from_trl_reward(accuracy_reward)
    found = []
    for gold, response in (("$\\frac{1}{2}$", r"\boxed{0.5}"), ("$72$", r"\boxed{71}"), ("", r"\boxed{1}")):
        problem = Problem(id="toy/1", prompt="?", reference=MathAnswer(value=gold), verifier="accuracy")
        try:
            found.append(str(verifier.verify(problem, response).outcome))
        except VerifierError as error:
            found.append(str(error))
    return found


if __name__ == "__main__":
    steps = {shape: train(sys.argv[1], conversational=shape == "messages") for shape in ("text", "messages")}
    print(json.dumps({**steps, "judged": judge()}))
