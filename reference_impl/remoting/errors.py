"""What a person's mistake in a configuration raises, and a disk that fails."""


class ConfigError(ValueError):
    """A configuration file that cannot be used; the text says where, what was found and what was expected."""


class DurabilityError(Exception):
    """What is to be kept cannot be kept: nothing more may be answered. The text says why, and what to do."""
