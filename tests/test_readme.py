"""What the README shows works as shown."""

import re
from pathlib import Path

import pytest

from rlvr.config.loading import load_config
from rlvr.tracking.names import describe
from tasks import Problem, import_plugin_file
from verifiers import Outcome, load_verifier

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_readmes_verifier_registers_and_judges(tmp_path):
    block = re.search(r"    # mine\.py.*?\n((?:(?:    .*)?\n)+)", README)
    assert block
    plugin = tmp_path / "mine.py"
    plugin.write_text("\n".join(line[4:] for line in block[1].splitlines()), encoding="utf-8")
    import_plugin_file(plugin)
    verifier = load_verifier("shouting", {})
    problem = Problem(id="x", prompt="say it", reference=None, verifier="shouting")
    assert verifier.verify(problem, "YES").outcome is Outcome.CORRECT
    assert verifier.verify(problem, "yes").score == 0.0


@pytest.mark.parametrize("assignment", sorted(set(re.findall(r"\b[a-z]+\.[a-z_.]+=\S+", README))))
def test_the_readmes_keys_exist(assignment):
    assignment = assignment.rstrip("`),.")
    others = {"algorithm.kl_in": 'algorithm.kl_estimator="exact"', "algorithm.kl_estimator": 'algorithm.kl_in="loss"'}
    extra = [value for key, value in others.items() if assignment.startswith(f"{key}=")]
    load_config(None, [assignment, *extra])


def test_the_readmes_links_lead_somewhere():
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", README):
        assert (ROOT / target).exists(), target


def test_the_metrics_page_is_what_the_code_documents():
    page = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
    assert page.endswith(describe()), "write docs/metrics.md again from rlvr.tracking.names.describe()"


def test_the_examples_are_valid_configurations():
    for path in (ROOT / "examples").glob("*.toml"):
        load_config(path, [])
