"""Reinforcement learning with verifiable rewards: token-level PPO on problems whose answers can be checked."""

from pathlib import Path
from typing import TYPE_CHECKING

from rlvr._siblings import require_siblings

if TYPE_CHECKING:
    __version__: str

require_siblings(Path(__file__).parent.parent)


def __getattr__(name: str) -> str:
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("rlvr")
    except PackageNotFoundError:  # A checkout that is on the path without being installed.
        return "0+unknown"
