"""The responses on a run's page."""

from benchmarks.run_page import fenced


def test_a_response_cannot_end_its_code_block():
    assert fenced("a\n```\nb") == ["````text", "a", "```", "b", "````"]
