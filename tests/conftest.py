"""For all tests: none asserts a time, so property tests have no deadline."""

from hypothesis import settings

settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")
