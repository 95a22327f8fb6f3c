"""Make a verifier in another process.

By name: an instance would not do, for a plug-in's classes cannot be unpickled before its file is imported.
"""

import os
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import parent_process, resource_tracker
from pathlib import Path

from tasks.plugins import import_plugin_file
from verifiers.registry import load_verifier
from verifiers.types import Verifier


@dataclass(frozen=True, kw_only=True, slots=True)
class VerifierRecipe:
    """What it takes to make a verifier, as plain data that pickles."""

    name: str
    options: Mapping[str, object] = field(default_factory=dict)
    plugin_files: tuple[Path, ...] = ()

    def make(self) -> Verifier:
        """Import the plug-in files and make the verifier. Raises as `import_plugin_file` and `load_verifier` do."""
        for file in self.plugin_files:
            import_plugin_file(file)
        return load_verifier(self.name, self.options)


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Hold SIGINT back until the block ends; processes started in the block never get it.

    Ctrl-C goes to the whole process group, but it is for the parent alone to decide what becomes of its children.
    """
    resource_tracker.ensure_running()  # when the first process starts it, it lets SIGINT through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def exit_with_parent() -> None:
    """Make this child process end when its parent does, however the parent ends and whatever the child is doing."""
    parent = parent_process()
    assert parent is not None, "only a child process has a parent to follow"

    def follow() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()
