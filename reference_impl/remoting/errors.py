"""What a person's mistake in a configuration raises."""

__all__ = ["ConfigError"]


class ConfigError(ValueError):
    """A configuration file that cannot be used; the text says where, what was found and what was expected."""
