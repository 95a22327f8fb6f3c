"""Load a verifier that another verifier's options name."""

from collections.abc import Mapping

from verifiers.errors import UnknownVerifierError, VerifierOptionError
from verifiers.registry import load_verifier
from verifiers.types import Verifier

_OPTIONS_KEY = "task.verifier_options"


def load_nested(name: str, options: Mapping[str, object], *, name_key: str, options_key: str) -> Verifier:
    """Make the verifier called `name`.

    Args:
        name_key: dotted place of the name in a configuration, for messages.
        options_key: that of the options.

    Raises:
        VerifierOptionError: no such verifier, or it cannot take the options; one line for each mistake, with its place.
        VerifierNameTakenError, VerifierPluginError: as `load_verifier` does.
    """
    try:
        return load_verifier(name, options)
    except UnknownVerifierError as error:
        raise VerifierOptionError(f"{name_key}: {error}") from None
    except VerifierOptionError as error:
        lines = [
            options_key + line.removeprefix(_OPTIONS_KEY) if line.startswith(_OPTIONS_KEY) else line
            for line in str(error).splitlines()
        ]
        raise VerifierOptionError("\n".join(lines)) from None
