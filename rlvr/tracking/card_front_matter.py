"""The front matter of a run's card, as Hugging Face model cards have it: tags, base model, results."""

import re
from collections.abc import Mapping
from typing import Any

from rlvr.tracking.card_text import yaml_lines

_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)


def front_matter(summary: Mapping[str, Any]) -> str:
    """Return the YAML block, with its "---" lines, in which the pass rates after training are the model's results."""
    data: dict[str, Any] = {"library_name": "transformers", "pipeline_tag": "text-generation"}
    model = str(summary["model"])
    # The hub refuses a base_model that is not one of its own names, such as a local folder.
    if _HUB_NAME.fullmatch(model) and ".gguf" not in model:
        data["base_model"] = model
    tags = ["rlvr", "reinforcement-learning", "verifiable-rewards", str(summary["algorithm"]), str(summary["task"])]
    data["tags"] = list(dict.fromkeys(tags))
    metrics = _metrics(summary)
    if metrics:
        task = str(summary["task"])
        dataset = {"type": _identifier(task), "name": task, "split": _split(summary)}
        result = {"task": {"type": "text-generation", "name": task}, "dataset": dataset, "metrics": metrics}
        data["model-index"] = [{"name": str(summary["name"]), "results": [result]}]
    return "\n".join(["---", *yaml_lines(data), "---"])


def _metrics(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return pass@1, greedy and sampled, and the largest pass@k of the policy after training."""
    rates = (summary.get("pass_rate") or {}).get("ppo") or {}
    metrics = []
    for mode in ("greedy", "sampled"):
        found = rates.get(mode) or {}
        if found.get("pass_rate") is None:
            continue
        metrics.append(_metric("pass@1", mode, found["pass_rate"], found, found))
        of_several = {
            int(k): rate
            for k, rate in (found.get("pass_at_k") or {}).items()
            if int(k) > 1 and isinstance(rate, Mapping)
        }
        if of_several:
            k = max(of_several)
            metrics.append(_metric(f"pass@{k}", mode, of_several[k]["value"], of_several[k], found))
    return metrics


def _metric(
    kind: str, mode: str, value: float, interval: Mapping[str, Any], found: Mapping[str, Any]
) -> dict[str, Any]:
    arguments = {"n": found["n"]}
    arguments |= {name: found[name] for name in ("temperature", "samples_per_problem") if name in found}
    if interval.get("low") is not None:
        arguments["confidence_interval_95"] = [round(interval["low"], 4), round(interval["high"], 4)]
    return {"type": kind, "name": f"{kind} ({mode})", "value": round(value, 4), "args": arguments}


def _split(summary: Mapping[str, Any]) -> str:
    return str((summary.get("data") or {}).get("held_out_split", "test"))


def _identifier(name: str) -> str:
    return re.sub(r"[^\w.-]+", "-", name, flags=re.ASCII).strip("-.") or "task"
