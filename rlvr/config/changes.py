"""How a configuration differs from another."""

from rlvr.config.document import toml_value
from rlvr.config.keys import keys
from rlvr.config.models import Config


def changed_keys(config: Config, base: Config) -> dict[str, str]:
    """Return the keys, dotted, whose values are not those of `base`, with their values in TOML syntax."""
    changed = {}
    for name in keys():
        section, _, field = name.partition(".")
        value = getattr(getattr(config, section), field)
        if value != getattr(getattr(base, section), field):
            changed[name] = "not set" if value is None else toml_value(value)
    return changed
