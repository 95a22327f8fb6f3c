"""Property tests here have no deadline: torch's first call of an operator takes hundreds of milliseconds."""

from hypothesis import settings

settings.register_profile("without deadline", deadline=None)
settings.load_profile("without deadline")
